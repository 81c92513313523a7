/* inline.c: calls of programs. The called one's statements are expanded in place, its names bound like a
   kernel's. Takes a call; gives the values of its results, with the placements that the body makes of its arguments. */
#include "frontend/program/program.h"

enum { EXPANSIONS = 4096 };

typedef struct {
    Prog *c;
    const Decl *d; /* flat: records as their fields, extents without placements */
    ProgValues arg;
    Loc loc;
    ParamDecls stored;    /* plain parameters that this call gives weights in formats: they bind extents, too, .. */
    VEC(ActualArg) stands; /* .. as what those stand for */
    const Expected *want; /* of each declared result */
    Binding bound;        /* of the head to the call */
} Inline;

/* ---- heads ---- */

static bool extents_are_global(Front *f, const ParamDecls *list) {
    for (int i = 0; i < list->n; i++)
        for (int d = 0; d < list->p[i].type.shape.n; d++) {
            const Expr *e = list->p[i].type.shape.p[d];
            Size s;
            if (e->kind == EXPR_BINARY && e->op == AST_AT) e = e->lhs;
            if (e->kind == EXPR_NAME && global_find(&f->lower, e->name, e->loc, &s) == FOUND_NOT) return false;
        }
    return true;
}

bool program_called_only(Front *f, const Decl *d) {
    for (int i = 0; i < d->params.n; i++)
        if (d->params.p[i].is_const || d->params.p[i].mode == PARAM_INOUT) return true;
    return !extents_are_global(f, &d->params);
}

/* ---- arguments ---- */

static bool arguments_lower(Inline *x, const Expr *call, const Decl *d) {
    bool good = true;
    for (int i = 0; i < call->args.n; i++)
        good = argument_flatten(x->c, call->args.p[i], &d->params.p[i], &x->arg) && good;
    return good;
}

static ActualArg actual_of(const Prog *c, const ProgValue *v) {
    if (v->kind != PROG_TENSOR) return actual_constant(v);
    ActualArg a = {.loc = v->loc};
    Tensor t = value_tensor(c->graph, v);
    a.elem = places_have_partial(c->m, v->place) ? tensor_info(c->graph, v->tensor)->whole_elem : t.elem;
    a.ndim = t.ndim;
    for (int d = 0; d < t.ndim; d++) a.dim[d] = size_whole(t.dim[d]);
    return a;
}

/* A name of the head that is a dim of the file is that dim. */
static bool dims_agree(Prog *c, const Binding *b, Loc call) {
    for (int i = 0; i < b->dim.n; i++) {
        Size s;
        const BoundDim *d = &b->dim.p[i];
        if (global_find(&c->f->lower, d->name, d->loc, &s) != FOUND || size_equal(s, d->size)) continue;
        diag_error(c->diags, call, "shape-mismatch", "'%s' of %s has another extent than the dim '%s'", d->from,
                   b->decl->name, d->name);
        diag_note(c->diags, d->loc, "'%s' is named here", d->name);
        return false;
    }
    return true;
}

static bool frame_bind(Inline *x) {
    Prog *c = x->c;
    int n = x->d->results.n;
    ActualArg *actual = ARENA_ARRAY(c->arena, ActualArg, x->arg.n + x->stored.n + 1);
    ExpectedResult *result = ARENA_ARRAY(c->arena, ExpectedResult, n + 1);
    Decl *head = arena_copy(c->arena, x->d, sizeof *x->d);
    head->params = (ParamDecls){0};
    for (int i = 0; i < x->arg.n; i++) {
        ParamDecl p = x->d->params.p[i];
        p.mode = PARAM_IN;
        vec_push(c->arena, &head->params, p);
        actual[i] = actual_of(c, &x->arg.p[i]);
    }
    for (int i = 0; i < x->stored.n; i++) {
        vec_push(c->arena, &head->params, x->stored.p[i]);
        actual[x->arg.n + i] = x->stands.p[i];
    }
    for (int i = 0; i < n; i++) result[i] = (ExpectedResult){x->want[i].elem, x->want[i].has_elem};
    return binding_of_call(&c->f->lower, head, actual, x->arg.n + x->stored.n, result, n, x->loc, &x->bound) &&
           dims_agree(c, &x->bound, x->loc);
}

