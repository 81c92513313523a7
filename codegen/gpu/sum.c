/* sum.c: sums in the order of tasks. Elements of a tile that may meet in one place are added one after the other, in
   the order of their positions. None is lost. */
#include "codegen/gpu/hip.h"

/* ---- ranges whose positions are apart ---- */

static uint64_t range_bit(int range) { return UINT64_C(1) << range; }

/* The ranges that loops go through: where these positions are given, no two elements have one place. */
static uint64_t ranges_in_order(const Fn *f, const Op *store, Type t) {
    uint64_t looped = 0, known = place_tells(f->m, f->k, store->sub.p, store->sub.n, 0);
    for (int i = t.nrange - 1; i >= 0; i--) {
        if (known & range_bit(t.range[i])) continue;
        looped |= range_bit(t.range[i]);
        known = place_tells(f->m, f->k, store->sub.p, store->sub.n, known | range_bit(t.range[i]));
    }
    return looped;
}

/* ---- loops ---- */

void sum_open(Fn *f, const Op *store, SumLoops *s) {
    Type t = store->arg.p[0]->type;
    uint64_t looped = store->mode == STORE_SUM ? ranges_in_order(f, store, t) : 0;
    *s = (SumLoops){0};
    for (int i = 0; i < t.nrange; i++) {
        if (!(looped & range_bit(t.range[i]))) continue;
        const char *at = c_name(&f->names, fn_text(f, "%s_at", f->k->range.p[t.range[i]].name));
        fn_line(f, "for (int64_t %s = 0; %s < %s; %s++) {", at, at, cexpr_bare(f->range[t.range[i]].count)->text, at);
        f->indent++;
        s->range[s->n] = t.range[i], s->at[s->n++] = at;
    }
}

const char *sum_condition(Fn *f, const SumLoops *s) {
    const char *all = NULL;
    for (int i = 0; i < s->n; i++)
        all = conjoin(f, all, fn_text(f, "%s == %s", f->range[s->range[i]].pos->text, s->at[i]));
    return all;
}

void sum_close(Fn *f, const SumLoops *s) {
    if (s->n) sync_line(f);
    for (int i = 0; i < s->n; i++) {
        f->indent--;
        fn_line(f, "}");
    }
}
