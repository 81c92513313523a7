/* plan.h: the one question of how a kernel will be computed. */
#ifndef TILEC_PASSES_PLAN_PLAN_H
#define TILEC_PASSES_PLAN_PLAN_H

#include "passes/pass.h"
#include "target/matrix.h"

/* At most: ranges of two sides of a result and of its sums, in several loops; a matrix and two that it is multiplied by. */
enum { PLANNED_TILES = 8, PLANNED_OPERANDS = 3 };

/* What keeps a kernel from a plan: found where it is in the way. */
typedef struct {
    const char *words; /* NULL: nothing does; "": no lowering is for such kernels */
    const char *fix;   /* what helps, for a note; NULL: nothing that is known */
    Loc loc;           /* of the operand, loop or store that is in the way; without a file: of the product */
    bool exact;        /* the lowering is for just such kernels: no other one's reason says more */
} Reason;

/* A plan, with the sizes of the ranges that are its tiles; or why there is none. */
typedef struct {
    Reason why; /* .words NULL: there is a plan, and .. */
    Plan plan;
    struct {
        int range;
        int64_t size;
    } tile[PLANNED_TILES];
    int tiles;
    bool loose; /* results or residuals go by boxes that not every run allows: another kernel stands by (otherwise.c) */
    const char *how; /* for the user: "the schedule 'product', tiles of 128 x 256" */
    double seconds;  /* predicted, at the largest sizes */
    int cost, apart, outside, again, counted; /* of roles, as in Plan; .counted: its .few */
    /* Or there might be one if the rows of these parameters began at multiples of .align bytes. The first one has the
       rows of the result; the sums run along its own. */
    int align, operand[PLANNED_OPERANDS], operands;
} Planned;

/* One way to compute kernels as a whole. Arms are asked one after the other (plan.c): the first that has a plan gives
   the answer, else the first that has a reason. The kernel stays as it is. */
typedef Planned PlanArm(PassContext *, const Kernel *, const MatrixTarget *);
extern PlanArm product_plan, attention_plan; /* codegen/schedules */
extern PlanArm roles_plan;                   /* passes/roles */

/* The plan that the kernel will have when the passes between the one that runs and the one that plans have seen it:
   they are tried on a copy. Nothing is changed. */
Planned plan_of(PassContext *, const Kernel *);
bool plan_takes(PassContext *, const Kernel *); /* it has one */
void plan_apply(Kernel *, const Planned *);

/* otherwise.c */
/* In runs whose results have rows of other lengths than multiples of 16 bytes; the plan of what stands by last. */
Planned plan_unaligned(PassContext *, const Kernel *, const Planned *);
bool plan_needs_another(const Kernel *, const Plan *); /* in runs whose rows are no multiples of 16 bytes */
Kernel *plan_plain(PassContext *, const Kernel *, const Plan *instead_of); /* as it stands, by the plain plan */
void plan_stand_by(Module *, const Kernel *, Kernel *plain); /* of all nodes that call the first one */

/* The kernel is to have this plan, for its largest sizes; where smaller ones want another, calls name kernels with
   those, too, and the plans have costs. */
void plan_variants(PassContext *, const Kernel *, Planned *);

Planned plan_refused(const char *why);
Planned plan_refused_by(Reason);
void planned_tile(Planned *, int range, int64_t size);
void pipe_warn(PassContext *, const Kernel *, Reason); /* of many products without a plan */

#endif
