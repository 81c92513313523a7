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

static const Op *load_of(const Kernel *k, int param) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_LOAD && op->param == param) return op;
    return NULL;
}

Planned arm_refused(const Kernel *k, const Product *f, int align, Reason why) {
    Planned p = plan_refused_by(why);
    p.operands = product_operands(f, p.operand);
    for (int i = 0; i < p.operands; i++) {
        const Op *load = load_of(k, p.operand[i]);
        if (rows_align(&k->param.p[p.operand[i]], align)) continue;
        p.align = align;
        if (why.fix && load && !p.why.loc.file) p.why.loc = load->loc;
    }
    return p;
}

const Reason reason_types = {.words = "its operands and result have not the types of one",
                             .fix = "two operands of one type, bf16, f16 or an 8-bit float, and a result of it or f32: "
                                    "convert them before, bf16(x)"};
const Reason reason_rows = {.words = "rows are not multiples of 16 bytes",
                            .fix = "pad the rows: to multiples of 8 elements of 16 bits, of 16 of 8 bits"};
const Reason reason_tile = {.words = "the file of sizes wants another"};
