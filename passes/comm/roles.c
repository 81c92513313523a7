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

static bool is_by_roles(const Comm *c, const Node *n) {
    const Planned p = plan_of(c->pass, n->kernel);
    return !p.why.words && p.plan.lowering == LOWER_ROLES;
}

static bool reads_by_roles(Comm *c, const Node *n, int tensor, int axis) {
    Node copy = node_copy(c, n);
    for (int a = 0; a < copy.arg.n; a++)
        if (copy.arg.p[a].tensor == tensor && !copy.kernel->param.p[a].out)
            comm_argument_own(c, &copy, a, tensor, axis);
    return is_by_roles(c, &copy);
}

static bool touches(const Node *n, int tensor) {
    for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor) return true;
    return false;
}

bool comm_plans_read(Comm *c, int tensor, int axis) {
    for (int i = c->at + 1; i < c->p->node.n; i++) {
        const Node *n = c->p->node.p[i];
        if (touches(n, tensor) && plan_takes(c->pass, n->kernel) && !reads_by_roles(c, n, tensor, axis)) return false;
    }
    return true;
}

bool comm_plans_store(Comm *c, int tensor, const Tensor *inbox, int axis, int dim, Size split) {
    const Node *n = comm_only_producer(c, tensor);
    if (!n || !comm_can_store_to_owner(c, n, tensor, dim, split)) return false;
    Node copy = node_copy(c, n);
    comm_store_to_owner(c, &copy, tensor, inbox, axis, dim, split);
    return is_by_roles(c, &copy);
}
