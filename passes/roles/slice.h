/* slice.h: what the steps of `roles` share: a kernel in value form, its products, and which values each role computes.
   The steps, in their order, each in a file: fits, made, stream, box and rows, near, address, sums, late, ask, tasks,
   plan; box, ring, copy, multiply, result, lay. */
#ifndef TILEC_PASSES_ROLES_SLICE_H
#define TILEC_PASSES_ROLES_SLICE_H

#include "ir/roles.h"
#include "ir/uses.h"
#include "passes/pass.h"
#include "passes/plan/plan.h"
#include "passes/plan/tiles.h"

enum {
    MOST_NEAR = 2,   /* matrices beside results that come by boxes */
    MOST_MADE_OF = 4 /* tiles of rings that an operand is made of; more are loaded by the groups */
};

/* Operands of the same products that are loaded in one block: the tiles of a ring. Equal loads are one tile. */
typedef struct {
    VEC(const Op *) load; /* the first one of each tile */
    VEC(Panel) panel;
    VEC(const char *) why; /* why it is no box; NULL: it is one */
    VEC(bool) pixels;      /* a box of pixels */
    SlotFill fill;
    const Region *at;
    const Op *get;  /* the first load: groups that multiply wait here */
    const Op *put;  /* the last one: the copy role fills a slot here */
    const Op *free; /* the last operation of the block that reads the slot, or has one that does in its regions */
    int ring;
    Value *first,
        *past; /* where a slice of the loop begins and ends, among the scalars of the roles; NULL: there is none */
} Stream;

typedef struct {
    PassContext *c;
    Module *m;
    const Kernel *k;
    Kernel *to; /* the same, which gets its roles; NULL: it is only looked at */
    const MatrixTarget *target;
    Arena *scratch;
    Reason why;         /* it stays as it is; .words NULL: for no reason of note */
    int values;         /* of the kernel as it came */
    VEC(const Op *) op; /* of the body, in the order of the text */
    VEC(const Op *) dot, store;
    VEC(const char *) way; /* of each store from a slot, as Op.by says it; NULL: from registers */
    VEC(const Op *) near;  /* loads at the results' place that come by boxes */
    int near_ring, nears;  /* their ring, and its slots */
    int panel;             /* range of the columns of a panel */
    VEC(const Op *) kept;  /* rounded sums of which results are made while the next task's products run; none: at once */
    int late;              /* turns of these products that a panel then takes; 0: it is made at once */
    VEC(const Op *) vector; /* loads of a number for each column, which come before the sums are done */
    int row, column;       /* ranges of the results: groups share the first, and have all positions of the second; .. */
    bool any_steps;        /* steps of loops may have other sizes than the kernel says: for advice */
    bool chained;          /* products take what is made of other products (chain.c) */
    int wide;              /* then range of the columns of results that take more registers than a group has: groups of
                              a role of their own share them (chain_wide.c); -1: none do */
    bool swapped;          /* .. which runs along rows in memory, unless these two are exchanged */
    bool deep;             /* steps of two panels are asked for */
    bool makes;            /* operands of products are made on the way (made.c) */
    bool turned;           /* they are, and results are written to slots across: they go by boxes all the same */
    int most_rows;         /* of results, for which operands are exchanged */
    VEC(Stream) stream;
    int *uses;          /* by value: as an operand */
    int *stream_of, *slot_of;  /* by value: 1 + the stream whose tile it is, and which tile; 0: it is none */
    bool *addresses;           /* by value: scalars that bound loops, or of which places of copies are made */
    bool *sent, *again;        /* by value, of wide results: it goes from one role to the other; both make it */
    int *sent_ring;            /* by value that is sent: its ring */
    bool *gathers;             /* by value: likewise tiles, of which threads make the places of rows */
    const MatrixOp *op_matrix; /* the instruction of products */
    TileTimes times;           /* of its tiles */
    int sum_words;             /* of a thread, of all sums that a task holds at once */
    int outs;                  /* slots of a ring of results */
    bool *front;               /* by value: of both those that do not depend on a loop */
    bool *waited;              /* by value: a sum that is looked at while no product adds to it */
    int slices;                /* workgroups of a cluster that share a tile; 1: none do */
    bool sums_apart;           /* what they add up does not lie over their operands */
    int share;                 /* range of the columns that the workgroup finishes: .column, or a part of it .. */
    int room;                  /* .. and the ring by which groups say that they have read what the cluster sums; -1: there is none */
    int token;                 /* the ring by which the role that copies says that it has waited; -1: there is none */
    Value **scalar;            /* by value: its copy among the scalars of the roles; NULL: there is none */
} Slice;

