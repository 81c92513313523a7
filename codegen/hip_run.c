/* hip_look.c: the launch that begins a run of a program whose inputs have declared ranges: one workgroup looks at all
   their values; one that is outside refuses the run, and the kernels behind it do nothing. */
#include "codegen/hip.h"

enum { LOOK_THREADS = 1024 };

static const char *elements_text(Fn *f, const Tensor *t) {
    const char *n = "1";
    for (int d = 0; d < t->ndim; d++) n = text_mul(f, n, text_atom(f, tensor_extent(f, t, d)));
    return n;
}

static void look_at(Fn *f, const Tensor *t, int arg) {
    const char *name = f->hip->member[arg], *least = text_bare(f, size_text(f, t->least)),
               *past = text_bare(f, size_text(f, t->past));
    if (t->ndim == 0) {
        fn_line(f, "tile_look_at(t, %d, 0, call.args.%s, %s, %s);", arg, name, least, past);
        return;
    }
    fn_line(f, "for (int64_t at = tile_thread(); at < %s; at += %d) {", elements_text(f, t), LOOK_THREADS);
    fn_line(f, "    tile_look_at(t, %d, at, tile_load_%s(&call.args.%s[at]), %s, %s);", arg, elem_text(t->elem), name,
            least, past);
    fn_line(f, "}");
}

void hip_look(GpuText *g, Arena *a, const Program *p, const Memory *memory) {
    Fn f = fn_new(a, g->m, p, memory);
    Hip hip = {.target = matrix_target(g->target), .member = public_members(a, g->m, p), .ticket = -1};
    GpuLaunch launch = {.function = arena_format(a, "%s_begin", p->name), .threads = LOOK_THREADS};
    f.back = &hip_backend;
    f.hip = &hip;
    fn_constant_of(&f, "tile_gpu_task *const", "t", "call.task");
    fn_line(&f, "tile_run_begin(t);");
    fn_line(&f, "tile_sync();");
    for (int i = 0; i < p->io.n; i++)
        if (p->tensor.p[p->io.p[i]].checked) look_at(&f, &p->tensor.p[p->io.p[i]], i);
    text_add(&g->text, "/* The values of inputs with a declared range. */\n");
    text_printf(&g->text, "TILE_KERNEL(%s, %s_call, %d) {\n", launch.function, p->name, launch.threads);
    fn_head_print(&f, &g->text);
    text_add(&g->text, text_str(&f.body));
    text_add(&g->text, "}\n\n");
    text_free(&f.body);
    vec_push(a, &g->launch, launch);
}
