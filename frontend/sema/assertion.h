/* assertion.h: the message of an assertion that does not hold, in a kernel or in a program. */
#ifndef TILEC_FRONTEND_SEMA_ASSERTION_H
#define TILEC_FRONTEND_SEMA_ASSERTION_H

#include "frontend/syntax/ast.h"

/* Text of the value of a name, or NULL where it has none that is known at compile time. */
typedef const char *NameValue(void *ctx, const Expr *name);

/* Reports that the condition of `s` does not hold in `of`, with the values of the names in it. A note points to the call of
   a kernel of the same file; errors in other files, and those of programs, get that note from whoever expands the call. */
void assertion_failed(Diags *, const Stmt *s, const Decl *of, Loc call, NameValue *, void *ctx);
/* Warns that the condition depends on run-time sizes, so that it is not checked. */
void assertion_unknown(Diags *, const Stmt *s, const Decl *of, Loc call);

#endif
