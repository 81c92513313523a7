/* launch.c: tables of launches, which the runtime reads: the code of a program's GPU kernels, their numbers of
   workgroups, and the struct that they take. */
#include "codegen/abi/abi.h"
#include "codegen/text/program.h"
#include "codegen/text/size.h"
#include "ir/poly/relation.h"
#include "target/matrix.h"

#include <inttypes.h>
#include <string.h>

void gpu_call_type(Text *to, const Module *m, const Program *p) {
    text_printf(to, "typedef struct {\n    %s_args args;\n    char *local; /* workspace */\n", p->name);
    if (gpu_has_task(m, p)) text_add(to, "    const struct tile_gpu_task *task;\n");
    text_printf(to, "} %s_call;\n\n", p->name);
}

static const char *gpu_file_name(Arena *a, const GpuText *g, const char *ending) {
    return arena_format(a, "%s_%s.%s", c_program_name(a, g->p), g->target, ending);
}

/* NAME_gfx942, NAME_emu_gfx942: what the names of a GPU's tables begin with. */
static const char *prefix(Arena *a, const GpuText *g) {
    return arena_format(a, "%s_%s%s", c_program_name(a, g->p), g->emulated ? "emu_" : "", g->target);
}

/* ---- number of workgroups, a function for each kernel ---- */

static const char *groups_name(Arena *a, const GpuText *g, const Kernel *k) {
    if (!k) return arena_format(a, "%s_one_group", prefix(a, g));
    return arena_format(a, "%s_groups_%d", prefix(a, g), k->id);
}

static bool is_first(const GpuText *g, int launch) {
    for (int i = 0; i < launch; i++)
        if (g->launch.p[i].kernel == g->launch.p[launch].kernel) return false;
    return true;
}

static void write_groups(Text *to, Arena *a, Fn f, const GpuText *g, const GpuLaunch *l) {
    const Kernel *k = l->kernel;
    if (!k) {
        text_printf(to, "/* Of what begins and ends a run. */\nstatic int64_t %s(const tile_task *t) {\n", groups_name(a, g, k));
        text_add(to, "    (void)t;\n    return 1;\n}\n\n");
        return;
    }
    const CExpr *n = l->groups ? cexpr_number(&f, l->groups) : node_tasks(&f, k), *taken = taken_text(&f, k);
    if (!text_has_word(n->text, "t")) fn_line(&f, "(void)t;");
    if (taken) fn_line(&f, "if (!%s) return 0;", cexpr_operand(&f, taken)->text);
    fn_line(&f, "return %s;", cexpr_bare(n)->text);
    text_printf(to, "/* Workgroups of %s%s%s. */\n", c_string(a, k->name), l->groups ? "" : ": one a task",
                taken ? ", none where it is not taken" : "");
    fn_print(&f, to, arena_format(a, "static int64_t %s(const tile_task *t)", groups_name(a, g, k)));
}

/* ---- tables ---- */

enum { MAP_EXTENT, MAP_SYMBOL, MAP_SPLIT, MAP_BOX };

/* A number of each dimension of a map. */
static void write_each(Text *to, const char *field, const Program *p, const GpuMap *m, int which) {
    text_printf(to, ".%s = {", field);
    for (int d = 0; d < m->ndim; d++) {
        Size n = m->dim[d];
        int64_t v = which == MAP_EXTENT   ? n.c
                    : which == MAP_SYMBOL ? program_dim_of(p, n.sym)
                    : which == MAP_SPLIT  ? n.axis
                                          : m->box[d];
        text_printf(to, "%s%" PRId64, d ? ", " : "", v);
    }
    text_add(to, "}, ");
}

static void write_map(Text *to, const Program *p, const GpuMap *m) {
    text_printf(to, "    {.arg = %d, .first = %" PRId64 ", .before = %" PRId64 ", .bytes = %d, .ndim = %d, ", m->arg,
                m->first, m->before, elem_bits(m->elem) / 8, m->ndim);
    write_each(to, "dim", p, m, MAP_EXTENT);
    write_each(to, "sym", p, m, MAP_SYMBOL);
    write_each(to, "split", p, m, MAP_SPLIT);
    write_each(to, "box", p, m, MAP_BOX);
    text_printf(to, ".swizzle = %d},\n", m->swizzle);
}

static void write_maps(Text *to, Arena *a, const GpuText *g, int launch) {
    const GpuLaunch *l = &g->launch.p[launch];
    if (!l->nmap) return;
    text_printf(to, "/* What %s copies by boxes. */\nstatic const tile_map %s_map_%d[] = {\n", l->function,
                prefix(a, g), launch);
    for (int i = 0; i < l->nmap; i++) write_map(to, g->p, &l->map[i]);
    text_add(to, "};\n\n");
}

