/* match_attention.c: attention with an online softmax, from its result backwards: acc / l behind a loop that carries
   the largest score m of a row so far, the sum l of its exponentials and the sum acc of values weighted by them. */
#include "target/match.h"

#include <math.h>

typedef struct {
    const Kernel *k;
    Attention *a;
    const Op *store, *values_at, *queries_at;
    int max, sum, acc;                          /* which of the carried values */
    const Value *score, *top, *weight, *shrink; /* x; what is subtracted from it; exp(x - top); exp(m - top) */
    double least;                               /* m at first */
} Finding;

static const Value *carried(const Finding *f, int i) { return f->a->loop->region[0]->arg.p[i]; }
static const Value *yielded(const Finding *f, int i) { return f->a->loop->region[0]->last->arg.p[i]; }

/* ---- the result ---- */

static int result_of(const Op *loop, const Value *v) {
    for (int i = 0; i < loop->res.n; i++)
        if (loop->res.p[i] == v) return i;
    return -1;
}

static bool find_result(Finding *f) {
    f->store = f->k->body->last;
    if (!f->store || f->store->kind != OP_STORE || f->store->mode != STORE_SET) return false;
    const Op *ratio = match_op(f->store->arg.p[0], OP_DIV);
    const Value *acc = ratio ? ratio->arg.p[0] : NULL, *sum = ratio ? match_bare(ratio->arg.p[1]) : NULL;
    if (!acc || !match_op(acc, OP_FOR) || acc->def->res.n != 3) return false;
    f->a->loop = acc->def;
    f->acc = result_of(acc->def, acc);
    f->sum = result_of(acc->def, sum);
    f->max = 3 - f->acc - f->sum;
    return f->sum >= 0 && f->sum != f->acc && acc->def->region[0]->last->kind == OP_YIELD;
}

static bool begins_with(const Finding *f, int i, double *n) { return match_number(f->a->loop->arg.p[2 + i], n); }

static bool begins_empty(Finding *f) {
    double acc, sum;
    if (!begins_with(f, f->acc, &acc) || !begins_with(f, f->sum, &sum) || !begins_with(f, f->max, &f->least))
        return false;
    return acc == 0 && sum == 0 && f->least <= -1e38;
}

/* ---- a step: acc = acc shrink + weight v, l = l shrink + sum(weight), m = max(m, max(x)) ---- */

static bool find_weights(Finding *f) {
    const Op *dot = match_op(yielded(f, f->acc), OP_DOT);
    if (!dot || dot->arg.n != 3 || dot->nover != 1) return false;
    const Op *narrow = match_op(dot->arg.p[0], OP_CAST);
    const Value *shrink = match_other(dot->arg.p[2], OP_MUL, carried(f, f->acc));
    f->values_at = match_op(dot->arg.p[1], OP_LOAD);
    if (!shrink || !f->values_at) return false;
    f->weight = narrow ? narrow->arg.p[0] : dot->arg.p[0];
    f->shrink = match_bare(shrink);
    f->a->key = dot->over[0];
    return f->a->key == f->a->loop->range;
}

static bool find_sum(const Finding *f) {
    const Op *add = match_op(yielded(f, f->sum), OP_ADD);
    for (int i = 0; add && i < 2; i++) {
        const Op *sum = match_op(add->arg.p[1 - i], OP_SUM);
        if (match_other(add->arg.p[i], OP_MUL, f->shrink) == carried(f, f->sum) && sum)
            return sum->arg.p[0] == f->weight;
    }
    return false;
}

/* exp(x - top): x; top is found on the way. */
static const Value *exponent(const Value *v, const Value **top) {
    const Op *e = match_op(v, OP_EXP), *minus = e ? match_op(e->arg.p[0], OP_SUB) : NULL;
    if (!minus) return NULL;
    *top = match_bare(minus->arg.p[1]);
    return minus->arg.p[0];
}

/* top is the new m, or 0 where that is -inf still. */
static bool top_is(const Finding *f, const Value *most, bool *guarded) {
    const Op *choice = match_op(f->top, OP_SELECT), *above = choice ? match_op(choice->arg.p[0], OP_GT) : NULL;
    double least, zero;
    *guarded = choice != NULL;
    if (!choice) return f->top == most;
    return above && above->arg.p[0] == most && match_bare(choice->arg.p[1]) == most &&
           match_number(above->arg.p[1], &least) && least == -INFINITY && match_number(choice->arg.p[2], &zero) &&
           zero == 0;
}

