/* apart.c: ranges of which an access's place tells the position: two elements that differ along them have places of their own.
   floor(i / 2) and i - 2 floor(i / 2) tell i, and so does 8 i + j tell both where j has at most 8 positions a tile. */
#include "ir/ir.h"

#include <stdlib.h>

typedef struct {
    const Module *m;
    const Kernel *k;
    uint64_t ranges; /* whose positions are known */
    int n;
    Term quotient[MAX_DIMS]; /* known too: floor(position / div) */
} Told;

static uint64_t range_bit(int range) { return UINT64_C(1) << range; }

static uint64_t type_ranges(Type t) {
    uint64_t all = 0;
    for (int i = 0; i < t.nrange; i++) all |= range_bit(t.range[i]);
    return all;
}

static bool term_is_known(const Told *told, const Term *t) {
    if (!(type_ranges(term_type(told->k, t)) & ~told->ranges)) return true;
    for (int i = 0; i < told->n && t->kind == TERM_POS; i++)
        if (told->quotient[i].id == t->id && t->div % told->quotient[i].div == 0) return true;
    return false;
}

/* The terms that are not known, smallest step first; -1: one of them is not the position of a range, or its quotient. */
static int terms_open(const Told *told, const Affine *a, const Term **open) {
    int n = 0;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (term_is_known(told, t)) continue;
        if (t->kind != TERM_POS) return -1;
        int at = n++;
        for (; at > 0 && llabs(open[at - 1]->mul) > llabs(t->mul); at--) open[at] = open[at - 1];
        open[at] = t;
    }
    return n;
}

/* Each step is longer than all that the smaller ones come to. */
static bool steps_apart(const Told *told, const Term *const *open, int n) {
    int64_t reach = 0;
    for (int i = 0; i < n; i++) {
        int64_t most = i < n - 1 ? range_most(told->m, told->k, open[i]->id) : 1, way;
        if (llabs(open[i]->mul) <= reach || most < 0 || (n > 1 && open[i]->div != 1)) return false;
        if (__builtin_mul_overflow(llabs(open[i]->mul), most - 1, &way) || __builtin_add_overflow(reach, way, &reach)) return false;
    }
    return true;
}

/* What a dimension tells beside what is known; false: nothing. */
static bool dimension_tells(Told *told, const Affine *a) {
    const Term *open[MAX_TERMS];
    int n = terms_open(told, a, open);
    if (n <= 0 || !steps_apart(told, open, n)) return false;
    for (int i = 0; i < n; i++)
        if (open[i]->div == 1)
            told->ranges |= range_bit(open[i]->id);
        else
            told->quotient[told->n++] = *open[i];
    return true;
}

uint64_t place_tells(const Module *m, const Kernel *k, const Span *sub, int n, uint64_t known) {
    Told told = {.m = m, .k = k, .ranges = known};
    bool more = true;
    while (more) {
        more = false;
        for (int d = 0; d < n; d++) more = dimension_tells(&told, &sub[d].lo) || more;
    }
    return told.ranges;
}

bool place_is_own(const Module *m, const Kernel *k, const Span *sub, int n, uint64_t known) {
    uint64_t all = 0;
    for (int d = 0; d < n; d++) all |= type_ranges(affine_type(k, &sub[d].lo));
    return !(all & ~place_tells(m, k, sub, n, known));
}
