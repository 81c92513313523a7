/* instance.c: a program on a mesh: its memory, its generation, its runs. */
#include "gpu.h"

#include "device/tile_print.h"

#include <stdlib.h>

/* What must be the same on all ranks; of a program for another ABI its number and name alone. */
typedef struct {
    char name[48];
    uint64_t hash, symmetric_bytes, words;
    int32_t abi, axes[3];
} Identity;

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static Identity identity_of(const tile_program *p) {
    Identity id = {.abi = p->abi};
    strncpy(id.name, p->name, sizeof id.name - 1);
    if (p->abi != TILE_ABI) return id;
    id.hash = p->hash, id.symmetric_bytes = p->symmetric_bytes, id.words = p->words;
    for (int a = 0; a < p->naxes; a++) id.axes[a] = p->axis[a];
    return id;
}

static int identity_compare(const Identity *a, const Identity *b, int rank) {
    if (strcmp(a->name, b->name) != 0)
        return tile_fail(TILE_E_MISMATCH, "rank 0 opens program '%s', rank %d opens '%s'", a->name, rank, b->name);
    if (a->abi != b->abi)
        return tile_fail(TILE_E_MISMATCH, "program '%s': ABI %d on rank 0, %d on rank %d", a->name, a->abi, b->abi,
                         rank);
    if (a->hash != b->hash)
        return tile_fail(TILE_E_MISMATCH,
                         "program '%s': rank %d has another build of it (hash %016llx, rank 0 has %016llx)", a->name,
                         rank, (unsigned long long)b->hash, (unsigned long long)a->hash);
    if (a->symmetric_bytes != b->symmetric_bytes || a->words != b->words ||
        memcmp(a->axes, b->axes, sizeof a->axes) != 0)
        return tile_fail(TILE_E_MISMATCH, "program '%s': rank %d has other sizes than rank 0", a->name, rank);
    return TILE_OK;
}

static int program_check(const tile_mesh *m, const tile_program *p) {
    int ranks = 1;
    if (p->abi != TILE_ABI)
        return tile_fail(TILE_E_MISMATCH, "program '%s' was made for ABI %d, this runtime has %d: compile it again",
                         p->name, p->abi, TILE_ABI);
    for (int a = 0; a < p->naxes; a++) ranks *= p->axis[a];
    if (ranks != m->nranks)
        return tile_fail(TILE_E_MISMATCH, "program '%s' was made for %d ranks, the mesh has %d", p->name, ranks,
                         m->nranks);
    return TILE_OK;
}

static int identities_compare(const tile_mesh *m, const tile_program *p) {
    Identity mine = identity_of(p), *all = calloc((size_t)m->nranks, sizeof *all);
    int error = all ? m->group->allgather(m->group, &mine, all, sizeof mine) : tile_fail(TILE_E_NOMEM, "out of memory");
    for (int r = 0; r < m->nranks && !error; r++) {
        all[r].name[sizeof all[r].name - 1] = 0; /* peers sent it */
        error = identity_compare(&all[0], &all[r], r);
    }
    free(all);
    return error ? error : program_check(m, p);
}

/* Axis 0 is the major one. */
static void coord_set(tile_instance *p, int rank) {
    for (int a = p->program->naxes - 1; a >= 0; a--) {
        p->coord[a] = rank % p->program->axis[a];
        rank /= p->program->axis[a];
    }
}

static int frames_open(tile_instance *p) {
    size_t args = (size_t)p->program->nargs, dims = (size_t)p->program->ndims, each = 2 * args + dims;
    uint64_t *memory = calloc(FRAMES * each + 1, sizeof *memory);
    if (!memory) return tile_fail(TILE_E_NOMEM, "out of memory");
    p->frame_memory = memory;
    for (int i = 0; i < FRAMES; i++, memory += each)
        p->frame[i] = (Frame){
            .instance = p, .arg = (void **)memory, .scalar = memory + args, .dim = (int64_t *)(memory + 2 * args)};
    return TILE_OK;
}

