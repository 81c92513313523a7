/* ast.h: the syntax tree, as the grammar builds it. Judgement (names, types, placements) comes later.
   Everything lives in an arena; lists are vectors in source order; names are interned. */
#ifndef TILEC_FRONTEND_SYNTAX_AST_H
#define TILEC_FRONTEND_SYNTAX_AST_H

#include "base/diag.h"
#include "base/names.h"
#include "base/text.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Expr Expr;
typedef struct Stmt Stmt;
typedef VEC(Expr *) Exprs;
typedef VEC(Stmt *) Stmts;
typedef VEC(Name) NameList;
typedef VEC(Loc) Locs;

typedef enum {
    EXPR_INT,    /* 42 */
    EXPR_FLOAT,  /* 0.2, 1e-6 */
    EXPR_BOOL,   /* true, false */
    EXPR_INF,    /* inf (-inf is a NEG of it) */
    EXPR_NAME,   /* x */
    EXPR_STAR,   /* * as an extent */
    EXPR_AUTO,   /* auto as a tile size */
    EXPR_CALL,   /* f(args): functions, casts such as bf16(x), reductions, collectives, kernels */
    EXPR_INDEX,  /* base[args] */
    EXPR_FIELD,  /* base.name */
    EXPR_UNARY,  /* op base */
    EXPR_BINARY, /* lhs op rhs */
    EXPR_COND,   /* cond ? lhs : rhs */
    EXPR_LIST,   /* [a, b] (a shape) */
    EXPR_TUPLE,  /* (tp, dp) */
    EXPR_CHOOSE, /* choose by "file" { name: expr; .. } */
    EXPR_ERROR,  /* recovered from a syntax error */
} ExprKind;

typedef enum {
    AST_NEG, AST_NOT,                                    /* - ! */
    AST_ADD, AST_SUB, AST_MUL, AST_DIV, AST_MOD, AST_AT, /* + - * / % @ */
    AST_EQ, AST_NE, AST_LT, AST_LE, AST_GT, AST_GE,      /* == != < <= > >= */
    AST_AND, AST_OR,                                     /* && || */
    AST_BAND, AST_BOR, AST_BXOR, AST_SHL, AST_SHR,       /* & | ^ << >> */
} AstOp;

typedef struct {
    Name name;
    Expr *value;
    Loc loc;
} ChooseArm;
typedef VEC(ChooseArm) ChooseArms;

struct Expr {
    ExprKind kind;
    Loc loc;
    AstOp op;
    int64_t i;      /* INT (unsigned literals beyond int64 are an error), BOOL */
    double f;       /* FLOAT */
    Name name;      /* NAME, CALL, FIELD; CHOOSE: the text of the file name */
    Expr *base;     /* INDEX, FIELD, UNARY */
    Expr *lhs, *rhs, *cond;
    Exprs args;     /* CALL, INDEX, LIST, TUPLE */
    ChooseArms arms;
    uint32_t close;  /* CHOOSE: offset of its '}' */
    bool parens;    /* written in parentheses */
    int depth;      /* of the tree below, at most SYNTAX_NESTING */
};

enum { SYNTAX_NESTING = 256, SYNTAX_BYTES = 16 << 20 };

/* `elem [extents]`, a record's name, with `as format(args)`. A name that is no element type is a generic or a record. */
typedef struct {
    Loc loc;
    Name of;        /* `sum` in sum(elem)[..], the type in which elements are summed; or NULL */
    Name elem;
    bool has_shape; /* false: a scalar or a record */
    Exprs shape;    /* extents; `K @ tp` is a BINARY AST_AT, judged later */
    Name format;    /* as kron(..) or NULL */
    Exprs format_args;
} TypeExpr;

typedef enum { PARAM_IN, PARAM_STATE, PARAM_INOUT } ParamMode;

typedef struct {
    Name name;
    Loc loc;
    ParamMode mode;
    bool is_const;  /* const causal: bool */
    bool is_unique; /* unique idx: i32[n] */
    bool is_ascending; /* ascending start: i32[n + 1] */
    TypeExpr type;
    Expr *lo, *hi;  /* ids: i32[n] in lo .. hi, or NULL */
    Expr *otherwise; /* eps: f32 = 1e-5: the argument of a call that gives none; a number, or NULL */
} ParamDecl;
typedef VEC(ParamDecl) ParamDecls;

