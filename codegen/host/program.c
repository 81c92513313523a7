/* program.c: a program as C: its kernels, and the function that finds a ticket's kernel and tile. */
#include "codegen/abi/abi.h"
#include "codegen/host/host.h"
#include "codegen/text/print.h"
#include "codegen/text/argument.h"
#include "codegen/text/share.h"
#include "codegen/text/size.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    Arena *arena;
    const Module *m;
    const Program *p;
    Memory memory;
    CNames names;   /* of the file */
    NodeText *text; /* by node */
} Writer;

/* ---- kernels: one function for all nodes whose texts are equal ---- */

static bool write_node(void *of, int call, const char *function, CNames *file, Fields *fields, Text *to) {
    Writer *w = of;
    (void)file;
    return kernel_emit(to, &w->memory, w->arena, w->m, w->p, w->p->node.p[call], function, fields);
}

static bool has_collectives(const Writer *w) {
    bool found = false;
    for (int i = 0; i < w->p->node.n; i++) {
        const Node *n = w->p->node.p[i];
        if (n->kind == NODE_CALL) continue;
        diag_error(w->m->diags, n->loc, "unsupported", "the host's code generator has no collectives of its own");
        diag_note(w->m->diags, n->loc, "the pass 'comm' turns them into kernels");
        found = true;
    }
    return found;
}

static bool emit_functions(Writer *w, Text *to) {
    const TextWriter writer = {
        .arena = w->arena, .call = w->p->node.p, .n = w->p->node.n, .names = &w->names, .of = w, .write = write_node};
    return !has_collectives(w) && texts_write(&writer, to, w->text);
}

/* ---- tickets ---- */

static void emit_call(const Writer *w, Fn *f, const Node *n) {
    f->node = n;
    Text call = {0};
    const NodeText *text = &w->text[n->id];
    text_printf(&call, "%s(t", text->function);
    for (int i = 0; i < n->arg.n; i++) text_printf(&call, ", %s", argument_text(f, n, i));
    for (int i = 0; text->fields && i < text->fields->field.n; i++)
        text_printf(&call, ", %" PRId64, text->fields->field.p[i].number);
    for (int i = 0; i < n->kernel->ngrid; i++)
        if (n->kernel->range.p[i].kind != RANGE_WHOLE)
            text_printf(&call, ", %s", grid_index(f, n->kernel, i, "ticket")->text);
    fn_line(f, "if (ticket < %s) return %s);", cexpr_operand(f, node_tasks(f, n->kernel))->text, text_str(&call));
    text_free(&call);
}

static void emit_name(const Writer *w, Fn *f, const Node *n) {
    fn_line(f, "if (ticket < %s) return \"%s\";", cexpr_operand(f, node_tasks(f, n->kernel))->text,
            c_string(w->arena, n->kernel->name));
}

/* Tasks of the nodes lo .. hi. */
static const CExpr *tasks_between(const Writer *w, Fn *f, int lo, int hi) {
    const CExpr *sum = cexpr_number(f, 0);
    for (int i = lo; i < hi; i++) sum = cexpr_add(f, node_tasks(f, w->p->node.p[i]->kernel), sum);
    return sum;
}

/* Tests of a ticket in a row, before they are halved; chosen: no measurement is recorded. */
enum { IN_A_ROW = 8 };

/* Lines that return something about the node of a ticket: by halves, so that a long program finds it as fast, and the
   last few nodes one after the other. */
static void find_node(const Writer *w, Fn *f, int lo, int hi, void (*found)(const Writer *, Fn *, const Node *)) {
    int64_t n;
    int middle = (lo + hi) / 2;
    const CExpr *first = hi - lo > IN_A_ROW ? tasks_between(w, f, lo, middle) : NULL;
    if (first && cexpr_const(first, &n)) {
        fn_line(f, "if (ticket < %s) {", first->text);
        f->indent++;
        find_node(w, f, lo, middle, found);
        f->indent--;
        fn_line(f, "}");
        fn_line(f, "ticket -= %s;", first->text);
        find_node(w, f, middle, hi, found);
        return;
    }
    for (int i = lo; i < hi; i++) {
        found(w, f, w->p->node.p[i]);
        if (i + 1 < hi) fn_line(f, "ticket -= %s;", node_tasks(f, w->p->node.p[i]->kernel)->text);
    }
}

static void emit_tasks(Writer *w, Text *to) {
    Fn f = fn_new(&c_backend, w->arena, w->m, w->p, &w->memory);
    c_name(&f.names, "ticket");
    fn_line(&f, "(void)t;");
    fn_line(&f, "return %s;", tasks_between(w, &f, 0, w->p->node.n)->text);
    fn_print(&f, to, fn_text(&f, "static int64_t %s_tasks(const tile_task *t)", w->p->name));
}

