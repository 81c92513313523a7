/* access.h: texts of the ranges of tasks and loops, and what is certain of subscripts. */
#ifndef TILEC_CODEGEN_TEXT_ACCESS_H
#define TILEC_CODEGEN_TEXT_ACCESS_H

#include "codegen/text/fn.h"

void range_text_grid(Fn *);
void skip_missing_tasks(Fn *); /* returns at once from tasks beyond the end, where they do nothing */
void range_text_group(Fn *, const Op *group); /* finds the tile of a ragged range */
void range_text_for(Fn *, const Op *loop, const CExpr *lo, const CExpr *hi);
void range_text_tile(Fn *, int range, const CExpr *begin); /* of the loop's tile that begins there */
bool affine_within(Fn *, const Affine *, int64_t end);    /* certainly at least 0 and below end */
bool affine_is_natural(Fn *, const Affine *);             /* certainly at least 0 */
bool access_within(Fn *, const Op *access, int dim);       /* its subscript is certainly inside the tensor */

#endif