/* ---- updates in place ---- */

static bool inout_check(const Inline *x, int i) {
    Prog *c = x->c;
    const ProgValue *v = &x->arg.p[i];
    const Tensor *t = &c->graph->p->tensor.p[v->tensor];
    if (t->role == ROLE_INPUT || t->role == ROLE_OUTPUT) {
        diag_error(c->diags, v->loc, "not-assignable", "'%s' is %s: %s cannot update it in place",
                   tensor_text(c->graph, v), t->role == ROLE_INPUT ? "an input" : "an output", x->d->name);
        return false;
    }
    for (int j = 0; j < x->arg.n; j++)
        if (j != i && x->arg.p[j].kind == PROG_TENSOR && x->arg.p[j].tensor == v->tensor) {
            diag_error(c->diags, x->arg.p[j].loc, "inout-overlap",
                       "%s updates '%s' in place, and this is the same tensor", x->d->name, t->name);
            return false;
        }
    return true;
}

static bool inouts_check(const Inline *x) {
    bool good = true;
    for (int i = 0; i < x->arg.n; i++)
        if (x->d->params.p[i].mode == PARAM_INOUT) good = inout_check(x, i) && good;
    return good;
}

/* ---- the body ---- */

static const Tensor *result_like(const Inline *x, const BoundParam *p, const Expected *want) {
    Tensor *t = ARENA_NEW(x->c->arena, Tensor);
    *t = (Tensor){.name = p->decl->name, .elem = p->elem, .ndim = p->decl->type.shape.n, .loc = p->decl->loc};
    for (int d = 0; d < t->ndim; d++) {
        t->dim[d] = p->dim[d];
        if (want->like && want->like->ndim == t->ndim) t->dim[d].axis = want->like->dim[d].axis;
    }
    return t;
}

static void result_declare(const Inline *x, const BoundParam *p, const Expected *want) {
    Expected *e = arena_copy(x->c->arena, want, sizeof *want);
    e->has_elem = true;
    e->elem = p->elem;
    e->like = result_like(x, p, want);
    if (!e->name) e->name = p->decl->name;
    variable_new(x->c->scope, (Variable){.name = p->decl->name,
                                         .loc = p->decl->loc,
                                         .value = prog_error(p->decl->loc),
                                         .read = true,
                                         .output = true,
                                         .result = e});
}

static ProgValue bound_value(const Inline *x, int i) {
    ProgValue v = x->arg.p[i];
    if (x->bound.param.p[i].constant == BOUND_FLOAT) v.number = number_float(number_real(v.number));
    return v;
}

static void names_declare(const Inline *x, const Decl *d) {
    Prog *c = x->c;
    for (int i = 0; i < x->d->params.n; i++) {
        const ParamDecl *p = &x->d->params.p[i];
        bool inout = p->mode == PARAM_INOUT;
        variable_new(c->scope, (Variable){.name = p->name,
                                          .loc = p->loc,
                                          .value = bound_value(x, i),
                                          .read = true,
                                          .state = inout,
                                          .fixed = !inout});
    }
    for (int i = 0; i < x->d->results.n; i++) result_declare(x, &x->bound.param.p[x->d->params.n + x->stored.n + i], &x->want[i]);
    for (int i = 0; i < d->params.n; i++) group_declare(c, &d->params.p[i]);
    for (int i = 0; i < d->results.n; i++) group_declare(c, &d->results.p[i]);
}

static bool expansion_check(Prog *c, const Decl *d, Loc call) {
    if (body_is_open(c->scope, d)) {
        diag_error(c->diags, call, "recursion", "'%s' calls itself", d->name);
        diag_note(c->diags, d->loc, "a call is expanded in place; iterate with repeat");
        return false;
    }
    if (bodies_begun(c->scope) < EXPANSIONS) return true;
    diag_error(c->diags, call, "too-many-nodes", "this expands more than %d calls of programs", EXPANSIONS);
    return false;
}

