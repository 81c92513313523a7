/* generate.h: random programs over a mesh, as modules with collectives: elementwise kernels, products, stencils,
   wavefronts, sums in order, transposes, row statistics and every collective, with sizes and tiles that need not divide each other. */
#ifndef TILEC_TEST_MUTATE_GENERATE_H
#define TILEC_TEST_MUTATE_GENERATE_H

#include "ir/ir.h"
#include "passes/pass.h"

#include <string.h>

typedef struct {
    uint64_t seed;
    Module *m;
    Program *p;
    int ranks, tile; /* ranks: along the axis; tile: of every range; 0: drawn */
    int axis;        /* of splits and collectives; the mesh may have others */
    int split[64]; /* per tensor: the dimension that is split; -1 replicated, -2 partial sums, -3 differs per rank */
} Gen;

static uint64_t gen_next(Gen *g) {
    g->seed ^= g->seed << 13, g->seed ^= g->seed >> 7, g->seed ^= g->seed << 17;
    return g->seed;
}

static int gen_below(Gen *g, int n) { return (int)((gen_next(g) >> 20) % (uint64_t)n); }

static Name gen_name(Gen *g, const char *stem) { return name_of(g->m->names, arena_format(g->m->arena, "%s%d", stem, g->p->tensor.n)); }

/* 0 stands for the run-time dimension. */
static Size gen_size(const Gen *g, int64_t n, bool split) { return (Size){n, (int16_t)(n ? -1 : 0), (int16_t)(split ? g->axis : -1)}; }

static int gen_tensor(Gen *g, TensorRole role, int64_t rows, int64_t cols, int split) {
    Tensor t = {.name = gen_name(g, "t"), .elem = ELEM_F32, .ndim = 2, .role = role, .symmetric = -1, .slots = 1};
    t.dim[0] = gen_size(g, rows, split == 0);
    t.dim[1] = gen_size(g, cols, split == 1);
    t.place[g->axis].kind = split >= 0 ? PLACE_S : split == -1 ? PLACE_R : split == -2 ? PLACE_P : PLACE_V;
    int id = program_tensor(g->m, g->p, t);
    g->split[id] = split;
    if (role == ROLE_INPUT) vec_push(g->m->arena, &g->p->io, id);
    return id;
}

static int64_t gen_rows(const Gen *g, int t) { return g->p->tensor.p[t].dim[0].c; }
static int64_t gen_cols(const Gen *g, int t) { return g->p->tensor.p[t].dim[1].c; }

/* ---- kernels ---- */

typedef struct {
    Gen *g;
    Kernel *k;
    Builder b;
    Node n;
} Make;

static Make gen_kernel(Gen *g, const char *stem) {
    Make k = {.g = g, .k = kernel_new(g->m, gen_name(g, stem), (Loc){0})};
    k.b = (Builder){.m = g->m, .k = k.k, .at = k.k->body};
    k.n = (Node){.kind = NODE_CALL, .kernel = k.k, .src = -1, .dst = -1};
    return k;
}

static int gen_param(Make *k, int tensor, bool out) {
    const Tensor *t = &k->g->p->tensor.p[tensor];
    Param p = {.name = name_of(k->g->m->names, arena_format(k->g->m->arena, "%s_%d", out ? "out" : "in", k->n.arg.n)), .elem = t->elem,
               .ndim = t->ndim, .out = out, .ranks = -1};
    memcpy(p.dim, t->dim, sizeof p.dim);
    Arg a = {.tensor = tensor};
    for (int d = 0; d < MAX_DIMS; d++) a.slice[d] = -1;
    vec_push(k->g->m->arena, &k->n.arg, a);
    return kernel_param(k->g->m, k->k, p);
}

static int gen_range(Make *k, const char *name, Size of, bool grid) {
    static const int sizes[] = {2, 3, 4, 6, 8, 16};
    Range r = {.name = name_of(k->g->m->names, name), .kind = RANGE_TILE, .size = sizes[gen_below(k->g, 6)], .of = of, .owner = -1, .grid = grid};
    if (k->g->tile) {
        r.size = k->g->tile;
        return kernel_range(k->g->m, k->k, r);
    }
    if (grid && gen_below(k->g, 6) == 0) r.kind = RANGE_WHOLE;
    if (gen_below(k->g, 8) == 0) r.kind = RANGE_POSITION;
    return kernel_range(k->g->m, k->k, r);
}

static Span gen_pos(int range, int64_t offset) {
    Affine a = affine_term(TERM_POS, range, 1, 1);
    a.c = offset;
    return span_of(a);
}

static void gen_finish(Make *k) { program_node(k->g->m, k->g->p, k->n); }

