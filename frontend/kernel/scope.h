/* scope.h: what names of a kernel stand for, one namespace without shadowing. */
#ifndef TILEC_FRONTEND_KERNEL_SCOPE_H
#define TILEC_FRONTEND_KERNEL_SCOPE_H

#include "frontend/sema/bind.h"
#include "frontend/sema/const.h"

/* ---- values of expressions ---- */

/* INDEX: an i64 sum that is still affine (no operation was made); INT, FLOAT, BOOL: compile-time numbers. */
typedef enum { VAL_ERROR, VAL_INT, VAL_FLOAT, VAL_BOOL, VAL_INDEX, VAL_TILE } ValKind;

typedef struct {
    ValKind kind;
    bool literal;   /* INT: written in the source, so that it adapts to floats too */
    bool converted; /* INT, FLOAT: by a conversion to .elem, so that it has a type like any value */
    bool fresh_dot; /* TILE: a contraction that nothing else uses */
    Elem elem;
    int64_t i; /* INT, BOOL */
    double f;  /* FLOAT */
    const Affine *index;
    Value *v;
} Val;

/* ---- names ---- */

typedef enum {
    NAME_DIM,
    NAME_ELEM,
    NAME_CONST,
    NAME_SCALAR,
    NAME_TENSOR,
    NAME_RESULT,
    NAME_INOUT,
    NAME_RANGE,
    NAME_VAR,
    NAME_BROKEN
} NameKind;

/* The dimensions of a tensor under another shape; those in front that agree stay what they are. */
typedef struct {
    int ndim, same;
    Size dim[MAX_DIMS];
} KernView;

typedef struct {
    Name name;
    NameKind kind;
    Loc loc;
    int index;  /* TENSOR, RESULT, INOUT, SCALAR: Param; RANGE: Range */
    Size size;  /* DIM */
    Elem elem;  /* ELEM */
    Val val;    /* CONST, VAR; SCALAR once loaded */
    bool typed; /* VAR: .type is fixed (declared, or carried by a loop) */
    Type type;
    bool fixed;           /* VAR of a let: cannot be updated */
    bool global;          /* TENSOR: whole, and read at global places along split ranges */
    const KernView *view; /* TENSOR: or NULL */
    bool scalar;          /* RESULT without extents: one element, named without subscripts */
    bool read;
    int stamp;
} Entry;

/* Entries are a stack, innermost last; a mark is their number. A pointer to one holds until the next is declared. */
typedef struct KernScope KernScope;

KernScope *scope_begin(Lower *, Arena *, Diags *);
int scope_mark(const KernScope *);
Entry *scope_entry(const KernScope *, int at);
int scope_place(const KernScope *, const Entry *); /* of the entry in the stack */
void scope_close(KernScope *, int mark);           /* leaves a block */
void scope_report_unread(const KernScope *);       /* at the end of the kernel */
Entry *scope_find(const KernScope *, Name);        /* NULL: not in scope */
Entry *scope_declare(KernScope *, Name, NameKind,
                     Loc);                   /* reports a name that is taken, and gives an entry all the same */
Entry *scope_use(KernScope *, Name, Loc);    /* reports a name that is not in scope; never NULL */
void scope_touch(KernScope *, const Expr *); /* marks what an expression that is not lowered reads */
void scope_touch_all(KernScope *, const Stmts *);

#endif
