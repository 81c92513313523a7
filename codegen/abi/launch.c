/* launch.c: tables of launches, which the runtime reads: the code of a program's GPU kernels, their numbers of
   workgroups, and the struct that they take. */
#include "codegen/abi/abi.h"
#include "codegen/text/argument.h"
#include "codegen/text/program.h"
#include "codegen/text/share.h"
#include "codegen/text/size.h"
#include "ir/poly/relation.h"
#include "runtime/include/tile_program.h" /* TILE_FIELD_LOCAL */
#include "target/matrix.h"

#include <inttypes.h>
#include <string.h>

static void call_members(Text *to, const Module *m, const Program *p) {
    text_printf(to, "typedef struct {\n    %s_args args;\n    char *local; /* workspace */\n", p->name);
    if (gpu_has_task(m, p)) text_add(to, "    const struct tile_gpu_task *task;\n");
}

void gpu_call_type(Text *to, const Module *m, const Program *p) {
    call_members(to, m, p);
    text_printf(to, "} %s_call;\n\n", p->name);
}

void gpu_fields_type(Text *to, const Module *m, const Program *p, const char *name, const Fields *fields) {
    call_members(to, m, p);
    text_add(to, "    struct {\n");
    for (int i = 0; i < fields->field.n; i++)
        text_printf(to, "        %s%s;\n", fields->field.p[i].type, fields->field.p[i].name);
    text_printf(to, "    } at; /* of the node */\n} %s;\n\n", name);
}

static const char *gpu_file_name(Arena *a, const GpuText *g, const char *ending) {
    return arena_format(a, "%s_%s.%s", c_program_name(a, g->p), g->target, ending);
}

/* NAME_gfx942, NAME_emu_gfx942: what the names of a GPU's tables begin with. */
static const char *prefix(Arena *a, const GpuText *g) {
    return arena_format(a, "%s_%s%s", c_program_name(a, g->p), g->emulated ? "emu_" : "", g->target);
}

/* ---- functions of sizes and ranks ---- */

typedef struct {
    const char *name, *body;
} Function;

typedef struct {
    Arena *arena;
    const Backend *host;
    const Module *m;
    const Program *p;
    const Memory *memory;
    const GpuText *g;
    VEC(Function) function;
    const char **groups, **node; /* by launch: the function, and a name that tells it from the others */
    const char **clocks;         /* by launch: the function that predicts them; NULL: its kernel has no cost */
} Writer;

/* The name of a function, which is written unless one before has its body. */
static const char *function_write(Text *to, Writer *w, Fn *f, const char *comment, const char *name) {
    Text body = {0};
    if (!text_has_word(text_str(&f->body), "t")) fn_line(f, "(void)t;");
    fn_print(f, &body, "");
    for (int i = 0; i < w->function.n; i++)
        if (strcmp(w->function.p[i].body, text_str(&body)) == 0) return text_free(&body), w->function.p[i].name;
    Function fresh = {name, arena_text(w->arena, text_str(&body), body.n)};
    text_free(&body);
    vec_push(w->arena, &w->function, fresh);
    text_printf(to, "/* %s. */\nstatic int64_t %s(const tile_task *t)%s", comment, name, fresh.body);
    return name;
}

static void writer_begin(Writer *w) {
    CNames names = {.arena = w->arena};
    w->groups = ARENA_ARRAY(w->arena, const char *, w->g->launch.n + 1);
    w->node = ARENA_ARRAY(w->arena, const char *, w->g->launch.n + 1);
    w->clocks = ARENA_ARRAY(w->arena, const char *, w->g->launch.n + 1);
    for (int i = 0; i < w->g->launch.n; i++) {
        const GpuLaunch *l = &w->g->launch.p[i];
        w->node[i] = l->kernel ? c_function_name(&names, l->kernel->name) : l->function;
    }
}

static Fn writer_fn(const Writer *w) { return fn_new(w->host, w->arena, w->m, w->p, w->memory); }

static const char *one_group(Text *to, Writer *w, bool idle) {
    Fn f = writer_fn(w);
    fn_line(&f, "return %d;", !idle);
    return function_write(to, w, &f, idle ? "Of what ends a run whose launches fail" : "Of what begins and ends a run",
                          arena_format(w->arena, "%s_%s_group", prefix(w->arena, w->g), idle ? "no" : "one"));
}

static const char *clocks_write(Text *to, Writer *w, const GpuLaunch *l) {
    const Kernel *k = l->kernel;
    if (!k || !k->plan.cost || !k->roles) return NULL;
    Fn f = writer_fn(w);
    clocks_lines(&f, k, w->g->target);
    return function_write(to, w, &f, arena_format(w->arena, "Clocks of %s, predicted", c_string(w->arena, k->name)),
                          arena_format(w->arena, "%s_clocks_%d", prefix(w->arena, w->g), k->id));
}

