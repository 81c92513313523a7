/* map.c: whole-tensor expressions. Each becomes a kernel of its own, element by element.
   Takes an expression; gives the call of the kernel on the tensors that it names. */
#include "frontend/program/callee.h"
#include "frontend/program/made.h"
#include "frontend/program/program.h"

#include <string.h>

typedef struct {
    Prog *c;
    Made made;
} Map;

static bool gives_condition(AstOp op) { return (op >= AST_EQ && op <= AST_GE) || op == AST_AND || op == AST_OR; }

static Expr *number_made(const Map *m, const Expr *of, const ProgValue *v) {
    bool condition = of->kind == EXPR_BINARY && gives_condition(of->op);
    Expr *e = expr_made(&m->made, condition ? EXPR_BOOL : v->number.is_integer ? EXPR_INT : EXPR_FLOAT, NULL);
    e->i = v->number.i;
    e->f = v->number.f;
    return e;
}

static Expr *map_expr(Map *, const Expr *);

static Expr *map_copy_of(Map *m, const Expr *e) {
    Expr *r = ARENA_NEW(m->made.a, Expr);
    Elem to;
    *r = *e;
    r->args = (Exprs){0};
    if (e->kind == EXPR_CALL && elem_find(m->c->scope, e->name, &to)) r->name = name_of(m->c->m->names, elem_text(to));
    if (e->base) r->base = map_expr(m, e->base);
    if (e->lhs) r->lhs = map_expr(m, e->lhs);
    if (e->rhs) r->rhs = map_expr(m, e->rhs);
    if (e->cond) r->cond = map_expr(m, e->cond);
    for (int i = 0; i < e->args.n; i++) vec_push(m->made.a, &r->args, map_expr(m, e->args.p[i]));
    return r;
}

static bool is_map(const Map *m, const Expr *e) {
    if (e->kind == EXPR_UNARY || e->kind == EXPR_COND) return true;
    if (e->kind == EXPR_BINARY) return e->op != AST_AT;
    Callee k = callee_find(m->c->scope, e);
    return (k.kind == CALLEE_FUNCTION || k.kind == CALLEE_UNKNOWN) && !k.decl;
}

/* A run-time dimension, by its own name. */
static Expr *dim_made(const Map *m, const Expr *e) {
    Size s;
    bool named = e->kind == EXPR_NAME && !variable_find(m->c->scope, e->name);
    if (!named || (dim_find(m->c->scope, e->name, e->loc, &s) != FOUND)) return NULL;
    if (s.sym < 0) return NULL;
    Expr *sum = expr_made(&m->made, EXPR_BINARY, NULL);
    sum->op = AST_ADD;
    sum->lhs = expr_made(&m->made, EXPR_NAME, m->c->m->symbol.p[s.sym].name);
    sum->rhs = size_made(&m->made, s.c);
    return s.c ? sum : sum->lhs;
}

const Expr *branch_known(Prog *c, const Expr *e) {
    ProgValue test;
    if (e->kind != EXPR_COND || !number_of_expr(c->scope, e->cond, &test)) return NULL;
    names_touch(c->scope, number_holds(test.number) ? e->rhs : e->lhs);
    return number_holds(test.number) ? e->lhs : e->rhs;
}

/* The one conversion that numbers known at compile time may have in them. */
static bool is_converted(const Expr *e) {
    if (!e || (e->kind == EXPR_BINARY && gives_condition(e->op))) return false;
    if (e->kind == EXPR_CALL && strcmp(e->name, elem_text(ELEM_F32)) == 0) return true;
    bool converted = is_converted(e->base) || is_converted(e->lhs) || is_converted(e->rhs);
    for (int i = 0; e->kind == EXPR_CALL && i < e->args.n; i++) converted |= is_converted(e->args.p[i]);
    return converted;
}

/* A number keeps the type that its conversion says. */
static Expr *number_typed(const Map *m, const Expr *e, const ProgValue *v) {
    Expr *number = number_made(m, e, v);
    if (!is_converted(e)) return number;
    Expr *call = expr_made(&m->made, EXPR_CALL, name_of(m->c->m->names, elem_text(ELEM_F32)));
    vec_push(m->made.a, &call->args, number);
    return call;
}

