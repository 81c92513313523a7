/* arms.c: arms of a branch: nodes under a condition, and the names behind the branch.
   Takes: conditions, and the names as each of two arms leaves them. Gives: one tensor for each name that differs,
   which either arm may have stored. All ranks have the condition, so that all of them take one arm. */
#include "frontend/program/program.h"

#include <string.h>

/* ---- conditions ---- */

CondKernel cond_begin(Prog *c, Loc loc) {
    CondKernel k = {.c = c, .node = {.kind = NODE_CALL, .loc = loc}};
    k.node.kernel = kernel_new(c->m, name_of(c->m->names, "chosen"), loc);
    k.b = (Builder){.m = c->m, .k = k.node.kernel, .at = k.node.kernel->body, .loc = loc};
    return k;
}

Value *cond_load(CondKernel *k, const ProgValue *v) {
    const Tensor *t = &k->c->graph->p->tensor.p[v->tensor];
    Span first = span_of(affine_const(0));
    int param = -1;
    for (int i = 0; i < k->node.arg.n; i++)
        if (k->node.arg.p[i].tensor == v->tensor) param = i;
    if (param < 0) {
        Param p = {.name = t->name, .elem = t->elem, .ndim = t->ndim, .dim = {t->dim[0]}, .ranks = -1, .loc = t->loc};
        ProgValue whole = value_unspotted(v);
        param = kernel_param(k->b.m, k->b.k, p);
        vec_push(k->c->arena, &k->node.arg, value_arg(&whole));
    }
    return build_load(&k->b, param, &first, t->ndim);
}

int cond_end(CondKernel *k, Value *v) {
    Prog *c = k->c;
    Span first = span_of(affine_const(0));
    Tensor t = {.name = k->b.k->name, .elem = ELEM_BOOL, .role = ROLE_TEMP, .loc = k->node.loc};
    TensorInfo info = {.whole_elem = ELEM_BOOL};
    ProgValue chosen = scalar_new(c->graph, t, &info, k->node.loc), whole = value_unspotted(&chosen);
    Param p = {
        .name = t.name, .elem = t.elem, .ndim = 1, .dim = {size_number(1)}, .out = true, .ranks = -1, .loc = t.loc};
    vec_push(c->arena, &k->node.arg, value_arg(&whole));
    build_store(&k->b, kernel_param(c->m, k->b.k, p), &first, 1, v, STORE_SET);
    node_always(c->graph, k->node); /* it is there in any case */
    return 1 + chosen.tensor;
}

/* What an arm computes is there only where the arm around it is taken. */
static Value *test_inside(CondKernel *k, const ProgValue *test, bool holds) {
    Value *v = cond_load(k, test);
    return holds ? v : build_unary(&k->b, OP_NOT, v);
}

int condition_new(Prog *c, const ProgValue *test, bool holds) {
    CondKernel k = cond_begin(c, test->loc);
    int when = condition_now(c->graph);
    if (!when) return cond_end(&k, test_inside(&k, test, holds));
    Type one = type_scalar(ELEM_BOOL);
    ProgValue around = prog_tensor(c->graph, when - 1, test->loc);
    Op *op = build_if(&k.b, cond_load(&k, &around), &one, 1);
    Region *body = k.b.at;
    k.b.at = op->region[0];
    Value *v = test_inside(&k, test, holds);
    build_yield(&k.b, &v, 1);
    k.b.at = op->region[1];
    v = build_const_i(&k.b, ELEM_BOOL, 0);
    build_yield(&k.b, &v, 1);
    k.b.at = body;
    return cond_end(&k, op->res.p[0]);
}

/* ---- one arm ---- */

static Arm names_now(const Prog *c) {
    Arm a = {.when = condition_now(c->graph), .var = variables_copy(c->scope, 0)};
    for (int i = 0; i < update_count(c->graph); i++) vec_push(c->arena, &a.updated, *update_at(c->graph, i));
    return a;
}

Arm arm_begin(Prog *c, int when) {
    Arm before = names_now(c);
    condition_set(c->graph, when);
    return before;
}

void arm_end(Prog *c, const Arm *before, Arm *arm) {
    *arm = names_now(c);
    arm->before = before->updated.n;
    for (int i = before->var.n; i < arm->var.n; i++) variable_at(c->scope, i)->read = true;
    block_end(c->scope, before->var.n);
    variables_restore(c->scope, &before->var);
    updates_forget(c->graph, before->updated.n);
    condition_set(c->graph, before->when);
}

/* ---- behind them ---- */

static void updates_add(Prog *c, const Arm *a, int from) {
    for (int i = from; i < a->updated.n; i++) update_add(c->graph, a->updated.p[i]);
}

