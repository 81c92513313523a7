/* program.h: texts of a program: the tasks of its nodes, and its ranks. */
#ifndef TILEC_CODEGEN_TEXT_PROGRAM_H
#define TILEC_CODEGEN_TEXT_PROGRAM_H

#include "codegen/text/fn.h"

const CExpr *range_tasks(Fn *, const Kernel *, int range); /* number of tasks along a range of the grid */
const CExpr *grid_index(Fn *, const Kernel *, int range,
                        const char *task);                 /* of a task's tile; the last range is the fastest */
const CExpr *node_tasks(Fn *, const Kernel *);
const CExpr *peer_text(Fn *, int axis, const CExpr *coord); /* number of the rank with that coordinate */

#endif
