/* variants.c: where sizes of a result are known at run time, small ones want other tiles than large ones.
   Takes: a kernel with the plan for the largest sizes. Gives: kernels beside it, by plans for smaller sizes, which
   calls of the kernel name, too (Node.otherwise). A run takes the one whose rounds of tasks take least, by the plans'
   costs. */
#include "ir/size.h"
#include "ir/trial.h"
#include "passes/plan/plan.h"
#include "target/matrix.h"
#include "target/rates.h"

#include <math.h>

enum {
    MOST_SYMBOLS = 3,   /* run-time sizes of a grid that are looked at */
    MOST_VARIANTS = 12, /* kernels of a call: each is code of its own */
    MOST_POINTS = 1500, /* sizes that plans are made for, and compared at */
    LEAST = 8,          /* smallest size of these, .. */
    LEAST_OF_MANY = 64, /* .. where several sizes vary: most of them small would have most kernels */
    LEAST_EDGE = 1024,  /* sizes from which on .. */
    EDGE = 16,          /* .. so many positions more are looked at, too: a tile more of most */
    MOST_DEPTH =
        2048,     /* positions of a run-time sum: what a task takes beside its steps counts in sums of this length */
    LAUNCH = 1750 /* clocks that a launch takes beside its rounds where another one ends: GpuFacts.fill */
};
static const double WORTH = 1e-6; /* what a kernel more has to save: fourth powers, 3 % of one size's time */

typedef struct {
    PassContext *c;
    const Kernel *k;
    int symbol[MOST_SYMBOLS], symbols;
    int64_t *at[MOST_POINTS]; /* by point: values of all of the module's symbols */
    int points, ways; /* 2: rows of operands may be multiples of lines, and others, as a run says; 1: it says no such */
    Planned plan[MOST_POINTS + 1]; /* different ones, the first for the largest sizes */
    int plans;
    bool taken[MOST_POINTS + 1];
    double *clocks[MOST_POINTS + 1], *least; /* of a plan at each point, each way; the least of all plans */
    double *scratch;                         /* for each of these */
} Choice;

/* ---- sizes ---- */

static void symbols_find(Choice *x) {
    for (int i = 0; i < x->k->ngrid; i++) {
        int sym = x->k->range.p[i].of.sym, n = 0;
        while (n < x->symbols && x->symbol[n] != sym) n++;
        if (sym >= 0 && n == x->symbols && n < MOST_SYMBOLS) x->symbol[x->symbols++] = sym;
    }
}

/* The next of 1, 2, 4, 10, 20, .. */
static int64_t round_behind(int64_t n) {
    int64_t ten = 1;
    while (10 * ten <= n) ten *= 10;
    return n < 2 * ten ? 2 * ten : n < 4 * ten ? 4 * ten : 10 * ten;
}

/* Powers of two and what lies in their middle: most runs have such sizes. More of them where fewer vary: round numbers,
   too. */
static int64_t size_behind(const Choice *x, int64_t n) {
    if (x->symbols == MOST_SYMBOLS) return 4 * n;
    int64_t two = 1;
    while (2 * two <= n) two *= 2;
    int64_t even = n < two + two / 2 ? two + two / 2 : 2 * two, other = round_behind(n);
    return x->symbols == 1 && other < even ? other : even;
}

static void points_add(Choice *x, int symbol, int64_t *at) {
    if (symbol == x->symbols) {
        if (x->points < MOST_POINTS)
            x->at[x->points++] = arena_copy(x->c->m->arena, at, sizeof *at * (size_t)x->c->m->symbol.n);
        return;
    }
    int64_t most = x->c->m->symbol.p[x->symbol[symbol]].bound, *n = &at[x->symbol[symbol]];
    for (int64_t even = x->symbols > 1 ? LEAST_OF_MANY : LEAST; even < most; even = size_behind(x, even))
        for (int edge = 0; edge <= (even < LEAST_EDGE ? 0 : EDGE); edge += EDGE) {
            *n = even + edge < most ? even + edge : most;
            points_add(x, symbol + 1, at);
        }
    *n = most;
    points_add(x, symbol + 1, at);
}

/* ---- plans ---- */

static bool tiles_equal(const Planned *a, const Planned *b) {
    if (a->tiles != b->tiles) return false;
    for (int i = 0; i < a->tiles; i++)
        if (a->tile[i].range != b->tile[i].range || a->tile[i].size != b->tile[i].size) return false;
    return true;
}

