/* arms.c: see arms.h. */
#include "codegen/schedules/arms.h"

int64_t arm_parts_asked(const PassContext *c, const Kernel *k) {
    if (pass_is_off(c->options, &pass_split)) return 1;
    return c->options->split ? c->options->split : k->plan.parts;
}

Planned arm_named(PassContext *c, const Kernel *k, const MatrixSchedule *s) {
    Planned p = {.plan = k->plan};
    p.plan.lowering = LOWER_SCHEDULE;
    p.plan.schedule = name_of(c->m->names, s->name);
    p.plan.parts = 0;
    return p;
}

Planned arm_planned(PassContext *c, const Kernel *k, const MatrixSchedule *s, int row, int column) {
    Planned p = arm_named(c, k, s);
    planned_tile(&p, row, s->rows);
    planned_tile(&p, column, s->columns);
    p.how = arena_format(c->m->arena, "the schedule '%s', tiles of %d x %d", s->name, s->rows, s->columns);
    return p;
}

bool rows_align(const Param *p, int bytes) { return p->dim[1].c * elem_bits(p->elem) / 8 % bytes == 0; }

Planned arm_refused(const Kernel *k, const Product *f, int align, const char *why) {
    Planned p = plan_refused(why);
    p.operands = product_operands(f, p.operand);
    for (int i = 0; i < p.operands; i++)
        if (!rows_align(&k->param.p[p.operand[i]], align)) p.align = align;
    return p;
}
