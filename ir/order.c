/* order.c: orders of tasks: what they mean. codegen/text/order.c writes the same as C. */
#include "ir/order.h"

#include <inttypes.h>
#include <string.h>

const char *const digit_way_text[DIGIT_WAYS] = {"up", "down", "turn", "pair"};

const char *const own_order_text[OWN_ORDERS] = {"", "first", "late", "behind", "rank"};

static bool digit_fits(const Order *o, int at, int ranges) {
    const OrderDigit *d = &o->digit[at];
    return d->range >= 0 && d->range < ranges && d->band >= 0 && (int)d->way >= 0 && d->way < DIGIT_WAYS &&
           (!d->band || d->way == DIGIT_UP);
}

bool order_is_bijective(const Order *o, int ranges, const int64_t *tiles) {
    uint64_t counted = 0;
    if (o->n < 0 || o->n > MAX_DIGITS || o->chiplets < 0 || o->block < 0) return false;
    for (int i = 0; i < o->n; i++) {
        if (!digit_fits(o, i, ranges) || counted >> o->digit[i].range & 1) return false;
        if (!o->digit[i].band) counted |= UINT64_C(1) << o->digit[i].range;
    }
    for (int i = 0; i < o->n; i++)
        if (!(counted >> o->digit[i].range & 1)) return false;
    for (int r = 0; r < ranges; r++)
        if (tiles[r] != 1 && !(counted >> r & 1)) return false;
    return true;
}

const Order *order_keep(Arena *arena, const Order *o) {
    return o->n || o->own || o->edges ? arena_copy(arena, o, sizeof *o) : NULL;
}

Order order_of_ranges(const int16_t *range, int n) {
    Order o = {.n = n};
    for (int i = 0; i < n; i++) o.digit[i].range = range[i];
    return o;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Numbers begin .. begin + n - 1 are dealt at once. Chiplet x has n / C of them, one more where x < n mod C. As begin is a
   multiple of C, it runs the workgroups whose number in the block is x mod C. */
int64_t order_deal(const Order *o, int64_t group, int64_t tasks) {
    const int64_t c = o->chiplets, block = o->block ? (o->block + c - 1) / (c ? c : 1) * c : tasks;
    if (c < 2) return group;
    const int64_t begin = group / block * block, in = group - begin, n = least(block, tasks - begin), x = in % c;
    return begin + x * (n / c) + least(x, n % c) + in / c;
}

static int64_t digit_turned(const OrderDigit *d, int64_t x, int64_t n, int64_t before) {
    const bool down = d->way == DIGIT_DOWN || (d->way == DIGIT_TURN && before % 2);
    if (d->way == DIGIT_PAIR) return x % 2 ? n - 1 - x / 2 : x / 2;
    return down ? n - 1 - x : x;
}

/* left[r]: tiles of range r that the digits so far leave open. */
static int64_t tasks_beside(const int64_t *left, int ranges, int range) {
    int64_t n = 1;
    for (int r = 0; r < ranges; r++)
        if (r != range) n *= left[r];
    return n;
}

void order_place(const Order *o, const int64_t *tiles, int ranges, int64_t task, int64_t *tile) {
    int64_t left[2 * MAX_DIGITS], before = 0;
    memcpy(left, tiles, sizeof *left * (size_t)ranges);
    memset(tile, 0, sizeof *tile * (size_t)ranges);
    for (int i = 0; i < o->n; i++) {
        const OrderDigit *d = &o->digit[i];
        const int64_t each = tasks_beside(left, ranges, d->range) * (d->band ? d->band : 1), x = task / each;
        task %= each;
        tile[d->range] += d->band ? x * d->band : digit_turned(d, x, left[d->range], before);
        left[d->range] = d->band ? least(d->band, left[d->range] - x * d->band) : 1;
        before = x;
    }
}

int order_band(const Order *o, int rows, int columns) {
    const OrderDigit *d = o->digit + o->n;
    if (!o->n || columns < 0) return 1;
    for (int i = 0; i < o->n; i++)
        if (o->digit[i].way != DIGIT_UP || o->chiplets > 1) return 0;
    if (o->n > 1 && !d[-2].band && d[-2].range == rows && d[-1].range == columns) return 1;
    return o->n > 2 && d[-3].band && d[-3].range == rows && d[-2].range == columns && d[-1].range == rows ? d[-3].band : 0;
}

void order_text(Text *to, const Order *o, void (*range)(Text *, const void *, int), const void *state) {
    if (o->own) text_printf(to, "own %s%s", own_order_text[o->own], o->n ? " " : "");
    if (o->edges) text_add(to, o->n ? "edges " : "edges");
    if (!o->n) return;
    if (o->chiplets) text_printf(to, "chiplets %d ", o->chiplets);
    if (o->block) text_printf(to, "block %" PRId64 " ", o->block);
    text_add(to, "(");
    for (int i = 0; i < o->n; i++) {
        const OrderDigit *d = &o->digit[i];
        if (i) text_add(to, ", ");
        range(to, state, d->range);
        if (d->band) text_printf(to, " / %d", d->band);
        if (d->way) text_printf(to, " %s", digit_way_text[d->way]);
    }
    text_add(to, ")");
}
