/* program_part.c: parts of tensors: the first dimensions at places known at compile time, as in kc[l].
   Takes a subscripted expression; gives the same tensor with fewer dimensions, which nothing copies. */
#include "frontend/program.h"

#include <string.h>

/* ---- parts ---- */

Tensor value_tensor(const Prog *c, const ProgValue *v) {
    Tensor t = c->p->tensor.p[v->tensor];
    t.ndim -= v->lead;
    memmove(t.dim, t.dim + v->lead, sizeof *t.dim * (size_t)t.ndim);
    return t;
}

Arg value_arg(const ProgValue *v) {
    Arg a = {.tensor = v->tensor, .lead = v->lead};
    memcpy(a.at, v->at, sizeof a.at);
    for (int d = 0; d < MAX_DIMS; d++) a.slice[d] = -1;
    return a;
}

static bool same_places(const ProgValue *a, const ProgValue *b, int n) {
    for (int d = 0; d < n; d++)
        if (a->at[d] != b->at[d]) return false;
    return a->kind == PROG_TENSOR && b->kind == PROG_TENSOR && a->tensor == b->tensor;
}

bool value_equal(const ProgValue *a, const ProgValue *b) { return a->lead == b->lead && same_places(a, b, a->lead); }

bool value_overlaps(const ProgValue *a, const ProgValue *b) {
    return same_places(a, b, a->lead < b->lead ? a->lead : b->lead);
}

ProgValue value_whole(Prog *c, ProgValue part) {
    Tensor t = value_tensor(c, &part);
    TensorInfo info = c->info.p[part.tensor];
    memmove(info.dim, info.dim + part.lead, sizeof *info.dim * (size_t)t.ndim);
    t.name = name_of(c->m->names, arena_format(c->arena, "%s_part", t.name));
    t.role = ROLE_TEMP;
    ProgValue whole = prog_tensor(c, tensor_new(c, t, &info), part.loc);
    return map_copy(c, part, &whole, part.loc) ? whole : prog_error(part.loc);
}

/* ---- x[l] ---- */

static bool report(Prog *c, Loc loc, const char *id, const char *text) {
    diag_error(c->diags, loc, id, "%s", text);
    return false;
}

static bool place_lower(Prog *c, const Expr *e, const ProgValue *v, int64_t *at) {
    ProgValue n;
    Size extent = c->p->tensor.p[v->tensor].dim[v->lead];
    if (!number_of_expr(c, e, &n) || !n.is_integer)
        return report(c, e->loc, "not-constant", "a part of a tensor is taken at a place known at compile time");
    if (extent.axis >= 0)
        return report(c, e->loc, "split-part", "this dimension is split: gather it first, all_gather(..)");
    if (extent.sym >= 0)
        return report(c, e->loc, "unsupported",
                      "not supported yet: a part along a dimension that is known at run time only");
    *at = (int64_t)n.number;
    if (n.number >= 0 && n.number < (double)extent.c) return true;
    diag_error(c->diags, e->loc, "out-of-range", "%lld is outside of the dimension, which has %lld",
               (long long)n.number, (long long)extent.c);
    return false;
}

ProgValue part_lower(Prog *c, const Expr *e) {
    ProgValue v = tensor_lower(c, e->base, &expected_nothing);
    if (v.kind != PROG_TENSOR) return prog_error(e->loc);
    if (e->args.n >= value_tensor(c, &v).ndim) {
        report(c, e->loc, "unsupported", "not supported yet: an element of a tensor as a value; leave a dimension");
        return prog_error(e->loc);
    }
    for (int i = 0; i < e->args.n; i++) {
        if (!place_lower(c, e->args.p[i], &v, &v.at[v.lead])) return prog_error(e->loc);
        v.lead++;
    }
    v.loc = e->loc;
    return v;
}
