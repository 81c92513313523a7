/* print_kernel.c: heads of kernels as text. */
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
    if (r->starts) {
        text_add(&p->out, " groups ");
        print_param_name(p, r->starts - 1);
    }
    if (r->aligned) text_printf(&p->out, " aligned %d", r->aligned);
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
    print_plan(p, &k->plan);
    if (k->form == KERNEL_LAYOUT) text_add(&p->out, " form layout");
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
    if (k->roles) print_roles(p, k->roles);
    print_region(p, k->body);
    text_add(&p->out, "\n");
}
