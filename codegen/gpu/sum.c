/* sum.c: sums in the order of tasks: elements of a tile that may meet in one place are added one position after the
   other, so that neither is lost and the order is that of the positions. */
#include "codegen/gpu/hip.h"

/* ---- ranges whose positions are apart ---- */

static uint64_t range_bit(int range) { return UINT64_C(1) << range; }

static uint64_t ranges_of(Type t) {
    uint64_t all = 0;
    for (int i = 0; i < t.nrange; i++) all |= range_bit(t.range[i]);
    return all;
}

static uint64_t term_ranges(const Term *t, uint64_t all) {
    if (t->kind == TERM_VALUE) return ranges_of(t->value->type);
    return t->kind == TERM_POS || t->kind == TERM_BLOCK ? range_bit(t->id) & all : 0;
}

/* The range of which the dimension's place tells the position, where those of `known` are given; 0: none. */
static uint64_t range_told(const Affine *a, uint64_t all, uint64_t known) {
    const Term *at = NULL;
    for (int i = 0; i < a->nterm; i++) {
        if (!(term_ranges(&a->term[i], all) & ~known)) continue;
        if (at || a->term[i].kind != TERM_POS || a->term[i].div != 1) return 0;
        at = &a->term[i];
    }
    return at ? range_bit(at->id) : 0;
}

/* All ranges that the place tells beside the known ones, in any order. */
static uint64_t ranges_told(const Op *store, uint64_t all, uint64_t known) {
    for (int d = 0; d < store->sub.n; d++) {
        uint64_t told = range_told(&store->sub.p[d].lo, all, known);
        if (told) return ranges_told(store, all, known | told);
    }
    return known;
}

/* The ranges that loops go through: where these positions are given, no two elements have one place. */
static uint64_t ranges_in_order(const Op *store, Type t) {
    uint64_t all = ranges_of(t), looped = 0, known = ranges_told(store, all, 0);
    for (int i = t.nrange - 1; i >= 0; i--) {
        if (known & range_bit(t.range[i])) continue;
        looped |= range_bit(t.range[i]);
        known = ranges_told(store, all, known | range_bit(t.range[i]));
    }
    return looped;
}

/* ---- loops ---- */

void sum_open(Fn *f, const Op *store, SumLoops *s) {
    Type t = store->arg.p[0]->type;
    uint64_t looped = store->mode == STORE_SUM ? ranges_in_order(store, t) : 0;
    *s = (SumLoops){0};
    for (int i = 0; i < t.nrange; i++) {
        if (!(looped & range_bit(t.range[i]))) continue;
        const char *at = c_name(&f->names, fn_text(f, "%s_at", f->k->range.p[t.range[i]].name));
        fn_line(f, "for (int64_t %s = 0; %s < %s; %s++) {", at, at, text_bare(f, f->range[t.range[i]].count), at);
        f->indent++;
        s->range[s->n] = t.range[i], s->at[s->n++] = at;
    }
}

const char *sum_condition(Fn *f, const SumLoops *s) {
    const char *all = NULL;
    for (int i = 0; i < s->n; i++) all = conjoin(f, all, fn_text(f, "%s == %s", f->range[s->range[i]].pos, s->at[i]));
    return all;
}

void sum_close(Fn *f, const SumLoops *s) {
    if (s->n) sync_line(f);
    for (int i = 0; i < s->n; i++) {
        f->indent--;
        fn_line(f, "}");
    }
}
