/* split.c: a kernel with few tasks, each of which runs one long loop, leaves processors idle: the loop is cut into
   parts, so that there are more tasks (split-K, split-KV), and a second kernel puts the parts together, in their order.
   Takes: value form without flags or collectives. Gives: the same results within their bounds, two nodes for one. */
#include "passes/split/pieces.h"
#include "passes/split/split.h"

/* ---- loops that can be cut ---- */

static int loops_in(const Region *r) {
    int n = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r)) n += op->kind == OP_FOR;
    return n;
}

static bool has_store(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_STORE) return true;
    return false;
}

static bool is_of_grid(const Kernel *k, Type t) { return !t.nrange || t.range[t.nrange - 1] < k->ngrid; }

/* Nothing is stored before its end, and what it carries is of the grid. */
static bool loop_fits(const Kernel *k, const Op *loop) {
    for (const Op *op = k->body->first; op != loop; op = op->next)
        if (op->kind == OP_STORE || has_store(op->region[0]) || has_store(op->region[1])) return false;
    for (int i = 0; i < loop->res.n; i++)
        if (!is_of_grid(k, loop->res.p[i]->type)) return false;
    return loop->res.n && k->range.p[loop->range].kind != RANGE_WHOLE && !has_store(loop->region[0]) &&
           !region_counts_tiles(loop->region[0], loop->range);
}

/* A loop over ranks, to which it stores a result. */
static bool sends(const Kernel *k, const Op *loop) {
    const Op *store = loop->region[0]->first;
    return store && store->kind == OP_STORE && k->param.p[store->param].ranks >= 0 && !loop->res.n &&
           loops_in(loop->region[0]) == 0;
}

/* The only loop of the body; others only inside it, or behind it where results go to ranks. */
static Op *loop_of(const Kernel *k) {
    Op *loop = NULL;
    int others = 0;
    for (Op *op = k->body->first; op; op = op->next) {
        if (op->kind != OP_FOR) continue;
        others += loop && sends(k, op);
        if (!loop) loop = op;
    }
    const int inside = loop ? loops_in(loop->region[0]) + loops_in(loop->region[1]) : 0;
    return loop && loops_in(k->body) == 1 + inside + others ? loop : NULL;
}

static bool reads_result(const Kernel *k, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_LOAD && k->param.p[op->param].out) return true;
    return false;
}

/* Sums of products would be put together in registers beside those that are sent: gemm_rs spilled on gfx942. */
static bool kernel_sends(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].ranks >= 0) return true;
    return false;
}

static bool kernel_fits(const Kernel *k) {
    if (k->plan.cut || k->level != LEVEL_GROUP || k->ngrid == MAX_RANGES || reads_result(k, k->body) || kernel_prints(k)) return false;
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].inout || (k->param.p[i].ranks >= 0 && !k->param.p[i].out)) return false;
    for (int i = 0; i < k->ngrid; i++)
        if (k->range.p[i].owner >= 0 || k->range.p[i].starts) return false;
    return true;
}

/* The plan of what is computed as a whole has them. */
static int64_t parts_wanted(PassContext *c, const Kernel *k, const Op *loop) {
    if (!plan_is_whole(&k->plan)) return split_choose(c, k, loop);
    return k->plan.parts ? k->plan.parts : 1;
}

static Op *loop_to_cut(const Module *m, const Kernel *k) {
    Op *loop = kernel_fits(k) ? loop_of(k) : NULL;
    const bool plain = loop && !kernel_sends(k) && split_is_plain(m, k, loop);
    return loop && loop_fits(k, loop) && (loop->region[1] || plain) ? loop : NULL;
}

bool split_fits(const Module *m, const Kernel *k) { return loop_to_cut(m, k) != NULL; }

static bool split_kernel(PassContext *c, Kernel *k, Split *s) {
    Op *loop = loop_to_cut(c->m, k);
    if (!loop) return false;
    s->parts = pieces_most(loop, parts_wanted(c, k, loop), k->range.p[loop->range].size);
    if (s->parts <= 1) return false;
    if (!loop->region[1]) split_plain(c->m, k, loop);
    if (!split_cut(c->m, k, loop, s)) return false;
    remark(c, "split", loop->loc, "'%s': the loop over %s in %lld parts", k->name, k->range.p[loop->range].name,
           (long long)s->parts);
    return true;
}

/* ---- nodes ---- */

static void node_add(Module *m, Program *p, const Node *old, const SplitKernel *s, const int *tensor) {
    Node n = *old;
    n.kernel = s->k;
    n.arg.p = NULL, n.arg.n = n.arg.cap = 0;
    for (int i = 0; i < s->from.n; i++) {
        int from = s->from.p[i], carried = from - old->arg.n;
        vec_push(m->arena, &n.arg, carried < 0 ? old->arg.p[from] : arg_whole(tensor[carried]));
    }
    program_node(m, p, n);
}

static void node_split(Module *m, Program *p, const Node *n, const Split *s) {
    int *tensor = ARENA_ARRAY(m->arena, int, s->values + 1);
    for (int i = 0; i < s->values; i++) tensor[i] = program_tensor(m, p, tensor_temp(m, &s->value[i].param));
    node_add(m, p, n, &s->part, tensor);
    node_add(m, p, n, &s->merge, tensor);
}

static void program_split(Module *m, Program *p, const Split *split) {
    Node **node = p->node.p;
    int n = p->node.n;
    p->node.p = NULL, p->node.n = p->node.cap = 0;
    for (int i = 0; i < n; i++) {
        const Split *s = node[i]->kind == NODE_CALL ? &split[node[i]->kernel->id] : NULL;
        if (s && s->parts > 1)
            node_split(m, p, node[i], s);
        else
            program_node(m, p, *node[i]);
    }
}

static bool split_run(PassContext *c) {
    Module *m = c->m;
    int n = m->kernel.n;
    Split *split = ARENA_ARRAY(m->arena, Split, n + 1);
    for (int i = 0; i < n; i++)
        if (!split_kernel(c, m->kernel.p[i], &split[i])) split[i].parts = 1;
    for (int i = 0; i < m->program.n; i++) program_split(m, m->program.p[i], split);
    module_prune(m);
    return true;
}

const Pass pass_split = {
    .name = "split",
    .help = "cut long loops of kernels with few tasks into parts",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = split_run,
};