static Value *gen_load(Make *k, int param, int i, int di, int j, int dj) {
    Span sub[2] = {gen_pos(i, di), gen_pos(j, dj)};
    return build_load(&k->b, param, sub, 2);
}

static void gen_store(Make *k, int param, int i, int j, Value *v) {
    Span sub[2] = {gen_pos(i, 0), gen_pos(j, 0)};
    build_store(&k->b, param, sub, 2, v, STORE_SET);
}

static int gen_elementwise(Gen *g, int a, int b, TensorRole role) {
    int out = gen_tensor(g, role, gen_rows(g, a), gen_cols(g, a), g->split[a]);
    Make k = gen_kernel(g, "add");
    int x = gen_param(&k, a, false), y = gen_param(&k, b, false), z = gen_param(&k, out, true);
    int i = gen_range(&k, "i", g->p->tensor.p[a].dim[0], true), j = gen_range(&k, "j", g->p->tensor.p[a].dim[1], true);
    Value *v = build_binary(&k.b, OP_ADD, gen_load(&k, x, i, 0, j, 0), gen_load(&k, y, i, 0, j, 0));
    gen_store(&k, z, i, j, v);
    gen_finish(&k);
    return out;
}

static int gen_stencil(Gen *g, int a) {
    int out = gen_tensor(g, ROLE_TEMP, gen_rows(g, a), gen_cols(g, a), g->split[a]);
    Make k = gen_kernel(g, "stencil");
    int x = gen_param(&k, a, false), z = gen_param(&k, out, true);
    int i = gen_range(&k, "i", g->p->tensor.p[a].dim[0], true), j = gen_range(&k, "j", g->p->tensor.p[a].dim[1], true);
    Value *v = build_binary(&k.b, OP_ADD, gen_load(&k, x, i, -1, j, 0), gen_load(&k, x, i, 0, j, 1 + gen_below(g, 3)));
    gen_store(&k, z, i, j, v);
    gen_finish(&k);
    return out;
}

/* The last row or column before the task's tile. */
static Span gen_before(const Make *k, int range) {
    int64_t size = k->k->range.p[range].kind == RANGE_WHOLE ? 0 : k->k->range.p[range].size;
    Affine a = affine_term(TERM_INDEX, range, size ? size : 1, 1);
    a.c = size ? -1 : -2;
    return span_of(a);
}

/* Tasks that read what those before them along a dimension, or both, have written. */
static int gen_wave(Gen *g, int a) {
    int out = gen_tensor(g, ROLE_TEMP, gen_rows(g, a), gen_cols(g, a), g->split[a]);
    Make k = gen_kernel(g, "wave");
    int x = gen_param(&k, a, false), z = gen_param(&k, out, true), way = 1 + gen_below(g, 7);
    int i = gen_range(&k, "i", g->p->tensor.p[a].dim[0], true), j = gen_range(&k, "j", g->p->tensor.p[a].dim[1], true);
    Span above[2] = {gen_before(&k, i), gen_pos(j, -gen_below(g, 2))}, left[2] = {gen_pos(i, 0), gen_before(&k, j)};
    Span corner[2] = {gen_before(&k, i), gen_before(&k, j)};
    Value *v = gen_load(&k, x, i, 0, j, 0);
    if (way & 1) v = build_binary(&k.b, OP_ADD, v, build_load(&k.b, z, above, 2));
    if (way & 2) v = build_binary(&k.b, OP_ADD, v, build_load(&k.b, z, left, 2));
    if (way & 4) v = build_binary(&k.b, OP_ADD, v, build_load(&k.b, z, corner, 2));
    gen_store(&k, z, i, j, v);
    gen_finish(&k);
    return out;
}

/* Tasks that all add to one row of what a kernel before them made. */
static int gen_sum(Gen *g, int a) {
    int out = gen_elementwise(g, a, a, ROLE_TEMP);
    Make k = gen_kernel(g, "sum");
    int x = gen_param(&k, a, false), z = gen_param(&k, out, false);
    k.k->param.p[z].inout = true;
    int i = gen_range(&k, "i", g->p->tensor.p[a].dim[0], true), j = gen_range(&k, "j", g->p->tensor.p[a].dim[1], true);
    Value *v = gen_load(&k, x, i, 0, j, 0);
    if (k.k->range.p[i].kind != RANGE_POSITION) v = build_reduce(&k.b, OP_SUM, v, (int16_t[]){(int16_t)i}, 1);
    Span row[2] = {span_of(affine_const(gen_below(g, 5))), gen_pos(j, gen_below(g, 2))};
    build_store(&k.b, z, row, 2, v, STORE_SUM);
    gen_finish(&k);
    return out;
}

