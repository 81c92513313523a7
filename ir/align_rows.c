/* align_rows.c: rows that begin at odd addresses, one a task: may their positions count from the row's first multiple
   of 16 bytes on? The element at place q of the tile is then that of column (q - row's remainder) mod the tile's
   places. Vectors of places are then vectors of memory; only the first one has elements of both ends. */
#include "ir/ir.h"

enum { VECTOR_BITS = 128 };

/* It takes the row, or all of a vector, and nothing else. */
static bool takes_row(const Kernel *k, const Op *op, const Value *v, int range) {
    const Param *p = &k->param.p[op->param];
    const int last = op->sub.n - 1;
    if (v->type.nrange != 1 || last < 0 || p->ranks >= 0 || p->packet || elem_bits(p->elem) < 8 || op->mode != STORE_SET)
        return false;
    for (int d = 0; d < last; d++)
        if (affine_type(k, &op->sub.p[d].lo).nrange) return false;
    return affine_position(&op->sub.p[last].lo) == range && size_equal(p->dim[last], k->range.p[range].of) &&
           (last > 0 || (op->kind == OP_LOAD && !p->out && !p->inout));
}

/* Both rows begin at the same multiple of their elements. */
static bool same_row(const Kernel *k, const Op *a, const Op *b) {
    const Param *p = &k->param.p[a->param], *q = &k->param.p[b->param];
    for (int d = 1; d < p->ndim; d++)
        if (p->ndim != q->ndim || !size_equal(p->dim[d], q->dim[d])) return false;
    return p->ndim == q->ndim && access_equal(a, b);
}

static const Value *accessed(const Op *op) {
    return op->kind == OP_LOAD ? op->res.p[0] : op->kind == OP_STORE ? op->arg.p[0] : NULL;
}

const Op *range_row(const Kernel *k, int range) {
    for (const Op *op = k->body->first; op; op = op->next) {
        const Value *v = accessed(op);
        if (v && type_has(v->type, range) && op->sub.n > 1) return op;
    }
    return NULL;
}

static bool op_allows_aligned(const Kernel *k, const Op *op, const Op *row, int range) {
    OpClass class = op_info[op->kind].class;
    const Value *v = accessed(op);
    if (class == CLASS_CONTROL || class == CLASS_SYNC || class == CLASS_DOT || class == CLASS_PREFIX) return false;
    if (!v || !type_has(v->type, range)) return true;
    return takes_row(k, op, v, range) && (op->sub.n == 1 || same_row(k, op, row));
}

static bool is_odd(const Param *p) {
    Size row = p->dim[p->ndim - 1];
    return !size_is_number(row) || row.c * elem_bits(p->elem) % VECTOR_BITS;
}

int range_row_alignment(const Kernel *k, int range) {
    const Range *r = &k->range.p[range];
    const Op *row = range_row(k, range);
    bool odd = false, stores = false;
    int most = 0;
    if (!row || kernel_is_ragged(k) || !r->grid || r->kind != RANGE_WHOLE || r->owner >= 0) return 0;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (!op_allows_aligned(k, op, row, range)) return 0;
        if (!accessed(op) || !type_has(accessed(op)->type, range) || op->sub.n == 1) continue;
        const Param *p = &k->param.p[op->param];
        int n = VECTOR_BITS / elem_bits(p->elem);
        most = n > most ? n : most;
        odd |= is_odd(p);
        stores |= op->kind == OP_STORE;
    }
    return odd && stores ? most : 0;
}
