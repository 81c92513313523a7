/* compress.h: tilec compress: the tensors of a weight format whose matrix is nearest to a dense one. */
#ifndef TILEC_DRIVER_COMPRESS_H
#define TILEC_DRIVER_COMPRESS_H

#include "base/array.h"

enum { FORM_PARTS = 3 /* tensors of a format, at most */ };

/* A matrix in memory, row-major. */
typedef struct {
    int64_t rows, columns;
    double *at;
} Matrix;

/* A format with its tensors, as a program writes it behind `as`. */
typedef struct {
    const struct FormKind *kind;
    Arena *arena;
    Array part[FORM_PARTS];
} Form;

/* A format of std/formats.tile. */
typedef struct FormKind {
    const char *name;
    struct {
        const char *name;
        Elem elem; /* ELEM_COUNT: the matrix' own */
        int ndim;
    } part[FORM_PARTS];
    bool (*shape)(const Form *, int64_t *rows, int64_t *columns); /* false: the tensors do not fit each other */
    const char *(*fill)(Form *, const Matrix *);                  /* NULL, or a message */
    void (*expand)(const Form *, Matrix *);                       /* what the tensors stand for */
} FormKind;

int form_parts(const FormKind *);

/* compress_form.c: the format that the text names, of a matrix of so many rows and columns. NULL, or a message. */
const char *form_parse(Arena *, const char *text, Elem, const int64_t dim[2], Form *out);

/* compress_factors.c: products of smaller matrices. */
bool lowrank_shape(const Form *, int64_t *, int64_t *), hybrid_shape(const Form *, int64_t *, int64_t *),
    kron_shape(const Form *, int64_t *, int64_t *);
const char *lowrank_fill(Form *, const Matrix *), *hybrid_fill(Form *, const Matrix *),
    *kron_fill(Form *, const Matrix *);
void lowrank_expand(const Form *, Matrix *), hybrid_expand(const Form *, Matrix *), kron_expand(const Form *, Matrix *);

/* compress_codes.c: small integers with scales. */
bool codes_shape(const Form *, int64_t *, int64_t *);
const char *codes_fill(Form *, const Matrix *);
void codes_expand(const Form *, Matrix *);

/* compress_svd.c. svd: a = u diag(s) v, the n largest of s, by LAPACKE's dgesdd; `a` is used up. NULL, or a message. */
Matrix matrix_new(Arena *, int64_t rows, int64_t columns); /* zeros */
const char *svd(Arena *, Matrix a, int64_t n, Matrix *u, double *s, Matrix *v);

#endif
