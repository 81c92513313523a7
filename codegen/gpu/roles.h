/* roles.h: what the parts of the generator of kernels in the form roles share (ir/roles.h, docs/design/roles.md). The
   text is that of the device library's rings: runtime/device/tile_ring.h and what is included behind it. */
#ifndef TILEC_CODEGEN_GPU_ROLES_H
#define TILEC_CODEGEN_GPU_ROLES_H

#include "codegen/gpu/hip.h"
#include "ir/roles.h"

/* A ring in workgroup memory, of which bytes are counted from a multiple of 1024 on. */
typedef struct {
    int64_t at, full; /* bytes where its slots and its barriers begin; full -1: it needs none, as its reader is a thread
                         of the group that writes, and reads at once */
    int64_t bytes;    /* of a slot */
    int64_t *tile;    /* where each tile begins in a slot */
    int64_t boxed;    /* bytes that boxes bring into a slot */
    int copies;       /* such rings: 1, or one for each group of a role */
    int puts, frees;  /* arrivals that fill a slot, and that empty it */
    int sharers;      /* workgroups of the cluster that copy into a slot; 1: its own */
    int writer;       /* the role that fills it */
    const char *member, *at_name, *bytes_name, *full_name, **tile_name; /* in the text */
} RingFacts;

/* What follows from a kernel's roles. */
typedef struct {
    RingFacts *ring;
    RingFacts *turn;         /* by role: the token by which groups end loops in turn; full -1: none */
    RingFacts take;          /* numbers of tasks, from the warp that takes tickets to all roles; full -1: none */
    int64_t bytes;           /* of workgroup memory */
    int threads, entry_regs; /* registers of a thread as the kernel begins */
} RolesFacts;

enum { ROLE_TAKEN = 1, ROLE_TASK_BYTES = 8 }; /* slots of that ring, and bytes of one: a number, and room behind it */

enum { ROLE_SLACK = 1024 /* bytes of workgroup memory in front of rings, to a multiple */ };

/* roles_facts.c */
const Role *hip_role_now(const Fn *); /* which is being written */
RolesFacts hip_role_facts(Arena *, const Module *, const Kernel *, const bool *quads); /* by role: hip_role_quads */
int hip_role_groups(const Kernel *, int role); /* of 128 threads; 0: lanes of a warp */
int hip_role_turn_barrier(const Kernel *, int role); /* roles_facts.c: where the first of several groups waits for its turn */
int hip_role_past_barrier(const Kernel *, int role); /* .. or, before it writes zeros, for the other to be past those before */
int64_t hip_role_extent(const Module *, const Kernel *, int role,
                        int range); /* of the share of a tile that a group of it has */
bool hip_ring_has_rows(const Ring *); /* threads copy row by row to all tiles of a slot */
const SlotTile *hip_slot(const Kernel *, const Value *, int *ring, int *tile); /* of a get's result; NULL: none */

/* roles_few.c: rows of a tensor that ends within the first tile, which alone are copied; ROLE_ROWS_OF_RUN: as many as
   the tensor has, but no more than a tile; 0: whole tiles are. */
enum { ROLE_ROWS_OF_RUN = -1 };
int64_t hip_copied_rows(const Kernel *, int ring, int tile);
const char *hip_copied_bytes(Fn *, int ring); /* that boxes bring into a slot */

/* roles_wait.c: how many groups of products may still be under way where the role goes on. */
enum { NO_WAIT = -1 };
typedef struct {
    const Op *op;  /* READY, FREE */
    int but, last; /* NO_WAIT: none has to be waited for. last: behind the loop or at the end of a run, of a piece that
                      turns run later */
} Wait;
typedef struct {
    VEC(Wait) wait;
} Waits;
void hip_role_waits(Arena *, const Role *, Waits *);
bool mma_ends_group(const Op *mma); /* the last of its piece */
int op_shift(const Op *);           /* turns by which its piece is late */

/* Where the lines of a copy by rows begin that a lane makes: the name of the array. */
typedef struct {
    const Op *copy;
    const char *name;
} KeptRows;

/* Which pieces of a turn are being written: all, as in other loops; those that are not late; whole turns; late ones. */
typedef enum { TURN_ALL, TURN_FIRST, TURN_WHOLE, TURN_LAST } TurnPart;

/* How a loop over parts of a tile is cut that runs beside the next task's products (roles_beside.c). */
typedef struct {
    const Op *loop;
    int parts, cuts, every;    /* iterations; cuts of one; turns from one cut to the next */
    const char *begins, *ends; /* conditions: the first and the last cut of an iteration; NULL: it is not cut */
    const char *name;          /* of the struct of what is kept; and, with more behind, of the function that finishes */
} LateText;

