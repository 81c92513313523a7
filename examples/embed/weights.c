#include "weights.h"

#include "tile_safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A matrix of n rows and k columns, or with k = 0 a vector; side by side those of up to three parts of a layer. */
typedef struct {
    const char *part[3];
    int n, k;
    size_t weight, bias; /* where in embed_args the pointers are */
} Field;

#define AT(name) offsetof(embed_args, w_##name), offsetof(embed_args, w_##name##_bias)
static const Field field[] = {
    {{"attention.self.query", "attention.self.key", "attention.self.value"}, WIDTH, WIDTH, AT(qkv)},
    {{"attention.output.dense"}, WIDTH, WIDTH, AT(out)},
    {{"intermediate.dense"}, HIDDEN, WIDTH, AT(up)},
    {{"output.dense"}, WIDTH, HIDDEN, AT(down)},
    {{"attention.output.LayerNorm"}, WIDTH, 0, AT(norm1)},
    {{"output.LayerNorm"}, WIDTH, 0, AT(norm2)},
};
enum { FIELDS = sizeof field / sizeof *field, LINE = 64 };

typedef struct {
    const tile_safetensors *file;
    const char *path;
    Reason *why;
} Reader;

static float **pointer_at(embed_args *a, size_t offset) { return (float **)((char *)a + offset); }

/* Begins with a line of the cache, which vectors should not straddle. */
static bool make(Reader *r, float **to, size_t n) {
    *to = aligned_alloc(LINE, (n * sizeof **to + LINE - 1) / LINE * LINE);
    return *to || reason_set(r->why, "%s: out of memory", r->path);
}

/* The bytes of a tensor of n rows and k columns, or of n elements. */
static const char *stored(Reader *r, const char *name, int n, int k) {
    const tile_stored *t = tile_safetensors_find(r->file, name);
    bool fits = t && !strcmp(t->type, "F32") && t->ndim == (k ? 2 : 1) && t->dim[0] == n && (!k || t->dim[1] == k);
    if (!t)
        reason_set(r->why, "%s: '%s' is missing", r->path, name);
    else if (!fits)
        reason_set(r->why, k ? "%s: '%s' is not F32[%d, %d]" : "%s: '%s' is not F32[%d]", r->path, name, n, k);
    return fits ? t->data : NULL;
}

static bool take(Reader *r, float **to, const char *name, int n, int k) {
    const char *from = stored(r, name, n, k);
    size_t count = (size_t)n * (size_t)(k ? k : 1);
    if (!from || !make(r, to, count)) return false;
    memcpy(*to, from, count * sizeof **to);
    return true;
}

/* Rows of k become columns of panels: panel[j / PANEL][p][j % PANEL] = row[j][p]. */
static void put_panels(float *to, const char *from, int n, int k) {
    for (int j = 0; j < n; j++)
        for (int p = 0; p < k; p++)
            memcpy(&to[((size_t)(j / PANEL) * (size_t)k + (size_t)p) * PANEL + (size_t)(j % PANEL)],
                   from + ((size_t)j * (size_t)k + (size_t)p) * sizeof *to, sizeof *to);
}

static bool take_part(Reader *r, const Field *f, int layer, const char *part, float *weight, float *bias) {
    char name[120];
    snprintf(name, sizeof name, "encoder.layer.%d.%s.weight", layer, part);
    const char *from = stored(r, name, f->n, f->k);
    if (!from) return false;
    if (f->k)
        put_panels(weight, from, f->n, f->k);
    else
        memcpy(weight, from, (size_t)f->n * sizeof *weight);
    snprintf(name, sizeof name, "encoder.layer.%d.%s.bias", layer, part);
    if (!(from = stored(r, name, f->n, 0))) return false;
    memcpy(bias, from, (size_t)f->n * sizeof *bias);
    return true;
}

static bool take_field(Reader *r, embed_args *a, const Field *f) {
    float **weight = pointer_at(a, f->weight), **bias = pointer_at(a, f->bias);
    size_t parts = f->part[1] ? 3 : 1, rows = (size_t)f->n, each = rows * (size_t)(f->k ? f->k : 1);
    if (!make(r, weight, LAYERS * parts * each) || !make(r, bias, LAYERS * parts * rows)) return false;
    for (size_t i = 0; i < LAYERS * parts; i++)
        if (!take_part(r, f, (int)(i / parts), f->part[i % parts], *weight + i * each, *bias + i * rows)) return false;
    return true;
}

static bool take_all(Reader *r, embed_args *a) {
    float *types;
    if (!take(r, (float **)&a->w_words, "embeddings.word_embeddings.weight", WORDS, WIDTH) ||
        !take(r, (float **)&a->w_positions, "embeddings.position_embeddings.weight", POSITIONS, WIDTH) ||
        !take(r, &types, "embeddings.token_type_embeddings.weight", 2, WIDTH))
        return false;
    a->w_types = types; /* the first of two rows */
    if (!take(r, (float **)&a->w_norm, "embeddings.LayerNorm.weight", WIDTH, 0) ||
        !take(r, (float **)&a->w_norm_bias, "embeddings.LayerNorm.bias", WIDTH, 0))
        return false;
    for (int i = 0; i < FIELDS; i++)
        if (!take_field(r, a, &field[i])) return false;
    return true;
}

bool weights_load(embed_args *a, const char *path, Reason *why) {
    tile_safetensors *file;
    if (tile_safetensors_open(path, &file)) return reason_set(why, "%s", tile_last_error());
    Reader r = {file, path, why};
    bool good = take_all(&r, a);
    tile_safetensors_close(file);
    return good;
}

void weights_free(embed_args *a) {
    free((void *)a->w_words), free((void *)a->w_positions), free((void *)a->w_types);
    free((void *)a->w_norm), free((void *)a->w_norm_bias);
    for (int i = 0; i < FIELDS; i++) free(*pointer_at(a, field[i].weight)), free(*pointer_at(a, field[i].bias));
}
