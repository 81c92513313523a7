/* roles.c: kernels of products become roles: who copies, who multiplies, who stores, and the rings between them.
   Takes: value form. Gives: the same bodies, with their tiles in the grids, and Kernel.roles (ir/roles.h) beside those
   that can be cut; docs/passes/roles.md. */
#include "passes/roles/slice.h"

static void roles_begin(Slice *s) {
    const Plan *p = &s->k->plan;
    Roles *r = roles_new(s->m, s->k);
    r->order = p->order;
    r->tasks = p->tasks;
    for (int i = 0; i < p->regs.n; i++) vec_push(s->m->arena, &r->regs, p->regs.p[i]);
    if (p->cluster) r->cluster = p->cluster, r->cluster_range = p->cluster_range;
}

static void slice_build(Slice *s) {
    slice_stores(s);
    slice_sums(s);
    roles_begin(s);
    slice_scalars(s);
    slice_rings(s);
    slice_copy(s);
    int multiply = slice_multiply(s);
    kernel_remove_dead(s->k);
    slice_lay(s, multiply);
}

/* What is planned, or is now, by this pass alone in a list of passes. */
static void roles_kernel(PassContext *c, Kernel *k) {
    Slice s;
    roles_plan(c, k);
    if (k->plan.lowering != LOWER_ROLES || k->roles) return;
    if (slice_begin(&s, c, k) && slice_planned(&s))
        slice_build(&s);
    else
        diag_error(c->m->diags, k->loc, "unsupported", "not supported yet: roles of '%s', as planned", k->name);
    arena_free(s.scratch);
}

static bool roles_run(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n; i++) roles_kernel(c, c->m->kernel.p[i]);
    return c->m->diags->errors == 0;
}

const Pass pass_roles = {
    .name = "roles",
    .help = "cut kernels of products into roles that copy, multiply and store",
    .needs = 0,
    .breaks = 0,
    .run = roles_run,
};
