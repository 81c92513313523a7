/* interp_build.h: short forms for the interpreter's unit tests, which build their modules by hand. */
#ifndef TILEC_TEST_INTERP_BUILD_H
#define TILEC_TEST_INTERP_BUILD_H

#include "ir/interp/interp.h"
#include "test/unit/check.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    Arena *a;
    Module *m;
    Program *p;
    Kernel *k;
    Builder b;
} Bench;

static inline Bench bench_new(int64_t ranks) {
    Bench t = {.a = arena_new()};
    Names *names = names_new(t.a);
    t.m = module_new(t.a, names, diags_new(t.a));
    if (ranks) vec_push(t.a, &t.m->axis, ((Axis){.name = name_of(names, "tp"), .ranks = ranks}));
    t.p = program_new(t.m, name_of(names, "p"), (Loc){0});
    return t;
}

static inline Name bench_name(Bench *t, const char *s) { return name_of(t->m->names, s); }

static inline void bench_kernel(Bench *t, const char *name) {
    t->k = kernel_new(t->m, bench_name(t, name), (Loc){0});
    t->b = (Builder){.m = t->m, .k = t->k, .at = t->k->body};
}

static inline int bench_range(Bench *t, const char *name, RangeKind kind, int64_t size, int64_t of, bool grid) {
    return kernel_range(
        t->m, t->k,
        (Range){
            .name = bench_name(t, name), .kind = kind, .size = size, .of = size_number(of), .owner = -1, .grid = grid});
}

static inline Size split(int64_t n) { return (Size){.c = n, .sym = -1, .axis = 0}; }

static inline int bench_param(Bench *t, const char *name, Elem e, int ndim, const Size *dim, bool out, bool symmetric) {
    Param p = {.name = bench_name(t, name), .elem = e, .ndim = ndim, .out = out, .ranks = symmetric ? 0 : -1};
    for (int d = 0; d < ndim; d++) p.dim[d] = dim[d];
    return kernel_param(t->m, t->k, p);
}

static inline int bench_tensor(Bench *t, const char *name, Elem e, TensorRole role, int ndim, const Size *dim) {
    Tensor x = {.name = bench_name(t, name), .elem = e, .ndim = ndim, .role = role, .symmetric = -1, .slots = 1};
    for (int d = 0; d < ndim; d++) {
        x.dim[d] = dim[d];
        if (dim[d].axis >= 0) x.place[dim[d].axis].kind = PLACE_S;
    }
    int id = program_tensor(t->m, t->p, x);
    if (role != ROLE_TEMP) vec_push(t->a, &t->p->io, id);
    return id;
}

static inline Arg arg_of(int tensor) {
    Arg a = {.tensor = tensor};
    for (int d = 0; d < MAX_DIMS; d++) a.slice[d] = -1;
    return a;
}

static inline Node *bench_call(Bench *t, const int *tensor, int n) {
    Node x = {.kind = NODE_CALL, .kernel = t->k, .axis = -1};
    for (int i = 0; i < n; i++) vec_push(t->a, &x.arg, arg_of(tensor[i]));
    return program_node(t->m, t->p, x);
}

static inline Span at_pos(int range) { return span_of(affine_term(TERM_POS, range, 1, 1)); }
static inline Span at_index(int range) { return span_of(affine_term(TERM_INDEX, range, 1, 1)); }
static inline Span at_rank(void) { return span_of(affine_term(TERM_RANK, 0, 1, 1)); }

/* Small numbers with few digits, so that f32 sums of products are exact. */
static inline void array_draw(Array *a, unsigned seed) {
    for (int64_t i = 0; i < array_count(a); i++) {
        seed = seed * 1664525u + 1013904223u;
        array_set(a, i, (double)(int)(seed >> 24) / 16 - 8);
    }
}

/* Global arrays for the interface, the inputs drawn. */
static inline Array *bench_arrays(Bench *t, const int64_t *sym) {
    Array *io = ARENA_ARRAY(t->a, Array, t->p->io.n);
    for (int i = 0; i < t->p->io.n; i++) {
        const Tensor *x = &t->p->tensor.p[t->p->io.p[i]];
        array_for_tensor(t->a, t->m, x, sym, &io[i]);
        if (x->role != ROLE_OUTPUT) array_draw(&io[i], 7u + (unsigned)i);
    }
    return io;
}

static inline bool bench_run(Bench *t, InterpOptions o, Array *io, InterpReport *report) {
    bool good = module_verify(t->m);
    diags_print(t->m->diags, stderr, DIAG_TEXT, false);
    return good && interp_run(t->a, t->m, t->p, &o, io, report);
}

/* a[m, k] b[k, n] -> c[m, n] with tiles tm, tn, tk of any size. */
static inline void bench_matmul_kernel(Bench *t, Elem e, Elem out, Size m, Size n, Size k, const int64_t *tile) {
    bench_kernel(t, "matmul");
    int a = bench_param(t, "a", e, 2, (Size[]){m, k}, false, false);
    int b = bench_param(t, "b", e, 2, (Size[]){k, n}, false, false);
    int c = bench_param(t, "c", out, 2, (Size[]){m, n}, true, false);
    int i = bench_range(t, "i", RANGE_TILE, tile[0], 0, true), j = bench_range(t, "j", RANGE_TILE, tile[1], 0, true);
    int p = bench_range(t, "p", RANGE_TILE, tile[2], 0, false);
    t->k->range.p[i].of = m;
    t->k->range.p[j].of = n;
    Type ij = type_with(type_with(type_scalar(elem_accum(e)), i), j);
    Value *zero = elem_is_float(ij.elem) ? build_const_f(&t->b, ij.elem, 0) : build_const_i(&t->b, ij.elem, 0);
    Value *init = build_broadcast(&t->b, ij, zero);
    Op *loop = build_for(&t->b, p, build_const_i(&t->b, ELEM_I64, 0), build_size(&t->b, OP_SIZE, k), &init, 1);
    Builder in = t->b;
    in.at = loop->region[0];
    Value *x = build_load(&in, a, (Span[]){at_pos(i), at_pos(p)}, 2);
    Value *y = build_load(&in, b, (Span[]){at_pos(p), at_pos(j)}, 2);
    Value *sum = build_dot(&in, x, y, loop->region[0]->arg.p[0]);
    build_yield(&in, &sum, 1);
    build_store(&t->b, c, (Span[]){at_pos(i), at_pos(j)}, 2, loop->res.p[0], STORE_SET);
}

#endif
