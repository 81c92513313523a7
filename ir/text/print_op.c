/* print_op.c: operations and regions as text. */
#include "ir/roles.h"
#include "ir/text/print.h"

static void print_values(Printer *p, Value *const *v, int n) {
    for (int i = 0; i < n; i++) {
        if (i) text_add(&p->out, ", ");
        print_value(p, v[i]);
    }
}

static void print_results(Printer *p, const Op *op) {
    print_values(p, op->res.p, op->res.n);
    if (op->res.n) text_add(&p->out, " = ");
}

static void print_value_type(Printer *p, const Value *v) {
    print_type(p, v->type);
    if (v->layout) text_printf(&p->out, " #%d", v->layout - 1);
}

static void print_types(Printer *p, const Op *op) {
    for (int i = 0; i < op->res.n; i++) {
        text_add(&p->out, i ? ", " : " : ");
        print_value_type(p, op->res.p[i]);
    }
}

static void print_immediate(Printer *p, const Op *op) {
    Elem e = op->res.n ? op->res.p[0]->type.elem : ELEM_I64;
    text_add(&p->out, " ");
    if (elem_is_float(e))
        print_float(p, op->fimm);
    else if (e == ELEM_BOOL && (op->imm == 0 || op->imm == 1))
        text_add(&p->out, op->imm ? "true" : "false");
    else
        text_printf(&p->out, "%lld", (long long)op->imm);
}

static void print_index(Printer *p, const Op *op) {
    const int has = op_attributes(op->kind);
    text_add(&p->out, " ");
    if (has & HAS_AXIS)
        print_symbol(p, op->axis, true);
    else if (has & HAS_SIZE)
        print_size(p, op->size);
    else
        print_range_name(p, op->range);
}

static void print_by(Printer *p, const Op *op) {
    if (!op->by) return;
    text_add(&p->out, " by ");
    print_name(p, op->by);
}

static void print_operands(Printer *p, const Op *op) {
    if (op->arg.n) text_add(&p->out, " ");
    print_values(p, op->arg.p, op->arg.n);
    for (int i = 0; i < op->nover; i++) {
        text_add(&p->out, i ? ", " : " over ");
        print_range_name(p, op->over[i]);
    }
    if (op->deferred) text_add(&p->out, " deferred");
    print_by(p, op);
}

static void print_place(Printer *p, const Op *op) {
    bool ranked = op->param >= 0 && op->param < p->k->param.n && p->k->param.p[op->param].ranks >= 0;
    print_param_name(p, op->param);
    for (int i = 0; i < op->sub.n; i++) {
        text_add(&p->out, i == 0 ? "[" : i == 1 && ranked ? "; " : ", ");
        print_affine(p, &op->sub.p[i].lo);
    }
    if (op->sub.n) text_add(&p->out, "]");
}

static void print_access(Printer *p, const Op *op) {
    text_add(&p->out, " ");
    if (op->kind == OP_GROUP) {
        print_range_name(p, op->range);
        text_add(&p->out, ", ");
    }
    if (op->kind == OP_STORE) {
        print_values(p, op->arg.p, op->arg.n);
        text_add(&p->out, ", ");
    }
    print_place(p, op);
    static const char *const modes[] = {[STORE_SET] = "", [STORE_ADD] = " add", [STORE_UNIQUE] = " unique", [STORE_SUM] = " sum"};
    text_add(&p->out, modes[op->mode]);
    if (op->pipelined) text_add(&p->out, " pipelined");
    print_by(p, op);
}

static void print_carried(Printer *p, const Op *op) {
    const Region *body = op->region[0];
    for (int i = 0; body && i < body->arg.n; i++) {
        text_add(&p->out, i ? ", " : " with (");
        print_value(p, body->arg.p[i]);
        text_add(&p->out, " = ");
        print_value(p, i + 2 < op->arg.n ? op->arg.p[i + 2] : NULL);
        text_add(&p->out, " : ");
        print_value_type(p, body->arg.p[i]);
    }
    if (body && body->arg.n) text_add(&p->out, ")");
}

