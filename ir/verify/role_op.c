/* role_op.c: operations of roles: their operands and results, and where they stand. */
#include "ir/pixels.h"
#include "ir/verify/roles.h"

#include <string.h>

static const char *text_of(const Op *op) { return op_info[op->kind].text; }

static const Ring *ring_of(Verifier *v, const Op *op) {
    const Roles *r = v->k->roles;
    if (op->ring >= 0 && op->ring < r->ring.n) return &r->ring.p[op->ring];
    violation(v, op->loc, "%s of a ring that is not there", text_of(op));
    return NULL;
}

/* ---- the filling of a slot ---- */

static void fills_count(Verifier *v, const Op *put, const Ring *r) {
    for (int t = 0; t < r->tile.n; t++) {
        int fills = 0;
        for (const Op *op = put->region[0]->first; op; op = op->next)
            fills += (op->kind == OP_COPY || op->kind == OP_WRITE) && op->slot == t;
        if (fills != 1) violation(v, put->loc, "tile '%s' of the slot is filled %d times", r->tile.p[t].name, fills);
    }
}

/* A wait is for what is copied behind it. */
static void wait_verify(Verifier *v, const Op *wait) {
    for (const Op *op = wait->next; op; op = op->next)
        if (op->kind == OP_COPY) return;
    violation(v, wait->loc, "no copy follows the wait in its put");
}

static void put_verify(Verifier *v, const Op *op) {
    const Ring *r = ring_of(v, op);
    if (!r || !op->region[0]) return;
    for (const Op *in = op->region[0]->first; in; in = in->next)
        if (in->kind != OP_COPY && in->kind != OP_WRITE && in->kind != OP_WAIT)
            violation(v, in->loc, "%s stands in a put", text_of(in));
        else if (in->kind == OP_WAIT)
            wait_verify(v, in);
    fills_count(v, op, r);
}

static const SlotTile *filled_tile(Verifier *v, const Op *op) {
    const Op *put = op->in->parent;
    const Ring *r = put && put->kind == OP_PUT ? ring_of(v, put) : NULL;
    if (r && op->slot >= 0 && op->slot < r->tile.n) return &r->tile.p[op->slot];
    violation(v, op->loc, "%s fills no tile of a slot", text_of(op));
    return NULL;
}

static void fill_type_verify(Verifier *v, const Op *op, const SlotTile *t, Type x) {
    if (!type_equal(x, t->type))
        violation(v, op->loc, "tile '%s' is %s, and %s gives %s", t->name, type_text(v, t->type), text_of(op),
                  type_text(v, x));
}

/* Of the tile's two ranges one counts pixels. */
static bool copies_pixels(const Kernel *k, const Op *op, const SlotTile *t) {
    Pixels p;
    for (int i = 0; i < t->type.nrange && t->type.nrange == 2; i++) {
        const int channel = t->type.range[i];
        if (access_pixels(k, op, t->type.range[!i], channel, k->range.p[channel].size, &p)) return true;
    }
    return false;
}

/* A box has one place. Threads copy rows from places of their own, and say together that they have come. */
static void way_verify(Verifier *v, const Op *op, const SlotTile *t) {
    enum { WARP = 32 };
    bool made = false;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *term = &op->sub.p[d].lo.term[i];
            made |= term->kind == TERM_VALUE && term->value->type.nrange;
        }
    if (made && t->fill != FILL_ROWS)
        violation(v, op->loc, "tile '%s' comes by %s, and its places are computed", t->name, fill_text[t->fill]);
    if (t->fill == FILL_PIXELS && !copies_pixels(v->k, op, t))
        violation(v, op->loc, "tile '%s' comes by pixels, and its places are no pixels of an image", t->name);
    if (t->fill == FILL_ROWS && v->role->warp >= 0 && v->role->lanes % WARP)
        violation(v, op->loc, "rows of tile '%s' are copied by a part of a warp", t->name);
}

