/* slices.c: workgroups of a cluster that share a tile (split-K): each runs a slice of the loops, the cluster adds up
   their sums, and each workgroup finishes a share of the columns.
   Takes: a kernel with its streams, and a plan with a cluster along no range. Gives: where slices begin and end, the
   ring of sums, and the share of the sums in place of the whole. */
#include "passes/roles/slice.h"

/* ---- slices of the loops ---- */

void slices_begin(Slice *s) {
    Roles *r = s->k->roles;
    s->share = s->column;
    if (s->slices <= 1) return;
    const Range own = {.name = name_of(s->m->names, "h"),
                       .kind = RANGE_TILE,
                       .size = s->k->range.p[s->column].size / r->cluster,
                       .owner = -1,
                       .part_of = (int16_t)(1 + s->column),
                       .loc = s->k->loc};
    s->share = kernel_range(s->m, s->to, own);
    r->cluster_range = (int16_t)s->share;
}

static Value *number(Builder *b, int64_t n) { return build_const_i(b, ELEM_I64, n); }

/* Steps of a slice, in positions, for so many in all. */
static Value *slice_length(const Slice *s, Builder *b, Value *lo, Value *hi) {
    const int depth = slice_depth(s);
    const int64_t slice = (int64_t)depth * s->slices;
    int64_t first, end;
    if (value_const(lo, &first) && value_const(hi, &end))
        return number(b, end > first ? ceil_div(end - first, slice) * depth : 0);
    Value *up = build_binary(b, OP_ADD, build_binary(b, OP_SUB, hi, lo), number(b, slice - 1));
    return build_binary(b, OP_MUL, build_binary(b, OP_DIV, up, number(b, slice)), number(b, depth));
}

/* Steps are dealt out in equal numbers, and the last workgroups get fewer, or none. */
static void stream_slice(const Slice *s, Cut *c, Stream *t, Value *rank) {
    Builder *b = &c->b;
    const Op *loop = slices_loop(s), *inner = t->at->parent;
    int64_t end = 0;
    const bool flat = loop != inner && loop_flat(s, loop, &end);
    Value *lo = cut_value(c, loop->arg.p[0]), *hi = flat ? number(b, end) : cut_value(c, loop->arg.p[1]), *each = slice_length(s, b, lo, hi);
    Value *first = build_binary(b, OP_ADD, lo, build_binary(b, OP_MUL, each, rank));
    t->first = build_binary(b, OP_MIN, first, hi);
    t->past = build_binary(b, OP_MIN, build_binary(b, OP_ADD, first, each), hi);
}

void slices_scalars(Slice *s, Cut *c) {
    if (s->slices <= 1) return;
    Value *whole = build_index(&c->b, OP_BEGIN, s->column), *own = build_index(&c->b, OP_BEGIN, s->share);
    c->b.loc = s->k->loc;
    Value *rank = build_binary(&c->b, OP_DIV, build_binary(&c->b, OP_SUB, own, whole),
                               number(&c->b, s->k->range.p[s->share].size));
    rank->name = name_of(s->m->names, "slice");
    for (int i = 0; i < s->stream.n; i++) {
        Stream *t = &s->stream.p[i];
        stream_slice(s, c, t, rank);
        t->first->name = name_of(s->m->names, "first"), t->past->name = name_of(s->m->names, "past");
    }
}

/* ---- sums ---- */

static int sums_ring(const Slice *s) {
    for (int i = 0; i < s->k->roles->ring.n; i++)
        if (ring_sums(&s->k->roles->ring.p[i])) return i;
    return -1;
}

/* The sums lie over the operands, which all have been read, or beside them. */
void slices_rings(Slice *s, int multiply) {
    if (s->slices <= 1) return;
    const Op *loop = slices_loop(s);
    const int ring = ring_new(s, name_of(s->m->names, "sums"), 1, loop->loc);
    Ring *r = &s->k->roles->ring.p[ring];
    r->per = (int16_t)multiply;
    if (!s->sums_apart) r->over = (int16_t)s->stream.p[0].ring;
    for (int i = 0; i < loop->res.n; i++) {
        const Value *v = loop->res.p[i];
        const char *name = v->name ? slice_text(s, "%s_%d", v->name, i) : slice_text(s, "sum_%d", i);
        ring_tile(s->m, s->to, ring,
                  (SlotTile){.name = name_of(s->m->names, name),
                             .type = v->type,
                             .panel = PANEL_ROWS,
                             .fill = FILL_THREADS,
                             .param = -1,
                             .share = -1,
                             .sum = true,
                             .loc = loop->loc});
    }
}

void slices_sum(Cut *c) {
    Slice *s = c->s;
    if (s->slices <= 1) return;
    const Op *loop = slices_loop(s);
    const int ring = sums_ring(s);
    Region *at = c->b.at;
    c->b.loc = loop->loc;
    c->b.at = build_put(&c->b, ring)->region[0];
    for (int i = 0; i < loop->res.n; i++) build_write(&c->b, cut_value(c, loop->res.p[i]), i);
    c->b.at = at;
    const Op *get = build_get(&c->b, ring);
    for (int i = 0; i < loop->res.n; i++) cut_name(c, loop->res.p[i], build_part(&c->b, get->res.p[i], s->share));
    build_free(&c->b, ring);
    if (!s->sums_apart) build_put(&c->b, s->room);
}

/* Copies of the next task follow what the cluster writes over this one's operands. */
void slices_wait(Slice *s, Cut *c) {
    if (s->slices <= 1 || s->sums_apart) return;
    if (s->room < 0) s->room = roles_ring(s->m, s->to, name_of(s->m->names, "room"), 1, s->k->loc);
    build_get(&c->b, s->room);
    build_free(&c->b, s->room);
}
