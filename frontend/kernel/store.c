/* store.c: stores to results, and the rule that every element of every result is written exactly once.
   Takes and gives: a statement whose target is a result; what can be judged from names and subscripts is. */
#include "frontend/kernel/kernel.h"

enum { STORES_COMPARED = 64 };

/* ---- where a store goes ---- */

static bool affine_uses(const Kern *c, const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_VALUE) return true;
        if (t->kind != TERM_POS && t->kind != TERM_INDEX) continue;
        if (t->id == range || range_stands_for(c, t->id) == range) return true;
    }
    return false;
}

static bool subscripts_use(const Kern *c, const Span *sub, int n, int range) {
    for (int i = 0; i < n; i++)
        if (affine_uses(c, &sub[i].lo, range)) return true;
    return false;
}

/* Only one tile or position: nothing repeats. */
static bool range_single(const Kern *c, int range) {
    const Range *r = &c->b.k->range.p[range];
    return r->kind == RANGE_WHOLE || (!r->starts && r->grid && size_is_number(r->of) && r->of.c <= r->size);
}

static void repeated_report(Kern *c, const Entry *result, int range, Loc loc) {
    const Range *r = &c->b.k->range.p[range];
    diag_error(c->diags, loc, "result-written-twice", "each %s along '%s' writes the same elements of '%s'",
               r->grid ? "task" : "iteration", r->name, result->name);
    diag_note(c->diags, r->loc,
              r->grid ? "'%s' has to appear in the subscripts; to reduce over it, make it a loop: for %s .."
                      : "'%s' has to appear in the subscripts, or the store stands after the loop",
              r->name, r->name);
}

static bool ranges_covered(Kern *c, const Entry *result, const Span *sub, int n, Loc loc) {
    for (int i = 0; i < c->b.k->ngrid; i++)
        if (!range_single(c, i) && !subscripts_use(c, sub, n, i)) return repeated_report(c, result, i, loc), false;
    for (int i = 0; i < c->loop.n; i++)
        if (!range_single(c, c->loop.p[i]) && !subscripts_use(c, sub, n, c->loop.p[i]))
            return repeated_report(c, result, c->loop.p[i], loc), false;
    return true;
}

/* ---- stores that meet ---- */

/* In different branches of one `if`. */
static bool exclusive(const Region *a, const Region *b) {
    for (; a->parent; a = a->parent->in)
        for (const Region *x = b; x->parent; x = x->parent->in)
            if (x->parent == a->parent) return x != a;
    return false;
}

static void twice_check(Kern *c, const Entry *result, const Op *op) {
    for (int i = c->store.n - 1; i >= 0 && i >= c->store.n - STORES_COMPARED; i--) {
        const Op *held = c->store.p[i];
        if (held->param != op->param || !access_equal(held, op) || exclusive(held->in, op->in)) continue;
        diag_error(c->diags, op->loc, "result-written-twice", "the same elements of '%s' are written a second time",
                   result->name);
        diag_note(c->diags, held->loc, "first written here");
        return;
    }
}

/* ---- the statement ---- */

static bool target_refuse(Kern *c, const Stmt *s, const Expr *target, const Entry *e) {
    if (e->kind == NAME_BROKEN) return true;
    if (e->kind != NAME_RESULT && e->kind != NAME_INOUT) {
        diag_error(c->diags, target->loc, "not-assignable", "'%s' is not a result: it cannot be stored to", e->name);
        diag_note(c->diags, e->loc,
                  e->kind == NAME_TENSOR ? "declared here; declare it inout to update it in place" : "declared here");
    } else if (e->kind == NAME_RESULT && (s->op == ASSIGN_MUL || s->op == ASSIGN_DIV)) {
        diag_error(c->diags, s->loc, "result-update", "a result is 0 before: it can only be added to");
        diag_note(c->diags, e->loc, "make '%s' an inout parameter, which has a value before", e->name);
    } else if (c->in_merge)
        diag_error(c->diags, s->loc, "store-in-merge", "a merge block cannot store to a result");
    else
        return false;
    return true;
}

/* A result is written exactly once, which computed places cannot promise. */
static bool scatter_refuse(Kern *c, const Entry *result, const Span *sub, int n, Loc loc) {
    for (int i = 0; i < n; i++)
        for (int t = 0; t < sub[i].lo.nterm; t++)
            if (sub[i].lo.term[t].kind == TERM_VALUE) {
                diag_error(c->diags, loc, "result-not-covered",
                           "stores to computed places need not reach every element of '%s'", result->name);
                diag_note(c->diags, result->loc, "make it an inout parameter, which keeps what is not written");
                return true;
            }
    return false;
}

static bool result_covered(Kern *c, const Entry *result, const Span *sub, int n, Loc loc) {
    if (result->kind == NAME_INOUT) return true; /* judged at the end of the kernel */
    return !scatter_refuse(c, result, sub, n, loc) && ranges_covered(c, result, sub, n, loc);
}

