/* value.h: what expressions of programs give, and what is known about a result before it is made. */
#ifndef TILEC_FRONTEND_PROGRAM_VALUE_H
#define TILEC_FRONTEND_PROGRAM_VALUE_H

#include "frontend/sema/bind.h"
#include "frontend/sema/unit.h"

typedef enum { PROG_ERROR, PROG_NUMBER, PROG_SIZE, PROG_TENSOR } ProgKind;

/* The value of an expression: a number, a run-time extent that a constant stands for, or a tensor. The first .lead
   dimensions of the tensor are fixed at .at. Of the others, or of their view, the first .nspot are fixed at places
   known at run time, sums over the graph's sources. .place is the tensor's, or V of local(x). */
typedef struct {
    ProgKind kind;
    Loc loc;
    Number number;
    Size size;
    int tensor, lead, nspot;
    const Tensor *view; /* a TENSOR that is reshaped: its extents, or NULL */
    int64_t at[MAX_DIMS];
    const Affine *spot;
    int born; /* so many updates in place were before it */
    Place place[MAX_AXES];
} ProgValue;

typedef VEC(ProgValue) ProgValues;

/* What is known about a result before it is made. */
typedef struct {
    bool has_elem;
    Elem elem;
    bool reduced;       /* goes into a reduction over ranks: shares are carried in f32 */
    bool stated;        /* a statement says the type: shares have it, too */
    const Tensor *like; /* declared extents and placement, or NULL */
    int into;           /* the output that it may be written to at once, or -1 */
    Name name;          /* for a new tensor, or NULL */
} Expected;

extern const Expected expected_nothing;

ProgValue prog_error(Loc);
bool value_is_part(const ProgValue *); /* or a view */
int value_lead(const ProgValue *);     /* how many dimensions of the tensor are fixed */
ProgValue value_unspotted(const ProgValue *);
Arg value_arg(const ProgValue *);
bool dims_equal(const Tensor *, const Tensor *);           /* both may be NULL */
bool value_equal(const ProgValue *, const ProgValue *);    /* the same part of one tensor */
bool value_overlaps(const ProgValue *, const ProgValue *); /* parts of one tensor that share elements */

#endif
