/* safetensors.c: reads and checks the header of a safetensors file (huggingface/safetensors, README, "Format").
   Takes a file that nobody has checked. Gives its tensors, in the order of their bytes. */
#include "tile_safetensors.h"

#include "json.h"
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PREFIX = 8 };                              /* bytes of the header's length */
static const uint64_t longest_header = 100000000; /* bytes, as the format says */

static const struct {
    const char *name;
    int bits;
} type[] = {{"F64", 64},    {"F32", 32}, {"F16", 16}, {"BF16", 16}, {"F8_E4M3", 8}, {"F8_E5M2", 8},
            {"F8_E8M0", 8}, {"I64", 64}, {"I32", 32}, {"I16", 16},  {"I8", 8},      {"U64", 64},
            {"U32", 32},    {"U16", 16}, {"U8", 8},   {"BOOL", 8},  {"C64", 64}};
enum { TYPES = sizeof type / sizeof *type };

struct tile_safetensors {
    const char *path;
    void *map;
    size_t bytes, data; /* of the file; where the tensors' bytes begin */
    char *names;        /* all names, each with its zero: at most as long as the header */
    size_t used;
    tile_stored *tensor;
    size_t count, room;
    int *by_name; /* numbers of tensors */
};

/* What the header says of a tensor. */
typedef struct {
    int type; /* number in the table; TYPES: none such */
    int64_t begin, end;
    bool has[3]; /* dtype, shape, data_offsets */
} Entry;

static int malformed(const tile_safetensors *f, const Json *j) {
    return tile_fail(TILE_E_ARG, "%s: byte %zu: %s", f->path, j->at + PREFIX, j->why);
}

/* ---- an entry: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]} ---- */

/* room: for the strings of the entry, which are shorter than its text */
static bool read_type(Json *j, Entry *e, char *room) {
    if (!json_text(j, room)) return false;
    for (e->type = 0; e->type < TYPES && strcmp(type[e->type].name, room) != 0;) e->type++;
    return e->type < TYPES || json_fail(j, "unknown type");
}

static bool read_shape(Json *j, tile_stored *t) {
    bool first = true;
    if (!json_expect(j, '[')) return false;
    while (json_more(j, ']', &first)) {
        if (t->ndim == TILE_STORED_DIMS) return json_fail(j, "more than 8 dimensions");
        if (!json_natural(j, &t->dim[t->ndim++])) return false;
    }
    return !j->why;
}

static bool read_place(Json *j, Entry *e) {
    return json_expect(j, '[') && json_natural(j, &e->begin) && (json_take(j, ',') || json_fail(j, "expected ','")) &&
           json_natural(j, &e->end) && json_expect(j, ']');
}

static bool read_field(Json *j, tile_stored *t, Entry *e, char *room) {
    static const char *const key[] = {"dtype", "shape", "data_offsets"};
    if (!json_text(j, room) || !json_expect(j, ':')) return false;
    int i = 0;
    while (i < 3 && strcmp(key[i], room) != 0) i++;
    if (i == 3) return json_fail(j, "expected dtype, shape or data_offsets");
    if (e->has[i]) return json_fail(j, "the key a second time");
    e->has[i] = true;
    return i == 0 ? read_type(j, e, room) : i == 1 ? read_shape(j, t) : read_place(j, e);
}

static bool read_entry(Json *j, tile_stored *t, Entry *e, char *room) {
    bool first = true;
    if (!json_expect(j, '{')) return false;
    while (json_more(j, '}', &first))
        if (!read_field(j, t, e, room)) return false;
    if (!j->why && !(e->has[0] && e->has[1] && e->has[2])) json_fail(j, "dtype, shape or data_offsets is missing");
    return !j->why;
}

/* Bytes that type and shape need. false: more than there are numbers for. */
static bool bytes_needed(const tile_stored *t, int bits, int64_t *bytes) {
    bool empty = false, fits = true;
    *bytes = bits / 8;
    for (int d = 0; d < t->ndim; d++) empty |= t->dim[d] == 0;
    for (int d = 0; d < t->ndim && !empty; d++) fits &= !__builtin_mul_overflow(*bytes, t->dim[d], bytes);
    if (empty) *bytes = 0;
    return fits;
}

static int check_entry(const tile_safetensors *f, tile_stored *t, const Entry *e) {
    const int64_t data = (int64_t)(f->bytes - f->data);
    int64_t need = 0;
    if (!bytes_needed(t, type[e->type].bits, &need))
        return tile_fail(TILE_E_ARG, "%s: '%.100s': the shape is too large", f->path, t->name);
    if (e->begin > e->end || e->end > data)
        return tile_fail(TILE_E_ARG, "%s: '%.100s' lies at %lld .. %lld of %lld bytes", f->path, t->name,
                         (long long)e->begin, (long long)e->end, (long long)data);
    if (e->end - e->begin != need)
        return tile_fail(TILE_E_ARG, "%s: '%.100s' takes %lld bytes, and lies at %lld .. %lld", f->path, t->name,
                         (long long)need, (long long)e->begin, (long long)e->end);
    t->type = type[e->type].name;
    t->data = (const char *)f->map + f->data + e->begin;
    t->bytes = (size_t)need;
    return TILE_OK;
}

/* ---- the header ---- */

static bool grow(tile_safetensors *f) {
    if (f->count < f->room) return true;
    const size_t room = f->room ? 2 * f->room : 64;
    tile_stored *more = realloc(f->tensor, room * sizeof *more);
    if (!more) return false;
    f->tensor = more, f->room = room;
    return true;
}