static bool version_is_there(Prog *c, const Variable *v) {
    if (v->gone.kind != PROG_TENSOR) return true;
    diag_error(c->diags, v->gone.loc, "consumed", "'%s' was updated in place: this version is gone", v->name);
    diag_note(c->diags, v->loc, "the program gives it; copy it before: %s = 1 * ..", v->name);
    return false;
}

static bool results_take(const Inline *x, ProgValue *out) {
    bool good = true;
    int n = 0;
    for (int i = 0; i < x->arg.n; i++)
        if (x->d->params.p[i].mode == PARAM_INOUT) out[n++] = x->arg.p[i];
    for (int i = 0; i < x->d->results.n; i++) {
        const Variable *v = variable_find(x->c->scope, x->d->results.p[i].name);
        good = good && v && v->value.kind == PROG_TENSOR && version_is_there(x->c, v);
        if (good) out[n++] = v->value;
    }
    for (int i = 0; i < n; i++) out[i].loc = x->loc;
    return good;
}

/* `d` as written: its records are names too. */
static bool body_expand(Inline *x, const Decl *d, ProgValue *out) {
    Prog *c = x->c;
    int errors = c->diags->errors;
    body_begin(c->scope, d, &x->bound);
    names_declare(x, d);
    statements_lower(c, &d->body);
    bool good = c->diags->errors == errors && results_take(x, out);
    if (c->diags->errors != errors) diag_note(c->diags, x->loc, "%s is called here", d->name);
    body_end(c->scope);
    return good;
}

static bool inline_call(Inline *x, const Decl *d, ProgValue *out) {
    Prog *c = x->c;
    int n = 0;
    if (!expansion_check(c, d, x->loc) || !frame_bind(x) || !inouts_check(x) || !body_expand(x, d, out)) return false;
    for (int i = 0; i < x->arg.n; i++)
        if (x->d->params.p[i].mode == PARAM_INOUT) value_consume(c->graph, c->scope, &out[n++], x->loc);
    for (int i = 0; i < n + x->d->results.n; i++) out[i].born = update_count(c->graph);
    return true;
}

static Inline inline_new(Prog *c, const Decl *d, Loc loc, const Expected *want) {
    const Decl *flat = decl_flat(c->f, d);
    return (Inline){.c = c, .d = flat, .loc = loc, .want = want + decl_inouts(flat)};
}

/* The arguments are there, one for each parameter. */
static bool program_apply(Prog *c, const Decl *d, const ProgValue *arg, Loc loc, const Expected *want, ProgValue *out) {
    Inline x = inline_new(c, d, loc, want);
    for (int i = 0; i < d->params.n; i++) vec_push(c->arena, &x.arg, arg[i]);
    return inline_call(&x, d, out);
}

static Expr *extent_part(Prog *c, ExprKind kind, Loc loc) {
    Expr *e = ARENA_NEW(c->arena, Expr);
    *e = (Expr){.kind = kind, .loc = loc};
    return e;
}

/* 8, S or S + 8. */
static Expr *extent_expr(Prog *c, Size s, Loc loc) {
    Expr *number = extent_part(c, EXPR_INT, loc);
    number->i = s.c;
    if (s.sym < 0) return number;
    Expr *name = extent_part(c, EXPR_NAME, loc);
    name->name = name_of(c->m->names, c->m->symbol.p[s.sym].name);
    if (!s.c) return name;
    Expr *sum = extent_part(c, EXPR_BINARY, loc);
    sum->op = AST_ADD;
    sum->lhs = name;
    sum->rhs = number;
    return sum;
}

/* The extents of a format's tensor, as `as` would list them. */
static Expr *extents_list(Prog *c, const Tensor *t, Loc loc) {
    Expr *list = extent_part(c, EXPR_LIST, loc);
    for (int d = 0; d < t->ndim; d++) vec_push(c->arena, &list->args, extent_expr(c, t->dim[d], loc));
    return list;
}

/* A weight in a format, named by an argument whose parameter is a plain tensor; NULL: none. */
static const Variable *stored_argument(Prog *c, const Expr *e, const ParamDecl *p) {
    Name name = name_path(c->f, e);
    const Variable *w = name && !p->type.format && p->type.has_shape ? variable_find(c->scope, name) : NULL;
    return w && w->format ? w : NULL;
}