static bool find_softmax(Finding *f, bool *guarded) {
    const Value *most = yielded(f, f->max), *largest = match_other(most, OP_MAX, carried(f, f->max)), *top;
    const Op *reduce = largest ? match_op(largest, OP_RMAX) : NULL;
    f->score = exponent(f->weight, &f->top);
    if (!f->score || exponent(f->shrink, &top) != carried(f, f->max) || top != f->top) return false;
    if (!reduce || reduce->arg.p[0] != f->score || reduce->nover != 1 || reduce->over[0] != f->a->key) return false;
    return top_is(f, most, guarded);
}

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
static bool take_bound(Finding *f, const Op *compare) {
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

static bool take_mask(Finding *f, const Value *mask) {
    const Op *op = match_bare(mask)->def;
    if (!op) return false;
    if (op->kind == OP_AND) return take_mask(f, op->arg.p[0]) && take_mask(f, op->arg.p[1]);
    return op_info[op->kind].class == CLASS_COMPARE && take_bound(f, op);
}

static bool find_masks(Finding *f) {
    for (const Op *choice; (choice = match_op(f->score, OP_SELECT));) {
        double least;
        if (!match_number(choice->arg.p[2], &least) || least != -INFINITY || !take_mask(f, choice->arg.p[0]))
            return false;
        f->score = choice->arg.p[1];
    }
    return true;
}

/* ---- scores ---- */

static bool find_scale(Finding *f) {
    const Op *mul = match_op(f->score, OP_MUL);
    f->a->scale = 1;
    if (!mul) return true;
    int number = match_number(mul->arg.p[0], &f->a->scale) ? 0 : 1;
    f->score = mul->arg.p[1 - number];
    return match_number(mul->arg.p[number], &f->a->scale) && f->a->scale > 0 && f->a->scale < 1e30;
}

static bool find_products(Finding *f) {
    const Op *dot = match_op(f->score, OP_DOT);
    if (!dot || dot->arg.n != 2 || dot->nover != 1) return false;
    f->queries_at = match_op(dot->arg.p[0], OP_LOAD);
    f->a->keys_at = match_op(dot->arg.p[1], OP_LOAD);
    f->a->column = dot->over[0];
    return f->queries_at && f->a->keys_at;
}

/* ---- where they lie ---- */

/* [.., positions of `row`, positions of the width] */
static bool is_rows(const Finding *f, const Op *access, int row) {
    int n = access->sub.n;
    return n >= 2 && match_is_pos(&access->sub.p[n - 2].lo, row) &&
           match_is_pos(&access->sub.p[n - 1].lo, f->a->column);
}

/* One matrix of q and o for each position of the grid's first ranges. */
static bool grid_fits(const Finding *f) {
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

static bool find_places(Finding *f) {
    Attention *a = f->a;
    a->q = f->queries_at->param, a->k = a->keys_at->param, a->v = f->values_at->param, a->o = f->store->param;
    const Param *q = &f->k->param.p[a->q], *keys = &f->k->param.p[a->k];
    if (q->ndim < 2 || keys->ndim < 2 || f->queries_at->sub.n != q->ndim || a->keys_at->sub.n != keys->ndim)
        return false;
    a->rows = q->dim[q->ndim - 2], a->keys = keys->dim[keys->ndim - 2], a->width = q->dim[q->ndim - 1];
    return is_rows(f, f->queries_at, a->row) && is_rows(f, a->keys_at, a->key) && grid_fits(f) &&
           access_equal(f->store, f->queries_at) && access_equal(a->keys_at, f->values_at);
}

static int count_ops(const Region *r, OpKind kind) {
    int n = 0;
    for (const Op *op = r->first; op; op = op->next) n += op->kind == kind;
    return n;
}

/* ---- the loop's ends leave out only what masks hide ---- */

static bool is_size(const Value *v, Size s) {
    const Op *size = match_op(v, OP_SIZE);
    double n;
    if (size) return size_equal(size->size, s);
    return match_number(v, &n) && s.sym < 0 && s.axis < 0 && n == (double)s.c;
}

static bool end_fits(const Finding *f, const Value *end, Size keys) {
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

static bool begin_fits(const Finding *f, const Value *begin) {
    const Op *most = match_op(begin, OP_MAX);
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
static bool rows_are_safe(const Finding *f, bool guarded) {
    const Attention *a = f->a;
    return guarded || f->least > -INFINITY || (!a->from && (!a->to || a->last >= 0));
}

const char *attention_match(const Kernel *k, Attention *a) {
    Finding f = {.k = k, .a = a};
    bool guarded = false;
    *a = (Attention){0};
    if (!find_result(&f) || count_ops(a->loop->region[0], OP_DOT) != 2) return "";
    a->row = k->ngrid - 2;
    if (!find_weights(&f) || !begins_empty(&f)) return "its sums are not those of an online softmax";
    if (!find_sum(&f) || !find_softmax(&f, &guarded)) return "its weights are not those of an online softmax";
    if (!find_masks(&f)) return "its mask is not a band of keys around a row";
    if (!find_scale(&f)) return "its scale is not a positive number";
    if (!find_products(&f) || !find_places(&f)) return "its operands are not whole matrices";
    if (!begin_fits(&f, a->loop->arg.p[0]) || !end_fits(&f, a->loop->arg.p[1], a->keys))
        return "its keys are not all that the mask shows";
    if (!rows_are_safe(&f, guarded)) return "a row may see no key of a step";
    return count_ops(k->body, OP_STORE) + count_ops(a->loop->region[0], OP_STORE) == 1 ? NULL : "it has another result";
}
