/* print_kernel.c: kernels and their bodies as text. */
#include "ir/text/print.h"

static void print_param(Printer *p, int i) {
    const Param *a = &p->k->param.p[i];
    text_add(&p->out, a->inout ? "inout " : a->out ? "out " : "");
    if (a->packet) text_add(&p->out, "packet ");
    print_param_name(p, i);
    text_printf(&p->out, ": %s", elem_text(a->elem));
    if (a->ndim == 0) return;
    text_add(&p->out, "[");
    if (a->ranks >= 0) {
        print_symbol(p, a->ranks, true);
        text_add(&p->out, "; ");
    }
    print_sizes(p, a->dim, a->ndim);
    text_add(&p->out, "]");
}

static void print_range_form(Printer *p, const Range *r) {
    if (r->kind == RANGE_POSITION) return;
    text_printf(&p->out, ": %s", r->tunable ? "auto " : "");
    if (r->kind == RANGE_WHOLE)
        text_add(&p->out, "*");
    else
        text_printf(&p->out, "%lld", (long long)r->size);
}

static void print_grid_range(Printer *p, int i) {
    const Range *r = &p->k->range.p[i];
    print_range_name(p, i);
    print_range_form(p, r);
    text_add(&p->out, " of ");
    print_size(p, r->of);
    if (r->owner >= 0) {
        text_add(&p->out, " in ");
        print_range_name(p, r->owner);
    }
    if (r->aligned) text_printf(&p->out, " aligned %d", r->aligned);
}

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

static void print_operands(Printer *p, const Op *op) {
    if (op->arg.n) text_add(&p->out, " ");
    print_values(p, op->arg.p, op->arg.n);
    for (int i = 0; i < op->nover; i++) {
        text_add(&p->out, i ? ", " : " over ");
        print_range_name(p, op->over[i]);
    }
    if (op->deferred) text_add(&p->out, " deferred");
    if (!op->by) return;
    text_add(&p->out, " by ");
    print_name(p, op->by);
}

static void print_access(Printer *p, const Op *op) {
    bool ranked = op->param >= 0 && op->param < p->k->param.n && p->k->param.p[op->param].ranks >= 0;
    text_add(&p->out, " ");
    if (op->kind == OP_STORE) {
        print_values(p, op->arg.p, op->arg.n);
        text_add(&p->out, ", ");
    }
    print_param_name(p, op->param);
    for (int i = 0; i < op->sub.n; i++) {
        text_add(&p->out, i == 0 ? "[" : i == 1 && ranked ? "; " : ", ");
        print_affine(p, &op->sub.p[i].lo);
    }
    if (op->sub.n) text_add(&p->out, "]");
    static const char *const modes[] = {[STORE_SET] = "", [STORE_ADD] = " add", [STORE_UNIQUE] = " unique", [STORE_SUM] = " sum"};
    text_add(&p->out, modes[op->mode]);
    if (op->pipelined) text_add(&p->out, " pipelined");
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

static void print_region(Printer *, const Region *); /* { .. } */

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
    print_carried(p, op);
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

static void print_op(Printer *p, const Op *op) {
    OpClass class = op_info[op->kind].class;
    print_line(p);
    print_results(p, op);
    text_add(&p->out, op_info[op->kind].text);
    switch (class) {
    case CLASS_CONST: print_immediate(p, op); break;
    case CLASS_INDEX: print_index(p, op); break;
    case CLASS_MEMORY: print_access(p, op); break;
    case CLASS_SYNC: print_sync(p, op); break;
    case CLASS_CONTROL: print_control(p, op); return;
    default: print_operands(p, op);
    }
    print_types(p, op);
}

static void print_region(Printer *p, const Region *r) {
    text_add(&p->out, " {");
    p->depth++;
    for (const Op *op = r ? r->first : NULL; op; op = op->next) print_op(p, op);
    p->depth--;
    print_line(p);
    text_add(&p->out, "}");
}

static void kernel_begin(Printer *p, const Kernel *k) {
    p->k = k;
    p->taken = (NameMap){.arena = p->scratch};
    p->ranges = (NameMap){.arena = p->scratch};
    p->nvalue = k->nvalue;
    p->nrange = k->range.n;
    p->unnamed = 0;
    p->value = ARENA_ARRAY(p->scratch, Name, k->nvalue + 1);
    p->range = ARENA_ARRAY(p->scratch, Name, k->range.n + 1);
    p->order = ARENA_ARRAY(p->scratch, int, k->range.n + 1);
    p->param = ARENA_ARRAY(p->scratch, Name, k->param.n + 1);
    for (int i = 0; i < k->param.n; i++) {
        Name name = k->param.p[i].name;
        p->param[i] = name_claim(&p->taken, p->m->names, name ? name : name_of(p->m->names, "_"));
    }
}

static void print_layouts(Printer *p, const Kernel *k) {
    if (k->schedule) text_printf(&p->out, " schedule %s", k->schedule);
    if (k->form == KERNEL_LAYOUT) text_add(&p->out, " form layout");
    if (k->waves) text_printf(&p->out, " waves %d", k->waves);
    p->depth++;
    for (int i = 0; i < k->layout.n; i++) {
        print_line(p);
        text_printf(&p->out, "layout #%d \"", i);
        layout_print(&p->out, &k->layout.p[i]);
        text_add(&p->out, "\"");
    }
    p->depth--;
}

void print_kernel(Printer *p, const Kernel *k) {
    kernel_begin(p, k);
    for (int i = 0; i < k->param.n; i++) {
        if (i) text_add(&p->out, ", ");
        print_param(p, i);
    }
    text_add(&p->out, ") each (");
    for (int i = 0; i < k->ngrid; i++) {
        if (i) text_add(&p->out, ", ");
        print_grid_range(p, i);
    }
    text_printf(&p->out, ") on %s", text_level[k->level]);
    print_layouts(p, k);
    print_region(p, k->body);
    text_add(&p->out, "\n");
}
