/* relation_read.h: sets of isl from the text of relation_text.h. */
#ifndef TILEC_IR_POLY_RELATION_READ_H
#define TILEC_IR_POLY_RELATION_READ_H

#include <isl/set.h>
#include <stdbool.h>

/* What isl_set_read_from_str gives, in a fraction of its time. NULL: isl gives up, or memory ran out. */
isl_set *relation_read(isl_ctx *, const char *text);
/* false: the text has more than comparisons of affine expressions, quotients, minima and maxima, joined by `and`, `or`
 * and `exists`. */
bool relation_read_affine(isl_ctx *, const char *text, isl_set **);

#endif
