/* choose.c: y = choose by "file" { lane: ..; wave: ..; }: a decision tree picks one of several ways to compute y.
   Takes: the arms and the tree. Gives: the arm's nodes where numbers decide the tree; otherwise the nodes of every
   arm that the tree may choose, each under its condition. */
#include "frontend/program/program.h"

#include "frontend/sema/function.h"
#include "frontend/sema/tree.h"

#include <string.h>

typedef struct {
    Prog *c;
    const Expr *e;
    const Tree *tree;
    const Expected *want;
    int n;          /* values an arm gives */
    ProgValue *out; /* of the first arm, into which the others store */
} Choose;

/* ---- features ---- */

/* What a name in a tree is: a number, a run-time dimension, or a scalar of the program. */
typedef enum { FEATURE_NUMBER, FEATURE_DIM, FEATURE_SCALAR, FEATURE_NONE } FeatureKind;

static FeatureKind feature_named(Prog *c, const Expr *e, double *x, Size *s, int *tensor) {
    ProgValue v;
    if (number_of_expr(c->scope, e, &v)) return *x = number_real(v.number), FEATURE_NUMBER;
    const Variable *held = variable_find(c->scope, e->name);
    if (held && held->value.kind == PROG_TENSOR && c->graph->p->tensor.p[held->value.tensor].ndim == 0)
        return *tensor = held->value.tensor, FEATURE_SCALAR;
    if (held) return FEATURE_NONE;
    return dim_find(c->scope, e->name, e->loc, s) == FOUND ? FEATURE_DIM : FEATURE_NONE;
}

static double arith(AstOp op, double a, double b) {
    switch (op) {
    case AST_ADD: return a + b;
    case AST_SUB: return a - b;
    case AST_MUL: return a * b;
    case AST_DIV: return a / b;
    case AST_LT: return a < b;
    case AST_LE: return a <= b;
    case AST_GT: return a > b;
    default: return a >= b;
    }
}

/* Numbers only; unlike a program's own, they are real. */
static bool feature_number(Prog *c, const Expr *e, double *x) {
    double a, b;
    Size s;
    int tensor;
    if (e->kind == EXPR_FLOAT) return *x = e->f, true;
    if (e->kind == EXPR_NAME) return feature_named(c, e, x, &s, &tensor) == FEATURE_NUMBER;
    if (!feature_number(c, e->lhs, &a) || !feature_number(c, e->rhs, &b)) return false;
    *x = arith(e->op, a, b);
    return true;
}

static bool feature_check(const Choose *k, const Expr *e) {
    double x;
    Size s;
    int tensor;
    if (e->kind == EXPR_BINARY) return feature_check(k, e->lhs) && feature_check(k, e->rhs);
    if (e->kind != EXPR_NAME || feature_named(k->c, e, &x, &s, &tensor) != FEATURE_NONE) return true;
    diag_error(k->c->diags, e->loc, "undefined", "'%s' is neither a dim nor a scalar of the program", e->name);
    diag_note(k->c->diags, k->e->loc, "the tree is used here");
    return false;
}

/* ---- the tree ---- */

static const ChooseArm *arm_named(const Expr *e, Name name) {
    for (int i = 0; i < e->arms.n; i++)
        if (e->arms.p[i].name == name) return &e->arms.p[i];
    return NULL;
}

static bool leaf_check(const Choose *k, const Tree *t) {
    if (arm_named(k->e, t->arm)) return true;
    const char **list = ARENA_ARRAY(k->c->arena, const char *, k->e->arms.n + 1);
    for (int i = 0; i < k->e->arms.n; i++) list[i] = k->e->arms.p[i].name;
    diag_error(k->c->diags, t->loc, "undefined", "there is no arm '%s'", t->arm);
    const char *near = spelling_nearest(t->arm, list, k->e->arms.n);
    if (near) diag_note(k->c->diags, t->loc, "did you mean '%s'?", near);
    diag_note(k->c->diags, k->e->loc, "the tree is used here");
    return false;
}

static bool tree_check(const Choose *k, const Tree *t) {
    bool good = true;
    for (; !t->arm; t = t->no) {
        good = feature_check(k, t->test) && good;
        good = tree_check(k, t->yes) && good;
    }
    return leaf_check(k, t) && good;
}

