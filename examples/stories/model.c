#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the struct of arguments has the tensors of the checkpoint, and what this rank makes itself. */
static const struct {
    const char *name;
    size_t at;
} slot[] = {
    {"emb", offsetof(step_args, emb)},         {"w.norm1", offsetof(step_args, w_norm1)},
    {"w.wq", offsetof(step_args, w_wq)},       {"w.wk", offsetof(step_args, w_wk)},
    {"w.wv", offsetof(step_args, w_wv)},       {"w.wo", offsetof(step_args, w_wo)},
    {"w.norm2", offsetof(step_args, w_norm2)}, {"w.w1", offsetof(step_args, w_w1)},
    {"w.w2", offsetof(step_args, w_w2)},       {"w.w3", offsetof(step_args, w_w3)},
    {"w.norm", offsetof(step_args, w_norm)},   {"kc", offsetof(step_args, kc)},
    {"vc", offsetof(step_args, vc)},           {"logits", offsetof(step_args, logits)},
    {"ids", offsetof(step_args, ids)},         {"at", offsetof(step_args, at)},
    {"next", offsetof(step_args, next)},
};
enum { SLOTS = sizeof slot / sizeof *slot };

static const tile_arg *arg_find(const char *name) {
    for (int i = 0; i < step_program.nargs; i++)
        if (strcmp(step_program.arg[i].name, name) == 0) return &step_program.arg[i];
    return NULL;
}

/* ---- sizes ---- */

static int shape_text(char *to, size_t room, const int64_t *dim, int ndim) {
    int n = snprintf(to, room, "[");
    for (int d = 0; d < ndim; d++) n += snprintf(to + n, room - (size_t)n, "%s%" PRId64, d ? ", " : "", dim[d]);
    return n + snprintf(to + n, room - (size_t)n, "]");
}

static bool shape_check(const Checkpoint *c, const char *name, const int64_t *dim, int ndim, Reason *why) {
    const tile_arg *a = arg_find(name);
    char program[64], file[64];
    if (a->ndim == ndim && memcmp(a->dim, dim, sizeof *dim * (size_t)ndim) == 0) return true;
    shape_text(program, sizeof program, a->dim, a->ndim);
    shape_text(file, sizeof file, dim, ndim);
    const int64_t *n = c->number;
    return reason_set(
        why,
        "'%s' is %s in the program and %s in the checkpoint; compile stories.tile with -D L=%" PRId64 " -D D=%" PRId64
        " -D F=%" PRId64 " -D H=%" PRId64 " -D G=%" PRId64 " -D E=%" PRId64 " -D V=%" PRId64 " -D S=%" PRId64,
        name, program, file, n[LAYERS], n[DIM], n[HIDDEN], n[HEADS], n[GROUPS], n[WIDTH], n[VOCAB], n[PLACES]);
}

bool model_fits(const Checkpoint *c, Reason *why) {
    for (int i = 0; i < TENSORS; i++)
        if (!shape_check(c, c->tensor[i].name, c->tensor[i].dim, c->tensor[i].ndim, why)) return false;
    const int64_t *n = c->number;
    return shape_check(c, "kc", (int64_t[]){n[LAYERS], 1, n[PLACES], n[GROUPS], n[WIDTH]}, 5, why);
}

/* ---- parts ---- */

typedef struct {
    int64_t first[TILE_MAX_DIMS], extent[TILE_MAX_DIMS], elements;
} Block;

/* Of a dimension that is split the rank has a block of ceil(n / ranks); the last ones may be short or empty. */
static Block block_of(const tile_arg *a, int rank, int ranks) {
    Block b = {.elements = 1};
    for (int d = 0; d < a->ndim; d++) {
        int64_t n = a->dim[d], each = a->split[d] >= 0 ? (n + ranks - 1) / ranks : n,
                first = a->split[d] >= 0 ? each * rank : 0;
        b.first[d] = first < n ? first : n;
        b.extent[d] = n - b.first[d] < each ? n - b.first[d] : each;
        b.elements *= b.extent[d];
    }
    return b;
}

/* Copies the block row by row out of a whole tensor. */
static void block_copy(const tile_arg *a, const Block *b, const char *whole, float *part) {
    int64_t at[TILE_MAX_DIMS] = {0}, row = b->extent[a->ndim - 1];
    for (int64_t done = 0; done < b->elements; done += row) {
        int64_t index = 0;
        for (int d = 0; d < a->ndim; d++) index = index * a->dim[d] + b->first[d] + at[d];
        memcpy(part + done, whole + sizeof *part * (size_t)index, sizeof *part * (size_t)row);
        for (int d = a->ndim - 2; d >= 0 && ++at[d] == b->extent[d]; d--) at[d] = 0;
    }
}

static void **slot_of(Model *m, int i) { return (void **)((char *)&m->args + slot[i].at); }

/* Zero, or a part of the checkpoint; numbers all have four bytes. */
static int slot_fill(Model *m, const Checkpoint *c, int i) {
    const tile_arg *a = arg_find(slot[i].name);
    const CheckpointTensor *t = checkpoint_find(c, slot[i].name);
    Block b = block_of(a, tile_mesh_rank(m->mesh), tile_mesh_size(m->mesh));
    float *part = calloc((size_t)b.elements + 1, sizeof *part);
    if (!part) return TILE_E_NOMEM;
    if (t) block_copy(a, &b, t->data, part);
    size_t bytes = sizeof *part * (size_t)b.elements;
    int code = tile_alloc(m->mesh, bytes, slot_of(m, i));
    if (!code) code = tile_copy_in(m->mesh, *slot_of(m, i), part, bytes, NULL);
    if (!code) code = tile_stream_sync(m->mesh, NULL);
    free(part);
    return code;
}

int model_open(Model *m, tile_mesh *mesh, const Checkpoint *c) {
    *m = (Model){.mesh = mesh, .vocab = c->number[VOCAB], .places = c->number[PLACES]};
    m->logits = calloc((size_t)m->vocab, sizeof *m->logits);
    int code = m->logits ? TILE_OK : TILE_E_NOMEM;
    for (int i = 0; i < SLOTS && !code; i++) code = slot_fill(m, c, i);
    return code;
}

/* Copies and run follow each other on the mesh's stream. */
int model_step(Model *m, step *program, int token, int64_t at) {
    int32_t in[2] = {token, (int32_t)at};
    int code = tile_copy_in(m->mesh, (void *)m->args.ids, &in[0], sizeof in[0], NULL);
    if (!code) code = tile_copy_in(m->mesh, (void *)m->args.at, &in[1], sizeof in[1], NULL);
    if (!code) code = step_run(program, &m->args, NULL);
    if (!code) code = tile_copy_out(m->mesh, &m->next, m->args.next, sizeof m->next, NULL);
    if (!code) code = tile_copy_out(m->mesh, m->logits, m->args.logits, sizeof *m->logits * (size_t)m->vocab, NULL);
    return code ? code : tile_stream_sync(m->mesh, NULL);
}

void model_close(Model *m) {
    for (int i = 0; i < SLOTS; i++) tile_free(m->mesh, *slot_of(m, i));
    free(m->logits);
}
