/* fault.c: reports of a poisoned mesh: the record as a sentence, and NaN in the results of runs that failed. */
#include "gpu.h"

typedef struct {
    const char *name;
    uint8_t bits;
    uint64_t nan; /* 0: the type has none */
} ElemFacts;

static const ElemFacts elem_facts[] = {
    {"f64", 64, 0x7ff8000000000000u},
    {"f32", 32, 0x7fc00000u},
    {"f16", 16, 0x7e00u},
    {"bf16", 16, 0x7fc0u},
    {"f8e4m3", 8, 0x7fu},
    {"f8e5m2", 8, 0x7eu},
    {"f8e4m3fnuz", 8, 0x80u},
    {"i64", 64, 0},
    {"i32", 32, 0},
    {"i16", 16, 0},
    {"i8", 8, 0},
    {"u8", 8, 0},
    {"i4", 4, 0},
    {"t2", 2, 0},
    {"bool", 8, 0},
};

static const ElemFacts *elem_find(const char *elem) {
    for (size_t i = 0; i < sizeof elem_facts / sizeof *elem_facts; i++)
        if (strcmp(elem_facts[i].name, elem) == 0) return &elem_facts[i];
    return NULL;
}

size_t tile_elem_bits(const char *elem) {
    const ElemFacts *e = elem_find(elem);
    return e ? e->bits : 0;
}

/* The rank's block of an extent split over axes, major first: blocks of ceil(n / ranks), the last ones short or empty.
 */
static int64_t block_extent(const tile_instance *p, int64_t n, int axes) {
    int64_t block = n;
    for (; axes >= 0; axes = (axes >> 2) - 1) {
        int64_t ranks = p->program->axis[axes & 3];
        block = (block + ranks - 1) / ranks;
        n -= p->coord[axes & 3] * block;
        n = n < 0 ? 0 : n < block ? n : block;
    }
    return n;
}

int64_t tile_extent(const tile_instance *p, int64_t c, int sym, int split, const int64_t *dim) {
    return block_extent(p, c + (sym >= 0 ? dim[sym] : 0), split);
}

int64_t arg_elements(const tile_instance *p, const tile_arg *a, const int64_t *dim) {
    int64_t all = 1;
    for (int d = 0; d < a->ndim; d++) all *= tile_extent(p, a->dim[d], a->sym[d], a->split[d], dim);
    return all;
}

static void nan_fill(void *to, const ElemFacts *e, int64_t n) {
    size_t each = e->bits / 8;
    for (int64_t i = 0; i < n; i++) memcpy((char *)to + (size_t)i * each, &e->nan, each);
}

void fault_fill(const Frame *f) {
    const tile_program *p = f->instance->program;
    for (int i = 0; i < p->nargs; i++) {
        const ElemFacts *e = elem_find(p->arg[i].elem);
        if (p->arg[i].role != TILE_ROLE_INPUT && e && e->nan)
            nan_fill(f->arg[i], e, arg_elements(f->instance, &p->arg[i], f->dim));
    }
}

bool fault_poisoned(const tile_mesh *m) {
    return atomic_load_explicit(&m->cell[m->rank]->poison, memory_order_relaxed) != 0;
}

int fault_tell(const tile_record *why, int code) {
    if (why->code == TILE_E_BUSY)
        return tile_fail(code, "rank %d gave up: a run of program '%s' began before the one before had ended",
                         why->rank, why->name);
    if (why->code == TILE_E_RANGE && why->expected)
        return tile_fail(code, "element %lld of '%s' is %lld on rank %d, and starts of groups ascend from 0 to the number of their positions",
                         (long long)why->task, why->name, (long long)why->seen, why->rank);
    if (why->code == TILE_E_RANGE)
        return tile_fail(code, "element %lld of '%s' is %lld on rank %d, outside its declared range%s",
                         (long long)why->task, why->name, (long long)why->seen, why->rank,
                         code == TILE_E_RANGE ? "; nothing was run" : ": that rank gave up");
    if (why->missing < 0 && why->flag >= 0)
        return tile_fail(
            code, "rank %d gave up: a packet of '%s' has not come: generation %llu expected, %llu seen (task %lld)",
            why->rank, why->name, (unsigned long long)why->expected, (unsigned long long)why->seen,
            (long long)why->task);
    if (why->missing < 0 && why->task < 0) return tile_fail(code, "rank %d gave up: %s", why->rank, why->name);
    if (why->missing < 0)
        return tile_fail(code, "rank %d gave up: %s (task %lld)", why->rank, why->name, (long long)why->task);
    return tile_fail(
        code, "rank %d gave up: rank %d is missing at flag '%s': generation %llu expected, %llu seen (task %lld)",
        why->rank, why->missing, why->name, (unsigned long long)why->expected, (unsigned long long)why->seen,
        (long long)why->task);
}

void fault_clear(tile_mesh *m) {
    tile_fault_cell *own = m->fault.cell[m->rank];
    memset(&own->record, 0, sizeof own->record);
    atomic_store_explicit(&own->claim, 0, memory_order_relaxed);
    atomic_store_explicit(&own->poison, 0, memory_order_relaxed);
}

bool fault_take_refusal(tile_mesh *m) {
    tile_record why;
    if (!tile_fault_read(&m->fault, m->rank, m->nranks, &why) || why.code != TILE_E_RANGE) return false;
    fault_tell(&why, TILE_E_RANGE);
    fault_clear(m);
    return true;
}

int fault_report(tile_mesh *m) {
    tile_record why;
    bool known = tile_fault_read(&m->fault, m->rank, m->nranks, &why);
    bool own = known && why.code && (why.code != TILE_E_RANGE || why.rank == m->rank); /* other ranks have run */
    int code = m->reported ? TILE_E_POISONED : own ? why.code : TILE_E_TIMEOUT;
    m->reported = true;
    return known ? fault_tell(&why, code) : tile_fail(code, "a rank gave up");
}

int tile_mesh_status(tile_mesh *m, tile_fault *out) {
    tile_record why;
    if (m->gpu) gpu_fault_learn(m);
    *out = (tile_fault){.rank = -1, .missing = -1, .flag = -1};
    if (!tile_fault_read(&m->fault, m->rank, m->nranks, &why)) return TILE_OK;
    *out = (tile_fault){.rank = why.rank,
                        .missing = why.missing,
                        .task = why.task,
                        .flag = why.flag,
                        .expected = why.expected,
                        .seen = why.seen};
    memcpy(out->name, why.name, sizeof out->name);
    return TILE_E_TIMEOUT;
}
