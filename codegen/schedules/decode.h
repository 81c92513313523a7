/* decode.h: which of a machine's schedules of attention of a few rows a kernel takes: how many workgroups share a task.
 */
#ifndef TILEC_CODEGEN_SCHEDULES_DECODE_H
#define TILEC_CODEGEN_SCHEDULES_DECODE_H

#include "ir/size.h"
#include "codegen/schedules/match.h"
#include "target/matrix.h"

/* Workgroups of a cluster share a task; rows of the machine's table come with fewer of them first. overlaps: the next
   launch's find room beside those of this one. NULL: the machine has none for so wide rows. */
const MatrixSchedule *decode_schedule(const MatrixTarget *, const Module *, const Kernel *, const Attention *,
                                      bool *overlaps);

#endif
