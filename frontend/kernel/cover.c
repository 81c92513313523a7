/* cover.c: the extents of results are reached. A subscript that is just a range of the grid runs over that range's
   dimension. Either this is the result's dimension, or other stores go on where the range ends (p, then p + d / 2).
   Takes: a lowered kernel. Gives: errors. */
#include "frontend/kernel/kernel.h"

#include "ir/poly/relation_written.h"

#include <string.h>

int shifted_range(const Affine *a) {
    bool plain = a->nterm == 1 && a->term[0].kind == TERM_POS && a->term[0].mul == 1 && a->term[0].div == 1;
    return plain ? a->term[0].id : -1;
}

/* Another store that differs along dimension d alone, where it begins at c. */
static bool store_goes_on(const Kern *c, const Op *op, int d, int64_t at) {
    for (int i = 0; i < c->store.n; i++) {
        const Op *next = c->store.p[i];
        bool same = next->param == op->param && next->mode == op->mode && next->in == op->in;
        for (int e = 0; e < op->sub.n && same; e++)
            same = e == d ? shifted_range(&next->sub.p[e].lo) == shifted_range(&op->sub.p[e].lo) && next->sub.p[e].lo.c == at
                          : affine_equal(&next->sub.p[e].lo, &op->sub.p[e].lo);
        if (same) return true;
    }
    return false;
}

static bool is_continued(const Kern *c, const Op *op, int d, Size of, Size whole) {
    if (!size_is_number(of) || !size_is_number(whole) || of.c < 1 || whole.c % of.c) return false;
    for (int64_t at = of.c; at < whole.c; at += of.c)
        if (!store_goes_on(c, op, d, at)) return false;
    return true;
}

/* By names, where elements are not looked at: extents are guesses, or blocks of a run-time size. */
static void store_check(Kern *c, const Op *op, int d) {
    const Affine *sub = &op->sub.p[d].lo;
    Size extent = c->b.k->param.p[op->param].dim[d];
    if (!c->checking && (extent.axis < 0 || extent.sym < 0)) return;
    int r = sub->c == 0 ? range_stands_for(c, shifted_range(sub)) : -1;
    if (r < 0 || r >= c->b.k->ngrid) return;
    const Range *range = &c->b.k->range.p[r];
    const Param *result = &c->b.k->param.p[op->param];
    if (size_equal(range->of, result->dim[d]) || is_continued(c, op, d, range->of, result->dim[d])) return;
    diag_error(c->diags, op->loc, "result-not-covered", "'%s' runs over another extent than dimension %d of '%s'", range->name, d,
               result->name);
    diag_note(c->diags, range->loc, "every element of '%s' has to be written exactly once", result->name);
}

/* ---- elements ---- */

static const char *where_text(const Kern *c, const CoverFault *f) {
    return *f->sizes ? arena_format(c->arena, ", where %s", f->sizes) : "";
}

static void element_report(Kern *c, const Param *p, const CoverFault *f) {
    const char *where = where_text(c, f);
    if (!f->other) {
        diag_error(c->diags, f->store->loc, "result-not-covered", "no task writes '%s'[%s]%s", p->name, f->element, where);
        diag_note(c->diags, p->loc, "every element of '%s' has to be written exactly once; an inout parameter keeps what is not written", p->name);
        return;
    }
    if (strcmp(f->writer, f->rewriter) == 0)
        diag_error(c->diags, f->other->loc, "result-written-twice", "task [%s] writes '%s'[%s] twice%s", f->writer, p->name, f->element, where);
    else
        diag_error(c->diags, f->other->loc, "result-written-twice", "task [%s] and task [%s] write '%s'[%s]%s", f->writer, f->rewriter, p->name,
                   f->element, where);
    if (f->other != f->store) diag_note(c->diags, f->store->loc, "first written here");
    diag_note(c->diags, p->loc, "every element of '%s' has to be written exactly once", p->name);
}

static void elements_check(Kern *c) {
    for (int i = 0; i < c->b.k->param.n; i++) {
        CoverFault fault;
        const Param *p = &c->b.k->param.p[i];
        if (p->out && !cover_holds(c->m, c->b.k, i, c->arena, &fault)) element_report(c, p, &fault);
    }
}

void covers_check(Kern *c) {
    int errors = c->diags->errors;
    for (int i = 0; i < c->store.n; i++) {
        const Op *op = c->store.p[i];
        if (!c->b.k->param.p[op->param].out || op->mode == STORE_SUM) continue;
        for (int d = 0; d < op->sub.n; d++) store_check(c, op, d);
    }
    if (c->diags->errors == errors && !c->checking) elements_check(c);
}
