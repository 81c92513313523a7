/* integers.c: contractions of bytes in 32 bits (runtime/device/tile_integers.h). Rows of both sides run along the sum; a
   side that does not lie so in memory becomes a tile of bytes. */
#include "codegen/host/rows.h"

static bool is_of_bytes(const Op *op) {
    return op->res.p[0]->type.elem == ELEM_I32 && op->arg.p[0]->type.elem == ELEM_I8 && op->arg.p[1]->type.elem == ELEM_I8;
}

/* false: the result has one element, or fewer in a row than products have sums. */
static bool product_of_bytes(Fn *f, const Op *op, const DotRanges *d, FewProduct *p) {
    if (!is_of_bytes(op) || d->k < 0) return false;
    return few_sides(f, op, d, false, p) || few_sides(f, op, d, true, p);
}

static bool lies_in_rows(Nest *n, const Value *v, int16_t row, int16_t k, Rows *r) {
    return rows_of_codes(n, v, row, k, r) && r->elem == ELEM_I8 && r->whole;
}

bool integers_read_in_place(Fn *f, const Op *op) {
    DotRanges d;
    FewProduct p;
    Rows x, w;
    dot_ranges(f, op, &d);
    if (!product_of_bytes(f, op, &d, &p)) return false;
    Nest n = few_nest(f, &p);
    return lies_in_rows(&n, p.x, p.m, p.k, &x) && lies_in_rows(&n, p.w, p.n, p.k, &w);
}

static Rows take_rows(Nest *n, const Value *v, int16_t row, int16_t k) {
    Rows r;
    if (lies_in_rows(n, v, row, k, &r)) return r;
    Tile made = dot_operand(n->f, v, ELEM_I8, k);
    rows_of_tile(n, &made, row, k, &r);
    return r;
}

bool emit_integer_product(Fn *f, const Op *op, const DotRanges *d) {
    FewProduct p;
    if (!product_of_bytes(f, op, d, &p)) return false;
    Held *h = fn_held(f, op->res.p[0]);
    if (!h->into && h->fastest < 0) h->fastest = p.n;
    const Tile *to = held_tile(f, op->res.p[0]);
    int64_t mark = f->scratch;
    Nest n = few_nest(f, &p);
    const Rows x = take_rows(&n, p.x, p.m, p.k), w = take_rows(&n, p.w, p.n, p.k);
    dot_start(f, op, to);
    Rows y;
    rows_of_tile(&n, to, p.m, p.n, &y);
    nest_line(&n, n.n, "tile_dots_i8(%s, %s, %s, &%s, %s, &%s, %s, &%s, %s);",
              p.m < 0 ? "1" : cexpr_bare(f->range[p.m].count)->text, cexpr_bare(f->range[p.n].count)->text,
              cexpr_bare(f->range[p.k].count)->text, x.at->text, x.stride->text, w.at->text, w.stride->text, y.at->text,
              y.stride->text);
    nest_print(&n);
    f->scratch = mark;
    return true;
}
