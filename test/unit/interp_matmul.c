/* interp_matmul.c: ragged tiles of every kind of element against a plain loop; the order of additions does not depend
   on the tiles; what two orders differ by is within the bound. */
#include "test/unit/interp_build.h"

#include <string.h>

static int failures;

static Bench matmul_of(Elem e, Elem out, int64_t m, int64_t n, int64_t k, const int64_t *tile) {
    Bench t = bench_new(0);
    Size M = size_number(m), N = size_number(n), K = size_number(k);
    bench_matmul_kernel(&t, e, out, M, N, K, tile);
    int A = bench_tensor(&t, "A", e, ROLE_INPUT, 2, (Size[]){M, K}),
        B = bench_tensor(&t, "B", e, ROLE_INPUT, 2, (Size[]){K, N});
    int C = bench_tensor(&t, "C", out, ROLE_OUTPUT, 2, (Size[]){M, N});
    bench_call(&t, (int[]){A, B, C}, 3);
    return t;
}

static double exact_at(const Array *io, int64_t i, int64_t j) {
    double s = 0;
    for (int64_t p = 0; p < io[0].dim[1]; p++)
        s += array_get(&io[0], i * io[0].dim[1] + p) * array_get(&io[1], p * io[1].dim[1] + j);
    return s;
}

static void check_exact(Elem e, Elem out, int64_t m, int64_t n, int64_t k, const int64_t *tile) {
    Bench t = matmul_of(e, out, m, n, k, tile);
    Array *io = bench_arrays(&t, NULL);
    InterpReport report;
    CHECK(bench_run(&t, (InterpOptions){0}, io, &report));
    Array one;
    array_new(t.a, out, 0, NULL, &one);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            array_set(&one, 0, exact_at(io, i, j));
            CHECK(array_get(&io[2], i * n + j) == array_get(&one, 0));
        }
    arena_free(t.a);
}

static void fill_thirds(Array *a) {
    for (int64_t i = 0; i < array_count(a); i++) array_set(a, i, (double)(i % 11) / 3 - 1.7);
}

static void check_order_and_bound(void) {
    Bench kept[3];
    Array *first = NULL;
    const int64_t tiles[][3] = {{64, 64, 64}, {7, 64, 5}, {33, 9, 1}};
    for (int k = 0; k < 3; k++) {
        Bench t = kept[k] = matmul_of(ELEM_F32, ELEM_F32, 40, 30, 70, tiles[k]);
        Array *io = bench_arrays(&t, NULL);
        InterpReport report;
        fill_thirds(&io[0]), fill_thirds(&io[1]);
        CHECK(bench_run(&t, (InterpOptions){.bounds = true}, io, &report));
        if (!first) first = io;
        CHECK(memcmp(first[2].data, io[2].data, 40 * 30 * sizeof(float)) == 0);
        for (int64_t i = 0; i < 40 * 30; i++) {
            double off = fabs(array_get(&io[2], i) - exact_at(io, i / 30, i % 30));
            CHECK(off <= io[2].bound[i] && io[2].bound[i] < 0.1);
        }
    }
    for (int k = 0; k < 3; k++) arena_free(kept[k].a);
}

int main(int argc, char **argv) {
    const int64_t even[] = {4, 4, 4}, odd[] = {5, 3, 7}, large[] = {128, 256, 64};
    if (argc > 1) {
        check_exact(ELEM_F32, ELEM_F32, atoi(argv[1]), atoi(argv[1]), atoi(argv[1]), large);
        return failures != 0;
    }
    check_exact(ELEM_F32, ELEM_F32, 8, 12, 16, even);
    check_exact(ELEM_F32, ELEM_F32, 13, 11, 17, odd);
    check_exact(ELEM_BF16, ELEM_F32, 13, 11, 17, odd);
    check_exact(ELEM_F16, ELEM_BF16, 13, 11, 17, odd);
    check_exact(ELEM_F8E4M3, ELEM_F32, 5, 6, 7, odd);
    check_exact(ELEM_F64, ELEM_F64, 13, 11, 17, odd);
    check_exact(ELEM_I8, ELEM_I32, 13, 11, 17, odd);
    check_exact(ELEM_I32, ELEM_I32, 3, 300, 5, large);
    check_exact(ELEM_F32, ELEM_F32, 3, 2, 0, odd);
    check_order_and_bound();
    return failures != 0;
}