static int gen_transpose(Gen *g, int a) {
    int split = g->split[a] >= 0 ? 1 - g->split[a] : g->split[a];
    int out = gen_tensor(g, ROLE_TEMP, gen_cols(g, a), gen_rows(g, a), split);
    Make k = gen_kernel(g, "turn");
    int x = gen_param(&k, a, false), z = gen_param(&k, out, true);
    int i = gen_range(&k, "i", g->p->tensor.p[out].dim[0], true), j = gen_range(&k, "j", g->p->tensor.p[out].dim[1], true);
    gen_store(&k, z, i, j, gen_load(&k, x, j, 0, i, 0));
    gen_finish(&k);
    return out;
}

/* a[m, k] @ b[k, n]; both split along k: partial sums. */
static int gen_matmul(Gen *g, int a, int b) {
    int split = g->split[a] == 1 && g->split[b] == 0 ? -2 : g->split[a] == 0 ? 0 : g->split[b] == 1 ? 1 : g->split[a];
    int out = gen_tensor(g, ROLE_TEMP, gen_rows(g, a), gen_cols(g, b), split);
    Make k = gen_kernel(g, "matmul");
    int x = gen_param(&k, a, false), y = gen_param(&k, b, false), z = gen_param(&k, out, true);
    int i = gen_range(&k, "i", g->p->tensor.p[out].dim[0], true), j = gen_range(&k, "j", g->p->tensor.p[out].dim[1], true);
    int q = gen_range(&k, "q", g->p->tensor.p[a].dim[1], false);
    Value *acc = build_const_f(&k.b, ELEM_F32, 0);
    Type t = type_scalar(ELEM_F32);
    if (k.k->range.p[i].kind != RANGE_POSITION) t = type_with(t, i);
    if (k.k->range.p[j].kind != RANGE_POSITION) t = type_with(t, j);
    acc = build_broadcast(&k.b, t, acc);
    Value *lo = build_const_i(&k.b, ELEM_I64, 0), *hi = build_size(&k.b, OP_SIZE, g->p->tensor.p[a].dim[1]);
    Op *loop = build_for(&k.b, q, lo, hi, &acc, 1);
    Region *outer = k.b.at;
    k.b.at = loop->region[0];
    Value *u = gen_load(&k, x, i, 0, q, 0), *v = gen_load(&k, y, q, 0, j, 0);
    Value *sum = build_binary(&k.b, OP_MUL, u, v);
    if (k.k->range.p[q].kind != RANGE_POSITION) sum = build_reduce(&k.b, OP_SUM, sum, (int16_t[]){(int16_t)q}, 1);
    sum = build_binary(&k.b, OP_ADD, loop->region[0]->arg.p[0], sum);
    build_yield(&k.b, &sum, 1);
    k.b.at = outer;
    gen_store(&k, z, i, j, loop->res.p[0]);
    gen_finish(&k);
    return out;
}

static int gen_collective(Gen *g, Coll coll, int a, int split, TensorRole role, int dim, int dim2) {
    int out = gen_tensor(g, role, gen_rows(g, a), gen_cols(g, a), split);
    Node n = {.kind = NODE_COLLECTIVE, .coll = coll, .axis = g->axis, .dim = dim, .dim2 = dim2, .src = a, .dst = out,
              .shift = coll == COLL_PERMUTE ? 1 + gen_below(g, 3) : coll == COLL_BROADCAST ? gen_below(g, g->ranks) : 0};
    program_node(g->m, g->p, n);
    return out;
}

/* What a tensor of this placement can go through. */
static int gen_communicate(Gen *g, int a, TensorRole role) {
    int s = g->split[a];
    if (s == -2) return gen_below(g, 2) ? gen_collective(g, COLL_ALL_REDUCE, a, -1, role, 0, 0)
                                       : gen_collective(g, COLL_REDUCE_SCATTER, a, 0, role, 0, 0);
    if (s == -3) return gen_collective(g, gen_below(g, 2) ? COLL_PERMUTE : COLL_BROADCAST, a, -3, role, 0, 0);
    if (s >= 0 && gen_below(g, 3) == 0) return gen_collective(g, COLL_ALL_TO_ALL, a, 1 - s, role, s, 1 - s);
    if (s >= 0) return gen_collective(g, COLL_ALL_GATHER, a, -1, role, s, 0);
    return gen_elementwise(g, a, a, role);
}

static int gen_input(Gen *g, int64_t rows, int64_t cols) {
    static const int splits[] = {0, 1, -1, -3};
    return gen_tensor(g, ROLE_INPUT, rows, cols, splits[gen_below(g, 4)]);
}

