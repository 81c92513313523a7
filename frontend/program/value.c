/* value.c: parts of tensors as values: which tensor, which of its dimensions are fixed, and where. */
#include "frontend/program/value.h"

#include <string.h>

const Expected expected_nothing = {.into = -1};

ProgValue prog_error(Loc loc) { return (ProgValue){.kind = PROG_ERROR, .loc = loc}; }

bool value_is_part(const ProgValue *v) { return v->lead || v->view || v->nspot; }

int value_lead(const ProgValue *v) { return v->lead + v->nspot; }

ProgValue value_unspotted(const ProgValue *v) {
    ProgValue r = *v;
    r.nspot = 0;
    return r;
}

Arg value_arg(const ProgValue *v) {
    Arg a = arg_whole(v->tensor);
    a.lead = v->lead, a.view = v->view != NULL;
    memcpy(a.at, v->at, sizeof a.at);
    return a;
}

/* Where a dimension of the tensor is fixed, if that is known at compile time. */
static bool place_known(const ProgValue *v, int d, int64_t *at) {
    if (d < v->lead) return *at = v->at[d], true;
    bool known = !v->view && d < value_lead(v) && affine_is_const(&v->spot[d - v->lead]);
    return known ? *at = v->spot[d - v->lead].c, true : false;
}

static bool same_places(const ProgValue *a, const ProgValue *b) {
    int64_t x, y;
    for (int d = 0; d < MAX_DIMS; d++)
        if (place_known(a, d, &x) && place_known(b, d, &y) && x != y) return false;
    return a->kind == PROG_TENSOR && b->kind == PROG_TENSOR && a->tensor == b->tensor;
}

bool dims_equal(const Tensor *a, const Tensor *b) {
    if (!a || !b) return a == b;
    bool same = a->ndim == b->ndim;
    for (int d = 0; same && d < a->ndim; d++) same = size_equal(a->dim[d], b->dim[d]);
    return same;
}

bool value_equal(const ProgValue *a, const ProgValue *b) {
    if (a->lead != b->lead || !dims_equal(a->view, b->view) || a->nspot != b->nspot) return false;
    for (int i = 0; i < a->nspot; i++)
        if (!affine_equal(&a->spot[i], &b->spot[i])) return false;
    return same_places(a, b);
}

bool value_overlaps(const ProgValue *a, const ProgValue *b) { return same_places(a, b); }
