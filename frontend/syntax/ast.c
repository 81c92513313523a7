/* ast.c: makes the nodes of the syntax tree and judges what needs no names: depth, chains of '@', what is assigned.
   A node that would be too deep is replaced by an error node, so that every walk over a tree may recurse. */
#include "frontend/syntax/parse.h"

static int max2(int a, int b) { return a > b ? a : b; }

static int exprs_depth(const Exprs *v) {
    int depth = 0;
    for (int i = 0; i < v->n; i++) depth = max2(depth, v->p[i]->depth);
    return depth;
}

Expr *expr_new(Parse *p, ExprKind kind, Loc loc) {
    Expr *e = ARENA_NEW(p->arena, Expr);
    e->kind = kind;
    e->loc = loc;
    e->depth = 1;
    return e;
}

static Expr *expr_over(Parse *p, Expr *e, int below) {
    e->depth = below + 1;
    if (e->depth <= SYNTAX_NESTING) return e;
    parse_stop_nesting(p, e->loc);
    return expr_new(p, EXPR_ERROR, e->loc);
}

Expr *expr_int(Parse *p, Loc loc, ExprKind kind, int64_t i) {
    Expr *e = expr_new(p, kind, loc);
    e->i = i;
    return e;
}

Expr *expr_float(Parse *p, Loc loc, double f) {
    Expr *e = expr_new(p, EXPR_FLOAT, loc);
    e->f = f;
    return e;
}

Expr *expr_named(Parse *p, Loc loc, ExprKind kind, Name name, Exprs args) {
    Expr *e = expr_list(p, loc, kind, args);
    e->name = name;
    return e;
}

Expr *expr_list(Parse *p, Loc loc, ExprKind kind, Exprs args) {
    Expr *e = expr_new(p, kind, loc);
    e->args = args;
    return expr_over(p, e, exprs_depth(&args));
}

Expr *expr_on(Parse *p, Loc loc, ExprKind kind, Expr *base, Exprs args) {
    Expr *e = expr_new(p, kind, loc);
    e->base = base;
    e->args = args;
    return expr_over(p, e, max2(base->depth, exprs_depth(&args)));
}

Expr *expr_field(Parse *p, Loc loc, Expr *base, Name name) {
    Expr *e = expr_on(p, loc, EXPR_FIELD, base, (Exprs){0});
    e->name = name;
    return e;
}

Expr *expr_unary(Parse *p, Loc loc, AstOp op, Expr *base) {
    Expr *e = expr_on(p, loc, EXPR_UNARY, base, (Exprs){0});
    e->op = op;
    return e;
}

/* a @ b @ c, or a @ b * c @ d: nothing says which contraction comes first. */
static bool is_contraction_chain(const Expr *lhs) {
    while (lhs->kind == EXPR_BINARY && !lhs->parens && lhs->op >= AST_MUL && lhs->op <= AST_AT) {
        if (lhs->op == AST_AT) return true;
        lhs = lhs->lhs;
    }
    return false;
}

Expr *expr_binary(Parse *p, Loc loc, Expr *lhs, AstOp op, Expr *rhs) {
    Expr *e = expr_new(p, EXPR_BINARY, loc);
    e->op = op;
    e->lhs = lhs;
    e->rhs = rhs;
    if (op == AST_AT && is_contraction_chain(lhs)) {
        diag_error(p->diags, loc, "contraction-chain", "a chain of '@' needs parentheses: it is not associative");
        diag_note(p->diags, (Loc){0}, "write (a @ b) @ c or a @ (b @ c)");
    }
    return expr_over(p, e, max2(lhs->depth, rhs->depth));
}

Expr *expr_cond(Parse *p, Loc loc, Expr *cond, Expr *lhs, Expr *rhs) {
    Expr *e = expr_new(p, EXPR_COND, loc);
    e->cond = cond;
    e->lhs = lhs;
    e->rhs = rhs;
    return expr_over(p, e, max2(cond->depth, max2(lhs->depth, rhs->depth)));
}

Expr *expr_choose(Parse *p, Loc loc, Name file, ChooseArms arms, Loc close) {
    Expr *e = expr_new(p, EXPR_CHOOSE, loc);
    int depth = 0;
    e->name = file;
    e->arms = arms;
    e->close = close.begin;
    for (int i = 0; i < arms.n; i++) depth = max2(depth, arms.p[i].value->depth);
    return expr_over(p, e, depth);
}

RangeDecl range_of(Name name, Loc loc, Expr *size, Expr *of) {
    return (RangeDecl){.name = name, .loc = loc, .size = size, .of = of};
}

RangeDecl range_grouped(RangeDecl r, Expr *of) {
    r.of = of;
    return r;
}

RangeDecl range_fixed(RangeDecl r) {
    r.fixed = true;
    return r;
}

