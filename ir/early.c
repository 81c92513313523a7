/* early.c: slots of roles that are filled in part before the launch before has ended.
   Takes: roles; or a kernel that a program calls. Gives: the put that fills a ring's first slots; whether a parameter is
   a tensor, such as weights, that need not be waited for. */
#include "ir/roles.h"

static int count_puts(const Region *r, int ring) {
    int n = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r)) n += op->kind == OP_PUT && op->ring == ring;
    return n;
}

/* No other put of the ring comes before: the loops around this one have none. */
static bool comes_first(const Region *body, const Op *put) {
    const Op *outer = NULL;
    for (const Op *op = put->in->parent; op; op = op->in->parent) {
        if (op->kind != OP_FOR) return false;
        outer = op;
    }
    for (const Op *op = walk(body); op && op != put; op = walk_next(op, body))
        if (op->kind == OP_PUT && op->ring == put->ring) return false;
    return !outer || count_puts(outer->region[0], put->ring) == 1;
}

/* Bounds and places that are read from memory, or come through a ring, are known behind the wait. */
static bool reads_memory(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_LOAD || op->kind == OP_GROUP || op->kind == OP_GET) return true;
    return false;
}

static bool is_boxed(const Ring *r) {
    for (int i = 0; i < r->tile.n; i++)
        if (r->tile.p[i].fill != FILL_BOX && r->tile.p[i].fill != FILL_PIXELS && r->tile.p[i].fill != FILL_BULK)
            return false;
    return r->tile.n > 0;
}

const Op *ring_first_put(const Roles *r, int ring) {
    if (r->tasks == TASKS_TICKET || reads_memory(r->scalars) || !is_boxed(&r->ring.p[ring])) return NULL;
    for (int i = 0; i < r->role.n; i++) {
        const Region *body = r->role.p[i].body;
        if (r->role.p[i].lanes != 1 || reads_memory(body)) continue;
        for (const Op *op = walk(body); op; op = walk_next(op, body))
            if (op->kind == OP_PUT && op->ring == ring) return comes_first(body, op) ? op : NULL;
    }
    return NULL;
}

bool ring_is_early(const Ring *r) {
    for (int i = 0; i < r->tile.n; i++)
        if (r->tile.p[i].early) return true;
    return false;
}

/* Of the kernel itself, or of the one that it is a copy of on trial. */
static bool is_called(const Node *n, const Kernel *k) {
    if (n->kind != NODE_CALL) return false;
    bool named = n->kernel->name == k->name;
    for (int i = 0; i < n->otherwise.n; i++) named |= n->otherwise.p[i]->name == k->name;
    return named && n->arg.n == k->param.n;
}

bool param_is_early(const Module *m, const Kernel *k, int param) {
    const Param *of = &k->param.p[param];
    if (of->out || of->inout || of->ranks >= 0 || of->packet) return false;
    for (int i = 0; i < m->program.n; i++)
        for (int n = 1; n < m->program.p[i]->node.n; n++) {
            const Node *node = m->program.p[i]->node.p[n];
            if (is_called(node, k) && tensor_is_constant(m->program.p[i], node->arg.p[param].tensor)) return true;
        }
    return false;
}
