/* pixels.h: tiles of pixels: those of images [n, height, width, channels], counted one after the other with steps
   between them, each read at one distance from its place. A machine copies such a tile as it copies a box (im2col TMA).
 */
#ifndef TILEC_IR_PIXELS_H
#define TILEC_IR_PIXELS_H

#include "ir/ir.h"

enum { PIXEL_DIMS = 4 };

/* x[i / (h w), step (i / w % h) + begin + r, step (i % w) + begin + s, c] */
typedef struct {
    int row, channel; /* ranges: pixels, and their channels */
    /* of height and width, at [1] and [2]: */
    int64_t begin[PIXEL_DIMS], step[PIXEL_DIMS], count[PIXEL_DIMS]; /* the first place, to the next, how many */
    Affine at[PIXEL_DIMS];   /* the place of a pixel, as far as it follows the row; of channels and images all of it */
    Affine away[PIXEL_DIMS]; /* how far behind it all pixels of a tile are read */
} Pixels;

/* Does the access, in tiles of `depth` channels, copy pixels? row: the range that counts them. */
bool access_pixels(const Kernel *, const Op *, int row, int channel, int64_t depth, Pixels *);

#endif
