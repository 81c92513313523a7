/* alone.c: temporaries of a program whose nodes run one after the other, in one thread. Takes memory that memory_make
   has filled; gives each temporary a place that none has whose life overlaps. */
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

/* The most bytes that are alive at one node: no placement needs fewer. */
static int64_t most_alive(const Program *p, const Memory *l, const Life *life) {
    int64_t most = 0;
    for (int n = 0; n < p->node.n; n++) {
        int64_t sum = 0;
        for (int t = 0; t < p->tensor.n; t++)
            if (l->arg[t] < 0 && life[t].first <= n && n <= life[t].last) sum += l->bytes[t];
        most = sum > most ? sum : most;
    }
    return most;
}

static int64_t place_low(const Memory *l, const Life *life, int t) {
    int64_t at = 0;
    for (int other; (other = in_the_way(l, life, t, at)) >= 0;) at = l->offset[other] + l->bytes[other];
    return at;
}

/* The highest place that ends at `end`; the lowest of all where there is none. */
static int64_t place_high(const Memory *l, const Life *life, int t, int64_t end) {
    int64_t at = end - l->bytes[t];
    for (int other; at >= 0 && (other = in_the_way(l, life, t, at)) >= 0;) at = l->offset[other] - l->bytes[t];
    return at >= 0 ? at : place_low(l, life, t);
}

/* turns: every second one at the upper end, so that in a chain of layers none lies between its neighbours. */
static int64_t place_all(const Program *p, Memory *l, const Life *life, bool turns) {
    int64_t end = most_alive(p, l, life), most = 0;
    int number = 0;
    for (int t = 0; t < p->tensor.n; t++) {
        if (l->arg[t] >= 0) continue;
        l->offset[t] = turns && number++ % 2 ? place_high(l, life, t, end) : place_low(l, life, t);
        if (l->offset[t] + l->bytes[t] > most) most = l->offset[t] + l->bytes[t];
    }
    return most;
}

bool memory_make_alone(Arena *a, const Module *m, const Program *p, Memory *l) {
    if (!memory_make(a, m, p, l)) return false;
    const Life *life = lives(a, p);
    const int64_t low = place_all(p, l, life, false), turned = place_all(p, l, life, true);
    l->local = low < turned ? place_all(p, l, life, false) : turned;
    for (int t = 0; t < p->tensor.n; t++) l->nontemporal[t] = false;
    return true;
}
