/* matrix_values.h: operands for tests of matrix instructions: small integers, exact in every type. */
#ifndef TILEC_TEST_MATRIX_VALUES_H
#define TILEC_TEST_MATRIX_VALUES_H

#include "ir/layout/layout.h"

#include <stdlib.h>
#include <string.h>

static inline int element(int row, int column, int seed, bool sign) {
    int v = (row * 7 + column * 13 + row * column * 5 + seed) % (sign ? 5 : 3);
    return sign ? v - 2 : v;
}

/* Its bits in a type; of integers the low ones count. */
static inline uint64_t encode(int v, const char *type) {
    static const struct {
        const char *type;
        uint64_t one, two, sign;
    } floats[] = {{"f16", 0x3c00, 0x4000, 0x8000},
                  {"bf16", 0x3f80, 0x4000, 0x8000},
                  {"f8e4m3", 0x38, 0x40, 0x80},
                  {"f8e5m2", 0x3c, 0x40, 0x80},
                  {"f8e4m3fnuz", 0x40, 0x48, 0x80},
                  {"f8e5m2fnuz", 0x40, 0x44, 0x80},
                  {"tf32", 0x3f800000, 0x40000000, 1u << 31},
                  {"f32", 0x3f800000, 0x40000000, 1u << 31},
                  {"f64", UINT64_C(0x3ff) << 52, UINT64_C(0x4) << 60, UINT64_C(1) << 63}};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (!strcmp(type, floats[i].type))
            return v == 0 ? 0 : (abs(v) == 1 ? floats[i].one : floats[i].two) | (v < 0 ? floats[i].sign : 0);
    return (uint64_t)(int64_t)v;
}

/* The index along a range; 0 where the layout has none of it. */
static inline int part(const Layout *l, const char *range, uint64_t index) {
    int first, d = layout_index(l, range, &first);
    return d < 0 ? 0 : (int)(index >> first & ((UINT64_C(1) << l->index[d].bits) - 1));
}

#endif
