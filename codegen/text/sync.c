/* sync.c: waits and signals: which words, and on which ranks; and how the host waits.
   A rank's words of a flag: for each source rank along the flag's axis, the words of the kept and divided dimensions.
 */
#include "codegen/text/access.h"
#include "codegen/text/program.h"
#include "codegen/text/share.h"
#include "codegen/text/size.h"
#include "codegen/text/step.h"

#include <inttypes.h>

static const CExpr *number(Fn *f, int64_t n) { return cexpr_number(f, n); }

static const CExpr *scalar_affine(Fn *f, const Affine *a) {
    Nest n = nest_new(f, NULL, 0);
    return nest_affine(&n, a);
}

static const CExpr *dim_tasks(Fn *f, const FlagDim *d) {
    return d->ragged ? ragged_tasks_text(f, d->of, d->size, d->groups) : tasks_text(f, d->of, d->size);
}

static const CExpr *dim_words(Fn *f, const FlagDim *d) {
    return cexpr_ceil_div(f, dim_tasks(f, d), d->group);
}

/* Number of a word: first + (source * extent + index) * extent + index .. */
static const CExpr *word_text(Fn *f, const FlagPlace *at, const CExpr *source, const CExpr *const *index, int n,
                              const CExpr *first) {
    const CExpr *sum = source;
    for (int i = 0; i < n; i++)
        if (index[i]) sum = cexpr_add(f, cexpr_mul(f, sum, number(f, at->extent[i])), cexpr_operand(f, index[i]));
    return cexpr_add(f, sum, first);
}

static const Flag *flag_at(Fn *f, const Op *op, const FlagPlace **at) {
    *at = &f->memory->flag[op->flag];
    return &f->p->flag.p[op->flag];
}

static const CExpr *first_word(Fn *f, const FlagPlace *at) { return field_number(f, "words", at->word); }

/* Nodes that share a text have flags of different names. */
static const char *flag_text(Fn *f, const Flag *flag) {
    return flag->name && !f->fields ? c_string(f->arena, flag->name) : "a flag";
}

/* ---- waits ---- */

/* What a wait has opened so far. */
typedef struct {
    int blocks;
    bool looped;
} Opened;

static const char *loop_each(Fn *f, const char *name, const CExpr *from, const CExpr *past) {
    return fn_text(f, "for (int64_t %s = %s; %s < %s; %s++) {", name, from->text, name, past->text, name);
}

/* Goes through lo..hi (inclusive), cut to [0, end): a loop, a condition, or nothing where one place is certain. */
static const CExpr *span_open(Fn *f, const Span *s, const CExpr *end, const char *wanted, Opened *o) {
    int64_t n;
    const CExpr *lo = scalar_affine(f, &s->lo), *hi = scalar_affine(f, &s->hi);
    bool one = affine_equal(&s->lo, &s->hi), all = affine_is_const(&s->hi) && s->hi.c >= SPAN_END;
    if (one && cexpr_const(end, &n) && affine_within(f, &s->lo, n)) return cexpr_operand(f, lo);
    o->blocks++;
    if (one) {
        fn_line(f, "if (tile_inside(%s, %s)) {", lo->text, end->text);
        f->indent++;
        return cexpr_operand(f, lo);
    }
    const char *name = c_name(&f->names, wanted);
    const CExpr *from = affine_is_natural(f, &s->lo) ? lo : cexpr_call(f, "tile_most(0, %s)", lo->text);
    const CExpr *past = all ? end : cexpr_least(f, cexpr_add(f, hi, cexpr_number(f, 1)), end);
    fn_line(f, "%s", (o->looped ? loop_each : f->back->sync->each)(f, name, from, past));
    o->looped = true;
    f->indent++;
    return cexpr_name(f, name);
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
    const CExpr *index[MAX_RANGES] = {0}, *source = cexpr_number(f, 0);
    const char *generation = f->back->sync->generation;
    Opened opened = {0};
    Poll poll = {.op = op, .from = "t->rank"};
    fn_line(f, "// wait for %s", flag_text(f, flag));
    f->back->sync->begin(f, op);
    if (flag->axis >= 0) {
        source = span_open(f, &op->dest, number(f, f->m->axis.p[flag->axis].ranks), "source", &opened);
        poll.from = peer_text(f, flag->axis, source)->text;
    }
    for (int i = 0; i < flag->dim.n; i++) {
        const FlagDim *d = &flag->dim.p[i];
        if (d->group <= 0) continue;
        index[i] = span_open(f, &op->sub.p[i], dim_words(f, d), "word", &opened);
    }
    poll.want = op->lag ? fn_text(f, "%s - %" PRId64, generation, op->lag) : generation;
    poll.word =
        fn_text(f, "t->word[t->rank][%s]", word_text(f, at, source, index, flag->dim.n, first_word(f, at))->text);
    poll.flag = field_number(f, "flag", op->flag)->text;
    poll.one = !opened.looped;
    f->back->sync->poll(f, &poll);
    close_loops(f, opened.blocks);
    f->back->sync->end(f, op);
}

/* ---- signals ---- */

