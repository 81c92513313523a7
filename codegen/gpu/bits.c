/* bits.c: linear maps over GF(2) as C expressions of a few shifts and masks.
   Takes: a column for each bit of a variable. Gives: "(thread >> 2 & 7) * 4 + (thread & 3)" and the like. */
#include "codegen/gpu/hip.h"

#include <inttypes.h>

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

static const CExpr *field_text(Fn *f, const CExpr *v, Field d, int n) {
    bool top = d.low + d.width == n;
    int64_t mask = ((int64_t)1 << d.width) - 1;
    if (d.low == d.to && d.low) return cexpr_group(f, cexpr_open(f, "%s & %" PRId64, v->text, mask << d.low));
    const CExpr *part = v;
    if (d.low)
        part = top ? cexpr_open(f, "%s >> %d", v->text, d.low)
                   : cexpr_open(f, "%s >> %d & %" PRId64, v->text, d.low, mask);
    else if (!top)
        part = cexpr_open(f, "%s & %" PRId64, v->text, mask);
    return cexpr_mul(f, cexpr_operand(f, part), cexpr_number(f, (int64_t)1 << d.to));
}

const CExpr *bits_join(Fn *f, const CExpr *a, uint64_t a_bits, const CExpr *b, uint64_t b_bits) {
    if (cexpr_is(a, 0)) return b;
    if (cexpr_is(b, 0)) return a;
    if (!(a_bits & b_bits)) return cexpr_open(f, "%s + %s", a->text, b->text);
    return cexpr_group(f, cexpr_open(f, "%s ^ %s", cexpr_operand(f, a)->text, cexpr_operand(f, b)->text));
}

const CExpr *bits_text(Fn *f, const CExpr *v, const uint64_t *column, int n) {
    uint64_t left[64], seen = 0;
    const CExpr *sum = cexpr_number(f, 0);
    for (int b = 0; b < n; b++) left[b] = cexpr_is(v, 0) ? 0 : column[b];
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
