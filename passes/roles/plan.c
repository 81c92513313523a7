/* plan.c: which kernels become roles, and in which tiles.
   Takes: a kernel in value form, without flags. Gives: its plan; or why there is none. */
#include "passes/roles/slice.h"

#include <math.h>

/* What the order of tasks hangs on beside caches, for which the pass `remap` has digits. Other ranks' rows come later than
   the own ones. Results that go to other ranks keep the links busy, and not to the end; own ones that wait for such
   results of other ranks come behind them. */
static const Order *order_of(const Slice *s, const TilePlan *t) {
    Order o = {0};
    if (slice_waits_for_itself(s)) o.own = OWN_BEHIND;
    else if (t->edges) o.edges = true;
    else if (slice_has_peers(s)) o.own = slice_reads_peers(s) ? OWN_FIRST : OWN_LATE;
    return order_keep(s->m->arena, &o);
}

/* Its products take operands from shared memory, and go on while threads do something else. */
bool multiplies_aside(const MatrixTarget *t) {
    for (int i = 0; t && i < t->nops; i++)
        if (t->op[i].kind == MATRIX_WGMMA) return true;
    return false;
}

/* Elements of a part of a byte come by rings alone. */
static bool packed_fits(Slice *s) {
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        const bool memory = op_info[op->kind].class == CLASS_MEMORY;
        if (!memory || !elem_is_packed(s->k->param.p[op->param].elem)) continue;
        if (op->kind != OP_LOAD || !s->stream_of[op->res.p[0]->id])
            return slice_refuse(s, op, "unpack them first, by a kernel of its own", "elements of '%s' are packed",
                                s->k->param.p[op->param].name);
    }
    return true;
}

bool slice_begin(Slice *s, PassContext *c, const Kernel *k, bool swapped, bool deep) {
    const MatrixTarget *target = matrix_target(c->options->target);
    *s = (Slice){.c = c, .m = c->m, .k = k, .target = target, .scratch = arena_new(), .swapped = swapped, .deep = deep};
    s->values = k->nvalue;
    s->token = s->room = -1;
    s->slices = 1;
    s->scalar = ARENA_ARRAY(s->scratch, Value *, s->values + 1);
    slice_list(s);
    s->chained = slice_chains(s);
    s->wide = s->chained ? kernel_wide(k) : -1;
    s->makes = slice_makes(s);
    if (!multiplies_aside(s->target) || !(s->chained ? chain_fits : slice_fits)(s) || !slice_operation(s) ||
        !slice_streams(s) || !wide_fits(s) || !made_beside_fits(s) || !packed_fits(s))
        return false;
    slice_near(s);
    if (!slice_addresses(s) || !slice_peers(s)) return false;
    slice_turns(s);
    slice_sums(s);
    slice_late(s);
    return true;
}

/* ---- the record ---- */

static bool is_planned(const Planned *p, int range) {
    for (int i = 0; i < p->tiles; i++)
        if (p->tile[i].range == range) return true;
    return false;
}

static void plan_sizes(const Slice *s, const TilePlan *t, Planned *p) {
    planned_tile(p, s->row, t->rows);
    planned_tile(p, s->column, t->columns);
    for (int i = 0; i < s->dot.n; i++)
        if (!is_planned(p, s->dot.p[i]->over[0])) planned_tile(p, s->dot.p[i]->over[0], slice_depth(s));
}

static bool is_copied(const Plan *p, int param) {
    for (int i = 0; i < p->copy.n; i++)
        if (p->copy.p[i].param == param) return true;
    return false;
}

static void plan_copies(const Slice *s, Plan *p) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            PlanCopy copy = {s->stream.p[i].load.p[n]->param, stream_fill(&s->stream.p[i], n)};
            if (!is_copied(p, copy.param)) vec_push(s->m->arena, &p->copy, copy);
        }
    for (int i = 0; i < s->near.n; i++)
        if (!is_copied(p, s->near.p[i]->param))
            vec_push(s->m->arena, &p->copy, ((PlanCopy){s->near.p[i]->param, FILL_BOX}));
}

static void plan_groups(const Slice *s, const TilePlan *t, Plan *p) {
    vec_push(s->m->arena, &p->regs, t->copy_registers);
    for (int i = 0; i < t->groups; i++) vec_push(s->m->arena, &p->regs, t->registers);
    if (t->slices > 1) p->cluster = t->slices, p->cluster_range = -1;
    if (t->cluster == 1) return;
    p->cluster = t->cluster;
    p->cluster_range = (int16_t)(t->beside ? s->column : s->row);
}

