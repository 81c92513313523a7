/* proof_meeting.h: what the files of the proof for all sizes share: instances of two accesses that meet in an element. */
#ifndef TILEC_PASSES_PROOF_MEETING_H
#define TILEC_PASSES_PROOF_MEETING_H

#include "ir/name_map.h"
#include "ir/relation_text.h"
#include "passes/proof.h"
#include "passes/proof_reach.h"

#include <isl/ctx.h>

typedef struct {
    const Module *m;
    const Program *p;
    Arena *arena, *out;
    AccessList *access; /* per node */
    isl_ctx *isl;
    Names *asked;    /* texts of sets; many pairs of accesses ask for the same */
    NameMap *answer; /* 1: the set is empty */
    int ranks;
    int (*coord)[MAX_AXES];
    Reach reach;
    Proof *proof;
} Symbolic;

/* Instances of the two accesses, on these ranks, that meet in an element. */
typedef struct {
    RelationText from, to;
    int source, rank;
    const Tensor *tensor;
    Text text;
} Meeting;

/* proof_meeting.c. The text of a meeting is freed by who made it. */
Meeting *meeting_of_ranks(const Symbolic *, const Access *a, const Access *b, int source, int rank); /* in whose memory alone */
Meeting *meeting_of(const Symbolic *, const Access *a, const Access *b, int source, int rank);
bool meeting_empty(const Symbolic *, const Meeting *, const char *also); /* no such instances with this as well? */
/* Never x < lo and never x > hi, where x is text; bounds in terms of the writer. */
bool meeting_within(const Symbolic *, Meeting *, const char *x, RelationText *, const Affine *lo, const Affine *hi);

/* proof_symbolic.c */
bool symbolic_fail_pair(Symbolic *, const Access *a, const Access *b, int64_t later);
/* Is there a wait before the access that covers the meeting (NULL: any meeting)? */
bool symbolic_wait_covers(const Symbolic *, Meeting *, const Access *a, const Access *b, bool same_rank);
bool symbolic_ranks_alike(const Access *a, const Access *b);

/* proof_symbolic_own.c: tasks of one node */
bool symbolic_names_earlier(const Symbolic *, int node, const Op *wait); /* lower tickets of its own node alone */
bool symbolic_own_order(Symbolic *, int node);

#endif
