/* stream_order.c: every node is a launch of its own, in order, on one stream of its rank: what a machine promises that runs
   a node's tasks when all of the nodes before it have ended. Takes: value form without flags, before or after layout.
   Gives: the same, in the form `launches`: flags are for tasks of one node and for ranks. */
#include "passes/pass.h"

static bool stream_order_run(PassContext *c) {
    c->m->form |= FORM_LAUNCHES;
    return true;
}

const Pass pass_stream_order = {
    .name = "stream_order",
    .help = "run each node as a launch of its own, in order",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .run = stream_order_run,
};
