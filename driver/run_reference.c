/* run_reference.c: what results are compared with: the same source before any pass. */
#include "driver/run.h"

bool reference_open(const Run *r, int64_t ranks, Run *reference) {
    Options *o = arena_copy(r->s.arena, r->s.o, sizeof *o);
    if (ranks) o->ranks = ranks;
    o->target = "interp";
    o->tuned = NULL;
    *reference = (Run){.sym = r->sym};
    if (!session_open(&reference->s, o) || !session_lower(&reference->s)) return false;
    reference->p = reference->s.m->program.p[0];
    return true;
}

bool same_extents(const Run *r, const Run *reference) {
    for (int i = 0; i < r->p->io.n; i++) {
        const Tensor *t = run_tensor(reference, i);
        for (int d = 0; d < t->ndim; d++)
            if (size_eval(reference->s.m, size_whole(t->dim[d]), r->sym, NULL) != r->io[i].dim[d]) return false;
    }
    return true;
}