/* A literal number is copied as it stands, so that it adapts to its neighbour's type. */
static Expr *map_expr(Map *m, const Expr *e) {
    ProgValue v;
    bool literal = e->kind == EXPR_INT || e->kind == EXPR_FLOAT || e->kind == EXPR_INF || e->kind == EXPR_BOOL;
    if (literal) return map_copy_of(m, e);
    if (number_of_expr(m->c->scope, e, &v)) return number_typed(m, e, &v);
    Expr *dim = dim_made(m, e);
    if (dim) return dim;
    const Expr *branch = branch_known(m->c, e);
    if (branch) return map_expr(m, branch);
    return is_map(m, e) ? map_copy_of(m, e) : leaf_of(&m->made, tensor_lower(m->c, e, &expected_nothing));
}

/* ---- the call ---- */

static int map_dims(const Map *m) {
    int ndim = 0;
    for (int i = 0; i < m->made.arg.n; i++) {
        int n = value_tensor(m->c->graph, &m->made.arg.p[i]).ndim;
        if (n > ndim) ndim = n;
    }
    return ndim;
}

static bool shapes_report(const Map *m, int i, int like, const char *fix) {
    const ProgValue *v = &m->made.arg.p[i], *o = &m->made.arg.p[like];
    Tensor t = value_tensor(m->c->graph, v), u = value_tensor(m->c->graph, o);
    diag_error(m->c->diags, v->loc, "shape-mismatch", "'%s' is %s, and '%s' is %s", tensor_text(m->c->graph, v),
               shape_text(m->c->f, &t), tensor_text(m->c->graph, o), shape_text(m->c->f, &u));
    diag_note(m->c->diags, v->loc, "%s", fix);
    return false;
}

/* Two tensors of as many dimensions. A replicated one is taken in part where the other is split. */
static bool extents_agree(const Map *m, int i, int like) {
    Tensor t = value_tensor(m->c->graph, &m->made.arg.p[i]), u = value_tensor(m->c->graph, &m->made.arg.p[like]);
    for (int d = 0; d < t.ndim; d++) {
        if (!size_equal(size_whole(t.dim[d]), size_whole(u.dim[d])))
            return shapes_report(m, i, like, "operands of a whole-tensor expression have one shape");
        for (int a = t.dim[d].axis; a >= 0; a = axes_rest(a)) {
            int other = tensor_split(&u, axes_first(a));
            if (other < 0 || other == d) continue;
            return shapes_report(m, i, like,
                                 "a mesh axis splits one dimension of both; move the split: all_to_all(..)");
        }
    }
    return true;
}

static bool dims_agree(const Map *m, int ndim) {
    int like = 0;
    while (like < m->made.arg.n && value_tensor(m->c->graph, &m->made.arg.p[like]).ndim != ndim) like++;
    for (int i = 0; i < m->made.arg.n; i++) {
        int n = value_tensor(m->c->graph, &m->made.arg.p[i]).ndim;
        if (n && n != ndim)
            return shapes_report(m, i, like,
                                 "operands of a whole-tensor expression have one shape; write a kernel to repeat one");
        if (n && !extents_agree(m, i, like)) return false;
    }
    return true;
}

/* ---- the type of an expression that nothing declares ---- */

/* What an operand says about its type. Numbers are silent: they take the type of what they meet, if it holds them. */
typedef struct {
    bool silent;
    Elem elem; /* of a silent one: the type that it has where it meets nothing */
    int64_t least, most; /* of the integers among silent ones */
} Said;

static Said said(Elem e) { return (Said){.elem = e}; }

static Said said_number(int64_t i) { return (Said){true, ELEM_I64, i, i}; }

static Said said_with_number(Said s, Said number) {
    bool whole = elem_is_int(s.elem) && elem_is_int(number.elem);
    return whole ? said(elem_to_hold(elem_to_hold(s.elem, number.least), number.most)) : s;
}

