/* early.c: weights, which no launch of a run writes: the first slots have them before the launch before has ended.
   Takes: roles with their rings; or a kernel that may get roles. Gives: marks at the tiles of one ring. */
#include "passes/roles/slice.h"

void slice_early(Slice *s) {
    const Roles *r = s->k->roles;
    for (int i = 0; i < r->ring.n; i++) {
        if (!ring_first_put(r, i)) continue;
        for (int t = 0; t < r->ring.p[i].tile.n; t++) {
            SlotTile *tile = &r->ring.p[i].tile.p[t];
            tile->early = param_is_early(s->m, s->k, tile->param);
        }
        if (ring_is_early(&r->ring.p[i])) return;
    }
}

bool slice_is_early(const Slice *s) {
    const int few = s->swapped ? s->column : s->row;
    bool early = s->stream.n == 1;
    for (int i = 0; early && i < s->stream.p[0].load.n; i++) {
        const Op *load = s->stream.p[0].load.p[i];
        if (!type_has(load->res.p[0]->type, few)) early = param_is_early(s->m, s->k, load->param);
    }
    return early;
}
