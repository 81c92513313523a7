/* relation_deps.h: printing the dependences between the nodes of every program. */
#ifndef TILEC_IR_POLY_RELATION_DEPS_H
#define TILEC_IR_POLY_RELATION_DEPS_H

#include "ir/ir.h"

/* One line per pair of nodes, kind and tensor, with the number of pairs of tasks where sizes are numbers. */
void deps_print(const Module *, FILE *);

#endif