/* As far as numbers decide it. */
static const Tree *tree_fold(Prog *c, const Tree *t) {
    double x;
    while (!t->arm && feature_number(c, t->test, &x)) t = x != 0 ? t->yes : t->no;
    return t;
}

static bool tree_reaches(Prog *c, const Tree *t, Name arm) {
    t = tree_fold(c, t);
    return t->arm ? t->arm == arm : tree_reaches(c, t->yes, arm) || tree_reaches(c, t->no, arm);
}

static bool arms_check(const Choose *k) {
    for (int i = 0; i < k->e->arms.n; i++)
        for (int j = 0; j < i; j++)
            if (k->e->arms.p[i].name == k->e->arms.p[j].name)
                return diag_refuse(k->c->diags, k->e->arms.p[i].loc, "redefined", "two arms have this name");
    return true;
}

/* ---- the condition of an arm ---- */

static Value *feature_value(CondKernel *g, const Expr *e) {
    double x;
    Size s;
    int tensor;
    if (feature_number(g->c, e, &x)) return build_const_f(&g->b, ELEM_F64, x);
    if (e->kind == EXPR_BINARY) {
        Value *a = feature_value(g, e->lhs), *b = feature_value(g, e->rhs);
        return build_binary(&g->b, operator_op(e->op), a, b);
    }
    bool dim = feature_named(g->c, e, &x, &s, &tensor) == FEATURE_DIM;
    ProgValue v = dim ? prog_error(e->loc) : prog_tensor(g->c->graph, tensor, e->loc);
    return build_cast(&g->b, ELEM_F64, dim ? build_size(&g->b, OP_SIZE, s) : cond_load(g, &v));
}

static Value *arm_condition(CondKernel *g, const Tree *t, Name arm) {
    t = tree_fold(g->c, t);
    if (t->arm) return build_const_i(&g->b, ELEM_BOOL, t->arm == arm);
    if (!tree_reaches(g->c, t, arm)) return build_const_i(&g->b, ELEM_BOOL, 0);
    Value *test = feature_value(g, t->test), *yes = arm_condition(g, t->yes, arm), *no = arm_condition(g, t->no, arm);
    return build_select(&g->b, test, yes, no);
}

/* Of the nodes that compute an arm; inside of an arm, of that one too. Numbers, dims and scalars are always there. */
static int arm_when(const Choose *k, Name arm) {
    Prog *c = k->c;
    CondKernel g = cond_begin(c, k->e->loc);
    Value *v = arm_condition(&g, k->tree, arm);
    int when = condition_now(c->graph);
    ProgValue around = prog_tensor(c->graph, when ? when - 1 : 0, k->e->loc);
    return cond_end(&g, when ? build_binary(&g.b, OP_AND, cond_load(&g, &around), v) : v);
}

/* ---- arms ---- */

static bool same_place(const Prog *c, const ProgValue *a, const ProgValue *b) {
    for (int i = 0; i < c->m->axis.n; i++)
        if (a->place[i].kind != b->place[i].kind || a->place[i].op != b->place[i].op) return false;
    Tensor t = value_tensor(c->graph, a), u = value_tensor(c->graph, b);
    for (int d = 0; d < t.ndim; d++)
        if (t.dim[d].axis != u.dim[d].axis) return false;
    return true;
}

/* The first arm's value becomes the one that all arms store, unless it is no tensor of its own. */
static bool first_store(const Choose *k, ProgValue *v, int tensors, const Expected *want) {
    Prog *c = k->c;
    if ((v->tensor >= tensors || v->tensor == want->into) && !value_is_part(v)) return true;
    *v = value_whole(c->graph, *v);
    return v->kind == PROG_TENSOR;
}

static bool other_store(const Choose *k, ProgValue v, const ProgValue *to) {
    Prog *c = k->c;
    Tensor t = value_tensor(c->graph, &v), u = value_tensor(c->graph, to);
    if (value_equal(&v, to)) return true; /* it is there already */
    if (!shape_fits(c->graph, &v, &u, to->loc)) return false;
    if (t.elem != u.elem || !same_place(c, &v, to)) {
        diag_error(c->diags, v.loc, t.elem != u.elem ? "type-mismatch" : "placement-mismatch",
                   "this arm has another %s than the first", t.elem != u.elem ? "element type" : "placement");
        diag_note(c->diags, to->loc, "the first arm");
        return false;
    }
    return value_copy(c->graph, v, to, v.loc);
}

