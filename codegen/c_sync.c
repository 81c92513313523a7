/* c_sync.c: waits and signals: which words, and on which ranks.
   A rank's words of a flag: for each source rank along the flag's axis, the words of the kept and divided dimensions.
 */
#include "codegen/c.h"

#include <inttypes.h>
#include <string.h>

static const char *number(Fn *f, int64_t n) { return fn_text(f, "%" PRId64, n); }

static const char *scalar_affine(Fn *f, const Affine *a) {
    Nest n = nest_new(f, NULL, 0);
    return nest_affine(&n, a);
}

static const char *dim_words(Fn *f, const FlagDim *d) {
    return text_ceil_div(f, tasks_text(f, d->of, d->size), d->group);
}

/* Number of a word: first + (source * extent + index) * extent + index .. */
static const char *word_text(Fn *f, const FlagPlace *at, const char *source, const char *const *index, int n,
                             int64_t first) {
    const char *sum = source;
    for (int i = 0; i < n; i++)
        if (index[i]) sum = text_add_terms(f, text_mul(f, sum, number(f, at->extent[i])), text_atom(f, index[i]));
    return text_add_terms(f, sum, number(f, first));
}

static const Flag *flag_at(Fn *f, const Op *op, const FlagPlace **at) {
    *at = &f->memory->flag[op->flag];
    return &f->p->flag.p[op->flag];
}

static const char *flag_text(Fn *f, const Flag *flag) { return flag->name ? c_string(f->arena, flag->name) : "a flag"; }

/* ---- waits ---- */

/* Goes through lo..hi (inclusive), cut to [0, end): a loop, a condition, or nothing where one place is certain.
   Gives the place, and counts what was opened. */
static const char *span_open(Fn *f, const Span *s, const char *end, const char *wanted, int *opened) {
    int64_t n;
    const char *lo = scalar_affine(f, &s->lo), *hi = scalar_affine(f, &s->hi);
    bool one = affine_equal(&s->lo, &s->hi), all = affine_is_const(&s->hi) && s->hi.c >= SPAN_END;
    if (one && text_is_number(end, &n) && affine_within(f, &s->lo, n)) return text_atom(f, lo);
    ++*opened;
    if (one) {
        fn_line(f, "if (tile_inside(%s, %s)) {", lo, end);
        f->indent++;
        return text_atom(f, lo);
    }
    const char *name = c_name(&f->names, wanted),
               *from = affine_is_natural(f, &s->lo) ? lo : fn_text(f, "tile_most(0, %s)", lo);
    const char *past = all ? end : text_min(f, text_add_terms(f, hi, "1"), end);
    fn_line(f, "for (int64_t %s = %s; %s < %s; %s++) {", name, from, name, past, name);
    f->indent++;
    return name;
}

static void close_loops(Fn *f, int n) {
    while (n-- > 0) {
        f->indent--;
        fn_line(f, "}");
    }
}

void emit_wait(Fn *f, const Op *op) {
    const FlagPlace *at;
    const Flag *flag = flag_at(f, op, &at);
    const char *index[MAX_RANGES] = {0}, *source = "0", *from = "t->rank";
    int opened = 0;
    fn_line(f, "// wait for %s", flag_text(f, flag));
    if (flag->axis >= 0) {
        source = span_open(f, &op->dest, number(f, f->m->axis.p[flag->axis].ranks), "source", &opened);
        from = peer_text(f, flag->axis, source);
    }
    for (int i = 0; i < flag->dim.n; i++) {
        const FlagDim *d = &flag->dim.p[i];
        if (d->group <= 0) continue;
        index[i] = span_open(f, &op->sub.p[i], dim_words(f, d), "word", &opened);
    }
    const char *want = op->lag ? fn_text(f, "t->generation - %" PRId64, op->lag) : "t->generation";
    const char *error = c_name(&f->names, "error");
    fn_line(f, "const int %s = tile_wait(t, &t->word[t->rank][%s], %s, %d, %s);", error,
            word_text(f, at, source, index, flag->dim.n, at->word), want, op->flag, from);
    fn_line(f, "if (%s) return %s;", error, error);
    close_loops(f, opened);
}

/* ---- signals ---- */

/* Tasks that complete the word of this task. */
static const char *arrivals_text(Fn *f, const Op *op, const Flag *flag) {
    if (flag->arrivals) return number(f, flag->arrivals);
    const char *product = "1";
    for (int i = 0; i < flag->dim.n; i++) {
        const FlagDim *d = &flag->dim.p[i];
        if (d->group == 1 || d->group == GROUP_DEST) continue;
        const char *tasks = tasks_text(f, d->of, d->size);
        if (d->group > 1) {
            const char *group = number(f, d->group), *word = scalar_affine(f, &op->sub.p[i].lo);
            int64_t n;
            bool exact = text_is_number(tasks, &n) && n % d->group == 0;
            tasks = exact ? group
                          : fn_text(f, "tile_least(%s, %s - %s)", group, tasks, text_atom(f, text_mul(f, group, word)));
        }
        product = text_mul(f, product, tasks);
    }
    return product;
}

static void emit_publish(Fn *f, const Op *op, const Flag *flag, const FlagPlace *at, const char *const *index) {
    if (flag->axis < 0) {
        fn_line(f, "tile_publish(t, &t->word[t->rank][%s]);", word_text(f, at, "0", index, flag->dim.n, at->word));
        return;
    }
    const char *source = fn_text(f, "t->coord[%d]", flag->axis), *dest = scalar_affine(f, &op->dest.lo);
    int opened = 0;
    if (!affine_equal(&op->dest.lo, &op->dest.hi))
        dest = span_open(f, &op->dest, number(f, f->m->axis.p[flag->axis].ranks), "dest", &opened);
    fn_line(f, "tile_publish(t, &t->word[%s][%s]);", peer_text(f, flag->axis, dest),
            word_text(f, at, source, index, flag->dim.n, at->word));
    close_loops(f, opened);
}

void emit_signal(Fn *f, const Op *op) {
    const FlagPlace *at;
    const Flag *flag = flag_at(f, op, &at);
    const char *index[MAX_RANGES] = {0};
    for (int i = 0; i < flag->dim.n; i++)
        if (flag->dim.p[i].group > 0) index[i] = scalar_affine(f, &op->sub.p[i].lo);
    const char *arrivals = arrivals_text(f, op, flag);
    bool alone = strcmp(arrivals, "1") == 0;
    fn_line(f, "// signal %s", flag_text(f, flag));
    if (!alone) {
        const char *dest = flag_has_dest(flag) ? scalar_affine(f, &op->dest.lo) : "0";
        fn_line(f, "if (tile_arrive(t, &t->count[%s], %s)) {", word_text(f, at, dest, index, flag->dim.n, at->count),
                arrivals);
        f->indent++;
    }
    emit_publish(f, op, flag, at, index);
    close_loops(f, !alone);
}
