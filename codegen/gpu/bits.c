/* bits.c: linear maps over GF(2) as C expressions of a few shifts and masks.
   Takes: a column for each bit of a variable. Gives: "(thread >> 2 & 7) * 4 + (thread & 3)" and the like. */
#include "codegen/gpu/hip.h"

#include <inttypes.h>
#include <string.h>

/* A field of the variable: bits from `low`, `width` of them, moved up to bit `to`. */
typedef struct {
    int low, width, to;
} Field;

static int lowest(uint64_t x) { return __builtin_ctzll(x); }

/* The longest run of bits from `low` that moves bit `to` and those above it, if column[low] has it. */
static Field field_from(const uint64_t *column, int n, int low, int to) {
    Field f = {low, 0, to};
    while (low + f.width < n && column[low + f.width] >> (to + f.width) & 1) f.width++;
    return f;
}

static const char *field_text(Fn *f, const char *v, Field d, int n) {
    bool top = d.low + d.width == n;
    int64_t mask = ((int64_t)1 << d.width) - 1;
    if (d.low == d.to && d.low) return fn_text(f, "(%s & %" PRId64 ")", v, mask << d.low);
    const char *part = d.low ? fn_text(f, top ? "%s >> %d" : "%s >> %d & %" PRId64, v, d.low, mask)
                             : top ? v : fn_text(f, "%s & %" PRId64, v, mask);
    if (d.to == 0) return part == v ? v : fn_text(f, "(%s)", part);
    return fn_text(f, part == v ? "%s * %" PRId64 : "(%s) * %" PRId64, part, (int64_t)1 << d.to);
}

const char *bits_join(Fn *f, const char *a, uint64_t a_bits, const char *b, uint64_t b_bits) {
    if (a[0] == '0' && !a[1]) return b;
    if (b[0] == '0' && !b[1]) return a;
    return a_bits & b_bits ? fn_text(f, "(%s ^ %s)", text_atom(f, a), text_atom(f, b)) : fn_text(f, "%s + %s", a, b);
}

const char *bits_text(Fn *f, const char *v, const uint64_t *column, int n) {
    uint64_t left[64], seen = 0;
    const char *sum = "0";
    for (int b = 0; b < n; b++) left[b] = strcmp(v, "0") ? column[b] : 0;
    for (int b = 0; b < n; b++)
        while (left[b]) {
            Field d = field_from(left, n, b, lowest(left[b]));
            uint64_t moved = ((UINT64_C(1) << d.width) - 1) << d.to;
            for (int i = 0; i < d.width; i++) left[b + i] &= ~(UINT64_C(1) << (d.to + i));
            sum = bits_join(f, sum, seen, field_text(f, v, d, n), moved);
            seen |= moved;
        }
    return sum;
}
