/* npy.c: .npy files of every type come back as written; foreign orders are undone; wrong files name their byte. */
#include "base/npy.h"
#include "test/unit/check.h"

#include <string.h>

static int failures;

static void check_round_trip(Arena *a, Elem e, int ndim) {
    int64_t dim[3] = {3, 1, 5};
    Array x, y;
    CHECK(array_new(a, e, ndim, dim, &x));
    for (int64_t i = 0; i < array_count(&x); i++) array_set(&x, i, (double)(i % 2));
    Text t = {0};
    npy_write(&t, &x);
    CHECK(t.n % 64 == (size_t)array_count(&x) * elem_bytes(e) % 64);
    CHECK(!npy_read(a, t.p, t.n, e, &y));
    CHECK(y.elem == e && y.ndim == ndim && memcmp(x.dim, y.dim, sizeof x.dim) == 0);
    for (int64_t i = 0; i < array_count(&y); i++) CHECK(array_get(&y, i) == (double)(i % 2));
    text_free(&t);
}

static size_t file_of(char *out, int major, const char *header, const void *data, size_t n) {
    size_t h = strlen(header), prefix = major == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)major;
    out[7] = 0;
    for (size_t i = 8; i < prefix; i++) out[i] = (char)(h >> (8 * (i - 8)));
    memcpy(out + prefix, header, h);
    if (n) memcpy(out + prefix + h, data, n);
    return prefix + h + n;
}

static const char *read_of(Arena *a, int major, const char *header, const void *data, size_t n, Array *out) {
    char file[512];
    return npy_read(a, file, file_of(file, major, header, data, n), ELEM_COUNT, out);
}

static void check_orders(Arena *a) {
    static const unsigned char big[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6};
    static const int expected[] = {1, 3, 5, 2, 4, 6};
    Array x;
    const char *header = "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3)}\n";
    for (int major = 1; major <= 3; major++) {
        CHECK(!read_of(a, major, header, big, sizeof big, &x));
        for (int i = 0; i < 6; i++) CHECK(array_get_int(&x, i) == expected[i]);
    }
    CHECK(!read_of(a, 1, "{\"shape\": (), \"descr\": '|b1', 'fortran_order':False,}", "\1", 1, &x));
    CHECK(x.ndim == 0 && x.elem == ELEM_BOOL);
    CHECK(!read_of(a, 1, "{'shape': (0, 4), 'descr': 'bfloat16', 'fortran_order': False}", "", 0, &x));
    CHECK(x.elem == ELEM_BF16 && array_count(&x) == 0);
}

static void check_error(Arena *a, const char *header, size_t n, const char *message) {
    static const char data[64] = {7};
    Array x;
    const char *error = read_of(a, 1, header, data, n, &x);
    if (!error || strcmp(error, message) != 0) fprintf(stderr, "%s\n  gives: %s\n", header, error ? error : "nothing");
    CHECK(error && strcmp(error, message) == 0);
}

static void check_errors(Arena *a) {
    check_error(a, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 8,
                "byte 65: the shape needs 12 bytes of data, the file has 8");
    check_error(a, "{'descr': '<c8'}", 0, "byte 25: type '<c8' is not supported");
    check_error(a, "{'descr': [('a', '<f4')]}", 0, "byte 20: structured types are not supported");
    check_error(a, "{'descr': '<f4', 'fortran_order': 0}", 0, "byte 44: expected True or False");
    check_error(a, "{'descr': '<f4', 'descr': '<f4'}", 0, "byte 27: unexpected key");
    check_error(a, "{'shape': (99999999999999999999,)}", 0, "byte 39: number too large");
    check_error(a, "{'shape': (1,1,1,1,1,1,1,1,1)}", 0, "byte 37: more than 8 dimensions");
    check_error(a, "{'shape': (1,)", 0, "byte 24: expected ',' or '}'");
    check_error(a, "{'shape': (1,)}", 0, "byte 25: 'descr', 'fortran_order' or 'shape' is missing");
    check_error(a, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0,
                "byte 85: the array is too large");
    check_error(a, "{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", 1, "byte 65: 7 is not a bool");
    check_error(a, "{'descr': '|V1', 'fortran_order': False, 'shape': (1,)}", 1, "byte 65: no element type is 'V1'");
    check_error(a, "{} x", 0, "byte 13: text after the header's dictionary");
    Array x;
    CHECK(!strcmp(npy_read(a, "\x93NUMPX", 6, ELEM_COUNT, &x), "byte 5: not an .npy file"));
    CHECK(!strcmp(npy_read(a, "\x93NUMPY\4\0  ", 10, ELEM_COUNT, &x), "byte 6: unknown version of the format"));
    CHECK(!strcmp(npy_read(a, "\x93NUMPY\1\0\xff\xff", 10, ELEM_COUNT, &x),
                  "byte 8: the header's length is past the end of the file"));
}

int main(void) {
    Arena *a = arena_new();
    for (int e = 0; e < ELEM_COUNT; e++)
        for (int ndim = 0; ndim <= 3; ndim++) check_round_trip(a, (Elem)e, ndim);
    check_orders(a);
    check_errors(a);
    arena_free(a);
    return failures != 0;
}
