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

static bool loop_is_linear(const Slice *s, const Op *loop) {
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

bool slices_fit(const Slice *s) {
    if (s->chained || s->makes || s->stream.n != 1 || slice_has_peers(s) || kernel_is_ragged(s->k)) return false;
    if (region_synchronises(s->k->body) || s->stream.p[0].at->parent == NULL) return false;
    for (int i = 0; i < s->dot.n; i++)
        if (s->dot.p[i]->in != s->stream.p[0].at) return false;
    for (const Op *op = s->k->body->first; op; op = op->next) {
        const bool loop = op->kind == OP_FOR && op->region[0] == s->stream.p[0].at;
        if (loop ? !loop_is_linear(s, op) : op->region[0] || !op_is_of_panels(s, op)) return false;
    }
    return s->stream.p[0].at->parent->in == s->k->body;
}