enum { ROLE_NOTHING = -1 };

/* The role that is being written: Hip.role. */
typedef struct RoleText {
    const RolesFacts *facts;
    GpuLaunch *launch;
    int number;        /* of the role */
    int of;            /* the same; in a loop over parts that a lane stores for one group after the other: their role */
    const char **end;  /* by ring: the name of the role's end of it; NULL: not used yet */
    const char **ring; /* by ring: the text of its tile_ring */
    int *map;          /* by map: the parameter that it is of */
    const CExpr **last; /* by range: where the iterations of a loop begin that groups run in turn; NULL: there are none */
    const CExpr *
        *part_at;       /* by range: where a part of a tile begins, if the last one reaches back into the one before */
    const CExpr **part_from; /* likewise of any part in hand; NULL: the range has none */
    const char *unit;   /* the name of the number of a lane's line; NULL: not used */
    const char *turn;   /* the name of its end of the token; NULL: not used */
    bool clears;        /* its first group writes zeros for both (roles_chain.c) */
    VEC(KeptRows) rows;
    const char **own;   /* by parameter: the name of whether the task's rows are this rank's, and lie elsewhere; NULL: not used */
    Waits waits;
    const Program *program;
    const Op *ahead;   /* the put whose constant tensors come before the wait; NULL: there is none */
    bool before;       /* this is the function that brings them */
    bool drains;       /* the last turn of a run is being written */
    TurnPart turn_part;
    const char *
        *small; /* by value: the name of whether rows' numbers are known to be small; NULL: it is not asked yet */
    const char **got;   /* by ring: the variable of the slot that was got last */
    const char **words; /* by value: the name of the words that an operand of products in registers is; NULL: it is none */
    const LateText *beside; /* its loop that runs beside the next task's products; NULL: it has none */
    const LateText *late;   /* the same, as the function that finishes is being written; NULL: it is another one */
    int64_t narrow;         /* columns that products of an edge tile have; 0: all; ROLE_NOTHING: a group has no rows */
    bool quads;             /* hip_role_quads */
    const Op *filling; /* the put whose slot is being filled, */
    const char *slot;  /* and the slot's name */
} RoleText;

/* A kernel that is being written. */
typedef struct {
    GpuText *g;
    Arena *arena;
    const Program *p;
    const Memory *memory;
    const Node *node;
    const Kernel *k;
    const Roles *roles;
    GpuLaunch *launch;
    RolesFacts facts;
    Backend back;
    const MatrixTarget *target;
    const char **member;
    int map[GPU_MAPS];
    CNames *names;      /* of the file */
    const char **role;  /* names of the roles' functions */
    bool *maps;         /* by role: its function takes maps */
    const char **tiles; /* by range of the grid: members that count tiles, */
    const char **task;  /* and those that say which tile a task has */
    Text functions;
    const Op *ahead; /* RoleText.ahead */
    bool late_stores; /* results that are finished late go by boxes */
    bool failed;
} RolesWriter;

/* roles_name.c */
void hip_role_names(RolesWriter *); /* fills in those of rings, tiles and roles */
Fn hip_role_fn(RolesWriter *, Hip *);
const char *hip_role_name(const RolesWriter *, const char *what); /* behind the kernel's name */
bool hip_role_counts(const RolesWriter *, int range);             /* it has tiles, which tasks count */
/* Of the role that is being written. The role whose groups have a ring each, where this one serves them from beside;
   -1: it does not. */
int hip_role_served(const Fn *, int ring);
const char *hip_role_end(Fn *, int ring);         /* its end of the ring */
const char *hip_role_ring(Fn *, int ring);        /* the ring's tile_ring */
const char *hip_role_slot_before(Fn *, int ring); /* the slot that the group has written before the one in hand */

/* roles_place.c: the order of tasks. */
bool hip_role_edges_last(const Roles *);       /* tiles over an edge come last */
bool hip_role_leaves_own(const RolesWriter *); /* it sends rows to other ranks, whose readers have their own */
bool hip_role_has_first(const Roles *);   /* it hangs on a rank, `first`, .. */
void hip_role_first(RolesWriter *, Fn *); /* .. which this line finds */
void hip_role_place(RolesWriter *);       /* functions: from a task's number to its tiles; .. */
void hip_role_number(RolesWriter *);      /* .. from its tiles to the number */

