/* bind.h: the binding of a call: the dimensions, element types and constants that a head's names stand for. */
#ifndef TILEC_FRONTEND_SEMA_BIND_H
#define TILEC_FRONTEND_SEMA_BIND_H

#include "frontend/sema/instance.h"

typedef struct {
    Name name;
    Size size;
    Loc loc;          /* of the parameter that binds it */
    const char *from; /* its name */
} BoundDim;

typedef struct {
    Name name;
    Elem elem;
} BoundElem;

typedef enum { BOUND_NOTHING, BOUND_INT, BOUND_FLOAT, BOUND_BOOL, BOUND_SIZE } ConstKind;

/* A parameter after binding: a tensor, a run-time scalar (ndim 0), or a constant. A result without extents is a tensor
   of one element. */
typedef struct {
    const ParamDecl *decl;
    ConstKind constant;
    int64_t i;
    double f;
    Size size; /* BOUND_SIZE: a run-time extent */
    Elem elem;
    int ndim;
    Size dim[MAX_DIMS];
    bool global; /* as of ActualArg */
} BoundParam;

typedef struct {
    const Decl *decl;
    Loc call; /* the first that is bound so */
    VEC(BoundDim) dim;
    VEC(BoundElem) elem;
    VEC(BoundParam) param; /* parameters, then results */
} Binding;

/* kernel/bind.c: parameters against arguments. false after errors. */
bool binding_of_call(Lower *, const Decl *, const ActualArg *, int narg, const ExpectedResult *, int nresult, Loc call,
                     Binding *);

#endif
