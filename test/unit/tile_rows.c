/* tile_rows.c: tile_row.h and tile_few.h against sums in double, tile_nontemporal.h against memcpy, at random sizes and
   alignments. */
#include "device/tile_host.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 150, AROUND = 64 };

static float x[MOST], w[(MOST + 8) * (MOST + 8)], y[MOST + 1];
static char from[8192], to[8192 + 2 * AROUND];

static double number(void) { return rand() / (double)RAND_MAX - 0.5; }

static int64_t clamp(int64_t n, int64_t most) { return n < 0 ? 0 : n < most ? n : most; }

static double difference(const float *m, int64_t n, int64_t k, int64_t row, int64_t column, int64_t rows,
                         int64_t columns) {
    double worst = y[n] == 7 ? 0 : INFINITY;
    for (int64_t j = 0; j < n; j++) {
        double sum = (double)j / MOST;
        for (int64_t p = 0; p < k; p++)
            if (j < rows && p < columns) sum += (double)m[j * row + p * column] * x[p];
        worst = fmax(worst, fabs(y[j] - sum));
    }
    return worst;
}

static void start(int64_t n) {
    for (int64_t j = 0; j < n; j++) y[j] = (float)j / MOST;
    y[n] = 7;
}

static double products(void) {
    double worst = 0;
    for (int turn = 0; turn < 4000; turn++) {
        int64_t n = rand() % MOST, k = rand() % MOST, inside = rand() % 3 ? MOST : rand() % (MOST + 10) - 5;
        int64_t ld = k + rand() % 8, shift = rand() % 8;
        start(n);
        tile_row_dots(n, inside, k, x, w + shift, ld, y);
        worst = fmax(worst, difference(w + shift, n, k, ld, 1, clamp(inside, n), k));
        start(n);
        ld = n + rand() % 8;
        tile_row_sums(n, inside, k, x, w + shift, ld, y);
        worst = fmax(worst, difference(w + shift, n, k, 1, ld, n, clamp(inside, k)));
    }
    return worst;
}

/* ---- few rows times matrices of every type ---- */

enum { FEW = 20, WIDE = 40, LONG = 3000, CODES = WIDE * (LONG + 16) + 16 };

static float a[FEW * (LONG + 8)], c[FEW * (WIDE + 8)], start_of_c[FEW * (WIDE + 8)];
static union {
    float f32[CODES];
    tile_bf16 bf16[CODES];
    tile_f16 f16[CODES];
    int8_t i8[CODES];
    tile_packed i4[CODES], t2[CODES];
} codes;

typedef struct {
    int64_t m, n, inside, k, lda, first, ldw, ldc, width, lds;
} Few;

static float scale[WIDE * (LONG + 8)];

static double code_at(tile_codes type, int64_t i) {
    switch (type) {
    case TILE_CODES_f32: return (double)codes.f32[i];
    case TILE_CODES_bf16: return (double)tile_f32_of_bf16(codes.bf16[i]);
    case TILE_CODES_f16: return (double)codes.f16[i];
    case TILE_CODES_i8: return codes.i8[i];
    case TILE_CODES_i4: return tile_i4_at(codes.i4, i);
    default: return tile_t2_at(codes.t2, i);
    }
}

static void codes_draw(tile_codes type) {
    for (size_t i = 0; i < sizeof codes.i8; i++) codes.i8[i] = (int8_t)rand();
    for (int i = 0; i < CODES; i++) {
        if (type == TILE_CODES_f32) codes.f32[i] = (float)number();
        if (type == TILE_CODES_bf16) codes.bf16[i] = tile_bf16_of_f32((float)number());
        if (type == TILE_CODES_f16) codes.f16[i] = (tile_f16)number();
    }
}

static void few_call(tile_codes type, const Few *s) {
#define CALL(NAME) tile_few_##NAME(s->m, s->n, s->inside, s->k, a, s->lda, codes.NAME + s->first, s->ldw, c, s->ldc)
#define CALL_PACKED(NAME)                                                                                              \
    tile_few_##NAME(s->m, s->n, s->inside, s->k, a, s->lda, codes.NAME, s->first, s->ldw, c, s->ldc)
    switch (type) {
    case TILE_CODES_f32: CALL(f32); break;
    case TILE_CODES_bf16: CALL(bf16); break;
    case TILE_CODES_f16: CALL(f16); break;
    case TILE_CODES_i8: CALL(i8); break;
    case TILE_CODES_i4: CALL_PACKED(i4); break;
    case TILE_CODES_t2: CALL_PACKED(t2); break;
    }
}

static void few_call_scaled(tile_codes type, const Few *s) {
#define SCALED(NAME)                                                                                                   \
    tile_few_scaled_##NAME(s->m, s->n, s->k, s->width, a, s->lda, codes.NAME + s->first, s->ldw, scale, s->lds, c,     \
                           s->ldc)
