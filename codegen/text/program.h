/* program.h: texts of a program: its memory, the arguments and tasks of its nodes. */
#ifndef TILEC_CODEGEN_TEXT_PROGRAM_H
#define TILEC_CODEGEN_TEXT_PROGRAM_H

#include "codegen/text/fn.h"

/* false after an error */
bool memory_make(Arena *, const Module *, const Program *, Memory *);
const CExpr *range_tasks(Fn *, const Kernel *, int range); /* number of tasks along a range of the grid */
const CExpr *grid_index(Fn *, const Kernel *, int range,
                        const char *task);                 /* of a task's tile; the last range is the fastest */
const CExpr *part_text(Fn *, const Tensor *, const Arg *); /* first element of a part, in elements of the whole */
/* Appends the function of a node's kernel; name: its own, unique in the file. */
bool kernel_emit(Text *to, Memory *, Arena *, const Module *, const Program *, const Node *, const char *name);
const CExpr *node_tasks(Fn *, const Kernel *);
const CExpr *packed_part_text(Fn *, const Node *, const Tensor *, const Arg *); /* its byte; refused within a byte */
const CExpr *peer_text(Fn *, int axis, const CExpr *coord); /* number of the rank with that coordinate */
const CExpr *tensor_slot(Fn *, const Tensor *); /* byte of the workspace where this generation's copy begins */
const CExpr *symmetric_text(Fn *, const Tensor *, const CExpr *first); /* the same of a part, by its first element */

#endif
