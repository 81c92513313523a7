/* tile_rows.c: tile_row.h against sums in double, tile_nontemporal.h against memcpy, at random sizes and alignments. */
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

/* What lies beyond the tensor is zero times x, which is not zero for an infinite x. */
static int infinite(void) {
    float one[1] = {INFINITY};
    y[0] = y[1] = 0;
    tile_row_dots(1, 0, 1, one, w, 1, y);
    tile_row_sums(1, 0, 1, one, w, 1, y + 1);
    return isnan(y[0]) && isnan(y[1]);
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
    printf("infinite: %s\n", infinite() ? "agree" : "differ");
    printf("copies: %s\n", copies() ? "agree" : "differ");
    return 0;
}