void arm_happens(Prog *c, const Arm *a) {
    for (int i = 0; i < variable_count(c->scope); i++) {
        Variable *v = variable_at(c->scope, i);
        v->read = v->read || a->var.p[i].read;
        if (a->var.p[i].gone.kind == PROG_TENSOR) v->gone = a->var.p[i].gone;
    }
    updates_add(c, a, a->before);
}

typedef struct {
    Prog *c;
    const Arm *a, *b;
    Loc loc;
} Join;

static bool same_places(const Prog *c, const ProgValue *v, const ProgValue *w) {
    Tensor t = value_tensor(c->graph, v), u = value_tensor(c->graph, w);
    for (int d = 0; d < t.ndim; d++)
        if (t.dim[d].axis != u.dim[d].axis) return false;
    for (int i = 0; i < c->m->axis.n; i++)
        if (v->place[i].kind != w->place[i].kind || v->place[i].op != w->place[i].op) return false;
    return true;
}

static bool values_agree(const Join *j, Name name, const ProgValue *v, const ProgValue *w) {
    Tensor t = value_tensor(j->c->graph, v), u = value_tensor(j->c->graph, w);
    bool shape = t.ndim == u.ndim;
    for (int d = 0; shape && d < t.ndim; d++) shape = size_equal(size_whole(t.dim[d]), size_whole(u.dim[d]));
    const char *what = !shape                     ? "shape"
                       : t.elem != u.elem         ? "element type"
                       : !same_places(j->c, v, w) ? "placement"
                                                  : NULL;
    if (!what) return true;
    diag_error(j->c->diags, w->loc,
               !shape             ? "shape-mismatch"
               : t.elem != u.elem ? "type-mismatch"
                                  : "placement-mismatch",
               "'%s' has another %s here than in the other branch", name, what);
    diag_note(j->c->diags, v->loc, "the other branch");
    return false;
}

/* Either arm copies what it has; fuse makes that the end of the kernel before. */
static ProgValue values_join(const Join *j, Name name, ProgValue v, ProgValue w) {
    Prog *c = j->c;
    int when = condition_now(c->graph);
    if (v.kind != PROG_TENSOR || w.kind != PROG_TENSOR) return v.kind == PROG_ERROR ? v : w;
    if (value_equal(&v, &w) && same_places(c, &v, &w)) return v;
    if (!values_agree(j, name, &v, &w)) return prog_error(w.loc);
    v.born = w.born = update_count(c->graph); /* what the other arm updates does not happen to it */
    condition_set(c->graph, j->a->when);
    ProgValue both = value_whole(c->graph, v);
    memcpy(both.place, v.place, sizeof both.place);
    condition_set(c->graph, j->b->when);
    bool good = both.kind == PROG_TENSOR && value_copy(c->graph, w, &both, w.loc);
    condition_set(c->graph, when);
    return good ? both : prog_error(w.loc);
}

/* An output is there behind the branches when both have made it. */
static bool outputs_agree(const Join *j, const Variable *v, const Variable *w) {
    if (!v->output || (v->made == w->made && v->part.n == w->part.n)) return true;
    diag_error(j->c->diags, j->loc, "output-not-assigned",
               "the output '%s' is assigned in one branch, and not in the other", v->name);
    diag_note(j->c->diags, v->loc, "assign it in both, or behind them");
    return false;
}

static Variable variables_join(const Join *j, const Variable *v, const Variable *w) {
    Variable r = *w;
    bool same = value_equal(&v->value, &w->value);
    r.read = same ? v->read || w->read : v->read && w->read;
    r.made = v->made || w->made;
    if (v->gone.kind == PROG_TENSOR) r.gone = v->gone;
    if (r.gone.kind == PROG_TENSOR || !outputs_agree(j, v, w)) return r;
    r.value = values_join(j, v->name, v->value, w->value);
    r.value.born = update_count(j->c->graph);
    return r;
}

static const Variable *inner_find(const Arm *a, int mark, Name name) {
    for (int i = mark; i < a->var.n; i++)
        if (a->var.p[i].name == name) return &a->var.p[i];
    return NULL;
}

void arms_join(Prog *c, const Arm *a, const Arm *b, int mark, Loc loc) {
    Join j = {c, a, b, loc};
    updates_add(c, a, a->before);
    updates_add(c, b, b->before);
    for (int i = 0; i < mark; i++) {
        *variable_at(c->scope, i) = variables_join(&j, &a->var.p[i], &b->var.p[i]);
    }
    for (int i = mark; i < a->var.n; i++) {
        const Variable *w = inner_find(b, mark, a->var.p[i].name);
        if (w) variable_new(c->scope, variables_join(&j, &a->var.p[i], w));
    }
}
