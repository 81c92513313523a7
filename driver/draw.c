/* draw.c: inputs drawn from a seed; the same on every machine. */
#include "driver/draw.h"

static uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Of integers: the declared range of an input, else of its type. */
static void drawn_range(const Module *m, const Tensor *t, const int64_t *sym, int64_t past, int64_t *least, uint64_t *n) {
    if (t->elem == ELEM_BOOL || t->elem == ELEM_T2) past = 2;
    *least = t->elem == ELEM_T2 ? -1 : 0;
    if (t->checked) {
        *least = size_eval(m, t->least, sym, NULL);
        past = size_eval(m, t->past, sym, NULL);
    }
    *n = past > *least ? (uint64_t)past - (uint64_t)*least : 1;
}

/* Places that are declared unique: those of the range, in a drawn order; after `range` of them they come again. */
static void distinct_draw(Array *a, int64_t least, uint64_t range, uint64_t state) {
    int64_t n = array_count(a);
    for (int64_t k = 0; k < n; k++) array_set_int(a, k, least + (int64_t)((uint64_t)k % range));
    for (int64_t k = n - 1; k > 0; k--) {
        int64_t other = (int64_t)(random_next(&state) % (uint64_t)(k + 1)), held = array_get_int(a, k);
        array_set_int(a, k, array_get_int(a, other));
        array_set_int(a, other, held);
    }
}

/* Starts of groups: from 0 to n, and about one group in four is empty. */
static void starts_draw(Array *a, int64_t n, uint64_t state) {
    int64_t each = a->ndim ? a->dim[a->ndim - 1] : 1, count = array_count(a);
    for (int64_t row = 0; row < count; row += each) {
        for (int64_t g = 0; g < each; g++) {
            uint64_t x = random_next(&state);
            bool again = g > 0 && x % 4 == 0;
            int64_t at = g + 1 == each ? n : g == 0 ? 0 : again ? array_get_int(a, row + g - 1) : (int64_t)((x >> 2) % (uint64_t)(n + 1)), k = g;
            for (; k > 0 && array_get_int(a, row + k - 1) > at; k--) array_set_int(a, row + k, array_get_int(a, row + k - 1));
            array_set_int(a, row + k, at);
        }
    }
}

/* Evenly between the declared bounds; what the element type rounds to one of them is in the middle. */
static double float_drawn(const Tensor *t, uint64_t x) {
    if (t->above == t->below) return (double)(x >> 11) * 0x1p-52 - 1.0;
    return t->above + (t->below - t->above) * ((double)(x >> 11) + 0.5) * 0x1p-53;
}

static void float_draw(Array *a, int64_t k, const Tensor *t, uint64_t x) {
    array_set(a, k, float_drawn(t, x));
    bool outside = array_get(a, k) <= t->above || array_get(a, k) >= t->below;
    if (t->above != t->below && outside) array_set(a, k, (t->above + t->below) / 2);
}

void array_draw(Array *a, const Module *m, const Program *p, const Tensor *t, const int64_t *sym, int64_t seed, int place) {
    uint64_t state = (uint64_t)seed * 1000003 + (uint64_t)place, range;
    int64_t least;
    Size of;
    if (tensor_has_starts(p, t->id, &of)) {
        starts_draw(a, size_most(m, of) > 0 ? size_eval(m, of, sym, NULL) : 0, state);
        return;
    }
    bool distinct = elem_is_int(t->elem) && tensor_has_unique_places(p, t->id);
    drawn_range(m, t, sym, distinct ? array_count(a) : 8, &least, &range);
    if (distinct) distinct_draw(a, least, range, state);
    for (int64_t k = 0, n = distinct ? 0 : array_count(a); k < n; k++) {
        uint64_t x = random_next(&state);
        if (elem_is_float(a->elem))
            float_draw(a, k, t, x);
        else
            array_set_int(a, k, least + (int64_t)(x % range));
    }
}
