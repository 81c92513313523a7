/* run.c: the launches of one workgroup that begin and end a run. Where inputs have declared ranges, the first looks
   at all their values. A value that is outside refuses the run, and the kernels behind do nothing. The last makes the
   results of a run that failed NaN. */
#include "codegen/abi/abi.h"
#include "codegen/gpu/hip.h"
#include "ir/size.h"

#include <inttypes.h>

/* Threads of the one workgroup that looks at inputs: the most that a workgroup has. */
enum { LOOK_THREADS = 1024 };

/* A kernel over the program's own arguments. */
static Fn run_fn(GpuText *g, Arena *a, const Program *p, const Memory *memory, Hip *hip) {
    Fn f = fn_new(&hip_backend, a, g->m, p, memory);
    *hip = (Hip){.target = matrix_target(g->target), .member = public_members(a, g->m, p), .ticket = -1};
    f.hip = hip;
    return f;
}

static void run_print(GpuText *g, Fn *f, const GpuLaunch *launch) {
    text_printf(&g->text, "TILE_KERNEL(%s, %s_call, %d) {\n", launch->function, f->p->name, launch->threads);
    if (launch->lds) text_printf(&g->text, "    TILE_LDS(lds, %" PRId64 ");\n", launch->lds);
    if (launch->dependent) text_add(&g->text, "    tile_follow();\n");
    fn_head_print(f, &g->text);
    text_add(&g->text, text_str(&f->body));
    text_add(&g->text, "}\n\n");
    text_free(&f->body);
    vec_push(f->arena, &g->launch, *launch);
}

/* ---- kernels with nothing to do ---- */

static const char *finish_text(Arena *a, const Program *p, const GpuLaunch *l) {
    const char *call = l->fields ? arena_format(a, "{call.args, call.local, call.task}") : "call";
    return l->finish < 0 ? ""
                         : arena_format(a, "if (tile_is_last(lds, &call.task->ticket[%d])) %s_finish(%s, lds);",
                                        l->finish, p->name, call);
}

const char *hip_last(Arena *a, const Program *p, const GpuLaunch *l) {
    const char *finish = finish_text(a, p, l);
    if (!l->beside) return *finish ? finish : NULL;
    return *finish ? arena_format(a, "tile_end_behind();\n    %s", finish) : "tile_end_behind();";
}

const char *hip_leave(Arena *a, const Program *p, const GpuLaunch *l) {
    const char *finish = finish_text(a, p, l);
    if (!l->beside && !*finish) return "return;";
    return arena_format(a, "{ %s%s%sreturn; }", l->beside ? "tile_end_behind(); " : "", finish, *finish ? " " : "");
}

const char *hip_refusals(Fn *f, const GpuLaunch *launch) {
    const bool looks = gpu_looks_at_values(f->p);
    const char *follow = launch->dependent ? "\n    tile_follow();" : "";
    const char *text =
        looks ? fn_text(f, "%s\n    if (tile_refused(call.task)) %s", follow, hip_leave(f->arena, f->p, launch)) : "";
    const char *leave = launch->dependent && !looks ? "{ tile_follow(); return; }" : hip_leave(f->arena, f->p, launch);
    for (int i = 0; i < f->k->ngrid; i++) {
        const Size of = f->k->range.p[i].of;
        if (of.sym >= 0 && !range_is_ragged(f->k, i))
            text = fn_text(f, "%s\n    if (%s <= %" PRId64 ") %s", text, f->back->symbol(f, of.sym)->text, -of.c,
                           leave);
    }
    return text;
}

/* ---- values ---- */

static const CExpr *elements_text(Fn *f, const Tensor *t) {
    const CExpr *n = cexpr_number(f, 1);
    for (int d = 0; d < t->ndim; d++) n = cexpr_mul(f, n, cexpr_operand(f, tensor_extent(f, t, d)));
    return n;
}

static void look_at(Fn *f, const Tensor *t, int arg) {
    const char *name = f->hip->member[arg];
    const CExpr *least = cexpr_bare(size_text(f, t->least)), *past = cexpr_bare(size_text(f, t->past));
    if (t->ndim == 0) {
        fn_line(f, "tile_look_at(t, %d, %s, 0, call.args.%s, %s, %s);", arg, hip_seen_by(f->m, t), name, least->text,
                past->text);
        return;
    }
    fn_line(f, "for (int64_t at = tile_thread(); at < %s; at += %d) {", elements_text(f, t)->text, LOOK_THREADS);
    fn_line(f, "    tile_look_at(t, %d, %s, at, tile_load_%s(&call.args.%s[at]), %s, %s);", arg, hip_seen_by(f->m, t),
            elem_text(t->elem), name, least->text, past->text);
    fn_line(f, "}");
}

static void look(GpuText *g, Arena *a, const Program *p, const Memory *memory, GpuLaunch *launch) {
    Hip hip;
    Fn f = run_fn(g, a, p, memory, &hip);
    launch->threads = LOOK_THREADS;
    fn_constant_of(&f, "tile_gpu_task *const", "t", "call.task");
    fn_line(&f, "if (tile_thread() == 0) tile_run_begin(t);");
    fn_line(&f, "tile_sync();");
    for (int i = 0; i < p->io.n; i++)
        if (p->tensor.p[p->io.p[i]].checked) look_at(&f, &p->tensor.p[p->io.p[i]], i);
    text_add(&g->text, "/* The values of inputs with a declared range. */\n");
    run_print(g, &f, launch);
}

