#include "checkpoint.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *name, *tile; /* in messages; the dim of stories.tile */
    int64_t most;
} number_facts[NUMBERS] = {
    [DIM] = {"dim", "D", 1 << 16},           [HIDDEN] = {"hidden_dim", "F", 1 << 18},
    [LAYERS] = {"n_layers", "L", 1 << 12},   [HEADS] = {"n_heads", "H", 1 << 12},
    [GROUPS] = {"n_kv_heads", "G", 1 << 12}, [VOCAB] = {"vocab_size", "V", 1 << 20},
    [PLACES] = {"seq_len", "S", 1 << 20},    [WIDTH] = {"head size", "E", 1 << 16},
};

/* In the order of the file. */
static const struct {
    const char *name;
    int ndim, dim[4];
} tensor_facts[TENSORS] = {
    {"emb", 2, {VOCAB, DIM}},
    {"w.norm1", 2, {LAYERS, DIM}},
    {"w.wq", 4, {LAYERS, HEADS, WIDTH, DIM}},
    {"w.wk", 4, {LAYERS, GROUPS, WIDTH, DIM}},
    {"w.wv", 4, {LAYERS, GROUPS, WIDTH, DIM}},
    {"w.wo", 4, {LAYERS, DIM, HEADS, WIDTH}},
    {"w.norm2", 2, {LAYERS, DIM}},
    {"w.w1", 3, {LAYERS, HIDDEN, DIM}},
    {"w.w2", 3, {LAYERS, DIM, HIDDEN}},
    {"w.w3", 3, {LAYERS, HIDDEN, DIM}},
    {"w.norm", 1, {DIM}},
};

enum { MAGIC = 0x616b3432 }; /* "ak42": later formats */

static bool number_check(const Checkpoint *c, int i, Reason *why) {
    int64_t n = c->number[i];
    if (i == DIM && n == MAGIC)
        return reason_set(why, "byte 0: a checkpoint of a later format (\"ak42\"); only the first format is read");
    if (i == VOCAB && n < 0)
        return reason_set(why,
                          "byte %d: vocab_size %" PRId64 ": negative numbers announce a classifier of its own, which "
                          "stories.tile does not have",
                          4 * i, n);
    if (n >= 1 && n <= number_facts[i].most) return true;
    return reason_set(why, "byte %d: %s %" PRId64 " is not in 1 .. %" PRId64, 4 * i, number_facts[i].name, n,
                      number_facts[i].most);
}

static bool header_parse(Checkpoint *c, const char *bytes, size_t n, Reason *why) {
    int32_t header[HEADER];
    if (n < sizeof header)
        return reason_set(why, "byte %zu: the file ends in the header of %zu bytes", n, sizeof header);
    memcpy(header, bytes, sizeof header);
    for (int i = 0; i < HEADER; i++) {
        c->number[i] = header[i];
        if (!number_check(c, i, why)) return false;
    }
    int64_t dim = c->number[DIM], heads = c->number[HEADS], groups = c->number[GROUPS];
    if (dim % heads) return reason_set(why, "byte 12: dim %" PRId64 " is no multiple of n_heads %" PRId64, dim, heads);
    if (heads % groups)
        return reason_set(why, "byte 16: n_heads %" PRId64 " is no multiple of n_kv_heads %" PRId64, heads, groups);
    c->number[WIDTH] = dim / heads;
    return c->number[WIDTH] % 2 == 0 ||
           reason_set(why, "byte 12: heads of odd size %" PRId64 " have no rotary positions", dim / heads);
}

/* The limits above keep every product of a shape below 2^48. */
static size_t tensor_place(const Checkpoint *c, int i, CheckpointTensor *t) {
    size_t bytes = sizeof(float);
    *t = (CheckpointTensor){.name = tensor_facts[i].name, .ndim = tensor_facts[i].ndim};
    for (int d = 0; d < t->ndim; d++) {
        t->dim[d] = c->number[tensor_facts[i].dim[d]];
        bytes *= (size_t)t->dim[d];
    }
    return bytes;
}

bool checkpoint_parse(Checkpoint *c, const char *bytes, size_t n, Reason *why) {
    if (!header_parse(c, bytes, n, why)) return false;
    size_t at = HEADER * sizeof(int32_t);
    for (int i = 0; i < TENSORS; i++) {
        size_t each = tensor_place(c, i, &c->tensor[i]);
        if (n - at < each)
            return reason_set(why, "byte %zu: the file ends in '%s', which takes bytes %zu to %zu", n,
                              c->tensor[i].name, at, at + each);
        c->tensor[i].data = bytes + at;
        at += each;
    }
    size_t turns = sizeof(float) * (size_t)(c->number[PLACES] * c->number[WIDTH]); /* tables of cos and sin: not used */
    if (n - at == turns) return true;
    return reason_set(why, "byte %zu: the header's numbers make a file of %zu bytes, this one has %zu", at, at + turns,
                      n);
}

const CheckpointTensor *checkpoint_find(const Checkpoint *c, const char *name) {
    for (int i = 0; i < TENSORS; i++)
        if (strcmp(c->tensor[i].name, name) == 0) return &c->tensor[i];
    return NULL;
}
