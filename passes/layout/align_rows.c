/* align_rows.c: rows that begin at odd addresses and are stored again are dealt out to threads in vectors. The
   vectors begin at the row's first multiple of 16 bytes.
   Takes: value form. Gives: the same results, ranges `aligned`. */
#include "passes/layout/layout.h"

/* Positions of aligned places are not cheap: with more vectors a thread, or more masks, registers run out (bench/gpu).
 */
enum { MOST_VECTORS = 4, MOST_MASKS = 1 };

static int masks_of(const Kernel *k, int range) {
    int n = 0;
    for (const Op *op = k->body->first; op; op = op->next) n += op->kind == OP_POS && op->range == range;
    return n;
}

/* Few of its places are empty. */
static bool fills_tile(const Lay *l, int range) {
    return 4 * size_most(l->m, l->k->range.p[range].of) > 3 * l->extent[range];
}

void lay_align_rows(Lay *l) {
    for (int i = 0; i < l->k->ngrid; i++) {
        int64_t vectors = range_row_alignment(l->k, i) * (int64_t)l->target->wave * l->k->plan.waves;
        if (vectors && fills_tile(l, i) && l->extent[i] >= vectors && l->extent[i] <= MOST_VECTORS * vectors &&
            masks_of(l->k, i) <= MOST_MASKS)
            l->k->range.p[i].aligned = range_row_alignment(l->k, i);
    }
}
