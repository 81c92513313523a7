/* print.c: modules and programs as text that parse.c reads back.
   Takes: any module. Gives: the text form of docs/reference/ir.md. */
#include "ir/text/print.h"

static void print_places(Printer *p, const Tensor *t) {
    for (int i = 0; i < p->m->axis.n && i < MAX_AXES; i++) {
        const Place *place = &t->place[i];
        if (place->kind == PLACE_R) continue;
        const char *part = place->op == PART_SUM ? " sum " : " max ";
        text_add(&p->out, place->kind == PLACE_S ? " split " : place->kind == PLACE_V ? " varies " : part);
        print_symbol(p, i, true);
    }
}

static void print_tensor(Printer *p, const Program *g, Name *name, int i) {
    const Tensor *t = &g->tensor.p[i];
    print_line(p);
    text_printf(&p->out, "%s %%", text_role[t->role]);
    print_name(p, name[i]);
    text_printf(&p->out, ": %s", elem_text(t->elem));
    if (t->ndim) {
        text_add(&p->out, "[");
        print_sizes(p, t->dim, t->ndim);
        text_add(&p->out, "]");
    }
    print_places(p, t);
    if (t->checked) {
        text_add(&p->out, " in ");
        print_size(p, t->least);
        text_add(&p->out, " .. ");
        print_size(p, t->past);
    }
    if (t->symmetric >= 0) {
        text_add(&p->out, " symmetric ");
        print_symbol(p, t->symmetric, true);
    }
    if (t->slots != 1) text_printf(&p->out, " slots %d", t->slots);
    if (t->packet) text_add(&p->out, " packet");
}

static void print_tensor_name(Printer *p, const Program *g, Name *name, int i) {
    text_add(&p->out, "%");
    print_name(p, i >= 0 && i < g->tensor.n ? name[i] : NULL);
}

static void print_io(Printer *p, const Program *g, Name *name) {
    for (int i = 0; i < g->io.n; i++) {
        if (i == 0) print_line(p);
        text_add(&p->out, i ? ", " : "io ");
        print_tensor_name(p, g, name, g->io.p[i]);
    }
}

static void print_group(Printer *p, const FlagDim *d) {
    print_size(p, d->of);
    text_printf(&p->out, " by %lld ", (long long)d->size);
    if (d->ragged) {
        text_add(&p->out, "and ");
        print_size(p, d->groups);
        text_add(&p->out, " ");
    }
    if (d->group == 1)
        text_add(&p->out, "keep");
    else if (d->group == GROUP_DROP)
        text_add(&p->out, "drop");
    else if (d->group == GROUP_DEST)
        text_add(&p->out, "dest");
    else
        text_printf(&p->out, "/ %lld", (long long)d->group);
}

static void print_flag(Printer *p, const Flag *f, int i) {
    print_line(p);
    text_printf(&p->out, "flag !%d ", i);
    print_name(p, f->name);
    text_printf(&p->out, ": %d -> %d %s", f->producer, f->consumer, text_scope[f->scope == SCOPE_SYSTEM]);
    if (f->axis >= 0) {
        text_add(&p->out, " over ");
        print_symbol(p, f->axis, true);
    }
    for (int d = 0; d < f->dim.n; d++) {
        text_add(&p->out, d ? ", " : " (");
        print_group(p, &f->dim.p[d]);
    }
    if (f->dim.n) text_add(&p->out, ")");
    if (f->arrivals) text_printf(&p->out, " arrivals %lld", (long long)f->arrivals);
}

static int slices_of(const Program *g, const Arg *a) {
    int ndim = a->tensor >= 0 && a->tensor < g->tensor.n ? g->tensor.p[a->tensor].ndim : 0;
    if (a->lead > 0) return ndim;
    for (int i = 0; i < ndim; i++)
        if (a->slice[i] >= 0) return ndim;
    return 0;
}

static void print_arg(Printer *p, const Program *g, Name *name, const Arg *a) {
    int n = slices_of(g, a);
    if (a->view) text_add(&p->out, "view ");
    print_tensor_name(p, g, name, a->tensor);
    for (int i = 0; i < n; i++) {
        text_add(&p->out, i ? ", " : "[");
        if (i < a->lead)
            text_printf(&p->out, "%lld", (long long)a->at[i]);
        else if (a->slice[i] < 0)
            text_add(&p->out, "*");
        else
            print_axes(p, a->slice[i]);
    }
    if (n) text_add(&p->out, "]");
}

static void print_kernel_name(Printer *p, const Kernel *k) {
    bool listed = k && k->id >= 0 && k->id < p->m->kernel.n && p->m->kernel.p[k->id] == k;
    print_name(p, listed ? p->kernel[k->id] : NULL);
}