static int read_tensor(tile_safetensors *f, Json *j, char *name) {
    Entry e = {0};
    if (!grow(f)) return tile_fail(TILE_E_NOMEM, "out of memory");
    tile_stored *t = &f->tensor[f->count++];
    *t = (tile_stored){.name = name};
    f->used += strlen(name) + 1;
    if (read_entry(j, t, &e, f->names + f->used)) return check_entry(f, t, &e);
    return tile_fail(TILE_E_ARG, "%s: byte %zu: '%.100s': %s", f->path, j->at + PREFIX, name, j->why);
}

static int read_header(tile_safetensors *f, Json *j) {
    bool first = true;
    int error = TILE_OK;
    if (!json_expect(j, '{')) return malformed(f, j);
    while (!error && json_more(j, '}', &first)) {
        char *name = f->names + f->used;
        if (!json_text(j, name) || !json_expect(j, ':')) break;
        if (strcmp(name, "__metadata__") != 0)
            error = read_tensor(f, j, name);
        else
            json_skip(j);
    }
    if (error) return error;
    return json_end(j) ? TILE_OK : malformed(f, j);
}

/* ---- all tensors ---- */

static int compare_places(const void *a, const void *b) {
    const tile_stored *x = a, *y = b;
    if (x->data != y->data) return (const char *)x->data < (const char *)y->data ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Every byte belongs to one tensor. */
static int check_places(const tile_safetensors *f) {
    const char *data = (const char *)f->map + f->data;
    size_t end = 0;
    for (size_t i = 0; i < f->count; i++) {
        const tile_stored *t = &f->tensor[i];
        const size_t begin = (size_t)((const char *)t->data - data);
        if (begin < end)
            return tile_fail(TILE_E_ARG, "%s: '%.100s' and '%.100s' overlap", f->path, t[-1].name, t->name);
        if (begin > end)
            return tile_fail(TILE_E_ARG, "%s: '%.100s' begins at %zu; the bytes from %zu on are no tensor's", f->path,
                             t->name, begin, end);
        end = begin + t->bytes;
    }
    if (end == f->bytes - f->data) return TILE_OK;
    return tile_fail(TILE_E_ARG, "%s: %zu bytes behind the last tensor", f->path, f->bytes - f->data - end);
}

static int compare_names(const void *a, const void *b, void *tensor) {
    const tile_stored *t = tensor;
    return strcmp(t[*(const int *)a].name, t[*(const int *)b].name);
}

static int sort_names(tile_safetensors *f) {
    f->by_name = malloc((f->count + 1) * sizeof *f->by_name);
    if (!f->by_name) return tile_fail(TILE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < f->count; i++) f->by_name[i] = (int)i;
    qsort_r(f->by_name, f->count, sizeof *f->by_name, compare_names, f->tensor);
    for (size_t i = 1; i < f->count; i++)
        if (!strcmp(f->tensor[f->by_name[i - 1]].name, f->tensor[f->by_name[i]].name))
            return tile_fail(TILE_E_ARG, "%s: '%.100s' stands twice", f->path, f->tensor[f->by_name[i]].name);
    return TILE_OK;
}

static int read_file(tile_safetensors *f) {
    uint64_t length = 0;
    for (int i = PREFIX - 1; i >= 0 && f->bytes >= PREFIX; i--) length = length << 8 | ((unsigned char *)f->map)[i];
    if (f->bytes < PREFIX || length > f->bytes - PREFIX || length > longest_header)
        return tile_fail(TILE_E_ARG, "%s: byte 0: a header of %llu bytes, the file has %zu", f->path,
                         (unsigned long long)length, f->bytes);
    f->data = PREFIX + (size_t)length;
    f->names = malloc((size_t)length + 1);
    if (!f->names) return tile_fail(TILE_E_NOMEM, "out of memory");
    Json j = {.text = (const char *)f->map + PREFIX, .n = (size_t)length};
    int error = read_header(f, &j);
    if (error) return error;
    if (f->count) qsort(f->tensor, f->count, sizeof *f->tensor, compare_places);
    error = sort_names(f);
    return error ? error : check_places(f);
}

static int map_file(tile_safetensors *f) {
    struct stat s;
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tile_fail(TILE_E_SYS, "%s: %s", f->path, strerror(errno));
    bool good = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    if (good) f->bytes = (size_t)s.st_size;
    if (good && f->bytes) f->map = mmap(NULL, f->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    const int why = errno;
    close(fd);
    if (!good) return tile_fail(TILE_E_SYS, "%s: no file", f->path);
    if (f->map != MAP_FAILED) return TILE_OK;
    f->map = NULL;
    return tile_fail(TILE_E_SYS, "%s: %s", f->path, strerror(why));
}

int tile_safetensors_open(const char *path, tile_safetensors **file) {
    tile_safetensors *f = calloc(1, sizeof *f);
    *file = NULL;
    if (!f) return tile_fail(TILE_E_NOMEM, "out of memory");
    f->path = path;
    int error = map_file(f);
    if (!error) error = read_file(f);
    f->path = NULL;
    if (error)
        tile_safetensors_close(f);
    else
        *file = f;
    return error;
}

void tile_safetensors_close(tile_safetensors *f) {
    if (!f) return;
    if (f->map) munmap(f->map, f->bytes);
    free(f->names);
    free(f->tensor);
    free(f->by_name);
    free(f);
}

const tile_stored *tile_safetensors_find(const tile_safetensors *f, const char *name) {
    size_t low = 0, high = f->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const tile_stored *t = &f->tensor[f->by_name[middle]];
        const int order = strcmp(name, t->name);
        if (!order) return t;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const tile_stored *tile_safetensors_at(const tile_safetensors *f, size_t i) {
    return i < f->count ? &f->tensor[i] : NULL;
}
