/* plan.h: the plan of a kernel: how a workgroup of a GPU computes it. Its tiles are the sizes of the kernel's ranges.
   A field that is 0 or empty is open: a pass decides it. A file of sizes decides some before all passes
   (docs/reference/tuning.md); what is decided stays. Everything lives in the module's arena. */
#ifndef TILEC_IR_PLAN_H
#define TILEC_IR_PLAN_H

#include "base/names.h"
#include "base/vec.h"
#include "ir/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a tile comes into the slot of a ring. */
typedef enum {
    FILL_BOX,     /* a box of the parameter's tensor, by one lane (TMA) */
    FILL_PIXELS,  /* likewise, pixels of images (ir/pixels.h) */
    FILL_ROWS,    /* 16 bytes a lane, also gathered (cp.async) */
    FILL_BULK,    /* one run of bytes, by one lane */
    FILL_THREADS, /* stores of the role's threads */
    FILL_COUNT
} SlotFill;

/* Tasks of a workgroup: its number + n times that of all; by a counter; from a list. */
typedef enum { TASKS_STATIC, TASKS_TICKET, TASKS_LIST } TaskOrder;

extern const char *const fill_text[FILL_COUNT];

/* What computes the body: PLAIN: tiles in registers, as the pass `layout` lays them out. SCHEDULE: a text of the
   machine (target/matrix.h). ROLES: Kernel.roles. An open one is plain in the end. */
typedef enum { LOWER_OPEN, LOWER_PLAIN, LOWER_SCHEDULE, LOWER_ROLES } Lowering;

/* A loaded parameter whose tiles come into rings. */
typedef struct {
    int16_t param;
    SlotFill fill; /* not by threads */
} PlanCopy;

typedef struct {
    Lowering lowering;
    Name schedule; /* SCHEDULE: its name */
    int parts;     /* into which `split` cuts the loop; 1, or open with SCHEDULE and ROLES: it stays whole */
    bool cut;      /* a kernel that `split` has made */
    int columns;   /* of a tile of a schedule or of roles: none of others is taken */
    int clusters;  /* workgroups of a cluster, in roles: other tiles are not taken */
    int slices;    /* likewise, which share tiles; 1: none do */
    int resident;  /* workgroups of roles that a processor holds at once; 0: one */
    bool sized;    /* the file of sizes gives a range its size: `layout` keeps them */
    int pipelined; /* loads of a loop, fetched a step before they are read: 1: all that can be; -1: none */
    int waves;     /* of a workgroup, in the form `layout` */
    int workgroups; /* of a kernel that copies, at most; 0: open */
    const Order *order; /* which tiles the number of a task means; NULL: row-major */
    /* of ROLES; from .regs on, until the kernel has roles: */
    int unaligned; /* 1: results and residuals whose rows only a run knows go without boxes, unless operands have such
                      rows */
    int stages;    /* slots of the ring that a loop's operands come by */
    int cost; /* clocks of a task: of kernels with one that a call names, that runs whose rounds take least; 0: none */
    int again; /* clocks that a task takes longer where they are more than .few, .. */
    int few;   /* .. tasks; 0: where they are several rounds */
    int apart, outside; /* clocks that a task takes longer where rows of operands are no multiples of 128 bytes, and
                           that copies of a cluster take which lie outside of a tensor */
    VEC(int) regs; /* of a thread, for each group of 128 threads */
    int cluster;   /* workgroups that have tiles beside each other along .cluster_range, of the grid; -1: they share
                      tiles, and each has a slice of the loops */
    int16_t cluster_range;
    TaskOrder tasks;
    VEC(PlanCopy) copy;
} Plan;

/* The numbers of a plan, as the text has them: a word, and from where to where the number may be. */
typedef struct {
    const char *text;
    size_t at; /* of the int in a Plan */
    int least, most;
    bool roles; /* of ROLES alone */
} PlanNumber;

extern const PlanNumber plan_numbers[];
extern const int plan_number_count;
int plan_number(const Plan *, const PlanNumber *);
void plan_set_number(Plan *, const PlanNumber *, int);

bool plan_has_roles(const Plan *); /* any of what stands behind `of ROLES` and is not a number */
void plan_drop_roles(Plan *);      /* of a kernel that now has roles: these say it */
void plan_drop_asked(Plan *); /* leaves what code generation reads, when the passes have done what is asked of them */
bool plan_asks_roles(const Plan *); /* for what only roles have */
int plan_slices(const Plan *);    /* workgroups of a cluster that share a tile, each with a slice of its steps; or 1 */
bool plan_is_whole(const Plan *); /* SCHEDULE, ROLES: passes behind leave the body as it is */

#endif
