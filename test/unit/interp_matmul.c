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

/* ---- the error to expect ---- */

static void fill_random(Array *a, uint64_t *state) {
    for (int64_t i = 0; i < array_count(a); i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        array_set(a, i, (double)(*state >> 33) * 0x1p-30 - 1);
    }
}

/* To 8 binary places, as bf16; its bound is a unit, times what the kind of bounds makes of one rounding. */
static Array rounded(Arena *arena, const Array *a, double times) {
    Array b = *a;
    array_new(arena, a->elem, a->ndim, a->dim, &b);
    b.bound = ARENA_ARRAY(arena, double, array_count(a));
    for (int64_t i = 0; i < array_count(a); i++) {
        double x = array_get(a, i);
        int exponent;
        frexp(x, &exponent);
        array_set(&b, i, ldexp(rint(ldexp(x, 8 - exponent)), exponent - 8));
        b.bound[i] = times * ldexp(fabs(x), -8);
    }
    return b;
}

static Array product_of(Bench *t, const Array *io, bool expected) {
    InterpReport report;
    Array *in = bench_arrays(t, NULL);
    in[0] = rounded(t->a, &io[0], expected ? 6 : 1), in[1] = io[1];
    CHECK(bench_run(t, (InterpOptions){.bounds = true, .expected = expected}, in, &report));
    return in[2];
}

/* Sums of 4000 products of what was rounded: the errors are within the expected bound, which is far below the worst
   case, and not far below it themselves. */
static void check_expected(void) {
    enum { M = 8, N = 8, K = 4000 };
    Bench t = matmul_of(ELEM_F32, ELEM_F32, M, N, K, (int64_t[]){8, 8, 64});
    Array *io = bench_arrays(&t, NULL);
    uint64_t state = 7;
    double nearest = 0;
    fill_random(&io[0], &state), fill_random(&io[1], &state);
    Array worst = product_of(&t, io, false), expected = product_of(&t, io, true);
    for (int64_t i = 0; i < M * N; i++) {
        double off = fabs(array_get(&expected, i) - exact_at(io, i / N, i % N));
        CHECK(off <= expected.bound[i] && expected.bound[i] < worst.bound[i] / 5);
        nearest = fmax(nearest, off / expected.bound[i]);
    }
    CHECK(nearest > 0.1);
    arena_free(t.a);
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
    check_expected();
    return failures != 0;
}
