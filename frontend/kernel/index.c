/* index.c: subscripts, affine sums of positions, and reads through them.
   Subscripts of a split dimension count inside the rank's block; the same sum as a value is global. */
#include "frontend/kernel/kernel.h"

#include <string.h>

/* Inside a subscript a range stands for its positions. */
Val subscript_value(Kern *c, const Expr *e) {
    bool outer = c->in_index, outer_local = c->local_dims;
    c->in_index = true;
    c->local_dims = false;
    Val v = expr_lower(c, e);
    c->in_index = outer;
    c->local_dims = outer_local;
    return v;
}

static bool subscript_lower(Kern *c, const Expr *e, Span *sub) {
    Val v = subscript_value(c, e);
    if (v.kind == VAL_ERROR) return false;
    if (!is_affine(v)) {
        diag_error(c->diags, e->loc, "subscript-type", "a subscript is an integer, this is %s",
                   elem_text(val_type(c, v).elem));
        return false;
    }
    *sub = span_of(affine_of(&v));
    return true;
}

static bool subscript_count(Kern *c, const Expr *e, const Entry *tensor) {
    int want = tensor->scalar ? 0 : c->b.k->param.p[tensor->index].ndim;
    if (e->args.n == want) return true;
    diag_error(c->diags, e->loc, "wrong-rank", "'%s' has %d dimension%s, %d subscript%s given", tensor->name, want,
               want == 1 ? "" : "s", e->args.n, e->args.n == 1 ? " is" : "s are");
    diag_note(c->diags, tensor->loc, "declared here");
    return false;
}

/* i % 1, which is kept for its range (arith.c). */
static bool is_zero(const Term *t) {
    const Op *def = t->kind == TERM_VALUE ? t->value->def : NULL;
    int64_t by;
    return def && def->kind == OP_MOD && value_const(def->arg.p[1], &by) && by == 1;
}

static Type subscripts_type(const Kern *c, const Span *sub, int n) {
    Type t = type_scalar(ELEM_I64);
    for (int i = 0; i < n; i++) t = type_union(t, affine_type(c->b.k, &sub[i].lo));
    return t;
}

/* Where another subscript has the range. */
static void subscript_drop_zeros(const Kern *c, Span *sub, int n, int i) {
    const Span before = sub[i];
    Affine *a = &sub[i].lo;
    const Type t = subscripts_type(c, sub, n);
    int left = 0;
    for (int k = 0; k < a->nterm; k++)
        if (!is_zero(&a->term[k])) a->term[left++] = a->term[k];
    a->nterm = left;
    sub[i] = type_equal(subscripts_type(c, sub, n), t) ? span_of(*a) : before;
}

bool subscripts_lower(Kern *c, const Expr *e, const Entry *tensor, Span *sub) {
    bool good = subscript_count(c, e, tensor);
    Type t = type_scalar(ELEM_I64);
    if (tensor->scalar) sub[0] = span_of(affine_const(0));
    for (int i = 0; i < e->args.n && i < MAX_DIMS; i++)
        if (!subscript_lower(c, e->args.p[i], &sub[i])) good = false;
    for (int i = 0; good && i < e->args.n; i++) {
        Type more = affine_type(c->b.k, &sub[i].lo);
        if (!types_fit(c, t, more, e->loc)) return false;
        t = type_union(t, more);
    }
    for (int i = 0; good && i < e->args.n; i++) subscript_drop_zeros(c, sub, e->args.n, i);
    return good;
}

static Val load_refuse(Kern *c, const Expr *e, const Entry *named) {
    if (named->kind == NAME_BROKEN) return val_error;
    if (named->kind == NAME_RESULT)
        diag_error(c->diags, e->loc, "store-in-merge", "a merge block cannot read '%s', a result", named->name);
    else
        diag_error(c->diags, e->loc, "not-a-tensor", "'%s' is not a tensor: it takes no subscripts", named->name);
    return val_error;
}

static bool is_local(const Kern *c, const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_POS && c->range_of.p[a->term[i].id].axis >= 0) return true;
    return false;
}

/* Of a whole dimension the global places, as values. */
static void subscripts_globalise(Kern *c, const Entry *tensor, Span *sub) {
    const Param *p = &c->b.k->param.p[tensor->index];
    for (int d = 0; d < p->ndim; d++)
        if (p->dim[d].axis < 0 && is_local(c, &sub[d].lo)) sub[d] = span_of(affine_value(index_value(c, &sub[d].lo)));
}

static Value *zero_of(Kern *c, Elem e) { return elem_is_float(e) ? build_const_f(&c->b, e, 0) : build_const_i(&c->b, e, 0); }

Val load_lower(Kern *c, const Expr *e) {
    const Expr *base = field_name(c, e->kind == EXPR_INDEX ? e->base : e);
    if (base->kind != EXPR_NAME) {
        diag_error(c->diags, e->loc, "not-a-tensor", "only a tensor takes subscripts");
        return val_error;
    }
    Entry tensor = *scope_use(c->scope, base->name, base->loc);
    bool own = tensor.kind == NAME_RESULT && !c->in_merge;
    if (tensor.kind != NAME_TENSOR && tensor.kind != NAME_INOUT && !own) return load_refuse(c, e, &tensor);
    Span sub[MAX_DIMS];
    Value *exists = NULL;
    if (tensor.view ? !view_subscripts(c, e, &tensor, sub, &exists) : !subscripts_lower(c, e, &tensor, sub)) return val_error;
    c->b.loc = e->loc;
    if (tensor.global) subscripts_globalise(c, &tensor, sub);
    Value *x = build_load(&c->b, tensor.index, sub, c->b.k->param.p[tensor.index].ndim);
    if (!exists) return val_tile(x);
    x = build_cast(&c->b, elem_arith(x->type.elem), x);
    return val_tile(build_select(&c->b, exists, x, zero_of(c, x->type.elem)));
}
