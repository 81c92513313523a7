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
    MOST_VARIANTS = 10, /* kernels of a call: each is code of its own */
    MOST_POINTS = 1500, /* sizes that plans are made for, and compared at */
    LEAST = 16,         /* smallest size of these, .. */
    LEAST_OF_MANY = 64, /* .. where several sizes vary: most of them small would have most kernels */
    LEAST_EDGE = 1024,  /* sizes from which on .. */
    EDGE = 16,          /* .. so many positions more are looked at, too: a tile more of most */
    MOST_DEPTH =
        2048,     /* positions of a run-time sum: what a task takes beside its steps counts in sums of this length */
    LAUNCH = 5000 /* clocks that a launch takes beside its rounds: about 3 us */
};
static const double WORTH =
    0.0003; /* what a kernel more has to save, on the average of all points: squares of shares */

typedef struct {
    PassContext *c;
    const Kernel *k;
    int symbol[MOST_SYMBOLS], symbols;
    int64_t *at[MOST_POINTS]; /* by point: values of all of the module's symbols */
    int points;
    Planned plan[MOST_POINTS + 1]; /* different ones, the first for the largest sizes */
    int plans;
    bool taken[MOST_POINTS + 1];
} Choice;

/* ---- sizes ---- */

static void symbols_find(Choice *x) {
    for (int i = 0; i < x->k->ngrid; i++) {
        int sym = x->k->range.p[i].of.sym, n = 0;
        while (n < x->symbols && x->symbol[n] != sym) n++;
        if (sym >= 0 && n == x->symbols && n < MOST_SYMBOLS) x->symbol[x->symbols++] = sym;
    }
}

/* More of them where fewer sizes vary. */
static int64_t size_behind(const Choice *x, int64_t n) {
    bool power = (n & (n - 1)) == 0;
    return x->symbols == MOST_SYMBOLS ? 4 * n : power ? n / 2 * 3 : n / 3 * 4;
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
    double last = cluster > 1 ? fmax(task, p->outside * copies_outside(x, p, at)) : task;
    return begin + task * (double)(ceil_div(tasks, gpu_facts(target)->at_once[cluster]) - 1) + last;
}

static double least_at(const Choice *x, const int64_t *at, bool apart) {
    double least = INFINITY;
    for (int i = 0; i < x->plans; i++)
        if (x->taken[i]) least = fmin(least, clocks_at(x, &x->plan[i], at, apart));
    return least;
}

/* ---- the choice ---- */

/* Shares of the time that the plan saves beside those that are taken: their squares, so that no point loses much, added
   up over all points, once with rows that are multiples of lines and once without. */
static double saves(const Choice *x, int plan) {
    double sum = 0;
    for (int i = 0; i < 2 * x->points; i++) {
        const bool apart = i % 2;
        double now = least_at(x, x->at[i / 2], apart), own = clocks_at(x, &x->plan[plan], x->at[i / 2], apart);
        if (own < now) sum += pow((now - own) / (now + LAUNCH), 2);
    }
    return sum / 2;
}

/* The one that saves most; 0: none is worth it. */
static int next_best(const Choice *x) {
    int best = 0;
    double most = WORTH * x->points;
    for (int i = 1; i < x->plans; i++) {
        double own = x->taken[i] ? 0 : saves(x, i);
        if (own > most) most = own, best = i;
    }
    return best;
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
}

static void choice_make(Choice *x) {
    int number = 1;
    for (int best = 1; number < MOST_VARIANTS && (best = next_best(x)) > 0;) {
        x->taken[best] = true;
        plan_count(&x->plan[best]);
        variant_keep(x, &x->plan[best], ++number);
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
    x.taken[0] = true;
    for (int i = 0; i < x.points; i++) {
        Planned p = plan_at(&x, x.at[i]);
        plan_note(&x, &p);
    }
    choice_make(&x);
    for (int i = 1; i < x.plans; i++)
        if (x.taken[i]) plan_count(largest);
}
