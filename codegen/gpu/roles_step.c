/* roles_step.c: operations of roles as text: the ends of rings. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

/* Rows of a group's sums; bytes of a row of a panel. */
enum { GROUP_ROWS = 64, PANEL_ROW_BYTES = 128 };

static const Ring *ring_of(const Fn *f, int ring) { return &f->k->roles->ring.p[ring]; }

static const RingFacts *facts_of(const Fn *f, int ring) { return &f->hip->role->facts->ring[ring]; }

/* A barrier of a group's threads, other than that of the whole workgroup. */
static const char *group_barrier(Fn *f) { return fn_text(f, "%d + group", 1 + hip_role_now(f)->first); }

/* ---- a slot in hand ---- */

/* Each iteration of a late loop runs in several turns. */
static bool is_cut(const Fn *f) { return f->hip->role->late && f->hip->role->late->cuts > 1; }

static const char *slot_new(Fn *f, int ring) {
    return is_cut(f) ? fn_text(f, "late->%s", facts_of(f, ring)->member) : c_name(&f->names, ring_of(f, ring)->name);
}

/* In cuts of an iteration the first one finds it. kept: the next turn's takes its place. */
static void slot_line(Fn *f, const char *slot, const char *found, bool kept) {
    const LateText *t = f->hip->role->late;
    if (t && t->begins)
        fn_line(f, "if (%s) %s = %s;", t->begins, slot, found);
    else
        fn_line(f, "%suint32_t %s = %s;", kept ? "" : "const ", slot, found);
}

/* What the last cut of an iteration does. */
static void end_open(Fn *f) {
    const LateText *t = f->hip->role->late;
    if (!t || !t->ends) return;
    fn_line(f, "if (%s) {", t->ends);
    f->indent++;
}

static void end_close(Fn *f) {
    const LateText *t = f->hip->role->late;
    if (!t || !t->ends) return;
    f->indent--;
    fn_line(f, "}");
}

/* Columns that a cut has of so many: the first one, and how many; NULL: all. */
static const char *cut_columns(Fn *f, int64_t columns) {
    const int64_t cut = is_cut(f) ? columns / f->hip->role->late->cuts : 0;
    return cut ? fn_text(f, "%" PRId64 " * turn, %" PRId64, cut, cut) : NULL;
}

/* ---- put ---- */

static void writes(Fn *f, const Op *put) {
    f->hip->role->filling = put;
    emit_region(f, put->region[0]);
    f->hip->role->filling = NULL;
}

static void put_boxes(Fn *f, const Op *put) {
    const char *slot = c_name(&f->names, ring_of(f, put->ring)->name);
    const bool behind = put == f->hip->role->ahead;
    f->hip->role->slot = slot;
    fn_line(f, "const tile_slot %s = tile_ring_put%s(%s, &%s, %s%s);", slot, behind ? "_behind" : "",
            hip_role_ring(f, put->ring), hip_role_end(f, put->ring), hip_copied_bytes(f, put->ring),
            behind ? ", ahead" : "");
    writes(f, put);
    if (behind) fn_line(f, "ahead -= ahead > 0;");
}

/* Before the wait: what does not hang on the launch before, as long as slots have not been filled. */
static void put_before(Fn *f, const Op *put) {
    const char *slot = c_name(&f->names, ring_of(f, put->ring)->name);
    f->hip->role->slot = slot;
    fn_line(f, "if (ahead == %d) return ahead;", ring_of(f, put->ring)->slots);
    fn_line(f, "const tile_slot %s = tile_ring_first(%s, ahead++, %s);", slot, hip_role_ring(f, put->ring),
            hip_copied_bytes(f, put->ring));
    writes(f, put);
}

/* The put's number among those of its ring, in the order of the text. */
static int put_number(const Region *body, const Op *put) {
    int n = 0;
    for (const Op *op = walk(body); op && op != put; op = walk_next(op, body))
        n += op->kind == put->kind && op->ring == put->ring;
    return n;
}

static const Op *get_at(const Region *body, int ring, int number) {
    for (const Op *op = walk(body); op; op = walk_next(op, body))
        if (op->kind == OP_GET && op->ring == ring && number-- == 0) return op;
    return NULL;
}

/* The loops around the get run as those around the put do. */
static void same_ranges(Fn *f, const Op *from, const Op *to) {
    const Op *x = from->in->parent, *y = to->in->parent;
    for (; x && y; x = x->in->parent, y = y->in->parent)
        if (x->kind == OP_FOR && y->kind == OP_FOR) f->range[y->range] = f->range[x->range];
}

