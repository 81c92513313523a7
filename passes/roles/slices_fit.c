/* slices_fit.c: which kernels can be cut into slices: what products of a part of the steps sum adds up to the whole.
   Takes: a kernel with its streams. Changes nothing. */
#include "passes/roles/slice.h"

static bool is_zero(const Value *v) {
    while (v->def && v->def->kind == OP_BROADCAST) v = v->def->arg.p[0];
    return v->def && v->def->kind == OP_CONST && v->def->fimm == 0 && v->def->imm == 0;
}

static bool is_dot(const Value *v, const Region *in) { return v->def && v->def->kind == OP_DOT && v->def->in == in; }

/* A product adds to what the loop carries, and nothing else looks at it. */
static bool op_is_linear(const Slice *s, const Op *op) {
    if (op->kind == OP_DOT) return op->arg.n == 3 && (op->arg.p[2]->arg_of == op->in || is_dot(op->arg.p[2], op->in));
    for (int i = 0; i < op->arg.n && op->kind == OP_YIELD; i++)
        if (!is_dot(op->arg.p[i], op->in)) return false;
    if (op->kind == OP_YIELD) return true;
    const Value *v = op->res.n == 1 && !op->region[0] ? op->res.p[0] : NULL;
    return v && (!v->type.nrange || s->stream_of[v->id] || s->gathers[v->id] || is_widened(s, op));
}

/* Behind sums and products of its own, what a loop passes on is what it got: each step adds something that does not
   depend on it. */
static bool adds_to(const Slice *s, const Value *v, const Region *body, int index) {
    enum { MOST = 16 /* products and sums of a step */ };
    for (int n = 0; n < MOST; n++) {
        const Op *op = v->def;
        if (s->uses[v->id] != 1) return false;
        if (!op) return v->arg_of == body && v->index == index;
        if (op->in != body || (op->kind != OP_ADD && !(op->kind == OP_DOT && op->arg.n == 3))) return false;
        const bool left = op->kind == OP_ADD && adds_to(s, op->arg.p[0], body, index);
        v = op->arg.p[op->kind == OP_DOT ? 2 : !left];
    }
    return false;
}

static bool loop_adds(const Slice *s, const Op *loop) {
    const Region *body = loop->region[0];
    for (int i = 0; i < loop->res.n; i++)
        if (!is_zero(loop->arg.p[2 + i]) || !adds_to(s, body->last->arg.p[i], body, i)) return false;
    return body->last->kind == OP_YIELD;
}

static bool loop_is_linear(const Slice *s, const Op *loop) {
    if (s->makes) return loop_adds(s, loop);
    if (s->k->range.p[loop->range].kind != RANGE_TILE) return false;
    for (int i = 0; i < loop->res.n; i++) {
        const Value *first = loop->arg.p[2 + i];
        if (!is_zero(first) && !(first->def && first->def->kind == OP_FOR)) return false;
    }
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (!op_is_linear(s, op)) return false;
    return true;
}

/* Of results: it is made of a panel of columns alone. */
static bool op_is_of_panels(const Slice *s, const Op *op) {
    const bool tile = op->res.n == 1 && type_has(op->res.p[0]->type, s->column);
    return !tile || op_is_elementwise(op) || op->kind == OP_CONST || op->kind == OP_LOAD || op->kind == OP_POS;
}

const Op *slices_loop(const Slice *s) {
    const Op *inner = s->stream.p[0].at->parent, *around = inner ? inner->in->parent : NULL;
    int64_t end;
    return around && loop_flat(s, around, &end) == inner ? around : inner;
}

bool slices_fit(const Slice *s) {
    if (s->chained || s->stream.n != 1 || slice_has_peers(s) || kernel_is_ragged(s->k)) return false;
    if (slice_has_fill(s, FILL_ROWS) || kernel_prints(s->k)) return false;
    if (region_synchronises(s->k->body) || s->stream.p[0].at->parent == NULL) return false;
    for (int i = 0; i < s->dot.n; i++)
        if (s->dot.p[i]->in != s->stream.p[0].at) return false;
    const Op *whole = slices_loop(s);
    for (const Op *op = s->k->body->first; op; op = op->next) {
        const bool loop = op == whole;
        if (loop ? !loop_is_linear(s, op) : op->region[0] || !op_is_of_panels(s, op)) return false;
    }
    return whole->in == s->k->body;
}