/* roles_ragged.c: ranges whose tiles groups bound. */
void hip_role_ragged(RolesWriter *); /* functions: starts that are wrong; which tasks have positions */
void hip_role_refusal(RolesWriter *, const char *counter); /* in the kernel, before roles begin */

/* roles_role.c: adds the function of a role. */
void hip_role_function(RolesWriter *, int number);
Fn hip_role_function_new(RolesWriter *, int number, Hip *, RoleText *); /* that text is one of the role's */
Constants hip_role_task(RolesWriter *, Fn *); /* where a task's tiles begin */
void hip_role_plan(Fn *, const Role *);       /* where values of the role are held */

/* roles_finish.c: adds the function of its late loop, if it has one. */
void hip_role_late_function(RolesWriter *, int number);

/* roles_beside.c */
const LateText *hip_role_late_text(RolesWriter *, int role); /* NULL: the role has no such loop */
void hip_role_kept(Fn *, const LateText *, bool inside); /* where it is held what is kept; inside: of what finishes */
const Value *hip_kept_value(const Op *loop, int number); /* tiles, in the order of the text; NULL: no more */
const char *hip_kept_name(Fn *, int number);
int64_t hip_kept_words(Fn *, const Value *); /* of a thread */
bool hip_late_uses(const Op *loop, int ring);
void hip_role_late_begin(RolesWriter *, const RoleText *, Text *to);
void hip_role_beside(Fn *, const Op *loop); /* the loop of products, with what is left of the task before */
void hip_role_keep_sums(Fn *);              /* in place of the loop */
void hip_role_finish(Fn *, const LateText *);

/* roles_ahead.c */
void hip_role_ahead(RolesWriter *);                       /* fills in .ahead */
bool hip_role_is_ahead(const Fn *, const Op *copy); /* it comes before the wait, in the first slots */
const char *hip_role_copy_when(Fn *, const Op *copy);     /* a condition in front of it; "" for none */
int hip_role_of(const Roles *, const Op *);               /* the role whose body has it */
bool op_has(const Op *, const Op *inner);                 /* in its regions, or it is the same */

/* roles_step.c: operations of roles. */
void hip_role_step(Fn *, const Op *);
void hip_role_wait_last(Fn *, const Op *free); /* for the products that the last iteration has under way */
void hip_role_free_line(Fn *, const Op *free, const char *when);

bool hip_role_edges(Fn *, const Op *loop); /* roles_edge.c: products, of edge tiles fewer; false: it is another one */

/* roles_loop.c */
bool hip_role_loop(Fn *, const Op *); /* over the parts of a tile; false: it is another one */
void hip_role_part_of(Fn *, const Op *loop, const CExpr *at); /* an iteration of it, of the part that begins there */
void hip_role_before_loop(Fn *, const Op *loop);
void hip_role_after_loop(Fn *, const Op *loop);

/* roles_run.c: a loop whose turns begin anew after so many iterations. */
void hip_role_runs(Fn *, const Op *loop);

bool hip_role_is_exponent(Fn *, const Op *exp); /* roles_exp.c: it is made by a multiplication and addition, ahead of its reader */
void hip_role_line_small(Fn *, const Op *convert, const char *from, int64_t n); /* roles_exp.c */
bool hip_role_is_kept(const Op *get);                           /* roles_late.c: its slot is read a turn later */
void hip_role_name_slot(Fn *, const Op *get, const char *slot); /* roles_name.c: tiles of it by that variable */
bool hip_role_is_late(const Op *loop); /* roles_turn.c: pieces of it with products run a turn late */
/* roles_turn.c: turns that the text can have; loops that groups end in turn. */
void hip_role_turns_check(Fn *, const Op *loop);
bool hip_role_in_turn(const Role *);       /* it has such a loop */
void hip_role_last(Fn *, const Op *loop);  /* before the loop */
void hip_role_follow(Fn *, const Op *get); /* in front of a get of the loop's body */
void hip_role_pass(Fn *, const Op *loop);  /* behind the loop */

/* roles_sync.c: waits, signals, memory of peers. */
extern const SyncBackend hip_role_sync;
void hip_role_constants(Fn *);
void hip_role_synchronise(Fn *, const Op *); /* a wait or a signal */
const char *hip_role_exists(const Fn *);     /* the workgroup has a tile, of those of its cluster; NULL: it has */
const CExpr *hip_role_row(Fn *, const Op *copy, const CExpr *row); /* outside, where what it waited for did not come */
void hip_role_own(Fn *, const Role *); /* lines at a task's begin: which copies read this rank's rows where they are */
const char *hip_role_map(Fn *, const Op *, GpuMap *); /* number of the access's map, which the launch gets */

