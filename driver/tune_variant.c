/* tune_variant.c: the ways to choose the sizes of a kernel, and which of them are predicted fastest.
   Takes: a program that went through the passes. Gives: entries, the present choice first. */
#include "driver/tune.h"
#include "passes/model/model.h"
#include "target/matrix.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Positions of a tile that are tried; chosen: no measurement is recorded. */
    SIZE_LEAST = 4,
    SIZE_MOST = 1024, /* likewise */
    SIZE_UNKNOWN = 512, /* positions of a range whose extent is not known; likewise */
    MOST_VARIANTS = 1 << 16
};

/* ---- predictions ---- */

static int calls_of(const Program *p, const Kernel *k) {
    int n = 0;
    for (int i = 0; i < p->node.n; i++) n += p->node.p[i]->kernel == k;
    return n;
}

/* Passes may have renamed it, and brought others of its name into its kernel. */
static bool is_range_of(const Range *r, const TunedPair *p) {
    size_t name = strcspn(p->name, ".");
    return r->kind == RANGE_TILE && memcmp(&r->loc, &p->loc, sizeof r->loc) == 0 && !strncmp(r->name, p->name, name);
}

static void resize(Range *r, const TunedPairs *set) {
    for (int i = 0; i < set->n; i++)
        if (is_range_of(r, &set->p[i])) r->size = strtoll(set->p[i].value, NULL, 10);
}

static double kernel_seconds(const Tune *t, const Kernel *k, const TunedPairs *set) {
    const Run *r = &t->base;
    Kernel other = *k;
    other.range.p = arena_copy(t->arena, k->range.p, sizeof(Range) * (size_t)k->range.n);
    for (int i = 0; i < other.range.n; i++) resize(&other.range.p[i], set);
    NodeCost cost = model_node(t->arena, target_facts(r->s.target.machine), r->s.m,
                               &(Node){.kind = NODE_CALL, .kernel = &other}, r->sym);
    return model_node_seconds(target_facts(r->s.target.machine), &cost, run_cores(r));
}

/* Of all nodes of a site, with these sizes in the place of its own. */
static double site_seconds(const Tune *t, int site, const TunedPairs *set) {
    const Run *r = &t->base;
    double seconds = 0;
    for (int i = 0; i < r->s.m->kernel.n; i++) {
        const Kernel *k = r->s.m->kernel.p[i];
        int calls = k->site == site + 1 ? calls_of(r->p, k) : 0;
        if (calls) seconds += calls * kernel_seconds(t, k, set);
    }
    return seconds;
}

double tune_seconds(const Tune *t, int site) { return site_seconds(t, site, &(TunedPairs){0}); }

/* The program takes as much more or less as its nodes do. */
static double predict(const Tune *t, int site, const TunedPairs *set) {
    return fmax(0, run_predicted(&t->base) - tune_seconds(t, site) + site_seconds(t, site, set));
}

/* ---- sizes ---- */

typedef struct {
    int n;
    int64_t size[24];
} Sizes;

/* The first kernel of the site that has the range; NULL: none has. */
static const Kernel *range_find(const Run *r, int site, const TunedPair *p, int *range) {
    for (int i = 0; i < r->s.m->kernel.n; i++) {
        const Kernel *k = r->s.m->kernel.p[i];
        for (*range = 0; k->site == site + 1 && *range < k->range.n; ++*range)
            if (is_range_of(&k->range.p[*range], p)) return k;
    }
    return NULL;
}

static int64_t range_extent(const Run *r, int site, const TunedPair *p) {
    int range;
    const Kernel *k = range_find(r, site, p, &range);
    const Op *loop = k ? kernel_loop(k, range) : NULL;
    return loop ? value_most(r->s.m, k, loop->arg.p[1]) : k ? size_most(r->s.m, k->range.p[range].of) : -1;
}

int64_t tune_size_after(const Tune *t, int site, const TunedPair *p) {
    int range;
    const Kernel *k = range_find(&t->base, site, p, &range);
    return k ? k->range.p[range].size : strtoll(p->value, NULL, 10);
}

/* Equal parts of the extent, where no power of two is about as long: 384 and 192 of 768. */
static void parts_add(Sizes *s, int64_t extent) {
    /* Parts begin at multiples of so many positions; chosen: no measurement is recorded. */
    enum { MULTIPLE = 8 };
    for (int64_t part = extent; part > 2 * MULTIPLE;) {
        part = (part + 1) / 2;
        int64_t size = (part + MULTIPLE - 1) / MULTIPLE * MULTIPLE, below = MULTIPLE;
        while (2 * below <= size) below *= 2;
        if (size <= SIZE_MOST && 8 * size >= 9 * below && 8 * size <= 7 * 2 * below) s->size[s->n++] = size;
    }
}