const char *slice_text(const Slice *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keeps why the kernel stays as it is: the operation that is in the way, NULL for the product, and what helps, or NULL;
   gives false. */
bool slice_refuse(Slice *, const Op *at, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* made.c: operands that are made on the way, of tiles that come by rings */
typedef struct {
    const Op *load[MOST_MADE_OF];
    int n;
} Loads;

bool slice_makes(const Slice *);
bool operand_is_computed(const Op *dot, int i);           /* of loads alone */
Loads operand_loads(const Slice *, const Op *dot, int i); /* the tiles of rings that it is, or is made of */
bool operand_is_widened(const Op *dot, int i);            /* likewise, by conversions alone */
bool made_fits(Slice *, const Op *dot, int i);            /* made_fit.c */
bool made_beside_fits(Slice *); /* with the streams of all operands */
int made_bits(const Slice *);                             /* of the largest elements that operands are made of */
Panel made_panel(const Slice *, const Op *load);

/* product.c */
const Value *product_operand(const Op *dot, int i); /* as an instruction takes it */
bool is_widened(const Slice *, const Op *);         /* it widens one, which the instruction takes as it was before */
bool dot_promotes(const Op *dot);                   /* instructions sum a step alone, and f32 the steps */

/* early.c: tiles of weights, which come before the launch before has ended */
bool slice_is_early(const Slice *); /* the operand of few rows' products that is read once is such weights */
void slice_early(Slice *);          /* marks such tiles */

/* lines.c: numbers of a step's keys, of products in a chain */
bool slice_takes_line(Slice *, const Op *load);
bool slice_is_line(const Slice *, const Op *load);
bool box_is_line(Slice *, const Op *load); /* box.c: it is a box of one row */
bool chain_has_several(const Slice *);     /* chain_plan.c: products of loads, whose sums are not added up */

/* stream.c: how one of its tiles is copied; .fill says who does. */
SlotFill stream_fill(const Stream *, int n);

/* chain.c: products that take what is made of others */
bool slice_chains(const Slice *);
bool chain_fits(Slice *);
bool loop_multiplies(const Op *loop); /* products stand in its body, not in a loop of it */
/* chain_tasks.c */
bool chain_tasks_differ(const Slice *, int bound); /* where their loops begin, 0, or end, 1 */
double chain_tasks(const Slice *, int64_t rows);   /* how many there are in tiles of so many; INFINITY: not known */

/* chain_plan.c */
enum { CHAIN_PARTS = 2 /* slots of a group, where a result is stored a panel of columns at a time */ };
bool chain_has_parts(const Slice *); /* its results are stored so */
bool chain_plan(Slice *, Planned *);
/* chain_groups.c */
bool chain_is_step(const Slice *, const Op *);               /* a loop over tiles of keys, with products */
int64_t chain_positions(const Slice *, const Op *loop);      /* of the largest sizes; INT64_MAX: it begins elsewhere */
bool chain_three_are_better(const Slice *, const TilePlan *); /* groups, of these tiles */
bool chain_chunks_are_few(const Slice *);                    /* one is better: tasks run chunk after chunk, .. */
bool chain_tasks_are_few(const Slice *);                     /* .. or leave processors idle */
int chain_keys_most(const Slice *, int groups);              /* keys of a step */
/* chain_parts.c: of the loop; clocks of a step's products, and bytes that it copies */
int64_t chain_parts(const Slice *, const TilePlan *, const Op *loop, double clocks, double bytes);
int chain_slots(const Slice *, const Stream *); /* of its ring */
bool chain_planned(Slice *); /* the kernel's plan is one of those */
/* chain_step.c: some step of the loop, with the kernel's sizes, may be cut short. */
bool chain_has_tail(const Slice *, const Kernel *, int range);

bool operand_is_made(const Op *dot, int i);     /* in registers; else it is loaded */
int subscript_range(const Slice *, const Affine *);
int dot_column(const Slice *, const Op *dot);   /* the range of its columns */
int64_t slice_extent(const Slice *, int range); /* positions of a tile */
bool is_column(const Slice *, int range);       /* of some product */
bool is_key(const Slice *, int range);          /* likewise, and it is that of a loop */

/* ---- copies without products, moves.c ---- */

bool is_move(const Kernel *);
Planned moves_plan(PassContext *, const Kernel *);
void slice_move(PassContext *, Kernel *);

/* ---- looking at a kernel: whether the step can be done; else the reason is kept ---- */

void slice_list(Slice *);      /* fits.c: its operations */
bool multiplies_aside(const MatrixTarget *); /* plan.c: it has what roles are made of */
bool slice_fits(Slice *);      /* fits.c: products, stores and their ranges */
bool slice_access_fits(Slice *, const Op *);
bool slice_grid_fits(Slice *);
bool slice_operation(Slice *); /* ask.c: the instruction of its products */
bool slice_streams(Slice *);   /* stream.c: which operands come by one ring */
bool slice_addresses(Slice *); /* address.c: what the copy role computes */
void slice_near(Slice *);      /* near.c: which loads of the epilogue come by boxes */
void slice_late(Slice *);      /* late.c: what is kept for the next task */
bool slice_peers(Slice *);     /* sync.c: memory of peers */
/* plan.c: all of these; the scratch memory is the caller's to free */
bool slice_begin(Slice *, PassContext *, const Kernel *, bool swapped, bool deep);
Name slice_instruction(const Slice *, const Op *dot); /* its name with the columns of a tile */
bool slice_is_swapped(const Kernel *);             /* by its plan */
bool slice_tiles(Slice *, TilePlan *);             /* ask.c: tiles that are fast */
TaskOrder slice_tasks(const Slice *);              /* tasks.c: who gives tasks to workgroups */
Planned slice_plan(PassContext *, const Kernel *); /* plan.c: the plan of the kernel, or why it has none */
bool slice_planned(Slice *);                       /* ask.c: what follows from the kernel's plan */

/* fits.c: the operation is a condition of the task under which nothing but results is made; that around an operation,
   or NULL. */
bool op_has_arms(const Slice *, const Op *);
const Op *op_arms(const Slice *, const Op *);
bool slice_takes_sent(const Slice *, const Op *load); /* of what other ranks' tasks of this kernel send; .. */
bool slice_waits_for_itself(const Slice *);           /* .. there is such a load */
bool slice_has_peers(const Slice *); /* some tensor of it is memory of peers */
bool slice_reads_peers(const Slice *);
bool slice_is_symmetric(const Slice *, const Op *access);
bool slice_signals(const Slice *);
bool slice_sends(const Slice *); /* it stores to memory of peers */
const char *store_why_no_box(Slice *, const Op *store); /* box.c; NULL: it is one */
void slice_turns(Slice *);                              /* ask.c: whether results are turned */
bool load_is_placed(const Op *);              /* near.c: no scalar of the body is part of its place */
bool slice_copies(const Slice *, const Op *); /* a load of a stream, or what has one in its regions */
int slice_depth(const Slice *);               /* made.c: positions of a step */
bool slice_has_few(const Slice *, Size rows); /* made.c: rows are few (passes/plan/tile_few.c) */
bool slice_may_be_deep(const Slice *);        /* made.c: they may be those of two panels */
bool slice_fills(const Slice *, const Op *, SlotFill); /* the same, of streams that come so */
bool slice_has_fill(const Slice *, SlotFill);          /* there are such */
/* Why a load, whose tile has the ranges `kept` and `over`, is no box (box.c); why threads cannot copy it row by row
   (rows.c). NULL: it is one, they can. */
Reason box_why(Slice *, const Op *load, int kept, int over, Panel *);
Reason box_tail(const Slice *, const Op *load, int over); /* why positions behind the loop's end count */
bool box_is_pixels(const Slice *, const Op *load, int kept, int over);
const char *rows_why(Slice *, const Op *load, int kept, int over, Panel *);
bool box_is_near(Slice *, const Op *load); /* a box, at the place of the results */
bool slice_is_loose(Slice *);              /* boxes beside operands want rows that not every run has */
bool box_is_panels(Slice *, const Op *access); /* panels of columns of the access's tile are boxes */

/* ---- building ---- */

/* Of a chain with wide results one role has what rows and keys have, another what has their columns. */
typedef enum { HALF_ALL, HALF_ROWS, HALF_WIDE } Half;

/* A role's body, as far as it is built. */
typedef struct {
    Slice *s;
    Builder b;
    Value **value; /* by value of the kernel's body: its copy here; NULL: there is none */
    SlotFill fill; /* of a role that copies: what it copies */
    Half half;     /* of groups that multiply */
    bool *flying;  /* of groups that multiply, by value of the body: products that make its copy may be under way */
    bool *zeroed;  /* likewise: its copy is 0 past the end of the loop's range, .. */
    bool *least;   /* .. or -inf */
    int counted;   /* 1 + range of blocks of which one loop runs all steps (flat.c), .. */
    Value *count;  /* .. and the number of the block; 0: there is none */
} Cut;

/* flat.c: the loop whose steps are those of both; NULL: it is none of blocks. Its end. */
const Op *loop_flat(const Slice *, const Op *loop, int64_t *end);
Op *flat_begin(Cut *, const Op *loop, const Op *inner, int64_t end, int carried);
void flat_count(Cut *, const Op *loop, const Op *inner);

/* cut.c */
Cut cut_begin(Slice *, Region *at);
/* `build` of the one region, at the end of the other. */
void cut_within(Cut *, void (*build)(Cut *, const Region *), const Region *from, Region *to);
Value *cut_value(const Cut *, const Value *);
void cut_name(Cut *, const Value *from, Value *to); /* now its copy */
Span *cut_place(const Cut *, const Op *access);
Op *cut_op(Cut *, const Op *);                     /* without its regions */
Op *cut_loop(Cut *, const Op *, int carried);      /* that carries the first values; its body is to be filled */
Op *cut_condition(Cut *, const Op *, int results); /* with the first results; its regions are to be filled */

int ring_new(Slice *, Name, int slots, Loc); /* its number; another name where there is one of that */
void roles_begin(Slice *);                  /* ring.c: what the plan says of roles */
int panel_range(const Slice *);             /* a new range: panels of columns */
Type panel_type(const Slice *, Type);       /* near.c: of a panel of the tile */
Span *panel_place(const Slice *, const Op *access);
void panel_loop(Builder *, const Slice *); /* over panels of columns; goes on in it */
void slice_waited(Slice *, Cut *);              /* sync.c: of the role that copies: it has waited, .. */
void slice_store_waits(const Slice *, Cut *);   /* .. of the role that stores: what it waits for, .. */
void slice_store_signals(const Slice *, Cut *); /* .. and what it signals */
Value *cut_load(Cut *, const Op *load); /* even.c: of no stream */
int64_t load_even(const Op *, int range); /* positions, whose divisors are sizes of such tiles; 0: none are */

void slice_stores(Slice *);                      /* box.c: how results go to memory */
void slice_vectors(Slice *);                     /* vector.c: numbers of columns that come early */
void slice_sums(Slice *);                        /* sums.c: which sums are waited for */
bool loop_defers(const Slice *, const Op *loop); /* its step waits for no product */
void slice_scalars(Slice *);                     /* ring.c: scalars of all roles, and .. */
/* near.c: its ring; the role that fills it; what groups get and free in a panel's loop.
   part: by value of the body, its copy for a panel. */
void near_ring(Slice *);
bool slice_is_near(const Slice *, const Op *load);
bool near_is_apart(const Slice *); /* a role of its own copies, or .. */
void slice_near_copy(Slice *);
void near_put(Builder *, const Slice *); /* .. the role that copies operands */
void near_get(Cut *, Value **part);
void near_free(Cut *);
/* slices.c: workgroups that share a tile. */
const Op *slices_loop(const Slice *); /* slices_fit.c: the loop that is cut into slices */
bool slices_fit(const Slice *);                             /* sums of slices add up to what the kernel sums */
void slices_begin(Slice *);                                 /* as the plan says */
void slices_scalars(Slice *, Cut *);                        /* where the workgroup's slices begin and end */
void slices_rings(Slice *, int multiply);                   /* of sums, over those of operands */
void slices_sum(Cut *);           /* of groups that multiply: now values are those of their share */
void slices_wait(Slice *, Cut *); /* of the role that copies, at the end of a task */

void slice_rings(Slice *);                       /* .. rings that the copy role fills */
void slice_copy(Slice *);                        /* copy.c: the roles that copy */
void make_ahead(const Slice *, Op *loop);        /* ahead.c: the same where operands are made on the way */
/* runs.c: operations of a loop by their place, 0 .. places - 1; those of one place stay in order. */
void loop_sort(const Op *loop, int places, int (*of)(const Op *));
void take_runs(const Slice *, Op *loop);         /* runs.c: of groups that multiply: turns of a loop that waits */
int slice_multiply(Slice *);                     /* multiply.c: the groups that multiply; the role's number */
void slice_results(Cut *, int multiply);         /* result.c: what they store, .. */
void chain_results(Cut *, int multiply);         /* chain_result.c: .. of products in a chain */
void chain_store(Cut *, const Op *store); /* from registers, where the body stores it */
void chain_reduce(Cut *, const Op *);            /* chain_step.c: a reduction in a step that may be cut short, .. */
Value *chain_operand(Cut *, const Op *dot, const Value *); /* .. and an operand of a product */
Value *chain_narrow(Cut *, const Op *); /* chain_narrow.c: its result, made of 32 bits; NULL: they do not hold it */
Value *chain_unscaled(Cut *, const Value *,
                      Value **factor); /* without its factor, a positive number; NULL: it has none */
void chain_defer(const Slice *,
                 const Op *loop);          /* .. of the role's loop: which sums its lanes put together behind it */
bool chain_holds_steps(const Slice *);     /* chain_plan.c: registers have room for steps that overlap */
void chain_turns(const Slice *, Op *loop); /* chain_turns.c: likewise */
void chain_early(const Slice *, Op *loop); /* chain_early.c: likewise, where it has no turns */
bool chain_vanishes(const Cut *, const Value *);           /* chain_zero.c: it is 0 past the end of the loop's range */
bool chain_select(Cut *, const Op *);                      /* chain_mask.c: a mask by positions; false: it is none */
/* chain_wide.c: results that groups of a role of their own share the columns of; slots of a number of each row */
enum { WIDE_GROUPS = 2, WIDE_SLOTS = 2 };
int kernel_wide(const Kernel *);   /* chain.c: the range of such columns; -1: there is none */
int plan_row_groups(const Plan *); /* product.c: groups that share rows; those behind them share columns */
int64_t slice_share(const Slice *,
                    int range); /* product.c: positions that a group has of columns that groups share, or all */
bool wide_fits(Slice *);        /* what is sent is of rows, or weights */
int64_t wide_bytes(const Slice *, int64_t rows, int64_t (*extent)(const Slice *, int range, const void *),
                   const void *of);
void wide_rings(Slice *);
bool wide_carries(const Cut *, const Value *); /* product.c: the role's loop carries it */
const Op *wide_last(const Cut *,
                    const Stream *);      /* the last operation of the role that reads the slot; NULL: none does */
bool wide_takes(const Cut *, const Op *); /* the role has the operation */
void wide_exchange(Cut *, const Op *);    /* what of its results is sent */
void wide_frees(Cut *, const Op *);
void wide_results(Cut *);
void slice_say(const Slice *);                   /* say.c: what `explain` prints of them */
int64_t slice_columns_laid(const Slice *, int range); /* of sums of products in registers */
void slice_lay(Slice *, int multiply);           /* lay.c: layouts of their tiles */

#endif
