/* sum.c: sums in the order of tasks: elements of a tile that may meet in one place are added one position after the
   other, so that neither is lost and the order is that of the positions. */
#include "codegen/gpu/hip.h"

static bool has_tile(const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE && a->term[i].value->type.nrange) return true;
    return false;
}

/* The range whose positions are all at different places along this dimension, while other ranges stay; -1: none. */
static int range_apart(const Affine *a) {
    for (int i = 0; i < a->nterm && !has_tile(a); i++)
        if (a->term[i].kind == TERM_POS && a->term[i].div == 1) return a->term[i].id;
    return -1;
}

static bool is_apart(const Op *store, int range) {
    for (int d = 0; d < store->sub.n; d++)
        if (range_apart(&store->sub.p[d].lo) == range) return true;
    return false;
}

void sum_open(Fn *f, const Op *store, SumLoops *s) {
    Type t = store->arg.p[0]->type;
    *s = (SumLoops){0};
    for (int i = 0; store->mode == STORE_SUM && i < t.nrange; i++) {
        if (is_apart(store, t.range[i])) continue;
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
