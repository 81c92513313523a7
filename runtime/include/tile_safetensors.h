/* tile_safetensors.h: tensors of a safetensors file: eight bytes that say how long the header is, a header of JSON, the
   tensors' bytes. The whole header is checked before a tensor is given out: types, shapes, places, overlaps, gaps. */
#ifndef TILE_SAFETENSORS_H
#define TILE_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TILE_STORED_DIMS = 8 }; /* dimensions of a tensor, at most: as the language has */

typedef struct tile_safetensors tile_safetensors;

/* A tensor of a file, row-major, little-endian. The data belong to the file, and may begin at any byte. */
typedef struct {
    const char *name, *type; /* the type as the file says: "F32", "BF16", "F8_E4M3", "I64", .. */
    int ndim;
    int64_t dim[TILE_STORED_DIMS];
    const void *data;
    size_t bytes;
} tile_stored;

/* Maps the file, which must not be changed while it is open. On an error tile_last_error() names the file and the
   tensor or the byte: TILE_E_SYS where the file cannot be read, TILE_E_NOMEM, TILE_E_ARG where it is malformed. */
int tile_safetensors_open(const char *path, tile_safetensors **file);
void tile_safetensors_close(tile_safetensors *);
const tile_stored *tile_safetensors_find(const tile_safetensors *, const char *name); /* NULL: there is none */
const tile_stored *tile_safetensors_at(const tile_safetensors *, size_t i); /* in the data's order; NULL: past the last */

#ifdef __cplusplus
}
#endif

#endif
