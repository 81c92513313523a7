/* tile_print.h: records of `print` and of assertions that fail, which a run leaves and the runtime takes. Plain C: tasks
   on the host and on GPUs write it, the runtime and the interpreter's caller make lines of it.
   A program has a text for each statement of each of its calls: in its place of marks come a record's places, then its
   value, or none. */
#ifndef TILE_DEVICE_TILE_PRINT_H
#define TILE_DEVICE_TILE_PRINT_H

#include <stdint.h>

enum { TILE_PRINT_PLACES = 8 /* positions of a record, as in ir/ir.h; chosen: those of a grid's ranges */ };

/* Marks of a text; the last ones say what a value is. */
enum { TILE_PRINT_PLACE = 1, TILE_PRINT_F32 = 2, TILE_PRINT_F64 = 3, TILE_PRINT_I64 = 4, TILE_PRINT_BOOL = 5,
       TILE_PRINT_FAILS = 6 /* stands first in the text of an assertion */ };

typedef struct {
    uint64_t site, value; /* number of its text; the value's bits, an integer's sign-extended */
    int64_t place[TILE_PRINT_PLACES];
} tile_print_record;

/* One per rank and instance, where its tasks run. Writers take numbers by `count`, and drop what does not fit. */
typedef struct tile_prints {
    uint64_t room, count;
    uint64_t failed; /* elements whose assertion does not hold, also those that did not fit */
    uint64_t pad[5];
    tile_print_record record[];
} tile_prints;

#endif