static bool plans_equal(const Planned *a, const Planned *b) {
    const Plan *x = &a->plan, *y = &b->plan;
    return x->lowering == y->lowering && x->stages == y->stages && x->regs.n == y->regs.n && x->cluster == y->cluster &&
           x->cluster_range == y->cluster_range && tiles_equal(a, b);
}

/* Sizes of tensors that no range of the grid has: sums run along them. */
static void depths_bind(const Kernel *k, Module *m) {
    for (int i = 0; i < k->param.n; i++)
        for (int d = 0; d < k->param.p[i].ndim; d++) {
            int sym = k->param.p[i].dim[d].sym;
            bool grid = sym < 0;
            for (int r = 0; r < k->ngrid; r++) grid |= k->range.p[r].of.sym == sym;
            if (!grid && m->symbol.p[sym].bound > MOST_DEPTH) m->symbol.p[sym].bound = MOST_DEPTH;
        }
}

/* If the sizes were bound by these. */
static Planned plan_at(const Choice *x, const int64_t *at) {
    PassContext t = pass_trial(x->c);
    vec_copy(t.m->arena, &t.m->symbol);
    depths_bind(x->k, t.m);
    for (int i = 0; i < x->symbols; i++) t.m->symbol.p[x->symbol[i]].bound = at[x->symbol[i]];
    return plan_of(&t, kernel_clone(t.m, x->k));
}

static void plan_note(Choice *x, const Planned *p) {
    if (p->why.words || p->plan.lowering != LOWER_ROLES || !p->cost) return;
    if (x->k->plan.clusters && x->plans && p->plan.cluster != x->plan[0].plan.cluster) return;
    for (int i = 0; i < x->plans; i++)
        if (plans_equal(&x->plan[i], p)) return;
    x->plan[x->plans++] = *p;
}

/* ---- times, as the host predicts them at each run (codegen/abi/clocks.c) ---- */

static int64_t tile_of(const Choice *x, const Planned *p, int range) {
    for (int i = 0; i < p->tiles; i++)
        if (p->tile[i].range == range) return p->tile[i].size;
    return x->k->range.p[range].size;
}

/* How often copies lie outside: where a cluster has a workgroup without a tile, and where one's part of the last shared
   tile has no position. */
static int copies_outside(const Choice *x, const Planned *p, const int64_t *at) {
    if (p->plan.cluster_range < 0) return 0;
    const int along = p->plan.cluster_range, shared = p->tile[p->tile[0].range == along].range;
    int64_t n = size_eval(x->c->m, x->k->range.p[along].of, at, NULL), tile = tile_of(x, p, shared),
            last = (size_eval(x->c->m, x->k->range.p[shared].of, at, NULL) + tile - 1) % tile;
    return (ceil_div(n, tile_of(x, p, along)) % p->plan.cluster != 0) + (last < tile / p->plan.cluster);
}

static double clocks_at(const Choice *x, const Planned *p, const int64_t *at, bool apart) {
    int cluster = p->plan.cluster ? p->plan.cluster : 1;
    int64_t tasks = 1;
    for (int i = 0; i < x->k->ngrid; i++) {
        const Range *r = &x->k->range.p[i];
        int64_t n = r->kind == RANGE_WHOLE ? 1 : ceil_div(size_eval(x->c->m, r->of, at, NULL), tile_of(x, p, i));
        tasks *= i == p->plan.cluster_range && cluster > 1 ? ceil_div(n, cluster) : n;
    }
    const char *target = x->c->options->target;
    double begin = cluster > 1 ? gpu_facts(target)->cluster : 0, task = p->cost + (apart ? p->apart : 0);
    const int64_t rounds = ceil_div(tasks, gpu_facts(target)->at_once[cluster]);
    if (p->counted ? tasks > p->counted : rounds > 1) task += p->again;
    double last = cluster > 1 ? fmax(task, p->outside * copies_outside(x, p, at)) : task;
    return begin + task * (double)(rounds - 1) + last;
}

static bool rows_may_lie_apart(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].ndim && !size_is_number(k->param.p[i].dim[k->param.p[i].ndim - 1])) return true;
    return false;
}

