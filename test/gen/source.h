/* source.h: what the parts of the generator share: dimensions, tensors with their placements, the text being written. */
#ifndef TILEC_TEST_GEN_SOURCE_H
#define TILEC_TEST_GEN_SOURCE_H

#include "base/text.h"
#include "ir/ir.h"
#include "test/gen/tape.h"

#include <inttypes.h>

enum { SRC_DIMS = 6, SRC_AXES = 2, SRC_RANK = 5 };

/* Numbers of extents beyond the declared dims: a rank's block of one, the ranks of an axis, a dim plus one. */
enum { EXTENT_LOCAL = 100, EXTENT_RANKS = 1000, EXTENT_PLUS = 2000 };

typedef struct {
    int64_t size;
    bool runtime;
} SrcDim;

typedef struct {
    const char *name;
    int ndim, dim[SRC_RANK + 1];
    Elem elem;
    PlaceKind place[SRC_AXES];
    int split[SRC_AXES]; /* S: the dimension */
    bool max;            /* P: a partial maximum */
    bool exact;          /* no two evaluations may differ */
    bool read, output;
} SrcTensor;

typedef struct {
    Arena *arena;
    Tape *tape;
    Text kernels, inputs, outputs, body;
    int ndim, naxis, nkernel, nname;
    int64_t ranks[SRC_AXES];
    SrcDim dim[SRC_DIMS];
    VEC(SrcTensor) tensor;
    bool varies; /* the result depends on the number of ranks */
} Src;

static const char *const axis_name[] = {"tp", "dp"};

#define DRAW(g, n) tape_draw((g)->tape, n)
#define RARELY(g, n) tape_rarely((g)->tape, n)
#define SAY(g, ...) arena_format((g)->arena, __VA_ARGS__)

static const char *extent_text(const Src *g, int dim) {
    if (dim >= EXTENT_PLUS) return SAY(g, "N%d + 1", dim - EXTENT_PLUS);
    if (dim >= EXTENT_RANKS) return axis_name[dim - EXTENT_RANKS];
    return SAY(g, "N%d", dim);
}

static int64_t extent_value(const Src *g, int dim) {
    if (dim >= EXTENT_PLUS) return g->dim[dim - EXTENT_PLUS].size + 1;
    if (dim >= EXTENT_RANKS) return g->ranks[dim - EXTENT_RANKS];
    return g->dim[dim % EXTENT_LOCAL].size;
}

static bool is_plain_dim(int dim) { return dim < EXTENT_LOCAL; }

static const char *type_text(const Src *g, const SrcTensor *t) {
    const char *s = elem_text(t->elem);
    for (int d = 0; d < t->ndim; d++) {
        const char *at = "";
        for (int a = 0; a < g->naxis; a++)
            if (t->place[a] == PLACE_S && t->split[a] == d) at = SAY(g, " @ %s", axis_name[a]);
        s = SAY(g, "%s%s%s%s", s, d ? ", " : "[", extent_text(g, t->dim[d]), at);
    }
    return t->ndim ? SAY(g, "%s]", s) : s;
}

static int64_t tensor_elements(const Src *g, const SrcTensor *t) {
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= extent_value(g, t->dim[d]);
    return n;
}

static int tensor_add(Src *g, SrcTensor t) {
    vec_push(g->arena, &g->tensor, t);
    return g->tensor.n - 1;
}

static int input_add(Src *g, SrcTensor t) {
    t.name = SAY(g, "x%d", g->nname++);
    t.exact = true;
    text_printf(&g->inputs, "%s%s: %s", g->inputs.n ? ", " : "", t.name, type_text(g, &t));
    return tensor_add(g, t);
}

static bool is_whole_place(const Src *g, const SrcTensor *t) {
    for (int a = 0; a < g->naxis; a++)
        if (t->place[a] == PLACE_P || t->place[a] == PLACE_V) return false;
    return true;
}

#endif
