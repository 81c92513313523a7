/* convert.h: how a tile changes from one register layout to another.
   Both have places reg, lane, wave, block (any may lack). Every element that `to` wants must be somewhere in `from`. */
#ifndef TILEC_IR_LAYOUT_CONVERT_H
#define TILEC_IR_LAYOUT_CONVERT_H

#include "ir/layout/lds.h"

typedef enum {
    CONVERT_FREE,    /* registers get other names */
    CONVERT_SHUFFLE, /* lanes of a wave exchange registers */
    CONVERT_LDS,     /* through the workgroup's memory */
    CONVERT_NONE,    /* blocks would have to exchange data, or an element is nowhere */
} ConvertKind;

/* A shuffle runs in rounds t = 0 .. 2^registers - 1: lane l receives for its register t ^ turn(l) what lane
   source_lane(t, l) sends; that lane sends one register, whichever lane receives it. */
typedef struct {
    ConvertKind kind;
    Layout source;       /* place in `to` -> place in `from`, both with reg, lane, wave, block */
    uint64_t turn[6];    /* of each lane bit: register bits */
    bool crosses;        /* shuffle: source_lane is not l xor a constant of the round */
    bool selects;        /* shuffle: which register is sent or received depends on the lane */
    int registers;       /* registers of a lane in `to`, of elements */
    int shuffles;        /* 32-bit shuffle instructions of one wave; rounds that stay in their lane cost none */
    bool through_memory; /* also set for a shuffle when there is such a way, so that costs can be compared */
    Layout memory;
    LdsCount store, load;
} Conversion;

void convert_plan(Conversion *, const Layout *from, const Layout *to, const LdsMachine *);
/* The register and place in `from` for round t and the lane and wave bits of `place` (its reg bits are zero). */
uint64_t convert_receives(const Conversion *, uint64_t t, uint64_t place); /* place in `to` */
uint64_t convert_source(const Conversion *, uint64_t t, uint64_t place);   /* place in `from` */
void convert_print(Text *, const Conversion *);

#endif
