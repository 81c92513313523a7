/* freestanding.c: runs the programs of freestanding.tile and compares. */
#include "bytes.h"
#include "chain.h"
#include "counts.h"
#include "groups.h"
#include "sums.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

_Static_assert(chain_ARENA_BYTES < 2 * 4096 + 4096, "temporaries share memory");

#define CHECK(c) \
    if (!(c)) return printf("%s:%d: %s\n", __FILE__, __LINE__, #c), 1

static _Alignas(64) char arena[1 << 16];

static int words_check(void) {
    const float table[] = {1, 2, 3, 4, 5, 6, 7};
    int32_t ids[100], calls = 41, n = 0;
    float y[100] = {0};
    for (int i = 0; i < 100; i++) ids[i] = i % 7;
    words_args args = {.ids = ids, .table = table, .calls = &calls, .y = y, .n = &n, .S = 37};
    CHECK(words_run(&args, arena) == 0 && calls == 42 && n == 42);
    for (int i = 0; i < 100; i++) CHECK(y[i] == (i < 37 ? 2 * table[i % 7] : 0));
    ids[36] = 7;
    CHECK(words_run(&args, arena) == -9 && calls == 42);
    ids[36] = -1;
    CHECK(words_run(&args, arena) == -9 && calls == 42);
    args.S = 101;
    CHECK(words_run(&args, arena) == -1 && calls == 42);
    args.S = -1;
    CHECK(words_run(&args, arena) == -1 && calls == 42);
    args.S = 36;
    CHECK(words_run(&args, arena) == 0 && calls == 43);
    return 0;
}

static int bytes_check(void) {
    const uint8_t u[] = {0, 1, 127, 128, 200, 254, 255};
    int8_t x[] = {-128, -1, 0, 1, 50, 98, 99}, z[7];
    int32_t y[7];
    const bytes_args args = {.u = u, .x = x, .y = y, .z = z};
    CHECK(bytes_run(&args, arena) == 0);
    for (int i = 0; i < 7; i++) CHECK(y[i] == u[i] && z[i] == x[i]);
    x[0] = 100;
    CHECK(bytes_run(&args, arena) == -9);
    return 0;
}

static int sums_check(void) {
    int64_t x[40], y[40], sum = 0;
    for (int i = 0; i < 40; i++) x[i] = i * i - 7;
    CHECK(sums_run(&(sums_args){.x = x, .up = 1, .y = y}, arena) == 0);
    for (int i = 0; i < 40; i++) {
        sum += x[i];
        CHECK(y[i] == sum);
    }
    CHECK(sums_run(&(sums_args){.x = x, .up = 0, .y = y}, arena) == 0 && y[39] == 2 * x[39]);
    return 0;
}

static int groups_check(void) {
    int32_t x[40], y[40] = {0}, start[] = {0, 17, 17, 40};
    for (int i = 0; i < 40; i++) x[i] = i;
    CHECK(groups_run(&(groups_args){.x = x, .start = start, .y = y}, arena) == 0);
    for (int i = 0; i < 40; i++) CHECK(y[i] == 10 * i + (i < 17 ? 0 : 2));
    start[1] = 41;
    CHECK(groups_run(&(groups_args){.x = x, .start = start, .y = y}, arena) == -9);
    return 0;
}

static int chain_check(void) {
    int32_t x[1000], y[1000];
    for (int i = 0; i < 1000; i++) x[i] = i;
    CHECK(chain_run(&(chain_args){.x = x, .y = y}, arena) == 0);
    for (int i = 0; i < 1000; i++) CHECK(y[i] == i + 6);
    return 0;
}

static int counts_check(void) {
    int32_t x[40];
    int64_t y[7];
    for (int i = 0; i < 40; i++) x[i] = i * i % 7;
    memset(arena, 0x77, sizeof arena);
    CHECK(counts_run(&(counts_args){.x = x, .y = y}, arena) == 0);
    for (int k = 0; k < 7; k++) {
        int n = 0;
        for (int i = 0; i < 40; i++) n += 2 * (x[i] == k);
        CHECK(y[k] == n);
    }
    return 0;
}

int main(void) { return words_check() || bytes_check() || sums_check() || groups_check() || chain_check() || counts_check(); }
