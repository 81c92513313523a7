/* pipe.c: a kernel that the machine has a pipelined schedule for is computed by that: copies, products and stores of
   different tiles at the same time.
   Takes: value form without flags. Gives: the same, kernels with their plan, its tiles in their grids. */
#include "passes/plan/plan.h"

static void pipe_kernel(PassContext *c, Kernel *k) {
    Planned p = plan_of(c, k);
    if (!p.why.words) {
        plan_variants(c, k, &p);
        Planned last = plan_unaligned(c, k, &p);
        if (last.loose || plan_needs_another(k, &last.plan)) plan_stand_by(c->m, k, plan_plain(c, k, &last.plan));
        plan_apply(k, &p);
        remark(c, "pipe", k->loc, "'%s': %s, predicted %.3g us", k->name, p.how, 1e6 * p.seconds);
    } else if (*p.why.words)
        remark(c, "pipe", k->loc, "'%s': no schedule: %s", k->name, p.why.words);
    pipe_warn(c, k, p.why);
}

static bool pipe_run(PassContext *c) {
    int n = matrix_target(c->options->target) ? c->m->kernel.n : 0; /* those that stand by come behind them */
    for (int i = 0; i < n; i++) pipe_kernel(c, c->m->kernel.p[i]);
    return true;
}

const Pass pass_pipe = {
    .name = "pipe",
    .help = "compute kernels by the machine's pipelined schedules",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .plans = true,
    .run = pipe_run,
};
