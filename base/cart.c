#include "base/cart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST = 2, /* examples of a branch: one alone may be an accident */
    PARTS = 5  /* of a cross-validation, as is usual */
};

typedef struct {
    Arena *arena;
    const CartTable *t;
} Trainer;

static double feature_of(const CartTable *t, int example, int feature) {
    return t->feature[example * t->features + feature];
}

/* ---- costs ---- */

static void costs_add(const CartTable *t, double *sum, int example, double sign) {
    for (int c = 0; c < t->choices; c++) sum[c] += sign * t->cost[example * t->choices + c];
}

static int cheapest(const CartTable *t, const double *sum) {
    int best = 0;
    for (int c = 1; c < t->choices; c++)
        if (sum[c] < sum[best]) best = c;
    return best;
}

static double *costs_of(const Trainer *k, const int *example, int n) {
    double *sum = ARENA_ARRAY(k->arena, double, k->t->choices);
    for (int c = 0; c < k->t->choices; c++) sum[c] = 0;
    for (int i = 0; i < n; i++) costs_add(k->t, sum, example[i], 1);
    return sum;
}

/* ---- splits ---- */

typedef struct {
    int feature;
    double limit, cost;
} Split;

typedef struct {
    double x;
    int example;
} Placed;

static int compare(const void *a, const void *b) {
    const Placed *x = a, *y = b;
    return x->x != y->x ? (x->x > y->x) - (x->x < y->x) : x->example - y->example;
}

/* Between two values, with as few digits as lie between them. */
static double limit_between(double low, double high) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, low + (high - low) / 2);
        const double limit = strtod(text, NULL);
        if (limit >= low && limit < high) return limit;
    }
    return low;
}

static void split_by(const Trainer *k, const int *example, int n, int feature, Split *best) {
    const CartTable *t = k->t;
    Placed *placed = ARENA_ARRAY(k->arena, Placed, n);
    double *low = costs_of(k, NULL, 0), *high = costs_of(k, example, n);
    for (int i = 0; i < n; i++) placed[i] = (Placed){feature_of(t, example[i], feature), example[i]};
    qsort(placed, (size_t)n, sizeof *placed, compare);
    for (int i = 0; i + 1 < n; i++) {
        costs_add(t, low, placed[i].example, 1), costs_add(t, high, placed[i].example, -1);
        if (i + 1 < LEAST || n - i - 1 < LEAST || placed[i].x == placed[i + 1].x) continue;
        const double cost = low[cheapest(t, low)] + high[cheapest(t, high)];
        if (cost < best->cost) *best = (Split){feature, limit_between(placed[i].x, placed[i + 1].x), cost};
    }
}

static const Cart *leaf(const Trainer *k, int choice) {
    Cart *c = ARENA_NEW(k->arena, Cart);
    *c = (Cart){.choice = choice};
    return c;
}

static const Cart *grow(const Trainer *k, const int *example, int n, int depth) {
    const CartTable *t = k->t;
    const double *sum = costs_of(k, example, n);
    const int best = cheapest(t, sum);
    /* sums of other orders differ in their last bits */
    Split split = {.feature = -1, .cost = sum[best] - 1e-9 * (1 + fabs(sum[best]))};
    for (int i = 0; i < t->features && depth > 0; i++) split_by(k, example, n, i, &split);
    if (split.feature < 0) return leaf(k, best);
    int *low = ARENA_ARRAY(k->arena, int, n), *high = ARENA_ARRAY(k->arena, int, n), nlow = 0, nhigh = 0;
    for (int i = 0; i < n; i++) {
        if (feature_of(t, example[i], split.feature) <= split.limit)
            low[nlow++] = example[i];
        else
            high[nhigh++] = example[i];
    }
    Cart *c = ARENA_NEW(k->arena, Cart);
    *c = (Cart){-1, split.feature, split.limit, grow(k, low, nlow, depth - 1), grow(k, high, nhigh, depth - 1)};
    const bool same = c->low->choice >= 0 && c->low->choice == c->high->choice;
    return same ? c->low : c;
}

int cart_choice(const Cart *c, const double *feature) {
    while (c->choice < 0) c = feature[c->feature] <= c->limit ? c->low : c->high;
    return c->choice;
}

/* By the examples of all parts but one; -1: of all. */
static const Cart *train_without(Arena *a, const CartTable *t, int depth, int part) {
    int *example = ARENA_ARRAY(a, int, t->examples + 1), n = 0;
    for (int i = 0; i < t->examples; i++)
        if (i % PARTS != part) example[n++] = i;
    return grow(&(Trainer){.arena = a, .t = t}, example, n, depth);
}

const Cart *cart_train(Arena *a, const CartTable *t, int depth) { return train_without(a, t, depth, -1); }

double cart_cross_cost(Arena *a, const CartTable *t, int depth) {
    double sum = 0;
    for (int part = 0; part < PARTS; part++) {
        const Cart *c = train_without(a, t, depth, part);
        for (int i = part; i < t->examples; i += PARTS)
            sum += t->cost[i * t->choices + cart_choice(c, t->feature + i * t->features)];
    }
    return sum;
}

int cart_depth(Arena *a, const CartTable *t, int most) {
    double best = INFINITY;
    for (int d = 0; d <= most; d++) best = fmin(best, cart_cross_cost(a, t, d));
    for (int d = 0; d < most; d++)
        if (cart_cross_cost(a, t, d) <= 1.01 * best) return d;
    return most;
}
