/* roles.h: the form `roles` of a kernel: who in a workgroup copies, multiplies and stores, and the rings between them.
   Kernel.body stays what the kernel means; Kernel.roles says how a workgroup computes it. Design, rules and text form:
   docs/design/roles.md. Everything lives in the module's arena. */
#ifndef TILEC_IR_ROLES_H
#define TILEC_IR_ROLES_H

#include "ir/ir.h"

/* ---- rings: bounded queues of slots, with one role that writes and others that read ---- */

/* How a tile lies in its slot: row-major; as one row, that of a tile of one range; or in panels of so many bytes a row
   whose 16-byte chunks are swizzled (layout_memory). k, mn: which operand's range runs along a row of a panel: the
   contracted one, or the other. */
typedef enum {
    PANEL_ROWS,
    PANEL_LINE,
    PANEL_K128,
    PANEL_MN128,
    PANEL_K64,
    PANEL_MN64,
    PANEL_K32,
    PANEL_MN32,
    PANEL_COUNT
} Panel;

typedef struct {
    const char *text; /* "k128" */
    int bytes;        /* of a row of a panel; 0: rows of the tile */
    bool across;      /* mn: rows run across what is contracted */
} PanelInfo;
extern const PanelInfo panel_info[PANEL_COUNT];

/* Bytes that a tile of so many rows takes in a slot: panels as a whole. row: bytes of a row of the tile. */
int64_t panel_room(Panel, int64_t row, int64_t rows);
/* Where the next tile begins, of such room, behind so many bytes of a slot; what a slot of so many bytes takes. */
int64_t slot_place(int64_t bytes, int64_t room);
int64_t slot_room(int64_t bytes);

typedef struct {
    Name name;
    Type type;     /* of the task's tile, also where the groups of a role share it */
    Panel panel;
    SlotFill fill;
    int16_t param; /* BOX, PIXELS, ROWS, BULK: what is copied from; THREADS: -1 */
    int16_t share; /* range of the grid along which the cluster's workgroups copy it once, for all of them; -1 */
    bool early;    /* BOX ..: where no launch of a run writes the tensor, the first slots have this tile before the launch
                      before has ended, and their other tiles behind that */
    bool sum;      /* THREADS: the sum of what all workgroups of the cluster write; each reads its share */
    Loc loc;
} SlotTile;

typedef struct {
    Name name;
    int slots;         /* 1 or more */
    int16_t per;       /* role of which each group has such a ring of its own; -1: one of the workgroup */
    int16_t over;      /* ring whose bytes these are too; -1 */
    VEC(SlotTile) tile; /* of a slot; none: a ring that only orders (a token) */
    Loc loc;
} Ring;

/* ---- roles ---- */

/* Groups first .. last of 128 threads, counted from 0 through the workgroup; or `lanes` of the warp `warp` (first = last
   = -1). Roles with the same `in` >= 0 run on the threads of that role: its get follows that role's put at once. */
typedef struct Role {
    Name name;
    int16_t first, last;  /* groups */
    int16_t warp, lanes;  /* else: -1, 0 */
    int16_t split;        /* range whose positions the groups share, in equal parts in the order of the groups; -1 */
    int16_t in;
    Region *body;         /* of a task */
    Loc loc;
} Role;

struct Roles {
    int cluster;           /* workgroups; 1: none */
    int16_t cluster_range; /* of the grid: the cluster's workgroups have tiles beside each other along it; or a part of
                              such a range: they share a tile, and each has one of the parts; -1 */
    int resident;          /* workgroups that registers and memory of a processor have room for, 1 or more */
    const Order *order;    /* of the tasks, those of a cluster as one; NULL: row-major */
    TaskOrder tasks;
    VEC(int) regs;         /* of a thread, a group each; their number is the workgroup's groups of 128 threads */
    VEC(Ring) ring;
    VEC(Role) role;
    Region *scalars;       /* what bounds loops: every role computes it, at the begin of a task */
};

