/* made.h: kernels that whole-tensor expressions and copies are made into. */
#ifndef TILEC_FRONTEND_PROGRAM_MADE_H
#define TILEC_FRONTEND_PROGRAM_MADE_H

#include "frontend/program/graph.h"

typedef struct {
    const Graph *g;
    Arena *a;
    Loc loc;
    ProgValues arg;
    VEC(Name) name; /* of each argument's parameter */
    bool good;
} Made;

Expr *expr_made(const Made *, ExprKind, Name);
Expr *size_made(const Made *, int64_t);
Expr *leaf_of(Made *, ProgValue); /* its element at the kernel's place; the value becomes an argument */
Decl *kernel_made(Made *, const char *name, Expr *value, int ndim);

#endif
