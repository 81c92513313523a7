/* operand.c: operands of a product as tiles whose rows run the way it reads them, and what its sums start from. */
#include "codegen/host/host.h"
#include "codegen/text/size.h"

bool rows_end_with(const Tile *t, int16_t range) { return t->n && t->range[t->n - 1] == range; }

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
