/* rows.c: where a value lies in memory in rows, and how many of them are inside its tensor. */
#include "codegen/host/rows.h"

#include "codegen/text/access.h"
#include "codegen/text/size.h"
#include "codegen/text/step.h"

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
    m->whole = row < 0 || access_within(f, load, r);
    m->at = nest_element(n, load);
    return row < 0 || m->inside;
}

static bool tile_rows(Nest *n, const Tile *t, int16_t row, int16_t line, Rows *m) {
    if (!t->n || t->range[t->n - 1] != line) return false;
    m->inside = row >= 0 ? cexpr_bare(n->f->range[row].count) : NULL;
    m->stride = cexpr_number(n->f, 0);
    for (int i = 0; i < t->n; i++)
        if (t->range[i] == row) m->stride = cexpr_number(n->f, t->stride[i]);
    m->whole = true;
    m->at = nest_tile(n, t);
    return true;
}

/* The integers of few bits, and floats of 16 bits: those that tile_codes.h reads. */
static bool is_small_integer(Elem e) { return e == ELEM_I4 || e == ELEM_T2 || e == ELEM_I8; }
static bool is_code(Elem e) { return is_small_integer(e) || e == ELEM_F32 || e == ELEM_BF16 || e == ELEM_F16; }

/* Every value of `from` is one of `to`. */
static bool converts_exactly(Elem from, Elem to) {
    const bool wide = to == ELEM_F32 || from == to;
    return is_small_integer(from) ? wide || to == ELEM_BF16 || to == ELEM_F16 : is_code(from) && wide;
}

/* The load behind conversions that round nothing; NULL: there is none, or they have a place of their own. */
static const Op *load_of_codes(Fn *f, const Value *v) {
    while (v->def && v->def->kind == OP_CAST && fn_held(f, v)->hold == HOLD_INLINE &&
           converts_exactly(v->def->arg.p[0]->type.elem, v->type.elem))
        v = v->def->arg.p[0];
    const bool load = v->def && v->def->kind == OP_LOAD && fn_held(f, v)->hold == HOLD_INLINE;
    return load && is_code(f->k->param.p[v->def->param].elem) ? v->def : NULL;
}

static bool code_rows(Nest *n, const Value *v, int16_t row, int16_t line, Rows *m) {
    Fn *f = n->f;
    const Op *load = load_of_codes(f, v);
    if (!load || !load_rows(n, load, row, line, m)) return false;
    m->elem = f->k->param.p[load->param].elem;
    m->from = elem_is_packed(m->elem) ? fn_text(f, "%s, %s", f->param[load->param], cexpr_bare(nest_number(n, load))->text)
                                      : fn_text(f, "&%s", m->at->text);
    return true;
}

static bool value_rows(Nest *n, const Value *v, int16_t row, int16_t line, Rows *m) {
    const Held *h = fn_held(n->f, v);
    if (v->type.elem != ELEM_F32) return false;
    if (h->hold == HOLD_TILE) return tile_rows(n, &h->tile, row, line, m);
    return h->hold == HOLD_INLINE && v->def->kind == OP_LOAD && n->f->k->param.p[v->def->param].elem == ELEM_F32 &&
           load_rows(n, v->def, row, line, m);
}

/* Puts the first position in place of a range's, or back. */
static const CExpr *position_swap(Fn *f, int16_t range, const CExpr *to) {
    const CExpr *was = range >= 0 ? f->range[range].pos : NULL;
    if (range >= 0) f->range[range].pos = to;
    return was;
}

/* Where rows are looked for. */
typedef struct {
    const Value *value; /* NULL: in a tile */
    bool codes;         /* of a type that becomes f32 */
    const Tile *tile;
} Source;

static bool source_rows(Nest *n, Source from, int16_t row, int16_t line, Rows *m) {
    if (!from.value) return tile_rows(n, from.tile, row, line, m);
    return from.codes ? code_rows(n, from.value, row, line, m) : value_rows(n, from.value, row, line, m);
}

/* Seen from the first position of both ranges. */
static bool rows_from_first(Nest *n, Source from, int16_t row, int16_t line, Rows *m) {
    const CExpr *zero = cexpr_number(n->f, 0);
    const CExpr *row_was = position_swap(n->f, row, zero), *line_was = position_swap(n->f, line, zero);
    bool found = source_rows(n, from, row, line, m);
    position_swap(n->f, line, line_was);
    position_swap(n->f, row, row_was);
    return found;
}

bool rows_of_value(Nest *n, const Value *v, int16_t row, int16_t line, Rows *m) {
    return rows_from_first(n, (Source){.value = v}, row, line, m);
}

bool rows_of_codes(Nest *n, const Value *v, int16_t row, int16_t line, Rows *m) {
    return rows_from_first(n, (Source){.value = v, .codes = true}, row, line, m);
}

bool rows_of_tile(Nest *n, const Tile *t, int16_t row, int16_t line, Rows *m) {
    return rows_from_first(n, (Source){.tile = t}, row, line, m);
}
