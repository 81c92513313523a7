/* plan.c: the one question of how a kernel will be computed.
   Takes: a kernel in value form. Gives: its plan, or why it has none; changes nothing. */
#include "passes/plan/plan.h"
#include "passes/model/model.h"

static PlanArm *const arms[] = {product_plan, attention_plan, roles_plan};

Planned plan_refused_by(Reason why) { return (Planned){.why = why}; }

Planned plan_refused(const char *words) { return plan_refused_by((Reason){.words = words}); }

void planned_tile(Planned *p, int range, int64_t size) {
    p->tile[p->tiles].range = range;
    p->tile[p->tiles++].size = size;
}

void plan_apply(Kernel *k, const Planned *p) {
    k->plan = p->plan;
    for (int i = 0; i < p->tiles; i++) k->range.p[p->tile[i].range].size = p->tile[i].size;
}

/* ---- the passes that are to come ---- */

/* Those of the target's list from behind the one that runs to the one that plans. */
typedef struct {
    const Pass *const *list;
    int from, end;
    bool plans; /* that one is not off */
} Coming;

static Coming coming_of(const PassContext *c) {
    int n;
    Coming p = {.list = pipeline_of(c->options->target, &n)};
    for (int i = 0; i < n && p.list[i] != c->pass; i++) p.from++;
    if (p.from++ == n) p.from = 0;
    while (p.end < n && !p.list[p.end]->plans) p.end++;
    p.plans = p.end < n && !pass_is_off(c->options, p.list[p.end]);
    return p;
}

/* It changes kernels one by one. */
static bool changes_kernels(const PassContext *c, const Pass *p) { return p->kernel && !pass_is_off(c->options, p); }

static bool passes_come(const PassContext *c, const Coming *p) {
    for (int i = p->from; i < p->end; i++)
        if (changes_kernels(c, p->list[i])) return true;
    return false;
}

static void passes_try(PassContext *t, const Coming *p, Kernel *k) {
    for (int i = p->from; i < p->end; i++) {
        t->pass = p->list[i];
        if (changes_kernels(t, t->pass)) t->pass->kernel(t, k);
    }
}

/* ---- the question ---- */

/* Where roles cannot be cut either, what is in their way counts: they take more than the text for attention. */
static bool says_more(const Planned *p, PlanArm *arm, const Planned *best, PlanArm *than) {
    return *p->why.words && !best->why.exact && arm == roles_plan && than == attention_plan;
}

/* Schedules know rectangular grids, and leave no records. */
static Planned arms_ask(PassContext *c, const Kernel *k, const MatrixTarget *t) {
    Planned best = plan_refused("");
    PlanArm *by = NULL;
    for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) {
        bool can = arms[i] == roles_plan || (!kernel_is_ragged(k) && !kernel_prints(k));
        Planned p = can ? arms[i](c, k, t) : plan_refused("");
        if (!p.why.words) return p;
        if (!*best.why.words || says_more(&p, arms[i], &best, by)) best = p, by = arms[i];
    }
    return best;
}

static double seconds_of(PassContext *c, const Kernel *k, const Planned *p, const MatrixTarget *t) {
    Kernel planned = *k;
    planned.range.p = arena_copy(c->m->arena, k->range.p, sizeof *k->range.p * (size_t)k->range.n);
    plan_apply(&planned, p);
    return model_most_seconds(c->m, &(Node){.kind = NODE_CALL, .kernel = &planned}, t->name);
}

/* Of the kernel as it stands. */
static Planned plan_now(PassContext *c, const Kernel *k, const MatrixTarget *t) {
    Planned p = arms_ask(c, k, t);
    bool is_for_it = !p.why.words || *p.why.words;
    if (is_for_it && k->plan.lowering == LOWER_PLAIN) return plan_refused("the file of sizes wants another");
    if (!p.why.words) p.seconds = seconds_of(c, k, &p, t);
    return p;
}

Planned plan_of(PassContext *c, const Kernel *k) {
    const MatrixTarget *target = matrix_target(c->options->target);
    if (!target) return plan_refused("");
    if (plan_is_whole(&k->plan)) return (Planned){.plan = k->plan};
    const Coming coming = coming_of(c);
    if (!coming.plans) return plan_refused("");
    if (!passes_come(c, &coming)) return plan_now(c, k, target);
    PassContext t = pass_trial(c);
    Kernel *copy = kernel_clone(t.m, k);
    passes_try(&t, &coming, copy);
    return plan_now(&t, copy, target);
}

bool plan_takes(PassContext *c, const Kernel *k) { return !plan_of(c, k).why.words; }
