/* dot.c: contractions as products of matrices: operands become rows in scratch memory, a call per block.
   left: m rows of k. right: k rows of n. result: m rows of n, to which the product is added. */
#include "codegen/text/size.h"
#include "codegen/text/step.h"

typedef struct {
    int n;
    int16_t range[MAX_RANGES];
} Ranges;

static Ranges ranges_only_in(const Type *a, const Type *b) {
    Ranges r = {0};
    for (int i = 0; i < a->nrange; i++)
        if (!type_has(*b, a->range[i])) r.range[r.n++] = a->range[i];
    return r;
}

/* The largest; the later of equals. -1: none has more than one position. */
static int16_t largest(Fn *f, const int16_t *range, int n) {
    int16_t best = -1;
    for (int i = 0; i < n; i++)
        if (f->range[range[i]].most != 1 && (best < 0 || f->range[range[i]].most >= f->range[best].most))
            best = range[i];
    return best;
}

static bool has_block_product(Elem e) { return e == ELEM_F32 || e == ELEM_F64 || e == ELEM_I32; }

bool dot_ranges(Fn *f, const Op *op, DotRanges *d) {
    const Type *x = &op->arg.p[0]->type, *y = &op->arg.p[1]->type, *r = &op->res.p[0]->type;
    Ranges m = ranges_only_in(x, y), n = ranges_only_in(y, x);
    for (int i = 0; i < r->nrange; i++)
        if (!type_has(*x, r->range[i]) && !type_has(*y, r->range[i])) return *d = (DotRanges){0, -1, -1, -1}, false;
    *d = (DotRanges){0, largest(f, m.range, m.n), largest(f, n.range, n.n), largest(f, op->over, op->nover)};
    return d->m >= 0 && d->n >= 0 && d->k >= 0 && has_block_product(r->elem);
}

static bool rows_end_with(const Tile *t, int16_t range) { return t->n && t->range[t->n - 1] == range; }

static int64_t stride_of(const Tile *t, int16_t range) {
    for (int i = 0; i < t->n; i++)
        if (t->range[i] == range) return t->stride[i];
    return 0;
}

/* The transpose of a tile of two ranges whose rows run the other way. */
static void emit_transposed(Fn *f, const Tile *to, const Value *v) {
    Type t = v->type;
    Tile from = tile_for(f, t, to->elem, to->range[0]);
    tile_place(f, &from, fn_text(f, "%s_rows", fn_value_name(f, v)));
    emit_copy(f, &from, v);
    const RangeText *rows = &f->range[from.range[0]], *columns = &f->range[from.range[1]];
    fn_line(f, "tile_transpose_%s(%s, %s, %s, %lld, %s, %lld);", elem_text(to->elem), cexpr_bare(rows->count)->text,
            cexpr_bare(columns->count)->text, from.name, (long long)from.stride[0], to->name, (long long)to->stride[0]);
}

/* An operand as a tile of the product's element type whose rows run along `row`. */
Tile dot_operand(Fn *f, const Value *v, Elem elem, int16_t row) {
    const Held *h = fn_held(f, v);
    if (h->hold == HOLD_TILE && rows_end_with(&h->tile, row) && h->tile.elem == elem) return h->tile;
    Tile t = tile_for(f, v->type, elem, row);
    tile_place(f, &t, fn_value_name(f, v));
    bool turned = t.n == 2 && elem == ELEM_F32 && value_fastest(f, v) == t.range[0];
    if (turned)
        emit_transposed(f, &t, v);
    else
        emit_copy(f, &t, v);
    return t;
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

void dot_start(Fn *f, const Op *op, const Tile *to) {
    if (op->arg.n == 3) {
        const Value *acc = op->arg.p[2];
        const Held *h = fn_held(f, acc);
        if (h->hold == HOLD_TILE && h->tile.name == to->name) return;
        emit_copy(f, to, acc);
        return;
    }
    Nest n = nest_new(f, to->range, to->n);
    n.pragma = "#pragma omp simd";
    nest_line(&n, n.n, "%s = 0;", nest_tile(&n, to)->text);
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
