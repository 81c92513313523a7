/* plan.c: which kernels become roles, and in which tiles.
   Takes: a kernel in value form, without flags. Gives: its plan, and the tiles of the plan in its grid and loops. */
#include "passes/roles/slice.h"

static const char *const order = "raster8"; /* of tasks: 8 rows of tiles share their columns in the L2 */

/* Its products take operands from shared memory, and go on while threads do something else. */
static bool multiplies_aside(const MatrixTarget *t) {
    for (int i = 0; t && i < t->nops; i++)
        if (t->op[i].kind == MATRIX_WGMMA) return true;
    return false;
}

bool slice_begin(Slice *s, PassContext *c, Kernel *k) {
    *s = (Slice){.c = c, .m = c->m, .k = k, .target = matrix_target(c->options->target), .scratch = arena_new()};
    s->values = k->nvalue;
    s->scalar = ARENA_ARRAY(s->scratch, Value *, s->values + 1);
    return multiplies_aside(s->target) && slice_fits(s) && slice_streams(s) && slice_addresses(s) && slice_operation(s);
}

/* ---- the record ---- */

static void plan_sizes(Slice *s, const TilePlan *t) {
    s->k->range.p[s->row].size = t->rows;
    s->k->range.p[s->column].size = t->columns;
    for (int i = 0; i < s->dot.n; i++) s->k->range.p[s->dot.p[i]->over[0]].size = slice_depth(s);
}

static bool is_planned(const Plan *p, int param) {
    for (int i = 0; i < p->copy.n; i++)
        if (p->copy.p[i].param == param) return true;
    return false;
}

static void plan_copies(Slice *s, Plan *p) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            PlanCopy copy = {s->stream.p[i].load.p[n]->param, FILL_BOX};
            if (!is_planned(p, copy.param)) vec_push(s->m->arena, &p->copy, copy);
        }
}

static void plan_groups(Slice *s, const TilePlan *t, Plan *p) {
    vec_push(s->m->arena, &p->regs, t->copy_registers);
    for (int i = 0; i < t->groups; i++) vec_push(s->m->arena, &p->regs, t->registers);
    if (t->cluster == 1) return;
    p->cluster = t->cluster;
    p->cluster_range = (int16_t)(t->beside ? s->column : s->row);
}

static void plan_keep(Slice *s, const TilePlan *t) {
    Plan *p = &s->k->plan;
    p->lowering = LOWER_ROLES;
    p->stages = t->stages;
    p->order = name_of(s->m->names, order);
    plan_sizes(s, t);
    plan_groups(s, t, p);
    plan_copies(s, p);
    remark(s->c, "roles", s->k->loc, "'%s': tiles of %d x %d, %d stages, %d groups that multiply%s", s->k->name,
           t->rows, t->columns, t->stages, t->groups, t->cluster > 1 ? ", clusters of 2" : "");
}

/* Other lowerings were decided by a pass before, or by a file of sizes. */
void roles_plan(PassContext *c, Kernel *k) {
    Slice s;
    TilePlan t;
    if (k->plan.lowering != LOWER_OPEN || k->form != KERNEL_VALUE) return;
    if (slice_begin(&s, c, k) && slice_tiles(&s, &t)) plan_keep(&s, &t);
    arena_free(s.scratch);
}
