/* roles_few.c: tensors with fewer rows than a tile: boxes of their rows alone. Zeros for the others would come at less
   than half of the rate of other bytes (bench/gpu/log.md).
   Takes: rings. Gives: rows that a box has, bytes that come to a slot. */
#include "codegen/gpu/roles.h"
#include "codegen/text/size.h"

#include <inttypes.h>

enum { PANEL_ROW = 128 /* bytes */ };

/* All copies to the tile begin at the same row: the range whose positions its rows are; -1: none. */
static int row_range(const Kernel *k, int ring, int tile) {
    int range = -1;
    for (int i = 0; i < k->roles->role.n; i++) {
        const Region *body = k->roles->role.p[i].body;
        for (const Op *op = walk(body); op; op = walk_next(op, body)) {
            if (op->kind != OP_COPY || op->slot != tile || op->in->parent->ring != ring) continue;
            const Affine *row = op->sub.n > 1 ? &op->sub.p[op->sub.n - 2].lo : NULL;
            const int own = row && !row->c ? affine_position(row) : -1;
            if (own < 0 || own >= k->ngrid || (range >= 0 && own != range)) return -1;
            range = own;
        }
    }
    return range;
}

/* The operation reads the slot's tile other than in a product, or sums along the range. */
static bool looks_at_rows(const Op *op, int ring, int tile, int range) {
    for (int i = 0; i < op->nover; i++)
        if (op->over[i] == range) return true;
    for (int i = 0; i < op->arg.n && op->kind != OP_MMA; i++) {
        const Op *get = op->arg.p[i]->def;
        if (get && get->kind == OP_GET && get->ring == ring && op->arg.p[i]->index == tile) return true;
    }
    return false;
}

/* Rows that nobody copies are rows or columns of sums that nobody stores. */
static bool is_multiplied_alone(const Kernel *k, int ring, int tile, int range) {
    for (int i = 0; i < k->roles->role.n; i++) {
        const Region *body = k->roles->role.p[i].body;
        for (const Op *op = walk(body); op; op = walk_next(op, body))
            if (looks_at_rows(op, ring, tile, range)) return false;
    }
    return true;
}

int64_t hip_copied_rows(const Kernel *k, int ring, int tile) {
    enum { MOST = 256 /* rows of a box (PTX ISA, tensor maps) */ };
    const Ring *r = &k->roles->ring.p[ring];
    const SlotTile *t = &r->tile.p[tile];
    if (t->fill != FILL_BOX || t->panel != PANEL_K128 || t->share >= 0 || r->per >= 0) return 0;
    const Param *p = &k->param.p[t->param];
    const int range = row_range(k, ring, tile);
    if (range < 0 || k->range.p[range].starts || p->ranks >= 0 || range_cluster(k, range) > 1) return 0;
    const Size n = p->dim[p->ndim - 2];
    const int64_t rows = k->range.p[range].size;
    if (!size_equal(n, k->range.p[range].of) || !is_multiplied_alone(k, ring, tile, range)) return 0;
    if (size_is_number(n)) return n.c < rows ? n.c : 0;
    return n.axis < 0 && rows <= MOST ? ROLE_ROWS_OF_RUN : 0;
}

/* In all panels. */
static int64_t row_bytes(const Fn *f, const SlotTile *t, int range) {
    int64_t bits = elem_bits(t->type.elem);
    for (int i = 0; i < t->type.nrange; i++)
        if (t->type.range[i] != range) bits *= hip_role_extent(f->m, f->k, -1, t->type.range[i]);
    return PANEL_ROW * ceil_div(bits / 8, PANEL_ROW);
}

const char *hip_copied_bytes(Fn *f, int ring) {
    const Ring *r = &f->k->roles->ring.p[ring];
    int64_t fixed = f->hip->role->facts->ring[ring].boxed;
    const char *rest = "";
    for (int i = 0; i < r->tile.n; i++) {
        const int64_t copied = hip_copied_rows(f->k, ring, i);
        if (!copied) continue;
        const int range = row_range(f->k, ring, i), param = r->tile.p[i].param;
        const int64_t rows = f->k->range.p[range].size, bytes = row_bytes(f, &r->tile.p[i], range);
        fixed -= bytes * (copied > 0 ? rows - copied : rows);
        if (copied == ROLE_ROWS_OF_RUN)
            rest = fn_text(f, "%s + %" PRId64 " * (int)tile_least(%" PRId64 ", %s)", rest, bytes, rows,
                           param_extent(f, param, f->k->param.p[param].ndim - 2)->text);
    }
    return fn_text(f, "%" PRId64 "%s", fixed, rest);
}
