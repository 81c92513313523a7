/* remap.c: tilec remap: the workgroups of a HIP file's kernels in an order that the caches of chiplets like.
   Takes a HIP file. Gives the same file with a function and a line more for each kernel that gains by it. */
#include "driver/remap.h"
#include "driver/emit.h"
#include "driver/explain.h"
#include "target/matrix.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SOURCE_BYTES = 16 << 20, MOST_THREADS = 1024 /* of a workgroup: HIP's limit */ };

static void *room(void *arena, size_t bytes) { return arena_alloc(arena, bytes); }

static int refuse_usage(const char *text) {
    fprintf(stderr, "tilec: error: %s\n", text);
    return EXIT_USAGE;
}

/* "X", "X,Y" or "X,Y,Z". */
static bool sizes_parse(const char *text, int64_t *to, int64_t most) {
    int64_t all = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        to[i] = *text ? strtoll(text, &end, 10) : 1;
        if (*text && (*text < '0' || *text > '9' || (*end && *end != ','))) return false;
        if (to[i] < 1 || to[i] > most || (all *= to[i]) > most) return false;
        if (*text) text = end + (*end == ',');
    }
    return !*text;
}

static HipRead *reader_open(Arena *a) {
    const char *path = library_find(a, HIP_LIBRARY);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL,
         *read = library ? dlsym(library, "hip_read") : NULL;
    HipRead *function = NULL;
    memcpy(&function, &read, sizeof function); /* C has no cast from an object's address to a function's */
    if (read) return function;
    fprintf(stderr, "tilec: error: 'tilec remap' reads HIP with Clang's libraries, which are not here%s%s\n",
            path ? ": " : "", path ? dlerror() : "");
    fputs("tilec: note: install libclang-22-dev and llvm-22-dev, and build tilec again\n", stderr);
    return NULL;
}

/* The headers of ROCm where they are installed, else ours; both behind what -I names. */
static void flags_set(Remap *r, const char *runtime) {
    VEC(const char *) flag = {0};
    for (int i = 0; i < r->o->root.n; i++) vec_push(r->arena, &flag, arena_format(r->arena, "-I%s", r->o->root.p[i]));
    for (const char *p = r->o->cflags; p && *p;) {
        const size_t n = strcspn(p, " ");
        if (n) vec_push(r->arena, &flag, arena_text(r->arena, p, n));
        p += n + (p[n] == ' ');
    }
    vec_push(r->arena, &flag, "-idirafter");
    vec_push(r->arena, &flag, "/opt/rocm/include");
    vec_push(r->arena, &flag, "-idirafter");
    vec_push(r->arena, &flag, arena_format(r->arena, "%s/hip", runtime));
    r->in.flag = flag.p, r->in.nflag = flag.n;
}

static int input_set(Remap *r) {
    Options *o = r->o;
    const char *runtime = runtime_folder(r->arena), *arch = o->arch ? o->arch : "gfx942";
    const GpuFacts *gpu = matrix_target(arch) ? gpu_facts(arch) : NULL;
    HipDefine *define = ARENA_ARRAY(r->arena, HipDefine, o->define.n + 1);
    if (!runtime) return EXIT_WRONG;
    if (!gpu || !gpu->chiplets)
        return refuse_usage(arena_format(r->arena, "--arch=%s: the caches of this machine are not modelled", arch));
    r->in = (HipInput){.path = o->file,
                       .text = text_str(&r->source),
                       .arch = arch,
                       .define = define,
                       .ndefine = o->define.n,
                       .room = room,
                       .arena = r->arena};
    for (int i = 0; i < o->define.n; i++) define[i] = (HipDefine){o->define.p[i].name, o->define.p[i].value};
    if (o->grid && !sizes_parse(o->grid, r->in.grid, INT32_MAX))
        return refuse_usage("--grid wants the workgroups along x, y and z, as 64,32,1");
    if (o->block && !sizes_parse(o->block, r->in.block, MOST_THREADS))
        return refuse_usage("--block wants the threads along x, y and z, at most 1024 in all");
    flags_set(r, runtime);
    return -1;
}

