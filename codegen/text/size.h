/* size.h: C text of sizes and extents. */
#ifndef TILEC_CODEGEN_TEXT_SIZE_H
#define TILEC_CODEGEN_TEXT_SIZE_H

#include "codegen/text/fn.h"

/* Sizes, size.c. coord: C text of the coordinate along the size's axis; NULL: this rank's. */
const CExpr *size_text(Fn *, Size);
const CExpr *size_text_at(Fn *, Size, const CExpr *coord);
const CExpr *tasks_text(Fn *, Size of, int64_t size); /* grid_tasks(of, size): never less than 1 */
const CExpr *ragged_tasks_text(Fn *, Size of, int64_t size, Size groups); /* likewise, with one more for each group */
const CExpr *size_block_text(Fn *, Size);
const CExpr *size_origin_text(Fn *, Size);
const CExpr *size_origin_in_text(Fn *, Size, int axes); /* of the rank's block along more axes, in what it has */
/* Extent of a dimension of the tensor behind a parameter, as it lies in memory. */
const CExpr *tensor_extent(Fn *, const Tensor *, int dim); /* as it lies in memory */
const CExpr *param_extent(Fn *, int param, int dim);

#endif