/* Powers of two up to the first that covers the extent. GPUs round tiles up to them. */
static Sizes sizes_of(const Run *r, int site, const TunedPair *p) {
    int64_t extent = range_extent(r, site, p), most = extent > 0 ? extent : SIZE_UNKNOWN;
    Sizes s = {0};
    for (int64_t size = SIZE_LEAST; size <= SIZE_MOST; size *= 2) {
        s.size[s.n++] = size;
        if (size >= most) break;
    }
    if (!r->s.target.gpu && extent > 0) parts_add(&s, extent);
    return s;
}

/* How far two sets of sizes are apart: the sum of the logarithms of their quotients. */
static double distance(const TunedPairs *a, const TunedPairs *b) {
    double sum = 0;
    for (int i = 0; i < a->n; i++) {
        const char *other = tuned_get(b, a->p[i].name);
        double x = atof(a->p[i].value), y = other ? atof(other) : 0;
        if (x > 0 && y > 0 && !tuned_is_fact(a->p[i].name)) sum += fabs(log2(x / y));
    }
    return sum;
}

static bool is_near(const Variants *taken, const TunedPairs *set) {
    for (int i = 0; i < taken->n; i++)
        if (distance(&taken->p[i].entry.set, set) < 2) return true;
    return false;
}

/* ---- all of them ---- */

static int by_prediction(const void *a, const void *b) {
    const Variant *x = a, *y = b;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static bool is_size(const TunedPair *p) { return !tuned_is_fact(p->name); }

static Variant variant_number(const Tune *t, int site, const Sizes *sizes, int64_t number) {
    const TunedEntry *now = &t->base.s.sites.p[site].entry;
    Variant v = {.entry = *now};
    v.entry.set = (TunedPairs){0};
    for (int i = 0; i < now->set.n; i++) {
        TunedPair p = now->set.p[i];
        if (is_size(&p)) {
            p.value = arena_format(t->arena, "%" PRId64, sizes[i].size[number % sizes[i].n]);
            number /= sizes[i].n;
        }
        vec_push(t->arena, &v.entry.set, p);
    }
    v.predicted = site_seconds(t, site, &v.entry.set);
    return v;
}

static Variants all_variants(const Tune *t, int site) {
    const TunedEntry *now = &t->base.s.sites.p[site].entry;
    Sizes *sizes = ARENA_ARRAY(t->arena, Sizes, now->set.n + 1);
    Variants all = {0};
    int64_t count = 1;
    for (int i = 0; i < now->set.n; i++) {
        if (!is_size(&now->set.p[i])) continue;
        sizes[i] = sizes_of(&t->base, site, &now->set.p[i]);
        count *= sizes[i].n;
        if (count > MOST_VARIANTS) sizes[i].n = 1, sizes[i].size[0] = atoll(now->set.p[i].value), count = MOST_VARIANTS;
    }
    for (int64_t i = 0; i < count; i++) vec_push(t->arena, &all, variant_number(t, site, sizes, i));
    return all;
}

static bool site_is_scheduled(const Tune *t, int site) {
    const Module *m = t->base.s.m;
    for (int i = 0; i < m->kernel.n; i++)
        if (m->kernel.p[i]->site == site + 1 && plan_is_whole(&m->kernel.p[i]->plan)) return true;
    return false;
}

/* On a GPU the passes fit tiles to the machine: what they make of it is what is predicted. */
static void predict_lowered(const Tune *t, Variant *v) {
    Arena *a = arena_new();
    Run *r = tune_lower(t, a, &v->entry);
    v->predicted = r ? run_predicted(r) : INFINITY;
    const char *text = r ? tune_text(r, a) : NULL;
    v->hash = text ? text_hash(text, strlen(text)) : 0;
    arena_free(a);
}

static bool is_same_as_one(const Variants *taken, const Variant *v) {
    for (int i = 0; i < taken->n; i++)
        if (v->hash && taken->p[i].hash == v->hash) return true;
    return false;
}

static double product_of_sizes(const Variant *v) {
    double product = 1;
    for (int i = 0; i < v->entry.set.n; i++)
        if (is_size(&v->entry.set.p[i])) product *= atof(v->entry.set.p[i].value);
    return product;
}

/* Of those that come out alike the smallest sizes come first: they are what the passes leave as it is. */
static int by_lowered(const void *a, const void *b) {
    const Variant *x = a, *y = b;
    double m = product_of_sizes(x), n = product_of_sizes(y);
    return x->predicted != y->predicted ? by_prediction(a, b) : (m > n) - (m < n);
}

static void all_lowered(const Tune *t, Variants *all, Variant *now) {
    const int least = 16, most = t->lowered / t->base.s.m->kernel.n, n = most > least ? most : least;
    if (all->n > n) all->n = n;
    for (int i = 0; i < all->n; i++) predict_lowered(t, &all->p[i]);
    predict_lowered(t, now);
    qsort(all->p, (size_t)all->n, sizeof *all->p, by_lowered);
}

static void few_predict(const Tune *t, int site, Variants *few) {
    for (int i = 0; i < few->n; i++)
        few->p[i].predicted = predict(t, site, i ? &few->p[i].entry.set : &(TunedPairs){0});
}

Variants tune_kernel_variants(const Tune *t, int site, int most, int *count) {
    Variants all = all_variants(t, site), few = {0};
    Variant now = {.entry = t->base.s.sites.p[site].entry};
    bool gpu = t->base.s.target.gpu;
    qsort(all.p, (size_t)all.n, sizeof *all.p, by_prediction);
    if (site_is_scheduled(t, site)) all.n = 0;
    *count = all.n;
    if (gpu) all_lowered(t, &all, &now);
    vec_push(t->arena, &few, now);
    for (int i = 0; i < all.n && few.n <= most && isfinite(all.p[i].predicted); i++)
        if (!is_same_as_one(&few, &all.p[i]) && !is_near(&few, &all.p[i].entry.set)) vec_push(t->arena, &few, all.p[i]);
    if (!gpu) few_predict(t, site, &few);
    return few;
}

/* ---- choices other than sizes ---- */

static void push_choice(const Tune *t, Variants *to, const char *name, const char *value) {
    const TunedEntry *now = &to->p[0].entry;
    Variant v = {.entry = *now, .predicted = to->p[0].predicted};
    v.entry.set = (TunedPairs){0};
    for (int i = 0; i < now->set.n; i++)
        if (strcmp(now->set.p[i].name, name)) vec_push(t->arena, &v.entry.set, now->set.p[i]);
    vec_push(t->arena, &v.entry.set, ((TunedPair){.name = name, .value = value}));
    vec_push(t->arena, to, v);
}

static void push_workers(const Tune *t, Variants *to) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN) / t->base.nranks;
    for (long n = 1; cores > 1 && n <= cores; n *= 2) push_choice(t, to, "workers", arena_format(t->arena, "%ld", n));
}

