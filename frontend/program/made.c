/* made.c: kernels that whole-tensor expressions and copies are made into, element by element:
   kernel map(a: A[d0, d1], b: B[d0, d1]) -> (y: U[d0, d1]) { each i0: 16 of d0, i1: 256 of d1 { y[i0, i1] = a[i0, i1] +
   ..; } } */
#include "frontend/program/made.h"

#include <string.h>

enum { TILE_LAST = 256, TILE_OTHER = 16 };

static Name name_made(const Made *m, const char *what, int i) {
    return name_of(m->g->m->names, arena_format(m->a, "%s%d", what, i));
}

Expr *expr_made(const Made *m, ExprKind kind, Name name) {
    Expr *e = ARENA_NEW(m->a, Expr);
    *e = (Expr){.kind = kind, .loc = m->loc, .name = name};
    return e;
}

Expr *size_made(const Made *m, int64_t n) {
    Expr *e = expr_made(m, EXPR_INT, NULL);
    e->i = n;
    return e;
}

/* name[i0, i1, ..], or the name of a scalar */
static Expr *access_made(const Made *m, Name name, int ndim) {
    if (ndim == 0) return expr_made(m, EXPR_NAME, name);
    Expr *e = expr_made(m, EXPR_INDEX, NULL);
    e->base = expr_made(m, EXPR_NAME, name);
    for (int d = 0; d < ndim; d++) vec_push(m->a, &e->args, expr_made(m, EXPR_NAME, name_made(m, "i", d)));
    return e;
}

/* ---- the declaration ---- */

static TypeExpr type_made(const Made *m, Name elem, int ndim) {
    TypeExpr t = {.loc = m->loc, .elem = elem, .has_shape = ndim > 0};
    for (int d = 0; d < ndim; d++) vec_push(m->a, &t.shape, expr_made(m, EXPR_NAME, name_made(m, "d", d)));
    return t;
}

static ParamDecl param_made(const Made *m, Name name, Name elem, int ndim, Loc loc) {
    return (ParamDecl){.name = name, .loc = loc, .type = type_made(m, elem, ndim)};
}

static Stmt *each_made(const Made *m, int ndim, Stmt *store) {
    Stmt *s = ARENA_NEW(m->a, Stmt);
    *s = (Stmt){.kind = STMT_EACH, .loc = m->loc};
    if (ndim == 0)
        vec_push(m->a, &s->ranges, ((RangeDecl){.name = name_made(m, "i", 0), .loc = m->loc, .of = size_made(m, 1)}));
    for (int d = 0; d < ndim; d++) {
        RangeDecl r = {
            .name = name_made(m, "i", d), .loc = m->loc, .of = expr_made(m, EXPR_NAME, name_made(m, "d", d))};
        if (d >= ndim - 2) r.size = size_made(m, d == ndim - 1 ? TILE_LAST : TILE_OTHER);
        vec_push(m->a, &s->ranges, r);
    }
    vec_push(m->a, &s->body, store);
    return s;
}

Decl *kernel_made(Made *m, const char *name, Expr *value, int ndim) {
    Decl *d = ARENA_NEW(m->a, Decl);
    Names *names = m->g->m->names;
    *d = (Decl){.kind = DECL_KERNEL, .name = name_of(names, name), .loc = m->loc, .span = m->loc, .made = true};
    for (int i = 0; i < m->arg.n; i++) {
        int n = m->arg.p[i].kind == PROG_TENSOR ? value_tensor(m->g, &m->arg.p[i]).ndim : 0;
        vec_push(m->a, &d->params, param_made(m, m->name.p[i], name_made(m, "T", i), n, m->arg.p[i].loc));
    }
    vec_push(m->a, &d->results, param_made(m, name_of(names, "y"), name_of(names, "U"), ndim, m->loc));
    Stmt *store = ARENA_NEW(m->a, Stmt);
    *store = (Stmt){.kind = STMT_ASSIGN, .loc = m->loc, .op = ASSIGN_SET, .value = value};
    vec_push(m->a, &store->targets, access_made(m, name_of(names, "y"), ndim));
    vec_push(m->a, &d->body, each_made(m, ndim, store));
    return d;
}

/* ---- leaves ---- */

Expr *leaf_of(Made *m, ProgValue v) {
    if (v.kind != PROG_TENSOR) {
        m->good = false;
        return expr_made(m, EXPR_ERROR, NULL);
    }
    Name name = name_made(m, "x", m->arg.n);
    for (int i = 0; i < m->arg.n; i++)
        if (value_equal(&m->arg.p[i], &v) && memcmp(m->arg.p[i].place, v.place, sizeof v.place) == 0)
            name = m->name.p[i];
    if (m->arg.n == 0 || name == name_made(m, "x", m->arg.n)) {
        vec_push(m->a, &m->arg, v);
        vec_push(m->a, &m->name, name);
    }
    return access_made(m, name, value_tensor(m->g, &v).ndim);
}