/* ---- kernels ---- */

static const char *place_text(Remap *r, HipPlace at) {
    if (at.where) return at.where;
    const int file = diags_file(r->m->diags, r->o->file, text_str(&r->source), r->source.n);
    const Loc loc = {file, at.begin, at.end};
    return arena_format(r->arena, "%s:%d:%d", r->o->file, loc_line(r->m->diags, loc), loc_column(r->m->diags, loc));
}

static void machine_set(Remap *r, Remapped *k) {
    RemapMachine *m = &k->machine;
    const int64_t threads = k->hip->block[0] * k->hip->block[1] * k->hip->block[2], all = (threads + 63) / 64;
    k->tasks.k->plan.waves = (int)all;
    remap_machine(r->in.arch, k->tasks.k, m);
    if (!r->o->chiplets) return;
    m->slots = m->slots * m->chiplets / r->o->chiplets;
    if (m->slots < 1) m->slots = 1;
    m->chiplets = (int)r->o->chiplets;
}

static bool sizes_known(const HipKernel *k, const char **why) {
    *why = !k->grid[0]    ? "its workgroups are not known: --grid gives them"
           : !k->block[0] ? "its threads are not known: --block gives them"
                          : NULL;
    return !*why;
}

static Remapped kernel_analyse(Remap *r, const HipKernel *hip) {
    Remapped k = {.hip = hip, .why = hip->refused, .why_at = hip->refused ? hip->refused_at : hip->place};
    if (k.why || !sizes_known(hip, &k.why)) return k;
    k.tasks = hip_tasks(r->m, hip);
    machine_set(r, &k);
    k.choice = remap_choose(r->m, k.tasks.k, &k.machine, r->arena);
    if (!k.choice.shares && k.tasks.lost) {
        const HipAccess *a = k.tasks.lost_one;
        k.why = a->at ? "its places are not affine" : a->why, k.why_at = a->place;
    } else if (!k.choice.shares) {
        k.why = "its workgroups share nothing";
    } else if (!k.choice.other) {
        k.why = "the order of the grid is as good as any";
    }
    return k;
}

static bool is_used(const HipKernel *k, const HipUse *use) {
    for (int i = 0; i < k->nuse; i++)
        if (k->use[i].body == use->body) return true;
    return k->unmade && use->helper;
}

static const HipUse *use_shared(const HipKernel *a, const HipKernel *b) {
    for (int i = 0; i < a->nuse; i++)
        if (is_used(b, &a->use[i])) return &a->use[i];
    return NULL;
}

/* A helper that names blockIdx can have the order of one kernel. A template that nothing makes may call any. */
static void shared_refuse(Remap *r) {
    for (int i = 0; i < r->kernel.n; i++)
        for (int j = 0; j < r->kernel.n && !r->kernel.p[i].why; j++) {
            const HipKernel *b = r->kernel.p[j].hip;
            const HipUse *use = i == j ? NULL : use_shared(r->kernel.p[i].hip, b);
            if (use)
                r->kernel.p[i].why = arena_format(r->arena, "'%s' reads blockIdx for '%s' too", use->name, b->name);
        }
}

/* ---- the report ---- */

static void name_add(Text *to, const void *kernel, int range) {
    text_add(to, ((const Kernel *)kernel)->range.p[range].name);
}