#define SCALED_PACKED(NAME)                                                                                            \
    tile_few_scaled_##NAME(s->m, s->n, s->k, s->width, a, s->lda, codes.NAME, s->first, s->ldw, scale, s->lds, c,      \
                           s->ldc)
    switch (type) {
    case TILE_CODES_f32: SCALED(f32); break;
    case TILE_CODES_bf16: SCALED(bf16); break;
    case TILE_CODES_f16: SCALED(f16); break;
    case TILE_CODES_i8: SCALED(i8); break;
    case TILE_CODES_i4: SCALED_PACKED(i4); break;
    case TILE_CODES_t2: SCALED_PACKED(t2); break;
    }
}

/* The largest difference by the sum of the terms' sizes; what is not of the result must stay. */
static double few_difference(tile_codes type, const Few *s) {
    double worst = 0;
    for (int64_t i = 0; i < FEW; i++)
        for (int64_t j = 0; j < s->ldc; j++) {
            double sum = (double)start_of_c[i * s->ldc + j], size = fabs(sum) + 1e-30;
            for (int64_t p = 0; i < s->m && j < clamp(s->inside, s->n) && p < s->k; p++) {
                const double factor = s->width ? (double)scale[j * s->lds + p / s->width] : 1;
                const double term = (double)a[i * s->lda + p] * code_at(type, s->first + j * s->ldw + p) * factor;
                sum += term, size += fabs(term);
            }
            worst = fmax(worst, fabs((double)c[i * s->ldc + j] - sum) / size);
        }
    return worst;
}

static Few few_draw(int turn) {
    Few s = {.m = rand() % (FEW + 1), .n = rand() % (WIDE + 1), .k = rand() % (turn % 8 ? 200 : LONG + 1)};
    s.inside = rand() % 3 ? s.n : rand() % (WIDE + 10) - 5;
    s.lda = s.k + rand() % 8, s.ldc = s.n + rand() % 8, s.ldw = s.k + rand() % 16, s.first = rand() % 16;
    if (rand() % 2) s.ldw = (s.ldw + 3) / 4 * 4, s.first = s.first / 4 * 4;
    if (rand() % 2) return s;
    s.inside = s.n, s.width = rand() % 3 ? 64 << rand() % 5 : 1 + rand() % 300;
    s.lds = (s.k + s.width - 1) / s.width + rand() % 3;
    return s;
}

static double few(void) {
    double worst = 0;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) a[i] = (float)number();
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) start_of_c[i] = (float)number();
    for (size_t i = 0; i < sizeof scale / sizeof *scale; i++) scale[i] = (float)number();
    for (int type = TILE_CODES_f32; type <= TILE_CODES_t2; type++) {
        codes_draw((tile_codes)type);
        for (int turn = 0; turn < 120; turn++) {
            const Few s = few_draw(turn);
            memcpy(c, start_of_c, sizeof c);
            (s.width ? few_call_scaled : few_call)((tile_codes)type, &s);
            worst = fmax(worst, few_difference((tile_codes)type, &s));
        }
    }
    return worst;
}

/* What lies beyond the tensor is zero times x, which is not zero for an infinite x. */
static int infinite(void) {
    float one[1] = {INFINITY};
    y[0] = y[1] = 0;
    tile_row_dots(1, 0, 1, one, w, 1, y);
    tile_row_sums(1, 0, 1, one, w, 1, y + 1);
    y[2] = 0;
    tile_few_i8(1, 1, 0, 1, one, 1, codes.i8, 1, y + 2, 1);
    return isnan(y[0]) && isnan(y[1]) && isnan(y[2]);
}

static int copies(void) {
    for (int turn = 0; turn < 2000; turn++) {
        size_t n = (size_t)rand() % sizeof from, at = AROUND + (size_t)rand() % AROUND;
        if (at + n > sizeof to) continue;
        memset(to, 1, sizeof to);
        tile_store_nontemporal(to + at, from, n);
        tile_store_nontemporal_end();
        if (memcmp(to + at, from, n) || to[at - 1] != 1 || (at + n < sizeof to && to[at + n] != 1)) return 0;
    }
    return 1;
}

int main(void) {
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)number();
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) w[i] = (float)number();
    for (size_t i = 0; i < sizeof from; i++) from[i] = (char)rand();
    double worst = products();
    printf("products: %s (%.3g)\n", worst < 1e-4 ? "agree" : "differ", worst);
    const double few_worst = few();
    printf("few rows: %s (%.3g)\n", few_worst < 1e-6 ? "agree" : "differ", few_worst);
    printf("infinite: %s\n", infinite() ? "agree" : "differ");
    printf("copies: %s\n", copies() ? "agree" : "differ");
    return 0;
}
