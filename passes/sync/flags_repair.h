/* flags_repair.h: repairs of flags that the proof refuses. */
#ifndef TILEC_PASSES_SYNC_FLAGS_REPAIR_H
#define TILEC_PASSES_SYNC_FLAGS_REPAIR_H

#include "passes/sync/flags.h"
#include "passes/proof/symbolic.h"

/* Makes families or edges coarser, and adds waits of later generations, until the program is proved. */
void flags_repair(Flags *);
/* Removes waits that are proved without them, and flags that nobody waits for. */
void flags_prune(Flags *);
/* Flags between all nodes of all programs that depend on each other; whole: bulk-synchronously. */
bool flags_synchronise(PassContext *, bool whole);

#endif