/* What a role on the same threads does between get and free. */
static void read_at_once(Fn *f, const Op *put, const char *slot) {
    const Roles *roles = f->k->roles;
    int by = f->hip->role->number, number = put_number(hip_role_now(f)->body, put);
    for (int i = 0; i < roles->role.n; i++) {
        const Op *get = roles->role.p[i].in == by ? get_at(roles->role.p[i].body, put->ring, number) : NULL;
        if (!get) continue;
        same_ranges(f, put, get);
        hip_role_name_slot(f, get, slot);
        for (const Op *op = get->next; op && !(op->kind == OP_FREE && op->ring == put->ring); op = op->next)
            if (op->kind == OP_STORE)
                hip_role_store(f, op);
            else
                fn_unsupported(f, op->loc, fn_text(f, "%s in a role on the threads of another", op_phrase(op->kind)));
    }
}

/* Another put of the region to a ring of the group's own, which stores the slot at once. */
static bool is_own_put(const Fn *f, const Op *op) {
    return op->kind == OP_PUT && facts_of(f, op->ring)->full < 0 && ring_of(f, op->ring)->tile.n;
}

static bool stores_box(const Fn *f, const Op *put) {
    const Roles *roles = f->k->roles;
    int by = f->hip->role->number, number = put_number(hip_role_now(f)->body, put);
    for (int i = 0; i < roles->role.n; i++) {
        const Op *get = roles->role.p[i].in == by ? get_at(roles->role.p[i].body, put->ring, number) : NULL;
        for (const Op *op = get; op && op->kind != OP_FREE; op = op->next)
            if (op->kind == OP_STORE && op->by && strcmp(op->by, "box") == 0) return true;
    }
    return false;
}

/* Stores by boxes, in groups of one each, that are begun between two puts to the slot: those of the ring's other slots,
   and of rings that the same region puts to in turn. A ring that other regions put to, too, counts its own alone. The
   last cut of an iteration begins all of its stores, behind all puts of the first one. */
static int groups_between(const Fn *f, const Op *put) {
    const Region *body = hip_role_now(f)->body;
    int rings = 0, all = 0, before = 0;
    for (const Op *op = walk(body); op; op = walk_next(op, body)) {
        if (op == put && is_cut(f)) before = rings;
        if (!is_own_put(f, op) || !stores_box(f, op)) continue;
        all++;
        rings += op->in == put->in && (op == put || op->ring != put->ring);
    }
    int slots = ring_of(f, put->ring)->slots;
    return rings == all ? slots * rings - 1 - before : slots - 1;
}

static void put_own(Fn *f, const Op *put) {
    const char *slot = slot_new(f, put->ring), *ring = hip_role_ring(f, put->ring), *end = hip_role_end(f, put->ring),
               *bar = group_barrier(f);
    f->hip->role->slot = slot;
    slot_line(f, slot, fn_text(f, "tile_own_open(%s, &%s, %d, %s, thread)", ring, end, groups_between(f, put), bar),
              false);
    writes(f, put);
    end_open(f);
    fn_line(f, "tile_own_filled(%s, &%s, %s);", ring, end, bar);
    read_at_once(f, put, slot);
    end_close(f);
}

/* done: "filled" by stores, or "copied" by what the threads have begun. */
static void put_threads(Fn *f, const Op *put, const char *done) {
    const char *slot = slot_new(f, put->ring), *ring = hip_role_ring(f, put->ring), *end = hip_role_end(f, put->ring);
    f->hip->role->slot = slot;
    hip_role_look(f, put);
    slot_line(f, slot, fn_text(f, "tile_ring_open(%s, &%s)", ring, end), false);
    writes(f, put);
    end_open(f);
    fn_line(f, "tile_ring_%s(%s, &%s);", done, ring, end);
    end_close(f);
}

/* Of a ring without tiles: what the threads have done is known to who gets it. */
static void put_token(Fn *f, const Op *put) {
    const char *ring = hip_role_ring(f, put->ring), *end = hip_role_end(f, put->ring);
    fn_line(f, "tile_ring_open(%s, &%s);", ring, end);
    fn_line(f, "tile_ring_filled(%s, &%s);", ring, end);
}

