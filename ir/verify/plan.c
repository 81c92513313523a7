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
    if (p->cluster_range < 0 || p->cluster_range >= k->ngrid)
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
    bool of_roles = p->regs.n || p->cluster || p->order || p->tasks != TASKS_STATIC || p->copy.n;
    if ((p->lowering == LOWER_SCHEDULE) != (p->schedule != NULL))
        violation(v, k->loc, "its plan has a schedule without a name");
    if (of_roles && p->lowering != LOWER_ROLES) violation(v, k->loc, "its plan is of roles, and has another lowering");
    if (plan_is_whole(p) && k->form == KERNEL_LAYOUT) violation(v, k->loc, "its plan leaves it no layouts");
    if (p->cut && p->parts) violation(v, k->loc, "its plan cuts it again");
}

/* ---- roles are those of the plan: what it leaves open they may choose ---- */

static bool regs_agree(const Plan *p, const Roles *r) {
    if (p->regs.n && p->regs.n != r->regs.n) return false;
    for (int i = 0; i < p->regs.n; i++)
        if (p->regs.p[i] != r->regs.p[i]) return false;
    return true;
}

static bool cluster_agrees(const Plan *p, const Roles *r) {
    return !p->cluster || (p->cluster == r->cluster && (p->cluster == 1 || p->cluster_range == r->cluster_range));
}

static bool order_agrees(const Plan *p, const Roles *r) {
    return (!p->order || p->order == r->order) && (p->tasks == TASKS_STATIC || p->tasks == r->tasks);
}

static bool copy_agrees(const Plan *p, const SlotTile *t) {
    bool found = t->param < 0 || !p->copy.n;
    for (int i = 0; i < p->copy.n; i++) found |= p->copy.p[i].param == t->param && p->copy.p[i].fill == t->fill;
    return found;
}

static void roles_agree(Verifier *v, const Kernel *k) {
    const Plan *p = &k->plan;
    const Roles *r = k->roles;
    if (p->lowering != LOWER_OPEN && p->lowering != LOWER_ROLES)
        violation(v, k->loc, "it has roles, and its plan another lowering");
    if (!regs_agree(p, r)) violation(v, k->loc, "its roles have other registers than its plan");
    if (!cluster_agrees(p, r)) violation(v, k->loc, "its roles have another cluster than its plan");
    if (!order_agrees(p, r)) violation(v, k->loc, "its roles have another order of tasks than its plan");
    for (int i = 0; i < r->ring.n; i++)
        for (int t = 0; t < r->ring.p[i].tile.n; t++)
            if (!copy_agrees(p, &r->ring.p[i].tile.p[t]))
                violation(v, r->ring.p[i].tile.p[t].loc, "its plan copies this otherwise");
}

void plan_verify(Verifier *v, const Kernel *k) {
    lowering_verify(v, k);
    numbers_verify(v, k);
    regs_verify(v, k);
    cluster_verify(v, k);
    copies_verify(v, k);
    if (k->roles) roles_agree(v, k);
}
