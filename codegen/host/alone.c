/* alone.c: temporaries of a program whose nodes run one after the other, in one thread. Takes memory that memory_make
   has filled; gives each temporary the lowest place that none has whose life overlaps. */
#include "codegen/host/host.h"

#include <limits.h>

/* The first and the last node that has the tensor; first > last: none has. */
typedef struct {
    int first, last;
} Life;

static Life *lives(Arena *a, const Program *p) {
    Life *life = ARENA_ARRAY(a, Life, p->tensor.n + 1);
    for (int i = 0; i < p->tensor.n; i++) life[i] = (Life){INT_MAX, -1};
    for (int n = 0; n < p->node.n; n++)
        for (int i = 0; i < p->node.p[n]->arg.n; i++) {
            Life *l = &life[p->node.p[n]->arg.p[i].tensor];
            l->first = n < l->first ? n : l->first;
            l->last = n;
        }
    return life;
}

/* The tensor before `t` that is in its way at `at`; -1: none is. */
static int in_the_way(const Memory *l, const Life *life, int t, int64_t at) {
    for (int i = 0; i < t; i++) {
        bool both = life[i].first <= life[t].last && life[t].first <= life[i].last;
        if (l->arg[i] < 0 && both && l->offset[i] < at + l->bytes[t] && at < l->offset[i] + l->bytes[i]) return i;
    }
    return -1;
}

bool memory_make_alone(Arena *a, const Module *m, const Program *p, Memory *l) {
    if (!memory_make(a, m, p, l)) return false;
    const Life *life = lives(a, p);
    l->local = 0;
    for (int t = 0; t < p->tensor.n; t++) {
        l->nontemporal[t] = false;
        if (l->arg[t] >= 0) continue;
        l->offset[t] = 0;
        for (int other; (other = in_the_way(l, life, t, l->offset[t])) >= 0;)
            l->offset[t] = l->offset[other] + l->bytes[other];
        if (l->offset[t] + l->bytes[t] > l->local) l->local = l->offset[t] + l->bytes[t];
    }
    return true;
}
