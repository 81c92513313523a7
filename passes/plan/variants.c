/* variants.c: where the rows of a result are counted at run time, few of them want other tiles than many.
   Takes: a kernel with the plan for the largest size. Gives: kernels beside it, by the plans for smaller sizes, which
   calls of the kernel name, too (Node.otherwise). */
#include "base/require.h"
#include "ir/trial.h"
#include "passes/plan/plan.h"

#include <inttypes.h>
#include <string.h>

enum {
    LEAST_LIMIT = 64, /* rows; fewer take as long: a product instruction has so many (wgmma) */
    MOST_VARIANTS = 4 /* of a kernel: each is code of its own */
};

/* A plan for sizes up to a limit. */
typedef struct {
    int64_t limit;
    Planned plan;
} Variant;

typedef struct {
    Variant of[MOST_VARIANTS];
    int n;
} Variants;

static bool tiles_equal(const Planned *a, const Planned *b) {
    if (a->tiles != b->tiles) return false;
    for (int i = 0; i < a->tiles; i++)
        if (a->tile[i].range != b->tile[i].range || a->tile[i].size != b->tile[i].size) return false;
    return true;
}

static bool plans_equal(const Planned *a, const Planned *b) {
    const Plan *x = &a->plan, *y = &b->plan;
    return x->lowering == y->lowering && x->schedule == y->schedule && x->columns == y->columns &&
           x->stages == y->stages && x->regs.n == y->regs.n && x->cluster == y->cluster &&
           x->cluster_range == y->cluster_range && x->order == y->order && tiles_equal(a, b);
}

/* The dimension of the first range of tiles whose extent is known at run time; -1: there is none. */
static int free_dim(const Kernel *k, const Planned *p) {
    for (int i = 0; i < p->tiles; i++) {
        int range = p->tile[i].range;
        if (range < k->ngrid && k->range.p[range].of.sym >= 0) return k->range.p[range].of.sym;
    }
    return -1;
}

/* The plan if the dimension were bound by `most`. */
static Planned plan_at(PassContext *c, const Kernel *k, int sym, int64_t most) {
    PassContext t = pass_trial(c);
    vec_copy(t.m->arena, &t.m->symbol);
    t.m->symbol.p[sym].bound = most;
    t.pass = c->pass;
    return plan_of(&t, kernel_clone(t.m, k));
}

static void variant_add(Variants *v, int64_t limit, const Planned *p) {
    if (v->n && plans_equal(&v->of[v->n - 1].plan, p))
        v->of[v->n - 1].limit = limit;
    else if (v->n < MOST_VARIANTS)
        v->of[v->n++] = (Variant){limit, *p};
}

static Variants variants_of(PassContext *c, const Kernel *k, int sym, const Planned *largest) {
    Variants v = {.n = 0};
    for (int64_t most = LEAST_LIMIT; most < c->m->symbol.p[sym].bound; most *= 2) {
        Planned p = plan_at(c, k, sym, most);
        if (!p.why.words) variant_add(&v, most, &p);
    }
    if (v.n && plans_equal(&v.of[v.n - 1].plan, largest)) v.n--;
    return v;
}

static void variant_keep(PassContext *c, const Kernel *k, int sym, const Variant *v) {
    Module *m = c->m;
    Kernel *fresh = kernel_clone(m, k);
    fresh->name = name_of(m->names, arena_format(m->arena, "%s_%" PRId64, k->name, v->limit));
    plan_apply(fresh, &v->plan);
    fresh->plan.limited = (int16_t)(1 + sym);
    fresh->plan.limit = v->limit;
    remark(c, "pipe", k->loc, "'%s': up to %" PRId64 " of %s: %s", k->name, v->limit, m->symbol.p[sym].name, v->plan.how);
    plan_stand_by(m, k, fresh);
}

void plan_variants(PassContext *c, const Kernel *k, const Planned *largest) {
    int sym = free_dim(k, largest);
    if (sym < 0 || c->m->axis.n) return;
    Variants v = variants_of(c, k, sym, largest);
    for (int i = 0; i < v.n; i++) variant_keep(c, k, sym, &v.of[i]);
}
