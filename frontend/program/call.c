/* call.c: calls of kernels: arguments, the instance for them, placements, the node.
   Takes a call and what is expected of its results; gives one tensor for each. */
#include "frontend/sema/const.h"
#include "frontend/program/program.h"

#include <string.h>

typedef struct {
    Prog *c;
    const Decl *d;
    ProgValue *arg;
    int narg;
    Loc loc;
    const Expected *want; /* of each declared result */
    int n; /* declared results */
    Arg *part; /* of each argument */
    Kernel *k;
    Place (*place)[MAX_AXES]; /* of each parameter of the instance */
    TensorInfo cause;
} Call;

/* ---- arguments ---- */

static bool is_extent(Prog *c, const Expr *e) {
    Size s;
    if (e->kind == EXPR_BINARY) return is_extent(c, e->lhs) && e->rhs->kind == EXPR_INT;
    if (e->kind != EXPR_NAME) return false;
    const Variable *v = variable_find(c->scope, e->name);
    if (v) return v->value.kind == PROG_SIZE;
    return dim_find(c->scope, e->name, e->loc, &s) == FOUND;
}

ProgValue argument_lower(Prog *c, const Expr *e, const ParamDecl *p) {
    ProgValue v;
    Expected want = expected_nothing;
    want.has_elem = elem_parse(p->type.elem, &want.elem);
    if (!p->type.has_shape && number_of_expr(c->scope, e, &v)) return v;
    if (p->is_const && is_extent(c, e)) {
        v = (ProgValue){.kind = PROG_SIZE, .loc = e->loc, .is_integer = true};
        return extent_of(c->scope, e, &v.size) ? v : prog_error(e->loc);
    }
    return tensor_lower(c, e, &want);
}

static bool count_fits(Prog *c, const Expr *e, const Decl *d) {
    if (e->args.n == d->params.n) return true;
    diag_error(c->diags, e->loc, "wrong-arguments", "%s takes %d argument%s, not %d", d->name, d->params.n,
               d->params.n == 1 ? "" : "s", e->args.n);
    diag_note(c->diags, d->loc, "'%s' is declared here", d->name);
    return false;
}

ActualArg actual_constant(const ProgValue *v) {
    return (ActualArg){.is_const = true,
                       .is_size = v->kind == PROG_SIZE,
                       .size = v->size,
                       .number = v->number,
                       .is_integer = v->is_integer,
                       .loc = v->loc};
}

static ActualArg actual_of(const Call *k, int i) {
    const ProgValue *v = &k->arg[i];
    if (v->kind != PROG_TENSOR) return actual_constant(v);
    ActualArg a = {.loc = v->loc};
    Tensor t = value_tensor(k->c, v);
    a.elem = t.elem;
    a.ndim = t.ndim;
    for (int d = 0; d < t.ndim; d++) {
        a.dim[d] = size_split(t.dim[d], k->part[i].slice[value_lead(v) + d]);
    }
    return a;
}

/* ---- the instance ---- */

static bool instance_place(Call *k, const ActualArg *actual, const ExpectedResult *expected, int *whole) {
    *whole = -1;
    k->k = kernel_instantiate(&k->c->f->lower, k->d, actual, k->narg, expected, k->n, k->loc);
    if (!k->k) return false;
    k->place = arena_alloc(k->c->arena, sizeof *k->place * (size_t)(k->k->param.n + 1));
    k->cause = (TensorInfo){0};
    return places_find(k->c, k->d, k->k, k->arg, k->narg, k->place, &k->cause, whole);
}

static bool instance_find(Call *k, const ExpectedResult *expected) {
    ActualArg *actual = ARENA_ARRAY(k->c->arena, ActualArg, k->narg + 1);
    int whole;
    for (int i = 0; i < k->narg; i++) actual[i] = actual_of(k, i);
    while (!instance_place(k, actual, expected, &whole)) {
        if (whole < 0) return false;
        actual[whole].global = true;
    }
    return true;
}

static int result_param(const Call *k, int i) { return k->k->param.n - k->d->results.n + i; }

static bool is_generic(const Call *k, int i) {
    Elem e;
    return !elem_parse(k->d->results.p[i].type.elem, &e);
}

/* Shares of a sum are carried in f32 where the result's type is the caller's to choose. */
static bool carry_shares(Call *k, ExpectedResult *expected, Elem *whole) {
    bool again = false;
    for (int i = 0; i < k->n; i++) {
        const Param *p = &k->k->param.p[result_param(k, i)];
        if (!k->want[i].reduced) whole[i] = p->elem;
        if (!is_generic(k, i) || !places_have_partial(k->c->m, k->place[result_param(k, i)]) || elem_arith(p->elem) == p->elem) continue;
        expected[i] = (ExpectedResult){elem_arith(p->elem), true};
        again = true;
    }
    return !again || instance_find(k, expected);
}

