/* run_stop.c: tilec run --stop-at=KERNEL[:TASK]: the interpreter runs the program as it is written up to the end of a task, and
   the task's tiles become .npy files. */
#include "base/npy.h"
#include "driver/run.h"
#include "driver/run_odd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Run *r;
    int64_t task;
    VEC(Name) shown; /* a name comes as often as the source assigns to it */
    bool failed, any;
} Stop;

/* KERNEL.TASK.NAME.npy, from its second value on NAME.1, NAME.2, .. */
static const char *tile_path(Stop *s, const Kernel *k, Name name) {
    Arena *a = s->r->s.arena;
    const char *folder = s->r->s.o->outdir ? s->r->s.o->outdir : ".";
    int before = 0;
    for (int i = 0; i < s->shown.n; i++) before += s->shown.p[i] == name;
    vec_push(a, &s->shown, name);
    const char *number = before ? arena_format(a, ".%d", before) : "";
    return arena_format(a, "%s/%s.%" PRId64 ".%s%s.npy", folder, k->name, s->task, name, number);
}

static const char *ranges_text(Arena *a, const Kernel *k, const Value *v, const Array *tile) {
    const char *text = "";
    for (int i = 0; i < v->type.nrange; i++)
        text = arena_format(a, "%s%s%s: %" PRId64, text, i ? ", " : "", k->range.p[v->type.range[i]].name, tile->dim[i]);
    return v->type.nrange ? arena_format(a, "[%s]", text) : text;
}

static void tile_show(void *context, const Kernel *k, Name name, const Value *v, const Array *tile) {
    Stop *s = context;
    const char *path = tile_path(s, k, name), *failed = npy_save(path, tile);
    s->any = true;
    if (failed) {
        fprintf(stderr, "tilec: error: cannot write %s: %s\n", path, failed);
        s->failed = true;
        return;
    }
    printf("%s: %s: %s%s, ", k->name, name, elem_text(v->type.elem), ranges_text(s->r->s.arena, k, v, tile));
    print_values(tile);
    printf(": %s\n", path);
}

static bool names_include(const char *const *known, int count, const char *name) {
    int i = 0;
    while (i < count && strcmp(known[i], name)) i++;
    return i < count;
}

/* The name of a kernel that the program calls; NULL after a message. */
static Name name_of_kernel(const Run *r, const char *name, size_t n) {
    const char **known = ARENA_ARRAY(r->s.arena, const char *, r->p->node.n + 1);
    int count = 0;
    for (int i = 0; i < r->p->node.n; i++) {
        const Node *node = r->p->node.p[i];
        if (node->kind != NODE_CALL) continue;
        if (strlen(node->kernel->name) == n && memcmp(node->kernel->name, name, n) == 0) return node->kernel->name;
        if (!names_include(known, count, node->kernel->name)) known[count++] = node->kernel->name;
    }
    const char *near = spelling_nearest(arena_text(r->s.arena, name, n), known, count);
    fprintf(stderr, "tilec: error: '%s' calls no kernel '%.*s'", r->p->name, (int)n, name);
    fprintf(stderr, near ? "; did you mean '%s'?\n" : "\n", near);
    if (near || !count) return NULL;
    fputs("tilec: note: its kernels are", stderr);
    for (int i = 0; i < count; i++) fprintf(stderr, "%s '%s'", i ? "," : "", known[i]);
    fputs("\n", stderr);
    return NULL;
}

/* An option that wants results, which a run that stops has not; NULL: none. */
static const char *wants_results(const Options *o) {
    if (o->out.n) return "--out";
    if (o->expect.n) return "--expect";
    return o->check ? "--check" : o->time ? "--time" : o->trace ? "--trace" : NULL;
}

int run_stop(Run *r) {
    const char *at = r->s.o->stop_at, *colon = strchr(at, ':');
    char *end = "";
    Stop s = {.r = r, .task = colon ? strtoll(colon + 1, &end, 10) : 0};
    if (*end || s.task < 0 || (colon && !colon[1])) return fprintf(stderr, "tilec: error: --stop-at wants KERNEL or KERNEL:TASK, not '%s'\n", at), EXIT_USAGE;
    const char *other = wants_results(r->s.o);
    if (other) return fprintf(stderr, "tilec: error: %s is of results, which a run with --stop-at has not\n", other), EXIT_USAGE;
    const Name kernel = name_of_kernel(r, at, colon ? (size_t)(colon - at) : strlen(at));
    if (!kernel) return EXIT_USAGE;
    const char *folder = r->s.o->outdir, *failed = folder ? folder_make(r->s.arena, folder) : NULL;
    if (failed) return fprintf(stderr, "tilec: error: cannot make %s: %s\n", folder, failed), EXIT_RUN;
    InterpWatch watch = {.kernel = kernel, .task = s.task, .value = tile_show, .context = &s};
    InterpReport report = {0};
    if (!interp_run(r->s.arena, r->s.m, r->p, &(InterpOptions){.sym = r->sym, .watch = &watch}, r->io, &report)) {
        interp_report_print(r->p, &report, stderr);
        return EXIT_RUN;
    }
    if (!s.any) fprintf(stderr, "tilec: error: no task %" PRId64 " of '%s' ran\n", s.task, kernel);
    return s.any && !s.failed ? EXIT_OK : EXIT_RUN;
}
