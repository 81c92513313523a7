/* library.h: calls of kernels of the standard library that take a matrix, some with a second tensor of its extents. */
#ifndef TILEC_TEST_GEN_LIBRARY_H
#define TILEC_TEST_GEN_LIBRARY_H

#include "test/gen/whole.h"

/* Extents by letters: n rows, d columns, k another one. */
typedef struct {
    const char *name;
    const char *with;   /* of a second argument, NULL: none */
    const char *result; /* of the result */
    const char *split;  /* what may be split and stays so */
    const char *summed; /* what may be split and makes the result partial */
    bool exact, picks;  /* gives exact values of exact ones; takes nothing else */
} LibraryKernel;

static const LibraryKernel library_kernel[] = {
    {"softmax", NULL, "nd", "n", "", false, false},       {"rmsnorm", "d", "nd", "n", "", false, false},
    {"add", "nd", "nd", "nd", "", false, false},          {"mul", "nd", "nd", "nd", "", false, false},
    {"swiglu", "nd", "nd", "nd", "", false, false},       {"transpose", NULL, "dn", "nd", "", true, false},
    {"sum_rows", NULL, "n", "n", "d", false, false},      {"mean_rows", NULL, "n", "n", "", false, false},
    {"max_rows", NULL, "n", "n", "", true, false},        {"sum_columns", NULL, "d", "d", "n", false, false},
    {"max_columns", NULL, "d", "d", "", true, false},     {"cumsum_rows", NULL, "nd", "n", "", false, false},
    {"cummax_rows", NULL, "nd", "n", "", true, false},    {"argmax_rows", NULL, "n", "n", "", true, true},
    {"argmin_rows", NULL, "n", "n", "", true, true},      {"matmul", "dk", "nk", "n", "d", false, false},
    {"linear", "kd", "nk", "n", "d", false, false},       {"linear_swiglu", "kd,kd", "nk", "n", "", false, false},
    {"linear_bias", "kd,k", "nk", "n", "", false, false},
};

typedef struct {
    Src *g;
    const LibraryKernel *of;
    int dim[3];            /* of the letters n, d, k */
    char letter[SRC_AXES]; /* that the axis splits, or 0 */
} LibraryCall;

static int extent_of(const LibraryCall *c, char letter) { return c->dim[letter == 'n' ? 0 : letter == 'd' ? 1 : 2]; }

/* The rows or columns that the axis splits fit the kernel. */
static bool library_takes(const Src *g, const LibraryKernel *k, const SrcTensor *t) {
    if (t->ndim != 2 || t->elem != ELEM_F32 || t->view || has_local_dim(t) || tensor_elements(g, t) == 0) return false;
    if (k->picks && !t->exact) return false;
    for (int a = 0; a < g->naxis; a++) {
        if (t->place[a] == PLACE_R) continue;
        char letter = "nd"[t->split[a]];
        if (t->place[a] != PLACE_S || !(strchr(k->split, letter) || strchr(k->summed, letter))) return false;
    }
    return true;
}

/* A new input of these extents, split where the first argument is. */
static const char *library_input(LibraryCall *c, const char *letters, int n) {
    SrcTensor t = {.ndim = n, .elem = ELEM_F32};
    for (int d = 0; d < n; d++) t.dim[d] = extent_of(c, letters[d]);
    for (int a = 0; a < c->g->naxis; a++)
        for (int d = 0; d < n; d++)
            if (letters[d] == c->letter[a]) t.place[a] = PLACE_S, t.split[a] = d;
    return read_tensor(c->g, given_add(c->g, t, KIND_INPUT));
}

static SrcTensor library_result(const LibraryCall *c, bool exact) {
    const LibraryKernel *k = c->of;
    SrcTensor t = {.ndim = (int)strlen(k->result), .elem = k->picks ? ELEM_I32 : ELEM_F32, .exact = k->exact && exact};
    for (int d = 0; d < t.ndim; d++) t.dim[d] = extent_of(c, k->result[d]);
    for (int a = 0; a < c->g->naxis; a++) {
        if (!c->letter[a]) continue;
        const char *at = strchr(k->result, c->letter[a]);
        t.place[a] = at ? PLACE_S : PLACE_P;
        if (at) t.split[a] = (int)(at - k->result);
    }
    return t;
}

static int library_base(Src *g, const LibraryKernel *k) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++)
        if (library_takes(g, k, &g->tensor.p[i])) found[n++] = i;
    return n ? found[n - 1 - DRAW(g, n)] : -1;
}

static void library_call(Src *g) {
    LibraryCall c = {.g = g, .of = &library_kernel[DRAW(g, (int)(sizeof library_kernel / sizeof *library_kernel))]};
    int base = library_base(g, c.of);
    if (base < 0) return;
    SrcTensor t = g->tensor.p[base];
    c.dim[0] = t.dim[0], c.dim[1] = t.dim[1], c.dim[2] = DRAW(g, g->ndim);
    int summed = 0;
    for (int a = 0; a < g->naxis; a++) {
        c.letter[a] = t.place[a] == PLACE_S ? "nd"[t.split[a]] : 0;
        summed += c.letter[a] && strchr(c.of->summed, c.letter[a]);
    }
    if (summed > 1) return;
    const char *args = read_tensor(g, base);
    for (const char *with = c.of->with, *end; with; with = *end ? end + 1 : NULL) {
        end = with + strcspn(with, ",");
        args = SAY(g, "%s, %s", args, library_input(&c, with, (int)(end - with)));
    }
    SrcTensor r = library_result(&c, t.exact);
    statement_print(g, target_name(g, &r), SAY(g, "%s(%s)", c.of->name, args));
}

#endif
