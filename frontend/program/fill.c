/* fill.c: tensors of one number: results that a kernel adds to are 0 before, x: f32[M, N] = 1.
   Takes a tensor and a number; gives a node of a kernel of its own. */
#include "frontend/program/graph.h"

#include <string.h>

enum { TILE_LAST = 256, TILE_OTHER = 16 };

static int fill_range(const Graph *g, Kernel *k, const Tensor *t, int d) {
    Range r = {.name = name_of(g->m->names, arena_format(g->arena, "i%d", d)),
               .of = t->dim[d],
               .owner = -1,
               .grid = true,
               .loc = t->loc};
    r.kind = d < t->ndim - 2 ? RANGE_POSITION : RANGE_TILE;
    r.size = r.kind == RANGE_POSITION ? 1 : d == t->ndim - 1 ? TILE_LAST : TILE_OTHER;
    return kernel_range(g->m, k, r);
}

static Kernel *fill_kernel(Graph *g, const Tensor *t, Number x) {
    Kernel *k = kernel_new(g->m, name_of(g->m->names, number_holds(x) ? "fill" : "zero"), t->loc);
    Builder b = {.m = g->m, .k = k, .at = k->body, .loc = t->loc};
    Param p = {
        .name = name_of(g->m->names, "y"), .elem = t->elem, .ndim = t->ndim, .out = true, .ranks = -1, .loc = t->loc};
    memcpy(p.dim, t->dim, sizeof p.dim);
    kernel_param(g->m, k, p);
    Span sub[MAX_DIMS];
    for (int d = 0; d < t->ndim; d++) sub[d] = span_of(affine_term(TERM_POS, fill_range(g, k, t, d), 1, 1));
    Elem e = elem_arith(t->elem);
    Value *v = elem_is_float(e) ? build_const_f(&b, e, number_real(x)) : build_const_i(&b, e, x.i);
    build_store(&b, 0, sub, t->ndim, v, STORE_SET);
    return k;
}

static void fill_add(Graph *g, const ProgValue *to, Number x, Loc loc) {
    Tensor t = value_tensor(g, to);
    Node n = {.kind = NODE_CALL, .loc = loc, .kernel = fill_kernel(g, &t, x)};
    vec_push(g->arena, &n.arg, value_arg(to));
    node_new(g, n);
}

void zero_add(Graph *g, const ProgValue *result, Loc loc) { fill_add(g, result, number_integer(0), loc); }

static bool number_fits(Graph *g, const ProgValue *n, Elem e) {
    const bool good = number_is_of(n->number, e);
    if (!good)
        diag_error(g->diags, n->loc, "type-mismatch", "this is assigned to %s, and %s is none", elem_text(e),
                   number_text(g->arena, n->number));
    return good;
}

ProgValue number_fill(Graph *g, const ProgValue *n, const Expected *want) {
    Tensor t = *want->like;
    TensorInfo info = {.whole_elem = want->elem};
    bool scalar = t.ndim == 0;
    if (!number_fits(g, n, want->elem)) return prog_error(n->loc);
    t.role = ROLE_TEMP;
    t.elem = want->elem;
    t.loc = n->loc;
    t.name = want->name;
    if (scalar) t.ndim = 1, t.dim[0] = size_number(1);
    dims_place(&t);
    ProgValue v = prog_tensor(g, output_takes(g, &t, want->into) ? want->into : tensor_new(g, t, &info), n->loc);
    fill_add(g, &v, n->number, n->loc);
    return scalar ? scalar_of(g, v) : v;
}
