/* meeting.h: what the files of the proof for all sizes share: instances of two accesses that meet in an element. */
#ifndef TILEC_PASSES_PROOF_MEETING_H
#define TILEC_PASSES_PROOF_MEETING_H

#include "base/name_map.h"
#include "ir/poly/relation_text.h"
#include "passes/proof/proof.h"
#include "passes/proof/reach.h"

#include <isl/ctx.h>

typedef VEC(int) NodeList;

typedef struct {
    const Module *m;
    const Program *p;
    Arena *arena, *out;
    AccessList *access; /* per node */
    isl_ctx *isl;
    Names *asked;    /* texts of sets; many pairs of accesses ask for the same */
    NameMap *answer; /* 1: the set is empty */
    NodeList *nodes;  /* per tensor */
    NodeList beside;  /* of the node in hand */
    int *seen, turn;  /* per node: the last turn in which it was listed */
    bool *written;    /* per tensor: by some node */
    int *covered;     /* per tensor: the last node before that in hand that certainly wrote all of it */
    Lags heard;
    Proof *proof;
} Symbolic;

/* On which ranks the two instances are: any one rank, or any two that differ in the coordinate of the tensor's axis alone. */
typedef enum { MEET_SAME, MEET_OTHER } MeetRanks;

/* Instances of the two accesses that meet in an element. Ranks are variables: pr<axis> of the first, cr<axis> of the second. */
typedef struct {
    RelationText from, to;
    MeetRanks ranks;
    const Tensor *tensor;
    Text text;
} Meeting;

/* meeting.c. The text of a meeting is freed by who made it. */
Meeting *meeting_of_ranks(const Symbolic *, const Access *a, const Access *b, MeetRanks); /* in whose memory alone */
Meeting *meeting_of(const Symbolic *, const Access *a, const Access *b, MeetRanks);
void meeting_add_ranks(const Symbolic *, Meeting *); /* and ranks that exist and fit .ranks */
bool meeting_empty(const Symbolic *, const Meeting *, const char *also); /* no such instances with this as well? */
/* Never x < lo and never x > hi, where x is text; bounds in terms of the writer. */
bool meeting_within(const Symbolic *, Meeting *, const char *x, RelationText *, const Affine *lo, const Affine *hi);

/* At positions of the two accesses, not those of longer tiles. */
Meeting *meeting_exactly(const Symbolic *, const Access *a, const Access *b, MeetRanks);

bool symbolic_fail(Symbolic *, Loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool symbolic_fail_pair(Symbolic *, const Access *a, const Access *b, int64_t later);

/* symbolic_wait.c */
/* Is there a wait before the access that covers the meeting (NULL: any meeting on such ranks)? */
bool symbolic_wait_covers(const Symbolic *, Meeting *, const Access *a, const Access *b, MeetRanks);
const Op *flag_signal(const Kernel *, int flag);    /* the last of the task's body, or NULL */
bool ranks_all(const Module *, int axis, const Span *, bool exactly); /* a span over all ranks of the axis; no others where exactly */
bool wait_acquires(const Flag *, const Op *wait);
bool wait_is_whole(const Symbolic *, const Flag *, const Op *wait); /* for all tasks of all ranks along the axis */
/* Unconditionally, at one place or a whole box of positions: what tasks of one node then share they certainly share. */
bool access_is_certain(const Symbolic *, const Access *);

/* symbolic_flags.c */
bool symbolic_flags_check(Symbolic *);             /* every signal and wait of the program */

/* symbolic_packets.c */
bool symbolic_packets_check(Symbolic *, int node);

/* symbolic_own.c: tasks of one node */
bool symbolic_names_earlier(const Symbolic *, int node, const Op *wait); /* lower tickets of its own node alone */
bool symbolic_own_order(Symbolic *, int node);

#endif