/* The tensor that a format stands for binds the parameter's extents; the call's head has the format's tensors in its place. */
static void stored_add(Inline *x, const Expr *e, const Variable *w, ParamDecl *p) {
    Prog *c = x->c;
    ActualArg a = {.loc = e->loc, .elem = w->stands->elem, .ndim = w->stands->ndim};
    for (int d = 0; d < a.ndim; d++) a.dim[d] = w->stands->dim[d];
    vec_push(c->arena, &x->stored, *p);
    vec_push(c->arena, &x->stands, a);
    p->type.elem = name_of(c->m->names, elem_text(w->stands->elem));
    p->type.format = w->format->name;
    for (int i = 0; i < w->format->params.n; i++) {
        const Variable *part = variable_find(c->scope, name_inside(c->f, w->name, w->format->params.p[i].name));
        const Tensor *t = &c->graph->p->tensor.p[part->value.tensor];
        vec_push(c->arena, &p->type.format_args, extents_list(c, t, e->loc));
    }
}

/* The head of this call: `d`, or a copy that takes weights in formats. */
static const Decl *head_stored(Inline *x, const Expr *e, const Decl *d) {
    Decl *head = NULL;
    for (int i = 0; i < e->args.n; i++) {
        const Variable *w = stored_argument(x->c, e->args.p[i], &d->params.p[i]);
        if (!w) continue;
        if (!head) {
            head = arena_copy(x->c->arena, d, sizeof *d);
            head->params = (ParamDecls){0};
            for (int k = 0; k < d->params.n; k++) vec_push(x->c->arena, &head->params, d->params.p[k]);
        }
        stored_add(x, e->args.p[i], w, &head->params.p[i]);
    }
    return head ? head : d;
}

bool program_call(Prog *c, const Expr *e, const Decl *d, const Expected *want, int n, ProgValue *out) {
    if (!arguments_count(c, e, d, n)) return false;
    Inline x = inline_new(c, d, e->loc, want);
    const Decl *head = head_stored(&x, e, d);
    x.d = decl_flat(c->f, head);
    return arguments_lower(&x, e, head) && inline_call(&x, head, out);
}

/* ---- linear(x, W), of a weight in a format: its apply is called ---- */

/* The format's tensors stand before apply's own parameter. */
static Decl *apply_head(Prog *c, const Decl *format) {
    Decl *d = arena_copy(c->arena, format->inner.p[0], sizeof(Decl));
    const ParamDecls own = d->params;
    d->params = (ParamDecls){0};
    d->name = name_of(c->m->names, arena_format(c->arena, "%s.apply", format->name));
    for (int i = 0; i < format->params.n; i++) vec_push(c->arena, &d->params, format->params.p[i]);
    for (int i = 0; i < own.n; i++) vec_push(c->arena, &d->params, own.p[i]);
    return d;
}

static bool elem_fits(Prog *c, const ProgValue *x, const Variable *w) {
    Elem e = tensor_info(c->graph, x->tensor)->whole_elem;
    if (e == w->stands->elem) return true;
    diag_error(c->diags, x->loc, "type-mismatch", "'%s' is %s, and '%s' stands for %s", tensor_text(c->graph, x),
               elem_text(e), w->name, elem_text(w->stands->elem));
    diag_note(c->diags, x->loc, "convert it: %s(..)", elem_text(w->stands->elem));
    return false;
}

bool format_apply(Prog *c, const Expr *e, const Variable *w, const Expected *want, ProgValue *out) {
    const Decl *format = w->format;
    Name name = w->name;
    ProgValue *arg = ARENA_ARRAY(c->arena, ProgValue, format->params.n + 1);
    for (int i = 0; i < format->params.n; i++) {
        Name part = name_inside(c->f, name, format->params.p[i].name);
        arg[i] = variable_find(c->scope, part)->value;
        arg[i].loc = e->args.p[1]->loc;
    }
    ProgValue x = tensor_lower(c, e->args.p[0], &expected_nothing);
    if (x.kind != PROG_TENSOR || !elem_fits(c, &x, variable_find(c->scope, name))) return false;
    arg[format->params.n] = x;
    return program_apply(c, apply_head(c, format), arg, e->loc, want, out);
}
