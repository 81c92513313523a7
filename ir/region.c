/* region.c: questions about operations that several passes ask. */
#include "ir/ir.h"

bool access_equal(const Op *a, const Op *b) {
    if (a->sub.n != b->sub.n) return false;
    for (int d = 0; d < a->sub.n; d++)
        if (!affine_equal(&a->sub.p[d].lo, &b->sub.p[d].lo)) return false;
    return true;
}

bool region_synchronises(const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next)
        if (op_info[op->kind].class == CLASS_SYNC || region_synchronises(op->region[0]) || region_synchronises(op->region[1]))
            return true;
    return false;
}

static bool affine_counts_tiles(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_INDEX && (range < 0 || a->term[i].id == range)) return true;
    return false;
}

bool region_counts_tiles(const Region *r, int range) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        for (int d = 0; d < op->sub.n; d++)
            if (affine_counts_tiles(&op->sub.p[d].lo, range)) return true;
        if (region_counts_tiles(op->region[0], range) || region_counts_tiles(op->region[1], range)) return true;
    }
    return false;
}