static void copy_verify(Verifier *v, const Op *op) {
    const SlotTile *t = filled_tile(v, op);
    Type x;
    if (!t) return;
    if (t->fill == FILL_THREADS || t->param != op->param) {
        violation(v, op->loc, "tile '%s' is not copied from this parameter", t->name);
        return;
    }
    if (!access_type(v, op, &x)) return;
    fill_type_verify(v, op, t, x);
    way_verify(v, op, t);
}

static void write_verify(Verifier *v, const Op *op) {
    const SlotTile *t = filled_tile(v, op);
    if (!t) return;
    if (t->fill != FILL_THREADS) violation(v, op->loc, "tile '%s' is copied, and not written", t->name);
    fill_type_verify(v, op, t, op->arg.p[0]->type);
}

/* ---- slots and sums that are read ---- */

static void get_verify(Verifier *v, const Op *op) {
    const Ring *r = ring_of(v, op);
    if (!r) return;
    if (op->res.n != r->tile.n) {
        violation(v, op->loc, "get has %d results; a slot of ring '%s' has %d tiles", op->res.n, r->name, r->tile.n);
        return;
    }
    for (int i = 0; i < op->res.n; i++)
        if (!type_equal(op->res.p[i]->type, r->tile.p[i].type))
            violation(v, op->loc, "get gives %s, not %s", type_text(v, r->tile.p[i].type),
                      type_text(v, op->res.p[i]->type));
}

static void ready_verify(Verifier *v, const Op *op) {
    if (op->arg.n == 0 || op->arg.n != op->res.n) {
        violation(v, op->loc, "ready has %d operands and %d results", op->arg.n, op->res.n);
        return;
    }
    for (int i = 0; i < op->arg.n; i++)
        if (!type_equal(op->arg.p[i]->type, op->res.p[i]->type))
            violation(v, op->loc, "ready gives %s, not %s", type_text(v, op->arg.p[i]->type),
                      type_text(v, op->res.p[i]->type));
}

/* Of a sum of the cluster's workgroups a workgroup has its own part alone. */
static void sum_part_verify(Verifier *v, const Op *op) {
    const Value *x = op->arg.n ? op->arg.p[0] : NULL;
    bool got = x && x->def && x->def->kind == OP_GET && x->def->ring < v->k->roles->ring.n;
    bool sum = got && ring_sums(&v->k->roles->ring.p[x->def->ring]);
    if (sum && (op->kind != OP_PART || op->range != v->k->roles->cluster_range))
        violation(v, op->loc, "%s reads more than the workgroup's part of what its cluster sums", text_of(op));
}

static void part_verify(Verifier *v, const Op *op) {
    if (!range_verify(v, op->loc, op->range)) return;
    int whole = v->k->range.p[op->range].part_of - 1;
    Type t = op->arg.p[0]->type;
    if (whole < 0 || !type_has(t, whole))
        violation(v, op->loc, "'%s' is no part of a range of %s", v->k->range.p[op->range].name, type_text(v, t));
    else
        result_expect(v, op, type_with(type_without(t, whole), op->range));
}

static void without_results(Verifier *v, const Op *op) {
    if (op->res.n) violation(v, op->loc, "%s has results", text_of(op));
    if (op->kind != OP_PUT && op->region[0]) violation(v, op->loc, "%s has a region", text_of(op));
}

void role_op_verify(Verifier *v, const Op *op) {
    int want = op_info[op->kind].operands;
    if (!v->role) {
        violation(v, op->loc, "%s outside of roles", text_of(op));
        return;
    }
    if (want >= 0 && op->arg.n != want) {
        violation(v, op->loc, "%s takes %d operands, not %d", text_of(op), want, op->arg.n);
        return;
    }
    switch (op->kind) {
    case OP_PUT: put_verify(v, op), without_results(v, op); return;
    case OP_COPY: copy_verify(v, op), without_results(v, op); return;
    case OP_WRITE: write_verify(v, op), without_results(v, op); return;
    case OP_GET: get_verify(v, op); return;
    case OP_READY: ready_verify(v, op); return;
    case OP_PART: part_verify(v, op); return;
    default: ring_of(v, op), without_results(v, op); return;
    }
}

