/* dot.c: contractions: matrix instructions on fragments, or both operands in the workgroup's memory, where each
   thread sums the products of its own elements. */
#include "codegen/gpu/hip.h"

#include <inttypes.h>

/* ---- matrix instructions ---- */

static int fragment_registers(Fn *f, const MatrixOp *o, char operand) {
    Layout l;
    return matrix_layout(f->arena, &l, o, operand, o->ad->n) ? layout_registers(&l) : 1;
}

static const CExpr *fragment_text(Fn *f, const Tile *t, int each, const char *inner, int inner_count, const char *outer,
                                  int outer_count) {
    const CExpr *n = inner_count > 1 ? cexpr_name(f, inner) : cexpr_number(f, 0);
    if (outer_count > 1) n = cexpr_add(f, cexpr_mul(f, cexpr_name(f, outer), cexpr_number(f, inner_count)), n);
    return tile_address(f, t, cexpr_mul(f, cexpr_operand(f, n), cexpr_number(f, each)));
}

static void loops_open(Fn *f, const char *const *name, const int *count, int n, int *opened) {
    for (int i = 0; i < n; i++) {
        if (count[i] == 1) continue;
        fn_line(f, "#pragma unroll");
        fn_line(f, "for (int %s = 0; %s < %d; %s++) {", name[i], name[i], count[i], name[i]);
        f->indent++;
        ++*opened;
    }
}

static void loops_close(Fn *f, int opened) {
    while (opened-- > 0) {
        f->indent--;
        fn_line(f, "}");
    }
}

/* Fragments of A are numbered along k, then along m; those of B along k, then n; those of D along n, then m. */
static void matrix_product(Fn *f, const Op *op, const MatrixOp *o, const Tile *to) {
    const Tile *a = made_tile(f, op->arg.p[0]), *b = made_tile(f, op->arg.p[1]);
    int ra = fragment_registers(f, o, 'a'), rb = fragment_registers(f, o, 'b'), rd = fragment_registers(f, o, 'd');
    int64_t k_range = INT64_C(1) << __builtin_popcountll(layout_range_bits(a->layout, f->k->range.p[op->over[0]].name));
    int nk = (int)(k_range / o->ad->k), nm = (int)(a->count / ra) / nk, nn = (int)(b->count / rb) / nk, opened = 0;
    loops_open(f, (const char *const[]){"fk", "fm", "fn"}, (int[]){nk, nm, nn}, 3, &opened);
    fn_line(f, "%s(%s, %s, %s);", o->function, fragment_text(f, to, rd, "fn", nn, "fm", nm)->text,
            fragment_text(f, a, ra, "fk", nk, "fm", nm)->text, fragment_text(f, b, rb, "fk", nk, "fn", nn)->text);
    loops_close(f, opened);
}

/* ---- sums of products ---- */

/* An operand in memory: row-major, the padded extents. */
typedef struct {
    const char *name;
    int64_t offset, bytes;
    int n;
    int16_t range[MAX_RANGES];
    int64_t stride[MAX_RANGES];
} Rows;

static Rows rows_of(Fn *f, const Value *v, int64_t offset) {
    Rows w = {.offset = offset, .n = v->type.nrange, .bytes = elem_bits(v->type.elem) / 8};
    const Layout *l = held_layout(f, v);
    for (int i = w.n - 1; i >= 0; i--) {
        w.range[i] = v->type.range[i];
        w.stride[i] = w.bytes;
        w.bytes <<= __builtin_popcountll(layout_range_bits(l, f->k->range.p[w.range[i]].name));
    }
    return w;
}

static const char *rows_text(Fn *f, const Rows *w) {
    const CExpr *sum = cexpr_number(f, w->offset);
    for (int i = 0; i < w->n; i++)
        sum = cexpr_add(f, sum, cexpr_mul(f, f->range[w->range[i]].pos, cexpr_number(f, w->stride[i])));
    return fn_text(f, "lds + %s", sum->text);
}

