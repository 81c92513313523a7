/* ast_stmt.c: makes the statements of the syntax tree; as in ast.c, none gets too deep. */
#include "frontend/syntax/parse.h"

static int max2(int a, int b) { return a > b ? a : b; }

static Stmt *stmt_new(Parse *p, StmtKind kind, Loc loc) {
    Stmt *s = ARENA_NEW(p->arena, Stmt);
    s->kind = kind;
    s->loc = s->span = loc;
    s->depth = 1;
    return s;
}

Stmt *stmt_error(Parse *p, Loc loc) { return stmt_new(p, STMT_ERROR, loc); }

static int stmts_depth(const Stmts *v) {
    int depth = 0;
    for (int i = 0; i < v->n; i++) depth = max2(depth, v->p[i]->depth);
    return depth;
}

static Stmt *stmt_over(Parse *p, Stmt *s) {
    s->depth = 1 + max2(stmts_depth(&s->body), max2(stmts_depth(&s->other), stmts_depth(&s->merge_body)));
    if (s->depth <= SYNTAX_NESTING) return s;
    parse_stop_nesting(p, s->loc);
    return stmt_error(p, s->loc);
}

static bool is_assignable(const Expr *e) { return e->kind == EXPR_NAME || e->kind == EXPR_INDEX || e->kind == EXPR_FIELD; }

static void target_check(Parse *p, const Expr *e) {
    if (is_assignable(e) || e->kind == EXPR_ERROR) return;
    diag_error(p->diags, e->loc, "assign-target", "this cannot be assigned to");
    diag_note(p->diags, (Loc){0}, "a statement starts with what it assigns: a name, an element or a field, x, x[i] or w.x");
}

Stmt *stmt_assign(Parse *p, Loc loc, Exprs targets, AssignOp op, Expr *value) {
    Stmt *s = stmt_new(p, STMT_ASSIGN, loc);
    s->targets = targets;
    s->op = op;
    s->value = value;
    for (int i = 0; i < targets.n; i++) target_check(p, targets.p[i]);
    return s;
}

Stmt *stmt_typed(Parse *p, Loc loc, Expr *target, TypeExpr type, Expr *value) {
    Stmt *s = stmt_let(p, loc, target, value);
    s->kind = STMT_ASSIGN;
    s->has_type = true;
    s->type = type;
    return s;
}

Stmt *stmt_let(Parse *p, Loc loc, Expr *target, Expr *value) {
    Stmt *s = stmt_new(p, STMT_LET, loc);
    vec_push(p->arena, &s->targets, target);
    s->value = value;
    return s;
}

Stmt *stmt_assert(Parse *p, Loc loc, Expr *condition) {
    Stmt *s = stmt_new(p, STMT_ASSERT, loc);
    s->value = condition;
    return s;
}

static Stmt *stmt_no_effect(Parse *p, Loc loc) {
    diag_error(p->diags, loc, "no-effect", "a statement must assign its value to something");
    diag_note(p->diags, (Loc){0}, "there are no expression statements; write: x = ..;");
    return stmt_error(p, loc);
}

/* print(x) and print(x, c) are all that is called for nothing but its effect. */
Stmt *stmt_call(Parse *p, Loc loc, Exprs targets) {
    const Expr *call = targets.p[0];
    if (targets.n != 1 || call->kind != EXPR_CALL || call->name != name_of(p->names, "print")) return stmt_no_effect(p, loc);
    Stmt *s = stmt_new(p, STMT_PRINT, loc);
    s->value = targets.p[0];
    return s;
}

static void stmt_body(Stmt *s, Block block) {
    s->body = block.stmts;
    s->body_close = block.loc.end - 1;
    s->span.end = block.loc.end;
}

Stmt *stmt_ranges(Parse *p, StmtKind kind, Loc head, RangeDecls ranges, Block block) {
    Stmt *s = stmt_new(p, kind, head);
    s->ranges = ranges;
    stmt_body(s, block);
    return stmt_over(p, s);
}

Stmt *stmt_for(Parse *p, Loc head, RangeDecls ranges, Block block, MergeClause merge) {
    Stmt *s = stmt_new(p, STMT_FOR, head);
    s->ranges = ranges;
    stmt_body(s, block);
    s->has_merge = merge.present;
    if (merge.present) {
        s->merge = merge.names;
        s->merge_loc = merge.locs;
        s->merge_body = merge.block.stmts;
        s->other_close = merge.block.loc.end - 1;
        s->span.end = merge.block.loc.end;
    }
    return stmt_over(p, s);
}

Stmt *stmt_if(Parse *p, Loc head, Expr *cond, Block block, const Block *other) {
    Stmt *s = stmt_new(p, STMT_IF, head);
    s->value = cond;
    stmt_body(s, block);
    s->has_else = other != NULL;
    if (other) {
        s->other = other->stmts;
        s->other_close = other->loc.end - 1;
        s->span.end = other->loc.end;
    }
    return stmt_over(p, s);
}

static bool stmt_names(const Stmt *s, Name name) {
    for (int i = 0; i < s->targets.n && s->kind == STMT_ASSIGN; i++)
        if (s->targets.p[i]->kind == EXPR_NAME && s->targets.p[i]->name == name) return true;
    return false;
}

bool stmts_name(const Stmts *list, Name name) {
    for (int i = 0; i < list->n; i++) {
        const Stmt *s = list->p[i];
        if (stmt_names(s, name) || stmts_name(&s->body, name) || stmts_name(&s->other, name)) return true;
    }
    return false;
}

bool stmts_assign(const Stmts *list, Name name) {
    for (int i = 0; i < list->n; i++) {
        const Stmt *s = list->p[i];
        if (stmt_names(s, name)) return true;
        if (s->kind == STMT_IF && stmts_assign(&s->body, name) && stmts_assign(&s->other, name)) return true;
    }
    return false;
}
