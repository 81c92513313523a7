/* graph.c: the nodes and tensors of a program as they are made, and values as tensors of it.
   Takes nodes and tensors in order; gives the Program, the condition of each node, names that are free. */
#include "frontend/program/graph.h"

#include <string.h>

struct GraphState {
    Program *p;
    PtrMap taken; /* names of tensors */
    VEC(TensorInfo) info;
    ProgValues source, updated;
    int when;
};

Graph *graph_new(Front *f, const Decl *d) {
    Graph *g = ARENA_NEW(f->arena, Graph);
    struct GraphState *state = ARENA_NEW(f->arena, struct GraphState);
    *state = (struct GraphState){.p = program_new(f->lower.m, d->name, d->loc)};
    *g = (Graph){.f = f, .m = f->lower.m, .arena = f->arena, .diags = f->diags, .p = state->p, .state = state};
    return g;
}

/* ---- tensors ---- */

/* The map holds the number to try next, so that a name made a thousand times is found at once. */
static Name name_free(Graph *g, Name name) {
    PtrMap *taken = &g->state->taken;
    intptr_t next = (intptr_t)ptrmap_get(taken, name);
    Name found = name;
    while (next && ptrmap_get(taken, found))
        found = name_of(g->m->names, arena_format(g->arena, "%s_%lld", name, (long long)next++));
    ptrmap_put(g->arena, taken, name, (void *)(next ? next : 2));
    if (found != name) ptrmap_put(g->arena, taken, found, (void *)2);
    return found;
}

int tensor_new(Graph *g, Tensor t, const TensorInfo *info) {
    t.name = name_free(g, t.name);
    t.symmetric = -1;
    t.slots = 1;
    vec_push(g->arena, &g->state->info, *info);
    return program_tensor(g->m, g->state->p, t);
}

const TensorInfo *tensor_info(const Graph *g, int tensor) { return &g->state->info.p[tensor]; }

void interface_add(Graph *g, int tensor) { vec_push(g->arena, &g->state->p->io, tensor); }

/* ---- nodes ---- */

void node_new(Graph *g, Node n) {
    n.when = g->state->when;
    program_node(g->m, g->state->p, n);
}

void node_always(Graph *g, Node n) { program_node(g->m, g->state->p, n); }

int condition_now(const Graph *g) { return g->state->when; }

void condition_set(Graph *g, int when) { g->state->when = when; }

/* ---- places and updates ---- */

int source_number(Graph *g, const ProgValue *v) {
    ProgValues *list = &g->state->source;
    int i = 0;
    while (i < list->n && !value_equal(&list->p[i], v)) i++;
    if (i == INT16_MAX) return -1;
    if (i == list->n) vec_push(g->arena, list, *v);
    return i;
}

int source_count(const Graph *g) { return g->state->source.n; }

const ProgValue *source_at(const Graph *g, int i) { return &g->state->source.p[i]; }

int update_count(const Graph *g) { return g->state->updated.n; }

const ProgValue *update_at(const Graph *g, int i) { return &g->state->updated.p[i]; }

void update_add(Graph *g, ProgValue v) { vec_push(g->arena, &g->state->updated, v); }

void updates_forget(Graph *g, int count) { g->state->updated.n = count; }

/* ---- values ---- */

ProgValue prog_tensor(const Graph *g, int tensor, Loc loc) {
    ProgValue v = {.kind = PROG_TENSOR, .loc = loc, .tensor = tensor, .born = update_count(g)};
    memcpy(v.place, g->p->tensor.p[tensor].place, sizeof v.place);
    return v;
}

static void dims_drop(Tensor *t, int n) {
    t->ndim -= n;
    memmove(t->dim, t->dim + n, sizeof *t->dim * (size_t)t->ndim);
}

Tensor value_tensor(const Graph *g, const ProgValue *v) {
    Tensor t = g->p->tensor.p[v->tensor];
    t.checked = false; /* where it comes in, and not again */
    dims_drop(&t, v->lead);
    if (v->view) {
        t.ndim = v->view->ndim;
        memcpy(t.dim, v->view->dim, sizeof t.dim);
    }
    dims_drop(&t, v->nspot);
    return t;
}

ProgValue scalar_of(const Graph *g, ProgValue v) {
    v.spot = ARENA_NEW(g->arena, Affine);
    v.nspot = 1;
    return v;
}

ProgValue scalar_new(Graph *g, Tensor t, const TensorInfo *info, Loc loc) {
    t.ndim = 1;
    t.dim[0] = size_number(1);
    return scalar_of(g, prog_tensor(g, tensor_new(g, t, info), loc));
}

bool value_is_scalar(const Graph *g, const ProgValue *v) {
    const Tensor *t = &g->p->tensor.p[v->tensor];
    return v->kind == PROG_TENSOR && t->ndim == 1 && v->nspot == 1 && !v->view && affine_is_const(&v->spot[0]) &&
           size_is_number(t->dim[0]) && t->dim[0].c == 1;
}

const char *tensor_text(const Graph *g, const ProgValue *v) {
    const SourceFile *f = v->loc.file ? &g->diags->file.p[v->loc.file - 1] : NULL;
    size_t n = v->loc.end > v->loc.begin ? v->loc.end - v->loc.begin : 0;
    if (!f || n == 0 || n > 60 || memchr(f->text + v->loc.begin, '\n', n)) return g->p->tensor.p[v->tensor].name;
    return arena_text(g->arena, f->text + v->loc.begin, n);
}