static Planned planned_by(Slice *s, const TilePlan *t) {
    Planned p = {.plan = {.lowering = LOWER_ROLES, .stages = t->stages, .order = order_of(s, t)}};
    p.plan.cut = s->k->plan.cut;
    p.plan.resident = t->resident > 1 ? t->resident : 0;
    p.plan.unaligned = s->k->plan.unaligned;
    p.loose = slice_is_loose(s);
    p.plan.tasks = t->edges ? TASKS_TICKET : slice_tasks(s);
    p.cost = (int)fmin(t->clocks, INT32_MAX);
    p.apart = (int)fmin(t->apart, INT32_MAX);
    p.outside = (int)fmin(t->outside, INT32_MAX);
    p.again = (int)fmin(t->again, INT32_MAX);
    p.counted = (int)fmin(t->few, INT32_MAX);
    plan_sizes(s, t, &p);
    plan_groups(s, t, &p.plan);
    plan_copies(s, &p.plan);
    p.how = arena_format(s->m->arena, "roles, tiles of %d x %d, %d stages, %s%s%s", s->swapped ? t->columns : t->rows,
                         s->swapped ? t->rows : t->columns, t->stages,
                         t->groups == 1 ? "1 group that multiplies"
                                        : arena_format(s->m->arena, "%d groups that multiply", t->groups),
                         t->cluster > 1  ? slice_text(s, ", clusters of %d", t->cluster)
                         : t->slices > 1 ? slice_text(s, ", a tile for a cluster of %d", t->slices)
                                         : "",
                         s->swapped ? ", operands exchanged" : "");
    if (t->resident > 1) p.how = slice_text(s, "%s, %d workgroups a processor", p.how, t->resident);
    if (p.plan.tasks == TASKS_TICKET) p.how = slice_text(s, "%s, tasks by a counter", p.how);
    return p;
}

/* ---- which of the two operands has the rows of an instruction ---- */

/* An operand that is made on the way has the rows of an instruction; -1: there is none. */
static int range_made(const Kernel *k) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        for (int i = 0; i < 2 && op->kind == OP_DOT && op->nover == 1; i++) {
            const Type t = op->arg.p[i]->type;
            if (t.nrange == 2 && operand_is_computed(op, i)) return t.range[t.range[0] == op->over[0]];
        }
    return -1;
}

/* Else a group has a product instruction's rows of its tile's positions along the range that groups share. */
bool slice_is_swapped(const Kernel *k) {
    enum { GROUP_ROWS = 64 /* of a wgmma (PTX ISA) */ };
    const int made = range_made(k);
    int rows = -1;
    for (const Op *op = walk(k->body); op && rows < 0; op = walk_next(op, k->body)) {
        Type t = op->kind == OP_STORE ? op->arg.p[0]->type : (Type){0};
        if (t.nrange == 2) rows = t.range[t.range[0] == affine_position(&op->sub.p[op->sub.n - 1].lo)];
    }
    if (made >= 0) return made != rows;
    return rows >= 0 && k->plan.regs.n && k->range.p[rows].size != GROUP_ROWS * plan_row_groups(&k->plan);
}

/* deep: whether steps of two panels are asked for; then, whether they may be. */
static Planned steps_try(PassContext *c, const Kernel *k, bool swapped, bool *deep, double *seconds) {
    Slice s;
    TilePlan tiles;
    Planned p = plan_refused("");
    const bool good = slice_begin(&s, c, k, swapped, *deep);
    *deep = good && slice_may_be_deep(&s);
    if (good && s.chained && chain_plan(&s, &p))
        plan_copies(&s, &p.plan);
    else if (good && !s.chained && slice_tiles(&s, &tiles))
        p = planned_by(&s, &tiles), p.seconds = *seconds = tiles.seconds;
    if (p.why.words && s.why.words) p.why = s.why;
    arena_free(s.scratch);
    return p;
}

/* Steps of two panels where slots of these are enough. Measured on an H200, 1 to 16 rows: 2 to 5 % with four slots and
   more (bench/gpu/log.md). */
static Planned slice_try(PassContext *c, const Kernel *k, bool swapped, double *seconds) {
    enum { STAGES = 4 /* slots of two panels: measured, as said above */ };
    const double more = 1.02; /* the count knows what a step takes for few rows alone */
    bool deep = false;
    double deep_seconds = 0;
    const Planned p = steps_try(c, k, swapped, &deep, seconds);
    if (!deep) return p;
    const Planned other = steps_try(c, k, swapped, &deep, &deep_seconds);
    const bool better = p.why.words || (other.plan.stages >= STAGES && deep_seconds <= more * *seconds);
    if (other.why.words || !better) return p;
    *seconds = deep_seconds;
    return other;
}

/* A file of sizes asks for clusters of tiles, and the plan has them. */
static bool has_clusters(const Kernel *k, const Planned *p) {
    return k->plan.clusters > 1 && p->plan.cluster == k->plan.clusters && p->plan.cluster_range >= 0;
}

Planned slice_plan(PassContext *c, const Kernel *k) {
    double seconds = 0, other_seconds = 0;
    if (k->form != KERNEL_VALUE) return plan_refused("");
    Planned p = slice_try(c, k, false, &seconds), other = slice_try(c, k, true, &other_seconds);
    if (p.why.words && !*p.why.words) return other;
    if (!p.why.words && !other.why.words && has_clusters(k, &p) != has_clusters(k, &other))
        return has_clusters(k, &p) ? p : other;
    return !other.why.words && (p.why.words || other_seconds < TILES_GAIN * seconds) ? other : p;
}
