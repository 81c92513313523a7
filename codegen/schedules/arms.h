/* arms.h: what the arms share that plan kernels by schedules of a machine (passes/plan/plan.h). */
#ifndef TILEC_CODEGEN_SCHEDULES_ARMS_H
#define TILEC_CODEGEN_SCHEDULES_ARMS_H

#include "codegen/schedules/match.h"
#include "passes/plan/plan.h"
#include "target/matrix.h"

/* By the schedule, whose tiles the ranges row and column take. */
Planned arm_planned(PassContext *, const Kernel *, const MatrixSchedule *, int row, int column);
/* The same without tiles and text. */
Planned arm_named(PassContext *, const Kernel *, const MatrixSchedule *);
bool rows_align(const Param *, int bytes); /* rows of a matrix begin at multiples of so many bytes */
/* A product without a plan; where rows do not begin at multiples of so many bytes, longer ones may give it one. */
Planned arm_refused(const Kernel *, const Product *, int align, Reason);
extern const Reason reason_types, reason_rows, reason_tile;
int64_t arm_parts_asked(const PassContext *, const Kernel *); /* 0: those that are fastest; 1 where no pass cuts */
bool attention_one_type(const Kernel *, const Attention *);   /* all four bf16 or f16, in private memory */

/* Of a machine whose threads load the operands. skinny: "": it is not for few rows. */
Planned product_plan_cdna(PassContext *, const Kernel *, const MatrixTarget *, const Product *);
Planned skinny_plan_cdna(PassContext *, const Kernel *, const MatrixTarget *, const Product *);
/* Attention of a few rows. "": it is no such kernel. */
Planned decode_plan(PassContext *, const Kernel *, const MatrixTarget *);

#endif