static Said numbers_said(Said a, Said b) {
    Said s = {.silent = true, .elem = elem_is_float(a.elem) ? a.elem : b.elem};
    s.least = a.least < b.least ? a.least : b.least;
    s.most = a.most > b.most ? a.most : b.most;
    return s;
}

static Said said_wider(Said a, Said b) {
    bool fa = elem_is_float(a.elem), fb = elem_is_float(b.elem);
    if (a.silent && b.silent) return numbers_said(a, b);
    if (a.silent != b.silent) return a.silent ? said_with_number(b, a) : said_with_number(a, b);
    if (fa != fb) return fa ? a : b;
    return said(elem_wider(a.elem, b.elem));
}

/* A choice between two numbers has the type of numbers that meet nothing: kernels make a value of it. */
static Said said_of_two(Said a, Said b) { return said(said_wider(a, b).elem); }

/* A name: a tensor or scalar among the arguments, else a run-time dimension. */
static Said said_by_name(const Map *m, Name name) {
    for (int i = 0; i < m->made.arg.n; i++)
        if (m->made.name.p[i] == name) return said(value_tensor(m->c->graph, &m->made.arg.p[i]).elem);
    return said_number(0);
}

static Said said_by(const Map *, const Expr *);

static Said said_by_call(const Map *m, const Expr *e) {
    Elem to;
    Said s = said_number(0);
    if (elem_find(m->c->scope, e->name, &to)) return said(to);
    if (strcmp(e->name, "where") == 0 && e->args.n == 3)
        return said_of_two(said_by(m, e->args.p[1]), said_by(m, e->args.p[2]));
    for (int i = 0; i < e->args.n; i++) s = said_wider(s, said_by(m, e->args.p[i]));
    return s;
}

static Said said_by(const Map *m, const Expr *e) {
    switch (e->kind) {
    case EXPR_INT: return said_number(e->i);
    case EXPR_FLOAT:
    case EXPR_INF: return (Said){true, ELEM_F32, 0, 0};
    case EXPR_INDEX: return said_by_name(m, e->base->name);
    case EXPR_NAME: return said_by_name(m, e->name);
    case EXPR_UNARY: return e->op == AST_NOT ? said(ELEM_BOOL) : said_by(m, e->base);
    case EXPR_COND: return said_of_two(said_by(m, e->lhs), said_by(m, e->rhs));
    case EXPR_BINARY:
        return gives_condition(e->op) ? said(ELEM_BOOL) : said_wider(said_by(m, e->lhs), said_by(m, e->rhs));
    case EXPR_CALL: return said_by_call(m, e);
    default: return said(ELEM_BOOL);
    }
}

/* ---- the call of the kernel ---- */

static bool map_apply(Map *m, const char *name, Expr *value, const Expected *want, ProgValue *out) {
    int ndim = map_dims(m);
    if (!m->made.good || !dims_agree(m, ndim)) return false;
    const Decl *d = kernel_made(&m->made, name, value, ndim);
    return call_apply(m->c, d, m->made.arg.p, m->made.arg.n, m->made.loc, want, 1, out);
}

/* A call of a function is told by its name. */
static const char *map_name(const Prog *c, const Expr *e) {
    Elem elem;
    return e->kind == EXPR_CALL && !elem_find(c->scope, e->name, &elem) ? e->name : "map";
}

ProgValue map_lower(Prog *c, const Expr *e, const Expected *want) {
    Map m = {.c = c, .made = {.g = c->graph, .a = c->arena, .loc = e->loc, .good = true}};
    ProgValue out = prog_error(e->loc);
    if (e->kind == EXPR_BINARY && e->op == AST_AT) {
        diag_error(c->diags, e->loc, "not-elementwise",
                   "'@' contracts the ranges of tiles, and whole tensors have none");
        diag_note(c->diags, e->loc, "call a kernel: matmul(a, b)");
        return out;
    }
    Expr *value = map_expr(&m, e);
    Expected typed = *want;
    if (m.made.good && !want->has_elem && !number_of_expr(c->scope, e, &out))
        typed.has_elem = true, typed.elem = said_by(&m, value).elem;
    return map_apply(&m, map_name(c, e), value, &typed, &out) ? out : prog_error(e->loc);
}