/* Its launch is there in every run, and its text is ours. */
static bool is_always_there(const Node *n) {
    if (n->kind != NODE_CALL || n->otherwise.n || n->kernel->plan.lowering == LOWER_SCHEDULE) return false;
    if (taken_may_be_left(n->kernel)) return false;
    for (int i = 0; i < n->kernel->ngrid; i++)
        if (!size_is_number(n->kernel->range.p[i].of) || n->kernel->range.p[i].of.c < 1) return false;
    return true;
}

void hip_run_begin(GpuText *g, Arena *a, const Program *p, const Memory *memory) {
    GpuLaunch launch = {.function = arena_format(a, "%s_begin", p->name),
                        .threads = matrix_target(g->target)->wave,
                        .dependent = gpu_is_dependent(g)};
    if (gpu_looks_at_values(p)) {
        look(g, a, p, memory, &launch);
        return;
    }
    if (p->node.n && is_always_there(p->node.p[0])) return;
    text_printf(&g->text, "TILE_KERNEL(%s, %s_call, %d) { %sif (tile_thread() == 0) tile_run_begin(call.task); }\n\n",
                launch.function, p->name, launch.threads, launch.dependent ? "tile_follow(); " : "");
    vec_push(a, &g->launch, launch);
}

bool hip_begins_run(const GpuText *g, const Program *p, const Node *n) {
    return n->id == 0 && gpu_has_ends(g->m, p) && !gpu_looks_at_values(p) && is_always_there(n);
}

/* Else ptxas spills for it: wide workgroups have few registers, and tasks of one rank that wait for each other are told
   of none to spare (kernel.c). */
static bool has_room(const GpuText *g, const Kernel *k) {
    enum { MOST = 512 /* threads */ };
    return mesh_ranks(g->m) > 1 && k->plan.waves * matrix_target(g->target)->wave <= MOST;
}

bool hip_ends_run(const GpuText *g, const Program *p, const Node *n) {
    return n->id == p->node.n - 1 && gpu_has_ends(g->m, p) && !gpu_looks_at_values(p) && !n->kernel->roles &&
           has_room(g, n->kernel) && is_always_there(n);
}

/* ---- results ---- */

/* All bytes alike make a NaN of every float but one. */
static void spoil(Fn *f, const Tensor *t, int arg) {
    const CExpr *bytes = cexpr_mul(f, cexpr_number(f, elem_bits(t->elem) / 8), cexpr_operand(f, elements_text(f, t)));
    fn_line(f, "    tile_spoil(call.args.%s, %s, %s);", f->hip->member[arg], cexpr_bare(bytes)->text,
            t->elem == ELEM_F8E4M3FNUZ ? "0x80" : "0xff");
}

static bool can_spoil(const Program *p, int arg) {
    const Tensor *t = &p->tensor.p[p->io.p[arg]];
    return t->role != ROLE_INPUT && elem_is_float(t->elem);
}

static bool has_floats(const Program *p) {
    for (int i = 0; i < p->io.n; i++)
        if (can_spoil(p, i)) return true;
    return false;
}

static void end_lines(Fn *f, bool one_wave) {
    const Program *p = f->p;
    fn_constant_of(f, "tile_gpu_task *const", "t", "call.task");
    fn_line(f, "const tile_ending ending = tile_run_ending(t);");
    if (!has_floats(p))
        fn_line(f, "tile_run_failed(lds, t, &ending);");
    else
        fn_line(f, "if (tile_run_failed(lds, t, &ending)%s) {", one_wave ? "" : " && tile_thread() < TILE_LANES");
    for (int i = 0; i < p->io.n; i++)
        if (can_spoil(p, i)) spoil(f, &p->tensor.p[p->io.p[i]], i);
    if (has_floats(p)) fn_line(f, "}");
    fn_line(f, "tile_run_end(t, &ending);");
}

static bool finishes_inside(const GpuText *g, const Program *p) {
    return p->node.n && hip_ends_run(g, p, p->node.p[p->node.n - 1]);
}

void hip_run_finish(GpuText *g, Arena *a, const Program *p, const Memory *memory) {
    Hip hip;
    if (!finishes_inside(g, p)) return;
    Fn f = run_fn(g, a, p, memory, &hip);
    end_lines(&f, false);
    text_printf(&g->text,
                "/* Collective: the end of a run. */\nTILE_APART void %s_finish(const %s_call call, char *lds) {\n",
                p->name, p->name);
    fn_head_print(&f, &g->text);
    text_printf(&g->text, "%s}\n\n", text_str(&f.body));
    text_free(&f.body);
}

void hip_run_end(GpuText *g, Arena *a, const Program *p, const Memory *memory) {
    GpuLaunch launch = {.function = arena_format(a, "%s_end", p->name),
                        .threads = matrix_target(g->target)->wave,
                        .lds = SYNC_LDS,
                        .dependent = gpu_is_dependent(g),
                        .idle = finishes_inside(g, p)};
    Hip hip;
    Fn f = run_fn(g, a, p, memory, &hip);
    if (launch.idle) text_add(&g->text, "/* Ends a run whose launches fail. */\n");
    if (launch.idle)
        fn_line(&f, "%s_finish(call, lds);", p->name);
    else
        end_lines(&f, true);
    run_print(g, &f, &launch);
}