static void kernel_report(Remap *r, const Remapped *k, FILE *to) {
    Text order = {0};
    if (k->why) {
        fprintf(to, "%s: remap: '%s': left as it is: %s\n", place_text(r, k->why_at), k->hip->name, k->why);
    } else {
        const Traffic *now = &k->choice.row_major, *then = &k->choice.traffic;
        order_text(&order, &k->choice.order, name_add, k->tasks.k);
        fprintf(to,
                "%s: remap: '%s': order %s: %.3g bytes to the caches of chiplets, before %.3g; %.3g bytes of memory, "
                "before %.3g; %.2f of the time to move\n",
                place_text(r, k->hip->place), k->hip->name, text_str(&order), then->fetched, now->fetched, then->memory,
                now->memory, then->seconds / now->seconds);
    }
    if (!k->why && k->tasks.lost)
        fprintf(to, "%s: remap: '%s': accesses that are not followed, and not counted: %d%s%s\n",
                place_text(r, k->tasks.lost_one->place), k->hip->name, k->tasks.lost,
                k->tasks.lost_one->why ? ": " : "", k->tasks.lost_one->why ? k->tasks.lost_one->why : "");
    if (r->o->report && k->tasks.k) kernel_print(r->m, k->tasks.k, to);
    if (r->o->cache_sim && k->tasks.k) {
        CacheCase cases[] = {{.kernel = k->tasks.k, .machine = k->machine},
                             {.kernel = k->tasks.k, .machine = k->machine, .order = &k->choice.order}};
        explain_cases(r->m, cases, k->why ? 1 : 2);
    }
    text_free(&order);
}

/* ---- the result ---- */

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* What is written compiles as well as what was read. */
static bool result_compiles(Remap *r) {
    HipInput in = r->in;
    in.text = text_str(&r->result);
    if (r->read(&in).compiles) return true;
    fprintf(stderr, "tilec: error: %s with the orders does not compile, and is not written\n", r->o->file);
    return false;
}

/* NULL: to the standard output, or nowhere. */
static const char *result_path(const Options *o) {
    return o->write ? o->file : o->outdir && strcmp(o->outdir, "-") != 0 ? o->outdir : NULL;
}

static bool result_is_printed(const Options *o) {
    return !result_path(o) && (o->outdir || !(o->report || o->cache_sim || o->verify));
}

static int result_write(Remap *r) {
    const char *path = result_path(r->o), *failed = path ? text_write(&r->result, path) : NULL;
    if (result_is_printed(r->o)) fwrite(r->result.p, 1, r->result.n, stdout);
    if (failed) fprintf(stderr, "tilec: error: cannot write %s: %s\n", path, failed);
    return failed ? EXIT_WRONG : EXIT_OK;
}

static int remap_run(Remap *r) {
    FILE *to = result_is_printed(r->o) ? stderr : stdout;
    if (!(r->read = reader_open(r->arena))) return EXIT_WRONG;
    r->file = r->read(&r->in);
    if (!r->file.compiles) return fprintf(stderr, "tilec: error: %s does not compile\n", r->o->file), EXIT_WRONG;
    for (int i = 0; i < r->file.nkernel; i++) vec_push(r->arena, &r->kernel, kernel_analyse(r, &r->file.kernel[i]));
    if (!r->kernel.n) fprintf(to, "%s: remap: no kernel is in this file\n", r->o->file);
    shared_refuse(r);
    for (int i = 0; i < r->kernel.n; i++) kernel_report(r, &r->kernel.p[i], to);
    remap_write(r);
    if (!result_compiles(r)) return EXIT_WRONG;
    const int code = r->o->verify ? remap_verify(r) : EXIT_OK;
    return code == EXIT_OK ? result_write(r) : code;
}

int command_remap(Options *o) {
    Arena *a = o->arena;
    Remap r = {.o = o, .arena = a, .m = module_new(a, names_new(a), diags_new(a))};
    const char *failed = text_read(&r.source, o->file, SOURCE_BYTES);
    int code = -1;
    if (failed)
        code = (fprintf(stderr, "tilec: error: cannot read %s: %s\n", o->file, failed), EXIT_WRONG);
    else if (o->outdir && is_same_file(o->outdir, o->file))
        code = refuse_usage("-o names the file that is read: --write overwrites it");
    else
        code = input_set(&r);
    if (code < 0) code = remap_run(&r);
    text_free(&r.source);
    text_free(&r.result);
    return code;
}