static void role_put(Fn *f, const Op *put) {
    const RingFacts *r = facts_of(f, put->ring);
    if (ring_sums(ring_of(f, put->ring)))
        hip_share_put(f, put, hip_role_ring(f, put->ring), hip_role_end(f, put->ring));
    else if (f->hip->role->before)
        put == f->hip->role->ahead ? put_before(f, put) : (void)0;
    else if (ring_of(f, put->ring)->tile.n == 0)
        put_token(f, put);
    else if (hip_ring_has_rows(ring_of(f, put->ring)))
        put_threads(f, put, "copied");
    else if (r->puts == 1 && r->boxed)
        put_boxes(f, put);
    else if (r->boxed)
        fn_unsupported(f, put->loc, "a slot that boxes and threads fill");
    else if (r->full < 0)
        put_own(f, put);
    else
        put_threads(f, put, "filled");
}

static void role_write(Fn *f, const Op *op) {
    const RoleText *r = f->hip->role;
    const SlotTile *t = &ring_of(f, r->filling->ring)->tile.p[op->slot];
    const Value *x = op->arg.p[0];
    if (hip_role_numbers(f, t, x)) return;
    if (x->def && x->def->kind == OP_CAST && x->type.elem == t->type.elem) x = x->def->arg.p[0];
    int64_t rows = 1, columns = 0;
    for (int i = 0; i < x->type.nrange; i++) {
        int64_t n = hip_role_extent(f->m, f->k, r->number, x->type.range[i]);
        if (i + 1 < x->type.nrange)
            rows *= n;
        else
            columns = n;
    }
    const bool turned = slot_row(f->k, r->filling->ring, op->slot) != x->type.range[x->type.nrange - 1];
    bool half = t->type.elem == ELEM_BF16 || t->type.elem == ELEM_F16;
    if (columns % 16 && rows == 64 && !turned)
        columns = 2 * layout_registers(held_layout(f, x)); /* a store leaves them out */
    if (!half || x->type.elem != ELEM_F32 || rows != 64 || columns % 16 || t->panel != PANEL_K128 ||
        t->fill != FILL_THREADS) {
        fn_unsupported(f, op->loc, "a tile that threads write, other than 64 rows of 16-bit elements from sums");
        return;
    }
    const Tile *from = made_tile(f, x);
    const char *cut = cut_columns(f, columns);
    fn_line(f, "tile_sums_write%s_%s(%s, %s, %s, thread);",
            turned ? "_turned"
            : cut  ? "_part"
                   : "",
            elem_text(t->type.elem), r->slot, from->name, cut ? cut : fn_text(f, "%" PRId64, columns));
}

/* ---- tiles of slots in registers, as sums lie there ---- */

static bool takes_slot(const Op *op, int ring) {
    const Op *get = op->kind == OP_CONVERT ? op->arg.p[0]->def : NULL;
    return get && get->kind == OP_GET && get->ring == ring;
}

static bool takes_slots(const Region *r, int ring) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (takes_slot(op, ring)) return true;
    return false;
}

/* Behind the group's last read of the slot its threads have met, each behind a fence: in a put to a ring of its own. */
static bool have_met(Fn *f, const Op *free) {
    for (const Op *op = free->prev; op && !takes_slot(op, free->ring); op = op->prev)
        if (op->kind == OP_PUT && facts_of(f, op->ring)->full < 0) return true;
    return false;
}

static void slot_take(Fn *f, const Op *op, const SlotTile *t, const Ring *ring) {
    const Type type = op->res.p[0]->type;
    int64_t rows = 1, whole = 1, columns = 0;
    for (int i = 0; i < type.nrange; i++) {
        if (i + 1 < type.nrange) {
            rows *= hip_role_extent(f->m, f->k, f->hip->role->number, type.range[i]);
            whole *= hip_role_extent(f->m, f->k, ring->per, type.range[i]);
        } else
            columns = hip_role_extent(f->m, f->k, f->hip->role->number, type.range[i]);
    }
    if (rows != GROUP_ROWS || elem_bits(type.elem) != 16 || columns % 16 || t->panel != PANEL_K128) {
        fn_unsupported(f, op->loc, "a slot's tile in registers, other than 64 rows of 16-bit elements");
        return;
    }
    const char *name = fn_held(f, op->arg.p[0])->tile.name, *share = "";
    if (whole != rows) share = fn_text(f, " + %d * group", GROUP_ROWS * PANEL_ROW_BYTES);
    const char *cut = cut_columns(f, columns);
    fn_line(f, "tile_sums_take%s((uint16_t *)%s, %s%s, %" PRId64 ", %s, thread);", cut ? "_part" : "",
            held_tile(f, op->res.p[0])->name, name, share, whole * PANEL_ROW_BYTES,
            cut ? cut : fn_text(f, "%" PRId64, columns));
}

