/* order.h: the order of a grid's tasks: which tiles the number of a workgroup means. An order is a member of one family
   (docs/design/numa.md), each of which is a bijection for every number of tiles, of tasks and of chiplets.
   Workgroup g runs on chiplet g mod C (AMD's dispatch). First its number is dealt: a chiplet gets tasks whose numbers
   follow each other. Then the task's number is read as digits, each of which counts the tiles of a range.
   Kernels in roles may cut the grid in parts that come one after the other: this rank's rows, or tiles over an edge. */
#ifndef TILEC_IR_ORDER_H
#define TILEC_IR_ORDER_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* How a digit counts the n tiles that it has. */
typedef enum {
    DIGIT_UP,
    DIGIT_DOWN, /* the last one first */
    DIGIT_TURN, /* down where the digit before it is odd */
    DIGIT_PAIR, /* 0, n - 1, 1, n - 2, ..: what is heavy beside what is light */
    DIGIT_WAYS
} DigitWay;

extern const char *const digit_way_text[DIGIT_WAYS];

typedef struct {
    int16_t range; /* of the grid */
    int32_t band;  /* the digit counts bands of so many tiles, the last one perhaps shorter, and a later digit of the range
                      the tiles of a band; 0: the digit counts tiles */
    DigitWay way;  /* of bands: UP */
} OrderDigit;

enum { MAX_DIGITS = 18 }; /* two a range */

/* Where the rows come that this rank has: with all others; first, then those of the ranks behind it; between those of
   other ranks, and alone at the end; behind those of other ranks. RANK: a range counts ranks, this one is the first. */
typedef enum { OWN_AS_THEY_LIE, OWN_FIRST, OWN_LATE, OWN_BEHIND, OWN_RANK, OWN_ORDERS } OwnOrder;

extern const char *const own_order_text[OWN_ORDERS]; /* behind `own` */

typedef struct {
    OwnOrder own;   /* of roles */
    bool edges;    /* of roles: tiles over an edge come last, as they are the shorter ones */
    int chiplets;  /* workgroups are dealt to so many; 0, 1: to none */
    int64_t block; /* tasks that are dealt at once, in equal shares of numbers that follow each other; 0: all */
    int n;         /* 0: row-major, until the pass `remap` knows better */
    OrderDigit digit[MAX_DIGITS]; /* the slowest first */
} Order;

/* Each of the ranges 0 .. ranges - 1 is counted by one digit, which bands of it come before. A range that is not counted
   has one tile. Digits alone are looked at. */
bool order_is_bijective(const Order *, int ranges, const int64_t *tiles);

/* The number of a workgroup's task. */
int64_t order_deal(const Order *, int64_t group, int64_t tasks);
/* Its tile along each range. */
void order_place(const Order *, const int64_t *tiles, int ranges, int64_t task, int64_t *tile);

/* NULL where it says nothing. */
const Order *order_keep(Arena *, const Order *);

/* The ranges as digits, none of them in bands. */
Order order_of_ranges(const int16_t *range, int n);

/* Rows of tiles that tasks go through together where `rows` and `columns` are the fastest ranges, and the digits of others
   stand before them; columns -1: there are none. 0: the digits say something else. */
int order_band(const Order *, int rows, int columns);

/* chiplets 8 block 64 (i / 8, j down, i); own late (i / 8, j, i); edges: names of ranges are added by `range`. */
void order_text(Text *, const Order *, void (*range)(Text *, const void *, int), const void *state);

#endif