static bool value_fits(Kern *c, const Entry *result, Val v, const Span *sub, int n, Loc loc) {
    Type place = type_scalar(ELEM_I64), t = val_type(c, v);
    for (int i = 0; i < n; i++) place = type_union(place, affine_type(c->b.k, &sub[i].lo));
    for (int i = 0; i < t.nrange; i++) {
        if (type_has(place, t.range[i])) continue;
        const char *name = c->b.k->range.p[t.range[i]].name;
        diag_error(c->diags, loc, "store-ranges", "this is %s, and '%s' is not among the subscripts of '%s'",
                   tile_text(c, t), name, result->name);
        diag_note(c->diags, loc, "reduce it: sum(.., %s)", name);
        return false;
    }
    return true;
}

/* Rounding is the store's: the value keeps the type of its arithmetic. */
static Value *stored_value(Kern *c, const Entry *result, Val v, Loc loc) {
    Elem want = c->b.k->param.p[result->index].elem;
    const char *what = arena_format(c->arena, "'%s'", result->name);
    if (v.kind == VAL_TILE && elem_is_float(v.v->type.elem) && elem_is_float(want)) return v.v;
    return val_assign(c, v, val_is_const(v) ? elem_arith(want) : want, loc, what);
}

static int bare_range(const Affine *a) { return a->c == 0 ? shifted_range(a) : -1; }

/* A grid has as many tasks on every rank, and one where nothing is: positions that do not exist store nothing. Nor does
   a task for which no group has a tile; only a fixed size lets a store count tiles. */
static Value *positions_exist(Kern *c, const Span *sub, int n) {
    Value *all = NULL;
    for (int r = 0; r < c->b.k->ngrid; r++) {
        const Range *range = &c->b.k->range.p[r];
        bool full = size_is_number(range->of) && range->of.c > 0, named = false, ragged = range->starts && !range->tunable;
        for (int d = 0; d < n; d++) named = named || range_stands_for(c, bare_range(&sub[d].lo)) == r;
        if ((!ragged && (range->kind != RANGE_POSITION || full)) || named) continue;
        Value *at = build_index(&c->b, ragged ? OP_BEGIN : OP_POS, r);
        Value *past = ragged ? build_index(&c->b, OP_END, r) : build_size(&c->b, OP_SIZE, range->of);
        Value *exists = build_binary(&c->b, OP_LT, at, past);
        all = all ? build_binary(&c->b, OP_AND, all, exists) : exists;
    }
    return all;
}

/* Where computed places do not say so themselves. */
static Op *store_build(Kern *c, const Entry *result, const Span *sub, int n, Value *x, StoreMode mode) {
    Region *outer = c->b.at;
    Value *exist = result->kind == NAME_INOUT || mode != STORE_SET ? positions_exist(c, sub, n) : NULL;
    if (exist) c->b.at = build_if(&c->b, exist, NULL, 0)->region[0];
    Op *op = build_store(&c->b, result->index, sub, n, x, mode);
    c->b.at = outer;
    return op;
}

/* As wide as it is stored: what is taken off wraps as what is added does. */
static Value *negated(Kern *c, Value *x, Loc loc) {
    Val v = arith_unary(c, OP_NEG, val_tile(x), loc);
    return v.kind == VAL_ERROR ? NULL : build_cast(&c->b, x->type.elem, v.v);
}

void store_lower(Kern *c, const Stmt *s, const Expr *target) {
    const Expr *base = field_name(c, target->kind == EXPR_INDEX ? target->base : target);
    Val v = expr_lower(c, s->value);
    c->b.loc = s->loc;
    Entry result = *scope_use(c->scope, base->name, base->loc);
    Span sub[MAX_DIMS];
    int n = result.scalar ? 1 : target->args.n;
    if (target_refuse(c, s, target, &result) || !subscripts_lower(c, target, &result, sub)) return;
    c->stored[result.index] = true;
    bool sum = store_is_sum(c, s, &result, sub, n);
    if (v.kind != VAL_ERROR && !sum && s->op != ASSIGN_SET)
        v = arith_assign(c, s->op, val_tile(build_load(&c->b, result.index, sub, n)), v, s->loc);
    if (v.kind == VAL_ERROR || !value_fits(c, &result, v, sub, n, s->value->loc)) return;
    if (!sum && !result_covered(c, &result, sub, n, target->loc)) return;
    c->b.loc = s->loc;
    Value *x = stored_value(c, &result, v, s->value->loc);
    if (!x || (sum && !arith_sums(c, s->op, x->type.elem, s->loc))) return;
    if (sum && s->op == ASSIGN_SUB) x = negated(c, x, s->loc);
    if (!x) return;
    c->b.loc = s->loc;
    StoreMode mode = sum ? sum_mode(c, result.index) : store_is_unique(c, sub, n) ? STORE_UNIQUE : STORE_SET;
    Op *op = store_build(c, &result, sub, n, x, mode);
    if (result.kind == NAME_RESULT && !sum) twice_check(c, &result, op);
    vec_push(c->arena, &c->store, op);
}
