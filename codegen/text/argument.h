/* argument.h: texts of a node's arguments: parts of tensors, and where those are. */
#ifndef TILEC_CODEGEN_TEXT_ARGUMENT_H
#define TILEC_CODEGEN_TEXT_ARGUMENT_H

#include "codegen/text/fn.h"

const CExpr *part_text(Fn *, const Tensor *, const Arg *); /* first element of a part, in elements of the whole */
const CExpr *packed_part_text(Fn *, const Node *, const Tensor *, const Arg *); /* its byte; refused within a byte */
const CExpr *tensor_slot(Fn *, const Tensor *); /* byte of the workspace where this generation's copy begins */
const CExpr *symmetric_text(Fn *, const Tensor *, const CExpr *first); /* the same of a part, by its first element */
const char *argument_text(Fn *, const Node *, int param); /* in functions of the host that have a tile_task *t */

#endif