/* Another kernel's launch has workgroups where it takes less, or as long and comes first. */
static void choice_write(Fn *f, const Writer *w, int launch) {
    const GpuLaunch *all = w->g->launch.p;
    int first = launch, last = launch;
    while (first > 0 && all[first - 1].otherwise) first--;
    while (all[last].otherwise) last++;
    for (int i = first; i <= last && w->clocks[launch]; i++)
        if (i != launch && w->clocks[i])
            fn_line(f, "if (%s(t) %s %s(t)) return 0;", w->clocks[i], i < launch ? "<=" : "<", w->clocks[launch]);
}

/* Number of workgroups. */
static const char *groups_write(Text *to, Writer *w, int launch) {
    const GpuLaunch *l = &w->g->launch.p[launch];
    if (!l->kernel) return one_group(to, w, l->idle);
    Fn f = writer_fn(w);
    const CExpr *n = l->groups ? cexpr_number(&f, l->groups) : node_tasks(&f, l->kernel),
                *taken = taken_text(&f, l->kernel);
    if (taken) fn_line(&f, "if (!%s) return 0;", cexpr_operand(&f, taken)->text);
    choice_write(&f, w, launch);
    if (l->kernel->plan.workgroups) n = cexpr_least(&f, cexpr_number(&f, l->kernel->plan.workgroups), n);
    if (l->packed) n = cexpr_call(&f, "tile_ceil_div(%s, %d)", cexpr_bare(n)->text, l->packed);
    fn_line(&f, "return %s;", cexpr_bare(n)->text);
    const char *each = l->packed ? arena_format(w->arena, ": one for %d tasks", l->packed) : ": one a task";
    const char *comment =
        arena_format(w->arena, "Workgroups of %s%s%s", c_string(w->arena, l->kernel->name),
                     l->groups || l->kernel->plan.workgroups ? "" : each, taken ? ", none where it is not taken" : "");
    return function_write(to, w, &f, comment,
                          arena_format(w->arena, "%s_groups_%d", prefix(w->arena, w->g), l->kernel->id));
}

/* ---- tables ---- */

enum { MAP_EXTENT, MAP_SYMBOL, MAP_SPLIT, MAP_BOX, MAP_BEGIN, MAP_STEP, MAP_COUNT };

/* A number of each dimension of a map. */
static void write_each(Text *to, const char *field, const Program *p, const GpuMap *m, int which) {
    text_printf(to, ".%s = {", field);
    for (int d = 0; d < m->ndim; d++) {
        Size n = m->dim[d];
        int64_t v = which == MAP_EXTENT   ? n.c
                    : which == MAP_SYMBOL ? program_dim_of(p, n.sym)
                    : which == MAP_SPLIT  ? n.axis
                    : which == MAP_BEGIN  ? m->begin[d]
                    : which == MAP_STEP   ? m->step[d]
                    : which == MAP_COUNT  ? m->count[d]
                                          : m->box[d];
        text_printf(to, "%s%" PRId64, d ? ", " : "", v);
    }
    text_add(to, "}, ");
}

static void write_pixels(Text *to, const Program *p, const GpuMap *m) {
    text_printf(to, ".pixels = %d, ", m->pixels);
    write_each(to, "begin", p, m, MAP_BEGIN);
    write_each(to, "step", p, m, MAP_STEP);
    write_each(to, "count", p, m, MAP_COUNT);
}

static void write_map(Text *to, const Program *p, const GpuMap *m) {
    text_printf(to, "    {.arg = %d, ", m->arg);
    if (m->symmetric) text_printf(to, ".symmetric = %d, ", m->symmetric);
    text_printf(to, ".first = %" PRId64 ", .before = %" PRId64 ", .bytes = %d, .ndim = %d, ", m->first, m->before,
                elem_bits(m->elem) / 8, m->ndim);
    write_each(to, "dim", p, m, MAP_EXTENT);
    write_each(to, "sym", p, m, MAP_SYMBOL);
    write_each(to, "split", p, m, MAP_SPLIT);
    write_each(to, "box", p, m, MAP_BOX);
    if (m->few) text_printf(to, ".few = %d, ", m->few);
    if (m->pixels) write_pixels(to, p, m);
    text_printf(to, ".swizzle = %d%s},\n", m->swizzle, m->stores ? ", .stores = 1" : "");
}

static void write_maps(Text *to, Arena *a, const GpuText *g, int launch) {
    const GpuLaunch *l = &g->launch.p[launch];
    if (!l->nmap) return;
    text_printf(to, "/* What %s copies by boxes. */\nstatic const tile_map %s_map_%d[] = {\n", l->function,
                prefix(a, g), launch);
    for (int i = 0; i < l->nmap; i++) write_map(to, g->p, &l->map[i]);
    text_add(to, "};\n\n");
}

