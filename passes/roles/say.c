/* say.c: what `explain` says of a kernel in roles: how each operand is copied, the rings, and what bounds the time.
   Takes: a kernel with its roles. Changes nothing. */
#include "passes/model/model.h"
#include "passes/roles/slice.h"

static const char *share_text(const Slice *s, const SlotTile *t) {
    if (t->share < 0) return "";
    return slice_text(s, ", each workgroup of a cluster a part for all along '%s'", s->k->range.p[t->share].name);
}

/* Why an operand comes by rows is said where that is found (ring.c). */
static void say_copies(const Slice *s) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            const SlotTile *t = &s->k->roles->ring.p[s->stream.p[i].ring].tile.p[n];
            if (t->fill == FILL_ROWS) continue;
            remark(s->c, "roles", t->loc, "'%s': one lane copies '%s' by boxes%s%s", s->k->name,
                   s->k->param.p[t->param].name, t->fill == FILL_PIXELS ? " of pixels" : "", share_text(s, t));
        }
}

static void say_rings(const Slice *s) {
    const Roles *r = s->k->roles;
    const char *text = "";
    for (int i = 0; i < r->ring.n; i++)
        text = slice_text(s, "%s%s '%s' of %d", text, i ? "," : "", r->ring.p[i].name, r->ring.p[i].slots);
    remark(s->c, "roles", s->k->loc, "'%s': rings%s", s->k->name, text);
}

static void say_runs(const Slice *s, const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->runs)
            remark(s->c, "roles", op->loc,
                   "'%s': %d steps are written out; products of one run while the one before is finished", s->k->name,
                   op->runs);
}

static void say_late(const Slice *s) {
    if (s->late)
        remark(s->c, "roles", s->store.p[0]->loc,
               "'%s': results are finished beside the next task's products, %d columns in %d steps", s->k->name,
               PANEL_COLUMNS, s->late);
}

typedef struct {
    const char *what;
    double seconds;
} Bound;

static void say_slices(const Slice *s) {
    const char *what = s->swapped ? "rows" : "columns";
    if (s->slices > 1)
        remark(s->c, "roles", s->k->loc, "'%s': a cluster runs %d slices of a tile's steps; each workgroup finishes %lld %s",
               s->k->name, s->slices, (long long)s->k->range.p[s->share].size, what);
}

/* The longest one, and the others. */
static void say_longest(const Slice *s, const Bound *bound, int n) {
    int most = 0;
    const char *text = "";
    for (int i = 1; i < n; i++)
        if (bound[i].seconds > bound[most].seconds) most = i;
    for (int i = 0; i < n; i++)
        if (i != most) text = slice_text(s, "%s, %s %.3g us", text, bound[i].what, 1e6 * bound[i].seconds);
    remark(s->c, "roles", s->k->loc, "'%s': bound by %s, %.3g us; others alone:%s", s->k->name, bound[most].what,
           1e6 * bound[most].seconds, text + 1);
}

/* Products in a chain: at the instruction's peak rate. */
static double product_seconds(const Slice *s, const GpuFacts *gpu, const NodeCost *cost) {
    enum { ROWS = 64, COLUMNS = 128 /* of an instruction (PTX ISA, wgmma) */ };
    const double flop = 2.0 * ROWS * COLUMNS * s->op_matrix->ad->k / matrix_cycles(s->op_matrix, COLUMNS);
    return cost->gpu.dot / flop / s->target->processors / gpu->clock;
}

/* At the largest sizes, each as if nothing else were at work. */
static void say_bounds(const Slice *s) {
    const TargetFacts *facts = target_facts(s->target->name);
    const GpuFacts *gpu = gpu_facts(s->target->name);
    const NodeCost cost = model_most_cost(s->m, &(Node){.kind = NODE_CALL, .kernel = s->to}, s->target->name);
    const double clocks = s->target->processors * gpu->clock, special = cost.gpu.special / gpu->special / clocks;
    const Bound bound[] = {{"tensor cores", s->times.products},
                           {"operands read from shared memory", s->times.shared},
                           {"copies from the L2", s->times.copies},
                           {"memory", cost.bytes / facts->memory},
                           {"exp and the like", special}};
    const Bound of_chain[] = {{"tensor cores", product_seconds(s, gpu, &cost)},
                              {"exp and the like", special},
                              {"memory", cost.bytes / facts->memory}};
    if (s->chained)
        say_longest(s, of_chain, sizeof of_chain / sizeof *of_chain);
    else
        say_longest(s, bound, sizeof bound / sizeof *bound);
    if (!s->chained)
        remark(s->c, "roles", s->k->loc, "'%s': %.4g us by the clocks that tiles are compared by", s->k->name,
               1e6 * s->times.counted);
}

void slice_say(const Slice *s) {
    say_copies(s);
    say_rings(s);
    for (int i = 0; i < s->k->roles->role.n; i++) say_runs(s, &s->k->roles->role.p[i]);
    say_late(s);
    say_slices(s);
    say_bounds(s);
}
