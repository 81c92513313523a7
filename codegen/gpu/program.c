/* program.c: a program as text for one GPU: a kernel for each node, or for several whose texts are equal but for
   where their tensors are (codegen/text/share.h). The order of nodes is that of their launches.
   Takes: a module in the form `layout`. Gives: NAME_TARGET.hip, and what the launcher has to know. */
#include "codegen/abi/abi.h"
#include "codegen/codegen.h"
#include "codegen/gpu/hip.h"
#include "codegen/gpu/roles.h"
#include "codegen/text/share.h"
#include "ir/roles.h"

#include <string.h>

static const char *const suffix[] = {"_call", "_config", "_args",  "_program", "_workspace", "_open",
                                     "_run",  "_close",  "_begin", "_end",     "_finish"};

static bool has_roles(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_CALL && p->node.p[i]->kernel->roles) return true;
    return false;
}

static bool makes_operands(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_CALL && hip_role_makes(p->node.p[i]->kernel)) return true;
    return false;
}

static void file_head(Text *to, const Module *m, const Program *p, const char *target) {
    const char *name = p->name;
    text_printf(to, "/* %s_%s.hip: the program %s for %s, made by tilec. */\n", name, target, name, target);
    text_printf(to, "#include \"device/tile_%s.h\"\n", target);
    if (gpu_has_task(m, p)) text_add(to, "#include \"device/tile_flags.h\"\n");
    if (has_roles(p)) text_add(to, "#include \"device/tile_roles.h\"\n");
    if (makes_operands(p)) text_add(to, "#include \"device/tile_made.h\"\n");
    text_printf(to, "\n#include \"%s.h\"\n\n", name);
    gpu_call_type(to, m, p);
}

/* ---- nodes ---- */

typedef struct {
    GpuText *g;
    Arena *arena;
    const Program *p;
    const Memory *memory;
    VEC(Node *) call; /* a launch each: nodes, and behind a node such with kernels that stand by for its own */
    int first;        /* launches before these */
} Writer;

/* Counters of tasks are numbered in the order of launches. */
static void call_add(Writer *w, const Node *n, const Kernel *k, bool otherwise) {
    Node *call = ARENA_NEW(w->arena, Node);
    *call = *n;
    call->kernel = (Kernel *)k;
    GpuLaunch l = {.kernel = k, .node = call, .dependent = gpu_is_dependent(w->g), .otherwise = otherwise};
    bool ticket = k->roles ? k->roles->tasks == TASKS_TICKET : takes_tickets(w->p, n);
    l.ticket = ticket ? w->g->tickets++ : -1;
    l.finish = hip_ends_run(w->g, w->p, n) ? w->g->tickets++ : -1;
    vec_push(w->arena, &w->call, call);
    vec_push(w->arena, &w->g->launch, l);
}

/* The kernels that may compute the node: those with costs, or those without. */
static int others_add(Writer *w, const Node *n, bool costs, int left) {
    for (int i = 0; i < n->otherwise.n; i++)
        if ((n->otherwise.p[i]->plan.cost != 0) == costs) call_add(w, n, n->otherwise.p[i], --left > 0);
    return left;
}

static void calls_list(Writer *w) {
    w->first = w->g->launch.n;
    for (int i = 0; i < w->p->node.n; i++) {
        const Node *n = w->p->node.p[i];
        int left = others_add(w, n, true, 1 + n->otherwise.n);
        call_add(w, n, n->kernel, --left > 0);
        others_add(w, n, false, left);
    }
}

static void kernel_comment(const Writer *w, Text *to, const Kernel *k, const char *name) {
    if (k->plan.lowering == LOWER_SCHEDULE)
        text_printf(to, "/* kernel %s, by the schedule '%s' */\n", c_string(w->arena, name), k->plan.schedule);
    else
        source_comment(w->arena, w->g->m, k, name, k->roles ? ", in roles" : "", to);
}

static bool refuse_values(const Writer *w, const Kernel *k) {
    diag_error(w->g->m->diags, k->loc, "unsupported",
               "not supported yet on %s: tiles of '%s' have no layout, which the pass 'layout' gives them",
               w->g->target, k->name);
    return false;
}

static bool refuse_prints(const Writer *w, const Kernel *k) {
    diag_error(w->g->m->diags, k->loc, "unsupported", "not supported yet on %s: '%s' prints, or asserts of values, by a schedule",
               w->g->target, k->name);
    return false;
}

