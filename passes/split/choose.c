/* choose.c: into how many parts a loop is cut: those whose predicted time is shortest, where a grid has fewer
   tasks than the machine runs at once. Takes: a loop that split_cut can cut. Gives: a number; 1 leaves the loop as it
   is. */
#include "passes/model/model.h"
#include "passes/split/split.h"
#include "target/matrix.h"

/* Parts of a loop at most; chosen: no measurement is recorded. */
enum { MOST_PARTS = 64 };

/* ---- counts, at the largest sizes ---- */

static int64_t smaller(int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : a < b ? a : b; }

static int64_t tiles_of(int64_t n, const Range *r) { return r->kind == RANGE_WHOLE ? 1 : (n + r->size - 1) / r->size; }

static int64_t tasks_of(const Module *m, const Kernel *k, int64_t most) {
    int64_t n = 1;
    for (int i = 0; i < k->ngrid && n <= most; i++) n *= tiles_of(size_most(m, k->range.p[i].of), &k->range.p[i]);
    return n;
}

/* Positions of a range that a subscript can look up in a dimension: `range / div`. */
static int64_t positions_within(const Module *m, const Param *p, const Op *load, int range) {
    int64_t most = -1;
    for (int d = 0; d < load->sub.n; d++) {
        const Affine *a = &load->sub.p[d].lo;
        const Term *t = &a->term[0];
        if (a->nterm == 1 && t->kind == TERM_POS && t->id == range && t->mul == 1)
            most = smaller(most, size_most(m, p->dim[d]) * t->div);
    }
    return most;
}

typedef struct {
    const Module *m;
    const Kernel *k;
    int range;         /* of the loop that is cut */
    int64_t positions; /* that its loads can look up; -1: not known */
} Count;

static bool depends(const Op *load, int range) {
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++)
            if (load->sub.p[d].lo.term[i].kind == TERM_POS && load->sub.p[d].lo.term[i].id == range) return true;
    return type_has(load->res.p[0]->type, range);
}

static double elements(const Count *c, Type t) {
    double n = 1;
    for (int i = 0; i < t.nrange; i++) {
        int64_t most = range_most(c->m, c->k, t.range[i]);
        n *= most > 0 ? (double)most : 1;
    }
    return n;
}

static double loop_steps(const Count *c, const Op *loop) {
    int64_t most = value_most(c->m, c->k, loop->arg.p[1]);
    return most > 0 ? (double)tiles_of(most, &c->k->range.p[loop->range]) : 1;
}

/* What a step of the loop reads. */
static double bytes_read(Count *c, const Region *r) {
    double bytes = 0;
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        if (op->kind == OP_LOAD && depends(op, c->range)) {
            const Param *p = &c->k->param.p[op->param];
            bytes += elements(c, op->res.p[0]->type) * elem_bits(p->elem) / 8;
            c->positions = smaller(c->positions, positions_within(c->m, p, op, c->range));
        }
        double times = op->kind == OP_FOR ? loop_steps(c, op) : 1;
        for (int i = 0; i < 2; i++) bytes += times * bytes_read(c, op->region[i]);
    }
    return bytes;
}

static double bytes_carried(const Count *c, const Op *loop) {
    double bytes = 0;
    for (int i = 0; i < loop->res.n; i++) {
        Type t = loop->res.p[i]->type;
        bytes += elements(c, t) * elem_bits(t.elem) / 8;
    }
    return bytes;
}

/* ---- the choice ---- */

static int64_t best_of(const TargetFacts *f, const SplitCost *c) {
    const double gain = 0.75; /* of the time, at most, since none of it is measured */
    int64_t best = 1;
    double least = gain * model_split(f, c, 1);
    for (int64_t n = 2; n <= MOST_PARTS && n <= c->steps / 2; n++)
        if (model_split(f, c, n) < (best > 1 ? 0.98 : 1.0) * least) best = n, least = model_split(f, c, n);
    return best;
}

int64_t split_choose(PassContext *c, const Kernel *k, const Op *loop) {
    const MatrixTarget *target = matrix_target(c->options->target);
    const TargetFacts *facts = target_facts(c->options->target);
    if (c->options->split || k->plan.parts) return c->options->split ? c->options->split : k->plan.parts;
    if (!target || !facts || tasks_of(c->m, k, target->processors) > target->processors) return 1;
    Count count = {.m = c->m, .k = k, .range = loop->range, .positions = value_most(c->m, k, loop->arg.p[1])};
    SplitCost cost = {.processors = target->processors, .tasks = tasks_of(c->m, k, target->processors)};
    cost.step = bytes_read(&count, loop->region[0]);
    cost.part = bytes_carried(&count, loop);
    cost.steps = count.positions > 0 ? tiles_of(count.positions, &k->range.p[loop->range]) : 0;
    int64_t n = best_of(facts, &cost);
    remark(c, "split", loop->loc, "'%s': %lld tasks for %d processors: predicted %.1f us, %.1f us in %lld parts",
           k->name, (long long)cost.tasks, target->processors, 1e6 * model_split(facts, &cost, 1),
           1e6 * model_split(facts, &cost, n), (long long)n);
    return n;
}
