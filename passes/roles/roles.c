/* roles.c: kernels of products become roles: who copies, who multiplies, who stores, and the rings between them.
   Takes: value form. Gives: the same bodies, with their tiles in the grids, and Kernel.roles (ir/roles.h) beside those
   that can be cut; docs/passes/roles.md. */
#include "passes/roles/slice.h"

static void slice_build(Slice *s) {
    slice_stores(s);
    slice_vectors(s);
    roles_begin(s);
    slice_scalars(s);
    slice_rings(s);
    slice_copy(s);
    slice_near_copy(s);
    int multiply = slice_multiply(s);
    kernel_remove_dead(s->to);
    slice_lay(s, multiply);
    slice_early(s);
    slice_say(s);
}

Planned roles_plan(PassContext *c, const Kernel *k, const MatrixTarget *t) {
    bool off = !t || pass_is_off(c->options, &pass_roles);
    return off ? plan_refused("") : is_move(k) ? moves_plan(c, k) : slice_plan(c, k);
}

/* In a list of passes without one that plans. */
static void plan_alone(PassContext *c, Kernel *k) {
    Planned p = roles_plan(c, k, matrix_target(c->options->target));
    if (!p.why.words) plan_apply(k, &p);
    if (!p.why.words || *p.why.words)
        remark(c, "roles", k->loc, "'%s': %s%s", k->name, p.why.words ? "no roles: " : "",
               p.why.words ? p.why.words : p.how);
}

static void roles_kernel(PassContext *c, Kernel *k) {
    Slice s;
    if (k->plan.lowering == LOWER_OPEN && k->form == KERNEL_VALUE) plan_alone(c, k);
    if (k->plan.lowering != LOWER_ROLES || k->roles) return;
    if (is_move(k)) {
        slice_move(c, k);
        if (k->roles) plan_drop_roles(&k->plan);
        return;
    }
    bool good = slice_begin(&s, c, k, slice_is_swapped(k), false) && slice_planned(&s);
    s.to = k;
    if (good)
        slice_build(&s);
    else
        diag_error(c->m->diags, k->loc, "unsupported", "not supported yet: roles of '%s', as planned%s%s", k->name,
                   s.why.words ? ": " : "", s.why.words ? s.why.words : "");
    arena_free(s.scratch);
    if (k->roles) plan_drop_roles(&k->plan);
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