static int memory_open(tile_instance *p) {
    const tile_program *g = p->program;
    size_t n = (size_t)p->mesh->nranks;
    p->local_bytes = g->local_bytes;
    p->scratch_stride = pages_round(g->scratch_bytes);
    p->local = pages_map(p->local_bytes);
    p->scratch = pages_map(p->scratch_stride * ((size_t)p->mesh->nworkers + 1));
    p->symmetric = calloc(n, sizeof *p->symmetric);
    p->word = calloc(n, sizeof *p->word);
    p->sizes = calloc(n, sizeof *p->sizes);
    p->count = calloc(g->counts + 1, sizeof *p->count);
    uint64_t room;
    const size_t prints = prints_bytes(g, &room);
    if (prints && (p->prints = calloc(1, prints))) p->prints->room = room;
    if (prints && !p->prints) return tile_fail(TILE_E_NOMEM, "program '%s': no memory for %zu bytes of records of print", g->name, prints);
    if (!p->local || !p->scratch || !p->symmetric || !p->word || !p->sizes || !p->count)
        return tile_fail(TILE_E_NOMEM,
                         "program '%s': no memory for %zu bytes of workspace and %zu of scratch for each of %d workers",
                         g->name, g->local_bytes, g->scratch_bytes, p->mesh->nworkers);
    return frames_open(p);
}

static size_t share_bytes(const tile_program *g) {
    return round_up(g->symmetric_bytes, TILE_WORD_STRIDE) + g->words * TILE_WORD_STRIDE + sizes_bytes(g);
}

static void share_divide(tile_instance *p) {
    size_t words_at = round_up(p->program->symmetric_bytes, TILE_WORD_STRIDE);
    for (int r = 0; r < p->mesh->nranks; r++) {
        p->symmetric[r] = p->share.base + p->share.stride * (size_t)r;
        p->word[r] = (tile_word *)(p->symmetric[r] + words_at);
        p->sizes[r] = (_Atomic uint64_t *)(p->word[r] + p->program->words);
    }
}

/* Of what the ranks share in the host's memory, a program on GPUs has its shown sizes. */
static int gpu_start(tile_instance *p) {
    Group *g = p->mesh->group;
    int error = gpu_instance_open(p);
    if (error || !sizes_bytes(p->program)) return error;
    p->sizes = calloc((size_t)g->nranks, sizeof *p->sizes);
    error = group_agree(g, p->sizes ? TILE_OK : tile_fail(TILE_E_NOMEM, "out of memory"));
    if (!error) error = g->share(g, sizes_bytes(p->program), &p->share);
    for (int r = 0; r < g->nranks && !error; r++)
        p->sizes[r] = (_Atomic uint64_t *)(p->share.base + p->share.stride * (size_t)r);
    p->fault = p->mesh->fault;
    return error;
}

static int instance_start(tile_instance *p) {
    tile_mesh *m = p->mesh;
    const tile_program *g = p->program;
    int error = identities_compare(m, g);
    if (error) return error;
    coord_set(p, m->rank);
    if (m->gpu) return gpu_start(p);
    if (!g->task)
        return tile_fail(TILE_E_UNSUPPORTED, "program '%s' has no code for the host: its mesh wants target \"gpu\"",
                         g->name);
    error = group_agree(m->group, memory_open(p));
    if (!error)
        error = m->group->share(m->group, share_bytes(g), &p->share);
    if (error) return error;
    share_divide(p);
    p->fault = m->fault;
    p->fault.flag = g->flag;
    p->fault.what = g->name;
    sizes_watch(p);
    return TILE_OK;
}

static void instance_free(tile_instance *p) {
    if (p->gpu) gpu_instance_close(p);
    if (p->share.base) share_close(&p->share);
    if (p->local) pages_unmap(p->local, p->local_bytes);
    if (p->scratch) pages_unmap(p->scratch, p->scratch_stride * ((size_t)p->mesh->nworkers + 1));
    free(p->symmetric);
    free(p->word);
    free(p->sizes);
    free((void *)p->count);
    free(p->prints);
    free(p->frame_memory);
    free(p);
}

