/* npy.c: libFuzzer target: no bytes crash the .npy reader, and what it takes it writes and reads again the same. */
#include "base/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_again(Arena *a, const Array *x) {
    Text t = {0};
    Array y;
    npy_write(&t, x);
    if (npy_read(a, t.p, t.n, x->elem, &y)) abort();
    size_t bytes = (size_t)array_count(x) * elem_bytes(x->elem);
    if (y.elem != x->elem || y.ndim != x->ndim || (bytes && memcmp(x->data, y.data, bytes) != 0)) abort();
    text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n == 0) return 0;
    Arena *a = arena_new();
    Array x;
    if (!npy_read(a, (const char *)data + 1, n - 1, (Elem)(data[0] % (ELEM_COUNT + 1)), &x)) check_again(a, &x);
    arena_free(a);
    return 0;
}
