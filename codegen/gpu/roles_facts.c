/* roles_facts.c: what follows from a kernel's roles: where rings lie in workgroup memory, and how many arrivals fill
   and empty a slot. Nothing of this is in the IR. */
#include "codegen/gpu/roles.h"

enum {
    PANELS = 1024 /* bytes, of which slots with panels are multiples */,
    BARRIERS = 16 /* bytes of a slot's full and empty */,
    WARPS = 4 /* of a group */
};

int hip_role_groups(const Kernel *k, int role) {
    const Role *r = &k->roles->role.p[role];
    return r->first < 0 ? 0 : r->last - r->first + 1;
}

/* The barrier of the first group's turns: behind those of each group, and that at which all of them clear a slot
   (roles_chain.c). */
int hip_role_turn_barrier(const Kernel *k, int role) {
    return k->roles->role.p[role].first + hip_role_groups(k, role) + 2;
}

int hip_role_past_barrier(const Kernel *k, int role) { return hip_role_turn_barrier(k, role) + hip_role_groups(k, role); }

static int64_t extent(const Module *m, const Kernel *k, int range) {
    const Range *r = &k->range.p[range];
    return r->kind == RANGE_TILE ? r->size : range_most(m, k, range);
}

int64_t hip_role_extent(const Module *m, const Kernel *k, int role, int range) {
    int64_t n = extent(m, k, range);
    return role >= 0 && k->roles->role.p[role].split == range ? n / hip_role_groups(k, role) : n;
}

bool hip_ring_has_rows(const Ring *r) {
    for (int i = 0; i < r->tile.n; i++)
        if (r->tile.p[i].fill != FILL_ROWS) return false;
    return r->tile.n > 0;
}

const SlotTile *hip_slot(const Kernel *k, const Value *v, int *ring, int *tile) {
    if (!v->def || v->def->kind != OP_GET) return NULL;
    *ring = v->def->ring, *tile = v->index;
    return &k->roles->ring.p[*ring].tile.p[*tile];
}

/* A ring of each group has the group's share of a tile. */
static int64_t tile_bytes(const Module *m, const Kernel *k, int ring, int tile) {
    const Ring *r = &k->roles->ring.p[ring];
    const SlotTile *t = &r->tile.p[tile];
    const int along = slot_row(k, ring, tile);
    int64_t rows = 1, row = elem_bits(t->type.elem);
    for (int i = 0; i < t->type.nrange; i++)
        *(t->type.range[i] == along ? &row : &rows) *= hip_role_extent(m, k, r->per, t->type.range[i]);
    return panel_room(t->panel, (row + 7) / 8, rows);
}

/* Without what lies up to the next one. */
static int64_t line_bytes(const Module *m, const Kernel *k, const SlotTile *t) {
    return hip_role_extent(m, k, -1, t->type.range[0]) * elem_bits(t->type.elem) / 8;
}

static bool has_op(const Role *r, OpKind kind, int ring) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->kind == kind && op->ring == ring) return true;
    return false;
}

/* Groups of the role that read the ring, or one of its copies. */
static int readers_of(const Kernel *k, int role, int ring) {
    const int per = k->roles->ring.p[ring].per, groups = hip_role_groups(k, role);
    return per >= 0 && (role == per || k->roles->role.p[role].in == per) ? 1 : groups;
}

/* Groups that read; a warp's lanes are one. Where warps compute products alone, each gives tiles back by itself. */
static int readers(const Kernel *k, int ring, const bool *quads) {
    int n = 0;
    for (int i = 0; i < k->roles->role.n; i++) {
        if (!has_op(&k->roles->role.p[i], OP_GET, ring)) continue;
        const int each = k->roles->ring.p[ring].tile.n && quads[i] ? WARPS : 1;
        n += hip_role_groups(k, i) ? each * readers_of(k, i, ring) : 1;
    }
    return n;
}

static int writer(const Kernel *k, int ring) {
    for (int i = 0; i < k->roles->role.n; i++)
        if (has_op(&k->roles->role.p[i], OP_PUT, ring)) return i;
    return -1;
}

static int writing_threads(const Kernel *k, const Ring *r, int role) {
    int groups = hip_role_groups(k, role);
    return groups ? 128 * (r->per >= 0 ? 1 : groups) : k->roles->role.p[role].lanes;
}

static bool reads_at_once(const Kernel *k, int ring, int by) {
    const Ring *r = &k->roles->ring.p[ring];
    bool alone = r->per == by || hip_role_groups(k, by) == 1;
    for (int i = 0; i < k->roles->role.n && alone; i++)
        if (has_op(&k->roles->role.p[i], OP_GET, ring)) alone = k->roles->role.p[i].in == by;
    return alone && by >= 0 && hip_role_groups(k, by) > 0;
}

