/* ast_print.c: expressions, types and the heads of statements as text on one line. */
#include "frontend/syntax/ast_print.h"

static const char *const op_text[] = {
    [AST_NEG] = "-",  [AST_NOT] = "!",  [AST_ADD] = "+",  [AST_SUB] = "-", [AST_MUL] = "*",  [AST_DIV] = "/",
    [AST_MOD] = "%",  [AST_AT] = "@",   [AST_EQ] = "==",  [AST_NE] = "!=", [AST_LT] = "<",   [AST_LE] = "<=",
    [AST_GT] = ">",   [AST_GE] = ">=",  [AST_AND] = "&&", [AST_OR] = "||", [AST_BAND] = "&", [AST_BOR] = "|",
    [AST_BXOR] = "^", [AST_SHL] = "<<", [AST_SHR] = ">>",
};
static const char *const assign_text[] = {
    [ASSIGN_SET] = "=", [ASSIGN_ADD] = "+=", [ASSIGN_SUB] = "-=", [ASSIGN_MUL] = "*=", [ASSIGN_DIV] = "/=",
};

static void print_exprs(Writer w, const char *open, const Exprs *v, const char *close) {
    text_add(w.out, open);
    for (int i = 0; i < v->n; i++) {
        if (i) text_add(w.out, ", ");
        ast_print_expr(w, v->p[i]);
    }
    text_add(w.out, close);
}

static void print_source(Writer w, Loc loc) { text_add_n(w.out, w.source->text + loc.begin, loc.end - loc.begin); }

static void print_field(Writer w, const Expr *e) {
    bool number = !e->base->parens && (e->base->kind == EXPR_INT || e->base->kind == EXPR_FLOAT);
    ast_print_expr(w, e->base);
    text_printf(w.out, "%s.%s", number ? " " : "", e->name); /* 1.x would be one malformed number */
}

static void print_binary(Writer w, const Expr *e) {
    ast_print_expr(w, e->lhs);
    text_printf(w.out, " %s ", op_text[e->op]);
    ast_print_expr(w, e->rhs);
}

static void print_cond(Writer w, const Expr *e) {
    ast_print_expr(w, e->cond);
    text_add(w.out, " ? ");
    ast_print_expr(w, e->lhs);
    text_add(w.out, " : ");
    ast_print_expr(w, e->rhs);
}

static void print_choose(Writer w, const Expr *e) {
    text_add(w.out, "choose ");
    if (e->name) text_printf(w.out, "by \"%s\" ", e->name);
    text_add(w.out, "{");
    for (int i = 0; i < e->arms.n; i++) {
        text_printf(w.out, " %s: ", e->arms.p[i].name);
        ast_print_expr(w, e->arms.p[i].value);
        text_add(w.out, ";");
    }
    text_add(w.out, " }");
}

static void print_bare(Writer w, const Expr *e) {
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT: print_source(w, e->loc); break;
    case EXPR_BOOL: text_add(w.out, e->i ? "true" : "false"); break;
    case EXPR_INF: text_add(w.out, "inf"); break;
    case EXPR_NAME: text_add(w.out, e->name); break;
    case EXPR_STAR: text_add(w.out, "*"); break;
    case EXPR_AUTO: text_add(w.out, "auto"); break;
    case EXPR_CALL:
        text_add(w.out, e->name);
        print_exprs(w, "(", &e->args, ")");
        break;
    case EXPR_INDEX:
        ast_print_expr(w, e->base);
        print_exprs(w, "[", &e->args, "]");
        break;
    case EXPR_FIELD: print_field(w, e); break;
    case EXPR_UNARY:
        text_add(w.out, op_text[e->op]);
        ast_print_expr(w, e->base);
        break;
    case EXPR_BINARY: print_binary(w, e); break;
    case EXPR_COND: print_cond(w, e); break;
    case EXPR_LIST: print_exprs(w, "[", &e->args, "]"); break;
    case EXPR_TUPLE: print_exprs(w, "(", &e->args, ")"); break;
    case EXPR_CHOOSE: print_choose(w, e); break;
    case EXPR_ERROR: break;
    }
}

void ast_print_expr(Writer w, const Expr *e) {
    if (e->parens) text_add(w.out, "(");
    print_bare(w, e);
    if (e->parens) text_add(w.out, ")");
}

void ast_print_type(Writer w, const TypeExpr *t) {
    if (t->of) text_printf(w.out, "%s(%s)", t->of, t->elem);
    else text_add(w.out, t->elem);
    if (t->has_shape) print_exprs(w, "[", &t->shape, "]");
    if (!t->format) return;
    text_printf(w.out, " as %s", t->format);
    print_exprs(w, "(", &t->format_args, ")");
}

/* hi may be NULL */
static void print_interval(Writer w, const Expr *lo, const Expr *hi) {
    ast_print_expr(w, lo);
    if (!hi) return;
    text_add(w.out, " .. ");
    ast_print_expr(w, hi);
}

void ast_print_param(Writer w, const ParamDecl *d) {
    if (d->is_const) text_add(w.out, "const ");
    if (d->mode != PARAM_IN) text_add(w.out, d->mode == PARAM_STATE ? "state " : "inout ");
    if (d->is_unique) text_add(w.out, "unique ");
    if (d->is_ascending) text_add(w.out, "ascending ");
    text_printf(w.out, "%s: ", d->name);
    ast_print_type(w, &d->type);
    if (d->otherwise) {
        text_add(w.out, " = ");
        ast_print_expr(w, d->otherwise);
    }
    if (!d->lo) return;
    text_add(w.out, " in ");
    print_interval(w, d->lo, d->hi);
}

void ast_print_params(Writer w, const ParamDecls *v) {
    for (int i = 0; i < v->n; i++) {
        if (i) text_add(w.out, ", ");
        ast_print_param(w, &v->p[i]);
    }
}

void ast_print_range(Writer w, const RangeDecl *r) {
    text_add(w.out, r->name);
    if (r->size) {
        text_add(w.out, r->fixed ? ": fixed " : ": ");
        ast_print_expr(w, r->size);
    }
    if (r->of) {
        text_add(w.out, " of ");
        ast_print_expr(w, r->of);
    }
    if (!r->lo) return;
    text_add(w.out, " in ");
    print_interval(w, r->lo, r->hi);
}

void ast_print_targets(Writer w, const Stmt *s) {
    if (s->kind == STMT_PRINT) return;
    if (s->kind == STMT_ASSERT) return text_add(w.out, s->value->kind == EXPR_TUPLE ? "assert" : "assert ");
    print_exprs(w, s->kind == STMT_LET ? "let " : "", &s->targets, "");
    if (s->has_type) {
        text_add(w.out, ": ");
        ast_print_type(w, &s->type);
    }
    text_printf(w.out, " %s ", assign_text[s->op]);
}

void ast_print_head(Writer w, const Stmt *s) {
    static const char *const word[] = {[STMT_EACH] = "each ", [STMT_FOR] = "for ", [STMT_REPEAT] = "repeat "};
    if (s->kind == STMT_IF) {
        text_add(w.out, "if ");
        ast_print_expr(w, s->value);
        return;
    }
    text_add(w.out, word[s->kind]);
    for (int i = 0; i < s->ranges.n; i++) {
        if (i) text_add(w.out, ", ");
        ast_print_range(w, &s->ranges.p[i]);
    }
    if (s->level) text_printf(w.out, " on %s", s->level);
}