static void write_launch(Text *to, const Writer *w, int launch) {
    const GpuLaunch *l = &w->g->launch.p[launch];
    text_printf(to, "    {.kernel = \"%s\", .threads = %d, .lds_bytes = %" PRId64 ", .groups = %s", l->function,
                l->threads, l->lds, w->groups[launch]);
    if (strcmp(w->node[launch], l->function) != 0) text_printf(to, ", .node = \"%s\"", w->node[launch]);
    if (l->fields) text_printf(to, ", .nfields = %d", l->fields->field.n);
    if (l->parts) text_printf(to, ", .parts = %d", l->parts);
    if (l->nmap)
        text_printf(to, ", .cluster = %d, .nmaps = %d, .map = %s_map_%d", l->cluster, l->nmap, prefix(w->arena, w->g),
                    launch);
    if (l->dependent || l->beside)
        text_printf(to, ", .dependent = %s", l->early ? "TILE_READS_EARLY" : "1");
    if (l->otherwise) text_add(to, ", .otherwise = 1");
    text_add(to, "},\n");
}

static void write_launches(Text *to, const Writer *w) {
    Arena *a = w->arena;
    const GpuText *g = w->g;
    for (int i = 0; i < g->launch.n; i++) write_maps(to, a, g, i);
    text_printf(to, "static const tile_launch %s_launch[] = {\n", prefix(a, g));
    for (int i = 0; i < g->launch.n; i++) write_launch(to, w, i);
    text_add(to, "};\n\n");
}

/* ---- fields of shared kernels ---- */

static int fields_count(const GpuText *g) {
    int n = 0;
    for (int i = 0; i < g->launch.n; i++) n += g->launch.p[i].fields ? g->launch.p[i].fields->field.n : 0;
    return n;
}

/* Where an argument's part begins, in bytes that a run's sizes and the rank say; NULL: a number says it. */
static const char *part_write(Text *to, Writer *w, const GpuLaunch *l, int param, int64_t *bytes) {
    const Arg *a = &l->node->arg.p[param];
    const Tensor *t = &w->g->p->tensor.p[a->tensor];
    Fn f = writer_fn(w);
    const CExpr *part = cexpr_mul(&f, part_text(&f, t, a), cexpr_number(&f, elem_bits(t->elem) / 8));
    if (cexpr_const(part, bytes)) return NULL;
    fn_line(&f, "return %s;", part->text);
    return function_write(to, w, &f, arena_format(w->arena, "Bytes of %s before a part", c_string(w->arena, t->name)),
                          arena_format(w->arena, "%s_part_%d", prefix(w->arena, w->g), w->function.n));
}

static void write_place(Text *to, Text *functions, Writer *w, const GpuLaunch *l, int param) {
    const int tensor = l->node->arg.p[param].tensor, arg = w->g->memory->arg[tensor];
    int64_t bytes = 0;
    const char *part = part_write(functions, w, l, param, &bytes);
    if (arg < 0) bytes += w->g->memory->offset[tensor];
    text_printf(to, " {%d, %" PRId64 ", %s},", arg < 0 ? TILE_FIELD_LOCAL : arg, bytes, part ? part : "0");
}

static void write_fields(Text *to, Writer *w) {
    const GpuText *g = w->g;
    Text rows = {0};
    if (!fields_count(g)) return;
    for (int i = 0; i < g->launch.n; i++) {
        const GpuLaunch *l = &g->launch.p[i];
        for (int k = 0; l->fields && k < l->fields->field.n; k++) {
            const Field *x = &l->fields->field.p[k];
            if (k == 0) text_printf(&rows, "    /* %s */", w->node[i]);
            if (x->param >= 0)
                write_place(&rows, to, w, l, x->param);
            else
                text_printf(&rows, " {%d, %" PRId64 ", 0},", TILE_FIELD_NUMBER, x->number);
            if (k + 1 == l->fields->field.n) text_add(&rows, "\n");
        }
    }
    text_printf(to,
                "/* What launches of one kernel differ in, in their order: argument, bytes, and bytes by run. "
                "*/\nstatic const tile_field %s_field[] = {\n%s};\n\n",
                prefix(w->arena, g), text_str(&rows));
    text_free(&rows);
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
    text_printf(to, "     .symmetric_bytes = %" PRId64 ", .words = %" PRId64 ", .counts = %" PRId64 ", .tickets = %d, .ends = %d,\n",
                g->symmetric, g->words, g->counts, g->tickets, gpu_has_ends(g->m, g->p));
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
        if (gpu_has_task(g->m, g->p))
            write_sharing(to, a, g);
        else if (g->tickets)
            text_printf(to, "     .tickets = %d,\n", g->tickets);
        if (fields_count(g)) text_printf(to, "     .nfields = %d, .field = %s_field,\n", fields_count(g), name);
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
        Writer w = {.arena = a, .host = host, .m = m, .p = p, .memory = memory, .g = g};
        writer_begin(&w);
        for (int k = 0; k < g->launch.n; k++) w.clocks[k] = clocks_write(to, &w, &g->launch.p[k]);
        for (int k = 0; k < g->launch.n; k++) w.groups[k] = groups_write(to, &w, k);
        write_fields(to, &w);
        write_launches(to, &w);
        write_flags(to, a, g);
        write_code(to, a, g);
    }
    write_images(to, a, p->name, t);
}
