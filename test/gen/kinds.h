/* kinds.h: in how many random programs each construct of the language occurs, counted in their syntax trees.
   Takes texts; a construct that docs/reference/language.md has and no program uses is an error of the generator. */
#ifndef TILEC_TEST_GEN_KINDS_H
#define TILEC_TEST_GEN_KINDS_H

#include "frontend/sema/function.h"
#include "frontend/syntax/ast.h"
#include "ir/coll.h"

#include <stdio.h>
#include <string.h>

/* "." in front: a construct; else a word of the source. */
static const char *const construct[] = {
    /* declarations, parameters, types */
    ".dim",
    ".dim at run time",
    ".mesh",
    ".import",
    ".kernel",
    ".program",
    ".record",
    ".format",
    ".const",
    ".default",
    ".unique",
    ".ascending",
    ".state",
    ".inout",
    ".values in a range",
    ".scalar type",
    ".generic type",
    ".record in a record",
    ".result without extents",
    ".state of a called program",
    ".record type",
    ".as a format",
    ".split over an axis",
    ".split over two axes",
    "f64",
    "f32",
    "f16",
    "bf16",
    "f8e4m3",
    "f8e5m2",
    "f8e4m3fnuz",
    "i64",
    "i32",
    "i16",
    "i8",
    "u8",
    "i4",
    "t2",
    "bool",
    /* statements */
    ".=",
    ".+=",
    ".-=",
    ".*=",
    "./=",
    ".several targets",
    ".element as target",
    ".part as target",
    ".declared type",
    ".let",
    ".assert",
    ".each",
    ".for",
    ".if",
    ".else",
    ".repeat",
    ".merge",
    ".range of a size",
    ".range *",
    ".range auto",
    ".position",
    ".range in bounds",
    ".range in a range",
    "wave",
    "group",
    "chiplet",
    "device",
    /* expressions */
    ".integer",
    ".float",
    ".true or false",
    ".inf",
    ".?:",
    ".element",
    ".field",
    ".shape",
    ".choose",
    ".choose by",
    ".negation",
    ".!",
    ".+",
    ".-",
    ".*",
    "./",
    ".%",
    ".@",
    ".==",
    ".!=",
    ".<",
    ".<=",
    ".>",
    ".>=",
    ".&&",
    ".||",
    ".&",
    ".|",
    ".^",
    ".<<",
    ".>>",
    "view",
    "linear",
    "local",
};

enum { CONSTRUCTS = sizeof construct / sizeof *construct, KINDS = CONSTRUCTS + FUNCTIONS_MOST + COLL_COUNT };

typedef struct {
    const char *name[KINDS]; /* constructs, functions, collectives */
    int n, programs[KINDS];
    bool seen[KINDS]; /* in the program that is counted */
} Kinds;

static Kinds kinds_begin(void) {
    Kinds k = {.n = CONSTRUCTS};
    for (int i = 0; i < CONSTRUCTS; i++) k.name[i] = construct[i];
    k.n += function_names(k.name + k.n, false);
    for (int i = 0; i < COLL_COUNT; i++) k.name[k.n++] = coll_info[i].name;
    return k;
}

static void kind_note(Kinds *k, const char *name) {
    for (int i = 0; name && i < k->n; i++)
        if (strcmp(k->name[i], name) == 0) k->seen[i] = true;
}

static void kind_if(Kinds *k, bool is, const char *name) {
    if (is) kind_note(k, name);
}

/* ---- expressions ---- */

static void kinds_expr(void *ctx, const Expr *e) {
    static const char *const kind[] = {
        [EXPR_INT] = ".integer",   [EXPR_FLOAT] = ".float",   [EXPR_BOOL] = ".true or false", [EXPR_INF] = ".inf",
        [EXPR_COND] = ".?:",       [EXPR_INDEX] = ".element", [EXPR_FIELD] = ".field",        [EXPR_LIST] = ".shape",
        [EXPR_CHOOSE] = ".choose", [EXPR_ERROR] = NULL};
    static const char *const op[] = {
        [AST_NEG] = ".negation", [AST_NOT] = ".!",  [AST_ADD] = ".+", [AST_SUB] = ".-",  [AST_MUL] = ".*",
        [AST_DIV] = "./",        [AST_MOD] = ".%",  [AST_AT] = ".@",  [AST_EQ] = ".==",  [AST_NE] = ".!=",
        [AST_LT] = ".<",         [AST_LE] = ".<=",  [AST_GT] = ".>",  [AST_GE] = ".>=",  [AST_AND] = ".&&",
        [AST_OR] = ".||",        [AST_BAND] = ".&", [AST_BOR] = ".|", [AST_BXOR] = ".^", [AST_SHL] = ".<<",
        [AST_SHR] = ".>>"};
    Kinds *k = ctx;
    kind_note(k, kind[e->kind]);
    kind_if(k, e->kind == EXPR_CHOOSE && e->name, ".choose by");
    kind_if(k, e->kind == EXPR_UNARY || e->kind == EXPR_BINARY, op[e->op]);
    kind_if(k, e->kind == EXPR_CALL, e->name);
}

/* ---- types and parameters ---- */

static void kinds_type(Kinds *k, const TypeExpr *t) {
    bool record = strcmp(t->elem, "weights") == 0 || strcmp(t->elem, "memory") == 0 || strcmp(t->elem, "inner") == 0;
    kind_note(k, t->elem);
    kind_if(k, record, ".record type");
    kind_if(k, strcmp(t->elem, "T") == 0, ".generic type");
    kind_if(k, !t->has_shape && !record, ".scalar type");
    kind_if(k, t->format != NULL, ".as a format");
    for (int i = 0; i < t->shape.n; i++) {
        const Expr *e = t->shape.p[i];
        if (e->kind == EXPR_BINARY && e->op == AST_AT)
            kind_note(k, e->rhs->kind == EXPR_TUPLE ? ".split over two axes" : ".split over an axis");
    }
}

