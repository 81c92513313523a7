/* stored.h: tensors in safetensors files: FILE.safetensors, or FILE.safetensors:TENSOR. */
#ifndef TILEC_DRIVER_STORED_H
#define TILEC_DRIVER_STORED_H

#include "base/array.h"

bool stored_is_path(const char *path);
/* The tensor `name`, or TENSOR where the path names one. `field`, if any: of a record; the tensor is then TENSOR.field, or
   field alone. want, most, result: as npy_load's (base/npy.h); file: of the path. */
const char *stored_load(Arena *, const char *path, const char *name, const char *field, Elem want, size_t most,
                        Array *out, const char **file);
const char *stored_tensor(Arena *, const char *path); /* TENSOR of the path, or "" */
/* NULL, or a message. */
const char *stored_save(const char *path, const char *const *name, const Array *, int n);

#endif
