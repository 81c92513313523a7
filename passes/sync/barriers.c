/* barriers.c: the bulk-synchronous twin of flags: every node waits for all of the nodes that it depends on, on all
   ranks where memory of peers is involved. The pass runs when `flags` is off, and the tax of barriers is measured
   against its programs.
   Takes: value form without flags, no collectives. Gives: the same results; proved. */
#include "passes/sync/flags_repair.h"

static bool barriers_run(PassContext *c) { return flags_synchronise(c, true); }

const Pass pass_barriers = {
    .name = "barriers", .help = "replace the order between nodes by barriers",
    .needs = 0, .breaks = FORM_FLAGS, .run = barriers_run,
};
