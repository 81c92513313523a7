/* graph.h: what a program is lowered to: nodes over tensors with placements, under a condition or not.
   A value is a tensor of the graph, or a part of one; updates in place make versions, of which the last one lives. */
#ifndef TILEC_FRONTEND_PROGRAM_GRAPH_H
#define TILEC_FRONTEND_PROGRAM_GRAPH_H

#include "frontend/program/number.h"

/* Beside each tensor of the program. */
typedef struct {
    DimName dim[MAX_DIMS];
    Elem whole_elem; /* P: the type of the sum; .elem of the tensor is that of the shares */
    Loc cause;       /* P: the argument that made it partial, .. */
    const char *why; /* .. and a sentence about it; NULL: none */
} TensorInfo;

/* Nothing of it changes but what .p points to, and .state, which is graph.c's. */
typedef struct {
    Front *f;
    Module *m;
    Arena *arena;
    Diags *diags;
    const Program *p;
    struct GraphState *state;
} Graph;

Graph *graph_new(Front *, const Decl *);

/* ---- nodes and tensors ---- */

int tensor_new(Graph *, Tensor, const TensorInfo *); /* private, one slot, a name that is free */
const TensorInfo *tensor_info(const Graph *, int tensor);
void interface_add(Graph *, int tensor);
void node_new(Graph *, Node);     /* under the graph's condition */
void node_always(Graph *, Node);  /* under none */
int condition_now(const Graph *); /* of the nodes that are made: as Node.when */
void condition_set(Graph *, int);

/* Scalars and elements of integer tensors that are places, numbered. */
int source_number(Graph *, const ProgValue *); /* -1: they are too many */
int source_count(const Graph *);
const ProgValue *source_at(const Graph *, int);

/* Updates in place, in order; .loc: where. */
int update_count(const Graph *);
const ProgValue *update_at(const Graph *, int);
void update_add(Graph *, ProgValue);
void updates_forget(Graph *, int count); /* but the first `count` */

/* ---- values ---- */

ProgValue prog_tensor(const Graph *, int tensor, Loc);
Tensor value_tensor(const Graph *,
                    const ProgValue *); /* as its reader sees it: without the dimensions that are fixed */
/* A scalar that is computed is a tensor of one element, taken at place 0. */
ProgValue scalar_new(Graph *, Tensor, const TensorInfo *, Loc);
ProgValue scalar_of(const Graph *, ProgValue);
bool value_is_scalar(const Graph *, const ProgValue *);    /* such a one, whole */
const char *tensor_text(const Graph *, const ProgValue *); /* the expression as written, for messages */

/* version.c */
bool places_use(const Graph *, const ProgValue *,
                const ProgValue *of);               /* its places are made of elements of the other */
bool value_lives(const Graph *, const ProgValue *); /* reports a value that was updated in place after it was named */
bool places_live(const Graph *, const ProgValue *); /* the same of its places alone */
/* What names the tensor, or some of it, now names an old version. */
void value_consume(Graph *, Scope *, const ProgValue *, Loc);

/* ---- place.c: placements and shapes ---- */

/* *whole: an argument that has to be read at global places for the placements to fit, which is no error yet; or -1 */
bool places_find(const Graph *, const Decl *, const Kernel *, const ProgValue *, int n, Place (*out)[MAX_AXES],
                 TensorInfo *cause, int *whole);
/* The dimension that is split over the axis; -1: none. */
int tensor_split(const Tensor *, int axis);
/* May a result like `t` be written to this output (-1: none) at once? */
bool output_takes(const Graph *, const Tensor *, int output);
/* An inout parameter keeps the placement of its argument. */
bool inout_stays(const Graph *, const Param *, const ProgValue *arg, const Arg *part, const Place *next);
/* Reports a value that is partial, or differs per rank, where a whole one is needed. */
bool value_is_whole(const Graph *, const ProgValue *, const char *where);
/* Into a declared tensor: true when the placements agree, or a replicated value is taken in part. */
bool place_fits(const Graph *, const ProgValue *, const ProgValue *target, Loc);
bool shape_fits(const Graph *, const ProgValue *, const Tensor *like, Loc declared);

/* ---- nodes that need no expression ---- */

/* widen.c: a node's first n arguments are these values: the kernel of parts at such places is one of the whole tensors.
 */
bool node_widen(const Graph *, Node *, const ProgValue *const *, int n);

/* copy.c */
ActualArg actual_of_tensor(const Graph *, const ProgValue *, const Arg *part);
/* Arguments that are no tensors are left out. */
bool node_call(Graph *, Kernel *, const ProgValue *arg, const Arg *part, int narg, const ProgValue *result, int n, Loc);
bool value_copy(Graph *, ProgValue from, const ProgValue *to,
                Loc);                           /* this rank's part where `to` is split and the other is not */
ProgValue value_cast(Graph *, ProgValue, Elem); /* a copy, as a tensor of its own */
ProgValue value_whole(Graph *, ProgValue part);

/* slice.c: which arguments are taken in part, so that their dimensions agree. false after errors. */
bool slices_find(Graph *, const Decl *, ProgValue *, int n, Arg *);

/* fill.c: nodes that fill a tensor: what the next one adds to, and what a number is assigned to. */
void zero_add(Graph *, const ProgValue *, Loc);
ProgValue number_fill(Graph *, const ProgValue *number, const Expected *);

#endif