/* Of a row, the columns that a thread has of sums. */
static bool line_take(Fn *f, const Op *op, const SlotTile *t) {
    const Tile *to = held_tile(f, op->res.p[0]);
    const int64_t n = hip_role_extent(f->m, f->k, -1, t->type.range[0]);
    if (f->hip->split - 1 == t->type.range[0] || elem_bits(t->type.elem) != 32 || n != 4 * to->count) return false;
    const char *from = fn_held(f, op->arg.p[0])->tile.name;
    fn_line(f, "tile_sums_take_line(%s, %s, %" PRId64 ", thread);", to->name, from, n);
    hip_role_line_small(f, op, from, n);
    return true;
}

static void role_convert(Fn *f, const Op *op) {
    int ring, tile;
    const SlotTile *t = hip_slot(f->k, op->arg.p[0], &ring, &tile);
    if (t && elem_bits(t->type.elem) <= 8 && hip_role_take(f, op)) return;
    if (t && t->panel == PANEL_LINE && line_take(f, op, t)) return;
    if (t && hip_role_take_numbers(f, t, op)) return;
    if (t)
        slot_take(f, op, t, ring_of(f, ring));
    else
        hip_backend.step(f, op);
}

/* ---- get and free ---- */

static void get_token(Fn *f, const Op *op) {
    fn_line(f, "tile_ring_get(%s, &%s);", hip_role_ring(f, op->ring), hip_role_end(f, op->ring));
}

static void role_get(Fn *f, const Op *op) {
    hip_role_follow(f, op);
    if (ring_of(f, op->ring)->tile.n == 0) {
        get_token(f, op);
        return;
    }
    if (hip_role_served(f, op->ring) >= 0 && f->hip->role->of == f->hip->role->number)
        fn_unsupported(f, op->loc, "a slot of a ring of each group, got outside of a loop over parts");
    const char *slot = slot_new(f, op->ring), *copied = hip_ring_has_rows(ring_of(f, op->ring)) ? "_copied" : "";
    const char *ring = hip_role_ring(f, op->ring), *end = hip_role_end(f, op->ring);
    const char *what = ring_sums(ring_of(f, op->ring)) ? "share" : "ring";
    const char *found = fn_text(f, "tile_%s_get%s(%s, &%s)", what, copied, ring, end);
    if (f->hip->role->narrow == ROLE_NOTHING)
        fn_line(f, "%s;", found);
    else
        slot_line(f, slot, found, f->hip->role->turn_part == TURN_FIRST && hip_role_is_kept(op));
    hip_role_name_slot(f, op, slot);
}

static const Wait *wait_of(const Fn *f, const Op *op) {
    const Waits *w = &f->hip->role->waits;
    for (int i = 0; i < w->wait.n; i++)
        if (w->wait.p[i].op == op) return &w->wait.p[i];
    return NULL;
}

static bool is_late(const Op *op) {
    const Op *loop = op->in->parent;
    return loop && loop->kind == OP_FOR && hip_role_is_late(loop);
}

static int groups_but(const Fn *f, const Op *op) {
    if (is_late(op)) return hip_role_late_but(f, op);
    const Wait *w = wait_of(f, op);
    return f->hip->role->drains && op_shift(op) ? w->last : w->but;
}

static void wait_line(Fn *f, int but) {
    if (but != NO_WAIT && !f->hip->role->quads) fn_line(f, "tile_mma_wait(%d);", but < 1 ? 0 : 1);
}

void hip_role_wait_last(Fn *f, const Op *free) { wait_line(f, wait_of(f, free)->last); }

static bool is_read_within(const Region *r, const Op *free) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < 2 && op->kind == OP_MMA; i++) {
            const Op *get = op->arg.p[i]->def;
            if (get && get->kind == OP_GET && get->ring == free->ring && op->in != free->in) return true;
        }
    return false;
}

/* Products of a loop that may have no step do not keep a group's threads together between get and free. */
static bool may_be_unread(Fn *f, const Op *free) {
    return hip_role_now(f)->first >= 0 && ring_of(f, free->ring)->tile.n && is_read_within(hip_role_now(f)->body, free);
}

