/* print.h: records of `print` and assertions: their texts in a program, and the lines that leave them. */
#ifndef TILEC_CODEGEN_TEXT_PRINT_H
#define TILEC_CODEGEN_TEXT_PRINT_H

#include "codegen/text/nest.h"

typedef VEC(const Op *) Sites;

int print_count(const Program *);
Sites print_sites(Arena *, const Program *); /* by number: in the order of calls, then of statements */
int64_t print_site(const Program *, int node, const Op *);
void print_lines(Nest *, const Op *, const char *exists); /* in loops over its tile's elements; exists: of one, or NULL */

#endif
