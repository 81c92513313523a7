/* pipe.c: a kernel that the machine has a pipelined schedule for is computed by that: copies, products and stores of
   different tiles at the same time.
   Takes: value form without flags. Gives: the same, kernels marked with their schedule, its tiles in their grids. */
#include "codegen/schedules/pipe.h"

#include <string.h>

void pipe_refuse(PassContext *c, const Kernel *k, const char *why) {
    remark(c, "pipe", k->loc, "'%s': no schedule: %s", k->name, why);
    c->refused = why;
}

void pipe_mark(PassContext *c, Kernel *k, const MatrixSchedule *s, int row, int column) {
    k->plan.lowering = LOWER_SCHEDULE;
    k->plan.schedule = name_of(c->m->names, s->name);
    k->range.p[row].size = s->rows;
    k->range.p[column].size = s->columns;
    remark(c, "pipe", k->loc, "'%s': the schedule '%s', tiles of %d x %d", k->name, s->name, s->rows, s->columns);
}

const MatrixTarget *pipe_target(const PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    return target && !pass_is_off(c->options, &pass_pipe) ? target : NULL;
}

void pipe_kernel(PassContext *c, Kernel *k) {
    const MatrixTarget *target = pipe_target(c);
    if (!target) return;
    pipe_product(c, k, target);
    if (!pipe_decode(c, k, target)) pipe_attention(c, k, target);
}

int64_t pipe_parts_asked(const PassContext *c, const Kernel *k) {
    if (pass_is_off(c->options, &pass_split)) return 1;
    return c->options->split ? c->options->split : k->plan.parts;
}

/* Workgroups of a cluster share sums without that. */
int64_t pipe_parts(PassContext *c, const Kernel *k) {
    const MatrixTarget *t = k->plan.schedule ? pipe_target(c) : NULL;
    const MatrixSchedule *s = t ? matrix_schedule(t, k->plan.schedule, 0) : NULL;
    if (!s || s->cluster) return 1;
    if (!strcmp(k->plan.schedule, "skinny")) return pipe_skinny_parts(c, k, t);
    return strcmp(k->plan.schedule, "decode") ? 1 : pipe_decode_parts(c, k, t);
}

/* The schedule that it will have when the passes before this one have seen it, group among them or not; NULL: none. */
static Name schedule_of(PassContext *c, const Kernel *k, bool group) {
    if (!pipe_target(c)) return NULL;
    PassContext t = pass_trial(c);
    Kernel *copy = kernel_clone(t.m, k);
    static_block_kernel(t.m, copy);
    if (group && !pass_is_off(c->options, &pass_fold_gqa)) fold_gqa_kernel(&t, copy);
    pad_operands(&t, copy);
    pipe_kernel(&t, copy);
    return copy->plan.schedule;
}

bool pipe_would_take(PassContext *c, const Kernel *k) { return schedule_of(c, k, true) != NULL; }

bool pipe_attends(PassContext *c, const Kernel *k) {
    Name schedule = schedule_of(c, k, false);
    return schedule && strcmp(schedule, "attention") == 0;
}

static bool pipe_run(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n; i++) {
        c->refused = NULL;
        pipe_kernel(c, c->m->kernel.p[i]);
        if (pipe_target(c)) pipe_warn(c, c->m->kernel.p[i]);
    }
    return true;
}

const Pass pass_pipe = {
    .name = "pipe",
    .help = "compute kernels by the machine's pipelined schedules",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = pipe_run,
};
