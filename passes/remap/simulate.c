/* simulate.c: L2 caches of chiplets and the cache before memory, line by line. Workgroups are dealt to chiplets in turn; a
   slot of a chiplet that is done takes the chiplet's next one. All slots take turns, an access each, and drift apart: a
   slot now and then misses a turn. Reads ask for lines, writes for halves of lines (docs/design/numa.md). */
#include "passes/remap/simulate.h"
#include "passes/remap/cursor.h"

#include <string.h>

enum {
    WAYS = 16,   /* of both caches (AMD CDNA 3 ISA: the L2) */
    SAMPLED = 8, /* of so many sets one is simulated */
    DRIFT = 16,  /* of so many turns a slot misses one; chosen: workgroups of a kernel differ by a few percent */
    HALF = 64    /* bytes of a request to write */
};
#define MOST_LINES 400e6 /* that are looked at; then the simulation ends. Chosen: a few seconds */

typedef struct {
    uint64_t sets;
    uint64_t *line; /* WAYS of each set, the last one used first; 0: none */
} Cache;

/* What an access has loaded last: a step that goes on along the rows needs no part of a line again. */
typedef struct {
    int64_t rows, to; /* which rows; its last byte of a row */
} Seen;

typedef struct {
    Cursor at;
    Seen *seen; /* by number of the access */
    bool busy;
} Slot;

typedef struct {
    const Module *m;
    const Kernel *k;
    const RemapMachine *machine;
    const Order *order;
    int64_t tiles[MAX_RANGES], tasks;
    const int64_t *sym;
    int64_t *base; /* first line of a parameter */
    VEC(const Op *) op; /* accesses, by number */
    Cache *near, last;
    Slot *slot;
    int64_t *taken; /* of a chiplet: workgroups so far */
    uint64_t state;
    double lines;
    CacheSim sum;
} Sim;

static uint64_t hash(uint64_t x) {
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    return x * 0xbf58476d1ce4e5b9u >> 20;
}

static Cache cache_new(double bytes, Arena *arena) {
    Cache c = {.sets = (uint64_t)(bytes / LINE / WAYS / SAMPLED)};
    if (bytes > 0 && !c.sets) c.sets = 1;
    c.line = ARENA_ARRAY(arena, uint64_t, c.sets * WAYS + 1);
    return c;
}

/* Least recently used goes. Is the line there? */
static bool cache_touch(Cache *c, uint64_t line, uint64_t place) {
    if (!c->sets) return false;
    uint64_t *way = c->line + place % c->sets * WAYS;
    int at = 0;
    while (at < WAYS - 1 && way[at] != line) at++;
    const bool there = way[at] == line;
    memmove(way + 1, way, sizeof *way * (size_t)at);
    way[0] = line;
    return there;
}

/* A sampled line; sets of both caches are samples of the same lines. */
static void line_ask(Sim *s, int chiplet, uint64_t line, uint64_t place, int requests, bool write) {
    const bool there = cache_touch(&s->near[chiplet], line, place);
    s->sum.requests += requests;
    s->sum.hits += requests - !there;
    if (there) return;
    s->sum.fetched += LINE;
    if (cache_touch(&s->last, line, place) && !write) s->sum.last_hits += LINE;
    else s->sum.memory += LINE;
}

static void lines_ask(Sim *s, int chiplet, int64_t first, int64_t past, int requests, bool write) {
    s->lines += (double)(past - first);
    for (int64_t i = first; i < past; i++) {
        const uint64_t place = hash((uint64_t)i);
        if (place % SAMPLED == 0) line_ask(s, chiplet, (uint64_t)i + 1, place / SAMPLED, requests, write);
    }
}