/* i: 128 of m | r of rows | c: * of d | i: 128 of m in lo .. hi | j: 128 in lo .. hi | j in lo .. hi | r in i */
typedef struct {
    Name name;
    Loc loc;
    Expr *size;    /* INT or constant expression, STAR, AUTO; NULL: a position */
    Expr *of;      /* `of` extent; NULL when `in` alone */
    bool fixed;    /* the size is part of the meaning: `c: fixed 64 of d` */
    Expr *lo, *hi; /* `in lo .. hi`; for `in i` lo is the range's NAME and hi is NULL */
} RangeDecl;
typedef VEC(RangeDecl) RangeDecls;

typedef enum { ASSIGN_SET, ASSIGN_ADD, ASSIGN_SUB, ASSIGN_MUL, ASSIGN_DIV } AssignOp;

typedef enum { STMT_ASSIGN, STMT_LET, STMT_ASSERT, STMT_PRINT, STMT_EACH, STMT_FOR, STMT_IF, STMT_REPEAT, STMT_ERROR } StmtKind;

struct Stmt {
    StmtKind kind;
    Loc loc;
    Exprs targets;      /* ASSIGN: NAME or INDEX expressions; LET: one NAME */
    bool has_type;      /* ASSIGN, LET: x: f32[i] = .. ; the shape's extents are range names */
    TypeExpr type;
    AssignOp op;
    Expr *value;        /* ASSIGN, LET; ASSERT, IF: the condition; PRINT: the call */
    RangeDecls ranges;  /* EACH: one or more; FOR, REPEAT: one */
    Name level;         /* EACH: `on wave` or NULL */
    Stmts body;         /* EACH, FOR, IF, REPEAT */
    Stmts other;        /* IF: else */
    NameList merge;     /* FOR: merge (m2, l2) or empty */
    Locs merge_loc;
    Stmts merge_body;
    bool has_merge, has_else;
    Loc span;           /* all of the statement; .loc is the head of one with a block */
    uint32_t body_close, other_close; /* offsets of the '}' of body, and of other or merge_body */
    int depth;          /* of the statements below, at most SYNTAX_NESTING */
};

typedef enum { DECL_DIM, DECL_MESH, DECL_KERNEL, DECL_PROGRAM, DECL_RECORD, DECL_FORMAT, DECL_IMPORT } DeclKind;

typedef struct Decl {
    DeclKind kind;
    Name name;          /* IMPORT: the text of the path */
    Loc loc;            /* of the name */
    Expr *value;        /* DIM: the number or, with .bounded, the upper bound; MESH: ranks */
    bool bounded;       /* dim S <= 131072 */
    ParamDecls params;  /* KERNEL, PROGRAM, FORMAT; RECORD: its fields */
    ParamDecls results; /* KERNEL, PROGRAM */
    Stmts body;         /* KERNEL, PROGRAM */
    TypeExpr stands_for;    /* FORMAT: for T[..] */
    VEC(struct Decl *) inner; /* FORMAT: apply, as PROGRAM-like declarations */
    Loc span;           /* all of the declaration */
    uint32_t close;     /* offset of the last '}' */
    bool joined;        /* DIM, MESH: goes on with the list of the declaration before */
    bool made;          /* KERNEL: of an expression of a program, whose text is .span */
} Decl;
typedef VEC(Decl *) Decls;

typedef struct {
    int file;           /* number in Diags */
    Decls decls;
    Locs comments;      /* in source order */
} Unit;

/* Every way through the statements assigns the name. */
bool stmts_assign(const Stmts *, Name);
bool stmts_name(const Stmts *, Name); /* some way does */

typedef void ExprVisit(void *ctx, const Expr *);
void expr_each(const Expr *, ExprVisit *, void *ctx);          /* it and all expressions in it; NULL: nothing */
void stmts_each_value(const Stmts *, ExprVisit *, void *ctx); /* the same of every statement's value, nested ones too */

/* Parses one source file. All syntax errors are reported; the unit holds what was understood.
   Never NULL; look at diags->errors. Names and nodes are made in `arena` and `names`. */
Unit *parse_source(Arena *, Names *, Diags *, int file);

/* The canonical text of a unit without errors, comments kept: what `tilec fmt` writes. Parsing that and printing again
   changes nothing. */
void unit_print(Text *, const Unit *, const Diags *);

#endif
