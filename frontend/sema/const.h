/* const.h: extents and numbers that are known when a kernel is instantiated.
   The same grammar of expressions serves dims, shapes, ranges and tile sizes; only what a name means differs. */
#ifndef TILEC_FRONTEND_SEMA_CONST_H
#define TILEC_FRONTEND_SEMA_CONST_H

#include "frontend/sema/instance.h"
#include "base/ptrmap.h"

typedef struct Instance Instance;

/* The state behind Lower.instances: what was found or made once for the whole module. */
struct Instances {
    PtrMap global; /* name -> GlobalDim, of the first ndecl declarations */
    int ndecl;
    PtrMap decl;     /* kernel declaration -> DeclState */
    PtrMap taken;    /* names of kernels in the module */
    Instance **slot; /* hashed by declaration and binding; cap is a power of two */
    int cap, n;
};

struct Instances *instances_of(Lower *); /* made at first use */

typedef enum { FOUND_NOT, FOUND, FOUND_ERROR } Found; /* ERROR: already reported */

/* What a name stands for in an expression over extents. */
typedef struct Resolver Resolver;
struct Resolver {
    Lower *lw;
    void *context;
    Found (*find)(const Resolver *, Name, Loc, Size *);
    void (*unknown)(const Resolver *, const Expr *);
};

/* A number, or a run-time dimension plus a number; a bare name keeps its split. Reports errors. */
bool size_of_expr(const Resolver *, const Expr *, Size *);
/* A name of the whole file: a dim, or a mesh axis (its ranks). */
Found global_find(Lower *, Name, Loc, Size *);

#endif
