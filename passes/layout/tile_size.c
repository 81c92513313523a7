/* tile_size.c: larger tiles for rows that begin at odd addresses, which are read and written in pieces of lines of
   memory. A tile that is stored along another range than it is loaded along has such pieces at both ends of every
   row. A larger tile has fewer.
   Takes: value form. Gives: the same results, larger tiles where their sizes are the compiler's to choose. */
#include "passes/layout/layout.h"

/* Positions, tasks a processor, tiles in LDS at once; chosen: no measurement is recorded. A thread loads 128 bits at most. */
enum { MOST = 128, ROUNDS = 8, AT_ONCE = 6, VECTOR_BITS = 128 };

static bool is_odd(const Lay *l, const Op *access) {
    const Param *p = &l->k->param.p[access->param];
    return p->ndim > 1 && size_is_number(p->dim[p->ndim - 1]) &&
           p->dim[p->ndim - 1].c * elem_bits(p->elem) % VECTOR_BITS;
}

/* The only load of a tile, or the only store. */
static const Op *only_access(const Lay *l, OpKind kind) {
    const Op *found = NULL;
    for (const Op *op = l->k->body->first; op; op = op->next) {
        if (op_info[op->kind].class == CLASS_CONTROL || op_info[op->kind].class == CLASS_SYNC) return NULL;
        if (op->kind != kind) continue;
        if (found) return NULL;
        found = op;
    }
    return found;
}

/* Several workgroups still find room on a processor, and tasks for all of them. */
static bool may_double(const Lay *l, const Op *load, int range) {
    const Range *r = &l->k->range.p[range];
    int64_t bytes = lay_elements(l, load->res.p[0]->type) * elem_bits(load->res.p[0]->type.elem) / 8;
    const int64_t tasks = 2 * ROUNDS * (int64_t)l->target->processors;
    return r->kind == RANGE_TILE && r->tunable && 2 * r->size <= MOST && !kernel_needs_size(l->k, range) &&
           2 * bytes * AT_ONCE <= l->target->lds_bytes && lay_tasks(l, tasks) >= tasks;
}

static void double_range(Lay *l, const Op *load, int range) {
    Range *r = &l->k->range.p[range];
    if (!may_double(l, load, range)) return;
    remark(l->c, "layout", r->loc, "'%s': tiles of %lld instead of %lld along %s, as rows begin at odd addresses",
           l->k->name, (long long)(2 * r->size), (long long)r->size, r->name);
    r->size *= 2;
    lay_measure(l);
}

void lay_tile_size(Lay *l) {
    const Op *load = only_access(l, OP_LOAD), *store = only_access(l, OP_STORE);
    if (!load || !store || l->k->level != LEVEL_GROUP || l->k->plan.sized || !is_odd(l, load) || !is_odd(l, store))
        return;
    int from = lay_fastest(l->k, load), to = lay_fastest(l->k, store);
    if (from < 0 || to < 0 || from == to || !type_has(load->res.p[0]->type, to)) return;
    double_range(l, load, to);
    double_range(l, load, from);
}
