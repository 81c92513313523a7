/* size.h: sizes of types, affine sums, grids, flags and meshes. Part of ir.h, which has the structs. */
#ifndef TILEC_IR_SIZE_H
#define TILEC_IR_SIZE_H

#include "ir/ir.h"

Type type_scalar(Elem);
Type type_union(Type a, Type b); /* ranges united, element type of a */
bool type_has(Type, int range);
Type type_with(Type, int range);
bool type_covers(Type a, Type b); /* a has every range of b */
Type type_without(Type, int range);
bool type_equal(Type, Type);
Type term_type(const Kernel *, const Term *);
Type affine_type(const Kernel *, const Affine *); /* i64 over the ranges of its POS and VALUE terms */

int64_t ceil_div(int64_t n, int64_t d); /* 0 for what is not above 0; d > 0 */
Size size_number(int64_t);
bool size_is_number(Size); /* a compile-time number, the same on every rank */
bool size_equal(Size, Size);
Size size_whole(Size); /* without its split */
Size size_split(Size, int axes); /* split further */
Size size_gathered(Size);        /* without the last axis of its split */
bool size_is_split_over(Size, int axis);
Size size_even(const Module *, Size); /* the number that it is on every rank; itself where it is none */
int64_t size_bound(const Module *, Size);  /* largest value on any rank */
int64_t size_block(const Module *, Size,
                   const int64_t *sym); /* B of a split size, of its last axis; sym: values of symbols */
/* coord: the rank's coordinate per mesh axis. A block is never negative; n itself is what c + sym gives. */
int64_t size_eval(const Module *, Size, const int64_t *sym, const int *coord);
int64_t size_origin(const Module *, Size, const int64_t *sym, const int *coord);

bool arg_is_whole(const Arg *); /* all of its tensor, as it is: no part, no rank's block, no view */
int arg_same_dims(const Tensor *, const Arg *, const Param *); /* of a view: dimensions in front that agree; else all */

/* extent.c */
const Op *kernel_loop(const Kernel *, int range);                              /* NULL: a range of the grid */
int64_t size_most(const Module *, Size);                                      /* size_bound, never negative */
int64_t value_most(const Module *, const Kernel *, const Value *);            /* of an integer scalar; -1: not known */
int64_t range_most(const Module *, const Kernel *, int range);                /* positions of a tile; -1: not known */
bool value_is_natural(const Kernel *, const Value *); /* certainly never negative, of an integer scalar */
bool value_is_multiple(const Value *, int64_t of); /* certainly, of an integer scalar */
const Op *range_row(const Kernel *, int range); /* align_rows.c: the first access of a row along the range; NULL: none */
int range_row_alignment(const Kernel *, int range);     /* as Range.aligned; 0: it may not */
bool load_may_cover(const Kernel *, const Op *load, int range); /* by vectors around its runs along the range */
/* Tiles that the workgroups of a cluster take side by side along a range of the grid: in the last cluster some may lie
   beyond the range's end. 1: there are no clusters along it. */
int range_cluster(const Kernel *, int range);
/* The loop over it begins and ends at multiples of its tiles: none is cut short. */
bool range_has_whole_steps(const Kernel *, int range);
bool range_is_cut_at(const Kernel *, int range,
                     Size); /* likewise, but for those that end where such a dimension does */
/* Its tiles begin at multiples, as `op`, which may stand in a role's own loop over it, sees them. */
bool range_begins_at(const Kernel *, const Op *, int range, int64_t of);
bool range_is_full(const Kernel *, int range); /* every tile certainly has range_most positions */

int64_t int_floor_div(int64_t, int64_t); /* the divisor is neither 0 nor -1 */
Affine affine_const(int64_t);
Affine affine_term(TermKind, int id, int64_t mul, int64_t div);
Affine affine_value(Value *);
Affine affine_size(Size); /* a number becomes the constant */
bool affine_add(Affine *to, const Affine *from, int64_t mul); /* false, to unchanged: too many terms, or overflow */
bool affine_scale(Affine *, int64_t by);
bool affine_divide(Affine *, int64_t d); /* floor; this and the next: false where it is no such sum */
bool affine_modulo(Affine *, int64_t d);
bool affine_equal(const Affine *, const Affine *);
int affine_position(const Affine *); /* the range of which it is the position and nothing else; -1: another */
bool access_equal(const Op *, const Op *); /* the same subscripts */
bool affine_follows(const Affine *, int range); /* differs along its positions, or its tiles */
bool affine_runs_along(const Affine *, int range, int64_t of); /* its position, plus what are multiples */
bool affine_is_const(const Affine *);
Span span_of(Affine); /* lo = hi */

