/* lds.h: banks of a workgroup's memory: conflicts counted, and swizzles without any.
   A memory layout is a bijection from `off`, in elements, to the tile; a register layout has places reg, lane, wave. */
#ifndef TILEC_IR_LAYOUT_LDS_H
#define TILEC_IR_LAYOUT_LDS_H

#include "ir/layout/layout.h"

/* One access of `bytes` a lane is served in phases: the lanes of a phase are a span of lane numbers, and its
   translates. In a phase each bank gives one 4-byte word; lanes that want the same word share it. */
typedef struct {
    bool write;
    int bytes, banks;
    int lanes; /* of the span's basis */
    int lane[6];
} LdsPhase;

typedef struct {
    const LdsPhase *phase;
    int n;
} LdsMachine;

typedef struct {
    int bytes;    /* a lane and access: the widest that both layouts and the machine allow */
    int accesses; /* of one wave */
    int phases;   /* what they take without conflicts, in cycles */
    int cycles;   /* what they take */
} LdsCount;

const LdsPhase *lds_phase(const LdsMachine *, bool write, int bytes); /* NULL: no such access */

/* Enumerates every access of the first wave. False: not the same tile, a memory layout that is no bijection, no width
 * that fits. */
bool lds_count(LdsCount *, const LdsMachine *, const Layout *memory, const Layout *registers, bool write);

/* The memory layout through which `from` becomes `to` in the fewest cycles, and both counts. */
bool lds_swizzle(Layout *memory, LdsCount *store, LdsCount *load, const LdsMachine *, const Layout *from,
                 const Layout *to);

#endif