static void kinds_params(Kinds *k, const ParamDecls *list) {
    for (int i = 0; i < list->n; i++) {
        const ParamDecl *p = &list->p[i];
        kinds_type(k, &p->type);
        kind_if(k, p->is_const, ".const");
        kind_if(k, p->otherwise != NULL, ".default");
        kind_if(k, p->is_unique, ".unique");
        kind_if(k, p->is_ascending, ".ascending");
        kind_if(k, p->mode == PARAM_STATE, ".state");
        kind_if(k, p->mode == PARAM_INOUT, ".inout");
        kind_if(k, p->lo != NULL, ".values in a range");
    }
}

/* ---- statements ---- */

static void kinds_range(Kinds *k, const RangeDecl *r) {
    kind_if(k, r->lo && !r->hi, ".range in a range");
    kind_if(k, r->hi != NULL, ".range in bounds");
    kind_if(k, !r->size && (r->of || r->hi), ".position");
    kind_if(k, r->size && r->size->kind == EXPR_STAR, ".range *");
    kind_if(k, r->size && r->size->kind == EXPR_AUTO, ".range auto");
    kind_if(k, r->size && r->size->kind == EXPR_INT, ".range of a size");
    expr_each(r->lo, kinds_expr, k);
    expr_each(r->hi, kinds_expr, k);
}

static void kinds_assign(Kinds *k, const Stmt *s, bool program) {
    static const char *const op[] = {
        [ASSIGN_SET] = ".=", [ASSIGN_ADD] = ".+=", [ASSIGN_SUB] = ".-=", [ASSIGN_MUL] = ".*=", [ASSIGN_DIV] = "./="};
    kind_note(k, op[s->op]);
    kind_if(k, s->targets.n > 1, ".several targets");
    for (int i = 0; i < s->targets.n; i++) {
        kind_if(k, s->targets.p[i]->kind == EXPR_INDEX, program ? ".part as target" : ".element as target");
        if (s->targets.p[i]->kind == EXPR_INDEX) expr_each(s->targets.p[i], kinds_expr, k);
    }
}

static void kinds_stmts(Kinds *k, const Stmts *list, bool program) {
    static const char *const kind[] = {
        [STMT_LET] = ".let", [STMT_ASSERT] = ".assert", [STMT_EACH] = ".each", [STMT_FOR] = ".for", [STMT_IF] = ".if", [STMT_REPEAT] = ".repeat"};
    for (int i = 0; i < list->n; i++) {
        const Stmt *s = list->p[i];
        if (s->kind == STMT_ASSIGN)
            kinds_assign(k, s, program);
        else
            kind_note(k, kind[s->kind]);
        kind_if(k, s->has_type, ".declared type");
        kind_if(k, s->has_merge, ".merge");
        kind_if(k, s->has_else, ".else");
        kind_note(k, s->level);
        expr_each(s->value, kinds_expr, k);
        for (int r = 0; r < s->ranges.n; r++) kinds_range(k, &s->ranges.p[r]);
        kinds_stmts(k, &s->body, program);
        kinds_stmts(k, &s->other, program);
        kinds_stmts(k, &s->merge_body, program);
    }
}

/* ---- programs ---- */

static void kinds_decl(Kinds *k, const Decl *d) {
    static const char *const kind[] = {
        [DECL_DIM] = ".dim",       [DECL_MESH] = ".mesh",     [DECL_KERNEL] = ".kernel", [DECL_PROGRAM] = ".program",
        [DECL_RECORD] = ".record", [DECL_FORMAT] = ".format", [DECL_IMPORT] = ".import"};
    kind_note(k, d->bounded ? ".dim at run time" : kind[d->kind]);
    kinds_params(k, &d->params);
    kinds_params(k, &d->results);
    for (int i = 0; i < d->params.n; i++) {
        kind_if(k, d->kind == DECL_RECORD && strcmp(d->params.p[i].type.elem, "inner") == 0, ".record in a record");
        kind_if(k, d->params.p[i].mode == PARAM_STATE && strcmp(d->name, "generated"), ".state of a called program");
    }
    for (int i = 0; i < d->results.n && d->kind == DECL_KERNEL; i++)
        kind_if(k, !d->results.p[i].type.has_shape, ".result without extents");
    kinds_stmts(k, &d->body, d->kind == DECL_PROGRAM);
}

static void kinds_count(Kinds *k, const char *text) {
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    const Unit *u = parse_source(a, names_new(a), d, diags_file(d, "generated", text, strlen(text)));
    memset(k->seen, 0, sizeof k->seen);
    for (int i = 0; i < u->decls.n; i++) kinds_decl(k, u->decls.p[i]);
    for (int i = 0; i < k->n; i++) k->programs[i] += k->seen[i];
    arena_free(a);
}

/* Gives how many constructs no program used. */
static int kinds_print(const Kinds *k, int programs) {
    int missing = 0;
    for (int i = 0; i < k->n; i++) {
        printf("%-22s %5d of %d%s\n", k->name[i] + (k->name[i][0] == '.'), k->programs[i], programs,
               k->programs[i] ? "" : ": never drawn");
        missing += !k->programs[i];
    }
    return missing;
}

#endif
