/* control.c: operations with regions, accesses to parameters, waits and signals. */
#include "ir/verify/verify.h"

static bool scalar_of(const Value *x, Elem e) { return type_equal(x->type, type_scalar(e)); }

/* The region ends with a yield of these types; without results it may do without. */
static void yield_verify(Verifier *v, const Op *op, const Region *r, Value *const *want, int n) {
    const Op *yield = r->last && r->last->kind == OP_YIELD ? r->last : NULL;
    int given = yield ? yield->arg.n : 0;
    if (given != n) {
        violation(v, op->loc, "a region of %s yields %d values, not %d", op_info[op->kind].text, given, n);
        return;
    }
    for (int i = 0; i < n; i++)
        if (!yield->arg.p[i] || !type_equal(yield->arg.p[i]->type, want[i]->type))
            violation(v, yield->loc, "yield number %d is not %s", i, type_text(v, want[i]->type));
}

static bool args_verify(Verifier *v, const Op *op, const Region *r, int times) {
    int n = op->res.n;
    if (r->arg.n != n * times) {
        violation(v, op->loc, "a region of for has %d arguments for %d carried values", r->arg.n, n);
        return false;
    }
    for (int i = 0; i < r->arg.n; i++) {
        const Value *x = r->arg.p[i];
        if (x->arg_of != r || x->index != i) violation(v, op->loc, "an argument does not name its region");
        if (!type_equal(x->type, op->res.p[i % n]->type))
            violation(v, op->loc, "carried value number %d is %s, not %s", i % n, type_text(v, x->type),
                      type_text(v, op->res.p[i % n]->type));
    }
    return true;
}

static bool carried_verify(Verifier *v, const Op *op) {
    if (op->arg.n - 2 != op->res.n) {
        violation(v, op->loc, "for has %d initial values and %d results", op->arg.n - 2, op->res.n);
        return false;
    }
    for (int i = 0; i < op->res.n; i++) {
        if (!type_verify(v, op->loc, op->res.p[i]->type)) return false;
        if (!type_equal(op->arg.p[i + 2]->type, op->res.p[i]->type))
            violation(v, op->loc, "initial value number %d is %s, not %s", i, type_text(v, op->arg.p[i + 2]->type),
                      type_text(v, op->res.p[i]->type));
    }
    return args_verify(v, op, op->region[0], 1);
}

static bool loop_range_verify(Verifier *v, const Op *op) {
    if (op->range >= v->k->ngrid && op->range < v->k->range.n && !v->range_looped[op->range]) return true;
    violation(v, op->loc, "for needs a range that is neither of the grid nor of another loop");
    return false;
}

static void merge_verify(Verifier *v, const Op *op) {
    if (!args_verify(v, op, op->region[1], 2)) return;
    if (op->res.n == 0) violation(v, op->loc, "merge of a loop that carries nothing");
    region_verify(v, op->region[1], op);
    yield_verify(v, op, op->region[1], op->res.p, op->res.n);
}

static void for_verify(Verifier *v, const Op *op) {
    if (op->arg.n < 2 || !op->region[0]) {
        violation(v, op->loc, "for takes two bounds and a body");
        return;
    }
    if (!scalar_of(op->arg.p[0], ELEM_I64) || !scalar_of(op->arg.p[1], ELEM_I64))
        violation(v, op->loc, "the bounds of for are not scalars of i64");
    if (!loop_range_verify(v, op) || !carried_verify(v, op)) return;
    v->range_looped[op->range] = v->range_open[op->range] = true;
    region_verify(v, op->region[0], op);
    v->range_open[op->range] = false;
    yield_verify(v, op, op->region[0], op->res.p, op->res.n);
    if (op->region[1]) merge_verify(v, op);
}

static void if_verify(Verifier *v, const Op *op) {
    if (op->arg.n != 1 || !scalar_of(op->arg.p[0], ELEM_BOOL)) violation(v, op->loc, "if takes a scalar of bool");
    if (!op->region[0] || (op->res.n && !op->region[1])) {
        violation(v, op->loc, "if lacks a region");
        return;
    }
    for (int i = 0; i < 2 && op->region[i]; i++) {
        if (op->region[i]->arg.n) violation(v, op->loc, "a region of if has arguments");
        region_verify(v, op->region[i], op);
        yield_verify(v, op, op->region[i], op->res.p, op->res.n);
    }
}

void control_verify(Verifier *v, const Op *op) {
    if (op->kind == OP_FOR)
        for_verify(v, op);
    else if (op->kind == OP_IF)
        if_verify(v, op);
    else if (op->res.n || op->region[0] || op->region[1])
        violation(v, op->loc, "yield has results or a region");
}

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

static bool is_own_rank(const Affine *a, int axis) {
    Affine own = affine_term(TERM_RANK, axis, 1, 1);
    return affine_equal(a, &own);
}

void access_verify(Verifier *v, const Op *op) {
    Type t;
    if (op->param < 0 || op->param >= v->k->param.n) {
        violation(v, op->loc, "there is no parameter %d", op->param);
        return;
    }
    const Param *p = &v->k->param.p[op->param];
    if (!subscripts_verify(v, op, p, &t)) return;
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
