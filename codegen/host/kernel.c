/* kernel.c: the C function of a kernel: one task of its grid. */
#include "codegen/text/access.h"
#include "codegen/host/host.h"
#include "codegen/text/share.h"

#include <string.h>

static bool is_written(const Param *p) { return p->out || p->inout; }

/* The same tensor is also another argument, and one of the two is written. */
static bool has_alias(const Kernel *k, const Node *n, int param) {
    for (int i = 0; i < n->arg.n; i++)
        if (i != param && n->arg.p[i].tensor == n->arg.p[param].tensor &&
            (is_written(&k->param.p[i]) || is_written(&k->param.p[param])))
            return true;
    return false;
}

static const char *param_text(Fn *f, int i) {
    const Param *p = &f->k->param.p[i];
    if (p->ranks >= 0) return fn_text(f, "const size_t %s", f->param[i]);
    const char *type = p->packet ? "tile_packet" : elem_c(p->elem);
    if (p->ndim == 0) return fn_text(f, "const %s %s", type, f->param[i]);
    /* What other ranks and tasks write between a wait and its end must not be declared unshared. */
    bool constant = !is_written(p) && !p->packet, shared = region_synchronises(f->k->body) || has_alias(f->k, f->node, i);
    if (elem_is_packed(p->elem)) type = memory_c(p->elem);
    return fn_text(f, "%s%s *%s%s", constant ? "const " : "", type, shared ? "" : "restrict ", f->param[i]);
}

/* Columns of a line of emitted text: docs and code have at most 120. */
enum { WIDTH = 118 };

/* Appends a parameter, on a new line where this one is full; gives the column after it. */
static int text_line(Text *to, int column, const char *text) {
    int n = (int)strlen(text);
    bool full = column && column + n + 2 > WIDTH;
    if (column) text_add(to, full ? ",\n        " : ", ");
    text_add(to, text);
    return (full ? 8 : column + 2) + n;
}

/* Fields stand behind the parameters: numbers all. */
static void signature(Fn *f, Text *to, const char *name) {
    int column = text_line(to, 0, fn_text(f, "static int %s(const tile_task *t", name));
    for (int i = 0; i < f->k->param.n; i++) column = text_line(to, column, param_text(f, i));
    for (int i = 0; f->fields && i < f->fields->field.n; i++)
        column = text_line(to, column, fn_text(f, "%s%s", f->fields->field.p[i].type, f->fields->field.p[i].name));
    for (int i = 0; i < f->k->ngrid; i++)
        if (f->k->range.p[i].kind != RANGE_WHOLE)
            column = text_line(to, column, fn_text(f, "int64_t %s", f->range[i].index->text));
    text_add(to, ") {\n");
}

bool kernel_emit(Text *to, Memory *l, Arena *a, const Module *m, const Program *p, const Node *n, const char *name,
                 Fields *fields) {
    Fn f = fn_new(&c_backend, a, m, p, l);
    f.k = n->kernel;
    f.node = n;
    f.fields = fields;
    name_params(&f);
    range_text_grid(&f);
    skip_missing_tasks(&f);
    hold_values(&f);
    emit_region(&f, f.k->body);
    fn_line(&f, "return 0;");
    source_comment(a, m, n->kernel, fields ? name : n->kernel->name, "", to);
    signature(&f, to, name);
    fn_head_print(&f, to);
    text_add(to, text_str(&f.body));
    text_add(to, "}\n\n");
    text_free(&f.body);
    if (f.scratch_most > l->scratch) l->scratch = f.scratch_most;
    return !f.failed;
}
