/* cast.c: between element types, between memory and lanes.
   A lane holds values that its element type has: conversions round, integers wrap, floats become integers towards zero
   and saturate. */
#include "base/half.h"
#include "ir/interp/state.h"

#include <math.h>
#include <string.h>

int64_t int_wrap(Elem e, int64_t x) {
    switch (e) {
    case ELEM_I32: return (int32_t)x;
    case ELEM_I16: return (int16_t)x;
    case ELEM_I8: return (int8_t)x;
    case ELEM_U8: return (uint8_t)x;
    case ELEM_I4: return (int64_t)((uint64_t)x << 60) >> 60;
    case ELEM_T2: return (int64_t)((uint64_t)x << 62) >> 62;
    case ELEM_BOOL: return x & 1;
    default: return x;
    }
}

void ints_wrap(Elem e, int64_t n, int64_t *x) {
    if (e == ELEM_I64) return;
    for (int64_t i = 0; i < n; i++) x[i] = int_wrap(e, x[i]);
}

static void int_limits(Elem e, int64_t *lo, int64_t *hi) {
    *hi = e == ELEM_U8 ? 255 : (int64_t)(((uint64_t)1 << (elem_bits(e) - 1)) - 1);
    *lo = e == ELEM_U8 ? 0 : -*hi - 1;
}

static int64_t float_to_int(Elem to, double x) {
    int64_t lo, hi;
    if (to == ELEM_BOOL) return x != 0;
    int_limits(to, &lo, &hi);
    if (isnan(x)) return 0;
    if (x <= (double)lo) return lo;
    return x >= (double)hi ? hi : (int64_t)x;
}

static float round_to(Elem to, double x) {
    if (to == ELEM_F32) return (float)x;
    return (float)float_decode(to, float_encode(to, x));
}

static void floats_to_bf16(int64_t n, const float *x, float *z) {
    for (int64_t i = 0; i < n; i++) z[i] = bf16_decode(bf16_encode(x[i]));
}

static double exact(Lane l, const void *x, int64_t i) { return lane_get(l, x, i); }

static void convert_float(Elem from, Elem to, int64_t n, const void *x, void *z) {
    Lane l = lane_of(from);
    if (to == ELEM_BF16 && l == LANE_FLOAT) {
        floats_to_bf16(n, x, z);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        if (lane_of(to) == LANE_INT)
            ((int64_t *)z)[i] = float_to_int(to, exact(l, x, i));
        else if (to == ELEM_F64)
            ((double *)z)[i] = exact(l, x, i);
        else
            ((float *)z)[i] = round_to(to, exact(l, x, i));
    }
}

static void convert_int(Elem to, int64_t n, const int64_t *x, void *z) {
    for (int64_t i = 0; i < n; i++) {
        if (to == ELEM_BOOL)
            ((int64_t *)z)[i] = x[i] != 0;
        else if (lane_of(to) == LANE_INT)
            ((int64_t *)z)[i] = int_wrap(to, x[i]);
        else if (to == ELEM_F64)
            ((double *)z)[i] = (double)x[i];
        else if (to == ELEM_F32)
            ((float *)z)[i] = (float)x[i];
        else
            ((float *)z)[i] = round_to(to, (double)x[i]);
    }
}

void tile_convert(Elem from, Elem to, int64_t n, const void *x, void *z) {
    if (from == to)
        memcpy(z, x, (size_t)n * lane_bytes(lane_of(to)));
    else if (lane_of(from) == LANE_INT)
        convert_int(to, n, x, z);
    else
        convert_float(from, to, n, x, z);
}

/* Elements whose offset is negative do not exist: they read 0. */
#define LOAD_EACH(L, T, decode)                                                                                        \
    for (int64_t i = 0; i < n; i++) ((L *)lane)[i] = offset[i] < 0 ? 0 : (L)(decode(((const T *)memory)[offset[i]]));  \
    break

static void load_small(Elem e, const uint8_t *memory, const int64_t *offset, int64_t n, float *lane) {
    for (int64_t i = 0; i < n; i++) lane[i] = offset[i] < 0 ? 0 : (float)float_decode(e, memory[offset[i]]);
}

void elems_load(Elem e, const void *memory, const int64_t *offset, int64_t n, void *lane) {
    switch (e) {
    case ELEM_F64: LOAD_EACH(double, double, );
    case ELEM_F32: LOAD_EACH(float, float, );
    case ELEM_BF16: LOAD_EACH(float, uint16_t, bf16_decode);
    case ELEM_F16: LOAD_EACH(float, uint16_t, f16_decode);
    case ELEM_I64: LOAD_EACH(int64_t, int64_t, );
    case ELEM_I32: LOAD_EACH(int64_t, int32_t, );
    case ELEM_I16: LOAD_EACH(int64_t, int16_t, );
    case ELEM_U8:
    case ELEM_BOOL: LOAD_EACH(int64_t, uint8_t, );
    case ELEM_I8:
    case ELEM_I4:
    case ELEM_T2: LOAD_EACH(int64_t, int8_t, );
    default: load_small(e, memory, offset, n, lane);
    }
}

static void store_fast_f32(float *memory, const int64_t *offset, int64_t n, const float *lane) {
    for (int64_t i = 0; i < n; i++)
        if (offset[i] >= 0) memory[offset[i]] = lane[i];
}

static void store_one(Array *a, int64_t at, Lane l, const void *lane, int64_t i, bool add) {
    bool whole = lane_of(a->elem) == LANE_INT;
    if (l == LANE_INT && whole) {
        int64_t x = ((const int64_t *)lane)[i];
        array_set_int(a, at, int_wrap(a->elem, add ? (int64_t)((uint64_t)x + (uint64_t)array_get_int(a, at)) : x));
    } else if (whole) {
        array_set_int(a, at, float_to_int(a->elem, lane_get(l, lane, i)));
    } else {
        double x = lane_get(l, lane, i);
        if (add) x = a->elem == ELEM_F64 ? array_get(a, at) + x : (float)array_get(a, at) + (float)x;
        array_set(a, at, x);
    }
}

void elems_store(Elem e, void *memory, const int64_t *offset, int64_t n, Lane l, const void *lane, bool add) {
    if (e == ELEM_F32 && l == LANE_FLOAT && !add) {
        store_fast_f32(memory, offset, n, lane);
        return;
    }
    Array a = {.elem = e, .data = memory};
    for (int64_t i = 0; i < n; i++)
        if (offset[i] >= 0) store_one(&a, offset[i], l, lane, i, add);
}