static Elem first_elem(const Call *k) {
    for (int i = 0; i < k->narg; i++)
        if (k->arg[i].kind == PROG_TENSOR && k->c->p->tensor.p[k->arg[i].tensor].ndim > 0)
            return k->c->p->tensor.p[k->arg[i].tensor].elem;
    return ELEM_F32;
}

/* The type a result has as a whole; *expected: that of this call. */
static Elem whole_elem(const Call *k, int i, ExpectedResult *expected) {
    Elem e = ELEM_F32;
    const Expected *want = &k->want[i];
    if (!elem_parse(k->d->results.p[i].type.elem, &e)) e = want->has_elem ? want->elem : first_elem(k);
    *expected = (ExpectedResult){want->has_elem ? want->elem : e, want->has_elem};
    if (want->reduced) *expected = (ExpectedResult){elem_arith(e), true};
    return e;
}

/* ---- inout arguments ---- */

int decl_inouts(const Decl *d) {
    int n = 0;
    for (int i = 0; i < d->params.n; i++) n += d->params.p[i].mode == PARAM_INOUT;
    return n;
}

static bool inout_argument(const Call *k, int i) {
    Prog *c = k->c;
    const ProgValue *v = &k->arg[i];
    const Tensor *t = &c->p->tensor.p[v->tensor];
    if (t->role == ROLE_INPUT || t->role == ROLE_OUTPUT) {
        diag_error(c->diags, v->loc, "not-assignable", "'%s' is %s: %s cannot update it in place", tensor_text(c, v),
                   t->role == ROLE_INPUT ? "an input" : "an output", k->d->name);
        diag_note(c->diags, t->loc, t->role == ROLE_INPUT ? "declared here; make it state" : "declared here; use a name of its own");
        return false;
    }
    if (value_is_fixed(c->scope, v)) {
        diag_error(c->diags, v->loc, "not-assignable", "'%s' is a parameter of %s: it cannot be updated in place",
                   tensor_text(c, v), body_decl(c->scope)->name);
        return false;
    }
    for (int j = 0; j < k->narg; j++)
        if (j != i && k->arg[j].kind == PROG_TENSOR && k->arg[j].tensor == v->tensor) {
            diag_error(c->diags, k->arg[j].loc, "inout-overlap", "%s updates '%s' in place, and this is the same tensor", k->d->name,
                       t->name);
            return false;
        }
    return true;
}

/* Parameters of the instance leave out constants. */
static bool inouts_fit(const Call *k) {
    bool good = true;
    for (int i = 0, p = 0; i < k->narg; i++) {
        if (k->arg[i].kind != PROG_TENSOR) continue;
        if (k->d->params.p[i].mode == PARAM_INOUT)
            good = inout_argument(k, i) && inout_stays(k->c, &k->k->param.p[p], &k->arg[i], &k->part[i], k->place[p]) && good;
        p++;
    }
    return good;
}

static void inouts_give(const Call *k, ProgValue *out) {
    for (int i = 0, n = 0; i < k->narg; i++) {
        if (k->d->params.p[i].mode != PARAM_INOUT) continue;
        value_consume(k->c, &k->arg[i], k->loc);
        out[n] = k->arg[i];
        out[n].born = k->c->updated.n;
        out[n++].loc = k->loc;
    }
}

/* ---- results ---- */

static Name tensor_name(const Call *k, int i) {
    if (k->want[i].name) return k->want[i].name;
    if (k->d->results.n == 1) return k->d->name;
    return name_of(k->c->m->names, arena_format(k->c->arena, "%s_%s", k->d->name, k->d->results.p[i].name));
}

/* The program's name for the dimension that the kernel calls `own`. */
static Name dim_whole(const Call *k, Name own) {
    for (int i = 0; i < k->narg; i++) {
        const Exprs *shape = &k->d->params.p[i].type.shape;
        for (int d = 0; k->arg[i].kind == PROG_TENSOR && d < shape->n; d++)
            if (shape->p[d]->kind == EXPR_NAME && shape->p[d]->name == own)
                return k->arg[i].view ? NULL : k->c->info.p[k->arg[i].tensor].dim[value_lead(&k->arg[i]) + d].whole;
    }
    return NULL;
}

static TensorInfo result_info(const Call *k, int i, Elem whole) {
    TensorInfo info = k->cause;
    const Exprs *shape = &k->d->results.p[i].type.shape;
    info.whole_elem = whole;
    for (int d = 0; d < shape->n; d++)
        if (shape->p[d]->kind == EXPR_NAME) info.dim[d] = (DimName){shape->p[d]->name, dim_whole(k, shape->p[d]->name)};
    return info;
}

static int result_tensor(const Call *k, int i, Elem whole) {
    const Param *p = &k->k->param.p[result_param(k, i)];
    Tensor t = {.name = tensor_name(k, i), .elem = p->elem, .ndim = p->ndim, .role = ROLE_TEMP, .loc = k->loc};
    memcpy(t.dim, p->dim, sizeof t.dim);
    memcpy(t.place, k->place[result_param(k, i)], sizeof t.place);
    if (output_takes(k->c, &t, k->want[i].into)) return k->want[i].into;
    TensorInfo info = result_info(k, i, whole);
    return tensor_new(k->c, t, &info);
}

