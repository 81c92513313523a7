/* hip_schedule.h: what the generators of kernels by schedules share; one file each, hip_NAME.c. */
#ifndef TILEC_CODEGEN_SCHEDULES_HIP_SCHEDULE_H
#define TILEC_CODEGEN_SCHEDULES_HIP_SCHEDULE_H

#include "codegen/gpu/hip.h"
#include "codegen/schedules/match.h"
#include "codegen/schedules/skinny.h"
#include "codegen/text/program.h"

typedef struct {
    const char *name, *text;
} Hole;

/* A kernel by a schedule. */
typedef struct {
    Fn f;
    const MatrixSchedule *facts;
    Text *text; /* where it goes */
    GpuLaunch *launch;
    VEC(Hole) hole;
    VEC(const char *) kind; /* lines of other kinds are left out */
} Schedule;

void schedule_begin(Schedule *, const MatrixSchedule *);
bool schedule_follows(const Schedule *); /* its text has the wait for the launch before; else that stands at the head */
void schedule_hole(Schedule *, const char *name, const char *text);
void schedule_kind(Schedule *, const char *);
void schedule_number(Schedule *, const char *name, int64_t);
GpuMap schedule_map(Schedule *, int param, int box);
void schedule_maps(Schedule *, const GpuMap *, const int *param, int n); /* the kernel's second argument */

/* The tiles along the grid's ranges; NAME_tile is the constant of each. */
OrderTiles schedule_tiles(Schedule *);
/* The hole `order`: lines from the workgroup's number to these constants, by the order of the kernel's plan. */
void schedule_order(Schedule *, const OrderTiles *);

/* Of both kinds of attention: the type, and the scale as of powers of 2. */
void schedule_softmax(Schedule *, const Attention *);
/* A function `NAME(..)` of the sums x, y of a loop at [i, j] that gives a value as a `to`; its text. */
const char *epilogue_text(Schedule *, const Value *, Elem to, const Op *sums, const char *name);

/* The matrices that a product's kernel copies by boxes, and which parameters they are. */
typedef struct {
    GpuMap map[GPU_MAPS];
    int param[GPU_MAPS], n;
} ProductMaps;

void product_maps_add(ProductMaps *, Schedule *, const int *param, int n, int box);
bool product_stores_tiles(const Param *);
void product_fill_sizes(Schedule *, const Product *);
bool product_is_early(const Schedule *, const int *b, int n); /* b, or several, are copied before the wait */
void product_fill_early(Schedule *, bool early);
void product_fill_clamp(Schedule *, char range, int64_t extent, int64_t tile);
void product_fill_result(Schedule *, const Product *);
int product_fill_cluster(Schedule *, const SkinnyPlan *); /* for few rows; workgroups of a cluster */

/* Fill in facts, maps, and the schedule's own holes; false: the kernel is none that the schedule computes. */
bool skinny_prepare_cdna(Schedule *, const Product *);
bool product_prepare(Schedule *); /* of a machine whose threads load the operands */
bool skinny_prepare(Schedule *);
bool narrow_prepare(Schedule *);
bool attention_prepare(Schedule *);
bool decode_prepare(Schedule *);

#endif
