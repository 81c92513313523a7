/* row.c: contractions in which one side has a single row: a matrix in memory times a row, added to a row.
   The matrix is read where it is (runtime/device/tile_row.h); what lies beyond its tensor counts as zeros. */
#include "codegen/text/size.h"
#include "codegen/host/host.h"
#include "codegen/host/rows.h"

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

static bool result_along(Fn *f, const Value *v, int16_t n) {
    Held *h = fn_held(f, v);
    if (h->into) return h->into->n && h->into->range[h->into->n - 1] == n;
    if (h->fastest < 0) h->fastest = n;
    return h->fastest == n;
}

static bool matrix_rows(Nest *n, const RowProduct *r, Rows *w, bool *dots) {
    *dots = rows_of_value(n, r->w, r->n, r->k, w);
    return *dots || rows_of_value(n, r->w, r->k, r->n, w);
}

static void emit_call(Nest *n, const RowProduct *r, const char *function, const Rows *w, const Tile *to) {
    Fn *f = n->f;
    Rows x, y;
    if (!rows_of_value(n, r->x, -1, r->k, &x)) {
        Tile made = dot_operand(f, r->x, ELEM_F32, r->k);
        rows_of_tile(n, &made, -1, r->k, &x);
    }
    rows_of_tile(n, to, -1, r->n, &y);
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
    Nest n = nest_around(f, &r);
    Rows w;
    if (!matrix_rows(&n, &r, &w, &dots) || !result_along(f, v, r.n)) return false;
    const Tile *to = held_tile(f, v);
    int64_t mark = f->scratch;
    dot_start(f, op, to);
    emit_call(&n, &r, dots ? "tile_row_dots" : "tile_row_sums", &w, to);
    f->scratch = mark;
    return true;
}
