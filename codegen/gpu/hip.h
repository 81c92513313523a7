/* hip.h: what the parts of the generator of GPU text share. Kernels are in the form `layout`. */
#ifndef TILEC_CODEGEN_GPU_HIP_H
#define TILEC_CODEGEN_GPU_HIP_H

#include "codegen/text/access.h"
#include "codegen/host/host.h"
#include "codegen/text/argument.h"
#include "codegen/text/size.h"
#include "codegen/codegen.h"
#include "target/matrix.h"

/* The part of a position that depends on the thread alone, as a constant at the head of the kernel. */
typedef struct {
    const char *wanted;
    const CExpr *text, *name;
} ThreadPart;

typedef struct Hip {
    const MatrixTarget *target;
    int lanes, waves, threads;
    int packed;             /* tasks of a workgroup, a wave each; 0, 1: one */
    int split, groups;      /* in a role: 1 + the range whose positions its groups share, 0: none; how many groups */
    int64_t share;          /* positions of a group */
    int cut; /* a loop over registers has one of so many cuts, from the variable `first` on; 0, 1: all of them */
    struct RoleText *role;  /* the role that is written; NULL: a task is the whole workgroup's */
    int64_t lds; /* bytes of the workgroup's memory that the kernel takes */
    int ticket;       /* number of the counter that its tasks take; -1: none */
    bool reading;     /* others may still read that memory: a barrier comes before the next use */
    bool bypasses_l1;     /* what is loaded may change before it is loaded again */
    const char *timed_out; /* of the wait in hand: this thread's words do not come */
    VEC(ThreadPart) part;
    const Op *moving, *moved; /* the first and the last of the conversions that were written together, last of all */
    const char *call;         /* type of the kernel's argument */
    const char **member; /* of the struct of arguments: tensors of the interface, then run-time dimensions */
} Hip;

extern const Backend hip_backend;
extern const SyncBackend hip_sync;

/* ---- bits: linear maps as C expressions ---- */

/* Where each of n bits of a variable goes: the exclusive or of the columns of those that are set. */
const CExpr *bits_text(Fn *, const CExpr *variable, const uint64_t *column, int n);
const CExpr *bits_join(Fn *, const CExpr *a, uint64_t a_bits, const CExpr *b,
                       uint64_t b_bits); /* a ^ b; + where it may be */

/* ---- layouts ---- */

int layout_registers(const Layout *);
const uint64_t *layout_columns(const Layout *, const char *place, int *n);
uint64_t layout_range_bits(const Layout *, const char *range); /* of an index */
/* Bits of the thread's number that make no difference. */
uint64_t layout_copies(Hip *, const Layout *);
/* Columns of the bits of the thread's number: those of lanes, then of waves. */
int thread_columns(Hip *, const Layout *, uint64_t column[]);
const CExpr *thread_part(Fn *, const char *wanted, const uint64_t *column, int n); /* a constant's name; "0" */
const Layout *held_layout(Fn *, const Value *);

/* ---- nests ---- */

Nest nest_over(Fn *, const Layout *, int skip);       /* registers whose low `skip` bits are 0; sets the positions' texts */
const CExpr *nest_register(Nest *);                   /* of the loop: "reg", or "0" */
const CExpr *register_of(Nest *,
                         const Layout *inner); /* text of the register that belongs to the loop's; NULL: there is one */
/* Positions in a tile along a range that no group has a share of: of a thread's first element; of the register's
   element, behind that. */
const CExpr *nest_first(Nest *, int range);
const CExpr *nest_behind_first(Nest *, int range);
const CExpr *tile_at(Fn *, const Tile *, const CExpr *index); /* a register of a tile; NULL: it has one */
const CExpr *tile_address(Fn *, const Tile *, const CExpr *index);
const Tile *made_tile(Fn *, const Value *); /* of an operand: its own, or one made of its expression */
Tile tile_like(Fn *, const Layout *, Elem, const char *wanted); /* declared */
bool range_fills_layout(const Nest *, int range); /* every position of the loop's layout certainly exists */
const char *mask_text(Nest *, Type);        /* the loop's position exists; NULL: certainly */

/* ---- workgroup memory ---- */

enum { SYNC_LDS = 8 };                   /* what waits, arrivals and tickets take */
void lds_take(Fn *, Loc, int64_t bytes); /* refuses with the numbers when there is not so much */
void lds_done(Fn *); /* what was taken has been read */
void lds_settle(Fn *); /* a barrier, where it may still be read */
void sync_line(Fn *);

/* ---- kernels ---- */

/* Appends the kernel of a node, by the launch's name; fills its threads and bytes of LDS. */
bool hip_kernel(GpuText *, Arena *, const Program *, const Memory *, const Node *, const MatrixTarget *, GpuLaunch *);

