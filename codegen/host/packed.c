/* packed.c: integers of several a byte, i4 and t2: values that become such, and stores, which change a whole byte.
   Takes a store; refuses it where two tasks may have elements in one byte. */
#include "codegen/text/size.h"
#include "codegen/host/host.h"

#include <inttypes.h>

static bool is_one_task(const Fn *f, int range) {
    const Range *r = &f->k->range.p[range];
    return r->kind == RANGE_WHOLE || (!r->starts && size_is_number(size_whole(r->of)) && size_block(f->m, r->of, NULL) <= r->size);
}

/* So many elements on every rank that they fill bytes. */
static bool fills_bytes(const Fn *f, Size s, int64_t each) {
    return size_is_number(size_whole(s)) && s.c % each == 0 && (s.axis < 0 || size_block(f->m, s, NULL) % each == 0);
}

/* Along the last dimension a task begins and ends with a byte. */
static bool tile_fills_bytes(const Fn *f, const Affine *a, int64_t each) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_VALUE || t->kind == TERM_INDEX) return false;
        if (t->kind != TERM_POS || !f->k->range.p[t->id].grid || is_one_task(f, t->id)) continue;
        bool alone = !range_is_ragged(f->k, t->id) && a->nterm == 1 && t->mul == 1 && t->div == 1 && a->c % each == 0;
        if (!alone || f->k->range.p[t->id].size % each) return false;
    }
    return true;
}

void packed_store_check(Fn *f, const Op *op) {
    const Param *p = &f->k->param.p[op->param];
    int64_t each = 8 / elem_bits(p->elem);
    int last = op->sub.n - 1;
    bool alone = true;
    if (op->mode == STORE_SUM || op->mode == STORE_ADD)
        fn_unsupported(f, op->loc, fn_text(f, "a sum into %s", elem_text(p->elem)));
    for (int r = 0; r < f->k->ngrid; r++) alone = alone && is_one_task(f, r);
    if (alone || (fills_bytes(f, p->dim[p->ndim - 1], each) && tile_fills_bytes(f, &op->sub.p[last].lo, each))) return;
    fn_unsupported(f, op->loc, fn_text(f, "a task that stores part of a byte of '%s'", p->name));
    diag_note(f->m->diags, op->loc,
              "%s is %" PRId64 " a byte: rows and the tiles of the last dimension are multiples of %" PRId64
              ", or one task stores all",
              elem_text(p->elem), each, each);
}
