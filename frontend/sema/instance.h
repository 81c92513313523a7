/* instance.h: kernels checked and lowered for the sizes, types and constants of one call.
   kernel.c and its neighbours implement it; program.c calls it. */
#ifndef TILEC_FRONTEND_SEMA_INSTANCE_H
#define TILEC_FRONTEND_SEMA_INSTANCE_H

#include "frontend/sema/lower.h"
#include "frontend/sema/number.h"

/* What a call passes for one parameter. */
typedef struct {
    bool is_const;      /* a compile-time scalar: .number; folded (no Param) also where the parameter is not const */
    bool is_size;       /* a constant that stands for a run-time extent, .size, and is a dimension of the instance */
    Size size;
    Number number;
    Elem elem;          /* tensors and run-time scalars */
    int ndim;           /* 0: a scalar */
    Size dim[MAX_DIMS]; /* local extents */
    bool global;        /* whole, and read at global places along split ranges */
    Loc loc;            /* of the argument */
} ActualArg;

typedef struct {
    Elem elem;          /* the type the result is assigned to; used where .has_elem */
    bool has_elem;
} ExpectedResult;

/* Shared by everything that lowers one module. */
typedef struct Lower Lower;
struct Lower {
    Module *m;
    const LowerOptions *options;
    VEC(Unit *) unit;
    VEC(Decl *) decl;        /* visible declarations of all units, standard library included once used */
    struct Instances *instances; /* kernel.c's cache of instances, keyed by declaration and actual arguments */
};

/* Instantiates `kernel` for these arguments: binds dimensions and generics, checks, lowers, and caches. The result's
   params are the declaration's tensor and run-time scalar parameters in order (constants are folded in and have no
   Param), then its results. NULL after errors; `call` is where notes point. */
Kernel *kernel_instantiate(Lower *, const Decl *kernel, const ActualArg *, int narg, const ExpectedResult *, int nresult,
                           Loc call);

/* Checks names, ranges and definite assignment of a kernel that may never be called. */
void kernel_check(Lower *, const Decl *kernel);

/* A `dim` by name as an extent: a number or a run-time symbol. false: no such dim. */
bool dim_size(Lower *, Name, Size *);

#endif
