/* spmv.c: reads Matrix Market files and multiplies each with a vector by the four programs of spmv.tile. Every
   element is compared with f64, within the rounding errors of a sum of its row's length in f32. */
#include "by_lane.h"
#include "by_merge.h"
#include "by_tree.h"
#include "by_wave.h"
#include "sliced.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    Matrix m;
    Sliced s;
    float *val, *x, *y;
    double *want, *bound; /* [rows] */
} Product;

typedef struct {
    by_lane *lane;
    by_wave *wave;
    by_merge *merge;
    by_tree *tree;
} Programs;

static int fail(const char *what, const char *why) {
    fprintf(stderr, "spmv: error: %s: %s\n", what, why);
    return 1;
}

static int tile_failed(int code) { return fail(tile_error_name(code), tile_last_error()); }

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one matrix ---- */

/* In [-1, 1), the same every time. */
static float element_at(int i) {
    uint32_t z = (uint32_t)i * 0x9e3779b9u;
    z = (z ^ (z >> 16)) * 0x85ebca6bu;
    return (float)(int32_t)(z ^ (z >> 13)) * 0x1p-31f;
}

static void reference_fill(Product *p) {
    for (int i = 0; i < p->m.rows; i++) {
        double sum = 0, size = 0;
        for (int k = p->m.ptr[i]; k < p->m.ptr[i + 1]; k++) {
            double term = (double)p->val[k] * p->x[p->m.col[k]];
            sum += term;
            size += fabs(term);
        }
        p->want[i] = sum;
        p->bound[i] = (p->m.ptr[i + 1] - p->m.ptr[i] + 2) * 0x1p-24 * size;
    }
}

static bool product_make(Product *p) {
    size_t rows = (size_t)p->m.rows + 1, columns = (size_t)p->m.columns + 1, entries = (size_t)p->m.entries + 1;
    p->val = malloc(entries * sizeof *p->val);
    p->x = malloc(columns * sizeof *p->x);
    p->y = malloc(rows * sizeof *p->y);
    p->want = malloc(rows * sizeof *p->want);
    p->bound = malloc(rows * sizeof *p->bound);
    if (!p->val || !p->x || !p->y || !p->want || !p->bound) return false;
    if (!sliced_make(&p->s, &p->m, sliced_longest(&p->m))) return false;
    for (int k = 0; k < p->m.entries; k++) p->val[k] = (float)p->m.val[k];
    for (int i = 0; i < p->m.columns; i++) p->x[i] = element_at(i);
    reference_fill(p);
    return true;
}

static void product_free(Product *p) {
    matrix_free(&p->m);
    sliced_free(&p->s);
    free(p->val);
    free(p->x);
    free(p->y);
    free(p->want);
    free(p->bound);
}

static int result_check(const Product *p, const char *how, double seconds) {
    double worst = 0, part = 0; /* of its bound */
    int wrong = 0;
    for (int i = 0; i < p->m.rows; i++) {
        double error = fabs(p->y[i] - p->want[i]);
        wrong += !(error <= p->bound[i]);
        worst = fmax(worst, error);
        if (error > 0) part = fmax(part, error / p->bound[i]);
    }
    printf("  %-5s %8.3f ms, largest error %.3g, %.2f of its bound: %s\n", how, seconds * 1e3, worst, part,
           wrong ? "WRONG" : "agrees");
    return wrong != 0;
}

/* Three programs have the same arguments, in structs of their own. */
#define ARGS(p)                                                                                                        \
    {                                                                                                                  \
        .ptr = (p)->m.ptr, .col = (p)->m.col, .val = (p)->val, .x = (p)->x, .y = (p)->y, .R = (p)->m.rows,             \
        .C = (p)->m.columns, .Z = (p)->m.entries                                                                       \
    }

static int run_tree(by_tree *tree, const Product *p) {
    const Sliced *s = &p->s;
    const by_tree_args args = {.ptr = p->m.ptr,
                               .col = p->m.col,
                               .val = p->val,
                               .x = p->x,
                               .y = p->y,
                               .start = s->start,
                               .srow = s->row,
                               .scol = s->col,
                               .sval = s->val,
                               .lfirst = s->first,
                               .lrow = s->long_row,
                               .lptr = s->piece,
                               .lcol = s->long_col,
                               .lval = s->long_val,
                               .filled = s->entries + s->long_entries,
                               .R = p->m.rows,
                               .C = p->m.columns,
                               .Z = p->m.entries,
                               .S = s->slices,
                               .M = s->rows,
                               .SZ = s->entries,
                               .L = s->long_rows,
                               .P = s->pieces,
                               .LZ = s->long_entries};
    return by_tree_run(tree, &args, NULL);
}

static int run_way(const Programs *g, const Product *p, int way) {
    if (way == 0) return by_lane_run(g->lane, &(by_lane_args)ARGS(p), NULL);
    if (way == 1) return by_wave_run(g->wave, &(by_wave_args)ARGS(p), NULL);
    if (way == 2) return by_merge_run(g->merge, &(by_merge_args)ARGS(p), NULL);
    return run_tree(g->tree, p);
}

static int multiply(tile_mesh *mesh, const Programs *g, Product *p) {
    static const char *const how[] = {"lane", "wave", "merge", "tree"};
    int failed = 0;
    for (int way = 0; way < 4; way++) {
        for (int i = 0; i < p->m.rows; i++) p->y[i] = NAN;
        double start = seconds_now();
        int code = run_way(g, p, way);
        if (!code) code = tile_stream_sync(mesh, NULL);
        if (code) return tile_failed(code);
        failed |= result_check(p, how[way], seconds_now() - start);
    }
    return failed;
}

static int run_file(tile_mesh *mesh, const Programs *g, const char *path) {
    Product p = {0};
    Reason why;
    char *text;
    size_t n;
    if (!file_read(path, &text, &n, &why)) return fail(path, why.text);
    bool good = market_parse(&p.m, text, n, &why);
    free(text);
    if (!good) return fail(path, why.text);
    printf("%s: %d x %d, %d entries\n", path, p.m.rows, p.m.columns, p.m.entries);
    int failed = product_make(&p) ? multiply(mesh, g, &p) : fail(path, "out of memory");
    product_free(&p);
    return failed;
}

/* ---- all of them ---- */

static int run_files(tile_mesh *mesh, char **path) {
    Programs g = {0};
    int failed = 0, code = by_lane_open(mesh, NULL, &g.lane);
    if (!code) code = by_wave_open(mesh, NULL, &g.wave);
    if (!code) code = by_merge_open(mesh, NULL, &g.merge);
    if (!code) code = by_tree_open(mesh, NULL, &g.tree);
    if (code) failed = tile_failed(code);
    for (; *path && !code; path++) failed |= run_file(mesh, &g, *path);
    by_lane_close(g.lane);
    by_wave_close(g.wave);
    by_merge_close(g.merge);
    by_tree_close(g.tree);
    return failed;
}

int main(int argc, char **argv) {
    tile_mesh *mesh;
    if (argc < 2) return fputs("usage: spmv MATRIX.mtx..\n", stderr), 2;
    int code = tile_mesh_open(&(tile_mesh_config){.size = sizeof(tile_mesh_config), .nranks = 1}, &mesh);
    if (code) return tile_failed(code);
    int failed = run_files(mesh, argv + 1);
    tile_mesh_close(mesh);
    return failed;
}
