/* match_softmax.c: an online softmax of products of q and k that weighs v, from a kernel's result backwards. */
#include "codegen/schedules/match_softmax.h"

#include <math.h>

static const Value *carried(const Softmax *f, int i) { return f->a->loop->region[0]->arg.p[i]; }
static const Value *yielded(const Softmax *f, int i) { return f->a->loop->region[0]->last->arg.p[i]; }

/* ---- the result ---- */

static int result_of(const Op *loop, const Value *v) {
    for (int i = 0; i < loop->res.n; i++)
        if (loop->res.p[i] == v) return i;
    return -1;
}

/* What a part of the keys has come to, as it is or where no key counted as it was at first (pieces.c, part_mend). */
static const Value *part_value(const Op *store) {
    const Op *choice = match_op(store->arg.p[0], OP_SELECT);
    return choice ? choice->arg.p[2] : store->arg.p[0];
}

/* One of three values of one loop, told apart by what a step does. */
static bool find_part(Softmax *f, const Op *store) {
    const Value *v = part_value(store);
    const Op *loop = match_op(v, OP_FOR);
    if (!loop || loop->res.n != 3 || (f->a->loop && f->a->loop != loop)) return false;
    f->a->loop = loop;
    int i = result_of(loop, v);
    if (i < 0) return false;
    if (match_op(yielded(f, i), OP_DOT))
        f->acc = i, f->store = store;
    else if (match_op(yielded(f, i), OP_ADD))
        f->sum = i, f->a->sums = store->param;
    else
        f->max = i, f->a->bases = store->param;
    return store->mode == STORE_SET;
}

/* Of a kernel that had a schedule and was cut (split): it stores what its loop carries. */
static bool find_parts(Softmax *f) {
    bool good = f->k->plan.schedule != NULL;
    int n = 0;
    f->acc = f->sum = f->max = -1;
    for (const Op *op = f->k->body->first; op && good; op = op->next)
        if (op->kind == OP_STORE) n++, good = find_part(f, op);
    good = good && n == 3 && f->acc >= 0 && f->sum >= 0 && f->max >= 0;
    f->a->parts = good ? f->k->range.p[0].of.c : 1;
    if (!good) f->a->loop = NULL;
    return good;
}

static bool find_result(Softmax *f) {
    f->part = find_parts(f);
    if (f->part) return f->a->loop->region[0]->last->kind == OP_YIELD;
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

static bool begins_with(const Softmax *f, int i, double *n) { return match_number(f->a->loop->arg.p[2 + i], n); }

static bool begins_empty(Softmax *f) {
    double acc, sum;
    if (!begins_with(f, f->acc, &acc) || !begins_with(f, f->sum, &sum) || !begins_with(f, f->max, &f->least))
        return false;
    return acc == 0 && sum == 0 && f->least <= -1e38;
}

/* ---- a step: acc = acc shrink + weight v, l = l shrink + sum(weight), m = max(m, max(x)) ---- */

static bool find_weights(Softmax *f) {
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

static bool find_sum(const Softmax *f) {
    const Op *add = match_op(yielded(f, f->sum), OP_ADD);
    for (int i = 0; add && i < 2; i++) {
        const Op *sum = match_op(add->arg.p[1 - i], OP_SUM);
        if (match_other(add->arg.p[i], OP_MUL, f->shrink) == carried(f, f->sum) && sum)
            return sum->arg.p[0] == f->weight && sum->nover == 1 && sum->over[0] == f->a->key;
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
static bool top_is(const Softmax *f, const Value *most, bool *guarded) {
    const Op *choice = match_op(f->top, OP_SELECT), *above = choice ? match_op(choice->arg.p[0], OP_GT) : NULL;
    double least, zero;
    *guarded = choice != NULL;
    if (!choice) return f->top == most;
    return above && above->arg.p[0] == most && match_bare(choice->arg.p[1]) == most &&
           match_number(above->arg.p[1], &least) && least == -INFINITY && match_number(choice->arg.p[2], &zero) &&
           zero == 0;
}

static bool find_softmax(Softmax *f, bool *guarded) {
    const Value *most = yielded(f, f->max), *largest = match_other(most, OP_MAX, carried(f, f->max)), *top;
    const Op *reduce = largest ? match_op(largest, OP_RMAX) : NULL;
    f->score = exponent(f->weight, &f->top);
    if (!f->score || exponent(f->shrink, &top) != carried(f, f->max) || top != f->top) return false;
    if (!reduce || reduce->arg.p[0] != f->score || reduce->nover != 1 || reduce->over[0] != f->a->key) return false;
    return top_is(f, most, guarded);
}

/* ---- scores ---- */

bool softmax_scale(Softmax *f) {
    const Op *mul = match_op(f->score, OP_MUL);
    f->a->scale = 1;
    if (!mul) return true;
    int number = match_number(mul->arg.p[0], &f->a->scale) ? 0 : 1;
    f->score = mul->arg.p[1 - number];
    return match_number(mul->arg.p[number], &f->a->scale) && f->a->scale > 0 && f->a->scale < 1e30;
}

bool softmax_products(Softmax *f) {
    const Op *dot = match_op(f->score, OP_DOT);
    if (!dot || dot->arg.n != 2 || dot->nover != 1) return false;
    f->queries_at = match_op(dot->arg.p[0], OP_LOAD);
    f->a->keys_at = match_op(dot->arg.p[1], OP_LOAD);
    f->a->column = dot->over[0];
    return f->queries_at && f->a->keys_at;
}

static int count_ops(const Region *r, OpKind kind) {
    int n = 0;
    for (const Op *op = r->first; op; op = op->next) n += op->kind == kind;
    return n;
}

const char *softmax_find(Softmax *f, bool *guarded) {
    *guarded = false;
    if (!find_result(f) || count_ops(f->a->loop->region[0], OP_DOT) != 2) return "";
    if (!find_weights(f) || !begins_empty(f)) return "its sums are not those of an online softmax";
    if (!find_sum(f) || !find_softmax(f, guarded)) return "its weights are not those of an online softmax";
    return NULL;
}

/* b: behind its first dimensions. */
static bool dims_equal(const Param *a, const Param *b, int first) {
    for (int d = 0; d < a->ndim && d + first < b->ndim; d++)
        if (!size_equal(a->dim[d], b->dim[d + first])) return false;
    return a->ndim + first == b->ndim;
}

bool softmax_places_agree(const Softmax *f) {
    const Param *p = f->k->param.p, *q = &p[f->a->q], *keys = &p[f->a->k];
    return dims_equal(q, &p[f->a->o], f->part) && dims_equal(keys, &p[f->a->v], 0) &&
           size_equal(q->dim[q->ndim - 1], keys->dim[keys->ndim - 1]);
}

bool softmax_alone(const Softmax *f) {
    return count_ops(f->k->body, OP_STORE) + count_ops(f->a->loop->region[0], OP_STORE) == (f->part ? 3 : 1);
}
