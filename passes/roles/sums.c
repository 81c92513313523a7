/* sums.c: where products must be done: a sum may be under way as long as nothing but a product that adds to it takes
   it. Takes: a kernel in value form. Gives: the sums that are waited for, and the loops that need not wait in a step.
 */
#include "passes/roles/slice.h"

/* The operand is passed on to what the loop carries, and nothing looks at it. */
static bool is_passed(const Slice *s, const Op *op, int i) {
    const Op *loop = op->kind == OP_FOR ? op : op->in->parent;
    if (op->kind == OP_DOT) return i == 2 && !dot_promotes(op);
    if (op->kind == OP_FOR) return i >= 2 && !s->waited[loop->region[0]->arg.p[i - 2]->id];
    return op->kind == OP_YIELD && loop && loop->kind == OP_FOR && op->in == loop->region[0] &&
           !s->waited[op->in->arg.p[i]->id];
}

static bool wait_more(Slice *s) {
    bool more = false;
    for (int n = s->op.n - 1; n >= 0; n--) {
        const Op *op = s->op.p[n];
        for (int i = 0; i < op->arg.n; i++) {
            bool *waited = &s->waited[op->arg.p[i]->id];
            if (*waited || is_passed(s, op, i)) continue;
            *waited = more = true;
        }
    }
    return more;
}

void slice_sums(Slice *s) {
    s->waited = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    for (int i = 0; i < s->dot.n; i++)
        s->waited[s->dot.p[i]->res.p[0]->id] = (s->chained && s->wide < 0) || s->makes || dot_promotes(s->dot.p[i]);
    while (wait_more(s)) {
    }
}

/* Sums go from registers to memory. With few of them, or where nothing that a run or a task decides stands in front of
   the stores, the assembler would let each product wait for the one before [compiled: C7514 up to 32 columns; and of
   known numbers of rows and whole tiles, 40 to 112 columns]. */
static bool stores_hinder(const Slice *s) {
    enum { FEW = 32 /* columns */ };
    const Range *row = &s->k->range.p[s->row], *column = &s->k->range.p[s->column];
    if (!s->swapped || column->size <= FEW) return s->swapped;
    const bool known = size_is_number(row->of) && row->of.c % row->size == 0 && size_is_number(column->of);
    return known && !s->turned && s->slices <= 1;
}

/* In a step products are issued and no sum is waited for: slots are given back a turn later. */
bool loop_defers(const Slice *s, const Op *loop) {
    bool products = false;
    if (stores_hinder(s)) return false;
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        if (op->kind == OP_DOT && (dot_promotes(op) || s->waited[op->res.p[0]->id])) return false;
        bool operand = (op->kind == OP_LOAD && s->stream_of[op->res.p[0]->id]) || is_widened(s, op);
        bool scalar = op->res.n == 1 && (!op->res.p[0]->type.nrange || s->gathers[op->res.p[0]->id]) &&
                      op->kind != OP_FOR && op->kind != OP_IF;
        if (op->kind != OP_DOT && op->kind != OP_YIELD && !operand && !scalar) return false;
        products |= op->kind == OP_DOT;
    }
    return products;
}