static void print_merge(Printer *p, const Region *r) {
    text_add(&p->out, " merge (");
    for (int i = 0; i < r->arg.n; i++) {
        if (i) text_add(&p->out, 2 * i == r->arg.n ? "; " : ", ");
        print_value(p, r->arg.p[i]);
    }
    text_add(&p->out, ")");
    print_region(p, r);
}

static void print_for(Printer *p, const Op *op) {
    text_add(&p->out, " ");
    print_range_name(p, op->range);
    if (op->range >= 0 && op->range < p->nrange) print_range_form(p, &p->k->range.p[op->range]);
    text_add(&p->out, " in ");
    print_value(p, op->arg.n > 0 ? op->arg.p[0] : NULL);
    text_add(&p->out, " .. ");
    print_value(p, op->arg.n > 1 ? op->arg.p[1] : NULL);
    text_add(&p->out, op->down ? " down" : "");
    text_add(&p->out, op->unrolled ? " unrolled" : "");
    if (op->late) text_printf(&p->out, " late %d", op->late);
    print_carried(p, op);
    if (op->turn.n) print_turns(p, op);
    print_region(p, op->region[0]);
    if (op->region[1]) print_merge(p, op->region[1]);
}

static void print_if(Printer *p, const Op *op) {
    print_operands(p, op);
    print_types(p, op);
    print_region(p, op->region[0]);
    if (!op->region[1]) return;
    text_add(&p->out, " else");
    print_region(p, op->region[1]);
}

static bool span_is_zero(const Span *s) {
    return affine_is_const(&s->lo) && affine_is_const(&s->hi) && s->lo.c == 0 && s->hi.c == 0;
}

static void print_sync(Printer *p, const Op *op) {
    text_printf(&p->out, " !%d", op->flag);
    for (int i = 0; i < op->sub.n; i++) {
        text_add(&p->out, i ? ", " : "[");
        print_span(p, &op->sub.p[i]);
    }
    if (op->sub.n) text_add(&p->out, "]");
    if (!span_is_zero(&op->dest)) {
        text_add(&p->out, op->kind == OP_WAIT ? " from " : " to ");
        print_span(p, &op->dest);
    }
    if (op->lag) text_printf(&p->out, " lag %lld", (long long)op->lag);
    text_printf(&p->out, " %s%s%s", text_scope[op->scope == SCOPE_SYSTEM], op->order == ORDER_RELAXED ? " relaxed" : "",
                op->equal ? " equal" : "");
}

static void print_control(Printer *p, const Op *op) {
    if (op->kind == OP_FOR)
        print_for(p, op);
    else if (op->kind == OP_IF)
        print_if(p, op);
    else
        print_operands(p, op);
}

/* What roles have; elsewhere the operation is no more than its word. */
static void print_role_op(Printer *p, const Op *op) {
    const int has = op_attributes(op->kind);
    print_operands(p, op);
    if (op->kind == OP_PART) print_part(p, op);
    if (has & HAS_PARAM) {
        text_add(&p->out, " ");
        print_place(p, op);
    }
    if (has & HAS_SLOT) print_slot(p, op);
    if (has & HAS_RING) print_ring_name(p, op->ring);
    if (op->region[0]) print_region(p, op->region[0]);
}

static void print_op(Printer *p, const Op *op) {
    OpClass class = op_info[op->kind].class;
    print_label(p, op);
    print_line(p);
    print_results(p, op);
    text_add(&p->out, op_info[op->kind].text);
    switch (class) {
    case CLASS_CONST: print_immediate(p, op); break;
    case CLASS_INDEX: print_index(p, op); break;
    case CLASS_MEMORY: print_access(p, op); break;
    case CLASS_SYNC: print_sync(p, op); break;
    case CLASS_CONTROL: print_control(p, op); return;
    case CLASS_ROLE: print_role_op(p, op); break;
    default: print_operands(p, op);
    }
    if (op->kind != OP_GET) print_types(p, op);
}

void print_ops(Printer *p, const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) print_op(p, op);
}

void print_region(Printer *p, const Region *r) {
    text_add(&p->out, " {");
    p->depth++;
    print_ops(p, r);
    p->depth--;
    print_line(p);
    text_add(&p->out, "}");
}
