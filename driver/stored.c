/* stored.c: tensors in safetensors files. Takes a path and a name. Gives an array, or a message that names the tensor;
   or takes arrays, and writes a file. */
#include "driver/stored.h"

#include "base/diag.h"
#include "base/text.h"
#include "tile.h"
#include "tile_safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".safetensors";

/* Behind the ending, where the path ends or a tensor is named; NULL: another kind of file. */
static const char *path_end(const char *path) {
    for (const char *at = path; (at = strstr(at, ending)); at++) {
        const char *end = at + sizeof ending - 1;
        if (!*end || *end == ':') return end;
    }
    return NULL;
}

bool stored_is_path(const char *path) { return path_end(path) != NULL; }

static const struct {
    const char *type;
    Elem elem;
} known[] = {{"F64", ELEM_F64}, {"F32", ELEM_F32},   {"F16", ELEM_F16},        {"BF16", ELEM_BF16},
             {"I64", ELEM_I64}, {"I32", ELEM_I32},   {"I16", ELEM_I16},        {"I8", ELEM_I8},
             {"U8", ELEM_U8},   {"BOOL", ELEM_BOOL}, {"F8_E4M3", ELEM_F8E4M3}, {"F8_E5M2", ELEM_F8E5M2}};

static bool elem_of(const char *type, Elem want, Elem *out) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].type, type)) {
            *out = known[i].elem;
            if (*out == ELEM_I8 && elem_is_packed(want)) *out = want;
            return true;
        }
    return false;
}

/* Elements of a part of a byte have one each, as in .npy files. */
static const char *type_of(Elem e) {
    const Elem stored = elem_is_packed(e) ? ELEM_I8 : e;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].elem == stored) return known[i].type;
    return NULL;
}

static const char *missing(Arena *arena, const tile_safetensors *f, const char *name) {
    enum { MOST = 1 << 16 };
    VEC(const char *) all = {0};
    const tile_stored *t;
    for (size_t i = 0; i < MOST && (t = tile_safetensors_at(f, i)); i++) vec_push(arena, &all, t->name);
    const char *near = spelling_nearest(name, all.p, all.n);
    if (near) return arena_format(arena, "no tensor '%s'; did you mean '%s'?", name, near);
    const char *some = all.n ? "" : "none";
    for (int i = 0; i < all.n && i < 5; i++) some = arena_format(arena, "%s%s'%s'", some, i ? ", " : "", all.p[i]);
    return arena_format(arena, "no tensor '%s'; it has %s%s", name, some, all.n > 5 ? ", .." : "");
}

/* A shape that needs more than `most` bytes, or of another rank than arrays have, is given without data. */
static const char *take(Arena *arena, const tile_stored *t, Elem want, size_t most, Array *out) {
    Elem elem;
    if (!elem_of(t->type, want, &elem))
        return arena_format(arena, "'%s' has elements of type %s, which tilec does not have", t->name, t->type);
    *out = (Array){.elem = elem, .ndim = t->ndim};
    memcpy(out->dim, t->dim, sizeof t->dim);
    if (t->bytes > most) return "the shape is another";
    if (!array_new(arena, elem, t->ndim, t->dim, out)) return arena_format(arena, "'%s' is too large", t->name);
    if (t->bytes) memcpy(out->data, t->data, t->bytes);
    const int64_t wrong = array_wrong(out);
    if (wrong < 0) return NULL;
    out->ndim = 0;
    return arena_format(arena, "'%s': element %lld is %d, which is not a %s", t->name, (long long)wrong,
                        ((const signed char *)out->data)[wrong], elem_text(elem));
}

const char *stored_load(Arena *arena, const char *path, const char *name, const char *field, Elem want, size_t most,
                        Array *out, const char **file) {
    const char *end = path_end(path), *asked = *end ? end + 1 : NULL;
    if (field)
        name = asked ? arena_format(arena, "%s.%s", asked, field) : field;
    else if (asked)
        name = asked;
    *file = arena_format(arena, "%.*s", (int)(end - path), path);
    *out = (Array){0};
    tile_safetensors *f;
    if (tile_safetensors_open(*file, &f)) return arena_format(arena, "%s", tile_last_error() + strlen(*file) + 2);
    const tile_stored *t = tile_safetensors_find(f, name);
    const char *failed = t ? take(arena, t, want, most, out) : missing(arena, f, name);
    tile_safetensors_close(f);
    return failed;
}

const char *stored_tensor(Arena *arena, const char *path) {
    const char *end = path_end(path);
    return arena_format(arena, "%s", *end ? end + 1 : "");
}

/* ---- writing ---- */

static json_t *described(const Array *a, size_t *at) {
    json_t *shape = json_array();
    const size_t begin = *at;
    for (int d = 0; d < a->ndim; d++) json_array_append_new(shape, json_integer(a->dim[d]));
    *at += (size_t)array_count(a) * elem_bytes(a->elem);
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", type_of(a->elem), "shape", shape, "data_offsets",
                     (json_int_t)begin, (json_int_t)*at);
}

/* Eight bytes that say how long the header is, the header, the data. */
const char *stored_save(const char *path, const char *const *name, const Array *a, int n) {
    enum { ALIGN = 8 /* bytes; the header is filled up with blanks, as the format's own library does */ };
    json_t *header = json_object();
    size_t at = 0;
    for (int i = 0; i < n; i++) json_object_set_new(header, name[i], described(&a[i], &at));
    char *words = json_dumps(header, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(header);
    if (!words) fatal_oom();
    Text text = {0};
    const uint64_t length = (strlen(words) + ALIGN - 1) / ALIGN * ALIGN;
    for (size_t i = 0; i < sizeof length; i++) text_add_n(&text, &(char){(char)(length >> 8 * i)}, 1);
    text_printf(&text, "%-*s", (int)length, words);
    free(words);
    for (int i = 0; i < n; i++) text_add_n(&text, a[i].data, (size_t)array_count(&a[i]) * elem_bytes(a[i].elem));
    const char *failed = text_write(&text, path);
    text_free(&text);
    return failed;
}
