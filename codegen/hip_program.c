/* hip_program.c: a program as text for one GPU: a kernel for each node. The order of nodes is that of their launches.
   Takes: a module in the form `layout`. Gives: NAME_TARGET.hip, and what the launcher has to know. */
#include "codegen/codegen.h"
#include "codegen/hip.h"

#include <string.h>

static const char *const suffix[] = {"_call", "_config", "_args", "_program", "_workspace", "_open", "_run", "_close"};

static bool same_arguments(const Node *a, const Node *b) {
    if (a->kernel != b->kernel || a->arg.n != b->arg.n) return false;
    for (int i = 0; i < a->arg.n; i++) {
        const Arg *x = &a->arg.p[i], *y = &b->arg.p[i];
        if (x->tensor != y->tensor || x->lead != y->lead) return false;
        for (int d = 0; d < x->lead; d++)
            if (x->at[d] != y->at[d]) return false;
    }
    return true;
}

static const GpuLaunch *launched_before(const GpuText *g, const Program *p, const Node *n) {
    for (int i = 0; i < n->id; i++)
        if (same_arguments(p->node.p[i], n)) return &g->launch.p[i];
    return NULL;
}

static void file_head(Text *to, const char *name, const char *target) {
    text_printf(to, "/* %s_%s.hip: the program %s for %s, made by tilec. */\n", name, target, name, target);
    text_printf(to, "#include \"device/tile_%s.h\"\n\n#include \"%s.h\"\n\n", target, name);
    gpu_call_type(to, name);
}

static bool emit_node(Arena *a, GpuText *g, const Program *p, const Memory *memory, CNames *names, const Node *n) {
    if (n->kind != NODE_CALL) {
        diag_error(g->m->diags, n->loc, "unsupported", "not supported yet on %s: collectives of more than one rank", g->target);
        return false;
    }
    GpuLaunch launch = {.kernel = n->kernel};
    const GpuLaunch *before = launched_before(g, p, n);
    if (before) launch = *before;
    launch.function = before ? before->function : c_function_name(names, n->kernel->name);
    bool good = before != NULL;
    if (!before && n->kernel->schedule) good = hip_schedule(g, a, p, memory, n, &launch);
    else if (!before) good = hip_kernel(g, a, p, memory, n, matrix_target(g->target), &launch);
    vec_push(a, &g->launch, launch);
    return good;
}

/* Inputs lie in the GPU's memory, which the host does not look into. */
static void ranges_tell(const GpuText *g) {
    for (int i = 0; i < g->p->io.n; i++) {
        const Tensor *t = &g->p->tensor.p[g->p->io.p[i]];
        if (t->checked)
            diag_warning(g->m->diags, t->loc, "unchecked-values", "the values of '%s' are not looked at on %s", t->name,
                         g->target);
    }
}

bool gpu_emit(Arena *a, GpuText *g) {
    Program named = *g->p, *p = &named;
    CNames names = {.arena = a};
    Memory memory;
    named.name = c_program_name(a, g->p);
    if (!memory_make(a, g->m, p, &memory)) return false;
    g->local = memory.local;
    c_name(&names, p->name);
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) c_name(&names, arena_format(a, "%s%s", p->name, suffix[i]));
    file_head(&g->text, p->name, g->target);
    ranges_tell(g);
    bool good = true;
    for (int i = 0; i < p->node.n && good; i++) good = emit_node(a, g, p, &memory, &names, p->node.p[i]);
    return good;
}
