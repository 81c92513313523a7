/* draw.c: inputs drawn from a seed; the same on every machine. */
#include "driver/draw.h"

static uint64_t random_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t integer_of(Elem e, uint64_t x) {
    if (e == ELEM_T2) return (int64_t)(x % 3) - 1;
    return (int64_t)(x % (e == ELEM_BOOL ? 2 : 8));
}

void array_draw(Array *a, int64_t seed, int place) {
    uint64_t state = (uint64_t)seed * 1000003 + (uint64_t)place;
    for (int64_t k = 0, n = array_count(a); k < n; k++) {
        uint64_t x = random_next(&state);
        if (elem_is_float(a->elem)) array_set(a, k, (double)(x >> 11) * 0x1p-52 - 1.0);
        else array_set_int(a, k, integer_of(a->elem, x));
    }
}
