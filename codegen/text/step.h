/* step.h: the steps of a kernel: how values are held, and what writes each operation. */
#ifndef TILEC_CODEGEN_TEXT_STEP_H
#define TILEC_CODEGEN_TEXT_STEP_H

#include "codegen/text/nest.h"

/* ---- where values are held, hold.c, and tiles ---- */

void hold_values(Fn *);
void hold_values_of(Fn *, const Region *const *, int n); /* of these, one after the other, in place of its body */
int16_t value_fastest(Fn *, const Value *); /* range with stride 1 in most of what the expression reads; -1: none */
int16_t access_fastest(const Kernel *, const Op *); /* of a load or store: the range that goes from neighbour to neighbour */
bool reads(Fn *, const Value *expression, const Value *leaf);
Tile tile_of_value(Fn *, const Value *, Elem, int16_t fastest);
void tile_place(Fn *, Tile *, const char *name); /* declares it */

/* ---- steps ---- */

void emit_region(Fn *, const Region *);
void emit_piece(Fn *, const Region *, int piece); /* of a loop's body: those operations of it */
/* A loop in two parts: its bounds and what it carries; its steps, between any bounds. */
void emit_for_head(Fn *, const Op *, const CExpr **lo, const CExpr **hi);
void emit_for_steps(Fn *, const Op *, const CExpr *lo, const CExpr *hi);
void emit_ahead(Fn *, const Op *); /* a step, now, and not again in its region */
bool is_step(Fn *, const Op *); /* inline and unused values have no step of their own; loops and conditions always have */
void emit_compute(Fn *, const Value *);            /* an expression, into its variable or tile */
void emit_copy(Fn *, const Tile *, const Value *); /* tile = value; nothing when it is that tile */
void emit_wait(Fn *, const Op *);
void emit_signal(Fn *, const Op *);
const Tile *held_tile(Fn *, const Value *); /* the place of a value about to be made */

/* A dot as a product of matrices: the operand `left` is m x k, the other k x n; other ranges are loops around it. */
typedef struct {
    int left;
    int16_t m, n, k;
} DotRanges;
bool dot_ranges(Fn *, const Op *, DotRanges *); /* false: better done by loops over elements */
/* Of reductions and prefixes: what nothing reduces to, and the statement by which `run` takes in x. */
const CExpr *reduce_start(Fn *, OpKind, Elem);
const char *reduce_combine(Fn *, OpKind, Elem, const char *run, const CExpr *x);
const char *reduce_pair(Fn *, OpKind, Elem, const char *a, const CExpr *b); /* an expression */


/* ---- what targets share ---- */

extern const SyncBackend c_sync;
const CExpr *sum_value(Nest *, const Op *store, const CExpr *old); /* of a sum in order */
const char *packet_bits(Fn *, Elem, const CExpr *x);
const CExpr *packet_value(Fn *, Elem, const char *bits);
const CExpr *c_element(Nest *, const Tile *);

#endif