static void write_launches(Text *to, Arena *a, const GpuText *g) {
    for (int i = 0; i < g->launch.n; i++) write_maps(to, a, g, i);
    text_printf(to, "static const tile_launch %s_launch[] = {\n", prefix(a, g));
    for (int i = 0; i < g->launch.n; i++) {
        const GpuLaunch *l = &g->launch.p[i];
        text_printf(to, "    {.kernel = \"%s\", .threads = %d, .lds_bytes = %" PRId64 ", .groups = %s", l->function,
                    l->threads, l->lds, groups_name(a, g, l->kernel));
        if (l->parts) text_printf(to, ", .parts = %d", l->parts);
        if (l->nmap) text_printf(to, ", .cluster = %d, .nmaps = %d, .map = %s_map_%d", l->cluster, l->nmap, prefix(a, g), i);
        if (l->dependent) text_add(to, ", .dependent = 1");
        if (l->otherwise) text_add(to, ", .otherwise = 1");
        text_add(to, "},\n");
    }
    text_add(to, "};\n\n");
}

static bool is_first_function(const GpuText *g, int launch) {
    for (int i = 0; i < launch; i++)
        if (strcmp(g->launch.p[i].function, g->launch.p[launch].function) == 0) return false;
    return true;
}

static void write_code(Text *to, Arena *a, const GpuText *g) {
    const char *name = prefix(a, g);
    if (!g->emulated) {
        text_printf(to, "TILE_IMAGE(%s_code, \"%s\");\n\n", name, gpu_file_name(a, g, "co"));
        return;
    }
    for (int i = 0; i < g->launch.n; i++)
        if (is_first_function(g, i)) text_printf(to, "TILE_EMULATED void %s(const void *);\n", g->launch.p[i].function);
    text_printf(to, "static const tile_emu_symbol %s_code[] = {\n", name);
    for (int i = 0; i < g->launch.n; i++) {
        const char *f = g->launch.p[i].function;
        if (is_first_function(g, i)) text_printf(to, "    {\"%s\", %s},\n", f, f);
    }
    text_add(to, "    {0},\n};\n\n");
}

/* Names for fault records. */
static void write_flags(Text *to, Arena *a, const GpuText *g) {
    flags_source(to, a, g->p, arena_format(a, "%s_flag", prefix(a, g)), packets_flag(g->p, g->p->tensor.n));
}

static void write_sharing(Text *to, Arena *a, const GpuText *g) {
    text_printf(to, "     .symmetric_bytes = %" PRId64 ", .words = %" PRId64 ", .counts = %" PRId64 ", .tickets = %d,\n",
                g->symmetric, g->words, g->counts, g->tickets);
    int nflags = packets_flag(g->p, g->p->tensor.n);
    if (nflags) text_printf(to, "     .nflags = %d, .flag = %s_flag,\n", nflags, prefix(a, g));
}

static void write_images(Text *to, Arena *a, const char *program, const Targets *t) {
    text_printf(to, "static const tile_image %s_image[] = {\n", program);
    for (int i = 0; i < t->ngpu; i++) {
        const GpuText *g = &t->gpu[i];
        const char *name = prefix(a, g);
        text_printf(to, "    {.target = \"%s%s\", .code = %s_code, .local_bytes = %" PRId64 ",\n",
                    g->emulated ? "emu:" : "", g->target, name, g->local);
        if (gpu_has_task(g->m, g->p)) write_sharing(to, a, g);
        text_printf(to, "     .nlaunches = %d, .launch = %s_launch},\n", g->launch.n, name);
    }
    text_add(to, "};\n\n");
}

static void write_offsets(Text *to, const char *program, const char *what, const char **member, int n) {
    text_printf(to, "static const size_t %s_%s_at[] = {\n", program, what);
    for (int i = 0; i < n; i++) text_printf(to, "    offsetof(%s_call, args.%s),\n", program, member[i]);
    text_add(to, "    0,\n};\n\n");
}

void launch_source(Text *to, Arena *a, const Backend *host, const Module *m, const Program *p, const Memory *memory, const Targets *t) {
    const char **member = public_members(a, m, p);
    gpu_call_type(to, m, p);
    write_offsets(to, p->name, "arg", member, p->io.n);
    write_offsets(to, p->name, "dim", member + p->io.n, p->dim.n);
    for (int i = 0; i < t->ngpu; i++) {
        const GpuText *g = &t->gpu[i];
        for (int k = 0; k < g->launch.n; k++)
            if (is_first(g, k)) write_groups(to, a, fn_new(host, a, m, p, memory), g, &g->launch.p[k]);
        write_launches(to, a, g);
        write_flags(to, a, g);
        write_code(to, a, g);
    }
    write_images(to, a, p->name, t);
}