/* What may be chosen for kernels, programs of several ranks; by the host, by GPUs. */
static const struct {
    const char *name, *value[5];
    bool program, host, gpu;
} choices[] = {
    {"split", {"2", "4", "8", "16"}, false, true, true},
    {"waves", {"1", "2", "4", "8", "16"}, false, false, true},
    {"columns", {"64", "128", "256"}, false, false, true},
    {"schedule", {"off"}, false, false, true},
    {"ahead", {"off", "on"}, false, false, true},
    {"comm", {"unfused", "pull", "staged", "push", "packet"}, true, true, true},
};
enum { NCHOICE = sizeof choices / sizeof *choices };

/* Loops are cut on the host only where there are few tasks for its cores. */
static bool choice_fits(const Tune *t, int i, const TunedEntry *e, double tasks) {
    bool gpu = t->base.s.target.gpu;
    if (choices[i].program != e->program || !(gpu ? choices[i].gpu : choices[i].host)) return false;
    if (e->program) return t->base.nranks > 1;
    return gpu || tasks < 4 * run_cores(&t->base);
}

int tune_choices(void) { return NCHOICE + 1; }

Variants tune_choice_variants(const Tune *t, const TunedEntry *now, double tasks, int choice) {
    Variants list = {0};
    vec_push(t->arena, &list, ((Variant){.entry = *now}));
    bool workers = choice == NCHOICE && now->program && !t->base.s.target.gpu && !t->o->workers;
    if (workers) push_workers(t, &list);
    if (choice == NCHOICE || !choice_fits(t, choice, now, tasks)) return list;
    for (int i = 0; i < 5 && choices[choice].value[i]; i++)
        push_choice(t, &list, choices[choice].name, choices[choice].value[i]);
    return list;
}

double tune_tasks(const Tune *t, int site) {
    const Run *r = &t->base;
    double most = 0;
    for (int i = 0; i < r->p->node.n; i++) {
        const Node *n = r->p->node.p[i];
        if (n->kind == NODE_CALL && n->kernel->site == site + 1)
            most = fmax(most, model_node(t->arena, target_facts(r->s.target.machine), r->s.m, n, r->sym).tasks);
    }
    return most;
}
