/* roles_share.c: workgroups of a cluster that share a tile, as text: what each sends to the others, and the sum of its
   share (runtime/device/tile_share.h). */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>

enum {
    GROUP_ROWS = 64 /* of sums of a group: then those of columns follow each other */,
    EACH = 4 /* 16 bytes */,
    SUM_BYTES = 4 /* of f32 and i32 */,
    GROUP_THREADS = 128 /* of a role (ir/roles.h) */
};

void hip_share_range(Fn *f) {
    const int own = f->k->roles->cluster_range;
    const Range *r = &f->k->range.p[own];
    const RangeText *of = &f->range[r->part_of - 1];
    const char *name = r->name;
    int64_t n;
    const CExpr *at = cexpr_open(f, "%" PRId64 " * all->rank", r->size);
    const CExpr *begin = cexpr_name(f, c_name(&f->names, fn_text(f, "%s0", name)));
    fn_constant(f, begin->text, cexpr_add(f, of->begin, at)->text);
    const bool full = cexpr_const(of->count, &n) && n == f->k->range.p[r->part_of - 1].size;
    const CExpr *count = cexpr_number(f, r->size);
    if (!full) {
        count = cexpr_name(f, c_name(&f->names, fn_text(f, "n%s", name)));
        fn_constant(f, count->text,
                    fn_text(f, "tile_most(0, tile_least(%" PRId64 ", %s - %s))", r->size, of->count->text, at->text));
    }
    f->range[own] = (RangeText){.begin = begin,
                                .most = r->size,
                                .natural = true,
                                .pos = cexpr_name(f, c_name(&f->names, name)),
                                .index = cexpr_name(f, "all->rank"),
                                .count = count};
}

static bool share_fits(Fn *f, const Op *op, const Tile *t) {
    const int of = f->k->roles->cluster;
    const int64_t rows = hip_role_extent(f->m, f->k, f->hip->role->number, hip_role_now(f)->split);
    if (rows == GROUP_ROWS && t->count % (EACH * of) == 0) return true;
    fn_unsupported(f, op->loc,
                   "sums that a cluster adds up, other than of 64 rows of a group, in fours for each workgroup");
    return false;
}

static const char *slot_tile(Fn *f, int ring, int tile, const char *slot) {
    const RingFacts *r = &f->hip->role->facts->ring[ring];
    return r->tile[tile] ? fn_text(f, "%s + %s", slot, r->tile_name[tile]) : slot;
}

/* ring: as an argument, "&own_sums". */
void hip_share_put(Fn *f, const Op *put, const char *ring, const char *end) {
    const RingFacts *r = &f->hip->role->facts->ring[put->ring];
    const int of = f->k->roles->cluster;
    const char *slot = fn_text(f, "(%s)->slot", ring);
    const bool apart = f->k->roles->ring.p[put->ring].over < 0;
    int64_t bytes = 0; /* of the others */
    if (apart && put->in != hip_role_now(f)->body)
        fn_unsupported(f, put->loc, "sums that a cluster adds up, beside its operands, in loops or conditions");
    if (apart)
        fn_line(f, "tile_share_open(%s, &%s);", ring, end);
    else
        fn_line(f, "tile_share_meet(&all->%s, %s, &%s, %d, %d, thread);", r->member, ring, end, r->copies, of);
    for (const Op *op = put->region[0]->first; op; op = op->next) {
        const Tile *t = made_tile(f, op->arg.p[0]);
        if (op->kind != OP_WRITE || !share_fits(f, op, t)) continue;
        fn_line(f, "tile_share_send_%s(%s, %s, %s, %" PRId64 ", all->rank, %d, thread);", elem_text(t->elem), ring,
                slot_tile(f, put->ring, op->slot, slot), t->name, t->count / of, of);
        bytes += t->count / of * (of - 1) * SUM_BYTES * GROUP_THREADS;
    }
    fn_line(f, "tile_share_sent(%s, &%s, %" PRId64 ", thread);", ring, end, bytes);
}

/* A workgroup whose parts others have read for the last time may have ended: that of its last task, which has one. */
void hip_share_free(Fn *f, int ring, const char *name, const char *end) {
    if (f->k->roles->ring.p[ring].over >= 0) {
        fn_line(f, "tile_ring_step(%s, &%s);", name, end);
        return;
    }
    const char *more = f->hip->role->facts->take.full < 0 ? "number + all->clusters < all->tasks" : "true";
    fn_line(f, "tile_share_free(%s, &%s, %d, %s, thread);", name, end, f->k->roles->cluster, more);
}

void hip_share_part(Fn *f, const Op *op) {
    const Tile *to = held_tile(f, op->res.p[0]);
    fn_line(f, "tile_share_add_%s(%s, %s, %" PRId64 ", %d, thread);", elem_text(to->elem), to->name,
            fn_held(f, op->arg.p[0])->tile.name, to->count, f->k->roles->cluster);
}