/* Tasks that complete the word of this task. */
static const CExpr *arrivals_text(Fn *f, const Op *op, const Flag *flag) {
    if (flag->arrivals) return number(f, flag->arrivals);
    const CExpr *product = cexpr_number(f, 1);
    for (int i = 0; i < flag->dim.n; i++) {
        const FlagDim *d = &flag->dim.p[i];
        if (d->group == 1 || d->group == GROUP_DEST) continue;
        const CExpr *tasks = dim_tasks(f, d);
        if (d->group > 1) {
            const CExpr *group = number(f, d->group), *word = scalar_affine(f, &op->sub.p[i].lo);
            int64_t n;
            bool exact = cexpr_const(tasks, &n) && n % d->group == 0;
            tasks = exact ? group
                          : cexpr_call(f, "tile_least(%s, %s - %s)", group->text, tasks->text,
                                       cexpr_operand(f, cexpr_mul(f, group, word))->text);
        }
        product = cexpr_mul(f, product, tasks);
    }
    return product;
}

static const char *publish_text(Fn *f, const Flag *flag, const char *rank, const char *word) {
    return f->back->sync->publish(f, fn_text(f, "t->word[%s][%s]", rank, word), flag->scope);
}

static void publish_ranks(Fn *f, const Op *op, const Flag *flag, const FlagPlace *at, const CExpr *const *index) {
    const CExpr *source = cexpr_name(f, fn_text(f, "t->coord[%d]", flag->axis)), *dest = scalar_affine(f, &op->dest.lo);
    Opened opened = {.looped = true};
    if (!affine_equal(&op->dest.lo, &op->dest.hi))
        dest = span_open(f, &op->dest, number(f, f->m->axis.p[flag->axis].ranks), "dest", &opened);
    fn_line(f, "%s",
            publish_text(f, flag, peer_text(f, flag->axis, dest)->text,
                         word_text(f, at, source, index, flag->dim.n, first_word(f, at))->text));
    close_loops(f, opened.blocks);
}

static void emit_publish(Fn *f, const Op *op, const Flag *flag, const FlagPlace *at, const CExpr *const *index) {
    int opened = f->back->sync->publish_begin(f, flag->scope);
    if (flag->axis < 0)
        fn_line(f, "%s",
                publish_text(f, flag, "t->rank",
                             word_text(f, at, cexpr_number(f, 0), index, flag->dim.n, first_word(f, at))->text));
    else
        publish_ranks(f, op, flag, at, index);
    close_loops(f, opened);
}

void emit_signal(Fn *f, const Op *op) {
    const FlagPlace *at;
    const Flag *flag = flag_at(f, op, &at);
    const CExpr *index[MAX_RANGES] = {0};
    for (int i = 0; i < flag->dim.n; i++)
        if (flag->dim.p[i].group > 0) index[i] = scalar_affine(f, &op->sub.p[i].lo);
    const CExpr *arrivals = arrivals_text(f, op, flag);
    bool alone = cexpr_is(arrivals, 1);
    fn_line(f, "// signal %s", flag_text(f, flag));
    if (!alone) {
        const CExpr *dest = flag_has_dest(flag) ? scalar_affine(f, &op->dest.lo) : cexpr_number(f, 0);
        const char *count = fn_text(
            f, "t->count[%s]", word_text(f, at, dest, index, flag->dim.n, field_number(f, "counts", at->count))->text);
        fn_line(f, "if (%s) {", f->back->sync->arrive(f, count, arrivals->text, flag->scope));
        f->indent++;
    }
    emit_publish(f, op, flag, at, index);
    close_loops(f, !alone);
}

/* ---- on the host ---- */

static void nothing(Fn *f, const Op *op) { (void)f, (void)op; }

static void host_poll(Fn *f, const Poll *p) {
    const char *error = c_name(&f->names, "error");
    fn_line(f, "const int %s = tile_wait(t, &%s, %s, %s, %s);", error, p->word, p->want, p->flag, p->from);
    fn_line(f, "if (%s) return %s;", error, error);
}

static int host_publish_begin(Fn *f, SyncScope scope) {
    (void)f, (void)scope;
    return 0;
}

static const char *host_publish(Fn *f, const char *word, SyncScope scope) {
    (void)scope;
    return fn_text(f, "tile_publish(t, &%s);", word);
}

static const char *host_arrive(Fn *f, const char *count, const char *arrivals, SyncScope scope) {
    (void)scope;
    return fn_text(f, "tile_arrive(t, &%s, %s)", count, arrivals);
}

/* One function serves several nodes: the name is the program's. */
static void host_packet_get(Nest *n, const Op *op, const char *when, const char *place, const char *bits) {
    (void)op;
    const char *error = c_name(&n->f->names, "error"),
               *get = fn_text(n->f, "tile_packet_get(t, &%s, &%s, -1, -1)", place, bits);
    nest_line(n, n->n, "const int %s = %s;", error, when ? fn_text(n->f, "%s ? %s : TILE_OK", when, get) : get);
    nest_line(n, n->n, "if (%s) return %s;", error, error);
}

static const char *host_packet_put(Fn *f, const char *place, const char *bits) {
    return fn_text(f, "tile_packet_put(t, &%s, %s);", place, bits);
}

const SyncBackend c_sync = {
    .generation = "t->generation",
    .each = loop_each,
    .begin = nothing,
    .poll = host_poll,
    .end = nothing,
    .publish_begin = host_publish_begin,
    .publish = host_publish,
    .arrive = host_arrive,
    .packet_get = host_packet_get,
    .packet_put = host_packet_put,
};
