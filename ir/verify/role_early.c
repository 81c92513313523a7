/* role_early.c: tiles that may come before the launch before has ended: nothing that is known later has a part in them.
   Takes a kernel whose roles are valid otherwise. */
#include "ir/verify/roles.h"

static void ring_early_verify(Verifier *v, const Kernel *k, int ring) {
    const Ring *r = &k->roles->ring.p[ring];
    for (int i = 0; i < r->tile.n; i++) {
        const SlotTile *t = &r->tile.p[i];
        if (!t->early) continue;
        const Param *p = t->param >= 0 ? &k->param.p[t->param] : NULL;
        if (!p || p->out || p->inout || p->ranks >= 0)
            violation(v, t->loc, "tile '%s' comes early, and is of no tensor that is read alone", t->name);
        else if (!ring_first_put(k->roles, ring))
            violation(v, t->loc, "tile '%s' comes early, and no lane fills the first slots of '%s' without what it waits for",
                      t->name, r->name);
    }
}

void roles_early_verify(Verifier *v, const Kernel *k) {
    const Ring *early = NULL;
    for (int i = 0; i < k->roles->ring.n; i++) {
        const Ring *r = &k->roles->ring.p[i];
        if (!ring_is_early(r)) continue;
        if (early) violation(v, r->loc, "rings '%s' and '%s' have tiles that come early; one may", early->name, r->name);
        early = r;
        ring_early_verify(v, k, i);
    }
}