/* Bytes lo .. hi of a row that begins at byte `row` of the tensor; those up to `seen` have come. */
static void row_ask(Sim *s, int chiplet, const Op *op, int64_t row, int64_t lo, int64_t hi, int64_t seen) {
    const int64_t base = s->base[op->param], past = base + (row + hi) / LINE + 1;
    const int64_t first = base + (row + lo) / LINE, next = seen < 0 ? first : base + (row + seen) / LINE + 1;
    const bool write = op->kind == OP_STORE;
    lines_ask(s, chiplet, first > next ? first : next, past, write && hi - lo >= HALF ? LINE / HALF : 1, write);
}

enum { MOST_SUBS = MAX_DIMS + 1 };

/* Extents that an access has subscripts for: those of memory that other ranks address begin with the ranks. */
static int extents_of(const Sim *s, const Param *p, int64_t *extent) {
    static const int origin[MAX_AXES];
    int n = 0;
    if (p->ranks >= 0) extent[n++] = s->m->axis.p[p->ranks].ranks;
    for (int d = 0; d < p->ndim; d++) extent[n++] = size_eval(s->m, p->dim[d], s->sym, origin);
    return n;
}

/* Where the access is; false: not known, or outside. */
static bool box_of(Sim *s, Slot *slot, const Op *op, const int64_t *dim, int64_t *lo, int64_t *hi) {
    for (int d = 0; d < op->sub.n; d++) {
        slot->at.env.budget = 512;
        const Interval at = env_affine(&slot->at.env, &op->sub.p[d].lo);
        if (at.lo <= -UNBOUNDED || at.hi >= UNBOUNDED) return s->sum.unknown = true, false;
        lo[d] = at.lo < 0 ? 0 : at.lo, hi[d] = at.hi < dim[d] ? at.hi : dim[d] - 1;
        if (hi[d] < lo[d]) return false;
    }
    return true;
}

/* The last byte that has come of these rows; -1: none. */
static int64_t seen_to(Seen *seen, const Op *op, const int64_t *lo, int last, int64_t from, int64_t to) {
    uint64_t rows = 1;
    for (int d = 0; d < last; d++) rows = hash(rows + (uint64_t)lo[d]);
    const bool again = op->kind == OP_LOAD && seen->rows == (int64_t)rows && seen->to < to && seen->to + LINE >= from;
    const int64_t before = again ? seen->to : -1;
    *seen = (Seen){(int64_t)rows, to};
    return before;
}

static void box_ask(Sim *s, Slot *slot, int chiplet, const Op *op, Seen *seen) {
    const Param *p = &s->k->param.p[op->param];
    int64_t dim[MOST_SUBS], lo[MOST_SUBS], hi[MOST_SUBS], at[MOST_SUBS] = {0};
    const int last = extents_of(s, p, dim) - 1, bits = elem_bits(p->elem);
    if (last < 0 || !box_of(s, slot, op, dim, lo, hi)) return;
    const int64_t from = lo[last] * bits / 8, to = ((hi[last] + 1) * bits + 7) / 8 - 1;
    const int64_t before = seen_to(seen, op, lo, last, from, to);
    memcpy(at, lo, sizeof *at * (size_t)last);
    for (int d = 0; d >= 0;) {
        int64_t row = 0;
        for (d = 0; d < last; d++) row = row * dim[d] + at[d];
        row_ask(s, chiplet, op, row * dim[last] * bits / 8, from, to, before);
        for (d = last - 1; d >= 0 && ++at[d] > hi[d]; d--) at[d] = lo[d];
    }
}

/* ---- workgroups ---- */

static bool slot_begin(Sim *s, Slot *slot, int chiplet) {
    const int64_t group = s->taken[chiplet] * s->machine->chiplets + chiplet;
    int64_t tile[MAX_RANGES];
    slot->busy = group < s->tasks;
    if (!slot->busy) return false;
    s->taken[chiplet]++;
    s->sum.tasks++;
    order_place(s->order, s->tiles, s->k->ngrid, order_deal(s->order, group, s->tasks), tile);
    cursor_begin(&slot->at, tile);
    for (int i = 0; i < s->op.n; i++) slot->seen[i] = (Seen){0, 0};
    return true;
}

