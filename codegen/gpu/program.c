/* program.c: a program as text for one GPU: a kernel for each node. The order of nodes is that of their launches.
   Takes: a module in the form `layout`. Gives: NAME_TARGET.hip, and what the launcher has to know. */
#include "codegen/codegen.h"
#include "codegen/gpu/hip.h"

#include <string.h>

static const char *const suffix[] = {"_call", "_config", "_args", "_program", "_workspace", "_open", "_run", "_close", "_begin", "_end"};

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

/* Of a node before that calls the same kernels; NULL: none does. */
static const GpuLaunch *launched_before(const GpuText *g, const Program *p, const Node *n) {
    int first = gpu_has_task(g->m, p); /* after that of the run's beginning */
    for (int i = 0; i < n->id; first += 1 + p->node.p[i++]->otherwise.n)
        if (same_arguments(p->node.p[i], n)) return &g->launch.p[first];
    return NULL;
}

static bool has_roles(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_CALL && p->node.p[i]->kernel->roles) return true;
    return false;
}

static void file_head(Text *to, const Module *m, const Program *p, const char *target) {
    const char *name = p->name;
    text_printf(to, "/* %s_%s.hip: the program %s for %s, made by tilec. */\n", name, target, name, target);
    text_printf(to, "#include \"device/tile_%s.h\"\n", target);
    if (gpu_has_task(m, p)) text_add(to, "#include \"device/tile_flags.h\"\n");
    if (has_roles(p)) text_add(to, "#include \"device/tile_roles.h\"\n");
    text_printf(to, "\n#include \"%s.h\"\n\n", name);
    gpu_call_type(to, m, p);
}

/* The node's kernel, or one that stands by. */
static bool emit_kernel(Arena *a, GpuText *g, const Program *p, const Memory *memory, CNames *names, const Node *n, int which,
                        GpuLaunch *launch) {
    Node as = *n;
    if (which) as.kernel = n->otherwise.p[which - 1];
    launch->kernel = as.kernel;
    launch->function = c_function_name(names, as.kernel->name);
    if (as.kernel->roles) return hip_roles(g, a, p, memory, names, &as, launch);
    if (as.kernel->plan.lowering == LOWER_SCHEDULE) return hip_schedule(g, a, p, memory, &as, launch);
    return hip_kernel(g, a, p, memory, &as, matrix_target(g->target), launch);
}

static bool emit_node(Arena *a, GpuText *g, const Program *p, const Memory *memory, CNames *names, const Node *n) {
    if (n->kind != NODE_CALL) {
        diag_error(g->m->diags, n->loc, "unsupported", "not supported yet on %s: collectives of more than one rank", g->target);
        return false;
    }
    const GpuLaunch *before = launched_before(g, p, n);
    bool good = true;
    for (int i = 0; i <= n->otherwise.n && good; i++) {
        GpuLaunch launch = {.dependent = gpu_is_dependent(g), .otherwise = i < n->otherwise.n};
        if (before)
            launch = before[i];
        else
            good = emit_kernel(a, g, p, memory, names, n, i, &launch);
        vec_push(a, &g->launch, launch);
    }
    return good;
}

bool gpu_emit(Arena *a, GpuText *g) {
    Program named = *g->p, *p = &named;
    CNames names = {.arena = a};
    Memory memory;
    named.name = c_program_name(a, g->p);
    if (!memory_make(a, g->m, p, &memory)) return false;
    g->local = memory.local, g->symmetric = memory.symmetric;
    g->words = memory.words, g->counts = memory.counts;
    c_name(&names, p->name);
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) c_name(&names, arena_format(a, "%s%s", p->name, suffix[i]));
    file_head(&g->text, g->m, p, g->target);
    if (gpu_has_task(g->m, p)) hip_run_begin(g, a, p, &memory);
    bool good = true;
    for (int i = 0; i < p->node.n && good; i++) good = emit_node(a, g, p, &memory, &names, p->node.p[i]);
    if (gpu_has_task(g->m, p)) hip_run_end(g, a, p, &memory);
    return good;
}
