/* match_attention.c: attention of many rows: masks that are bounds on the distance of a key from its row, whole
   matrices, and a loop that leaves out only what masks hide. */
#include "codegen/schedules/match_softmax.h"

#include <math.h>

/* ---- masks: j - i at most or at least a number ---- */

static bool is_pos(const Value *v, int range) {
    const Op *pos = match_op(match_bare(v), OP_POS);
    return pos && pos->range == range;
}

static void bound_above(Attention *a, int64_t last) {
    a->last = a->to && a->last < last ? a->last : last;
    a->to = true;
}

static void bound_below(Attention *a, int64_t first) {
    a->first = a->from && a->first > first ? a->first : first;
    a->from = true;
}

static OpKind mirrored(OpKind kind) {
    switch (kind) {
    case OP_LT: return OP_GT;
    case OP_LE: return OP_GE;
    case OP_GT: return OP_LT;
    case OP_GE: return OP_LE;
    default: return kind;
    }
}

/* key + c KIND row + d */
static bool take_bound(Softmax *f, const Op *compare) {
    const Value *left, *right;
    int64_t c, d;
    OpKind kind = compare->kind;
    match_sum(compare->arg.p[0], &left, &c);
    match_sum(compare->arg.p[1], &right, &d);
    bool turned = is_pos(left, f->a->row) && is_pos(right, f->a->key);
    if (!turned && !(is_pos(left, f->a->key) && is_pos(right, f->a->row))) return false;
    if (turned) kind = mirrored(kind);
    int64_t by = turned ? c - d : d - c;
    switch (kind) {
    case OP_LE: bound_above(f->a, by); return true;
    case OP_LT: bound_above(f->a, by - 1); return true;
    case OP_GE: bound_below(f->a, by); return true;
    case OP_GT: bound_below(f->a, by + 1); return true;
    default: return false;
    }
}

static bool take_mask(Softmax *f, const Value *mask) {
    const Op *op = match_bare(mask)->def;
    if (!op) return false;
    if (op->kind == OP_AND) return take_mask(f, op->arg.p[0]) && take_mask(f, op->arg.p[1]);
    return op_info[op->kind].class == CLASS_COMPARE && take_bound(f, op);
}

static bool find_masks(Softmax *f) {
    for (const Op *choice; (choice = match_op(f->score, OP_SELECT));) {
        double least;
        if (!match_number(choice->arg.p[2], &least) || least != -INFINITY || !take_mask(f, choice->arg.p[0]))
            return false;
        f->score = choice->arg.p[1];
    }
    return true;
}

/* ---- where they lie ---- */

/* [.., positions of `row`, positions of the width] */
static bool is_rows(const Softmax *f, const Op *access, int row) {
    int n = access->sub.n;
    return n >= 2 && match_is_pos(&access->sub.p[n - 2].lo, row) &&
           match_is_pos(&access->sub.p[n - 1].lo, f->a->column);
}

/* One matrix of q and o for each position of the grid's first ranges. */
static bool grid_fits(const Softmax *f) {
    const Kernel *k = f->k;
    const Param *o = &k->param.p[f->store->param];
    if (k->ngrid != o->ndim || o->ndim < 2) return false;
    for (int d = 0; d < k->ngrid; d++) {
        const Range *r = &k->range.p[d];
        RangeKind want = d < k->ngrid - 2 ? RANGE_POSITION : d < k->ngrid - 1 ? RANGE_TILE : RANGE_WHOLE;
        if (r->kind != want || r->owner >= 0 || !size_equal(r->of, o->dim[d]) ||
            !match_is_pos(&f->store->sub.p[d].lo, d))
            return false;
    }
    return true;
}

static bool find_places(Softmax *f) {
    Attention *a = f->a;
    a->q = f->queries_at->param, a->k = a->keys_at->param, a->v = f->values_at->param, a->o = f->store->param;
    const Param *q = &f->k->param.p[a->q], *keys = &f->k->param.p[a->k];
    if (q->ndim < 2 || keys->ndim < 2 || f->queries_at->sub.n != q->ndim || a->keys_at->sub.n != keys->ndim)
        return false;
    a->rows = q->dim[q->ndim - 2], a->keys = keys->dim[keys->ndim - 2], a->width = q->dim[q->ndim - 1];
    return is_rows(f, f->queries_at, a->row) && is_rows(f, a->keys_at, a->key) && grid_fits(f) &&
           access_equal(f->store, f->queries_at) && access_equal(a->keys_at, f->values_at) && softmax_places_agree(f);
}

/* ---- the loop's ends leave out only what masks hide ---- */

static bool is_size(const Value *v, Size s) {
    const Op *size = match_op(v, OP_SIZE);
    double n;
    if (size) return size_equal(size->size, s);
    return match_number(v, &n) && s.sym < 0 && s.axis < 0 && n == (double)s.c;
}

static bool end_fits(const Softmax *f, const Value *end, Size keys) {
    const Op *least = match_op(end, OP_MIN);
    if (is_size(end, keys)) return true;
    for (int i = 0; least && i < 2; i++) {
        const Value *row;
        int64_t c;
        match_sum(least->arg.p[i], &row, &c);
        const Op *at = match_op(row, OP_END);
        if (at && at->range == f->a->row && f->a->to && c >= f->a->last && is_size(least->arg.p[1 - i], keys))
            return true;
    }
    return false;
}

/* x / n * n, for a number n, is at most x, of x from 0 on. */
static const Value *not_rounded(const Value *v) {
    const Op *times = match_op(v, OP_MUL), *by = times ? match_op(times->arg.p[0], OP_DIV) : NULL;
    double n, m;
    const bool rounds = by && match_number(times->arg.p[1], &n) && match_number(by->arg.p[1], &m) && n == m && n > 0;
    return rounds ? by->arg.p[0] : v;
}

static bool begin_fits(const Softmax *f, const Value *begin) {
    const Op *most = match_op(not_rounded(begin), OP_MAX);
    double zero;
    if (match_number(begin, &zero)) return zero == 0;
    for (int i = 0; most && i < 2; i++) {
        const Value *row;
        int64_t c;
        match_sum(most->arg.p[i], &row, &c);
        const Op *at = match_op(row, OP_BEGIN);
        if (at && at->range == f->a->row && f->a->from && c <= f->a->first && match_number(most->arg.p[1 - i], &zero) &&
            zero == 0)
            return true;
    }
    return false;
}

/* A row that sees no key of a step is not changed by it: so in the schedule, and here unless -inf is subtracted from
 * -inf. */
static bool rows_are_safe(const Softmax *f, bool guarded) {
    const Attention *a = f->a;
    return guarded || f->least > -INFINITY || (!a->from && (!a->to || a->last >= 0));
}

const char *attention_match(const Kernel *k, Attention *a) {
    Softmax f = {.k = k, .a = a};
    bool guarded;
    *a = (Attention){.row = k->ngrid - 2};
    const char *why = softmax_find(&f, &guarded);
    if (why) return why;
    if (!find_masks(&f)) return "its mask is not a band of keys around a row";
    if (!softmax_scale(&f)) return "its scale is not a positive number";
    if (!softmax_products(&f) || !find_places(&f)) return "its operands are not whole matrices";
    if (!begin_fits(&f, a->loop->arg.p[0]) || !end_fits(&f, a->loop->arg.p[1], a->keys))
        return "its keys are not all that the mask shows";
    if (!rows_are_safe(&f, guarded)) return "a row may see no key of a step";
    return softmax_alone(&f) ? NULL : "it has another result";
}
