/* late.c: results that are finished while the next task's products run: what is done with sums behind the place where
   they are rounded to 16 bits first.
   Takes: a kernel with its streams. Gives: the rounded tiles, which are kept from one task to the next; none: results
   are finished at once. */
#include "passes/roles/slice.h"

enum { MOST_KEPT = 2 /* tiles */ };

static bool is_tile(const Slice *s, Type t) { return t.nrange == 2 && type_has(t, s->row) && type_has(t, s->column); }

static bool is_rounding(const Slice *s, const Op *op) {
    Type to = op->res.p[0]->type, from = op->kind == OP_CAST ? op->arg.p[0]->type : to;
    return op->kind == OP_CAST && is_tile(s, to) && from.elem == ELEM_F32 && elem_bits(to.elem) == 16;
}

static bool is_near(const Slice *s, const Op *op) {
    for (int i = 0; i < s->near.n; i++)
        if (s->near.p[i] == op) return true;
    return false;
}

static bool keep(Slice *s, const Op *op) {
    for (int i = 0; i < s->kept.n; i++)
        if (s->kept.p[i] == op) return true;
    vec_push(s->scratch, &s->kept, op);
    return s->kept.n <= MOST_KEPT;
}

/* Panels of matrices come when results are finished: too late for what is rounded. */
static bool reads_near(const Slice *s, const Value *v) {
    if (!v->def || v->def->in != s->k->body) return false;
    bool reads = is_near(s, v->def);
    for (int i = 0; i < v->def->arg.n && !reads && v->def->kind != OP_FOR; i++) reads = reads_near(s, v->def->arg.p[i]);
    return reads;
}

/* Made of what is rounded first of all, of scalars that every turn has, and of matrices that come by boxes. *work:
   there is something behind the roundings. */
static bool follows_roundings(Slice *s, const Value *v, bool *work) {
    const Op *op = v->def;
    if (!op || op->in != s->k->body || is_near(s, op)) return op && is_near(s, op);
    const int kept = s->kept.n;
    const bool worked = *work, scalar = v->type.nrange == 0;
    bool good = (is_tile(s, v->type) || scalar) && (op_is_elementwise(op) || op->kind == OP_CONST);
    if (op->kind == OP_LOAD) good = scalar && op->sub.n == 0;
    for (int i = 0; i < op->arg.n && good; i++) good = follows_roundings(s, op->arg.p[i], work);
    *work |= good && op->kind != OP_CAST && op->arg.n;
    if (good || !is_rounding(s, op)) return good;
    s->kept.n = kept, *work = worked;
    return !reads_near(s, op->res.p[0]) && keep(s, op);
}

/* Its number of steps is known, none waits for sums, and the task begins with it. */
static bool loop_fits(const Slice *s, const Op *loop) {
    int64_t first, end;
    return loop && loop->kind == OP_FOR && loop->in == s->k->body && loop_defers(s, loop) &&
           value_const(loop->arg.p[0], &first) && value_const(loop->arg.p[1], &end);
}

static bool kernel_fits(const Slice *s) {
    if (s->swapped || slice_signals(s) || kernel_is_ragged(s->k)) return false;
    for (int i = 0; i < s->dot.n; i++)
        if (s->dot.p[i]->in != s->stream.p[0].at) return false;
    return s->stream.n == 1 && loop_fits(s, s->stream.p[0].at->parent);
}

/* Sums as they are, which the store itself rounds. */
static bool is_plain(const Slice *s, const Op *store) {
    const Value *v = store->arg.p[0];
    return is_tile(s, v->type) && v->type.elem == ELEM_F32 && v->def && v->def->kind == OP_FOR;
}

/* So few steps that storing takes as long, and enough of them for a panel each. Measured on an H200, 4096 x 4096 x 256:
   NN 17.4 us, TN 17.3; at once 18.0 and 17.9; of 128 positions, in tiles of 128 columns, 13.0, at once 11.5. */
static bool is_short(const Slice *s) {
    enum { FROM = 4, TO = 8 /* steps */ };
    int64_t first, end;
    const Op *loop = s->stream.p[0].at->parent;
    if (!value_const(loop->arg.p[0], &first) || !value_const(loop->arg.p[1], &end)) return false;
    const int64_t steps = ceil_div(end - first, slice_depth(s));
    return steps >= FROM && steps < TO;
}

void slice_late(Slice *s) {
    bool good = kernel_fits(s), work = false;
    for (int i = 0; i < s->store.n && good; i++) {
        const Op *store = s->store.p[i];
        good = elem_bits(s->k->param.p[store->param].elem) == 16;
        if (good && is_plain(s, store))
            good = work = s->store.n == 1 && is_short(s) && keep(s, store);
        else if (good)
            good = follows_roundings(s, store->arg.p[0], &work);
    }
    if (!good || !work) s->kept.n = 0;
}
