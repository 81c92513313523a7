/* kernel.c: parameters, ranges, and the body. */
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

static void groups_verify(Verifier *v, const Range *r) {
    const Param *p = r->starts <= v->k->param.n ? &v->k->param.p[r->starts - 1] : NULL;
    bool ends = p && p->ndim == 1 && p->dim[0].axis < 0 && (p->elem == ELEM_I32 || p->elem == ELEM_I64);
    if (!ends || p->out || p->inout || p->ranks >= 0)
        violation(v, r->loc, "the groups of range '%s' do not begin where a whole vector of i32 or i64 says that is read", r->name);
    if (r->kind != RANGE_TILE || r->of.axis >= 0)
        violation(v, r->loc, "ragged range '%s' has no tiles, or is split", r->name);
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
        v->range_open[i] = !r->starts; /* its GROUP opens it */
        if (r->starts) groups_verify(v, r);
        extent_verify(v, r->loc, r->of);
        owner_verify(v, i, r);
    }
}

void kernel_verify(Verifier *v, const Kernel *k) {
    int before = v->violations;
    v->k = k;
    v->scope.n = 0;
    v->depth = 0;
    v->role = NULL;
    v->range_open = ARENA_ARRAY(v->scratch, bool, k->range.n + 1);
    v->range_looped = ARENA_ARRAY(v->scratch, bool, k->range.n + 1);
    v->value = ARENA_ARRAY(v->scratch, const Value *, k->nvalue + 1);
    v->visible = ARENA_ARRAY(v->scratch, bool, k->nvalue + 1);
    for (int i = 0; i < k->param.n; i++) param_verify(v, &k->param.p[i]);
    if (k->ngrid > MAX_RANGES) violation(v, k->loc, "the grid has %d ranges, more than %d", k->ngrid, MAX_RANGES);
    ranges_verify(v);
    if (v->violations == before) region_verify(v, k->body, NULL);
    for (int i = 0; i < k->ngrid && v->violations == before; i++)
        if (!v->range_open[i]) violation(v, k->range.p[i].loc, "nothing finds the tiles of ragged range '%s'", k->range.p[i].name);
    if (v->violations == before) plan_verify(v, k);
    if (k->body->arg.n) violation(v, k->loc, "the body of the kernel has arguments");
    if (k->roles && v->violations == before) roles_verify(v, k);
}
