/* compress.c: tilec compress: the tensors of a weight format that are nearest to a dense matrix, and how near.
   Takes a matrix of a file, and a format. Gives a file for each tensor, or one of all. */
#include "driver/compress.h"

#include "base/npy.h"
#include "driver/options.h"
#include "driver/run.h"
#include "driver/stored.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* The weights, and what their tensors' names begin with. */
typedef struct {
    const Options *o;
    Array weights;
    const char *name, *path;
    bool stored; /* in a safetensors file */
} Compress;

static int wrong(const char *path, const char *message) {
    fprintf(stderr, "tilec: error: %s: %s\n", path, message);
    return EXIT_WRONG;
}

/* ---- the weights ---- */

/* layer/W.npy: W */
static const char *base_name(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path, *dot = strrchr(from, '.');
    return arena_text(arena, from, dot && dot > from ? (size_t)(dot - from) : strlen(from));
}

static const char *load(Compress *c) {
    Arena *arena = c->o->arena;
    const size_t most = (size_t)machine_bytes();
    c->path = c->o->file;
    c->stored = stored_is_path(c->o->file);
    if (!c->stored) {
        c->name = base_name(arena, c->o->file);
        return npy_load(arena, c->o->file, ELEM_COUNT, most, &c->weights);
    }
    c->name = stored_tensor(arena, c->o->file);
    if (!*c->name) return "name a tensor: FILE.safetensors:TENSOR";
    if (strchr(c->name, '/')) return "a tensor with '/' in its name gives no file its name";
    return stored_load(arena, c->o->file, c->name, NULL, ELEM_COUNT, most, &c->weights, &c->path);
}

static const char *check_weights(const Compress *c, Matrix *w) {
    const Array *a = &c->weights;
    if (a->ndim != 2 || !elem_is_float(a->elem) || elem_bits(a->elem) < 16)
        return arena_format(c->o->arena, "weights are matrices of bf16, f16, f32 or f64, and this is %s",
                            array_text(c->o->arena, a));
    *w = matrix_new(c->o->arena, a->dim[0], a->dim[1]);
    for (int64_t i = 0; i < a->dim[0] * a->dim[1]; i++)
        if (!isfinite(w->at[i] = array_get(a, i)))
            return arena_format(c->o->arena, "element [%" PRId64 ", %" PRId64 "] is %g", i / a->dim[1], i % a->dim[1],
                                w->at[i]);
    return NULL;
}

/* ---- what is told ---- */

static double bytes_of(const Array *a) { return (double)array_count(a) * elem_bits(a->elem) / 8; }

/* Of the difference: its length by that of the weights, and the largest element. */
static void tell(const Compress *c, const Form *f, const Matrix *w) {
    Matrix made = matrix_new(c->o->arena, w->rows, w->columns);
    double square = 0, all = 0, most = 0, bytes = 0;
    f->kind->expand(f, &made);
    for (int64_t i = 0; i < w->rows * w->columns; i++) {
        const double d = fabs(w->at[i] - made.at[i]);
        square += d * d, all += w->at[i] * w->at[i];
        if (d > most) most = d;
    }
    for (int i = 0; i < form_parts(f->kind); i++) bytes += bytes_of(&f->part[i]);
    printf("%s: %s, %.0f bytes\n", c->name, array_text(c->o->arena, &c->weights), bytes_of(&c->weights));
    printf("%s: %.0f bytes; error %.4g of the weights' norm, at most %.4g in an element\n", c->o->as, bytes,
           all ? sqrt(square / all) : 0, most);
    printf("note: weights that are trained in this structure are better than a projection onto it\n");
}

/* ---- files ---- */

static const char *save(const Compress *c, const Form *f) {
    const char *name[FORM_PARTS], *dir = c->o->outdir ? c->o->outdir : ".", *failed = NULL;
    Arena *arena = c->o->arena;
    const int n = form_parts(f->kind);
    mkdir(dir, 0777); /* it may be there; else the files cannot be written */
    for (int i = 0; i < n; i++) name[i] = arena_format(arena, "%s.%s", c->name, f->kind->part[i].name);
    if (c->stored) return stored_save(arena_format(arena, "%s/%s.safetensors", dir, c->name), name, f->part, n);
    for (int i = 0; i < n && !failed; i++)
        failed = npy_save(arena_format(arena, "%s/%s.npy", dir, name[i]), &f->part[i]);
    return failed;
}

int command_compress(Options *o) {
    Compress c = {.o = o};
    Form form;
    Matrix w;
    if (!o->as) {
        fputs("tilec: error: 'tilec compress' wants a format: --as='lowrank([512, 32], [32, 256])'\n", stderr);
        return EXIT_USAGE;
    }
    const char *failed = load(&c);
    if (!failed) failed = check_weights(&c, &w);
    if (failed) return wrong(c.path, failed);
    failed = form_parse(o->arena, o->as, c.weights.elem, c.weights.dim, &form);
    if (!failed) failed = form.kind->fill(&form, &w);
    if (failed) return wrong("--as", failed);
    failed = save(&c, &form);
    if (failed) return wrong(o->outdir ? o->outdir : ".", failed);
    tell(&c, &form, &w);
    return EXIT_OK;
}
