/* roles.c: rings, roles and operations of the form `roles`.
   Builders refuse what has no type; what is well-typed but not allowed is the verifier's to report. */
#include "ir/roles.h"
#include "base/require.h"

const PanelInfo panel_info[PANEL_COUNT] = {
    [PANEL_ROWS] = {.text = "rows"},      [PANEL_LINE] = {.text = "line"},   [PANEL_K128] = {"k128", 128, false},
    [PANEL_MN128] = {"mn128", 128, true}, [PANEL_K64] = {"k64", 64, false},  [PANEL_MN64] = {"mn64", 64, true},
    [PANEL_K32] = {"k32", 32, false},     [PANEL_MN32] = {"mn32", 32, true},
};

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

enum {
    ALIGN = 1024,     /* bytes: a swizzled box begins at such an address (CUDA programming guide, tensor maps) */
    LINE_ALIGN = 128, /* likewise a box that is not swizzled */
    FEW_ALIGN = 16    /* fewer bytes, which no box brings */
};

static int64_t align_of(int64_t bytes) { return bytes < ALIGN ? FEW_ALIGN : ALIGN; }

int64_t panel_room(Panel p, int64_t row, int64_t rows) {
    const int bytes = panel_info[p].bytes;
    const int64_t all = (bytes ? round_up(row, bytes) : row) * rows;
    return round_up(all, bytes ? ALIGN : p == PANEL_LINE ? LINE_ALIGN : align_of(all));
}

int64_t slot_place(int64_t bytes, int64_t room) { return round_up(bytes, align_of(room)); }

int64_t slot_room(int64_t bytes) { return round_up(bytes, align_of(bytes)); }

/* The range whose positions the last subscript follows; -1: none of the tile's. */
static int range_along(const Op *copy, Type t) {
    const Affine *last = &copy->sub.p[copy->sub.n - 1].lo;
    for (int i = 0; i < last->nterm; i++)
        if (last->term[i].kind == TERM_POS && type_has(t, last->term[i].id)) return last->term[i].id;
    return -1;
}

bool roles_slice(const Kernel *k) {
    const int range = k->roles->cluster_range;
    return range >= 0 && range < k->range.n && k->range.p[range].part_of;
}

bool ring_sums(const Ring *r) { return r->tile.n && r->tile.p[0].sum; }

const Op *slot_copy(const Roles *r, int ring, int tile) {
    for (int i = 0; i < r->role.n; i++)
        for (const Op *op = walk(r->role.p[i].body); op; op = walk_next(op, r->role.p[i].body))
            if (op->kind == OP_COPY && op->in->parent->ring == ring && op->slot == tile && op->sub.n) return op;
    return NULL;
}

/* Of a slot's tile. */
static const Op *store_of(const Roles *r, int ring, int tile) {
    for (int i = 0; i < r->role.n; i++)
        for (const Op *op = walk(r->role.p[i].body); op; op = walk_next(op, r->role.p[i].body)) {
            const Op *get = op->kind == OP_STORE ? op->arg.p[0]->def : NULL;
            if (get && get->kind == OP_GET && get->ring == ring && op->arg.p[0]->index == tile && op->sub.n) return op;
        }
    return NULL;
}

int slot_row(const Kernel *k, int ring, int tile) {
    const Type t = k->roles->ring.p[ring].tile.p[tile].type;
    const Op *copy = slot_copy(k->roles, ring, tile), *access = copy ? copy : store_of(k->roles, ring, tile);
    int along = access ? range_along(access, t) : -1;
    return along >= 0 ? along : t.nrange ? t.range[t.nrange - 1] : -1;
}

Roles *roles_new(Module *m, Kernel *k) {
    Roles *r = ARENA_NEW(m->arena, Roles);
    r->cluster = r->resident = 1;
    r->cluster_range = -1;
    r->scalars = region_new(m, NULL);
    return k->roles = r;
}

int roles_ring(Module *m, Kernel *k, Name name, int slots, Loc loc) {
    Ring r = {.name = name, .slots = slots, .per = -1, .over = -1, .loc = loc};
    REQUIRE(name && k->roles->ring.n < INT16_MAX);
    vec_push(m->arena, &k->roles->ring, r);
    return k->roles->ring.n - 1;
}

int ring_tile(Module *m, Kernel *k, int ring, SlotTile t) {
    REQUIRE(t.name && ring >= 0 && ring < k->roles->ring.n);
    Ring *r = &k->roles->ring.p[ring];
    vec_push(m->arena, &r->tile, t);
    return r->tile.n - 1;
}

static int role_add(Module *m, Kernel *k, Role r) {
    REQUIRE(r.name && k->roles->role.n < INT16_MAX);
    r.body = region_new(m, NULL);
    vec_push(m->arena, &k->roles->role, r);
    return k->roles->role.n - 1;
}

int roles_groups(Module *m, Kernel *k, Name name, int first, int last, int split, Loc loc) {
    return role_add(m, k,
                    (Role){.name = name,
                           .first = (int16_t)first,
                           .last = (int16_t)last,
                           .warp = -1,
                           .split = (int16_t)split,
                           .in = -1,
                           .loc = loc});
}

