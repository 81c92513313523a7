/* region.c: regions: the scopes of their values, and the operations that have regions. */
#include "ir/verify/verify.h"

static bool value_define(Verifier *v, Loc loc, const Value *x) {
    if (x->id < 0 || x->id >= v->k->nvalue || v->value[x->id]) {
        violation(v, loc, "value number %d is defined twice or out of bounds", x->id);
        return false;
    }
    v->value[x->id] = x;
    v->visible[x->id] = true;
    vec_push(v->scratch, &v->scope, x);
    return type_verify(v, loc, x->type);
}

static bool operand_verify(Verifier *v, const Op *op, const Value *x) {
    if (!x || x->id < 0 || x->id >= v->k->nvalue || v->value[x->id] != x)
        violation(v, op->loc, "%s uses a value before it is defined", op_info[op->kind].text);
    else if (!v->visible[x->id])
        violation(v, op->loc, "%s uses a value of another region", op_info[op->kind].text);
    else
        return true;
    return false;
}

static void results_verify(Verifier *v, const Op *op) {
    for (int i = 0; i < op->res.n; i++) {
        const Value *x = op->res.p[i];
        if (!value_define(v, op->loc, x)) continue;
        if (x->def != op || x->index != i) violation(v, op->loc, "a result does not name its operation");
    }
}

/* ---- operations with regions ---- */

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
    bool loops = op->range >= v->k->ngrid && op->range < v->k->range.n;
    if (loops && !(v->role ? v->range_open : v->range_looped)[op->range]) return true;
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
    role_loop_verify(v, op);
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

static void control_verify(Verifier *v, const Op *op) {
    if (op->kind == OP_FOR)
        for_verify(v, op);
    else if (op->kind == OP_IF)
        if_verify(v, op);
    else if (op->res.n || op->region[0] || op->region[1])
        violation(v, op->loc, "yield has results or a region");
}

/* ---- regions ---- */

static void one_op(Verifier *v, const Op *op) {
    bool good = true;
    if ((unsigned)op->kind >= OP_COUNT) {
        violation(v, op->loc, "there is no operation number %d", (int)op->kind);
        return;
    }
    const char *stray = op_stray_attribute(op);
    if (op->piece && !v->role) stray = "a piece of a turn";
    if (stray) violation(v, op->loc, "%s has %s", op_info[op->kind].text, stray);
    for (int i = 0; i < op->arg.n; i++) good &= operand_verify(v, op, op->arg.p[i]);
    if (op->kind == OP_PUT && op->region[0]) region_verify(v, op->region[0], op);
    if (good && op_info[op->kind].class == CLASS_CONTROL)
        control_verify(v, op);
    else if (good)
        op_verify(v, op);
    results_verify(v, op);
}

static void yield_place_verify(Verifier *v, const Op *op, const Op *parent) {
    if (op->kind != OP_YIELD) return;
    if (!parent) violation(v, op->loc, "the body of the kernel yields");
    if (op->next) violation(v, op->loc, "yield is not the last of its region");
}

void region_verify(Verifier *v, const Region *r, const Op *parent) {
    int outside = v->scope.n;
    const Op *prev = NULL;
    if (++v->depth > VERIFY_NESTING) {
        violation(v, parent->loc, "regions are nested more than %d deep", VERIFY_NESTING);
        v->depth--;
        return;
    }
    if (r->parent != parent) violation(v, parent ? parent->loc : v->k->loc, "a region does not name its operation");
    for (int i = 0; i < r->arg.n; i++) value_define(v, parent ? parent->loc : v->k->loc, r->arg.p[i]);
    for (const Op *op = r->first; op; prev = op, op = op->next) {
        if (op->in != r || op->prev != prev) violation(v, op->loc, "the list of a region is broken");
        yield_place_verify(v, op, parent);
        one_op(v, op);
    }
    if (r->last != prev) violation(v, v->k->loc, "the list of a region is broken");
    while (v->scope.n > outside) v->visible[v->scope.p[--v->scope.n]->id] = false;
    v->depth--;
}
