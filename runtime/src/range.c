/* range.c: inputs whose values have a declared range, looked at when their run begins, before any task of it.
   Takes a filled frame; gives the first value that is outside, as a sentence. */
#include "runtime.h"

#include <stdio.h>

/* Where the first value lies that is not in least .. past - 1, or n. Whole blocks at first, which become vector code.
 */
#define SCAN(T)                                                                                                        \
    static int64_t scan_##T(const void *from, int64_t n, int64_t least, int64_t past) {                                \
        const T *p = from;                                                                                             \
        int64_t i = 0;                                                                                                 \
        for (int bad = 0; i + BLOCK <= n; i += BLOCK) {                                                                \
            for (int64_t k = i; k < i + BLOCK; k++) bad |= (p[k] < least) | (p[k] >= past);                            \
            if (bad) break;                                                                                            \
        }                                                                                                              \
        while (i < n && p[i] >= least && p[i] < past) i++;                                                             \
        return i;                                                                                                      \
    }

/* Elements that are compared before the result is looked at, so that the loop is vectors; chosen: no measurement is recorded. */
enum { BLOCK = 1024 };
SCAN(int64_t)
SCAN(int32_t)
SCAN(int16_t)
SCAN(int8_t)
SCAN(uint8_t)

static const struct {
    const char *elem;
    int64_t (*scan)(const void *, int64_t n, int64_t least, int64_t past);
} scans[] = {
    {"i64", scan_int64_t}, {"i32", scan_int32_t}, {"i16", scan_int16_t}, {"i8", scan_int8_t}, {"u8", scan_uint8_t}};

static int64_t elements_scan(const char *elem, const void *from, int64_t n, int64_t least, int64_t past) {
    for (size_t i = 0; i < sizeof scans / sizeof *scans; i++)
        if (strcmp(scans[i].elem, elem) == 0) return scans[i].scan(from, n, least, past);
    return n;
}

static int64_t value_read(const void *from, int64_t i, const char *elem) {
    if (strcmp(elem, "i64") == 0) return ((const int64_t *)from)[i];
    if (strcmp(elem, "i32") == 0) return ((const int32_t *)from)[i];
    if (strcmp(elem, "i16") == 0) return ((const int16_t *)from)[i];
    return strcmp(elem, "i8") == 0 ? ((const int8_t *)from)[i] : ((const uint8_t *)from)[i];
}

static int64_t bound_value(const Frame *f, tile_bound b) { return b.c + (b.sym >= 0 ? f->dim[b.sym] : 0); }

static bool arg_inside(const Frame *f, int arg, char why[WHY_BYTES]) {
    const tile_program *g = f->instance->program;
    const tile_arg *a = &g->arg[arg];
    int64_t least = bound_value(f, a->least), past = bound_value(f, a->past);
    int64_t n = arg_elements(f->instance, a, f->dim), i = elements_scan(a->elem, f->arg[arg], n, least, past);
    if (i == n) return true;
    snprintf(why, WHY_BYTES, "program '%s': element %lld of '%s' is %lld, outside %lld .. %lld; nothing was run",
             g->name, (long long)i, a->name, (long long)value_read(f->arg[arg], i, a->elem), (long long)least,
             (long long)past);
    return false;
}

/* Peers see a replicated input themselves, and skip the run too; of a split one they have to be told. */
static void peers_tell(const Frame *f, const tile_arg *a) {
    bool split = false;
    tile_task t;
    for (int d = 0; d < a->ndim; d++) split = split || a->split[d] >= 0;
    if (!split) return;
    instance_task(f->instance, f, &t);
    t.ticket = -1;
    tile_record why = tile_record_make(&t, -1, -1, 0, 0);
    strcpy(why.name, "an input is out of range");
    tile_give_up(&t, why);
}

int frame_check(const Frame *f, char why[WHY_BYTES]) {
    const tile_program *g = f->instance->program;
    for (int i = 0; i < g->nargs; i++) {
        if (!g->arg[i].checked || arg_inside(f, i, why)) continue;
        peers_tell(f, &g->arg[i]);
        return TILE_E_RANGE;
    }
    return TILE_OK;
}
