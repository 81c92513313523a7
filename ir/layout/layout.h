/* layout.h: where the elements of a tile lie: linear maps over GF(2) from places to tile indices.
   A place is named bits (reg, lane, wave, block, or off for an offset in memory), an index is the bits of each range.
   See docs/design/layout.md. */
#ifndef TILEC_IR_LAYOUT_LAYOUT_H
#define TILEC_IR_LAYOUT_LAYOUT_H

#include "base/arena.h"
#include "base/text.h"
#include <stdbool.h>
#include <stdint.h>

enum { LAYOUT_DIMS = 8, LAYOUT_BITS = 32 };

/* Extent = repeat * 2^bits, repeat odd. A tile whose size is no power of two is a row-major sequence of
   blocks whose sizes are. The number of the block comes above the bits of the layout's first place. */
typedef struct {
    const char *name;
    int bits;
    int64_t repeat;
} LayoutDim;

/* Bits of places and of indices are numbered through all dims, the first dim's lowest bit first. */
typedef struct {
    int nplace, nindex;
    LayoutDim place[LAYOUT_DIMS]; /* repeat is 1 */
    LayoutDim index[LAYOUT_DIMS];
    int width;                        /* bits of an element; 0 = left open */
    uint64_t column[2 * LAYOUT_BITS]; /* the index of each bit of the place */
} Layout;

/* Adding: the dim, or the next higher bits of one that is there already. */
bool layout_add_index(Layout *, const char *name, int64_t extent); /* once a name, before any place */
int layout_add_place(Layout *, const char *name, int bits);        /* number of the first new bit, its columns 0 */

int layout_place_bits(const Layout *);
int layout_index_bits(const Layout *);
int layout_place(const Layout *, const char *name,
                 int *first); /* the dim's number, or -1; first: number of its lowest bit */
int layout_index(const Layout *, const char *name, int *first);
int64_t layout_repeats(const Layout *); /* blocks of the tile */
uint64_t layout_apply(const Layout *, uint64_t place);
uint64_t layout_part(const Layout *, const char *place, uint64_t value); /* the named part of a place's bits */

int layout_rank(const Layout *);
bool layout_injective(const Layout *);  /* no element twice */
bool layout_surjective(const Layout *); /* every element somewhere */
bool layout_bijective(const Layout *);
bool layout_same_tile(const Layout *, const Layout *); /* the same ranges and extents, in any order */
bool layout_equal(const Layout *, const Layout *);     /* the same map, whatever the order of dims */

/* All of these return false when it does not exist, and then leave *to undefined. Only layout_product and layout_sub
 * know tiles of more than one block. */
bool layout_compose(Layout *to, const Layout *outer,
                    const Layout *inner);              /* outer(inner(place)): outer's places are inner's ranges */
bool layout_right_inverse(Layout *to, const Layout *); /* to(layout) after: layout(to(x)) = x */
bool layout_left_inverse(Layout *to, const Layout *);  /* to(layout(x)) = x */
bool layout_inverse(Layout *to, const Layout *);
bool layout_product(Layout *to, const Layout *low, const Layout *high); /* bits of `high` above those of `low` */
bool layout_quotient(Layout *to, const Layout *, const Layout *low);    /* the `high` of which layout is low * high */
bool layout_sub(Layout *to, const Layout *, const char *const places[], int n, const char *const ranges[], int m);
/* The layout of a tile with only these ranges beside one laid out like this; places reg, lane, wave. */
bool layout_slice(Layout *to, const Layout *, const char *const ranges[], int n);

/* Memory in the order of the ranges, the last one fastest, with the 16-byte chunks of `swizzle` = 32, 64 or 128 bytes
   exchanged: byte ^= (byte >> 7 & swizzle / 16 - 1) << 4. 0: none. The layout has one place, `off`, counted in
   elements. */
bool layout_memory(Layout *to, const LayoutDim *index, int n, int width, int swizzle);

/* Text, e.g. "<i:32, k:8>{reg: 1k 2k; lane: 1i 2i 4i 8i 16i 4k} b16" or "#swz128<j:8, k:64> b16". */
void layout_print(Text *, const Layout *);
/* Returns NULL or what is wrong; *at: the offset of it. Names live in the arena. */
const char *layout_parse(Arena *, Layout *to, const char *text, int *at);

#endif
