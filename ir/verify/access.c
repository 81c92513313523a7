/* access.c: loads and stores of parameters, waits and signals. */
#include "ir/verify/verify.h"

static bool subscripts_verify(Verifier *v, const Op *op, const Param *p, Type *t) {
    int want = p->ndim + (p->ranks >= 0);
    *t = type_scalar(p->elem);
    if (op->sub.n != want) {
        violation(v, op->loc, "'%s' takes %d subscripts, not %d", p->name, want, op->sub.n);
        return false;
    }
    for (int i = 0; i < want; i++) {
        if (!affine_verify(v, op->loc, &op->sub.p[i].lo)) return false;
        if (!type_unite(v, op->loc, t, affine_type(v->k, &op->sub.p[i].lo))) return false;
        if (i == 0 && p->ranks >= 0 && t->nrange) violation(v, op->loc, "the rank of '%s' is a tile", p->name);
    }
    return true;
}

static bool stores_as(Elem value, Elem stored) {
    return value == stored || (elem_is_float(value) && elem_is_float(stored)) ||
           (elem_is_int(value) && elem_is_int(stored));
}

static void store_verify(Verifier *v, const Op *op, const Param *p, Type t) {
    Type x = op->arg.p[0]->type;
    if (!p->out && !p->inout) violation(v, op->loc, "'%s' is not a result, and stored to", p->name);
    if (op->mode == STORE_SUM && !p->inout) violation(v, op->loc, "'%s' is summed into and has no value before", p->name);
    if (!stores_as(x.elem, p->elem))
        violation(v, op->loc, "%s is stored to '%s' of %s", elem_text(x.elem), p->name, elem_text(p->elem));
    if (!type_covers(t, x))
        violation(v, op->loc, "the subscripts of '%s' lack a range of %s", p->name, type_text(v, x));
    if (op->res.n) violation(v, op->loc, "store has results");
}

bool access_type(Verifier *v, const Op *op, Type *t) {
    if (op->param >= 0 && op->param < v->k->param.n) return subscripts_verify(v, op, &v->k->param.p[op->param], t);
    violation(v, op->loc, "there is no parameter %d", op->param);
    return false;
}

static bool is_own_rank(const Affine *a, int axis) {
    Affine own = affine_term(TERM_RANK, axis, 1, 1);
    return affine_equal(a, &own);
}

/* At the head of the body, or of what the node's condition guards. */
static bool is_at_head(const Op *op) {
    const Op *up = op->in->parent;
    return !up || (up->kind == OP_IF && up->region[0] == op->in && !up->in->parent);
}

void group_verify(Verifier *v, const Op *op) {
    const Range *r = op->range >= 0 && op->range < v->k->ngrid ? &v->k->range.p[op->range] : NULL;
    if (!r || !r->starts || op->param != r->starts - 1) {
        violation(v, op->loc, "group of a range that has none, or by another parameter than its own");
        return;
    }
    if (v->range_open[op->range] || !is_at_head(op))
        violation(v, op->loc, "the tiles of ragged range '%s' are found twice, or not at the head of the body", r->name);
    v->range_open[op->range] = true;
    result_expect(v, op, type_scalar(ELEM_I64));
}

void access_verify(Verifier *v, const Op *op) {
    Type t;
    if (!access_type(v, op, &t)) return;
    const Param *p = &v->k->param.p[op->param];
    if (op->kind == OP_STORE) {
        store_verify(v, op, p, t);
        return;
    }
    if (p->out && p->ranks >= 0 && !is_own_rank(&op->sub.p[0].lo, p->ranks))
        violation(v, op->loc, "the kernel reads its result '%s' of other ranks", p->name);
    result_expect(v, op, t);
}

static bool span_verify(Verifier *v, const Op *op, const Span *s) {
    if (!affine_verify(v, op->loc, &s->lo) || !affine_verify(v, op->loc, &s->hi)) return false;
    if (affine_type(v->k, &s->lo).nrange == 0 && affine_type(v->k, &s->hi).nrange == 0) return true;
    violation(v, op->loc, "%s names a flag by a tile", op_info[op->kind].text);
    return false;
}

void sync_verify(Verifier *v, const Op *op) {
    if (!(v->m->form & FORM_FLAGS)) violation(v, op->loc, "%s in a module without flags", op_info[op->kind].text);
    if (op->lag < 0) violation(v, op->loc, "the lag is negative");
    if (op->res.n) violation(v, op->loc, "%s has results", op_info[op->kind].text);
    for (int i = 0; i < op->sub.n; i++)
        if (!span_verify(v, op, &op->sub.p[i])) return;
    span_verify(v, op, &op->dest);
}