static void rows_store(Fn *f, const Value *v, const Rows *w) {
    const Layout *l = held_layout(f, v);
    Nest n = nest_over(f, l, 0);
    uint64_t copies = layout_copies(f->hip, l);
    if (copies) n.guard = fn_text(f, "(thread & %" PRIu64 ") == 0", copies);
    const CExpr *value = nest_value(&n, v);
    nest_line(&n, n.n, "tile_lds_store_%s(%s, %s);", elem_text(v->type.elem), rows_text(f, w), cexpr_bare(value)->text);
    nest_print(&n);
}

static const CExpr *factor_text(Nest *n, const Value *v, const Rows *w, Elem e) {
    const CExpr *x = cexpr_call(n->f, "tile_lds_load_%s(%s)", elem_text(v->type.elem), rows_text(n->f, w));
    return nest_convert(n, e, v->type.elem, x);
}

/* to += x y at one place of the contracted ranges, whose loops are around. */
static void add_products(Fn *f, const Op *op, const Tile *to, const Rows *x, const Rows *y) {
    Nest n = to->layout ? nest_over(f, to->layout, 0) : nest_new(f, NULL, 0);
    for (int i = 0; i < op->nover; i++)
        f->range[op->over[i]].pos = cexpr_name(f, fn_text(f, "%s_at", f->k->range.p[op->over[i]].name));
    const CExpr *p = factor_text(&n, op->arg.p[0], x, to->elem), *q = factor_text(&n, op->arg.p[1], y, to->elem);
    const char *sum = to->layout ? nest_tile(&n, to)->text : to->name;
    const CExpr *product = elem_is_int(to->elem)
                               ? cexpr_call(f, "tile_mul_%s(%s, %s)", elem_text(to->elem), p->text, q->text)
                               : cexpr_mul(f, p, q);
    nest_line(&n, n.n, "%s", reduce_combine(f, OP_SUM, to->elem, sum, product));
    nest_print(&n);
}

static void sums_of_products(Fn *f, const Op *op, const Tile *to) {
    const Value *u = op->arg.p[0], *v = op->arg.p[1];
    Rows x = rows_of(f, u, 0), y = rows_of(f, v, (x.bytes + 15) / 16 * 16);
    lds_take(f, op->loc, y.offset + y.bytes);
    rows_store(f, u, &x);
    rows_store(f, v, &y);
    sync_line(f);
    for (int i = 0; i < op->nover; i++) {
        const char *name = f->k->range.p[op->over[i]].name;
        int bits = __builtin_popcountll(layout_range_bits(held_layout(f, u), name));
        fn_line(f, "for (int %s_at = 0; %s_at < %d; %s_at++) {", name, name, 1 << bits, name);
        f->indent++;
    }
    add_products(f, op, to, &x, &y);
    loops_close(f, op->nover);
    lds_done(f);
}

/* ---- */

static void start(Fn *f, const Op *op, const Tile *to) {
    if (op->arg.n == 3) {
        emit_copy(f, to, op->arg.p[2]);
        return;
    }
    Nest n = nest_over(f, to->layout, 0);
    nest_line(&n, n.n, "%s = 0;", nest_tile(&n, to)->text);
    nest_print(&n);
}

/* A result without ranges: every thread sums all of it. */
static void scalar_dot(Fn *f, const Op *op) {
    Value *v = op->res.p[0];
    Tile to = {.count = 1, .elem = v->type.elem, .name = c_name(&f->names, fn_value_name(f, v))};
    Nest n = nest_new(f, NULL, 0);
    const CExpr *from = op->arg.n == 3 ? cexpr_bare(nest_value(&n, op->arg.p[2])) : cexpr_number(f, 0);
    nest_line(&n, 0, "%s %s = %s;", elem_c(to.elem), to.name, from->text);
    nest_print(&n);
    fn_held(f, v)->name = to.name;
    sums_of_products(f, op, &to);
}

void hip_dot(Fn *f, const Op *op) {
    if (!op->res.p[0]->type.nrange) {
        scalar_dot(f, op);
        return;
    }
    const char *e = elem_text(op->arg.p[0]->type.elem);
    const MatrixOp *o = op->by ? matrix_op(f->hip->target, op->by, e, e) : NULL;
    const Tile *to = held_tile(f, op->res.p[0]);
    start(f, op, to);
    if (o)
        matrix_product(f, op, o, to);
    else if (!hip_sum_of_products(f, op, to))
        sums_of_products(f, op, to);
}
