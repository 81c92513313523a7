/* range.c: inputs whose values have a declared range, looked at when their run begins, before any task of it.
   Takes a filled frame; gives the first value that is outside, as a sentence. */
#include "runtime.h"

#include <stdio.h>

static int64_t value_read(const void *from, int64_t i, size_t bits, bool is_signed) {
    if (bits == 64) return ((const int64_t *)from)[i];
    if (bits == 32) return ((const int32_t *)from)[i];
    if (bits == 16) return ((const int16_t *)from)[i];
    return is_signed ? ((const int8_t *)from)[i] : ((const uint8_t *)from)[i];
}

static int64_t bound_value(const Frame *f, tile_bound b) { return b.c + (b.sym >= 0 ? f->dim[b.sym] : 0); }

static bool arg_inside(const Frame *f, int arg, char why[WHY_BYTES]) {
    const tile_program *g = f->instance->program;
    const tile_arg *a = &g->arg[arg];
    int64_t least = bound_value(f, a->least), past = bound_value(f, a->past);
    for (int64_t i = 0, n = arg_elements(f->instance, a, f->dim); i < n; i++) {
        int64_t value = value_read(f->arg[arg], i, tile_elem_bits(a->elem), a->elem[0] == 'i');
        if (value >= least && value < past) continue;
        snprintf(why, WHY_BYTES, "program '%s': element %lld of '%s' is %lld, outside %lld .. %lld; nothing was run", g->name,
                 (long long)i, a->name, (long long)value, (long long)least, (long long)past);
        return false;
    }
    return true;
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
