/* few.c: contractions of few rows with a matrix in memory whose rows run along the sum: the matrix is read where it is,
   in its own element type (runtime/device/tile_few.h). Elements beyond its tensor count as zeros. */
#include "codegen/host/rows.h"
#include "codegen/text/size.h"

enum { FEW_ROWS = 16 }; /* at most: from there on copying the matrix in the order of its products pays */

Nest few_nest(Fn *f, const FewProduct *p) {
    Type all = type_union(p->x->type, p->w->type);
    Nest nest = nest_new(f, NULL, 0);
    for (int i = 0; i < all.nrange; i++)
        if (all.range[i] != p->m && all.range[i] != p->n && all.range[i] != p->k) nest.range[nest.n++] = all.range[i];
    return nest;
}

static bool is_few(Fn *f, int16_t range) {
    return range < 0 || (f->range[range].most >= 0 && f->range[range].most <= FEW_ROWS);
}

/* The range along which the result's elements are neighbours; -1: any may be. */
static int16_t result_along(Fn *f, const Value *v) {
    const Held *h = fn_held(f, v);
    return !h->into ? h->fastest : h->into->n ? h->into->range[h->into->n - 1] : -1;
}

static FewProduct product_of(const Op *op, const DotRanges *d, bool swapped) {
    const Value *left = op->arg.p[d->left], *right = op->arg.p[1 - d->left];
    return swapped ? (FewProduct){right, left, d->n, d->m, d->k} : (FewProduct){left, right, d->m, d->n, d->k};
}

bool few_sides(Fn *f, const Op *op, const DotRanges *d, bool swapped, FewProduct *p) {
    *p = product_of(op, d, swapped);
    const int16_t along = result_along(f, op->res.p[0]);
    return p->n >= 0 && (along < 0 || along == p->n);
}

static bool few_product(Fn *f, const Op *op, const DotRanges *d, FewProduct *p, Rows *w) {
    const Value *v = op->res.p[0];
    if (v->type.elem != ELEM_F32 || d->k < 0) return false;
    for (int swapped = 0; swapped < 2; swapped++) {
        if (!few_sides(f, op, d, swapped, p) || !is_few(f, p->m)) continue;
        Nest n = few_nest(f, p);
        if (rows_of_codes(&n, p->w, p->n, p->k, w)) return true;
    }
    return false;
}

bool few_of(Fn *f, const Op *op, FewProduct *p, Rows *w) {
    DotRanges d;
    dot_ranges(f, op, &d);
    return few_product(f, op, &d, p, w);
}

bool few_reads_in_place(Fn *f, const Op *op) {
    FewProduct p;
    Rows w;
    return few_of(f, op, &p, &w);
}

void few_left(Nest *n, const FewProduct *p, Rows *x) {
    if (rows_of_value(n, p->x, p->m, p->k, x) && x->whole) return;
    Tile made = dot_operand(n->f, p->x, ELEM_F32, p->k);
    rows_of_tile(n, &made, p->m, p->k, x);
}

static void emit_call(Nest *n, const FewProduct *p, const Rows *w, const Tile *to) {
    Fn *f = n->f;
    Rows x, y;
    few_left(n, p, &x);
    rows_of_tile(n, to, p->m, p->n, &y);
    const char *rows = cexpr_bare(f->range[p->n].count)->text, *sum = cexpr_bare(f->range[p->k].count)->text;
    if (p->m < 0 && w->elem == ELEM_F32)
        nest_line(n, n->n, "tile_row_dots(%s, %s, %s, &%s, %s, %s, &%s);", rows, w->inside->text, sum, x.at->text,
                  w->from, w->stride->text, y.at->text);
    else
        nest_line(n, n->n, "tile_few_%s(%s, %s, %s, %s, &%s, %s, %s, %s, &%s, %s);", elem_text(w->elem),
                  p->m < 0 ? "1" : cexpr_bare(f->range[p->m].count)->text, rows, w->inside->text, sum, x.at->text,
                  x.stride->text, w->from, w->stride->text, y.at->text, y.stride->text);
    nest_print(n);
}

bool emit_few_product(Fn *f, const Op *op, const DotRanges *d) {
    const Value *v = op->res.p[0];
    FewProduct p;
    Rows w;
    if (!few_product(f, op, d, &p, &w)) return false;
    Held *h = fn_held(f, v);
    if (!h->into && h->fastest < 0) h->fastest = p.n;
    const Tile *to = held_tile(f, v);
    int64_t mark = f->scratch;
    dot_start(f, op, to);
    Nest n = few_nest(f, &p);
    rows_of_codes(&n, p.w, p.n, p.k, &w);
    emit_call(&n, &p, &w, to);
    f->scratch = mark;
    return true;
}
