/* beside.c: launches that run beside the one before them: a kernel that waits for each tile of what the kernel before it
   sends to other ranks. Takes: nodes with flags. Gives: whether nothing but flags has to order the two. */
#include "codegen/gpu/hip.h"

static bool has_op(const Kernel *k, OpKind kind) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == kind) return true;
    return false;
}

/* Packets: they arrive with the number of the run. */
static bool has_packets(const Kernel *k, bool written) {
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].packet && k->param.p[i].out == written) return true;
    return false;
}

static bool sends(const Kernel *k) { return has_op(k, OP_SIGNAL) || has_packets(k, true); }

static bool waits(const Kernel *k) { return has_op(k, OP_WAIT) || has_packets(k, false); }

static bool is_written(const Kernel *k, int param) { return k->param.p[param].out || k->param.p[param].inout; }

/* Launches order what stays on its rank: it has no flags. */
static bool stores_everywhere(const Kernel *k, int param) {
    const Affine own = affine_term(TERM_RANK, k->param.p[param].ranks, 1, 1);
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_STORE && op->param == param && affine_equal(&op->sub.p[0].lo, &own)) return false;
    return true;
}

static bool has_flags(const Node *a, int x, const Node *b, int y) {
    if (!is_written(a->kernel, x) && !is_written(b->kernel, y)) return true;
    return a->kernel->param.p[x].ranks >= 0 && !is_written(b->kernel, y) && stores_everywhere(a->kernel, x);
}

static bool tensors_have_flags(const Node *a, const Node *b) {
    for (int x = 0; x < a->arg.n; x++)
        for (int y = 0; y < b->arg.n; y++)
            if (a->arg.p[x].tensor == b->arg.p[y].tensor && !has_flags(a, x, b, y)) return false;
    return true;
}

static bool sizes_are_numbers(const Kernel *k) {
    for (int i = 0; i < k->ngrid; i++)
        if (!size_is_number(k->range.p[i].of)) return false;
    return true;
}

/* Workgroups of a plain kernel go through their only task to its end. */
static bool is_plain(const Program *p, const Kernel *k) {
    return k->form == KERNEL_LAYOUT && !k->roles && k->plan.lowering != LOWER_SCHEDULE && sizes_are_numbers(k) &&
           !gpu_looks_at_values(p);
}

/* All workgroups of the one that sends have begun, or ended, when those of the other may: few that copy leave room for a
   product, and behind others each processor that is free begins with what follows. */
static bool leaves_room(const Program *p, const Kernel *a, const Kernel *b) {
    if (a->plan.workgroups) return b->roles && !has_op(b, OP_SIGNAL);
    return (a->roles || is_plain(p, a)) && sends(a) && is_plain(p, b);
}

static bool pair_runs_beside(const GpuText *g, const Program *p, int node) {
    if (node < 1 || node >= p->node.n) return false;
    const Node *a = p->node.p[node - 1], *b = p->node.p[node];
    if (a->kind != NODE_CALL || b->kind != NODE_CALL || a->otherwise.n || b->otherwise.n) return false;
    if (!gpu_is_dependent(g) || mesh_ranks(g->m) == 1) return false;
    return leaves_room(p, a->kernel, b->kernel) && waits(b->kernel) && tensors_have_flags(a, b);
}

/* It may begin with any of the launches that those before it run beside. */
bool hip_runs_beside(const GpuText *g, const Program *p, int node) {
    enum { MOST = 8 /* launches of a run that begin together; chosen: no measurement is recorded */ };
    if (!pair_runs_beside(g, p, node)) return false;
    for (int i = node - 1; pair_runs_beside(g, p, i); i--)
        if (node - i >= MOST || !tensors_have_flags(p->node.p[i - 1], p->node.p[node])) return false;
    return true;
}
