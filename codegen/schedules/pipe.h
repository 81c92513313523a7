/* pipe.h: what the parts of `pipe` share. Each looks at one kernel, and marks it with a schedule where it can. */
#ifndef TILEC_CODEGEN_SCHEDULES_PIPE_H
#define TILEC_CODEGEN_SCHEDULES_PIPE_H

#include "passes/pass.h"
#include "codegen/schedules/match.h"
#include "target/matrix.h"

/* NULL: a machine whose schedules cannot be run, or the pass is off. */
const MatrixTarget *pipe_target(const PassContext *);
void pipe_kernel(PassContext *, Kernel *);
void pipe_product(PassContext *, Kernel *, const MatrixTarget *);
void pipe_product_cdna(PassContext *, Kernel *, const MatrixTarget *, const Product *); /* of a machine whose threads load */
bool pipe_skinny_cdna(PassContext *, Kernel *, const MatrixTarget *, const Product *); /* false: not marked */
int64_t pipe_skinny_parts(PassContext *, const Kernel *, const MatrixTarget *);
int64_t pipe_decode_parts(PassContext *, const Kernel *, const MatrixTarget *);
int64_t pipe_parts_asked(const PassContext *, const Kernel *); /* 0: those that are fastest; 1 where no pass cuts */
void pad_operands(PassContext *, Kernel *); /* pad.c: it has the parameters that it will have, if `pad` is on */
/* A schedule would compute it, as long as it reads and writes private memory. */
bool pipe_would_take(PassContext *, const Kernel *);
/* As it stands it is attention of many rows, which a schedule computes head by head. */
bool pipe_attends(PassContext *, const Kernel *);
bool pipe_one_type(const Kernel *, const Attention *); /* all four bf16 or f16, in private memory */
void pipe_attention(PassContext *, Kernel *, const MatrixTarget *);
bool pipe_decode(PassContext *, Kernel *, const MatrixTarget *);                      /* false: it is no such kernel */
void pipe_mark(PassContext *, Kernel *, const MatrixSchedule *, int row, int column); /* ranges that take its tiles */
void pipe_warn(PassContext *, const Kernel *); /* of many products without a schedule */
void pipe_refuse(PassContext *, const Kernel *, const char *why);

#endif