static RingFacts ring_facts(Arena *a, const Module *m, const Kernel *k, int ring, const bool *quads) {
    const Ring *r = &k->roles->ring.p[ring];
    RingFacts f = {.sharers = 1, .copies = r->per >= 0 ? hip_role_groups(k, r->per) : 1, .writer = writer(k, ring)};
    bool boxes = false, threads = r->tile.n == 0;
    f.tile = ARENA_ARRAY(a, int64_t, r->tile.n + 1);
    for (int i = 0; i < r->tile.n; i++) {
        const SlotTile *t = &r->tile.p[i];
        bool boxed = t->fill == FILL_BOX || t->fill == FILL_PIXELS || t->fill == FILL_BULK;
        f.tile[i] = slot_place(f.bytes, tile_bytes(m, k, ring, i));
        f.bytes = f.tile[i] + tile_bytes(m, k, ring, i);
        if (boxed) f.boxed += t->panel == PANEL_LINE ? line_bytes(m, k, t) : tile_bytes(m, k, ring, i);
        if (t->share >= 0) f.sharers = k->roles->cluster;
        boxes |= boxed, threads |= !boxed;
    }
    f.bytes = slot_room(f.bytes);
    f.puts = boxes + (threads && f.writer >= 0 ? writing_threads(k, r, f.writer) : 0);
    f.frees = readers(k, ring, quads) * f.sharers;
    if (!ring_sums(r)) return f;
    f.puts = WARPS; /* of the group: its own part is there; .. */
    f.frees = WARPS * k->roles->cluster *
              (r->over < 0 ? 1 : f.copies); /* .. over other bytes of all groups: what lay there has been read */
    return f;
}

static RingFacts turn_facts(const Role *r, int64_t at) {
    return (RingFacts){.full = hip_role_in_turn(r) ? at : -1, .puts = 1, .frees = 1};
}

/* Who reads the numbers of tasks: each warp of the cluster once, or a lane of its own. */
static int task_readers(const Roles *r) {
    int n = 0;
    for (int i = 0; i < r->role.n; i++) n += r->role.p[i].in < 0 ? role_warps(&r->role.p[i]) : 0;
    return n * r->cluster;
}

/* Barriers come first, as they begin at multiples of 8. */
static RingFacts take_facts(const Roles *r, int64_t at) {
    bool takes = r->tasks == TASKS_TICKET;
    return (RingFacts){.at = at + BARRIERS * ROLE_TAKEN, .full = takes ? at : -1, .puts = 1, .frees = task_readers(r)};
}

/* Panels begin at multiples of their own room, then lines at multiples of theirs. */
enum { RING_PANELS, RING_LINES, RING_FEW, RING_KINDS };
static int ring_kind(const Ring *r, const RingFacts *f) {
    if (f->bytes % PANELS == 0) return RING_PANELS;
    return r->tile.p[0].panel == PANEL_LINE ? RING_LINES : RING_FEW;
}

RolesFacts hip_role_facts(Arena *a, const Module *m, const Kernel *k, const bool *quads) {
    enum { REGISTERS = 65536 /* of 32 bits, of a workgroup */, REGS_STEP = 8 };
    const Roles *r = k->roles;
    RolesFacts f = {.ring = ARENA_ARRAY(a, RingFacts, r->ring.n + 1),
                    .turn = ARENA_ARRAY(a, RingFacts, r->role.n + 1),
                    .threads = 128 * r->regs.n};
    f.entry_regs = REGISTERS / r->resident / f.threads / REGS_STEP * REGS_STEP;
    for (int i = 0; i < r->ring.n; i++) f.ring[i] = ring_facts(a, m, k, i, quads);
    for (int kind = 0; kind < RING_KINDS; kind++)
        for (int i = 0; i < r->ring.n; i++) {
            if (r->ring.p[i].over >= 0 || kind != ring_kind(&r->ring.p[i], &f.ring[i])) continue;
            f.ring[i].at = f.bytes;
            f.bytes += f.ring[i].bytes * r->ring.p[i].slots * f.ring[i].copies;
        }
    for (int i = 0; i < r->ring.n; i++)
        if (r->ring.p[i].over >= 0) f.ring[i].at = f.ring[r->ring.p[i].over].at;
    for (int i = 0; i < r->ring.n; i++) {
        f.ring[i].full = reads_at_once(k, i, f.ring[i].writer) ? -1 : f.bytes;
        if (f.ring[i].full >= 0) f.bytes += BARRIERS * r->ring.p[i].slots * f.ring[i].copies;
    }
    for (int i = 0; i < r->role.n; i++) {
        f.turn[i] = turn_facts(&r->role.p[i], f.bytes);
        if (f.turn[i].full >= 0) f.bytes += BARRIERS;
    }
    f.take = take_facts(r, f.bytes);
    if (f.take.full >= 0) f.bytes += ROLE_TAKEN * (BARRIERS + ROLE_TASK_BYTES); /* a multiple of 8 */
    return f;
}

const Role *hip_role_now(const Fn *f) { return &f->k->roles->role.p[f->hip->role->number]; }
