/* spot.c: places known at run time: x[l], x[at[0] + 1], where l is a scalar and at a tensor of integers.
   Takes a subscript; gives a sum over the program's sources, scalars and elements of integer tensors. A node of which
   an argument is a part at such places gets a kernel that takes the whole tensor, and each access those subscripts. */
#include "frontend/program/program.h"

#include <string.h>

/* ---- subscripts as sums of sources: terms TERM_INDEX, whose ids number them ---- */

static bool report(Prog *c, Loc loc, const char *id, const char *text) {
    diag_error(c->diags, loc, id, "%s", text);
    return false;
}

static bool source_add(Prog *c, ProgValue v, Affine *out) {
    int i = 0;
    if (v.kind != PROG_TENSOR) return false;
    Tensor t = value_tensor(c, &v);
    if (t.ndim != 0 || !elem_is_int(t.elem))
        return report(c, v.loc, "subscript-type",
                      "a place is made of numbers, integer scalars and elements of integer tensors");
    if (!value_is_whole(c, &v, "a place")) return false;
    while (i < c->source.n && !value_equal(&c->source.p[i], &v)) i++;
    if (i == INT16_MAX) return report(c, v.loc, "unsupported", "not supported yet: more places known at run time only");
    if (i == c->source.n) vec_push(c->arena, &c->source, v);
    *out = affine_term(TERM_INDEX, i, 1, 1);
    return true;
}

static bool number_of(const Affine *a, int64_t *n) { return affine_is_const(a) ? *n = a->c, true : false; }

static bool combine(AstOp op, Affine *a, Affine *b) {
    int64_t n;
    switch (op) {
    case AST_ADD: return affine_add(a, b, 1);
    case AST_SUB: return affine_add(a, b, -1);
    case AST_MUL: return number_of(b, &n) ? affine_scale(a, n) : number_of(a, &n) && (*a = *b, affine_scale(a, n));
    case AST_DIV: return number_of(b, &n) && affine_divide(a, n);
    case AST_MOD: return number_of(b, &n) && affine_modulo(a, n);
    default: return false;
    }
}

static bool spot_binary(Prog *c, const Expr *e, Affine *out) {
    Affine b;
    if (!spot_lower(c, e->lhs, out) || !spot_lower(c, e->rhs, &b)) return false;
    if (combine(e->op, out, &b)) return true;
    return report(c, e->loc, "unsupported",
                  "not supported yet: a place other than sums of scalars, with factors and floor divisions by numbers");
}

bool spot_lower(Prog *c, const Expr *e, Affine *out) {
    ProgValue n;
    if (number_of_expr(c->scope, e, &n)) {
        *out = affine_const((int64_t)n.number);
        return n.is_integer || report(c, e->loc, "subscript-type", "a place is an integer");
    }
    if (e->kind == EXPR_BINARY) return spot_binary(c, e, out);
    return source_add(c, tensor_lower(c, e, &expected_nothing), out);
}

/* ---- kernels that take the whole tensor ---- */

typedef struct {
    Prog *c;
    Node *node;
    Builder b; /* where the places are computed: before everything else */
    Value **source;
} Widen;

static Affine spot_affine(Widen *w, const Affine *spot);

static Span *spots_lower(Widen *w, const ProgValue *v) {
    Span *sub = ARENA_ARRAY(w->c->arena, Span, v->nspot + 1);
    for (int i = 0; i < v->nspot; i++) sub[i] = span_of(spot_affine(w, &v->spot[i]));
    return sub;
}

static Value *source_value(Widen *w, int i) {
    const ProgValue *v = &w->c->source.p[i];
    if (w->source[i]) return w->source[i];
    const Span *sub = spots_lower(w, v);
    ProgValue whole = value_unspotted(v);
    Tensor t = value_tensor(w->c, &whole);
    Param p = {.name = t.name, .elem = t.elem, .ndim = t.ndim, .ranks = -1, .loc = t.loc};
    memcpy(p.dim, t.dim, sizeof p.dim);
    int param = kernel_param(w->b.m, w->b.k, p);
    vec_push(w->c->arena, &w->node->arg, value_arg(v));
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
        for (int i = 0; i < n; i++) vec_push(w->c->arena, &sub, spot[i]);
        for (int i = drop; i < op->sub.n; i++) vec_push(w->c->arena, &sub, op->sub.p[i]);
        op->sub.p = sub.p, op->sub.n = op->sub.cap = sub.n;
    }
}

/* What is stored to in part keeps the rest. A result without extents becomes an element. */
static void param_widen(Widen *w, Region *body, int param, const ProgValue *v) {
    const Span *spot = spots_lower(w, v);
    ProgValue unspotted = value_unspotted(v);
    Tensor whole = value_tensor(w->c, &unspotted);
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
                return report(w->c, v[i]->loc, "inout-overlap",
                              "the place of this part is in the tensor that is updated");
    }
    return true;
}

bool node_widen(Prog *c, Node *node, const ProgValue *const *v, int n) {
    int spots = 0;
    for (int i = 0; i < n; i++) spots += v[i]->nspot;
    if (!spots) return true;
    Region aside = {0};
    node->kernel = kernel_clone(c->m, node->kernel);
    region_take(&aside, node->kernel->body);
    Widen w = {.c = c, .node = node, .source = ARENA_ARRAY(c->arena, Value *, c->source.n + 1)};
    w.b = (Builder){.m = c->m, .k = node->kernel, .at = node->kernel->body, .loc = node->loc};
    for (int i = 0; i < n; i++)
        if (v[i]->nspot) param_widen(&w, &aside, i, v[i]);
    region_take(node->kernel->body, &aside);
    return sources_apart(&w, v, n);
}
