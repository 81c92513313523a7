/* contract.c: contractions without a matrix instruction. Both operands lie in the workgroup's memory. Each thread
   takes the parts that its own elements need, a few positions of what is contracted at a time, and sums products. */
#include "codegen/gpu/move.h"

enum { STEP_BITS = 2 }; /* positions that a thread takes at once */

/* An operand as a thread takes it: the result's registers along its own ranges, times some positions. */
typedef struct {
    Move move;
    Layout own;     /* slice of the result's layout */
    bool own_first; /* registers along its own ranges are neighbours, else positions are */
    Tile tile;
} Part;

static void move_columns(Layout *to, const Layout *from, const char *place) {
    int n, at, first;
    const uint64_t *column = layout_columns(from, place, &n);
    layout_add_place(to, place, 0);
    for (int b = 0; b < n; b++) {
        int bit = layout_add_place(to, place, 1);
        for (int i = 0; i < from->nindex; i++) {
            layout_index(from, from->index[i].name, &first);
            layout_index(to, from->index[i].name, &at);
            uint64_t mask = (UINT64_C(1) << from->index[i].bits) - 1;
            to->column[bit] |= (column[b] >> first & mask) << at;
        }
    }
}

static void add_positions(Layout *to, const char *range, int begin, int end) {
    int at;
    layout_index(to, range, &at);
    for (int b = begin; b < end; b++) to->column[layout_add_place(to, "reg", 1)] = UINT64_C(1) << (at + b);
}

/* The lowest registers count along one range. */
static bool runs_along_own(const Layout *own) {
    int n, first;
    const uint64_t *column = layout_columns(own, "reg", &n);
    for (int i = 0; i < own->nindex && n; i++) {
        layout_index(own, own->index[i].name, &first);
        if (column[0] == UINT64_C(1) << first) return true;
    }
    return false;
}

/* Positions from 2^bits up are left to a loop. */
static Layout part_layout(const Layout *operand, const Part *p, const char *range, int bits) {
    Layout to = {0};
    for (int i = 0; i < operand->nindex; i++)
        layout_add_index(&to, operand->index[i].name, INT64_C(1) << operand->index[i].bits);
    if (!p->own_first) add_positions(&to, range, 0, bits < STEP_BITS ? bits : STEP_BITS);
    move_columns(&to, &p->own, "reg");
    if (p->own_first) add_positions(&to, range, 0, bits < STEP_BITS ? bits : STEP_BITS);
    if (bits > STEP_BITS) add_positions(&to, range, STEP_BITS, bits);
    move_columns(&to, &p->own, "lane");
    move_columns(&to, &p->own, "wave");
    return to;
}

static bool part_plan(Fn *f, Part *p, const Op *op, int operand, const Layout *result, int bits) {
    const Value *v = op->arg.p[operand];
    const Layout *from = held_layout(f, v);
    const char *range = f->k->range.p[op->over[0]].name, *name[MAX_RANGES];
    int n = 0, step = bits < STEP_BITS ? bits : STEP_BITS;
    *p = (Part){.move = {.from = v, .to = v}};
    for (int i = 0; i < v->type.nrange; i++)
        if (v->type.range[i] != op->over[0]) name[n++] = f->k->range.p[v->type.range[i]].name;
    if (!layout_slice(&p->own, result, name, n)) return false;
    p->own_first = runs_along_own(&p->own);
    p->move.out.outer = bits - step;
    Layout all = part_layout(from, p, range, bits);
    if (!move_plan(f, &p->move, from, &all, v->type.elem)) return false;
    p->move.to_layout = part_layout(from, p, range, step);
    p->move.out.low = step;
    p->move.out.step = fn_text(f, "%s_at", range);
    p->tile = (Tile){.elem = v->type.elem, .count = (int64_t)layout_registers(&p->own) << step};
    return true;
}

static void part_load(Fn *f, Part *p) {
    p->tile.name = c_name(&f->names, fn_text(f, "%s_part", fn_value_name(f, p->move.from)));
    p->move.tile = &p->tile;
    if (p->tile.count == 1)
        fn_line(f, "%s %s;", elem_c(p->tile.elem), p->tile.name);
    else
        fn_line(f, "%s %s[%d];", elem_c(p->tile.elem), p->tile.name, (int)p->tile.count);
    move_load(f, &p->move);
}

/* The element beside the loop's, at the position that `elem` counts. */
static const CExpr *factor(Nest *n, const Part *p, Elem e, int step) {
    Fn *f = n->f;
    const CExpr *own = register_of(n, &p->own), *at = step ? cexpr_name(f, "elem") : cexpr_number(f, 0);
    own = own ? cexpr_operand(f, own) : cexpr_number(f, 0);
    if (p->own_first)
        at = cexpr_add(f, cexpr_mul(f, at, cexpr_number(f, layout_registers(&p->own))), own);
    else
        at = cexpr_add(f, cexpr_mul(f, own, cexpr_number(f, 1 << step)), at);
    return nest_convert(n, e, p->tile.elem, tile_at(f, &p->tile, at));
}

static void add_products(Fn *f, const Tile *to, const Part *x, const Part *y, int step) {
    Nest n = nest_over(f, to->layout, 0);
    const CExpr *p = factor(&n, x, to->elem, step), *q = factor(&n, y, to->elem, step);
    const CExpr *product = elem_is_int(to->elem)
                               ? cexpr_call(f, "tile_mul_%s(%s, %s)", elem_text(to->elem), p->text, q->text)
                               : cexpr_mul(f, p, q);
    nest_line(&n, n.n, "%s", reduce_combine(f, OP_SUM, to->elem, nest_tile(&n, to)->text, product));
    nest_print(&n);
}

/* A loop of the text, with `by` positions a turn; one turn: no loop. */
static void loop(Fn *f, const char *name, int end, int by) {
    if (by == 1) fn_line(f, "#pragma unroll");
    fn_line(f, by == 1 ? "for (int %s = 0; %s < %d; %s++) {" : "for (int %s = 0; %s < %d; %s += %d) {", name, name, end,
            name, by);
    f->indent++;
}

static void loop_end(Fn *f) {
    f->indent--;
    fn_line(f, "}");
}

bool hip_sum_of_products(Fn *f, const Op *op, const Tile *to) {
    Part *part = ARENA_ARRAY(f->arena, Part, 2);
    const char *range = f->k->range.p[op->over[0]].name;
    int bits = __builtin_popcountll(layout_range_bits(held_layout(f, op->arg.p[0]), range)),
        step = bits < STEP_BITS ? bits : STEP_BITS;
    if (op->nover != 1 || !to->layout) return false;
    for (int i = 0; i < 2; i++)
        if (!part_plan(f, &part[i], op, i, to->layout, bits)) return false;
    part[1].move.offset = move_bytes(&part[0].move);
    lds_take(f, op->loc, part[1].move.offset + move_bytes(&part[1].move));
    for (int i = 0; i < 2; i++) move_store(f, &part[i].move);
    sync_line(f);
    if (bits > step) loop(f, part[0].move.out.step, 1 << bits, 1 << step);
    for (int i = 0; i < 2; i++) part_load(f, &part[i]);
    if (step) loop(f, "elem", 1 << step, 1);
    add_products(f, to, &part[0], &part[1], step);
    if (step) loop_end(f);
    if (bits > step) loop_end(f);
    lds_done(f);
    return true;
}