int roles_warp(Module *m, Kernel *k, Name name, int warp, int lanes, Loc loc) {
    return role_add(m, k,
                    (Role){.name = name,
                           .first = -1,
                           .last = -1,
                           .warp = (int16_t)warp,
                           .lanes = (int16_t)lanes,
                           .split = -1,
                           .in = -1,
                           .loc = loc});
}

int roles_within(Module *m, Kernel *k, Name name, int role, Loc loc) {
    REQUIRE(role >= 0 && role < k->roles->role.n);
    Role r = k->roles->role.p[role];
    r.name = name, r.loc = loc, r.in = (int16_t)role;
    return role_add(m, k, r);
}

enum { GROUP_WARPS = 4, WARP_LANES = 32 };

int role_warps(const Role *r) {
    return r->warp >= 0 ? (r->lanes + WARP_LANES - 1) / WARP_LANES : GROUP_WARPS * (r->last - r->first + 1);
}

int roles_free_warp(const Roles *r) {
    uint64_t taken = 0;
    for (int i = 0; i < r->role.n; i++) {
        const Role *x = &r->role.p[i];
        taken |= (((uint64_t)1 << role_warps(x)) - 1) << (x->warp >= 0 ? x->warp : GROUP_WARPS * x->first);
    }
    for (int warp = 0; warp < GROUP_WARPS * r->regs.n; warp++)
        if (!(taken >> warp & 1)) return warp;
    return -1;
}

/* ---- loops that run a task later ---- */

const Op *role_late(const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->late) return op;
    return NULL;
}

const Op *role_beside(const Role *r) {
    const Op *op = r->body->first;
    while (op && !(op->kind == OP_FOR && op->turn.n && !op->runs)) op = op->next;
    return op;
}

/* ---- regions of a kernel ---- */

int kernel_regions(const Kernel *k) { return k->roles ? 2 + k->roles->role.n : 1; }

Region *kernel_region(const Kernel *k, int i) {
    return i == 0 ? k->body : i == 1 ? k->roles->scalars : k->roles->role.p[i - 2].body;
}

Roles *roles_clone(Module *m, const Roles *r, Region *(*region)(void *, const Region *), void *state) {
    Roles *fresh = arena_copy(m->arena, r, sizeof *r);
    vec_copy(m->arena, &fresh->regs);
    vec_copy(m->arena, &fresh->ring);
    vec_copy(m->arena, &fresh->role);
    for (int i = 0; i < r->ring.n; i++) vec_copy(m->arena, &fresh->ring.p[i].tile);
    fresh->scalars = region(state, r->scalars);
    for (int i = 0; i < r->role.n; i++) fresh->role.p[i].body = region(state, r->role.p[i].body);
    return fresh;
}

/* ---- operations ---- */

static Op *append_ring(Builder *b, OpKind kind, int ring) {
    REQUIRE(b->k->roles && ring >= 0 && ring < b->k->roles->ring.n);
    Op *op = op_append(b, kind);
    op->ring = (int16_t)ring;
    return op;
}

Op *build_put(Builder *b, int ring) {
    Op *op = append_ring(b, OP_PUT, ring);
    op->region[0] = region_new(b->m, op);
    return op;
}

Op *build_copy(Builder *b, int param, const Span *sub, int nsub, int slot) {
    REQUIRE(param >= 0 && param < b->k->param.n);
    Op *op = op_append(b, OP_COPY);
    op->param = (int16_t)param;
    op->slot = (int16_t)slot;
    for (int i = 0; i < nsub; i++) vec_push(b->m->arena, &op->sub, sub[i]);
    return op;
}

Op *build_write(Builder *b, Value *x, int slot) {
    Op *op = op_append(b, OP_WRITE);
    op->slot = (int16_t)slot;
    vec_push(b->m->arena, &op->arg, x);
    return op;
}

Op *build_get(Builder *b, int ring) {
    Op *op = append_ring(b, OP_GET, ring);
    const Ring *r = &b->k->roles->ring.p[ring];
    for (int i = 0; i < r->tile.n; i++) op_result(b->m, b->k, op, r->tile.p[i].type)->name = r->tile.p[i].name;
    return op;
}

Op *build_free(Builder *b, int ring) { return append_ring(b, OP_FREE, ring); }

Op *build_ready(Builder *b, Value *const *x, int n) {
    Op *op = op_append(b, OP_READY);
    for (int i = 0; i < n; i++) {
        vec_push(b->m->arena, &op->arg, x[i]);
        Value *v = op_result(b->m, b->k, op, x[i]->type);
        v->name = x[i]->name;
        v->layout = x[i]->layout;
    }
    return op;
}

Value *build_part(Builder *b, Value *x, int range) {
    REQUIRE(range >= 0 && range < b->k->range.n && b->k->range.p[range].part_of);
    int whole = b->k->range.p[range].part_of - 1;
    REQUIRE(type_has(x->type, whole));
    Op *op = op_append(b, OP_PART);
    op->range = (int16_t)range;
    vec_push(b->m->arena, &op->arg, x);
    return op_result(b->m, b->k, op, type_with(type_without(x->type, whole), range));
}

Value *build_convert(Builder *b, Value *x) {
    Op *op = op_append(b, OP_CONVERT);
    vec_push(b->m->arena, &op->arg, x);
    return op_result(b->m, b->k, op, x->type);
}
