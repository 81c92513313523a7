/* hip_product_near.c: a matrix of 16-bit elements that results are made with besides the sums, at the same place: it is
   loaded by pairs of neighbours, those of 64 columns ahead of their use. */
#include "codegen/hip_schedule.h"

#include <inttypes.h>

static bool is_near(const Op *op) {
    return op->kind == OP_LOAD && op->sub.n == 2 && op->sub.p[0].lo.term[0].id == 0 && op->sub.p[1].lo.term[0].id == 1;
}

/* NULL: there is none, or there are several, which would want more registers than there are. */
static const Op *only_near(const Kernel *k) {
    const Op *found = NULL;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (!is_near(op)) continue;
        if (found) return NULL;
        found = op;
    }
    return found;
}

/* Results that leave by tiles have rows of whole pairs. */
const Op *product_near(Schedule *s, const Product *p) {
    const Kernel *k = s->f.k;
    bool tiles = p->stores == 1 && product_stores_tiles(&k->param.p[p->c[0]]) && !product_has_fringe(s, p);
    const Op *near = tiles ? only_near(k) : NULL;
    bool pairs = near && elem_bits(k->param.p[near->param].elem) == 16 && hip_rows_are_multiple(&s->f, near, 2);
    return pairs ? near : NULL;
}

void product_fill_near(Schedule *s, const Product *p, int wide) {
    Fn *f = &s->f;
    const Op *near = product_near(s, p);
    if (!near) return schedule_hole(s, "given", "");
    int64_t n = f->k->param.p[near->param].dim[1].c;
    const char *elem = elem_c(f->k->param.p[near->param].elem);
    schedule_kind(s, "near");
    schedule_hole(s, "near", hip_argument(f, near->param));
    schedule_hole(s, "end_pair", n % wide ? fn_text(f, ", %" PRId64 ")", n - 2) : "");
    schedule_hole(s, "given", fn_text(f, "(%s)(near[4 * (q %% 4) + (r >> 1)] >> 16 * (r & 1)), ", elem));
}