void hip_role_free_line(Fn *f, const Op *op, const char *when) {
    if (f->hip->role->quads && ring_of(f, op->ring)->tile.n) {
        fn_line(f, "%s%s%stile_ring_free_warp(%s, &%s, thread);", when ? "if (" : "", when ? when : "",
                when ? ") " : "", hip_role_ring(f, op->ring), hip_role_end(f, op->ring));
        return;
    }
    const bool meets = (takes_slots(hip_role_now(f)->body, op->ring) && !have_met(f, op)) || may_be_unread(f, op);
    const char *bar = meets ? fn_text(f, "%s, ", group_barrier(f)) : "";
    const char *free = fn_text(f, "tile_ring_free%s(%s, &%s, %d, %s%s);", meets ? "_read" : "",
                               hip_role_ring(f, op->ring), hip_role_end(f, op->ring), facts_of(f, op->ring)->sharers,
                               bar, hip_role_now(f)->lanes == 1 ? "0" : "thread");
    if (when)
        fn_line(f, "if (%s) %s", when, free);
    else
        fn_line(f, "%s", free);
}

/* A piece that is one turn late begins in the second turn. */
static const char *second_turn(Fn *f, const Op *loop) {
    const RangeText *r = &f->range[loop->range];
    return fn_text(f, "%s > %s", r->begin->text, cexpr_operand(f, r->first)->text);
}

static bool is_lane(const Fn *f) { return hip_role_now(f)->lanes == 1; }

/* A lane's stores by boxes have read the slot, those of so many iterations before. */
static void lane_free(Fn *f, const Op *op) {
    const int shift = op_shift(op);
    const Range *q = shift ? &f->k->range.p[op->in->parent->range] : NULL;
    if (!shift) fn_line(f, "tile_tma_wait_read();");
    if (shift) fn_line(f, "tile_tma_wait_read_but(%d);", shift);
    hip_role_free_line(f, op, shift ? fn_text(f, "%s0 >= %" PRId64, q->name, shift * q->size) : NULL);
}

static void role_free(Fn *f, const Op *op) {
    if (ring_sums(ring_of(f, op->ring))) {
        hip_share_free(f, op->ring, hip_role_ring(f, op->ring), hip_role_end(f, op->ring));
        return;
    }
    if (is_lane(f) && ring_of(f, op->ring)->tile.n) {
        lane_free(f, op);
        return;
    }
    const LateText *late = f->hip->role->late;
    const bool behind = op_shift(op) && !op->in->parent->runs && !is_late(op);
    wait_line(f, groups_but(f, op));
    hip_role_free_line(f, op, behind ? second_turn(f, op->in->parent) : late ? late->ends : NULL);
}

/* ---- steps ---- */

static bool is_of_slot(const Fn *f, const Value *v) {
    int ring, tile;
    return hip_slot(f->k, v, &ring, &tile) != NULL;
}

/* What a role does before it waits has nothing to do with it. */
static bool is_left_out(const Fn *f, const Op *op) {
    return f->hip->role->before && (op->kind == OP_IF || op_info[op->kind].class == CLASS_SYNC);
}

void hip_role_step(Fn *f, const Op *op) {
    if (is_left_out(f, op)) return;
    switch (op->kind) {
    case OP_WAIT:
    case OP_SIGNAL: hip_role_synchronise(f, op); break;
    case OP_PUT: role_put(f, op); break;
    case OP_COPY: hip_role_copy(f, op); break;
    case OP_WRITE: role_write(f, op); break;
    case OP_GET: role_get(f, op); break;
    case OP_FREE: role_free(f, op); break;
    case OP_MMA: (hip_role_chains(f, op) ? hip_role_chain : hip_role_mma)(f, op); break;
    case OP_READY: hip_role_ready(f, op, groups_but(f, op)); break;
    case OP_PART: (is_of_slot(f, op->arg.p[0]) ? hip_share_part : hip_role_part)(f, op); break;
    case OP_CONVERT: role_convert(f, op); break;
    case OP_STORE:
        if (is_of_slot(f, op->arg.p[0]))
            hip_role_store(f, op);
        else if (!hip_role_store_odd(f, op))
            hip_backend.step(f, op);
        break;
    default:
        /* Of a lane's tiles only elements are made, where a copy has them. */
        if (hip_role_now(f)->warp < 0 || op->res.n != 1 || !op->res.p[0]->type.nrange) hip_backend.step(f, op);
    }
}