int tile_instance_open(tile_mesh *m, const tile_program *g, tile_instance **out) {
    *out = NULL;
    if (fault_poisoned(m)) return fault_report(m);
    tile_instance *p = calloc(1, sizeof *p);
    if (!p) return tile_fail(TILE_E_NOMEM, "out of memory");
    p->mesh = m;
    p->program = g;
    int error = instance_start(p);
    if (error) {
        instance_free(p);
        return error;
    }
    p->next = m->instances;
    m->instances = p;
    *out = p;
    return TILE_OK;
}

void tile_instance_close(tile_instance *p) {
    if (!p) return;
    queue_wait(p->mesh);
    tile_instance **link = &p->mesh->instances;
    while (*link != p) link = &(*link)->next;
    *link = p->next;
    instance_free(p);
}

int instance_clear(tile_instance *p) {
    p->generation = 0;
    if (p->share.base) memset(p->share.base + p->share.stride * (size_t)p->mesh->rank, 0, p->share.stride);
    if (p->gpu) return gpu_task_clear(p);
    for (size_t i = 0; i < p->program->counts; i++) atomic_store_explicit(&p->count[i], 0, memory_order_relaxed);
    return TILE_OK;
}

void instance_task(const tile_instance *p, const Frame *f, tile_task *t) {
    *t = (tile_task){.rank = p->mesh->rank,
                     .nranks = p->mesh->nranks,
                     .generation = f->generation,
                     .arg = f->arg,
                     .dim = f->dim,
                     .local = p->local,
                     .symmetric = p->symmetric,
                     .word = p->word,
                     .count = p->count,
                     .prints = p->prints,
                     .fault = &p->fault};
    memcpy(t->coord, p->coord, sizeof t->coord);
}

void frame_fill(Frame *f, void *const *arg, const int64_t *dim, int64_t tickets) {
    const tile_program *g = f->instance->program;
    f->tickets = tickets;
    for (int i = 0; i < g->ndims; i++) f->dim[i] = dim[i];
    for (int i = 0; i < g->nargs; i++) {
        f->arg[i] = arg[i];
        if (g->arg[i].ndim > 0) continue;
        memcpy(&f->scalar[i], arg[i], (tile_elem_bits(g->arg[i].elem) + 7) / 8);
        f->arg[i] = &f->scalar[i];
    }
}

static int64_t tickets_count(const tile_instance *p, void *const *arg, const int64_t *dim) {
    tile_task t;
    instance_task(p, &(Frame){.arg = (void **)arg, .dim = (int64_t *)dim}, &t);
    return p->program->tasks(&t);
}

static int args_check(const tile_instance *p, void *const *arg, const int64_t *dim) {
    const tile_program *g = p->program;
    for (int i = 0; i < g->ndims; i++)
        if (dim[i] < 0 || dim[i] > g->dim[i].bound)
            return tile_fail(TILE_E_ARG, "program '%s': %s = %lld is not in 0 .. %lld", g->name, g->dim[i].name,
                             (long long)dim[i], (long long)g->dim[i].bound);
    for (int i = 0; i < g->nargs; i++)
        if (!arg[i] && arg_elements(p, &g->arg[i], dim) > 0)
            return tile_fail(TILE_E_ARG, "program '%s': argument '%s' is NULL", g->name, g->arg[i].name);
    return TILE_OK;
}

int tile_instance_run(tile_instance *p, void *const *arg, const int64_t *dim, tile_stream stream) {
    if (stream && !p->gpu) return tile_fail(TILE_E_UNSUPPORTED, "the host has no stream but the mesh's own: pass NULL");
    if (p->gpu) gpu_notice_look(p->mesh);
    if (fault_poisoned(p->mesh)) return fault_report(p->mesh);
    int error = args_check(p, arg, dim);
    if (error) return error;
    if (p->gpu) return gpu_instance_run(p, arg, dim, stream);
    int64_t tickets = tickets_count(p, arg, dim);
    if (tickets < 0 || tickets > UINT32_MAX)
        return tile_fail(TILE_E_ARG, "program '%s': %lld tasks, at most 2^32 - 1 fit a run", p->program->name,
                         (long long)tickets);
    return queue_add(p, arg, dim, tickets);
}
