/* run_odd.h: NaN and infinities: how often a tensor has them, and where they come from. */
#ifndef TILEC_DRIVER_RUN_ODD_H
#define TILEC_DRIVER_RUN_ODD_H

#include "driver/run.h"

void print_values(const Array *); /* least .. most of the finite ones; the number of others and the first of these */
/* Says which kernel first stored NaN or an infinity. before: the arguments as they were. */
void run_locate_odd(const Run *, const Array *before);

#endif
