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

const char *hip_leave(const GpuLaunch *launch) { return launch->beside ? "{ tile_end_behind(); return; }" : "return;"; }

const char *hip_refusals(Fn *f, const GpuLaunch *launch) {
    const bool looks = gpu_looks_at_values(f->p);
    const char *follow = launch->dependent ? "\n    tile_follow();" : "";
    const char *text = looks ? fn_text(f, "%s\n    if (tile_refused(call.task)) %s", follow, hip_leave(launch)) : "";
    const char *leave = launch->dependent && !looks ? "{ tile_follow(); return; }" : hip_leave(launch);
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

/* Its first launch is there in every run, and its text is ours. */
static bool begins_inside(const Program *p) {
    const Node *n = p->node.n ? p->node.p[0] : NULL;
    if (!n || n->kind != NODE_CALL || n->otherwise.n || n->kernel->plan.lowering == LOWER_SCHEDULE) return false;
    for (const Op *op = n->kernel->body->first; op; op = op->next)
        if (op->kind == OP_IF) return false; /* the host may leave it out */
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
    if (begins_inside(p)) return;
    text_printf(&g->text, "TILE_KERNEL(%s, %s_call, %d) { %sif (tile_thread() == 0) tile_run_begin(call.task); }\n\n",
                launch.function, p->name, launch.threads, launch.dependent ? "tile_follow(); " : "");
    vec_push(a, &g->launch, launch);
}

bool hip_begins_run(const GpuText *g, const Program *p, const Node *n) {
    return n->id == 0 && gpu_has_ends(g->m, p) && !gpu_looks_at_values(p) && begins_inside(p);
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

void hip_run_end(GpuText *g, Arena *a, const Program *p, const Memory *memory) {
    GpuLaunch launch = {.function = arena_format(a, "%s_end", p->name),
                        .threads = matrix_target(g->target)->wave,
                        .lds = SYNC_LDS,
                        .dependent = gpu_is_dependent(g)};
    Hip hip;
    Fn f = run_fn(g, a, p, memory, &hip);
    fn_constant_of(&f, "tile_gpu_task *const", "t", "call.task");
    fn_line(&f, "const tile_ending ending = tile_run_ending(t);");
    fn_line(&f, has_floats(p) ? "if (tile_run_failed(lds, t, &ending)) {" : "tile_run_failed(lds, t, &ending);");
    for (int i = 0; i < p->io.n; i++)
        if (can_spoil(p, i)) spoil(&f, &p->tensor.p[p->io.p[i]], i);
    if (has_floats(p)) fn_line(&f, "}");
    fn_line(&f, "tile_run_end(t, &ending);");
    run_print(g, &f, &launch);
}
