/* program.c: a program as C: its kernels, and the function that finds a ticket's kernel and tile. */
#include "codegen/abi/abi.h"
#include "codegen/host/host.h"
#include "codegen/text/size.h"

#include <inttypes.h>
#include <string.h>

/* ---- kernels, one function for all nodes that see them alike ---- */

static bool same_arg(const Program *p, const Memory *l, const Arg *a, const Arg *b) {
    const Tensor *x = &p->tensor.p[a->tensor], *y = &p->tensor.p[b->tensor];
    bool same =
        (x->role == ROLE_TEMP) == (y->role == ROLE_TEMP) && x->ndim == y->ndim && l->nontemporal[x->id] == l->nontemporal[y->id];
    for (int d = 0; d < x->ndim && same; d++) same = size_equal(x->dim[d], y->dim[d]);
    return same;
}

/* Repeated tensors decide which pointers are restricted. */
static bool same_aliases(const Node *a, const Node *b) {
    for (int i = 0; i < a->arg.n; i++)
        for (int j = 0; j < i; j++)
            if ((a->arg.p[i].tensor == a->arg.p[j].tensor) != (b->arg.p[i].tensor == b->arg.p[j].tensor)) return false;
    return true;
}

static bool same_function(const Program *p, const Memory *l, const Node *a, const Node *b) {
    if (a->kernel != b->kernel || !same_aliases(a, b)) return false;
    for (int i = 0; i < a->arg.n; i++)
        if (!same_arg(p, l, &a->arg.p[i], &b->arg.p[i])) return false;
    return true;
}

typedef struct {
    Arena *arena;
    const Module *m;
    const Program *p;
    Memory memory;
    CNames names;                  /* of the file */
    const char **function;         /* by node */
    VEC(const Node *) * by_kernel; /* nodes with a function of their own, by kernel id */
} Writer;

static bool emit_function(Writer *w, Text *to, const Node *n) {
    for (int i = 0; i < w->by_kernel[n->kernel->id].n; i++) {
        const Node *other = w->by_kernel[n->kernel->id].p[i];
        if (!same_function(w->p, &w->memory, n, other)) continue;
        w->function[n->id] = w->function[other->id];
        return true;
    }
    w->function[n->id] = c_function_name(&w->names, n->kernel->name);
    vec_push(w->arena, &w->by_kernel[n->kernel->id], n);
    return kernel_emit(to, &w->memory, w->arena, w->m, w->p, n, w->function[n->id]);
}

static bool emit_functions(Writer *w, Text *to) {
    bool good = true;
    for (int i = 0; i < w->p->node.n; i++) {
        const Node *n = w->p->node.p[i];
        if (n->kind == NODE_CALL)
            good &= emit_function(w, to, n);
        else {
            diag_error(w->m->diags, n->loc, "unsupported", "the host's code generator has no collectives of its own");
            diag_note(w->m->diags, n->loc, "the pass 'comm' turns them into kernels");
            good = false;
        }
    }
    return good;
}

/* ---- arguments of a call ---- */

const CExpr *tensor_slot(Fn *f, const Tensor *t) {
    const CExpr *offset = cexpr_number(f, f->memory->offset[t->id]);
    const char *generation = f->back->sync->generation;
    if (t->slots == 1) return offset;
    const CExpr *slot = cexpr_open(f, "%s %% %d * %" PRId64, generation, t->slots, f->memory->bytes[t->id]);
    return cexpr_add(f, offset, slot);
}

static const char *tensor_text(Fn *f, const Tensor *t) {
    int arg = f->memory->arg[t->id];
    if (arg >= 0) return fn_text(f, "t->arg[%d]", arg);
    if (t->symmetric >= 0) return fn_text(f, "tile_at(t->symmetric[t->rank], %s)", tensor_slot(f, t)->text);
    return fn_text(f, "tile_at(t->local, %s)", tensor_slot(f, t)->text);
}

static const CExpr *number_text(Fn *f, int64_t n) { return cexpr_number(f, n); }

