/* roles.h: what the parts of the verifier of roles share. Each part takes what the parts before it accepted. */
#ifndef TILEC_IR_VERIFY_ROLES_H
#define TILEC_IR_VERIFY_ROLES_H

#include "ir/roles.h"
#include "ir/verify/verify.h"

/* ---- who uses a ring (role_use.c) ---- */

int role_puts(const Role *, int ring);                  /* how many operations */
int role_reads(const Role *, int ring);                 /* likewise: gets and frees */
int role_groups(const Role *);                          /* 1 of a warp */
bool role_is_of(const Roles *, const Role *, int role); /* that role, or on its threads */
const Role *ring_writer(const Roles *, int ring);       /* the first that puts; NULL: none */

/* ---- scalars that bound loops and stand in conditions (role_scalar.c) ---- */

bool scalar_same(const Role *, const Value *, const Role *, const Value *); /* for certain, at the same place of both */
/* The operation by which it is not the whole task's: of some threads, of memory that is being written. NULL: it is. */
const Op *scalar_stray(const Kernel *, const Role *, const Value *);
bool scalar_follows(const Value *, int range); /* may differ along the range */

/* ---- when operations of a region run (role_when.c) ---- */

/* In which turn behind that in which its iteration begins, where in the turn, where in the text. */
typedef struct {
    int turn, place, order;
} When;

const Op *op_within(const Op *,
                    const Region *body);      /* the operation of the region that has it, or it; NULL: none has */
When op_when(const Op *, const Region *body); /* of an operation within */
When when_later(When, int turns);
int when_compare(When, When);
/* The operation of the region that makes the value, also for the next iteration (*later = 1); NULL: none. */
const Op *value_maker(const Value *, const Region *body, int *later);

/* ---- the rules, as docs/design/roles.md lists them ---- */

void ring_skeletons_verify(Verifier *, const Kernel *);
void role_turns_verify(Verifier *, const Role *);
void role_late_verify(Verifier *, const Role *);
void role_sums_verify(Verifier *, const Role *);
void role_slices_verify(Verifier *, const Role *);
void role_budget_verify(Verifier *, const Kernel *);
void role_runs_verify(Verifier *, const Kernel *);
void roles_early_verify(Verifier *, const Kernel *);

#endif