/* Without '..' only the positions of a range can be meant: `for r in i`. */
RangeDecl range_in(Parse *p, Name name, Loc loc, Expr *size, Expr *lo, Expr *hi) {
    if (!hi && (size || lo->kind != EXPR_NAME)) {
        diag_error(p->diags, size ? size->loc : lo->loc, "range-bounds", "'in' needs bounds or the name of a range");
        diag_note(p->diags, (Loc){0}, "write: %s in 0 .. n, %s of n, or %s in i for the positions of range i", name,
                  name, name);
    }
    return (RangeDecl){.name = name, .loc = loc, .size = size, .lo = lo, .hi = hi};
}

TypeExpr type_shaped(Name elem, Loc loc, Exprs shape) {
    return (TypeExpr){.loc = loc, .elem = elem, .has_shape = true, .shape = shape};
}

ParamDecl param_mode(Parse *p, ParamDecl d, ParamDecl word, Loc loc) {
    bool twice = (word.is_const && d.is_const) || (word.is_unique && d.is_unique) || (word.is_ascending && d.is_ascending) ||
                 (word.mode != PARAM_IN && word.mode == d.mode);
    bool both = word.mode != PARAM_IN && d.mode != PARAM_IN && !twice;
    if (twice) diag_error(p->diags, loc, "parameter-mode", "'%s' has this word twice", d.name);
    if (both || (d.mode != PARAM_IN && word.is_const) || (word.mode != PARAM_IN && d.is_const))
        diag_error(p->diags, loc, "parameter-mode", "'%s' can only be one of const, state and inout", d.name);
    d.mode = word.mode == PARAM_IN ? d.mode : word.mode;
    d.is_const |= word.is_const;
    d.is_unique |= word.is_unique;
    d.is_ascending |= word.is_ascending;
    return d;
}

static bool is_number(const Expr *e) {
    if (e->kind == EXPR_UNARY && e->op == AST_NEG) e = e->base;
    return e->kind == EXPR_INT || e->kind == EXPR_FLOAT || e->kind == EXPR_BOOL || e->kind == EXPR_INF;
}

ParamDecl param_default(Parse *p, Name name, Loc loc, TypeExpr type, Expr *value) {
    if (type.has_shape || type.format)
        diag_error(p->diags, value->loc, "default-value", "'%s' is a tensor: only a number has a default", name);
    else if (!is_number(value) && value->kind != EXPR_ERROR)
        diag_error(p->diags, value->loc, "default-value", "the default of '%s' is a number, such as 1e-5 or true", name);
    return (ParamDecl){.name = name, .loc = loc, .type = type, .otherwise = value};
}

void no_defaults(Parse *p, const ParamDecls *list) {
    for (int i = 0; i < list->n; i++)
        if (list->p[i].otherwise && !list->p[i].type.has_shape && !list->p[i].type.format)
            diag_error(p->diags, list->p[i].otherwise->loc, "default-value", "'%s' is no parameter of a call: it has no default",
                       list->p[i].name);
}

/* A call leaves out its last arguments. */
static void defaults_check(Parse *p, const ParamDecls *list) {
    for (int i = 1; i < list->n; i++)
        if (list->p[i - 1].otherwise && !list->p[i].otherwise)
            diag_error(p->diags, list->p[i].loc, "default-value", "'%s' has no default, and '%s' before it has one",
                       list->p[i].name, list->p[i - 1].name);
}

Decl *decl_new(Parse *p, DeclKind kind, Name name, Loc name_loc, Loc span) {
    Decl *d = ARENA_NEW(p->arena, Decl);
    d->kind = kind;
    d->name = name;
    d->loc = name_loc;
    d->span = span;
    return d;
}

Decl *decl_value(Parse *p, DeclKind kind, Name name, Loc name_loc, Loc span, Expr *value) {
    Decl *d = decl_new(p, kind, name, name_loc, span);
    d->value = value;
    return d;
}

Decl *decl_callable(Parse *p, DeclKind kind, Name name, Loc name_loc, Loc span, ParamDecls params, ParamDecls results) {
    Decl *d = decl_new(p, kind, name, name_loc, span);
    d->params = params;
    d->results = results;
    defaults_check(p, &params);
    no_defaults(p, &results);
    return d;
}

void decl_body(Decl *d, Block block, Loc span) {
    d->body = block.stmts;
    d->close = block.loc.end - 1;
    d->span = span;
}

/* ---- walks ---- */

void expr_each(const Expr *e, ExprVisit *visit, void *ctx) {
    if (!e) return;
    visit(ctx, e);
    expr_each(e->base, visit, ctx);
    expr_each(e->lhs, visit, ctx);
    expr_each(e->rhs, visit, ctx);
    expr_each(e->cond, visit, ctx);
    for (int i = 0; i < e->args.n; i++) expr_each(e->args.p[i], visit, ctx);
    for (int i = 0; i < e->arms.n; i++) expr_each(e->arms.p[i].value, visit, ctx);
}

void stmts_each_value(const Stmts *list, ExprVisit *visit, void *ctx) {
    for (int i = 0; i < list->n; i++) {
        expr_each(list->p[i]->value, visit, ctx);
        stmts_each_value(&list->p[i]->body, visit, ctx);
        stmts_each_value(&list->p[i]->other, visit, ctx);
    }
}