static void clocks_count(Choice *x) {
    x->ways = 1 + rows_may_lie_apart(x->k);
    x->least = ARENA_ARRAY(x->c->m->arena, double, x->ways * x->points);
    x->scratch = ARENA_ARRAY(x->c->m->arena, double, x->ways * x->points);
    for (int i = 0; i < x->ways * x->points; i++) x->least[i] = INFINITY;
    for (int p = 0; p < x->plans; p++) {
        x->clocks[p] = ARENA_ARRAY(x->c->m->arena, double, x->ways * x->points);
        for (int i = 0; i < x->ways * x->points; i++) {
            x->clocks[p][i] = LAUNCH + clocks_at(x, &x->plan[p], x->at[i / x->ways], i % x->ways);
            x->least[i] = fmin(x->least[i], x->clocks[p][i]);
        }
    }
}

/* ---- the choice ---- */

static double *least_of_taken(const Choice *x, double *least) {
    for (int i = 0; i < x->ways * x->points; i++) {
        least[i] = INFINITY;
        for (int p = 0; p < x->plans; p++)
            if (x->taken[p]) least[i] = fmin(least[i], x->clocks[p][i]);
    }
    return least;
}

/* With this plan beside: by how much points take longer than by the fastest plan of all; the worst ones count most. */
static double regret(const Choice *x, const double *least, int plan) {
    double sum = 0;
    for (int i = 0; i < x->ways * x->points; i++) {
        double more = fmin(least[i], x->clocks[plan][i]) / x->least[i] - 1;
        sum += more * more * more * more;
    }
    return sum;
}

/* The plan beside those taken that leaves least regret; `best` where none leaves less. */
static int best_beside(Choice *x, int best) {
    const double *least = least_of_taken(x, x->scratch);
    double sum = regret(x, least, best);
    for (int i = 1; i < x->plans; i++) {
        double own = x->taken[i] ? INFINITY : regret(x, least, i);
        if (own < sum) sum = own, best = i;
    }
    return best;
}

/* One after the other, as long as one is worth it; .. */
static void plans_take(Choice *x) {
    x->taken[0] = true;
    for (int n = 1, best = 1; n < MOST_VARIANTS && best; n++) {
        best = best_beside(x, 0);
        const double *least = least_of_taken(x, x->scratch);
        if (regret(x, least, 0) - regret(x, least, best) < WORTH) best = 0;
        x->taken[best] = true;
    }
}

/* .. then others in their places. */
static void plans_exchange(Choice *x) {
    for (bool better = true; better;) {
        better = false;
        for (int i = 1; i < x->plans; i++)
            if (x->taken[i]) {
                x->taken[i] = false;
                int best = best_beside(x, i);
                x->taken[best] = true;
                better |= best != i;
            }
    }
}

static void variant_keep(const Choice *x, const Planned *p, int number) {
    Module *m = x->c->m;
    Kernel *fresh = kernel_clone(m, x->k);
    fresh->name = name_of(m->names, arena_format(m->arena, "%s_%d", x->k->name, number));
    plan_apply(fresh, p);
    remark(x->c, "pipe", x->k->loc, "'%s', where it takes less time: %s", fresh->name, p->how);
    plan_stand_by(m, x->k, fresh);
}

/* The host compares its clocks at each run. */
static void plan_count(Planned *p) {
    p->plan.cost = p->cost;
    p->plan.apart = p->apart;
    p->plan.outside = p->outside;
    p->plan.again = p->again;
    p->plan.few = p->again ? p->counted : 0;
}

static void choice_make(Choice *x) {
    clocks_count(x);
    plans_take(x);
    plans_exchange(x);
    for (int i = 1, number = 1; i < x->plans; i++)
        if (x->taken[i]) {
            plan_count(&x->plan[i]);
            variant_keep(x, &x->plan[i], ++number);
        }
}

void plan_variants(PassContext *c, const Kernel *k, Planned *largest) {
    Choice x = {.c = c, .k = k};
    symbols_find(&x);
    if (!x.symbols || c->m->axis.n || largest->plan.lowering != LOWER_ROLES) return;
    points_add(&x, 0, ARENA_ARRAY(c->m->arena, int64_t, c->m->symbol.n));
    Planned all = plan_at(&x, x.at[x.points - 1]);
    if (!all.why.words && all.plan.lowering == LOWER_ROLES) all.seconds = largest->seconds, *largest = all;
    plan_note(&x, largest);
    for (int i = 0; i < x.points; i++) {
        Planned p = plan_at(&x, x.at[i]);
        plan_note(&x, &p);
    }
    choice_make(&x);
    for (int i = 1; i < x.plans; i++)
        if (x.taken[i]) plan_count(largest);
}