static Seen *seen_of(Sim *s, Slot *slot, const Op *op) {
    int i = 0;
    while (s->op.p[i] != op) i++;
    return &slot->seen[i];
}

static void slot_turn(Sim *s, Slot *slot, int chiplet) {
    const Op *op = cursor_next(&slot->at);
    s->sum.unknown |= slot->at.unknown;
    if (op) box_ask(s, slot, chiplet, op, seen_of(s, slot, op));
    else slot_begin(s, slot, chiplet);
}

static bool misses_turn(Sim *s) {
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (s->state >> 33) % DRIFT == 0;
}

static void turns_run(Sim *s) {
    const int64_t at_once = s->machine->slots * s->machine->chiplets;
    for (int64_t i = 0; i < at_once; i++) slot_begin(s, &s->slot[i], (int)(i % s->machine->chiplets));
    for (bool busy = true; busy && s->lines < MOST_LINES;) {
        busy = false;
        for (int64_t i = 0; i < at_once; i++) {
            if (!s->slot[i].busy) continue;
            busy = true;
            if (!misses_turn(s)) slot_turn(s, &s->slot[i], (int)(i % s->machine->chiplets));
        }
    }
}

static void sim_room(Sim *s, Arena *arena) {
    static const int origin[MAX_AXES];
    const int64_t at_once = s->machine->slots * s->machine->chiplets;
    int64_t line = 0;
    s->base = ARENA_ARRAY(arena, int64_t, s->k->param.n + 1);
    for (int i = 0; i < s->k->param.n; i++) {
        int64_t n = elem_bits(s->k->param.p[i].elem), extent[MOST_SUBS];
        for (int d = extents_of(s, &s->k->param.p[i], extent) - 1; d >= 0; d--) n *= extent[d];
        s->base[i] = line, line += n / 8 / LINE + 1;
    }
    for (const Op *op = walk(s->k->body); op; op = walk_next(op, s->k->body))
        if (op->kind == OP_LOAD || op->kind == OP_STORE) vec_push(arena, &s->op, op);
    s->near = ARENA_ARRAY(arena, Cache, s->machine->chiplets);
    for (int x = 0; x < s->machine->chiplets; x++) s->near[x] = cache_new(s->machine->cache, arena);
    s->last = cache_new(s->machine->last, arena);
    s->taken = ARENA_ARRAY(arena, int64_t, s->machine->chiplets);
    s->slot = ARENA_ARRAY(arena, Slot, (size_t)at_once);
    for (int64_t i = 0; i < at_once; i++) {
        s->slot[i].at = cursor_new(s->m, s->k, s->sym, origin, arena);
        s->slot[i].seen = ARENA_ARRAY(arena, Seen, s->op.n + 1);
    }
}

CacheSim cache_simulate(const Module *m, const Kernel *k, const RemapMachine *machine, const Order *order, Arena *arena) {
    const Order plain = order_row_major(k);
    int64_t *sym = ARENA_ARRAY(arena, int64_t, m->symbol.n + 1);
    for (int i = 0; i < m->symbol.n; i++) sym[i] = m->symbol.p[i].bound;
    Sim s = {.m = m, .k = k, .machine = machine, .order = order ? order : &plain, .tasks = 1, .sym = sym, .state = 1};
    for (int r = 0; r < k->ngrid; r++) s.tasks *= s.tiles[r] = range_tiles(m, k, r, sym);
    sim_room(&s, arena);
    turns_run(&s);
    s.sum.all = (double)s.tasks;
    s.sum.requests *= SAMPLED, s.sum.hits *= SAMPLED;
    s.sum.fetched *= SAMPLED, s.sum.last_hits *= SAMPLED, s.sum.memory *= SAMPLED;
    return s.sum;
}