static bool arm_lower(const Choose *k, const ChooseArm *arm, bool first) {
    Prog *c = k->c;
    int tensors = c->graph->p->tensor.n;
    Expected *want = ARENA_ARRAY(c->arena, Expected, k->n);
    ProgValue *v = ARENA_ARRAY(c->arena, ProgValue, k->n);
    for (int i = 0; i < k->n; i++) {
        want[i] = k->want[i];
        if (first) continue;
        Tensor like = value_tensor(c->graph, &k->out[i]);
        want[i] = (Expected){.has_elem = true,
                             .elem = tensor_info(c->graph, k->out[i].tensor)->whole_elem,
                             .reduced = k->want[i].reduced,
                             .like = arena_copy(c->arena, &like, sizeof like),
                             .into = k->out[i].tensor,
                             .name = k->want[i].name};
    }
    if (!values_lower(c, arm->value, want, k->n, v)) return false;
    for (int i = 0; i < k->n; i++) {
        if (first ? !first_store(k, &v[i], tensors, &want[i]) : !other_store(k, v[i], &k->out[i])) return false;
        if (first) k->out[i] = v[i];
    }
    return true;
}

static bool arm_choose(const Choose *k, const ChooseArm *arm, bool first, Arm *left) {
    Arm before = arm_begin(k->c, arm_when(k, arm->name));
    bool good = arm_lower(k, arm, first);
    arm_end(k->c, &before, left);
    return good;
}

/* One that the numbers choose is all there is. */
static bool arms_lower(Choose *k, const Tree *t) {
    Arm *left = ARENA_ARRAY(k->c->arena, Arm, k->e->arms.n);
    int n = 0;
    if (t->arm) return values_lower(k->c, arm_named(k->e, t->arm)->value, k->want, k->n, k->out);
    for (int i = 0; i < k->e->arms.n; i++) {
        if (!tree_reaches(k->c, t, k->e->arms.p[i].name)) continue;
        if (!arm_choose(k, &k->e->arms.p[i], n == 0, &left[n])) return false;
        n++;
    }
    for (int i = 0; i < n; i++) arm_happens(k->c, &left[i]);
    for (int i = 0; i < k->n; i++) k->out[i].born = update_count(k->c->graph);
    return true;
}

/* To whoever forces arms, which is of one tree. */
static bool arms_tell(const Choose *k) {
    const LowerOptions *o = k->c->f->lower.options;
    if (!o->arms) return true;
    if (!*o->tree) {
        *o->tree = k->e->name;
        for (int i = 0; i < k->e->arms.n; i++) vec_push(k->c->arena, o->arms, k->e->arms.p[i].name);
    }
    return !o->arm || strcmp(*o->tree, k->e->name) == 0 ||
           diag_refuse(k->c->diags, k->e->loc, "unsupported",
                       "a second choice, by another tree: tune --train makes one tree of a program");
}

/* Another tree than the source's: a leaf, where LowerOptions say an arm. */
static const Expr *arm_forced(const Choose *k) {
    const LowerOptions *o = k->c->f->lower.options;
    if (!o->arm) return NULL;
    const ChooseArm *arm = arm_named(k->e, name_of(k->c->m->names, o->arm));
    return arm ? arm->value : k->e->arms.p[0].value;
}

bool choose_values(Prog *c, const Expr *e, const Expected *want, int n, ProgValue *out) {
    Choose k = {.c = c, .e = e, .want = want, .n = n, .out = out};
    names_touch(c->scope, e);
    if (!arms_check(&k)) return false;
    if (!e->name) return values_lower(c, e->arms.p[0].value, want, n, out);
    if (!arms_tell(&k)) return false;
    const Expr *forced = arm_forced(&k);
    if (forced) return values_lower(c, forced, want, n, out);
    int file = front_open(c->f, e->name, e->loc);
    k.tree = file ? tree_parse(c->arena, c->m->names, c->diags, file) : NULL;
    return k.tree && tree_check(&k, k.tree) && arms_lower(&k, tree_fold(c, k.tree));
}
