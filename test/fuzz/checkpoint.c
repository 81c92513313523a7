/* checkpoint.c: libFuzzer target: no bytes crash the checkpoint reader; what it takes is exactly as long as it says. */
#include "stories/checkpoint.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Reads all of a tensor, which the sanitizer watches. */
static size_t tensor_bytes(const CheckpointTensor *t) {
    size_t bytes = sizeof(float);
    for (int d = 0; d < t->ndim; d++) bytes *= (size_t)t->dim[d];
    char *copy = malloc(bytes);
    memcpy(copy, t->data, bytes);
    free(copy);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    Checkpoint c;
    Reason why;
    size_t at = HEADER * sizeof(int32_t);
    if (!checkpoint_parse(&c, (const char *)data, n, &why)) return 0;
    for (int i = 0; i < TENSORS; i++) {
        if (c.tensor[i].data != (const char *)data + at) abort();
        at += tensor_bytes(&c.tensor[i]);
    }
    if (at + sizeof(float) * (size_t)(c.number[PLACES] * c.number[WIDTH]) != n) abort();
    return 0;
}
