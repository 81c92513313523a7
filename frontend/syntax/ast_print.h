/* ast_print.h: pieces of the syntax tree as text on one line; ast_format.c lays units out with them. */
#ifndef TILEC_FRONTEND_SYNTAX_AST_PRINT_H
#define TILEC_FRONTEND_SYNTAX_AST_PRINT_H

#include "frontend/syntax/ast.h"

typedef struct {
    Text *out;
    const SourceFile *source; /* numbers are printed as they were written */
} Writer;

void ast_print_expr(Writer, const Expr *);
void ast_print_type(Writer, const TypeExpr *);
void ast_print_param(Writer, const ParamDecl *);
void ast_print_params(Writer, const ParamDecls *);
void ast_print_range(Writer, const RangeDecl *);
/* A statement without a block up to the start of its value: "x: f32[i] = ", "assert ". */
void ast_print_targets(Writer, const Stmt *);
/* What stands before the block of a statement: "each i: 128 of m on wave". */
void ast_print_head(Writer, const Stmt *);

#endif
