/* compress_codes.c: formats of small integers with a scale for each row, or for each group of a row's columns: the
   codes and the scale that are nearest. */
#include "driver/compress.h"

#include <math.h>
#include <stdlib.h>

enum { Q, SCALE };

/* The numbers that have a scale in common, and where they and the scale are. */
typedef struct {
    const double *x;
    int64_t n, from, scale;
} Group;

static int64_t groups_of(const Form *f) { return f->part[SCALE].ndim == 2 ? f->part[SCALE].dim[1] : 1; }

bool codes_shape(const Form *f, int64_t *rows, int64_t *columns) {
    *rows = f->part[Q].dim[0], *columns = f->part[Q].dim[1];
    return f->part[SCALE].dim[0] == *rows && (groups_of(f) > 0 || *columns == 0);
}

/* Group e of row i: ceil(columns / groups) columns, the last ones fewer, or none. */
static Group group_at(const Form *f, const Matrix *w, int64_t i, int64_t e) {
    const int64_t all = groups_of(f), width = (w->columns + all - 1) / all, first = e * width;
    const int64_t past = first + width < w->columns ? first + width : w->columns;
    const int64_t from = i * w->columns + (first < past ? first : past);
    return (Group){w->at + from, past > first ? past - first : 0, from, i * all + e};
}

/* ---- any small integers: the best of some scales, each the nearest for the codes that it makes ---- */

static double code_of(double x, double scale, double least, double most) {
    const double q = scale ? rint(x / scale) : 0;
    return q < least ? least : q > most ? most : q;
}

/* The scale for which codes made by `scale` are nearest, and how near: the squared length that they explain. */
static double scale_again(const Group *g, double scale, double least, double most, double *explained) {
    double along = 0, square = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const double q = code_of(g->x[i], scale, least, most);
        along += g->x[i] * q, square += q * q;
    }
    *explained = square ? along * along / square : 0;
    return square ? along / square : 0;
}

/* The largest number has the code `least`, or a smaller scale cuts some off. */
static double best_scale(const Group *g, double least, double most) {
    enum { TRIES = 40, PART = 60 /* scales of 1 to 21 / 60 of the largest */, ROUNDS = 3 };
    double largest = 0, best = 0, found = -1;
    for (int64_t i = 0; i < g->n; i++)
        if (fabs(g->x[i]) > fabs(largest)) largest = g->x[i];
    for (int t = 0; t < 2 * TRIES; t++) {
        double scale = largest / (t % 2 ? most : least) * (PART - t / 2) / PART, explained = 0;
        for (int k = 0; k < ROUNDS; k++) {
            const double was = scale;
            scale = scale_again(g, was, least, most, &explained);
            if (explained > found) found = explained, best = scale;
            if (scale == was) break;
        }
    }
    return best;
}

/* ---- -1, 0 and 1: the t largest have a code, for the t that is best ---- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double ternary_scale(Arena *arena, const Group *g, double *least) {
    double *size = ARENA_ARRAY(arena, double, g->n + 1), sum = 0, best = 0, found = 0;
    for (int64_t i = 0; i < g->n; i++) size[i] = fabs(g->x[i]);
    qsort(size, (size_t)g->n, sizeof *size, by_size);
    for (int64_t t = 0; t < g->n; t++) {
        sum += size[t];
        if (sum * sum / (double)(t + 1) <= found) continue;
        found = sum * sum / (double)(t + 1), best = sum / (double)(t + 1), *least = size[t];
    }
    return best;
}

static void fill_ternary(Form *f, const Group *g) {
    double least = 0;
    array_set(&f->part[SCALE], g->scale, ternary_scale(f->arena, g, &least));
    for (int64_t i = 0; i < g->n; i++)
        array_set(&f->part[Q], g->from + i, least && fabs(g->x[i]) >= least ? copysign(1, g->x[i]) : 0);
}

static void fill_integers(Form *f, const Group *g) {
    const double most = f->part[Q].elem == ELEM_I4 ? 7 : 127, least = -most - 1;
    array_set(&f->part[SCALE], g->scale, best_scale(g, least, most));
    const double scale = array_get(&f->part[SCALE], g->scale);
    for (int64_t i = 0; i < g->n; i++) array_set(&f->part[Q], g->from + i, code_of(g->x[i], scale, least, most));
}

const char *codes_fill(Form *f, const Matrix *w) {
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t e = 0; e < groups_of(f); e++) {
            const Group g = group_at(f, w, i, e);
            (f->part[Q].elem == ELEM_T2 ? fill_ternary : fill_integers)(f, &g);
        }
    return NULL;
}

void codes_expand(const Form *f, Matrix *w) {
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t e = 0; e < groups_of(f); e++) {
            const Group g = group_at(f, w, i, e);
            for (int64_t j = g.from; j < g.from + g.n; j++)
                w->at[j] += array_get(&f->part[SCALE], g.scale) * array_get(&f->part[Q], j);
        }
}
