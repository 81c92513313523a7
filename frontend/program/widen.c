/* widen.c: kernels of parts at places known at run time.
   Takes a node of which an argument is such a part; gives it a kernel that takes the whole tensor, and each access
   those subscripts. */
#include "frontend/program/graph.h"

#include <string.h>

typedef struct {
    const Graph *g;
    Node *node;
    Builder b; /* where the places are computed: before everything else */
    Value **source;
} Widen;

static Affine spot_affine(Widen *w, const Affine *spot);

static Span *spots_lower(Widen *w, const ProgValue *v) {
    Span *sub = ARENA_ARRAY(w->g->arena, Span, v->nspot + 1);
    for (int i = 0; i < v->nspot; i++) sub[i] = span_of(spot_affine(w, &v->spot[i]));
    return sub;
}

static Value *source_value(Widen *w, int i) {
    const ProgValue *v = source_at(w->g, i);
    if (w->source[i]) return w->source[i];
    const Span *sub = spots_lower(w, v);
    ProgValue whole = value_unspotted(v);
    Tensor t = value_tensor(w->g, &whole);
    Param p = {.name = t.name, .elem = t.elem, .ndim = t.ndim, .ranks = -1, .loc = t.loc};
    memcpy(p.dim, t.dim, sizeof p.dim);
    int param = kernel_param(w->b.m, w->b.k, p);
    vec_push(w->g->arena, &w->node->arg, value_arg(v));
    Value *x = build_load(&w->b, param, sub, v->nspot);
    return w->source[i] = build_cast(&w->b, elem_arith(t.elem), x);
}

static Affine spot_affine(Widen *w, const Affine *spot) {
    Affine a = *spot;
    for (int i = 0; i < a.nterm; i++) {
        a.term[i].kind = TERM_VALUE;
        a.term[i].value = source_value(w, a.term[i].id);
        a.term[i].id = -1;
    }
    return a;
}

/* Subscripts for the places, then the access's own behind the first `drop`. */
static void accesses_widen(Widen *w, Region *r, int param, const Span *spot, int n, int drop) {
    for (Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op_info[op->kind].class != CLASS_MEMORY || op->param != param) continue;
        VEC(Span) sub = {0};
        for (int i = 0; i < n; i++) vec_push(w->g->arena, &sub, spot[i]);
        for (int i = drop; i < op->sub.n; i++) vec_push(w->g->arena, &sub, op->sub.p[i]);
        op->sub.p = sub.p, op->sub.n = op->sub.cap = sub.n;
    }
}

/* What is stored to in part keeps the rest. A result without extents becomes an element. */
static void param_widen(Widen *w, Region *body, int param, const ProgValue *v) {
    const Span *spot = spots_lower(w, v);
    ProgValue unspotted = value_unspotted(v);
    Tensor whole = value_tensor(w->g, &unspotted);
    Param *p = &w->b.k->param.p[param];
    int keep = whole.ndim - v->nspot, drop = p->ndim - keep;
    memmove(p->dim + v->nspot, p->dim + drop, sizeof *p->dim * (size_t)keep);
    memcpy(p->dim, whole.dim, sizeof *p->dim * (size_t)v->nspot);
    p->ndim = whole.ndim;
    if (p->out) p->out = false, p->inout = true;
    accesses_widen(w, body, param, spot, v->nspot, drop);
}

static bool sources_apart(const Widen *w, const ProgValue *const *v, int n) {
    for (int i = 0; i < n; i++) {
        const Param *p = &w->b.k->param.p[i];
        for (int a = n; (p->out || p->inout) && a < w->node->arg.n; a++)
            if (w->node->arg.p[a].tensor == v[i]->tensor)
                return diag_error(w->g->diags, v[i]->loc, "inout-overlap",
                                  "the place of this part is in the tensor that is updated"),
                       false;
    }
    return true;
}

static bool starts_are_whole(const Graph *g, const Kernel *k, const ProgValue *const *v) {
    for (int i = 0; i < k->ngrid; i++) {
        int starts = k->range.p[i].starts;
        if (!starts || !v[starts - 1]->nspot) continue;
        diag_error(g->diags, v[starts - 1]->loc, "unsupported", "not supported yet: starts of groups at a place that a run decides");
        return false;
    }
    return true;
}

bool node_widen(const Graph *g, Node *node, const ProgValue *const *v, int n) {
    int spots = 0;
    for (int i = 0; i < n; i++) spots += v[i]->nspot;
    if (!spots) return true;
    if (!starts_are_whole(g, node->kernel, v)) return false;
    Region aside = {0};
    node->kernel = kernel_clone(g->m, node->kernel);
    region_take(&aside, node->kernel->body);
    Widen w = {.g = g, .node = node, .source = ARENA_ARRAY(g->arena, Value *, source_count(g) + 1)};
    w.b = (Builder){.m = g->m, .k = node->kernel, .at = node->kernel->body, .loc = node->loc};
    for (int i = 0; i < n; i++)
        if (v[i]->nspot) param_widen(&w, &aside, i, v[i]);
    region_take(node->kernel->body, &aside);
    return sources_apart(&w, v, n);
}
