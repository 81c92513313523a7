/* source.h: what the parts of the generator share: dimensions, tensors with their placements, the text being written.
 */
#ifndef TILEC_TEST_GEN_SOURCE_H
#define TILEC_TEST_GEN_SOURCE_H

#include "base/text.h"
#include "ir/ir.h"
#include "test/gen/tape.h"

#include <inttypes.h>

enum { SRC_DIMS = 6, SRC_AXES = 3, SRC_RANK = 8 };

/* Numbers of extents beyond the declared dims: a rank's block of one, the ranks of an axis, a dim plus one, a number.
 */
enum { EXTENT_LOCAL = 100, EXTENT_RANKS = 1000, EXTENT_PLUS = 2000, EXTENT_NUMBER = 10000 };

typedef struct {
    int64_t size;
    bool runtime;
} SrcDim;

/* What a tensor of the program is: only states and temporaries are assigned again. */
typedef enum { KIND_TEMPORARY, KIND_INPUT, KIND_OUTPUT, KIND_STATE } SrcKind;

typedef struct {
    const char *name;
    int ndim, dim[SRC_RANK + 1];
    Elem elem;
    PlaceKind place[SRC_AXES];
    int split[SRC_AXES]; /* S: the dimension */
    SrcKind kind;
    int root;      /* names of one memory have the same */
    bool max;      /* P: a partial maximum */
    bool exact;    /* no two evaluations may differ */
    bool distinct; /* no number occurs twice */
    bool view, part;
    bool read;     /* the value that it has now */
    bool assigned; /* a state: since the start */
} SrcTensor;

typedef struct {
    Arena *arena;
    Tape *tape;
    Text kernels, inner, fields, state_fields, inputs, outputs, body;
    int ndim, naxis, nkernel, nname, nroot;
    int depth, repeats, outside; /* inside repeats: how many, how often their body runs, the tensors declared before */
    const char *iteration;       /* its number */
    int branches;                /* inside how many */
    int carried;                 /* of the tensors before the one that every iteration updates */
    int64_t ranks[SRC_AXES];
    bool many;            /* small dimensions, and tensors of up to eight of them */
    bool scalar, integer; /* the program has the parameters a, b */
    SrcDim dim[SRC_DIMS];
    VEC(SrcTensor) tensor;
    bool library; /* a file of it is imported */
    bool varies;  /* the result depends on the number of ranks */
} Src;

static const char *const axis_name[] = {"tp", "dp", "pp"};

#define DRAW(g, n) tape_draw((g)->tape, n)
#define RARELY(g, n) tape_rarely((g)->tape, n)
#define SAY(g, ...) arena_format((g)->arena, __VA_ARGS__)

static bool is_plain_dim(int dim) { return dim < EXTENT_LOCAL; }
static bool is_local_dim(int dim) { return dim >= EXTENT_LOCAL && dim < EXTENT_RANKS; }

/* Known at compile time. */
static bool is_number(const Src *g, int dim) {
    return dim >= EXTENT_NUMBER || (is_plain_dim(dim) && !g->dim[dim].runtime);
}

static const char *extent_text(const Src *g, int dim) {
    if (dim >= EXTENT_NUMBER) return SAY(g, "%d", dim - EXTENT_NUMBER);
    if (dim >= EXTENT_PLUS) return SAY(g, "N%d + 1", dim - EXTENT_PLUS);
    if (dim >= EXTENT_RANKS) return axis_name[dim - EXTENT_RANKS];
    return SAY(g, "N%d", dim);
}

static int64_t extent_value(const Src *g, int dim) {
    if (dim >= EXTENT_NUMBER) return dim - EXTENT_NUMBER;
    if (dim >= EXTENT_PLUS) return g->dim[dim - EXTENT_PLUS].size + 1;
    if (dim >= EXTENT_RANKS) return g->ranks[dim - EXTENT_RANKS];
    return g->dim[dim % EXTENT_LOCAL].size;
}

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

/* A tensor with memory of its own. */
static int tensor_new(Src *g, SrcTensor t) {
    t.root = g->nroot++;
    return tensor_add(g, t);
}

static const char *read_tensor(Src *g, int t) {
    g->tensor.p[t].read = true;
    return g->tensor.p[t].name;
}

static bool any_place(const Src *g, const SrcTensor *t, PlaceKind kind) {
    for (int a = 0; a < g->naxis; a++)
        if (t->place[a] == kind) return true;
    return false;
}

static bool is_whole_place(const Src *g, const SrcTensor *t) {
    for (int a = 0; a < g->naxis; a++)
        if (t->place[a] == PLACE_P || t->place[a] == PLACE_V) return false;
    return true;
}

static bool same_dims(const SrcTensor *a, const SrcTensor *b) {
    return a->ndim == b->ndim && memcmp(a->dim, b->dim, sizeof(int) * (size_t)a->ndim) == 0;
}

static bool has_local_dim(const SrcTensor *t) {
    for (int d = 0; d < t->ndim; d++)
        if (is_local_dim(t->dim[d])) return true;
    return false;
}

static const char *elem_random(Src *g, Elem *e) {
    static const Elem list[] = {ELEM_F32, ELEM_BF16,   ELEM_F16,        ELEM_I32, ELEM_F64,
                                ELEM_I8,  ELEM_BOOL,   ELEM_F8E4M3,     ELEM_I64, ELEM_U8,
                                ELEM_I16, ELEM_F8E5M2, ELEM_F8E4M3FNUZ, ELEM_I4,  ELEM_T2};
    *e = list[DRAW(g, 2) ? DRAW(g, (int)(sizeof list / sizeof *list)) : 0];
    return elem_text(*e);
}

static void statement_print(Src *g, const char *left, const char *right) {
    text_printf(&g->body, "%*s%s = %s;\n", 2 + 2 * g->depth, "", left, right);
}

#endif