static int gen_step(Gen *g, int a) {
    switch (gen_below(g, 10)) {
    case 8: return gen_wave(g, a);
    case 9: return gen_sum(g, a);
    case 0: return g->split[a] == 0 || g->split[a] == 1 ? gen_elementwise(g, a, a, ROLE_TEMP) : gen_stencil(g, a);
    case 1: return gen_transpose(g, a);
    case 2: return gen_elementwise(g, a, a, ROLE_TEMP);
    case 3:
    case 4: {
        int s = g->split[a];
        if (s == -2) return gen_communicate(g, a, ROLE_TEMP);
        int b = gen_tensor(g, ROLE_INPUT, gen_cols(g, a), 5 + gen_below(g, 30), s == 1 ? 0 : s == -3 ? -3 : -1);
        return gen_matmul(g, a, b);
    }
    default: return gen_communicate(g, a, ROLE_TEMP);
    }
}

enum { GEN_BOUND = 40 }; /* of the run-time dimension */

/* Axes beside the one of splits and collectives, before and behind it. */
static void gen_axes(Gen *g, int axes) {
    static const char *const names[MAX_AXES] = {"tp", "dp", "ep"};
    g->ranks = 1 + gen_below(g, 4);
    if (axes > 1) g->axis = gen_below(g, axes), g->ranks = 2 + gen_below(g, axes == 2 ? 3 : 2);
    for (int i = 0; i < axes; i++) {
        int ranks = i == g->axis ? g->ranks : 2 + gen_below(g, axes == 2 ? 2 : 1);
        vec_push(g->m->arena, &g->m->axis, ((Axis){.name = name_of(g->m->names, names[i]), .ranks = ranks}));
    }
}

/* A module with one program of a few nodes, over a mesh of so many axes; its result is an output. sizes: one extent is
   known at run time only. */
__attribute__((unused)) static Module *gen_mesh(Arena *arena, uint64_t seed, bool sizes, int axes) {
    Gen g = {.seed = seed * 0x9E3779B97F4A7C15u + 1};
    for (int i = 0; i < 4; i++) gen_next(&g);
    g.m = module_new(arena, names_new(arena), diags_new(arena));
    gen_axes(&g, axes);
    g.p = program_new(g.m, name_of(g.m->names, "main"), (Loc){0});
    if (sizes) vec_push(arena, &g.m->symbol, ((Symbol){.name = name_of(g.m->names, "S"), .bound = GEN_BOUND}));
    int rows = 5 + gen_below(&g, 36), cols = 5 + gen_below(&g, 36), first = -1;
    int t = gen_input(&g, sizes ? 0 : rows, cols);
    int steps = 2 + gen_below(&g, 5);
    for (int i = 0; i < steps; i++) {
        t = gen_step(&g, t);
        if (i == 0) first = t;
    }
    if (g.split[t] == -2) t = gen_communicate(&g, t, ROLE_TEMP);
    bool alike = g.split[first] == g.split[t] && gen_rows(&g, first) == gen_rows(&g, t) && gen_cols(&g, first) == gen_cols(&g, t);
    t = gen_elementwise(&g, t, alike ? first : t, ROLE_OUTPUT);
    vec_push(arena, &g.p->io, t);
    return g.m;
}

__attribute__((unused)) static Module *gen_sized(Arena *arena, uint64_t seed, bool sizes) { return gen_mesh(arena, seed, sizes, 1); }

__attribute__((unused)) static Module *gen_module(Arena *arena, uint64_t seed) { return gen_sized(arena, seed, false); }

/* Through comm in a form drawn from the seed, then flags (or barriers). structural: PassOptions. */
static bool gen_lower_as(Module *m, uint64_t seed, bool flags, bool structural, FILE *log) {
    static const CommForm forms[] = {COMM_AUTO, COMM_UNFUSED, COMM_PULL, COMM_STAGED, COMM_PUSH, COMM_PACKET};
    PassOptions o = {.verify_each = true, .target = "host", .comm = forms[seed % 6], .out = log, .structural = structural};
    PassContext c = {.m = m, .options = &o};
    const Pass *list[] = {&pass_comm, flags ? &pass_flags : &pass_barriers, NULL};
    bool launches = seed % 5 >= 3;
    if (launches) list[2] = list[1], list[1] = &pass_stream_order;
    return pipeline_run(&c, list, launches ? 3 : 2);
}

__attribute__((unused)) static bool gen_lower(Module *m, uint64_t seed, bool flags, FILE *log) { return gen_lower_as(m, seed, flags, false, log); }

#endif