static void print_call(Printer *p, const Program *g, Name *name, const Node *n) {
    text_add(&p->out, "call @");
    print_kernel_name(p, n->kernel);
    text_add(&p->out, "(");
    for (int i = 0; i < n->arg.n; i++) {
        if (i) text_add(&p->out, ", ");
        print_arg(p, g, name, &n->arg.p[i]);
    }
    text_add(&p->out, ")");
    for (int i = 0; i < n->otherwise.n; i++) {
        text_add(&p->out, " or @");
        print_kernel_name(p, n->otherwise.p[i]);
    }
}

static void print_collective(Printer *p, const Program *g, Name *name, const Node *n) {
    const CollInfo *info = &coll_info[n->coll];
    text_printf(&p->out, "%s ", info->name);
    print_tensor_name(p, g, name, n->src);
    text_add(&p->out, " -> ");
    print_tensor_name(p, g, name, n->dst);
    text_add(&p->out, " along ");
    print_symbol(p, n->axis, true);
    text_printf(&p->out, " dim %d", n->dim);
    if (info->gathers && info->splits) text_printf(&p->out, " to %d", n->dim2);
    if (info->argument) text_printf(&p->out, " %s %lld", coll_argument_text[info->argument], (long long)n->shift);
}

static void print_node(Printer *p, const Program *g, Name *name, int i) {
    const Node *n = g->node.p[i];
    print_line(p);
    text_printf(&p->out, "%d: ", i);
    if (n->kind == NODE_CALL)
        print_call(p, g, name, n);
    else
        print_collective(p, g, name, n);
    if (n->when) {
        text_add(&p->out, " when ");
        print_tensor_name(p, g, name, n->when - 1);
    }
    if (n->form != COMM_AUTO) text_printf(&p->out, " form %s", text_form[n->form]);
}

static void print_program(Printer *p, const Program *g) {
    NameMap taken = {.arena = p->scratch};
    Name *name = ARENA_ARRAY(p->scratch, Name, g->tensor.n + 1);
    text_add(&p->out, p->out.n ? "\nprogram @" : "program @");
    print_name(p, g->name);
    text_add(&p->out, " {");
    p->depth++;
    for (int i = 0; i < g->tensor.n; i++) {
        Name own = g->tensor.p[i].name;
        name[i] = name_claim(&taken, p->m->names, own ? own : name_of(p->m->names, "_"));
        print_tensor(p, g, name, i);
    }
    print_io(p, g, name);
    for (int i = 0; i < g->flag.n; i++) print_flag(p, &g->flag.p[i], i);
    for (int i = 0; i < g->node.n; i++) print_node(p, g, name, i);
    p->depth--;
    text_add(&p->out, "\n}\n");
}

static void print_head(Printer *p) {
    const Module *m = p->m;
    if (m->form & FORM_FLAGS) text_add(&p->out, "form flags\n");
    if (m->form & FORM_LAUNCHES) text_add(&p->out, "form launches\n");
    for (int i = 0; i < m->symbol.n; i++) {
        text_add(&p->out, "dim ");
        print_symbol(p, i, false);
        text_printf(&p->out, " <= %lld\n", (long long)m->symbol.p[i].bound);
    }
    for (int i = 0; i < m->axis.n; i++) {
        text_add(&p->out, "mesh ");
        print_symbol(p, i, true);
        text_printf(&p->out, " = %lld\n", (long long)m->axis.p[i].ranks);
    }
}

static void print_named(Printer *p, Name name, const Kernel *k) {
    text_add(&p->out, "kernel @");
    print_name(p, name);
    text_add(&p->out, "(");
    print_kernel(p, k);
}

static void print_kernels(Printer *p) {
    NameMap taken = {.arena = p->scratch};
    int n = p->m->kernel.n;
    p->kernel = ARENA_ARRAY(p->scratch, Name, n + 1);
    for (int i = 0; i < n; i++) {
        Name own = p->m->kernel.p[i]->name;
        p->kernel[i] = name_claim(&taken, p->m->names, own ? own : name_of(p->m->names, "_"));
        if (p->out.n) text_add(&p->out, "\n");
        print_named(p, p->kernel[i], p->m->kernel.p[i]);
    }
}

static void print_all(Printer *p) {
    print_head(p);
    print_kernels(p);
    for (int i = 0; i < p->m->program.n; i++) print_program(p, p->m->program.p[i]);
}

char *module_text(const Module *m, Arena *a) {
    Printer p = {.m = m, .scratch = arena_new()};
    print_all(&p);
    char *text = arena_text(a, text_str(&p.out), p.out.n);
    text_free(&p.out);
    arena_free(p.scratch);
    return text;
}

static void print_end(Printer *p, FILE *f) {
    fwrite(text_str(&p->out), 1, p->out.n, f);
    text_free(&p->out);
    arena_free(p->scratch);
}

void module_print(const Module *m, FILE *f) {
    Printer p = {.m = m, .scratch = arena_new()};
    print_all(&p);
    print_end(&p, f);
}

void kernel_print(const Module *m, const Kernel *k, FILE *f) {
    Printer p = {.m = m, .scratch = arena_new()};
    print_named(&p, k->name, k);
    print_end(&p, f);
}
