/* compress_svd.c: singular values and vectors by LAPACKE, which is opened when a format first asks for them: the
   command itself does without. */
#include "driver/compress.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

Matrix matrix_new(Arena *arena, int64_t rows, int64_t columns) {
    return (Matrix){rows, columns, ARENA_ARRAY(arena, double, rows *columns + 1)};
}

enum { ROW_MAJOR = 101 /* LAPACKE's number for it */ };

typedef int Dgesdd(int layout, char job, int m, int n, double *a, int lda, double *s, double *u, int ldu, double *v,
                   int ldv);

static Dgesdd *dgesdd(void) {
    void *library = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL), *f = NULL;
    if (library) f = dlsym(library, "LAPACKE_dgesdd");
    Dgesdd *call = NULL;
    memcpy(&call, &f, sizeof call); /* C has no conversion from one to the other */
    return call;
}

static void keep(Matrix to, const Matrix *from) {
    for (int64_t i = 0; i < to.rows; i++)
        memcpy(to.at + i * to.columns, from->at + i * from->columns, (size_t)to.columns * sizeof *to.at);
}

const char *svd(Arena *arena, Matrix a, int64_t n, Matrix *u, double *s, Matrix *v) {
    const int64_t all = a.rows < a.columns ? a.rows : a.columns, kept = n < all ? n : all;
    Dgesdd *call = dgesdd();
    if (!call) return "LAPACKE is not installed (liblapacke.so.3), which finds singular values";
    if (a.rows > INT_MAX || a.columns > INT_MAX) return "the matrix is larger than LAPACKE takes";
    Arena *scratch = arena_new();
    Matrix left = matrix_new(scratch, a.rows, all), right = matrix_new(scratch, all, a.columns);
    double *values = ARENA_ARRAY(scratch, double, all + 1);
    int wrong = call(ROW_MAJOR, 'S', (int)a.rows, (int)a.columns, a.at, (int)a.columns, values, left.at, (int)all,
                     right.at, (int)a.columns);
    *u = matrix_new(arena, a.rows, kept), *v = matrix_new(arena, kept, a.columns);
    keep(*u, &left);
    keep(*v, &right);
    memset(s, 0, (size_t)n * sizeof *s);
    memcpy(s, values, (size_t)kept * sizeof *s);
    arena_free(scratch);
    return wrong ? "LAPACKE's dgesdd does not converge" : NULL;
}
