/* cart.c: decision trees from examples: what they must get right, and that no feature tempts them where there is
 * nothing to learn. */
#include "base/cart.h"
#include "check.h"

#include <stdio.h>

enum { EXAMPLES = 200, FEATURES = 3, CHOICES = 3 };

static double feature[EXAMPLES * FEATURES], cost[EXAMPLES * CHOICES];
static const CartTable table = {EXAMPLES, FEATURES, CHOICES, feature, cost};

static double drawn(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 16777216.0;
}

/* The right choice: 0 below 0.3 of feature 1; above, 1 or 2 by feature 2. */
static int right(const double *x) { return x[1] <= 0.3 ? 0 : x[2] <= 0.6 ? 1 : 2; }

static void fill(int learnable) {
    unsigned seed = 7;
    for (int i = 0; i < EXAMPLES; i++) {
        double *x = feature + i * FEATURES;
        for (int k = 0; k < FEATURES; k++) x[k] = drawn(&seed);
        const int best = learnable ? right(x) : (int)(drawn(&seed) * CHOICES);
        for (int c = 0; c < CHOICES; c++) cost[i * CHOICES + c] = c == best ? 0 : 1;
    }
}

static double cost_of(const Cart *tree) {
    double sum = 0;
    for (int i = 0; i < EXAMPLES; i++) sum += cost[i * CHOICES + cart_choice(tree, feature + i * FEATURES)];
    return sum;
}

int main(void) {
    int failures = 0;
    Arena *a = arena_new();
    fill(1);
    CHECK(cart_depth(a, &table, 5) == 2 && cost_of(cart_train(a, &table, 2)) == 0);
    CHECK(cart_train(a, &table, 0)->choice >= 0 && cost_of(cart_train(a, &table, 1)) > 0);
    const Cart *tree = cart_train(a, &table, 5);
    CHECK(tree->feature == 1 && tree->limit > 0.28 && tree->limit < 0.32 && tree->low->choice == 0);
    CHECK(tree->high->feature == 2 && tree->high->low->choice == 1 && tree->high->high->choice == 2);
    cost[0] = cost[1] = cost[2] = 1e6; /* a rare example that costs much whatever is chosen decides nothing */
    CHECK(cart_train(a, &table, 5)->feature == 1);
    fill(0);
    CHECK(cart_depth(a, &table, 5) == 0 || cart_cross_cost(a, &table, 5) > 0.5 * EXAMPLES);
    for (int i = 0; i < EXAMPLES * FEATURES; i++) feature[i] = 1; /* nothing to split by */
    CHECK(cart_train(a, &table, 5)->choice >= 0);
    const CartTable one = {1, FEATURES, CHOICES, feature, cost}, none = {0, 0, CHOICES, feature, cost};
    CHECK(cart_train(a, &one, 3)->choice >= 0 && cart_train(a, &none, 3)->choice == 0 && cart_depth(a, &none, 3) == 0);
    arena_free(a);
    if (!failures) puts("trees: as they must be");
    return failures != 0;
}
