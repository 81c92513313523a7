/* kernel.c: parameters, ranges, and the scopes of values and ranges in regions. */
#include "ir/verify/verify.h"

static void param_verify(Verifier *v, const Param *p) {
    const char *name = p->name ? p->name : "_";
    if (!p->name) violation(v, p->loc, "a parameter has no name");
    if (p->ndim < 0 || p->ndim > MAX_DIMS) {
        violation(v, p->loc, "parameter '%s' has %d dimensions", name, p->ndim);
        return;
    }
    shape_verify(v, p->loc, p->dim, p->ndim, p->elem);
    if (p->out && p->inout) violation(v, p->loc, "parameter '%s' is both out and inout", name);
    if (p->ndim == 0 && (p->out || p->inout || p->ranks >= 0))
        violation(v, p->loc, "scalar '%s' is out, inout or symmetric", name);
    if (p->ranks != -1) axis_verify(v, p->loc, p->ranks);
    if (p->packet && (p->ranks < 0 || elem_bits(p->elem) > 32))
        violation(v, p->loc, "packet '%s' is not symmetric, or its elements have more than 32 bits", name);
}

static void owner_verify(Verifier *v, int i, const Range *r) {
    if (r->owner < 0) return;
    if (r->owner >= i || v->k->range.p[r->owner].kind != RANGE_POSITION)
        violation(v, r->loc, "the owner of range '%s' is not a position range of the grid before it", r->name);
    if (r->of.axis < 0) violation(v, r->loc, "range '%s' has an owner and an extent that is not split", r->name);
}

static void range_form_verify(Verifier *v, int i, const Range *r) {
    static const int64_t least[] = {1, 0, 1};
    bool tile = r->kind == RANGE_TILE;
    if (r->size < least[r->kind] || r->size > (tile ? VERIFY_FACTOR : least[r->kind]))
        violation(v, r->loc, "range '%s' has tiles of %lld", r->name, (long long)r->size);
    if (r->tunable && r->kind == RANGE_POSITION) violation(v, r->loc, "position range '%s' is tunable", r->name);
    if (r->grid != (i < v->k->ngrid)) violation(v, r->loc, "range '%s': the ranges of the grid come first", r->name);
}

static void ranges_verify(Verifier *v) {
    for (int i = 0; i < v->k->range.n; i++) {
        const Range *r = &v->k->range.p[i];
        if (!r->name) violation(v, r->loc, "range %d has no name", i);
        if (!r->name) continue;
        range_form_verify(v, i, r);
        if (!r->grid) continue;
        v->range_open[i] = true;
        extent_verify(v, r->loc, r->of);
        owner_verify(v, i, r);
    }
}

bool value_define(Verifier *v, Loc loc, const Value *x) {
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

static void one_op(Verifier *v, const Op *op) {
    bool good = true;
    if ((unsigned)op->kind >= OP_COUNT) {
        violation(v, op->loc, "there is no operation number %d", (int)op->kind);
        return;
    }
    const char *stray = op_stray_attribute(op);
    if (stray) violation(v, op->loc, "%s has %s", op_info[op->kind].text, stray);
    for (int i = 0; i < op->arg.n; i++) good &= operand_verify(v, op, op->arg.p[i]);
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

void kernel_verify(Verifier *v, const Kernel *k) {
    int before = v->violations;
    v->k = k;
    v->scope.n = 0;
    v->depth = 0;
    v->range_open = ARENA_ARRAY(v->scratch, bool, k->range.n + 1);
    v->range_looped = ARENA_ARRAY(v->scratch, bool, k->range.n + 1);
    v->value = ARENA_ARRAY(v->scratch, const Value *, k->nvalue + 1);
    v->visible = ARENA_ARRAY(v->scratch, bool, k->nvalue + 1);
    for (int i = 0; i < k->param.n; i++) param_verify(v, &k->param.p[i]);
    if (k->ngrid > MAX_RANGES) violation(v, k->loc, "the grid has %d ranges, more than %d", k->ngrid, MAX_RANGES);
    ranges_verify(v);
    if (v->violations == before) region_verify(v, k->body, NULL);
    if (k->body->arg.n) violation(v, k->loc, "the body of the kernel has arguments");
}
