/* move.h: a tile through LDS, laid out so that neither side has bank conflicts (docs/design/layout.md). */
#ifndef TILEC_CODEGEN_GPU_MOVE_H
#define TILEC_CODEGEN_GPU_MOVE_H

#include "codegen/gpu/hip.h"
#include "ir/layout/convert.h"

/* Where in memory, in elements, what a layout's places hold lies. */
typedef struct {
    Layout offset;
    int run;          /* so many register bits run along memory, of which 16 bytes go at once .. */
    int bit[8];       /* .. these, from the lowest offset up */
    int bytes;        /* of an element */
    int outer;        /* the upper register bits are bits of a variable of a loop around, .. */
    const char *step; /* .. this one, .. */
    int low;          /* .. from this bit up */
} Way;

typedef struct {
    const Value *from, *to; /* what is stored, and what texts of the loads are named after */
    Layout from_layout, to_layout;
    Conversion plan;
    Way in, out;
    int64_t offset; /* of its part of memory */
    const Tile *tile;
} Move;

/* false: it goes not through memory. */
bool move_plan(Fn *, Move *, const Layout *from, const Layout *to, Elem);
int64_t move_bytes(const Move *);
void move_store(Fn *, const Move *); /* m->from, to memory */
void move_load(Fn *, const Move *);  /* m->tile, from memory */

#endif