/* apart.c. Sets of ranges have a bit each. */
/* The ranges whose positions follow from the place, where those of `known` are given; they are among them. */
uint64_t place_tells(const Module *, const Kernel *, const Span *, int n, uint64_t known);
/* No two elements of a tile that agree in the ranges of `known` have one place. */
bool place_is_own(const Module *, const Kernel *, const Span *, int n, uint64_t known);

/* Tasks along a grid dimension: max(1, ceil(B / size)), B the full block of a split extent. A grid is the same on every
   rank and never empty: tasks beyond the edge of a short block find no positions, but wait and signal like the others. */
int64_t grid_tasks(const Module *, Size of, int64_t size, const int64_t *sym);
int64_t range_tiles(const Module *, const Kernel *, int grid_range, const int64_t *sym);

/* With tiles of T positions, tile t of group g has number floor(start[g] / T) + g + t: so the numbers of a group's
   tiles follow those of the group before, and none is above ceil(n / T) + groups. A number that no group takes has no
   positions. Starts that are outside of [0, n], or that fall, are cut: then tiles are wrong, and inside of it. */
typedef struct {
    int64_t group, begin, end; /* group: 0 where there is none */
} RaggedTile;

bool range_is_ragged(const Kernel *, int range);
bool kernel_is_ragged(const Kernel *); /* a range of its grid is */
Size range_groups(const Kernel *, int range);
bool ragged_is_whole(const Kernel *, int range); /* a result has its positions: each is in a group, or no task writes it */
bool tensor_has_starts(const Program *, int tensor, Size *of); /* of groups of a call's range, which has .of positions */
RaggedTile ragged_tile(int64_t (*start)(void *, int64_t), void *, int64_t groups, int64_t n, int64_t size, int64_t number);
bool region_synchronises(const Region *);            /* it waits or signals */
bool region_has_dot(const Region *);
bool region_has_access(const Region *, int param, OpKind); /* a LOAD or STORE of the parameter */
bool region_counts_tiles(const Region *, int range); /* a subscript has the number of a tile of it; -1: of any range */
bool kernel_needs_size(const Kernel *, int range); /* tiles of another size along the range would mean something else */
bool range_needs_size(const Kernel *, int range);  /* or steps would, of the range of a loop as written */
const Op *kernel_size_use(const Kernel *, int range); /* the first operation of which that is so; NULL: none */
const Op *loop_size_use(const Kernel *, int range);   /* the loop, or what is reduced beside what it carries */
struct Uses;
bool op_adds_in_memory(const struct Uses *, const Op *); /* a sum that is but added to a tensor's elements */
bool op_adds_tiles(const Kernel *, const Op *,
                   int range);          /* a store that adds once for each tile of the range, not each position */
bool op_reduces(const Op *, int range); /* over a tile of it: also the lowest place of the best, and prefixes along it */
bool flag_has_dest(const Flag *);
bool words_follow(const Op *, int range); /* of a wait or a signal: they differ along the range, or their ranks do */
FlagDim flag_dim(const Kernel *, int range, int64_t group); /* of a range of the grid */
/* Words along a flag's dimension; tasks that complete a word. */
int64_t flag_words(const Module *, const FlagDim *, const int64_t *sym);
int64_t flag_arrivals(const Module *, const Flag *, const int64_t *word, const int64_t *sym);
int64_t axes_ranks(const Module *, int axes);                         /* product over a list of axes */
const char *axes_text(const Module *, int axes, const char *between); /* their names */
const char *size_split_text(const Module *, Size);                    /* " @ tp", " @ (tp, dp)", or nothing */
int64_t mesh_ranks(const Module *);                                   /* product over all axes */
void mesh_coord(const Module *, int rank, int *coord); /* row-major: the first axis is the slowest */
int mesh_rank_along(const Module *, int rank, int axis, int64_t coord); /* the rank whose coordinate is changed */

#endif
