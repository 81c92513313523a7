/* orders.c: members of the family of orders (ir/order.h) that are tried for a kernel. */
#include "passes/remap/reuse.h"

/* Tiles of a band; chosen: orders of others use 4 to 16 rows (arXiv 2511.08083). */
static const int bands[] = {0, 4, 8, 16};

/* Rows of tiles that share their columns in an H200's L2: bench/gpu/orders.py measured 1, 4, 8 and 16 (docs/design/numa.md).
   Where edges or ranks have a part: not measured. */
enum { BAND = 4, BAND_OF_PARTS = 8 };

typedef struct {
    const Reuse *u;
    const RemapMachine *m;
    Arena *arena;
    OrderList list;
} Tried;

static int counted(const Kernel *k, int16_t *range) {
    int n = 0;
    for (int i = 0; i < k->ngrid; i++)
        if (k->range.p[i].kind != RANGE_WHOLE) range[n++] = (int16_t)i;
    return n;
}

Order order_row_major(const Kernel *k) {
    int16_t range[MAX_RANGES] = {0};
    return order_of_ranges(range, counted(k, range));
}

/* Tasks that take long come first, or beside short ones. */
static void way_set(const Tried *t, Order *o, bool pair) {
    const double *weight = t->u->weight;
    if (!weight) return;
    const bool later = weight[t->u->tiles[t->u->heavy] - 1] > weight[0];
    for (int i = 0; i < o->n; i++)
        if (o->digit[i].range == t->u->heavy && !o->digit[i].band)
            o->digit[i].way = pair ? DIGIT_PAIR : later ? DIGIT_DOWN : DIGIT_UP;
}

/* Not dealt; all at once; as many at once as run at once. */
static void deals_add(Tried *t, Order o) {
    const int64_t at_once = t->m->slots * t->m->chiplets;
    vec_push(t->arena, &t->list, o);
    if (t->m->chiplets < 2) return;
    o.chiplets = t->m->chiplets;
    vec_push(t->arena, &t->list, o);
    o.block = at_once;
    if (at_once < t->u->tasks) vec_push(t->arena, &t->list, o);
}

static void ways_add(Tried *t, Order o) {
    for (int pair = 0; pair < (t->u->weight ? 2 : 1); pair++) {
        way_set(t, &o, pair);
        deals_add(t, o);
    }
}

static Order in_bands(const int16_t *range, int n, int band) {
    const int16_t slow = range[n - 2], fast = range[n - 1];
    Order o = order_of_ranges(range, n);
    o.digit[n - 2] = (OrderDigit){.range = slow, .band = band};
    o.digit[n - 1] = (OrderDigit){.range = fast};
    o.digit[o.n++] = (OrderDigit){.range = slow};
    return o;
}

/* Bands of the last range but one; then that range is the fastest. */
static void bands_add(Tried *t, const int16_t *range, int n) {
    for (size_t b = 0; b < sizeof bands / sizeof *bands; b++) {
        if (bands[b] && (n < 2 || bands[b] >= t->u->tiles[range[n - 2]])) continue;
        ways_add(t, bands[b] ? in_bands(range, n, bands[b]) : order_of_ranges(range, n));
    }
}

OrderList orders_to_try(const Reuse *u, const RemapMachine *m, Arena *arena) {
    Tried t = {.u = u, .m = m, .arena = arena};
    int16_t range[MAX_RANGES] = {0};
    const int n = counted(u->k, range);
    bands_add(&t, range, n);
    for (int last = n - 2; last >= 0; last--) { /* another range is the fastest */
        int16_t other[MAX_RANGES];
        int to = 0;
        if (u->tiles[range[last]] < 2) continue;
        for (int i = 0; i < n; i++)
            if (i != last) other[to++] = range[i];
        other[to] = range[last];
        bands_add(&t, other, n);
    }
    return t.list;
}

/* Loads at places that are data may share as well. Long tasks come first, and a list of transfers goes as it lies. */
Order order_of_one_cache(const Reuse *u, const Order *now) {
    Tried t = {.u = u};
    int16_t range[MAX_RANGES] = {0};
    const int n = counted(u->k, range);
    if (n < 2 || (now && now->own == OWN_RANK) || !(u->unknown || reuse_shares(u))) return (Order){0};
    Order o = in_bands(range, n, now ? BAND_OF_PARTS : BAND);
    way_set(&t, &o, false);
    return o;
}
