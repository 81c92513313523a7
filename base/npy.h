/* npy.h: arrays as NumPy's .npy files, versions 1.0, 2.0 and 3.0, both byte orders, C and Fortran order.
   Types that NumPy does not have are written as ml_dtypes writes them: bf16 as '<V2', the 8-bit floats as '|V1', to be
   viewed as ml_dtypes.bfloat16, .float8_e4m3fn, .float8_e5m2, .float8_e4m3fnuz; i4 and t2 as '|i1'. When read, 'V2' is
   bf16, 'V1' the 8-bit float that is asked for, and the names of ml_dtypes are understood too. */
#ifndef TILEC_BASE_NPY_H
#define TILEC_BASE_NPY_H

#include "base/array.h"
#include "base/text.h"

/* Reads a file's bytes into *out, row-major, in the machine's byte order. want: what a 'V1' or 'i1' stands for
   (ELEM_COUNT: unknown). NULL, or a message that names the byte where the file is wrong. */
const char *npy_read(Arena *, const char *bytes, size_t n, Elem want, Array *out);
/* How files of a type are made that NumPy does not have; NULL: it has the type. */
const char *npy_made(Arena *, Elem);
/* Appends version 1.0, little-endian, C order. */
void npy_write(Text *, const Array *);

/* A file or a pipe with at most `most` bytes of data. NULL or a message; of more data nothing is read, and *out has the
   shape alone, if it has dimensions. */
const char *npy_load(Arena *, const char *path, Elem want, size_t most, Array *out);
const char *npy_save(const char *path, const Array *);

#endif