bool roles_slice(const Kernel *); /* the workgroups of a cluster share a tile: each has a slice of its loops */
bool ring_sums(const Ring *);     /* its tiles are sums of all workgroups of the cluster */

/* The range along a row of a tile in its slot: of the last subscript of its copy, or of the type. -1: it has none. */
int slot_row(const Kernel *, int ring, int tile);
const Op *slot_copy(const Roles *, int ring, int tile); /* what copies the tile from memory; NULL: nothing does */

/* ---- slots that are filled in part before the launch before has ended (early.c) ---- */

/* The put of one lane that fills a ring's first slots, and needs nothing from memory to do so; NULL: there is none. */
const Op *ring_first_put(const Roles *, int ring);
bool ring_is_early(const Ring *);                                   /* it has such tiles */
/* In some call that is not the first node of its program, no node writes the tensor. A kernel on trial has the calls of its
   name. */
bool param_is_early(const Module *, const Kernel *, int param);

/* ---- operations of role bodies; beside these, those of the value form ----

   put     .ring, region[0]: waits until a slot is free, then fills it: `copy` and `write`, one for each tile, and `wait` in
           front of copies; full when all have come
   copy    .param .sub .slot: memory to the tile number .slot of the slot that is being filled
   write   value; .slot: registers to it
   get     .ring; a result for each tile: waits until the next slot is full
   free    .ring: the oldest slot that this role has got goes back, when the mma that read it are done
   mma     like dot (.over, .by), issued only: its result, and registers that it reads, hold nothing until `ready`
   ready   values; the same values as results, when the mma that make them are done
   part    value, .range: of a tile over a range r those at the positions of .range, which is a part of r (Range.part_of =
           1 + r)
   convert of a slot's tile: its values, in registers
   store   also of a slot's tile (a get's result): .by says how: `box`, `rows`, `pairs`
   for     .down: tiles from the last to the first; .unrolled; .turn: pieces of the body in the order in which a turn runs
           them; operations of the body carry .piece; .ends: groups end the loop one after the other; .runs: turns
           overlap so many iterations, and then begin anew; .late: it runs beside the first loop with turns of the next
           task (role_beside)

   A loop over a range q with part_of = 1 + j runs from begin(j) to end(j). Several loops may run over one range, one after
   the other: in the body, in a role and in different roles. A loop over tiles that lie in slots has the range of their
   types, in each role and in the body. */

/* ---- building (roles.c) ---- */

Roles *roles_new(Module *, Kernel *); /* now the kernel's: no rings, no roles, no cluster */
/* Their numbers. A ring begins without .per and .over, a role with an empty body. */
int roles_ring(Module *, Kernel *, Name, int slots, Loc);
int ring_tile(Module *, Kernel *, int ring, SlotTile);
int roles_groups(Module *, Kernel *, Name, int first, int last, int split, Loc);
int roles_warp(Module *, Kernel *, Name, int warp, int lanes, Loc);
int roles_within(Module *, Kernel *, Name, int role, Loc); /* on the threads of that role */
int role_warps(const Role *);                              /* how many have lanes of it */
int roles_free_warp(const Roles *); /* the workgroup's first without a role, which takes tickets; -1: there is none */
const Op *role_late(const Role *);  /* its loop that runs while the next task's products do; NULL: none */
const Op *role_beside(const Role *); /* the loop beside which that one runs, of the next task; NULL: none */
Roles *roles_clone(Module *, const Roles *, Region *(*region)(void *state, const Region *), void *state);

Op *build_put(Builder *, int ring); /* its region is to be filled */
Op *build_copy(Builder *, int param, const Span *sub, int nsub, int slot);
Op *build_write(Builder *, Value *, int slot);
Op *build_get(Builder *, int ring); /* a result for each tile, of its type and name */
Op *build_free(Builder *, int ring);
Op *build_ready(Builder *, Value *const *, int n);
Value *build_part(Builder *, Value *, int range);
Value *build_convert(Builder *, Value *); /* of a slot's tile: its values in registers */

#endif
