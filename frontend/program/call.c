/* call.c: calls of kernels: the instance for the arguments, placements, the node.
   Takes arguments and what is expected of the results; gives one tensor for each. */
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

/* ---- the instance ---- */

ActualArg actual_constant(const ProgValue *v) {
    return (ActualArg){
        .is_const = true, .is_size = v->kind == PROG_SIZE, .size = v->size, .number = v->number, .loc = v->loc};
}

static ActualArg actual_of(const Call *k, int i) {
    const ProgValue *v = &k->arg[i];
    return v->kind == PROG_TENSOR ? actual_of_tensor(k->c->graph, v, &k->part[i]) : actual_constant(v);
}

static bool instance_place(Call *k, const ActualArg *actual, const ExpectedResult *expected, int *whole) {
    *whole = -1;
    k->k = kernel_instantiate(&k->c->f->lower, k->d, actual, k->narg, expected, k->n, k->loc);
    if (!k->k) return false;
    k->place = arena_alloc(k->c->arena, sizeof *k->place * (size_t)(k->k->param.n + 1));
    k->cause = (TensorInfo){0};
    return places_find(k->c->graph, k->d, k->k, k->arg, k->narg, k->place, &k->cause, whole);
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

/* Shares of a sum are carried in f32 where the result's type is the caller's to choose, and no statement says one. */
static bool carry_shares(Call *k, ExpectedResult *expected, Elem *whole) {
    bool again = false;
    for (int i = 0; i < k->n; i++) {
        const Param *p = &k->k->param.p[result_param(k, i)];
        if (!k->want[i].reduced) whole[i] = p->elem;
        if (k->want[i].stated || !is_generic(k, i) || !places_have_partial(k->c->m, k->place[result_param(k, i)]) || elem_arith(p->elem) == p->elem) continue;
        expected[i] = (ExpectedResult){elem_arith(p->elem), true};
        again = true;
    }
    return !again || instance_find(k, expected);
}

static Elem first_elem(const Call *k) {
    for (int i = 0; i < k->narg; i++)
        if (k->arg[i].kind == PROG_TENSOR && k->c->graph->p->tensor.p[k->arg[i].tensor].ndim > 0)
            return k->c->graph->p->tensor.p[k->arg[i].tensor].elem;
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

static bool inout_argument(const Call *k, int i) {
    Prog *c = k->c;
    const ProgValue *v = &k->arg[i];
    const Tensor *t = &c->graph->p->tensor.p[v->tensor];
    if (t->role == ROLE_INPUT || t->role == ROLE_OUTPUT) {
        diag_error(c->diags, v->loc, "not-assignable", "'%s' is %s: %s cannot update it in place",
                   tensor_text(c->graph, v), t->role == ROLE_INPUT ? "an input" : "an output", k->d->name);
        diag_note(c->diags, t->loc, t->role == ROLE_INPUT ? "declared here; make it state" : "declared here; use a name of its own");
        return false;
    }
    if (value_is_fixed(c->scope, v)) {
        diag_error(c->diags, v->loc, "not-assignable", "'%s' is a parameter of %s: it cannot be updated in place",
                   tensor_text(c->graph, v), body_decl(c->scope)->name);
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
            good = inout_argument(k, i) &&
                   inout_stays(k->c->graph, &k->k->param.p[p], &k->arg[i], &k->part[i], k->place[p]) && good;
        p++;
    }
    return good;
}

static void inouts_give(const Call *k, ProgValue *out) {
    for (int i = 0, n = 0; i < k->narg; i++) {
        if (k->d->params.p[i].mode != PARAM_INOUT) continue;
        value_consume(k->c->graph, k->c->scope, &k->arg[i], k->loc);
        out[n] = k->arg[i];
        out[n].born = update_count(k->c->graph);
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
                return k->arg[i].view
                           ? NULL
                           : tensor_info(k->c->graph, k->arg[i].tensor)->dim[value_lead(&k->arg[i]) + d].whole;
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
    if (output_takes(k->c->graph, &t, k->want[i].into)) return k->want[i].into;
    TensorInfo info = result_info(k, i, whole);
    return tensor_new(k->c->graph, t, &info);
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
    if (!slices_find(c->graph, d, arg, narg, k.part) || !instance_find(&k, expected) ||
        !carry_shares(&k, expected, whole))
        return false;
    if (!inouts_fit(&k)) return false;
    for (int i = 0; i < n; i++) out[inouts + i] = prog_tensor(c->graph, result_tensor(&k, i, whole[i]), loc);
    for (int i = 0; i < n; i++)
        if (k.k->param.p[result_param(&k, i)].inout) zero_add(c->graph, &out[inouts + i], loc);
    if (!node_call(c->graph, k.k, arg, k.part, narg, out + inouts, n, loc)) return false;
    for (int i = 0; i < n; i++)
        if (!d->results.p[i].type.has_shape) out[inouts + i] = scalar_of(c->graph, out[inouts + i]);
    inouts_give(&k, out);
    return true;
}
