/* dot.c: contractions as products of matrices: operands become rows in scratch memory, a call per block.
   left: m rows of k. right: k rows of n. result: m rows of n, to which the product is added. */
#include "codegen/text/size.h"
#include "codegen/host/host.h"

static int64_t stride_of(const Tile *t, int16_t range) {
    for (int i = 0; i < t->n; i++)
        if (t->range[i] == range) return t->stride[i];
    return 0;
}

/* Address of the first element of a block, at the position of the loops around. */
static const char *block_at(Fn *f, const Tile *t, const DotRanges *d) {
    const char *sum = t->name;
    for (int i = 0; i < t->n; i++) {
        int16_t r = t->range[i];
        if (r == d->m || r == d->n || r == d->k) continue;
        const CExpr *step = cexpr_mul(f, f->range[r].pos, cexpr_open(f, "%lld", (long long)t->stride[i]));
        sum = fn_text(f, "%s + %s", sum, step->text);
    }
    return sum;
}

static const CExpr *extent_text(Fn *f, int16_t range) { return cexpr_bare(f->range[range].count); }

static void emit_product(Fn *f, const Op *op, const DotRanges *d, const Tile *x, const Tile *y, const Tile *to) {
    Type all = type_union(op->arg.p[0]->type, op->arg.p[1]->type);
    Nest n = nest_new(f, NULL, 0);
    for (int i = 0; i < all.nrange; i++)
        if (all.range[i] != d->m && all.range[i] != d->n && all.range[i] != d->k) n.range[n.n++] = all.range[i];
    nest_line(&n, n.n, "tile_dot_%s(%s, %s, %s, %s, %lld, %s, %lld, %s, %lld);", elem_text(to->elem),
              extent_text(f, d->m)->text, extent_text(f, d->n)->text, extent_text(f, d->k)->text, block_at(f, x, d),
              (long long)stride_of(x, d->m), block_at(f, y, d), (long long)stride_of(y, d->k), block_at(f, to, d),
              (long long)stride_of(to, d->m));
    nest_print(&n);
}

void emit_dot(Fn *f, const Op *op) {
    DotRanges d;
    Value *v = op->res.p[0];
    Held *h = fn_held(f, v);
    if (!dot_ranges(f, op, &d)) {
        if (!emit_row_product(f, op, &d)) emit_contract(f, op);
        return;
    }
    if (h->fastest < 0) h->fastest = d.n;
    const Tile *to = held_tile(f, v);
    int64_t mark = f->scratch;
    Tile own = *to;
    if (rows_end_with(to, d.m)) d = (DotRanges){1 - d.left, d.n, d.m, d.k};
    if (!rows_end_with(to, d.n)) {
        own = tile_for(f, v->type, to->elem, d.n);
        tile_place(f, &own, "product");
    }
    Tile x = dot_operand(f, op->arg.p[d.left], to->elem, d.k), y = dot_operand(f, op->arg.p[1 - d.left], to->elem, d.n);
    dot_start(f, op, &own);
    emit_product(f, op, &d, &x, &y, &own);
    if (own.name != to->name) {
        Tile held = h->tile;
        h->tile = own;
        emit_copy(f, &held, v);
        h->tile = held;
    }
    f->scratch = mark;
}