/* First element of a part, in elements of the whole. */
const CExpr *part_text(Fn *f, const Tensor *t, const Arg *a) {
    const CExpr *sum = cexpr_number(f, 0);
    for (int d = 0; d < t->ndim; d++) {
        Size whole = t->dim[d];
        const CExpr *origin = number_text(f, d < a->lead ? a->at[d] : 0);
        if (a->slice[d] >= 0) {
            origin = size_origin_in_text(f, whole, a->slice[d]);
        }
        sum = cexpr_add(f, d ? cexpr_mul(f, sum, cexpr_operand(f, tensor_extent(f, t, d))) : sum, origin);
    }
    return sum;
}

const CExpr *packed_part_text(Fn *f, const Node *n, const Tensor *t, const Arg *a) {
    int64_t step = 1, each = 8 / elem_bits(t->elem);
    bool whole = true;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (d < a->lead || a->slice[d] >= 0) whole = whole && step % each == 0;
        step = size_is_number(t->dim[d]) ? step * t->dim[d].c % each : 1;
    }
    if (!whole) fn_unsupported(f, n->loc, fn_text(f, "a part of '%s' that begins within a byte", t->name));
    return cexpr_open(f, "%s / %" PRId64, cexpr_group(f, part_text(f, t, a))->text, each);
}

const CExpr *symmetric_text(Fn *f, const Tensor *t, const CExpr *first) {
    const CExpr *bytes = cexpr_mul(f, cexpr_operand(f, first), number_text(f, t->packet ? 8 : elem_bits(t->elem) / 8));
    return cexpr_is(first, 0) ? tensor_slot(f, t) : cexpr_open(f, "%s + %s", tensor_slot(f, t)->text, bytes->text);
}

static const char *argument_text(Fn *f, const Node *n, int i) {
    const Arg *a = &n->arg.p[i];
    const Tensor *t = &f->p->tensor.p[a->tensor];
    const Param *p = &n->kernel->param.p[i];
    const CExpr *first = part_text(f, t, a);
    if (p->ranks >= 0) return symmetric_text(f, t, first)->text;
    if (t->ndim == 0 && !p->out && !p->inout) return fn_text(f, "*(const %s *)%s", elem_c(t->elem), tensor_text(f, t));
    if (cexpr_is(first, 0)) return tensor_text(f, t);
    if (elem_is_packed(t->elem))
        return fn_text(f, "(tile_packed *)%s + %s", tensor_text(f, t), packed_part_text(f, n, t, a)->text);
    return fn_text(f, "(%s *)%s + %s", elem_c(t->elem), tensor_text(f, t), first->text);
}

/* ---- tickets ---- */

static void emit_call(const Writer *w, Fn *f, const Node *n) {
    f->node = n;
    Text call = {0};
    text_printf(&call, "%s(t", w->function[n->id]);
    for (int i = 0; i < n->arg.n; i++) text_printf(&call, ", %s", argument_text(f, n, i));
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

static bool emit_host(Writer *w, Text *to) {
    if (!emit_functions(w, to)) return false;
    emit_tasks(w, to);
    emit_task(w, to);
    emit_task_name(w, to);
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
    text_printf(to, "#include \"%s.h\"\n\n#include \"device/tile_host.h\"\n", name);
    text_add(to, t->ngpu ? "#include \"device/tile_image.h\"\n\n" : "\n");
}

bool c_emit(const Module *m, const Program *program, const Targets *t, Text *source, Text *header, Text *manifest) {
    Program named = *program, *p = &named;
    Writer w = {.arena = arena_new(), .m = m, .p = p};
    int before = m->diags->errors;
    named.name = c_program_name(w.arena, program);
    w.names.arena = w.arena;
    w.function = ARENA_ARRAY(w.arena, const char *, p->node.n + 1);
    w.by_kernel = arena_alloc(w.arena, sizeof *w.by_kernel * (size_t)(m->kernel.n + 1));
    c_name(&w.names, "ticket");
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++)
        c_name(&w.names, arena_format(w.arena, "%s%s", p->name, suffix[i]));
    emit_head(&w, source, t);
    bool good = is_identifier(m, p) && memory_make(w.arena, m, p, &w.memory) && (!t->host || emit_host(&w, source));
    if (good) {
        if (t->ngpu) launch_source(source, w.arena, &c_backend, m, p, &w.memory, t);
        uint64_t hash = public_source(source, w.arena, m, p, &w.memory, t);
        public_header(header, w.arena, m, p);
        manifest_write(manifest, w.arena, m, p, &w.memory, t, hash);
    }
    arena_free(w.arena);
    return good && m->diags->errors == before;
}
