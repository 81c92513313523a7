/* host.h: what the parts of the generator of C for the host share; texts of a program, which GPU texts use too. */
#ifndef TILEC_CODEGEN_HOST_HOST_H
#define TILEC_CODEGEN_HOST_HOST_H

#include "codegen/text/program.h"
#include "codegen/text/step.h"

extern const Backend c_backend;

/* ---- a program ---- */

/* false after an error */
bool memory_make(Arena *, const Module *, const Program *, Memory *);
/* Memory of a program whose nodes run one after the other: temporaries share places where their lives do not overlap. */
bool memory_make_alone(Arena *, const Module *, const Program *, Memory *);
/* Appends the function of a node's kernel; name: its own, unique in the file; fields: share.h. */
bool kernel_emit(Text *to, Memory *, Arena *, const Module *, const Program *, const Node *, const char *name,
                 Fields *);

/* ---- tiles in scratch memory ---- */

Tile tile_for(Fn *, Type, Elem, int16_t fastest);
Tile c_tile(Fn *, const Value *, Elem, int16_t fastest);
void c_place(Fn *, Tile *, const char *name);

/* ---- steps ---- */

void emit_store(Fn *, const Op *);
void emit_print(Fn *, const Op *);
void emit_reduce(Fn *, const Op *);
void emit_prefix(Fn *, const Op *);
void emit_dot(Fn *, const Op *);
bool rows_end_with(const Tile *, int16_t range);
Tile dot_operand(Fn *, const Value *, Elem, int16_t row); /* its tile whose rows run along `row`, made where there is none */
void dot_start(Fn *, const Op *, const Tile *to);         /* to = what the products are added to */
/* One side has a single row, few rows. false: nothing was printed. */
bool emit_row_product(Fn *, const Op *, const DotRanges *);
bool emit_few_product(Fn *, const Op *, const DotRanges *);
bool emit_integer_product(Fn *, const Op *, const DotRanges *); /* of bytes; the same */
bool integers_read_in_place(Fn *, const Op *dot);               /* both sides, by such a product */
bool emit_gathered(Fn *, const Op *dot);       /* one side is gathered; the same */
bool emit_gathered_loop(Fn *, const Op *loop); /* all steps at once; the same */
bool emit_grouped(Fn *, const Op *loop); /* sums of scaled groups; false: it is none, nothing was printed */
bool few_reads_in_place(Fn *, const Op *dot); /* it is such a product of few rows, but for what `held_tile` decides */
void lengthen_steps(Fn *, const Op *loop);    /* before its head is printed: steps as long as products in memory like them */
/* result = initial value plus the products, by loops; reduce.c */
void emit_contract(Fn *, const Op *);
void packed_store_check(Fn *, const Op *); /* which tasks may store packed elements */

/* ---- stores past the caches, nontemporal.c ---- */

void nontemporal_open(Nest *, const RangeText *innermost);
void nontemporal_close(Nest *);
/* Where a store's loops put an element instead, when the result goes past the caches; else NULL. */
const CExpr *nontemporal_target(Nest *, const Op *store);
bool tensor_is_nontemporal(const Module *, const Program *, const Tensor *);

#endif
