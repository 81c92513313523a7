/* sum.c: out[idx[i], c] += x, at places that elements and tasks may share. Sums are added in the order of tasks, or
   with --relaxed in any order. A result is 0 before. */
#include "frontend/kernel/kernel.h"

/* ---- which additions are sums ---- */

static bool names_tile_of_places(const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE && a->term[i].value->type.nrange) return true;
    return false;
}

static bool range_named_alone(const Kern *c, const Span *sub, int n, int range) {
    for (int i = 0; i < n; i++) {
        int alone = affine_position(&sub[i].lo);
        if (alone >= 0 && range_stands_for(c, alone) == range) return true;
    }
    return false;
}

/* Other tasks may add to the same places, or other elements of the tile. */
static bool places_shared(const Kern *c, const Span *sub, int n) {
    for (int i = 0; i < n; i++)
        if (names_tile_of_places(&sub[i].lo)) return true;
    if (!place_is_own(c->m, c->b.k, sub, n, 0)) return true;
    for (int r = 0; r < c->b.k->ngrid; r++) {
        const Range *range = &c->b.k->range.p[r];
        bool single = range->kind == RANGE_WHOLE || (size_is_number(range->of) && range->of.c <= range->size);
        if (!single && !range_named_alone(c, sub, n, r)) return true;
    }
    return false;
}

bool store_is_sum(const Kern *c, const Stmt *s, const Entry *target, const Span *sub, int n) {
    if (s->op != ASSIGN_ADD && s->op != ASSIGN_SUB) return false;
    return target->kind == NAME_RESULT || places_shared(c, sub, n);
}

StoreMode sum_mode(Kern *c, int param) {
    Param *p = &c->b.k->param.p[param];
    bool atomic = p->elem == ELEM_F32 || p->elem == ELEM_F64 || p->elem == ELEM_I32 || p->elem == ELEM_I64;
    p->out = false;
    p->inout = true;
    return c->lw->options->relaxed && atomic ? STORE_ADD : STORE_SUM;
}

/* ---- nothing else touches what is summed into ---- */

static bool is_sum(const Op *op) { return op->kind == OP_STORE && (op->mode == STORE_SUM || op->mode == STORE_ADD); }

static const Op *access_find(const Region *r, int param, bool sum) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op_info[op->kind].class == CLASS_MEMORY && op->param == param && is_sum(op) == sum) return op;
    return NULL;
}

bool param_is_summed(Kern *c, int param) { return access_find(c->b.k->body, param, true) != NULL; }

static void mixed_report(Kern *c, Name name, const Op *sum, const Op *other) {
    const char *what = other->kind == OP_LOAD ? "read" : "stored to";
    if (places_shared(c, sum->sub.p, sum->sub.n)) {
        diag_error(c->diags, other->loc, "sum-mixed", "'%s' is %s here, and tasks add to it at places that they share", name, what);
        diag_note(c->diags, sum->loc, "added to here; then every access of it in this kernel is += or -=");
        return;
    }
    diag_error(c->diags, other->loc, "sum-mixed", "'%s' is %s here, and += adds to it elsewhere", name, what);
    diag_note(c->diags, sum->loc, "added to here: a result is 0 before; for another start, or to read it, add to a variable and store that once");
}

void sums_check(Kern *c) {
    for (int i = 0; i < c->b.k->param.n; i++) {
        const Op *sum = access_find(c->b.k->body, i, true), *other = sum ? access_find(c->b.k->body, i, false) : NULL;
        if (!other) continue;
        mixed_report(c, c->b.k->param.p[i].name, sum, other);
        return;
    }
}