static bool node_add(const Call *k, const ProgValue *result) {
    Node n = {.kind = NODE_CALL, .loc = k->loc, .kernel = k->k};
    VEC(const ProgValue *) value = {0};
    for (int i = 0; i < k->narg; i++) {
        if (k->arg[i].kind != PROG_TENSOR) continue;
        vec_push(k->c->arena, &n.arg, k->part[i]);
        vec_push(k->c->arena, &value, &k->arg[i]);
    }
    for (int i = 0; i < k->n; i++) {
        ProgValue *to = arena_copy(k->c->arena, &result[i], sizeof *to);
        if (value_is_scalar(k->c, to)) *to = value_unspotted(to);
        vec_push(k->c->arena, &n.arg, value_arg(to));
        vec_push(k->c->arena, &value, to);
    }
    for (int i = 0; i < value.n; i++)
        if (!value_lives(k->c, value.p[i])) return false;
    if (!node_widen(k->c, &n, value.p, value.n)) return false;
    node_new(k->c, n);
    return true;
}

bool call_apply(Prog *c, const Decl *d, ProgValue *arg, int narg, Loc loc, const Expected *want, int n,
                ProgValue *out) {
    int inouts = decl_inouts(d);
    n -= inouts;
    Call k = {.c = c,
              .d = d,
              .arg = arg,
              .narg = narg,
              .loc = loc,
              .want = want + inouts,
              .n = n,
              .part = ARENA_ARRAY(c->arena, Arg, narg + 1)};
    ExpectedResult *expected = ARENA_ARRAY(c->arena, ExpectedResult, n + 1);
    Elem *whole = ARENA_ARRAY(c->arena, Elem, n + 1);
    for (int i = 0; i < narg; i++)
        if (arg[i].kind == PROG_ERROR) return false;
    for (int i = 0; i < n; i++) whole[i] = whole_elem(&k, i, &expected[i]);
    if (!slices_find(c, d, arg, narg, k.part) || !instance_find(&k, expected) || !carry_shares(&k, expected, whole))
        return false;
    if (!inouts_fit(&k)) return false;
    for (int i = 0; i < n; i++) out[inouts + i] = prog_tensor(c, result_tensor(&k, i, whole[i]), loc);
    for (int i = 0; i < n; i++)
        if (k.k->param.p[result_param(&k, i)].inout) zero_add(c, &out[inouts + i], loc);
    if (!node_add(&k, out + inouts)) return false;
    for (int i = 0; i < n; i++)
        if (!d->results.p[i].type.has_shape) out[inouts + i] = scalar_of(c, out[inouts + i]);
    inouts_give(&k, out);
    return true;
}

bool call_copy(Prog *c, const Decl *d, ProgValue *from, const ProgValue *to, Loc loc) {
    Tensor have = value_tensor(c, from), want = value_tensor(c, to);
    bool sliced = false;
    for (int i = 0; i < have.ndim; i++) sliced = sliced || have.dim[i].axis != want.dim[i].axis;
    if (sliced && from->view) *from = value_whole(c, *from);
    if (from->kind != PROG_TENSOR) return false;
    Arg part = value_arg(from);
    Call k = {.c = c, .d = d, .arg = from, .narg = 1, .loc = loc, .n = 1, .part = &part};
    for (int i = 0; i < have.ndim; i++) {
        int rest;
        bool more = axes_begin_with(want.dim[i].axis, have.dim[i].axis, &rest);
        if (more) part.slice[value_lead(from) + i] = (int16_t)rest;
    }
    ActualArg actual = actual_of(&k, 0);
    ExpectedResult expected = {want.elem, true};
    k.k = kernel_instantiate(&c->f->lower, d, &actual, 1, &expected, 1, loc);
    return k.k && node_add(&k, to);
}

bool arguments_count(Prog *c, const Expr *e, const Decl *d, int n) {
    const Decl *flat = decl_flat(c, d);
    int have = decl_inouts(flat) + flat->results.n;
    if (!count_fits(c, e, d)) return false;
    if (have == n) return true;
    diag_error(c->diags, e->loc, "wrong-results", "%s gives %d results, and one is taken", d->name, have);
    diag_note(c->diags, e->loc, "name each of them: a, b = %s(..)", d->name);
    return false;
}

bool call_values(Prog *c, const Expr *e, const Decl *d, const Expected *want, int n, ProgValue *out) {
    if (!arguments_count(c, e, d, n)) return false;
    ProgValues arg = {0};
    bool good = true;
    for (int i = 0; i < e->args.n; i++) good = argument_flatten(c, e->args.p[i], &d->params.p[i], &arg) && good;
    return good && call_apply(c, decl_flat(c, d), arg.p, arg.n, e->loc, want, n, out);
}
