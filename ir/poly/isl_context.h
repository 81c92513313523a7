/* isl_context.h: isl with a budget of operations, whose exhausted memory ends the process as any other does: also where isl
   itself does not notice, and reads through NULL. */
#ifndef TILEC_IR_POLY_ISL_CONTEXT_H
#define TILEC_IR_POLY_ISL_CONTEXT_H

#include <isl/ctx.h>

isl_ctx *isl_context_open(unsigned long operations);
/* A NULL from isl means "unknown", which is safe, unless memory ran out: then this does not return. */
void isl_context_check(isl_ctx *);
void isl_context_close(isl_ctx *);

#endif
