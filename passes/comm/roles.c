/* roles.c: kernels that have a plan, at the ends of a collective: whether they keep one, in roles, when they address
   memory of peers. Takes: nodes as they are. Gives: the answer of `plan_of`, for copies that are edited. */
#include "passes/comm/comm.h"
#include "passes/plan/plan.h"
#include "target/rates.h"

#include <math.h>

static Node node_copy(const Comm *c, const Node *n) {
    Node copy = *n;
    vec_copy(c->m->arena, &copy.arg);
    copy.kernel = kernel_clone(c->m, n->kernel);
    return copy;
}

/* Those of the plan, with sizes at most. */
static RolesTasks tasks_by_roles(const Comm *c, const Node *n) {
    const Planned p = plan_of(c->pass, n->kernel);
    const int cluster = p.plan.cluster > 1 ? p.plan.cluster : 1;
    RolesTasks of = {.tasks = 1, .cluster = cluster};
    if (p.why.words || p.plan.lowering != LOWER_ROLES) return (RolesTasks){.tasks = 0};
    of.seconds = p.cost / gpu_facts(c->pass->options->target)->clock;
    for (int i = 0; i < n->kernel->ngrid; i++) {
        int64_t size = n->kernel->range.p[i].size, tiles;
        for (int t = 0; t < p.tiles; t++)
            if (p.tile[t].range == i) size = p.tile[t].size;
        tiles = size > 0 ? ceil_div(size_most(c->m, n->kernel->range.p[i].of), size) : 1;
        of.tasks *= cluster > 1 && i == p.plan.cluster_range ? ceil_div(tiles, cluster) : tiles;
    }
    return of;
}

static RolesTasks tasks_that_read(Comm *c, const Node *n, int tensor, int axis) {
    Node copy = node_copy(c, n);
    for (int a = 0; a < copy.arg.n; a++)
        if (copy.arg.p[a].tensor == tensor && !copy.kernel->param.p[a].out)
            comm_argument_own(c, &copy, a, tensor, axis);
    return tasks_by_roles(c, &copy);
}

static bool touches(const Node *n, int tensor) {
    for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor) return true;
    return false;
}

RolesTasks comm_plans_read(Comm *c, int tensor, int axis) {
    RolesTasks most = {.tasks = 0};
    for (int i = c->at + 1; i < c->p->node.n; i++) {
        const Node *n = c->p->node.p[i];
        if (!touches(n, tensor)) continue;
        RolesTasks of = tasks_that_read(c, n, tensor, axis);
        if (!of.tasks && plan_takes(c->pass, n->kernel)) return of;
        if ((double)of.tasks * of.seconds * of.cluster > (double)most.tasks * most.seconds * most.cluster) most = of;
    }
    return most;
}

/* Tasks that clusters have done after so many seconds, of which some begin late. */
static double tasks_done(const RolesTasks *of, double seconds, double clusters, double late, double begin) {
    double rounds = floor(seconds / of->seconds), others = floor((seconds - begin) / of->seconds);
    return rounds * (clusters - late) + fmax(others, 0) * late;
}

/* The end of all tasks: a whole number of tasks behind one of the begins. */
static double end_of(const RolesTasks *of, double clusters, double late, double begin) {
    const double slack = 1e-6 * of->seconds;
    for (double n = 1;; n++) {
        if (tasks_done(of, n * of->seconds + slack, clusters, late, begin) >= (double)of->tasks)
            return n * of->seconds;
        if (tasks_done(of, begin + n * of->seconds + slack, clusters, late, begin) >= (double)of->tasks)
            return begin + n * of->seconds;
    }
}

bool comm_is_worth_few(const Comm *c, const RolesTasks *of, int workgroups, double bytes) {
    const MatrixTarget *t = matrix_target(c->pass->options->target);
    if (!t || !of->tasks || of->seconds <= 0) return false;
    const double clusters = t->processors / of->cluster, late = ceil_div(workgroups, of->cluster),
                 seconds = bytes / c->facts->link;
    return end_of(of, clusters, late, seconds) <= seconds + end_of(of, clusters, 0, 0);
}

void comm_by_few(Comm *c, Kernel *k, int workgroups) {
    k->plan.workgroups = workgroups;
    if (!plan_takes(c->pass, k)) k->plan.workgroups = 0;
}

bool comm_in_roles(Comm *c, int tensor) {
    const Node *n = comm_only_producer(c, tensor);
    return n && tasks_by_roles(c, n).tasks > 0;
}

static const Op *store_of(const Node *n, int tensor) {
    for (const Op *op = walk(n->kernel->body); op; op = walk_next(op, n->kernel->body))
        if (op->kind == OP_STORE && n->arg.p[op->param].tensor == tensor) return op;
    return NULL;
}

bool comm_tiles(Comm *c, const Node *n, int tensor, int64_t *size) {
    const Planned p = plan_of(c->pass, n->kernel);
    const Op *store = store_of(n, tensor);
    for (int d = 0; store && d < store->sub.n; d++) {
        const int range = affine_position(&store->sub.p[d].lo);
        if (range < 0 || n->kernel->range.p[range].size < 1) return false;
        size[d] = n->kernel->range.p[range].size;
        for (int t = 0; t < p.tiles; t++)
            if (p.tile[t].range == range) size[d] = p.tile[t].size;
    }
    return store != NULL;
}

bool comm_plans_store(Comm *c, int tensor, const Tensor *inbox, int axis, int dim, Size split) {
    const Node *n = comm_only_producer(c, tensor);
    if (!n || !comm_can_store_to_owner(c, n, tensor, dim, split)) return false;
    Node copy = node_copy(c, n);
    comm_store_to_owner(c, &copy, tensor, inbox, axis, dim, split);
    return tasks_by_roles(c, &copy).tasks > 0;
}

RolesTasks comm_plans_sum(Comm *c, const OwnSum *o, const ToAll *to) {
    const RolesTasks none = {.tasks = 0};
    const Node *n = comm_only_producer(c, o->partial);
    if (!n || !comm_can_sum_own(c, n, o)) return none;
    Node copy = node_copy(c, n);
    comm_sum_own(c, &copy, o);
    if (to && !comm_can_store_to_all(c, &copy, to)) return none;
    if (to) comm_store_to_all(c, &copy, to);
    return tasks_by_roles(c, &copy);
}

bool comm_plans_all(Comm *c, const ToAll *to) {
    const Node *n = comm_only_producer(c, to->from);
    if (!n || !comm_can_store_to_all(c, n, to)) return false;
    Node copy = node_copy(c, n);
    comm_store_to_all(c, &copy, to);
    return tasks_by_roles(c, &copy).tasks > 0;
}