static void emit_task(Writer *w, Text *to) {
    Fn f = fn_new(&c_backend, w->arena, w->m, w->p, &w->memory);
    c_name(&f.names, "ticket");
    find_node(w, &f, 0, w->p->node.n, emit_call);
    fn_line(&f, "return 0;");
    fn_print(&f, to, fn_text(&f, "static int %s_task(const tile_task *t, int64_t ticket)", w->p->name));
}

static void emit_task_name(Writer *w, Text *to) {
    Fn f = fn_new(&c_backend, w->arena, w->m, w->p, &w->memory);
    c_name(&f.names, "ticket");
    fn_line(&f, "(void)t;");
    find_node(w, &f, 0, w->p->node.n, emit_name);
    fn_line(&f, "return \"\";");
    fn_print(&f, to, fn_text(&f, "static const char *%s_task_name(const tile_task *t, int64_t ticket)", w->p->name));
}

static const char *const suffix[] = {"",     "_program", "_tasks",  "_task", "_task_name", "_workspace", "_open",
                                     "_run", "_close",   "_config", "_args", "_arg",       "_dim",       "_flag"};

/* Its name begins those of its functions and files. */
static bool is_identifier(const Module *m, const Program *p) {
    if (strcmp(c_identifier(m->arena, p->name), p->name) == 0) return true;
    diag_error(m->diags, p->loc, "unsupported", "the name of program '%s' is no C identifier", p->name);
    return false;
}

static bool emit_host(Writer *w, Text *to, bool alone) {
    if (!emit_functions(w, to)) return false;
    emit_tasks(w, to);
    emit_task(w, to);
    if (!alone) emit_task_name(w, to);
    return true;
}

static const char *targets_text(Arena *a, const Targets *t) {
    const char *s = t->host ? "the host" : "";
    for (int i = 0; i < t->ngpu; i++)
        s = arena_format(a, "%s%s%s", s, !*s ? "" : i + 1 < t->ngpu ? ", " : " and ", t->gpu[i].target);
    return s;
}

static void emit_head(const Writer *w, Text *to, const Targets *t) {
    const char *name = w->p->name;
    text_printf(to, "/* %s.c: the program %s for %s, made by tilec. */\n", name, name, targets_text(w->arena, t));
    text_printf(to, "#include \"%s.h\"\n\n", name);
    if (t->alone && !alone_has_floats(w->p)) text_add(to, "#define TILE_INTEGERS\n");
    text_printf(to, "#include \"device/%s.h\"\n", t->alone ? "tile_alone" : "tile_host");
    text_add(to, t->ngpu ? "#include \"device/tile_image.h\"\n\n" : "\n");
}

/* Nobody takes records. */
static bool tells_nobody(const Module *m, const Program *p, bool alone) {
    const Sites site = print_sites(m->arena, p);
    if (!alone || !site.n) return false;
    diag_error(m->diags, site.p[0]->loc, "unsupported", "not supported yet: %s without the runtime", op_phrase(site.p[0]->kind));
    return true;
}

bool c_emit(const Module *m, const Program *program, const Targets *t, Text *source, Text *header, Text *manifest) {
    Program named = *program, *p = &named;
    Writer w = {.arena = arena_new(), .m = m, .p = p};
    int before = m->diags->errors;
    named.name = c_program_name(w.arena, program);
    w.names.arena = w.arena;
    w.text = ARENA_ARRAY(w.arena, NodeText, p->node.n + 1);
    c_name(&w.names, "ticket");
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++)
        c_name(&w.names, arena_format(w.arena, "%s%s", p->name, suffix[i]));
    emit_head(&w, source, t);
    if (tells_nobody(m, p, t->alone)) return arena_free(w.arena), false;
    bool (*make)(Arena *, const Module *, const Program *, Memory *) = t->alone ? memory_make_alone : memory_make;
    bool good = is_identifier(m, p) && make(w.arena, m, p, &w.memory) && (!t->host || emit_host(&w, source, t->alone));
    if (good && t->alone) {
        good = alone_source(source, w.arena, m, p, &w.memory);
        alone_header(header, w.arena, m, p, &w.memory);
        manifest_write(manifest, w.arena, m, p, &w.memory, t, text_hash(source->p, source->n));
    } else if (good) {
        if (t->ngpu) launch_source(source, w.arena, &c_backend, m, p, &w.memory, t);
        uint64_t hash = public_source(source, w.arena, m, p, &w.memory, t);
        public_header(header, w.arena, m, p);
        manifest_write(manifest, w.arena, m, p, &w.memory, t, hash);
    }
    arena_free(w.arena);
    return good && m->diags->errors == before;
}
