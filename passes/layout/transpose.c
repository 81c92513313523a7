/* transpose.c: a tile that is loaded along one range and stored along another gets two layouts, one for each side, so
   that both are contiguous. Takes: value form with classes. Gives: the same results. */
#include "passes/fuse/inline.h"
#include "passes/layout/layout.h"

/* Fewer neighbours than this do not pay for the way through LDS. */
enum { RUN = 8 };

static bool is_transposed(const Lay *l, const Op *op) {
    if (op->kind != OP_LOAD || op->res.p[0]->type.nrange < 2) return false;
    int own = lay_fastest(l->k, op), wanted = l->class[lay_class(l, op->res.p[0])].fastest;
    return own >= 0 && wanted >= 0 && own != wanted && l->extent[own] >= RUN && l->extent[wanted] >= RUN;
}

static void transpose(Lay *l, Op *op) {
    if (!is_transposed(l, op)) return;
    Value *loaded = op->res.p[0];
    Op *convert = op_new(l->m, OP_CONVERT, op->loc);
    op_insert_before(op->next, convert);
    Value *transposed = op_result(l->m, l->k, convert, loaded->type);
    transposed->name = loaded->name ? name_of(l->m->names, arena_format(l->m->arena, "%s_turned", loaded->name)) : NULL;
    region_replace(l->k->body, loaded, transposed);
    vec_push(l->m->arena, &convert->arg, loaded);
}

/* A thread loads some rows, so that it has neighbours in the other direction as well. */
static void note_transposed(Lay *l, Op *op) {
    /* Rows of a thread, as a power of two; chosen: no measurement is recorded. */
    enum { ROW_BITS = 2 };
    if (op->kind != OP_CONVERT || op->res.p[0]->layout) return;
    LayClass *from = &l->class[lay_class(l, op->arg.p[0])];
    from->inner = l->class[lay_class(l, op->res.p[0])].fastest;
    from->inner_bits = ROW_BITS;
    from->run = from->plain_run;
}

void lay_transpose(Lay *l) {
    int before = l->k->nvalue;
    lay_each(l, l->k->body, transpose);
    if (l->k->nvalue == before) return;
    lay_classes(l);
    lay_each(l, l->k->body, note_transposed);
}
