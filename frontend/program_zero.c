/* program_zero.c: results that a kernel adds to are 0 before: a kernel of its own fills them.
   Takes a result of a call; gives a node before it. */
#include "frontend/program.h"

#include <string.h>

enum { TILE_LAST = 256, TILE_OTHER = 16 };

static int zero_range(const Prog *c, Kernel *k, const Tensor *t, int d) {
    Range r = {.name = name_of(c->m->names, arena_format(c->arena, "i%d", d)), .of = t->dim[d], .owner = -1, .grid = true, .loc = t->loc};
    r.kind = d < t->ndim - 2 ? RANGE_POSITION : RANGE_TILE;
    r.size = r.kind == RANGE_POSITION ? 1 : d == t->ndim - 1 ? TILE_LAST : TILE_OTHER;
    return kernel_range(c->m, k, r);
}

static Kernel *zero_kernel(Prog *c, const Tensor *t) {
    Kernel *k = kernel_new(c->m, name_of(c->m->names, "zero"), t->loc);
    Builder b = {.m = c->m, .k = k, .at = k->body, .loc = t->loc};
    Param p = {.name = name_of(c->m->names, "y"), .elem = t->elem, .ndim = t->ndim, .out = true, .ranks = -1, .loc = t->loc};
    memcpy(p.dim, t->dim, sizeof p.dim);
    kernel_param(c->m, k, p);
    Span sub[MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) sub[d] = span_of(affine_term(TERM_POS, zero_range(c, k, t, d), 1, 1));
    Elem e = elem_arith(t->elem);
    Value *zero = elem_is_float(e) ? build_const_f(&b, e, 0) : build_const_i(&b, e, 0);
    build_store(&b, 0, sub, t->ndim, zero, STORE_SET);
    return k;
}

void zero_add(Prog *c, const ProgValue *result, Loc loc) {
    Tensor t = value_tensor(c, result);
    Node n = {.kind = NODE_CALL, .loc = loc, .kernel = zero_kernel(c, &t)};
    vec_push(c->arena, &n.arg, value_arg(result));
    program_node(c->m, c->p, n);
}