static bool kernel_write(const Writer *w, const Node *n, CNames *file, GpuLaunch *l) {
    GpuText *g = w->g;
    if (n->kernel->roles) return hip_roles(g, w->arena, w->p, w->memory, file, n, l);
    if (n->kernel->plan.lowering == LOWER_SCHEDULE && kernel_prints(n->kernel)) return refuse_prints(w, n->kernel);
    if (n->kernel->plan.lowering == LOWER_SCHEDULE) return hip_schedule(g, w->arena, w->p, w->memory, n, l);
    if (n->kernel->form != KERNEL_LAYOUT) return refuse_values(w, n->kernel);
    return hip_kernel(g, w->arena, w->p, w->memory, n, matrix_target(g->target), l);
}

/* Launches that stand for each other do not follow one another. */
static bool follows_another(const GpuText *g, int launch) {
    while (launch > 0 && g->launch.p[launch - 1].otherwise) launch--;
    return launch > 0;
}

/* The kernel's text is written first: then it is known which fields it reads. */
static bool write_call(void *of, int call, const char *function, CNames *file, Fields *fields, Text *to) {
    Writer *w = of;
    GpuText *g = w->g;
    GpuLaunch *l = &g->launch.p[w->first + call];
    const Node *n = w->call.p[call];
    Text before = g->text;
    const char *program = w->p->name;
    *l = (GpuLaunch){.kernel = n->kernel,
                     .node = n,
                     .dependent = gpu_is_dependent(g) && !hip_runs_beside(g, w->p, n->id),
                     .follows = follows_another(g, w->first + call),
                     .beside = hip_runs_beside(g, w->p, n->id),
                     .lets_go = hip_runs_beside(g, w->p, n->id + 1),
                     .otherwise = l->otherwise,
                     .ticket = l->ticket,
                     .finish = l->finish};
    l->function = function;
    l->fields = fields;
    l->call = fields ? c_name(file, arena_format(w->arena, "%s_%s_call", program, function))
                     : arena_format(w->arena, "%s_call", program);
    g->text = (Text){0};
    bool good = kernel_write(w, n, file, l);
    kernel_comment(w, to, n->kernel, fields ? function : n->kernel->name);
    if (fields) gpu_fields_type(to, g->m, w->p, l->call, fields);
    text_add(to, text_str(&g->text));
    text_free(&g->text);
    g->text = before;
    return good;
}

static bool has_collectives(const GpuText *g, const Program *p) {
    for (int i = 0; i < p->node.n; i++) {
        if (p->node.p[i]->kind == NODE_CALL) continue;
        diag_error(g->m->diags, p->node.p[i]->loc, "unsupported",
                   "not supported yet on %s: collectives of more than one rank", g->target);
        return true;
    }
    return false;
}

static bool emit_nodes(Writer *w, CNames *names) {
    Text text = {0};
    if (has_collectives(w->g, w->p)) return false;
    calls_list(w);
    const TextWriter writer = {
        .arena = w->arena, .call = w->call.p, .n = w->call.n, .names = names, .of = w, .write = write_call};
    NodeText *by_call = ARENA_ARRAY(w->arena, NodeText, w->call.n + 1);
    bool good = texts_write(&writer, &text, by_call);
    for (int i = 0; i < w->call.n && good; i++) {
        w->g->launch.p[w->first + i].function = by_call[i].function;
        w->g->launch.p[w->first + i].fields = by_call[i].fields;
    }
    text_add(&w->g->text, text_str(&text));
    text_free(&text);
    return good;
}

bool gpu_emit(Arena *a, GpuText *g) {
    Program named = *g->p, *p = &named;
    CNames names = {.arena = a};
    Memory *memory = ARENA_NEW(a, Memory);
    Writer w = {.g = g, .arena = a, .p = p, .memory = memory};
    named.name = c_program_name(a, g->p);
    if (!memory_make(a, g->m, p, memory)) return false;
    g->memory = memory;
    g->local = memory->local, g->symmetric = memory->symmetric;
    g->words = memory->words, g->counts = memory->counts;
    c_name(&names, p->name);
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) c_name(&names, arena_format(a, "%s%s", p->name, suffix[i]));
    file_head(&g->text, g->m, p, g->target);
    if (gpu_has_ends(g->m, p)) hip_run_begin(g, a, p, memory);
    if (gpu_has_ends(g->m, p)) hip_run_finish(g, a, p, memory);
    bool good = emit_nodes(&w, &names);
    if (gpu_has_ends(g->m, p)) hip_run_end(g, a, p, memory);
    return good;
}
