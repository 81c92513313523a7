/* inout.c: tensors that a kernel updates in place: no task may touch what another one writes.
   Takes a lowered body; reports the inout parameters of which that cannot be told from the subscripts. */
#include "frontend/kernel/kernel.h"

typedef VEC(const Op *) Accesses;

static void accesses_find(Kern *c, const Region *r, int param, Accesses *list) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op_info[op->kind].class == CLASS_MEMORY && op->param == param) vec_push(c->arena, list, op);
}

/* ---- places that a parameter declares unique ---- */

static const Op *unique_load(const Kern *c, const Affine *a) {
    if (a->nterm != 1 || a->c != 0 || a->term[0].kind != TERM_VALUE || a->term[0].mul != 1 || a->term[0].div != 1)
        return NULL;
    const Op *op = a->term[0].value->def;
    while (op && op->kind == OP_CAST) op = op->arg.p[0]->def;
    if (!op || op->kind != OP_LOAD) return NULL;
    const Param *p = &c->b.k->param.p[op->param];
    for (int i = 0; i < c->bound->param.n; i++)
        if (c->bound->param.p[i].decl->name == p->name && c->bound->param.p[i].decl->is_unique) return op;
    return NULL;
}

bool store_is_unique(const Kern *c, const Span *sub, int n) {
    for (int i = 0; i < n; i++)
        if (unique_load(c, &sub[i].lo)) return true;
    return false;
}

/* The range itself, or the one whose positions it goes through. */
static int own_range(const Kern *c, const Affine *a) { return range_stands_for(c, affine_position(a)); }

static bool names_range(const Kern *c, const Op *op, int range) {
    for (int d = 0; d < op->sub.n; d++)
        if (own_range(c, &op->sub.p[d].lo) == range) return true;
    return false;
}

/* Distinct along the range: the range is a subscript, or one of the place that is unique. */
static bool unique_along(const Kern *c, const Op *store, int range) {
    for (int d = 0; d < store->sub.n; d++) {
        const Op *place = unique_load(c, &store->sub.p[d].lo);
        if (place && names_range(c, place, range)) return true;
    }
    return names_range(c, store, range);
}

/* ---- the rule ---- */

static bool range_single(const Kern *c, int range) {
    const Range *r = &c->b.k->range.p[range];
    return r->kind == RANGE_WHOLE || (!r->starts && size_is_number(r->of) && r->of.c <= r->size);
}

/* One subscript is the range itself wherever the tensor is touched. */
static bool own_along(const Kern *c, const Accesses *list, int ndim, int range) {
    for (int d = 0; d < ndim; d++) {
        int i = 0;
        while (i < list->n && own_range(c, &list->p[i]->sub.p[d].lo) == range) i++;
        if (i == list->n) return true;
    }
    return false;
}

static void overlap_report(Kern *c, const Param *p, int range, Loc loc) {
    Name name = c->b.k->range.p[range].name;
    diag_error(c->diags, loc, "inout-overlap", "tasks along '%s' may touch the same elements of '%s'", name, p->name);
    diag_note(c->diags, p->loc, "every access of an inout parameter names '%s' alone, and in the same subscript", name);
}

static bool names_computed_places(const Op *op) {
    for (int d = 0; d < op->sub.n; d++)
        for (int t = 0; t < op->sub.p[d].lo.nterm; t++) {
            const Term *term = &op->sub.p[d].lo.term[t];
            if (term->kind == TERM_VALUE && term->value->type.nrange) return true;
        }
    return false;
}

/* Ranges of which a place that is unique tells the position. */
static uint64_t told_by_unique(const Kern *c, const Op *op) {
    uint64_t told = 0;
    for (int d = 0; d < op->sub.n; d++) {
        const Op *place = unique_load(c, &op->sub.p[d].lo);
        if (place) told |= place_tells(c->m, c->b.k, place->sub.p, place->sub.n, 0);
    }
    return told;
}

/* A tile of places may name one twice: computed ones, and those such as i / 2. */
static bool places_distinct(Kern *c, const Op *op, const Param *p) {
    if (op->kind != OP_STORE) return true;
    bool computed = op->mode == STORE_SET && names_computed_places(op);
    if (!computed && place_is_own(c->m, c->b.k, op->sub.p, op->sub.n, told_by_unique(c, op))) return true;
    diag_error(c->diags, op->loc, "scatter-not-unique", "two elements of a tile may go to the same place of '%s'", p->name);
    diag_note(c->diags, op->loc, "take the places from a parameter that is declared unique, or one at a time");
    return false;
}

static void inout_check(Kern *c, int param) {
    const Param *p = &c->b.k->param.p[param];
    Accesses list = {0};
    accesses_find(c, c->b.k->body, param, &list);
    for (int i = 0; i < list.n; i++)
        if (!places_distinct(c, list.p[i], p)) return;
    bool unique = list.n == 1 && list.p[0]->mode == STORE_UNIQUE;
    for (int r = 0; r < c->b.k->ngrid; r++) {
        if (range_single(c, r) || own_along(c, &list, p->ndim, r) || (unique && unique_along(c, list.p[0], r))) continue;
        overlap_report(c, p, r, list.p[0]->loc);
        return;
    }
}

void inouts_check(Kern *c) {
    for (int i = 0; i < c->b.k->param.n; i++)
        if (c->b.k->param.p[i].inout && !param_is_summed(c, i)) inout_check(c, i);
}
