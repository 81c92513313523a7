/* number.h: numbers, extents and types of programs that are known at compile time. */
#ifndef TILEC_FRONTEND_PROGRAM_NUMBER_H
#define TILEC_FRONTEND_PROGRAM_NUMBER_H

#include "frontend/program/scope.h"

/* What a dimension may be called in `reduce_scatter(x, tp, m)`: by the kernel that made it, by the program's extents.
 */
typedef struct {
    Name own, whole;
} DimName;

/* number.c: compile-time numbers. false: not one, nothing reported. */
bool number_of_expr(const Scope *, const Expr *, ProgValue *);

/* type.c: fills element type, extents, placement and what the dimensions are called. false after errors. */
void dims_place(Tensor *);                           /* split as its dimensions say, else replicated */
bool extent_of(const Scope *, const Expr *, Size *); /* of dims */
bool type_lower(const Scope *, const TypeExpr *, Tensor *, DimName name[MAX_DIMS]);
const char *extent_text(const Front *, Size);
const char *shape_text(const Front *, const Tensor *); /* [64, 32 @ tp] */

#endif
