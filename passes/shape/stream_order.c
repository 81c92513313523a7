/* stream_order.c: every node is a launch of its own, in order, on one stream of its rank: what a machine promises that runs
   a node's tasks when all of the nodes before it have ended. Takes: value form without flags, before or after layout.
   Gives: the same, in the form `launches`: flags are for tasks of one node and for ranks. */
#include "passes/pass.h"
#include "target/matrix.h"

/* On a machine whose launches begin while the one before ends. Of several ranks only launches do that wait for each
   tile of the one before (codegen/gpu/beside.c). */
static void overlap_warn(const PassContext *c, const Program *p) {
    if (p->node.n < 2 || mesh_ranks(c->m) == 1) return;
    diag_perf(c->m->diags, p->loc, "apart-launches",
              "'%s' has several ranks: its %d launches do not overlap, but those that wait for tiles of the one before",
              p->name, p->node.n);
}

static bool stream_order_run(PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    for (int i = 0; i < c->m->program.n && target && target->dependent; i++) overlap_warn(c, c->m->program.p[i]);
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
