/* cart.h: decision trees from examples whose choices have costs: a leaf takes the choice that costs its examples least
   (Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees", 1984). */
#ifndef TILEC_BASE_CART_H
#define TILEC_BASE_CART_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct {
    int examples, features, choices;
    const double *feature; /* [examples][features], finite */
    const double *cost;    /* [examples][choices] */
} CartTable;

typedef struct Cart Cart;
struct Cart {
    int choice; /* of a leaf; -1: there are two branches */
    int feature;
    double limit; /* examples up to it go low */
    const Cart *low, *high;
};

/* At most so deep; branches have two examples or more. */
const Cart *cart_train(Arena *, const CartTable *, int depth);
int cart_choice(const Cart *, const double *feature);

/* The cost of trees of that depth on examples that were left out when they were trained: the sum, by five parts in turn. */
double cart_cross_cost(Arena *, const CartTable *, int depth);
/* The least depth up to `most` whose cross-validated cost is within a hundredth of the best. */
int cart_depth(Arena *, const CartTable *, int most);

#endif
