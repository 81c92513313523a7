/* parse.h: what the scanner, the grammar and its helpers share while one file is parsed.
   Everyone else uses parse_source of ast.h. */
#ifndef TILEC_FRONTEND_SYNTAX_PARSE_H
#define TILEC_FRONTEND_SYNTAX_PARSE_H

#include "frontend/syntax/ast.h"

typedef struct {
    Loc loc;
    char close; /* the character that closes it */
} OpenBracket;

typedef struct {
    Arena *arena;
    Names *names;
    Diags *diags;
    Unit *unit;
    const SourceFile *source;
    void *scanner;
    uint32_t at;       /* offset behind the text scanned so far */
    Loc before;        /* the token before the newest one */
    Loc newest;
    int kind[3];       /* of the newest tokens, the newest first; 0 before the start */
    int held;          /* token that waits for missing closing brackets, or 0 */
    Loc held_loc;
    uint32_t quiet_to; /* syntax errors before this offset follow from one already reported */
    OpenBracket open[SYNTAX_NESTING];
    int nopen;
    Loc mismatch;      /* the bracket that the newest closing one does not match */
} Parse;

/* Reports that the source is nested too deeply and makes the rest of it read as the end of the file. */
void parse_stop_nesting(Parse *, Loc);

/* Scanner: values of tokens. */
int64_t scan_integer(Parse *, const char *text, Loc);
double scan_float(Parse *, const char *text, Loc);
Name scan_name(Parse *, const char *text, size_t len, Loc);

enum { SYNTAX_WANTED = 5 };

/* What a syntax error found, and what would have been right there, in the words of messages. */
typedef struct {
    Loc loc;
    const char *found;
    bool found_ends; /* a closing bracket or the end of the file */
    const char *wanted[SYNTAX_WANTED];
    int nwanted; /* more than SYNTAX_WANTED: too many to tell */
} SyntaxError;
void syntax_report(Parse *, const SyntaxError *);

/* Nodes. The result is an EXPR_ERROR or STMT_ERROR when it would be too deep. */
Expr *expr_new(Parse *, ExprKind, Loc);
Expr *expr_int(Parse *, Loc, ExprKind, int64_t);
Expr *expr_float(Parse *, Loc, double);
Expr *expr_named(Parse *, Loc, ExprKind, Name, Exprs args);
Expr *expr_list(Parse *, Loc, ExprKind, Exprs);
Expr *expr_on(Parse *, Loc, ExprKind, Expr *base, Exprs args);
Expr *expr_field(Parse *, Loc, Expr *base, Name);
Expr *expr_unary(Parse *, Loc, AstOp, Expr *);
Expr *expr_binary(Parse *, Loc, Expr *, AstOp, Expr *);
Expr *expr_cond(Parse *, Loc, Expr *cond, Expr *lhs, Expr *rhs);
Expr *expr_choose(Parse *, Loc, Name file, ChooseArms, Loc close);

Stmt *stmt_error(Parse *, Loc);
Stmt *stmt_assign(Parse *, Loc, Exprs targets, AssignOp, Expr *value);
Stmt *stmt_typed(Parse *, Loc, Expr *target, TypeExpr, Expr *value);
Stmt *stmt_let(Parse *, Loc, Expr *target, Expr *value);
Stmt *stmt_assert(Parse *, Loc, Expr *condition);
Stmt *stmt_call(Parse *, Loc, Exprs targets); /* an expression as a statement */

/* A block with its braces. */
typedef struct {
    Stmts stmts;
    Loc loc;
} Block;

typedef struct {
    bool present;
    NameList names;
    Locs locs;
    Block block;
} MergeClause;

Stmt *stmt_ranges(Parse *, StmtKind, Loc head, RangeDecls, Block);
Stmt *stmt_for(Parse *, Loc head, RangeDecls, Block, MergeClause);
Stmt *stmt_if(Parse *, Loc head, Expr *cond, Block, const Block *other);

RangeDecl range_of(Name, Loc, Expr *size, Expr *of);
RangeDecl range_fixed(RangeDecl);
RangeDecl range_grouped(RangeDecl, Expr *of); /* one with bounds, which are those of a group */
RangeDecl range_in(Parse *, Name, Loc, Expr *size, Expr *lo, Expr *hi);
TypeExpr type_shaped(Name elem, Loc, Exprs shape);
ParamDecl param_mode(Parse *, ParamDecl, ParamDecl word, Loc); /* word: has what the word says, and nothing else */

Decl *decl_new(Parse *, DeclKind, Name, Loc name, Loc span);
Decl *decl_value(Parse *, DeclKind, Name, Loc name, Loc span, Expr *value);
ParamDecl param_default(Parse *, Name, Loc, TypeExpr, Expr *value);
void no_defaults(Parse *, const ParamDecls *); /* reports each of a number; param_default did those of tensors */
Decl *decl_callable(Parse *, DeclKind, Name, Loc name, Loc span, ParamDecls params, ParamDecls results);
void decl_body(Decl *, Block, Loc span);

#endif
