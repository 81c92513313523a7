/* compress_factors.c: formats that are products of smaller matrices: the nearest ones by singular values. Eckart and
   Young, Psychometrika 1 (1936); Van Loan and Pitsianis, Approximation with Kronecker products (1993), for `kron`. */
#include "driver/compress.h"

#include <math.h>

enum { A, B, C };

static int64_t extent(const Form *f, int part, int d) { return f->part[part].dim[d]; }

static void add(Matrix *w, int64_t i, int64_t j, double x) { w->at[i * w->columns + j] += x; }

static double at(const Matrix *w, int64_t i, int64_t j) { return w->at[i * w->columns + j]; }

/* Where a factor lies: the tensor, its first element, and how far the next row's is. */
typedef struct {
    int part;
    int64_t from, step;
} Place;

/* Both factors take the root of a singular value: so numbers of few bits hold both. */
static void take_factors(Form *f, Place left, Place right, const Matrix *u, const double *s, const Matrix *v) {
    for (int64_t r = 0; r < u->columns; r++) {
        const double root = sqrt(s[r]);
        for (int64_t i = 0; i < u->rows; i++)
            array_set(&f->part[left.part], left.from + i * left.step + r, at(u, i, r) * root);
        for (int64_t j = 0; j < v->columns; j++)
            array_set(&f->part[right.part], right.from + r * right.step + j, at(v, r, j) * root);
    }
}

static const char *nearest(Form *f, Matrix a, int64_t rank, Place left, Place right) {
    Matrix u, v;
    double *s = ARENA_ARRAY(f->arena, double, rank + 1);
    if (!a.rows || !a.columns || !rank) return NULL;
    const char *failed = svd(f->arena, a, rank, &u, s, &v);
    if (!failed) take_factors(f, left, right, &u, s, &v);
    return failed;
}

/* ---- W = A B ---- */

bool lowrank_shape(const Form *f, int64_t *rows, int64_t *columns) {
    *rows = extent(f, A, 0), *columns = extent(f, B, 1);
    return extent(f, A, 1) == extent(f, B, 0);
}

const char *lowrank_fill(Form *f, const Matrix *w) {
    Matrix a = matrix_new(f->arena, w->rows, w->columns);
    for (int64_t i = 0; i < w->rows * w->columns; i++) a.at[i] = w->at[i];
    return nearest(f, a, extent(f, B, 0), (Place){A, 0, extent(f, A, 1)}, (Place){B, 0, extent(f, B, 1)});
}

void lowrank_expand(const Form *f, Matrix *w) {
    const int64_t rank = extent(f, B, 0);
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t r = 0; r < rank; r++)
            for (int64_t j = 0; j < w->columns; j++)
                add(w, i, j, array_get(&f->part[A], i * rank + r) * array_get(&f->part[B], r * w->columns + j));
}

/* ---- the first rows are A; below, each of some blocks of columns is a column of C times a row ---- */

typedef struct {
    int64_t kept, blocks, below, width;
} Hybrid;

static Hybrid hybrid_of(const Form *f) {
    const bool several = f->part[B].ndim == 2;
    return (Hybrid){extent(f, A, 0), several ? extent(f, B, 0) : 1, extent(f, B, several), extent(f, C, several)};
}

bool hybrid_shape(const Form *f, int64_t *rows, int64_t *columns) {
    const Hybrid h = hybrid_of(f);
    *rows = h.kept + h.below, *columns = h.blocks * h.width;
    return extent(f, A, 1) == *columns && (f->part[B].ndim == 1 || extent(f, C, 0) == h.blocks);
}

static void take_rows(Form *f, const Matrix *w, int64_t n) {
    for (int64_t i = 0; i < n * w->columns; i++) array_set(&f->part[A], i, w->at[i]);
}

static void add_rows(const Form *f, Matrix *w, int64_t n) {
    for (int64_t i = 0; i < n * w->columns; i++) w->at[i] += array_get(&f->part[A], i);
}

const char *hybrid_fill(Form *f, const Matrix *w) {
    const Hybrid h = hybrid_of(f);
    const char *failed = NULL;
    take_rows(f, w, h.kept);
    for (int64_t e = 0; e < h.blocks && !failed; e++) {
        Matrix block = matrix_new(f->arena, h.below, h.width);
        for (int64_t i = 0; i < h.below; i++)
            for (int64_t j = 0; j < h.width; j++) add(&block, i, j, at(w, h.kept + i, e * h.width + j));
        failed = nearest(f, block, 1, (Place){B, e * h.below, 1}, (Place){C, e * h.width, 1});
    }
    return failed;
}

void hybrid_expand(const Form *f, Matrix *w) {
    const Hybrid h = hybrid_of(f);
    add_rows(f, w, h.kept);
    for (int64_t e = 0; e < h.blocks; e++)
        for (int64_t i = 0; i < h.below; i++)
            for (int64_t j = 0; j < h.width; j++)
                add(w, h.kept + i, e * h.width + j,
                    array_get(&f->part[B], e * h.below + i) * array_get(&f->part[C], e * h.width + j));
}

/* ---- W[i r + u, j s + v] = X[i, j] Y[u, v], below rows that are A, if there are three tensors ---- */

typedef struct {
    int first; /* tensor X; Y is the next one */
    int64_t kept, p, q, r, s;
} Kron;

static Kron kron_of(const Form *f) {
    const int x = f->kind->part[C].name ? B : A;
    return (Kron){
        x, x ? extent(f, A, 0) : 0, extent(f, x, 0), extent(f, x, 1), extent(f, x + 1, 0), extent(f, x + 1, 1)};
}

bool kron_shape(const Form *f, int64_t *rows, int64_t *columns) {
    const Kron k = kron_of(f);
    *rows = k.kept + k.p * k.r, *columns = k.q * k.s;
    return !k.first || extent(f, A, 1) == *columns;
}

/* Rows are places of X, columns those of Y: a matrix of rank 1 if W is such a product. */
const char *kron_fill(Form *f, const Matrix *w) {
    const Kron k = kron_of(f);
    Matrix places = matrix_new(f->arena, k.p * k.q, k.r * k.s);
    if (k.first) take_rows(f, w, k.kept);
    for (int64_t i = 0; i < k.p * k.q; i++)
        for (int64_t u = 0; u < k.r * k.s; u++)
            add(&places, i, u, at(w, k.kept + i / k.q * k.r + u / k.s, i % k.q * k.s + u % k.s));
    return nearest(f, places, 1, (Place){k.first, 0, 1}, (Place){k.first + 1, 0, 1});
}

void kron_expand(const Form *f, Matrix *w) {
    const Kron k = kron_of(f);
    if (k.first) add_rows(f, w, k.kept);
    for (int64_t i = 0; i < k.p * k.q; i++)
        for (int64_t u = 0; u < k.r * k.s; u++)
            add(w, k.kept + i / k.q * k.r + u / k.s, i % k.q * k.s + u % k.s,
                array_get(&f->part[k.first], i) * array_get(&f->part[k.first + 1], u));
}
