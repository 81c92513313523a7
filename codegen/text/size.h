/* size.h: C text of sizes and extents, and of sums, products and conditions. */
#ifndef TILEC_CODEGEN_TEXT_SIZE_H
#define TILEC_CODEGEN_TEXT_SIZE_H

#include "codegen/text/fn.h"

/* Sizes, size.c. coord: C text of the coordinate along the size's axis; NULL: this rank's. */
const char *size_text(Fn *, Size);
const char *size_text_at(Fn *, Size, const char *coord);
const char *tasks_text(Fn *, Size of, int64_t size); /* grid_tasks(of, size): never less than 1 */
const char *size_block_text(Fn *, Size);
const char *size_origin_text(Fn *, Size);
const char *size_origin_in_text(Fn *, Size, int axes); /* of the rank's block along more axes, in what it has */
bool text_is_number(const char *, int64_t *);
const char *text_add_terms(Fn *, const char *a, const char *b); /* "a + b", folded where both are numbers or one is 0 */
const char *text_mul(Fn *, const char *a, const char *b);
const char *text_min(Fn *, const char *a, const char *b);
const char *conjoin(Fn *, const char *a, const char *b); /* of two conditions, NULL: always */
const char *text_atom(Fn *, const char *); /* in parentheses where it is more than an operand */
const char *text_bare(Fn *, const char *); /* without its outer parentheses */
const char *text_ceil_div(Fn *, const char *, int64_t);
/* Extent of a dimension of the tensor behind a parameter, as it lies in memory. */
const char *tensor_extent(Fn *, const Tensor *, int dim); /* as it lies in memory */
const char *param_extent(Fn *, int param, int dim);

#endif
