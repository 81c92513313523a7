/* callee.h: what the name of a call in a program stands for. */
#ifndef TILEC_FRONTEND_PROGRAM_CALLEE_H
#define TILEC_FRONTEND_PROGRAM_CALLEE_H

#include "frontend/program/scope.h"

/* NONE: no call. FUNCTION: of elements, such as exp and f32. */
typedef enum {
    CALLEE_NONE,
    CALLEE_UNKNOWN,
    CALLEE_COLLECTIVE,
    CALLEE_FORMAT,
    CALLEE_KERNEL,
    CALLEE_PROGRAM,
    CALLEE_VIEW,
    CALLEE_FUNCTION
} CalleeKind;

typedef struct {
    CalleeKind kind;
    const Decl *decl;       /* that the files have of the name: KERNEL, PROGRAM, or one that is not called; or NULL */
    const CollInfo *coll;   /* COLLECTIVE */
    const Variable *weight; /* FORMAT: W in linear(x, W) */
} Callee;

/* No collective: what a rank has of a split tensor, as a value of its own. */
extern const CollInfo coll_blocks; /* V seen as S */
bool coll_is_view(const CollInfo *); /* it, or `local`: S seen as V */

Callee callee_find(const Scope *, const Expr *);
const Decl *callee_decl(const Scope *, const Expr *); /* of a KERNEL or PROGRAM, else NULL */
void callee_unknown(const Scope *, const Expr *);     /* reports the name, suggests another */

#endif
