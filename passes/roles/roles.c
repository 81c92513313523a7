/* roles.c: kernels of products become roles: who copies, who multiplies, who stores, and the rings between them.
   Takes: value form. Gives: the same bodies, with their tiles in the grids, and Kernel.roles (ir/roles.h) beside those
   that can be cut; docs/passes/roles.md. */
#include "passes/roles/slice.h"

static const char *const order = "raster8"; /* of tasks: 8 rows of tiles share their columns in the L2 */

static void set_sizes(Slice *s) {
    s->k->range.p[s->row].size = s->plan.rows;
    s->k->range.p[s->column].size = s->plan.columns;
    for (int i = 0; i < s->dot.n; i++) s->k->range.p[s->dot.p[i]->over[0]].size = slice_depth(s);
}

static void set_groups(Slice *s) {
    Roles *r = roles_new(s->m, s->k);
    r->order = slice_name(s, "%s", order);
    vec_push(s->m->arena, &r->regs, s->plan.copy_registers);
    for (int i = 0; i < s->plan.groups; i++) vec_push(s->m->arena, &r->regs, s->plan.registers);
    if (s->plan.cluster == 1) return;
    r->cluster = s->plan.cluster;
    r->cluster_range = (int16_t)(s->plan.beside ? s->column : s->row);
}

static void slice_build(Slice *s) {
    set_sizes(s);
    set_groups(s);
    slice_scalars(s);
    slice_rings(s);
    slice_copy(s);
    slice_multiply(s);
    kernel_remove_dead(s->k);
    remark(s->c, "roles", s->k->loc, "'%s': roles, tiles of %d x %d, %d stages, %d groups that multiply%s", s->k->name,
           s->plan.rows, s->plan.columns, s->plan.stages, s->plan.groups, s->plan.cluster > 1 ? ", clusters of 2" : "");
}

static void roles_kernel(PassContext *c, Kernel *k, const MatrixTarget *target) {
    Slice s = {.c = c, .m = c->m, .k = k, .target = target, .scratch = arena_new(), .values = k->nvalue};
    s.scalar = ARENA_ARRAY(s.scratch, Value *, s.values + 1);
    if (slice_fits(&s) && slice_streams(&s) && slice_addresses(&s) && slice_tiles(&s) && slice_stores(&s)) {
        slice_sums(&s);
        slice_build(&s);
    }
    arena_free(s.scratch);
}

/* Its products take operands from shared memory, and go on while threads do something else. */
static bool multiplies_aside(const MatrixTarget *t) {
    for (int i = 0; t && i < t->nops; i++)
        if (t->op[i].kind == MATRIX_WGMMA) return true;
    return false;
}

static bool roles_run(PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    for (int i = 0; i < c->m->kernel.n && multiplies_aside(target); i++) {
        Kernel *k = c->m->kernel.p[i];
        if (!plan_is_whole(&k->plan) && !k->roles && k->form == KERNEL_VALUE) roles_kernel(c, k, target);
    }
    return true;
}

const Pass pass_roles = {
    .name = "roles",
    .help = "cut kernels of products into roles that copy, multiply and store",
    .needs = 0,
    .breaks = 0,
    .run = roles_run,
};
