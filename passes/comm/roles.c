/* roles.c: kernels that have a plan, at the ends of a collective: whether they keep one, in roles, when they address
   memory of peers. Takes: nodes as they are. Gives: the answer of `plan_of`, for copies that are edited. */
#include "passes/comm/comm.h"
#include "passes/plan/plan.h"

static Node node_copy(const Comm *c, const Node *n) {
    Node copy = *n;
    vec_copy(c->m->arena, &copy.arg);
    copy.kernel = kernel_clone(c->m, n->kernel);
    return copy;
}

/* Tasks of the plan, with sizes at most; 0: it is none of roles. */
static int64_t tasks_by_roles(const Comm *c, const Node *n) {
    const Planned p = plan_of(c->pass, n->kernel);
    int64_t tasks = 1;
    if (p.why.words || p.plan.lowering != LOWER_ROLES) return 0;
    for (int i = 0; i < n->kernel->ngrid; i++) {
        int64_t size = n->kernel->range.p[i].size;
        for (int t = 0; t < p.tiles; t++)
            if (p.tile[t].range == i) size = p.tile[t].size;
        tasks *= size > 0 ? ceil_div(size_most(c->m, n->kernel->range.p[i].of), size) : 1;
    }
    return tasks;
}

static int64_t tasks_that_read(Comm *c, const Node *n, int tensor, int axis) {
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

int64_t comm_plans_read(Comm *c, int tensor, int axis) {
    int64_t most = 0;
    for (int i = c->at + 1; i < c->p->node.n; i++) {
        const Node *n = c->p->node.p[i];
        if (!touches(n, tensor)) continue;
        int64_t tasks = tasks_that_read(c, n, tensor, axis);
        if (!tasks && plan_takes(c->pass, n->kernel)) return 0;
        if (tasks > most) most = tasks;
    }
    return most;
}

/* Workgroups that copy keep others from beginning: a product of few rounds of tasks would take one round more. */
bool comm_is_worth_few(const Comm *c, int64_t tasks) {
    enum { ROUNDS = 4 /* of tasks; measured on two H200s: 1.9 rounds lose, 6.8 gain */ };
    const MatrixTarget *t = matrix_target(c->pass->options->target);
    return t && tasks >= ROUNDS * t->processors;
}

void comm_by_few(Comm *c, Kernel *k, int workgroups) {
    k->plan.workgroups = workgroups;
    if (!plan_takes(c->pass, k)) k->plan.workgroups = 0;
}

bool comm_plans_store(Comm *c, int tensor, const Tensor *inbox, int axis, int dim, Size split) {
    const Node *n = comm_only_producer(c, tensor);
    if (!n || !comm_can_store_to_owner(c, n, tensor, dim, split)) return false;
    Node copy = node_copy(c, n);
    comm_store_to_owner(c, &copy, tensor, inbox, axis, dim, split);
    return tasks_by_roles(c, &copy) > 0;
}