const CExpr *hip_argument(Fn *, int param); /* text of its pointer, or of its value */
void hip_arguments(Fn *); /* constants of those parameters that the body reads, before it */

/* map.c: the last dimensions of a parameter as they are copied by boxes of one element; planes: 0, or how many of such
   tensors it is, which then have a coordinate of their own. */
GpuMap hip_map(Fn *, int param, int last, int64_t planes);

/* beside.c: the node's launch may run beside that of the node before it. */
bool hip_runs_beside(const GpuText *, const Program *, int node);

/* forward.c: a symmetric tensor whose rows of this rank readers take from the caller's tensor, which no node copies. */
typedef struct {
    int tensor;   /* the caller's; -1: there is none */
    int64_t rows; /* of a rank */
    int sender;   /* the node that sends it to the other ranks */
} OwnRows;
OwnRows hip_own_rows(const Program *, int tensor);

/* run.c: what begins and ends a run. */
void hip_run_begin(GpuText *, Arena *, const Program *, const Memory *);
bool hip_begins_run(const GpuText *, const Program *, const Node *); /* its launch begins the run, too */
bool hip_ends_run(const GpuText *, const Program *, const Node *);   /* .. ends it */
/* Which ranks see a wrong value of an input: all, or the one that has it. NULL: of what the run computes, which one
 * rank may. */
const char *hip_seen_by(const Module *, const Tensor *input);
void hip_run_finish(GpuText *, Arena *, const Program *, const Memory *); /* the function that the last launch calls */
void hip_run_end(GpuText *, Arena *, const Program *, const Memory *);
/* Lines at the head of a kernel that has a workgroup even where a run has no task, or was refused: it does nothing. It
   waits for the launches before, as the launch behind waits for this one alone. */
const char *hip_refusals(Fn *, const GpuLaunch *);
/* The last that a workgroup does: a launch beside others ends behind them, the last one of a run ends the run. NULL:
 * nothing. */
const char *hip_last(Arena *, const Program *, const GpuLaunch *);
/* The statement that ends a workgroup early: also where it gives up. */
const char *hip_leave(Arena *, const Program *, const GpuLaunch *);

/* Emits a kernel in the form roles: roles.c. */
bool hip_roles(GpuText *, Arena *, const Program *, const Memory *, CNames *, const Node *, GpuLaunch *);

/* The same by the machine's text for the kernel's schedule (codegen/schedules). */
bool hip_schedule(GpuText *, Arena *, const Program *, const Memory *, const Node *, GpuLaunch *);

/* ---- sums in order: loops over positions that may meet in one place ---- */

typedef struct {
    int n;
    int16_t range[MAX_RANGES];
    const char *at[MAX_RANGES];
} SumLoops;

void sum_open(Fn *, const Op *store, SumLoops *);        /* none for other stores */
const char *sum_condition(Fn *, const SumLoops *);       /* this element's turn; NULL: always */
void sum_close(Fn *, const SumLoops *);

/* ---- steps ---- */

void hip_packet_load(Fn *, const Op *);
bool takes_tickets(const Program *, const Node *); /* its tasks wait for lower ones: they are numbered as they begin */
/* early.c: loads of constant tensors; any? They stand before the wait for the launch before. */
bool hip_early(Fn *, const GpuLaunch *);
void hip_prefetch(Fn *); /* prefetch.c: rows of later tasks, before the body */
void hip_load(Fn *, const Op *);
void hip_load_tile(Fn *, const Op *, const Tile *to);
void hip_first_tiles(Fn *, const Op *loop); /* pipeline_loads.c */
void hip_next_tiles(Fn *, const Op *);
const char *hip_unrolled(Fn *, const Op *loop); /* unroll.c: the line in front of a loop that is written out, or never; NULL: as compilers like */
void hip_store(Fn *, const Op *);
void hip_print(Fn *, const Op *);
bool hip_run_is_multiple(Fn *, const Op *, int range, int64_t of); /* likewise where its tiles begin */
void hip_reduce(Fn *, const Op *);
void hip_deferred_sums(Fn *, const Op *loop);
/* roles_exp.c: in a step of products in a chain; whether exponentials may be made at once, as each lane knows it. */
bool hip_role_is_step(Fn *, const Op *);
void hip_role_guard(Fn *, const Op *most);
void hip_arg(Fn *, const Op *);
void hip_prefix(Fn *, const Op *);
void hip_convert(Fn *, const Op *);
const Op *hip_written_with(Fn *, const Op *); /* the last of the conversions that this one was written with; itself */
void hip_dot(Fn *, const Op *);
bool hip_sum_of_products(Fn *, const Op *, const Tile *to); /* contract.c; false: not this one, nothing was printed */

#endif
