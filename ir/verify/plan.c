/* plan.c: the plan of a kernel names what the kernel has, and no more than its lowering takes. */
#include "ir/roles.h"
#include "ir/verify/verify.h"

enum {
    LEAST_REGS = 24, /* of a thread, that setmaxnreg leaves it */
    MOST_REGS = 256,
    STEP_REGS = 8,    /* setmaxnreg takes multiples of it */
    MOST_GROUPS = 8,  /* of 128 threads: 1,024 */
    MOST_CLUSTER = 16 /* workgroups, with leave of the driver */
};

static void numbers_verify(Verifier *v, const Kernel *k) {
    for (int i = 0; i < plan_number_count; i++) {
        const PlanNumber *n = &plan_numbers[i];
        int x = plan_number(&k->plan, n);
        if (x && (x < n->least || x > n->most)) violation(v, k->loc, "its plan has %d for %s", x, n->text);
        if (x && n->roles && k->plan.lowering != LOWER_ROLES)
            violation(v, k->loc, "its plan has %s, and is not of roles", n->text);
    }
}

static void regs_verify(Verifier *v, const Kernel *k) {
    const Plan *p = &k->plan;
    if (p->regs.n > MOST_GROUPS)
        violation(v, k->loc, "its plan has %d groups of threads, more than %d", p->regs.n, MOST_GROUPS);
    for (int i = 0; i < p->regs.n; i++)
        if (p->regs.p[i] < LEAST_REGS || p->regs.p[i] > MOST_REGS || p->regs.p[i] % STEP_REGS)
            violation(v, k->loc, "its plan gives a thread %d registers", p->regs.p[i]);
}

static void cluster_verify(Verifier *v, const Kernel *k) {
    const Plan *p = &k->plan;
    if (!p->cluster) return;
    if (p->cluster < 1 || p->cluster > MOST_CLUSTER)
        violation(v, k->loc, "its plan has clusters of %d workgroups", p->cluster);
    if (p->cluster_range < -1 || p->cluster_range >= k->ngrid)
        violation(v, k->loc, "the cluster of its plan is along no range of the grid");
}

static bool is_loaded(const Kernel *k, int param) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_LOAD && op->param == param) return true;
    return false;
}

static void copies_verify(Verifier *v, const Kernel *k) {
    for (int i = 0; i < k->plan.copy.n; i++) {
        const PlanCopy *c = &k->plan.copy.p[i];
        if (c->param < 0 || c->param >= k->param.n || !is_loaded(k, c->param))
            violation(v, k->loc, "its plan copies what it does not load");
        if ((int)c->fill < 0 || c->fill >= FILL_THREADS) violation(v, k->loc, "its plan copies by threads");
        for (int before = 0; before < i; before++)
            if (k->plan.copy.p[before].param == c->param)
                violation(v, k->loc, "its plan copies a parameter in two ways");
    }
}

static void lowering_verify(Verifier *v, const Kernel *k) {
    const Plan *p = &k->plan;
    if ((p->lowering == LOWER_SCHEDULE) != (p->schedule != NULL))
        violation(v, k->loc, "its plan has a schedule without a name");
    if (plan_has_roles(p) && p->lowering != LOWER_ROLES) violation(v, k->loc, "its plan is of roles, and has another lowering");
    if (plan_is_whole(p) && k->form == KERNEL_LAYOUT) violation(v, k->loc, "its plan leaves it no layouts");
    if (p->cut && p->parts) violation(v, k->loc, "its plan cuts it again");
}

static void plan_beside_roles(Verifier *v, const Kernel *k) {
    const Plan *p = &k->plan;
    if (p->lowering != LOWER_OPEN && p->lowering != LOWER_ROLES)
        violation(v, k->loc, "it has roles, and its plan another lowering");
    if (plan_has_roles(p) || p->order) violation(v, k->loc, "its plan says what its roles say");
}

/* Whatever the numbers of tiles are: each range that may have several is counted once. */
static void order_verify(Verifier *v, const Kernel *k, const Order *o) {
    const bool roles = k->roles || k->plan.lowering == LOWER_ROLES;
    int64_t tiles[MAX_RANGES];
    if (!o) return;
    for (int i = 0; i < k->ngrid; i++) tiles[i] = k->range.p[i].kind == RANGE_WHOLE ? 1 : 2;
    if (o->n && !order_is_bijective(o, k->ngrid, tiles))
        violation(v, k->loc, "the order of its tasks does not count each tile once");
    if (!roles && (o->own || o->edges)) violation(v, k->loc, "its tasks have an order of roles");
    if (roles && o->chiplets > 1) violation(v, k->loc, "its tasks are dealt to chiplets, and it is of roles");
    if (!roles && region_synchronises(k->body)) violation(v, k->loc, "it waits or signals, and its tasks have another order");
}

void plan_verify(Verifier *v, const Kernel *k) {
    lowering_verify(v, k);
    numbers_verify(v, k);
    regs_verify(v, k);
    cluster_verify(v, k);
    copies_verify(v, k);
    order_verify(v, k, k->plan.order);
    if (k->roles) order_verify(v, k, k->roles->order), plan_beside_roles(v, k);
}
