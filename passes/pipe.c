/* pipe.c: a kernel that the machine has a pipelined schedule for is computed by that: copies, products and stores of
   different tiles at the same time.
   Takes: value form without flags. Gives: the same, kernels marked with their schedule, its tiles in their grids. */
#include "passes/pipe.h"

void pipe_refuse(PassContext *c, const Kernel *k, const char *why) {
    remark(c, "pipe", k->loc, "'%s': no schedule: %s", k->name, why);
}

void pipe_mark(PassContext *c, Kernel *k, const MatrixSchedule *s, int row, int column) {
    k->schedule = name_of(c->m->names, s->name);
    k->range.p[row].size = s->rows;
    k->range.p[column].size = s->columns;
    remark(c, "pipe", k->loc, "'%s': the schedule '%s', tiles of %d x %d", k->name, s->name, s->rows, s->columns);
}

static bool pipe_run(PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    for (int i = 0; target && !c->options->emulated && i < c->m->kernel.n; i++) {
        pipe_product(c, c->m->kernel.p[i], target);
        pipe_attention(c, c->m->kernel.p[i], target);
    }
    return true;
}

const Pass pass_pipe = {
    .name = "pipe",
    .help = "compute kernels by the machine's pipelined schedules, where it has one",
    .needs = 0,
    .breaks = FORM_FLAGS | FORM_LAYOUT,
    .run = pipe_run,
};
