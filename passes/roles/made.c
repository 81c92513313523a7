/* made.c: operands of products that are made on the way: elements of tiles that come by rings, each computed for
   itself, as weights of few bits are scaled and widened. The groups that multiply make them in registers: the first
   operand of an instruction, 64 rows along what is summed. Takes: products of a kernel. Gives: the loads that such an
   operand is made of; how many positions a step has. */
#include "passes/roles/slice.h"

enum {
    ROW_BYTES = 128,    /* of a step: those of a row of a swizzled box */
    LEAST_DEPTH = 64,   /* positions of a step: 128 bytes of the other operand, of 16 bits */
    MOST_DEPTH = 256,   /* an operand of 64 rows takes a word of a thread for every 4 */
    MOST_COMPUTED = 128 /* with more, what it is made of has no room in registers [guess] */
};

/* ---- of what ---- */

static bool is_made(const Value *v, int depth) {
    enum { DEEP = 32 /* operations; longer chains are not looked at */ };
    const Op *op = v->def;
    if (!v->type.nrange) return true;
    if (!op || depth > DEEP) return false;
    if (op->kind == OP_LOAD || op->kind == OP_POS) return true;
    if (!op_is_elementwise(op) && op->kind != OP_BROADCAST) return false;
    for (int i = 0; i < op->arg.n; i++)
        if (!is_made(op->arg.p[i], depth + 1)) return false;
    return true;
}

bool operand_is_computed(const Op *dot, int i) {
    const Value *v = product_operand(dot, i);
    return v->def && v->def->kind != OP_LOAD && is_made(v, 0);
}

bool slice_makes(const Slice *s) {
    for (int i = 0; i < s->dot.n && !s->chained; i++)
        if (operand_is_computed(s->dot.p[i], 0) || operand_is_computed(s->dot.p[i], 1)) return true;
    return false;
}

/* It has an element for each position of the operand, and lies along what is summed. */
static bool comes_by_ring(const Slice *s, const Op *load, int over) {
    const Type t = load->res.p[0]->type;
    const int n = s->k->param.p[load->param].ndim;
    return t.nrange == 2 && type_has(t, over) && n > 1 &&
           subscript_range(s, &load->sub.p[load->sub.n - 1].lo) == over &&
           type_has(t, subscript_range(s, &load->sub.p[load->sub.n - 2].lo));
}

static void add_loads(const Slice *s, const Value *v, int over, Loads *to) {
    const Op *op = v->def;
    if (!op || !v->type.nrange) return;
    if (op->kind == OP_LOAD) {
        for (int i = 0; i < to->n; i++)
            if (to->load[i] == op) return;
        if (comes_by_ring(s, op, over) && to->n < MOST_MADE_OF) to->load[to->n++] = op;
        return;
    }
    for (int i = 0; i < op->arg.n; i++) add_loads(s, op->arg.p[i], over, to);
}

Loads operand_loads(const Slice *s, const Op *dot, int i) {
    Loads l = {0};
    const Value *v = product_operand(dot, i);
    if (v->def && v->def->kind == OP_LOAD) l.load[l.n++] = v->def;
    if (!s->chained && operand_is_computed(dot, i)) add_loads(s, v, dot->over[0], &l);
    return l;
}

/* Nothing but another type. */
bool operand_is_widened(const Op *dot, int i) {
    const Value *v = product_operand(dot, i);
    while (v->def && v->def->kind == OP_CAST) v = v->def->arg.p[0];
    return v->def && v->def->kind == OP_LOAD;
}

/* ---- how many positions a step has ---- */

static int loop_depth(const Slice *s, const Op *dot, int most) {
    const Op *loop = kernel_loop(s->k, dot->over[0]);
    const Range *r = &s->k->range.p[dot->over[0]];
    if (!loop) return most;
    if (s->k->plan.lowering == LOWER_ROLES) return (int)r->size; /* it is planned */
    if (s->k->plan.sized || range_needs_size(s->k, dot->over[0]))
        while (most > r->size && most > LEAST_DEPTH) most /= 2;
    for (int n = most; n >= LEAST_DEPTH; n /= 2)
        if (value_is_multiple(loop->arg.p[0], n) && value_is_multiple(loop->arg.p[1], n)) return n;
    return most;
}

/* A row of the smallest elements is one of a box; groups of positions end with a step. */
static int dot_depth(const Slice *s, const Op *dot) {
    int depth = LEAST_DEPTH;
    for (int i = 0; i < 2; i++) {
        const Loads l = operand_loads(s, dot, i);
        const int most = operand_is_widened(dot, i) ? MOST_DEPTH : MOST_COMPUTED;
        for (int n = 0; n < l.n && operand_is_computed(dot, i); n++)
            while (depth < most && 2 * depth * elem_bits(l.load[n]->res.p[0]->type.elem) <= 8 * ROW_BYTES) depth *= 2;
    }
    return loop_depth(s, dot, depth);
}

static int made_depth(const Slice *s) {
    int depth = MOST_DEPTH;
    for (int i = 0; i < s->dot.n; i++) {
        const int n = dot_depth(s, s->dot.p[i]);
        if (n < depth) depth = n;
    }
    return depth;
}

int slice_depth(const Slice *s) {
    const int panel = ROW_BYTES * 8 / elem_bits(product_operand(s->dot.p[0], 0)->type.elem);
    if (s->makes) return made_depth(s);
    const int64_t planned = s->k->range.p[s->dot.p[0]->over[0]].size;
    if (s->chained || s->k->plan.lowering != LOWER_ROLES) return panel * (s->deep && !s->chained ? 2 : 1);
    return planned == 2 * panel ? (int)planned : panel;
}

/* Kernels of a run's sizes are chosen by counts for more rows, too, beside which that of few rows is compared for half
   as many. */
bool slice_has_few(const Slice *s, Size rows) {
    return size_most(s->m, rows) <= TILES_FEW / (size_is_number(rows) ? 1 : 2);
}

/* Few rows: a step waits for its slot, and gives it back, for as many bytes as many rows have in one panel. */
bool slice_may_be_deep(const Slice *s) {
    const Range *few = &s->k->range.p[s->swapped ? s->column : s->row];
    if (s->makes || s->chained || s->stream.n != 1 || s->dot.n != 1 || dot_promotes(s->dot.p[0])) return false;
    for (int i = 0; i < s->stream.p[0].load.n; i++)
        if (s->stream.p[0].fill != FILL_BOX || s->stream.p[0].pixels.p[i]) return false;
    return !kernel_is_ragged(s->k) && !slice_has_peers(s) && slice_has_few(s, few->of);
}

int made_bits(const Slice *s) {
    int bits = 0;
    for (int i = 0; i < 2 * s->dot.n; i++) {
        const Loads l = operand_loads(s, s->dot.p[i / 2], i % 2);
        if (!operand_is_computed(s->dot.p[i / 2], i % 2)) continue;
        for (int n = 0; n < l.n; n++)
            if (elem_bits(l.load[n]->res.p[0]->type.elem) > bits) bits = elem_bits(l.load[n]->res.p[0]->type.elem);
    }
    return bits;
}

Panel made_panel(const Slice *s, const Op *load) {
    const int bytes = slice_depth(s) * elem_bits(load->res.p[0]->type.elem) / 8;
    return bytes >= ROW_BYTES       ? PANEL_K128
           : bytes == ROW_BYTES / 2 ? PANEL_K64
           : bytes == ROW_BYTES / 4 ? PANEL_K32
                                    : PANEL_ROWS;
}