/* ---- what only roles have, of operations that others have too ---- */

static bool is_slot_tile(const Value *x) { return x->def && x->def->kind == OP_GET && x->type.nrange; }

static void store_by_verify(Verifier *v, const Op *op) {
    static const char *const ways[] = {"box", "rows", "pairs"};
    bool known = false, slot = v->role && op->arg.n && is_slot_tile(op->arg.p[0]);
    for (int i = 0; i < 3 && op->by; i++) known = known || strcmp(op->by, ways[i]) == 0;
    if (slot && !known) violation(v, op->loc, "a store of a slot's tile is by box, rows or pairs");
    if (!slot && op->by) violation(v, op->loc, "a store by '%s' of what is no slot's tile", op->by);
}

void role_attributes_verify(Verifier *v, const Op *op) {
    if (v->role) sum_part_verify(v, op);
    if (op->kind == OP_STORE) store_by_verify(v, op);
    if (op->kind == OP_MMA && !v->role) violation(v, op->loc, "mma outside of roles");
    if (op->kind == OP_MMA && !op->by) violation(v, op->loc, "mma names no matrix instruction");
    if (op->kind == OP_DOT && v->role) violation(v, op->loc, "dot in a role, where products are mma");
    if (op->kind == OP_SIGNAL && v->role && op->in->parent)
        violation(v, op->loc, "signal stands in a loop or condition of a role");
    bool filling = op->in->parent && op->in->parent->kind == OP_PUT;
    if (op->kind == OP_WAIT && v->role && !filling && v->role->first >= 0)
        violation(v, op->loc, "a role of groups waits outside of a put");
}

/* ---- loops ---- */

static bool is_edge(const Value *x, OpKind edge, int range) {
    return x->def && x->def->kind == edge && x->def->range == range;
}

/* Its tiles have so many positions, or may have. */
static bool has_positions(const Range *r, int64_t n) {
    return r->kind == RANGE_WHOLE ? size_is_number(r->of) && r->of.c >= n : r->size >= n;
}

/* Positions of one tile of the whole; the last part may be smaller. */
static void part_loop_verify(Verifier *v, const Op *op, const Range *r) {
    int whole = r->part_of - 1;
    if (!v->role || whole >= v->k->range.n || whole == op->range || !v->range_open[whole])
        violation(v, op->loc, "'%s' is a part of no range that is in scope", r->name);
    else if (!is_edge(op->arg.p[0], OP_BEGIN, whole) || !is_edge(op->arg.p[1], OP_END, whole))
        violation(v, op->loc, "a loop over parts does not run from begin to end of '%s'", v->k->range.p[whole].name);
    else if (r->kind != RANGE_TILE || !has_positions(&v->k->range.p[whole], r->size))
        violation(v, op->loc, "the tiles of '%s' are larger than those of '%s'", r->name, v->k->range.p[whole].name);
}

/* The order of steps is free where the body says how parts of the loop go together. */
static void down_verify(Verifier *v, const Op *op) {
    const Op *meant = kernel_loop(v->k, op->range);
    if (op->res.n && !(meant && meant->region[1]))
        violation(v, op->loc, "a loop that carries values runs down, and the body's loop over '%s' has no merge",
                  v->k->range.p[op->range].name);
}

void role_loop_verify(Verifier *v, const Op *op) {
    const Range *r = &v->k->range.p[op->range];
    if (!v->role && (op->down || op->unrolled || op->turn.n || op->ends || op->runs || op->late))
        violation(v, op->loc, "turns, `down`, `unrolled` and `late` are of loops in roles");
    if (op->ends && !op->turn.n) violation(v, op->loc, "groups end a loop in turn that has no turns");
    if (op->runs && !op->turn.n) violation(v, op->loc, "a loop in runs has no turns");
    if (op->down) down_verify(v, op);
    if (r->part_of) part_loop_verify(v, op, r);
}