/* roles_box.c: between tensors and slots. */
void hip_role_copy(Fn *, const Op *);
void hip_role_store(Fn *, const Op *); /* of a slot's tile */
bool hip_role_store_odd(Fn *, const Op *); /* of sums in f32, to rows that begin anywhere; false: it is another one */
/* roles_mma.c: where along the range the element of the register lies, as thread 0 sees it. */
int64_t hip_register_at(const Layout *, const char *range, int reg);

/* roles_numbers.c: a number of each row to the slot, or from it; false: the slot has other tiles. */
bool hip_role_numbers(Fn *, const SlotTile *, const Value *);
bool hip_role_take_numbers(Fn *, const SlotTile *, const Op *convert);

/* roles_pixels.c: a tile of pixels of images; false: none that it knows. */
bool hip_role_pixels(Fn *, const Op *, const Ring *, const SlotTile *, int sharers);

/* roles_rows.c: a tile that threads copy row by row, to where `tile` says; false: none that it knows. */
bool hip_role_rows(Fn *, const Op *, const SlotTile *, const char *tile);
void hip_role_look(Fn *, const Op *put); /* in a chain, before it waits for a slot: which rows its copies take */
void hip_role_keep_rows(Fn *, const Op *loop); /* before the loop: where rows begin that its copies take */

/* roles_share.c: sums that the workgroups of a cluster add up, each its share of the columns. */
void hip_share_range(Fn *); /* where a task's share lies */
void hip_share_put(Fn *, const Op *, const char *ring, const char *end);
void hip_share_part(Fn *, const Op *);
void hip_share_free(Fn *, int ring, const char *name, const char *end); /* name, end: as arguments */

/* roles_mma.c */
void hip_role_mma(Fn *, const Op *);
int hip_role_panels(const Fn *, int range);     /* that a step of products along the range has in slots */
const Tile *hip_role_sums(Fn *, const Op *mma); /* where it adds up */
/* roles_chain.c: it takes what is made of a step's sums, which are rounded again before the next product; .. */
bool hip_role_is_near(Fn *, const Op *);
/* .. products of several panels, or whose first operand lies in registers. */
bool hip_role_chains(Fn *, const Op *mma);
bool hip_roles_are_wide(const RolesWriter *); /* some such product has more than 128 columns */
void hip_role_chain(Fn *, const Op *mma);
bool hip_role_in_chain(Fn *);               /* the kernel has products in a chain */
bool hip_role_packs(const Op *);            /* a conversion that makes such an operand, .. */
/* .. of words. Also leaves out the end of a loop that roles_late.c writes. false: it is neither. */
bool hip_role_make(Fn *, const Op *);
int64_t hip_role_words(Fn *, const Value *); /* how many */
const char *hip_role_words_new(Fn *, const Value *); /* declares them */
/* roles_made.c: operands that are made of slots. */
bool hip_role_makes(const Kernel *);         /* it has such */
bool hip_role_quads(const Module *, const Kernel *, int role); /* few columns, whose products warps compute alone */
bool hip_role_widens(Fn *, const Op *cast);  /* a cast that a call of the library does, with the conversion in front */
bool hip_role_widen(Fn *, const Op *cast);   /* false: it is another one */
bool hip_role_take(Fn *, const Op *convert); /* a byte an element; false: no such tile */
bool hip_role_exp(Fn *, const Op *);  /* roles_exp.c: an exponential of scores; false: it is none */
const CExpr *hip_role_distance(Nest *, const Op *); /* roles_distance.c: positions' distances as floats; NULL: none */
const Layout *hip_role_rows_layout(const Kernel *, int row); /* of a tile of that range alone; NULL: there is none */
bool hip_role_mask(Fn *, const Op *); /* roles_mask.c: a choice of scores by numbers of rows; false: it is none */
bool hip_role_tanh(Fn *, const Op *); /* roles_tanh.c: the same, a hyperbolic tangent */
/* roles_late.c: loops of which pieces with products run a turn late. */
enum { TURN_THREADS = 256 /* of a group that waits for its turn, and of the one before it */ };
bool hip_role_has_brackets(const Role *);            /* its groups take turns */
void hip_role_late(Fn *, const Op *loop);
int hip_role_late_but(const Fn *, const Op *); /* groups that may be under way where a piece of it goes on */
void hip_role_ready(Fn *, const Op *, int but);
void hip_role_part(Fn *, const Op *);

#endif
