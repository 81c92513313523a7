/* flag.c: how many words a flag family has, and how many tasks complete one.
   A dimension of n tasks: kept n words of 1 task, divided ceil(n / G) of G (the last of fewer), dropped 1 of n. */
#include "ir/ir.h"

FlagDim flag_dim(const Kernel *k, int range, int64_t group) {
    const Range *r = &k->range.p[range];
    FlagDim d = {.of = r->of, .size = r->size, .group = group, .ragged = r->starts > 0, .groups = size_number(0)};
    if (d.ragged) d.groups = range_groups(k, range);
    return d;
}

static int64_t flag_dim_tasks(const Module *m, const FlagDim *d, const int64_t *sym) {
    int64_t groups = d->ragged ? size_eval(m, d->groups, sym, NULL) : 0;
    return grid_tasks(m, d->of, d->size, sym) + (groups > 0 ? groups : 0);
}

bool flag_has_dest(const Flag *f) {
    for (int i = 0; i < f->dim.n; i++)
        if (f->dim.p[i].group == GROUP_DEST) return true;
    return false;
}

static bool span_follows(const Span *s, int range) {
    return affine_follows(&s->lo, range) || affine_follows(&s->hi, range);
}

bool words_follow(const Op *op, int range) {
    for (int i = 0; i < op->sub.n; i++)
        if (span_follows(&op->sub.p[i], range)) return true;
    return span_follows(&op->dest, range);
}

int64_t flag_words(const Module *m, const FlagDim *d, const int64_t *sym) {
    if (d->group <= 0) return 1;
    return ceil_div(flag_dim_tasks(m, d, sym), d->group);
}

static int64_t dim_arrivals(const Module *m, const FlagDim *d, int64_t word, const int64_t *sym) {
    if (d->group == GROUP_DEST) return 1;
    int64_t n = flag_dim_tasks(m, d, sym);
    if (d->group == GROUP_DROP) return n;
    int64_t left = n - word * d->group;
    return left < 0 ? 0 : left < d->group ? left : d->group;
}

int64_t flag_arrivals(const Module *m, const Flag *f, const int64_t *word, const int64_t *sym) {
    if (f->arrivals) return f->arrivals;
    int64_t n = 1;
    for (int i = 0; i < f->dim.n; i++) n *= dim_arrivals(m, &f->dim.p[i], word[i], sym);
    return n;
}
