/* row.c: contractions in which one side has a single row: a matrix in memory times a row, added to a row.
   The matrix is read where it is (runtime/device/tile_row.h); what lies beyond its tensor counts as zeros. */
#include "codegen/text/access.h"
#include "codegen/text/size.h"
#include "codegen/host/host.h"

/* A value in memory: the first element, how far rows are apart, and how many of them are inside the tensor. */
typedef struct {
    const CExpr *at, *stride, *inside;
} Rows;

/* The one subscript that a range moves along, without a gather; -1: none, or not so. */
static int subscript_of(const Op *load, int16_t range) {
    int found = -1;
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++) {
            const Term *t = &load->sub.p[d].lo.term[i];
            bool opaque = t->kind == TERM_VALUE && type_has(t->value->type, range);
            if (opaque || (t->kind == TERM_POS && t->id == range && (found >= 0 || t->div != 1 || t->mul < 1)))
                return -1;
            if (t->kind == TERM_POS && t->id == range) found = d;
        }
    return found;
}

static int64_t step_of(const Op *load, int d, int16_t range) {
    const Affine *a = &load->sub.p[d].lo;
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_POS && a->term[i].id == range) return a->term[i].mul;
    return 0;
}

/* Positions of a range, starting where the loops around are, that lie inside dimension d. NULL: not to be seen. */
static const CExpr *rows_inside(Nest *n, const Op *load, int d, int16_t range) {
    Fn *f = n->f;
    const Affine *a = &load->sub.p[d].lo;
    const CExpr *count = cexpr_bare(f->range[range].count);
    if (access_within(f, load, d)) return count;
    if (!affine_is_natural(f, a) || step_of(load, d, range) != 1) return NULL;
    return cexpr_open(f, "%s - %s", size_text(f, f->k->param.p[load->param].dim[d])->text,
                      cexpr_operand(f, nest_affine(n, a))->text);
}

static const CExpr *row_stride(Fn *f, const Op *load, int d, int16_t range) {
    const CExpr *stride = cexpr_number(f, step_of(load, d, range));
    for (int e = d + 1; e < load->sub.n; e++)
        stride = cexpr_mul(f, stride, cexpr_operand(f, param_extent(f, load->param, e)));
    return stride;
}

/* A load whose elements along `line` are neighbours in memory. */
static bool load_rows(Nest *n, const Op *load, int16_t row, int16_t line, Rows *m) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[load->param];
    int r = row >= 0 ? subscript_of(load, row) : -1, l = subscript_of(load, line), last = load->sub.n - 1;
    if (p->packet || p->ranks >= 0 || l != last || step_of(load, l, line) != 1 || r == l || (row >= 0 && r < 0))
        return false;
    for (int d = 0; d <= last; d++)
        if (d != r && !access_within(f, load, d)) return false;
    m->inside = row >= 0 ? rows_inside(n, load, r, row) : NULL;
    m->stride = row >= 0 ? row_stride(f, load, r, row) : cexpr_number(f, 0);
    m->at = nest_element(n, load);
    return row < 0 || m->inside;
}

static bool tile_rows(Nest *n, const Tile *t, int16_t row, int16_t line, Rows *m) {
    if (!t->n || t->range[t->n - 1] != line) return false;
    m->inside = row >= 0 ? cexpr_bare(n->f->range[row].count) : NULL;
    m->stride = cexpr_number(n->f, 0);
    for (int i = 0; i < t->n; i++)
        if (t->range[i] == row) m->stride = cexpr_number(n->f, t->stride[i]);
    m->at = nest_tile(n, t);
    return true;
}

/* Where a value lies in memory in rows along `line`; row -1: a single one. false: it is computed, or lies otherwise. */
static bool value_rows(Nest *n, const Value *v, int16_t row, int16_t line, Rows *m) {
    const Held *h = fn_held(n->f, v);
    if (v->type.elem != ELEM_F32) return false;
    if (h->hold == HOLD_TILE) return tile_rows(n, &h->tile, row, line, m);
    return h->hold == HOLD_INLINE && v->def->kind == OP_LOAD && n->f->k->param.p[v->def->param].elem == ELEM_F32 &&
           load_rows(n, v->def, row, line, m);
}

typedef struct {
    const Value *x, *w; /* the row, and the matrix */
    int16_t n, k;
} RowProduct;

/* Loops over all ranges but the product's own. */
static Nest nest_around(Fn *f, const RowProduct *r) {
    Type all = type_union(r->x->type, r->w->type);
    Nest nest = nest_new(f, NULL, 0);
    for (int i = 0; i < all.nrange; i++)
        if (all.range[i] != r->n && all.range[i] != r->k) nest.range[nest.n++] = all.range[i];
    return nest;
}

/* n and k at their first position, while the texts of places are made; and back. */
static void swap_positions(Fn *f, const RowProduct *r, const CExpr **pos) {
    const CExpr *n = f->range[r->n].pos, *k = f->range[r->k].pos;
    f->range[r->n].pos = pos[0], f->range[r->k].pos = pos[1];
    pos[0] = n, pos[1] = k;
}

static bool result_along(Fn *f, const Value *v, int16_t n) {
    Held *h = fn_held(f, v);
    if (h->into) return h->into->n && h->into->range[h->into->n - 1] == n;
    if (h->fastest < 0) h->fastest = n;
    return h->fastest == n;
}

static bool matrix_rows(Nest *n, const RowProduct *r, Rows *w, bool *dots) {
    *dots = value_rows(n, r->w, r->n, r->k, w);
    return *dots || value_rows(n, r->w, r->k, r->n, w);
}

static void emit_call(Nest *n, const RowProduct *r, const char *function, const Rows *w, const Tile *to,
                      const CExpr **pos) {
    Fn *f = n->f;
    Rows x, y;
    Tile made = {0};
    swap_positions(f, r, pos);
    bool in_place = value_rows(n, r->x, -1, r->k, &x);
    swap_positions(f, r, pos);
    if (!in_place) made = dot_operand(f, r->x, ELEM_F32, r->k);
    swap_positions(f, r, pos);
    if (!in_place) tile_rows(n, &made, -1, r->k, &x);
    tile_rows(n, to, -1, r->n, &y);
    swap_positions(f, r, pos);
    nest_line(n, n->n, "%s(%s, %s, %s, &%s, &%s, %s, &%s);", function, cexpr_bare(f->range[r->n].count)->text,
              w->inside->text, cexpr_bare(f->range[r->k].count)->text, x.at->text, w->at->text, w->stride->text,
              y.at->text);
    nest_print(n);
}

bool emit_row_product(Fn *f, const Op *op, const DotRanges *d) {
    const Value *v = op->res.p[0];
    bool left = d->n >= 0, dots; /* the row is the left operand */
    if (d->k < 0 || left == (d->m >= 0) || v->type.elem != ELEM_F32) return false;
    RowProduct r = {op->arg.p[!left], op->arg.p[left], left ? d->n : d->m, d->k};
    const CExpr *pos[2] = {cexpr_number(f, 0), cexpr_number(f, 0)};
    Nest n = nest_around(f, &r);
    Rows w;
    swap_positions(f, &r, pos);
    bool good = matrix_rows(&n, &r, &w, &dots);
    swap_positions(f, &r, pos);
    if (!good || !result_along(f, v, r.n)) return false;
    const Tile *to = held_tile(f, v);
    int64_t mark = f->scratch;
    dot_start(f, op, to);
    emit_call(&n, &r, dots ? "tile_row_dots" : "tile_row_sums", &w, to, pos);
    f->scratch = mark;
    return true;
}
