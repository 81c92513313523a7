/* coll.h: the facts of a collective, of which coll.def has a row for each.
   The interpreter, the verifier, the text form and the frontend follow these facts; passes/comm has the lowering. */
#ifndef TILEC_IR_COLL_H
#define TILEC_IR_COLL_H

#include <stdbool.h>
#include <stdint.h>

/* How a tensor lies along a mesh axis: replicated, split, a partial result, a value of each rank's own. */
typedef enum { PLACE_R, PLACE_S, PLACE_P, PLACE_V } PlaceKind;

typedef enum {
#define COLL(name, ...) COLL_##name,
#include "ir/coll.def"
#undef COLL
    COLL_COUNT
} Coll;

/* A number, and what every element then comes from: rank r has that of rank r - SHIFT, or of the rank ROOT. */
typedef enum { ARG_NONE, ARG_SHIFT, ARG_ROOT } CollArgument;

typedef struct {
    const char *name, *suffix; /* suffix: of the new tensor's name */
    PlaceKind takes, gives;    /* along the mesh axis; what takes P combines the ranks' elements */
    bool gathers;              /* dimension .dim, which is split, becomes whole */
    bool splits;               /* a whole dimension becomes split: .dim, or .dim2 of what gathers .dim */
    bool stacks;               /* a new first dimension, of ranks */
    bool several_axes;         /* one call may name several mesh axes: a collective along each */
    CollArgument argument;
} CollInfo;

extern const CollInfo coll_info[COLL_COUNT];
extern const char *const coll_argument_text[]; /* by CollArgument: its word in the text form of the IR */

#endif
