/* traffic.c: bytes that an order of tasks moves, counted wave by wave: workgroups at once go through their tasks in step,
   so that what two of them on one chiplet touch comes once. A later wave finds what was touched before if less than a
   cache has come since. */
#include "passes/remap/reuse.h"

#include <string.h>

/* Tasks that are looked at, fewer where each touches much, but two waves; the rest is taken to be like them. Chosen for
   the time: no measurement is recorded. */
enum { MOST_TASKS = 4096, MOST_TOUCHES = 12288 };

struct Cell {
    uint64_t key; /* 1 + the cell's number; 0: free */
    int32_t wave;
    double at;    /* bytes that had come when it was touched last */
};

typedef struct {
    const Reuse *u;
    const RemapMachine *m;
    Arena *arena;
    TrafficRoom *room;
    double *come, all; /* bytes so far, by chiplet; of all */
    uint64_t *first;    /* number of a group's first cell */
    int32_t wave;
    double begun, waves; /* sum of what chiplets touch in a wave */
    Traffic t;
} Count;

static uint64_t hash(uint64_t x) {
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static void cells_grow(CellTable *c) {
    const CellTable old = *c;
    const uint64_t n = old.cell ? 2 * (old.mask + 1) : 4096;
    *c = (CellTable){.arena = old.arena, .cell = ARENA_ARRAY(old.arena, Cell, n), .mask = n - 1, .used = old.used};
    for (uint64_t i = 0; old.cell && i <= old.mask; i++) {
        if (!old.cell[i].key) continue;
        uint64_t at = hash(old.cell[i].key) & c->mask;
        while (c->cell[at].key) at = (at + 1) & c->mask;
        c->cell[at] = old.cell[i];
    }
}

static void cells_clear(CellTable *c) {
    if (c->cell) memset(c->cell, 0, sizeof *c->cell * (c->mask + 1));
    c->used = 0;
}

static Cell *cell_find(CellTable *c, uint64_t key) {
    if (!c->cell || 2 * c->used > c->mask) cells_grow(c);
    uint64_t at = hash(key) & c->mask;
    while (c->cell[at].key && c->cell[at].key != key) at = (at + 1) & c->mask;
    if (!c->cell[at].key) c->used++, c->cell[at] = (Cell){.key = key, .wave = -1, .at = -1};
    return &c->cell[at];
}

/* Is it there? `bytes` come if not; .at < 0: never seen. */
static bool touch(Cell *c, int32_t wave, double *come, double bytes, double room) {
    const bool there = c->wave == wave || (c->at >= 0 && *come - c->at + bytes <= room);
    if (c->wave != wave) *come += bytes;
    c->wave = wave;
    c->at = *come;
    return there;
}

static void cell_touch(Count *n, int chiplet, uint64_t cell, double bytes, bool write) {
    const uint64_t key = 1 + cell * (uint64_t)n->m->chiplets + (uint64_t)chiplet;
    if (touch(cell_find(&n->room->near, key), n->wave, &n->come[chiplet], bytes, n->m->cache)) return;
    n->t.fetched += bytes;
    if (!touch(cell_find(&n->room->far, 1 + cell), n->wave, &n->all, bytes, n->m->last) || write) n->t.memory += bytes;
}

/* Bytes that no other task touches. */
static void bytes_come(Count *n, int chiplet, double bytes) {
    n->come[chiplet] += bytes, n->all += bytes;
    n->t.fetched += bytes, n->t.memory += bytes;
}

/* All cells of a box. */
static void box_touch(Count *n, int chiplet, const ReuseAccess *a, const int64_t *tile) {
    const ReuseGroup *g = &n->u->group.p[a->group];
    int32_t lo[MAX_DIMS], hi[MAX_DIMS], at[MAX_DIMS];
    for (int d = 0; d < a->ndim; d++) {
        int64_t entry = 0;
        for (int r = 0; r < n->u->k->ngrid; r++) entry += a->dim[d].step[r] * tile[r];
        lo[d] = at[d] = a->dim[d].lo[entry], hi[d] = a->dim[d].hi[entry];
    }
    for (int d = 0; d >= 0;) {
        uint64_t cell = 0;
        double bytes = 1;
        for (d = 0; d < a->ndim; d++) {
            cell = cell * (uint64_t)g->pieces[d] + (uint64_t)at[d];
            bytes *= g->length[d][at[d]];
        }
        n->t.asked += bytes;
        if (g->shared)
            cell_touch(n, chiplet, n->first[a->group] + cell, bytes, a->write);
        else
            bytes_come(n, chiplet, bytes);
        for (d = a->ndim - 1; d >= 0 && ++at[d] == hi[d]; d--) at[d] = lo[d];
    }
}

/* The slot of the chiplet that is free first takes the task. */
static void slot_take(double *free_at, int64_t slots, double weight) {
    int64_t first = 0;
    for (int64_t s = 1; s < slots; s++)
        if (free_at[s] < free_at[first]) first = s;
    free_at[first] += weight;
}

static double balance_of(const double *free_at, int64_t n) {
    double sum = 0, most = 0;
    for (int64_t i = 0; i < n; i++) sum += free_at[i], most = free_at[i] > most ? free_at[i] : most;
    return sum > 0 ? most * (double)n / sum : 1;
}

static void wave_end(Count *n) {
    double come = 0;
    for (int x = 0; x < n->m->chiplets; x++) come += n->come[x];
    n->t.held += (come - n->begun) / n->m->chiplets;
    n->begun = come;
    n->waves++;
    n->wave++;
}

static void tasks_count(Count *n, const Order *o, int64_t tasks) {
    const int64_t at_once = n->m->slots * n->m->chiplets;
    double *free_at = ARENA_ARRAY(n->arena, double, (size_t)at_once);
    int64_t tile[MAX_RANGES];
    for (int64_t g = 0; g < tasks; g++) {
        const int chiplet = (int)(g % n->m->chiplets);
        order_place(o, n->u->tiles, n->u->k->ngrid, order_deal(o, g, n->u->tasks), tile);
        for (int i = 0; i < n->u->access.n; i++) box_touch(n, chiplet, &n->u->access.p[i], tile);
        if (n->u->weight) slot_take(free_at + chiplet * n->m->slots, n->m->slots, n->u->weight[tile[n->u->heavy]]);
        if (g % at_once == at_once - 1 || g == tasks - 1) wave_end(n);
    }
    n->t.balance = n->u->weight ? balance_of(free_at, at_once) : 1;
}

/* Pieces that a task touches of places that others touch too. */
static int64_t touches_of(const Reuse *u) {
    int64_t n = 1;
    for (int i = 0; i < u->access.n; i++) {
        const ReuseAccess *a = &u->access.p[i];
        int64_t pieces = u->group.p[a->group].shared;
        for (int d = 0; d < a->ndim; d++) pieces *= a->dim[d].hi[a->dim[d].n / 2] - a->dim[d].lo[a->dim[d].n / 2];
        n += pieces;
    }
    return n;
}

static int64_t tasks_to_count(const Reuse *u, int64_t at_once) {
    const int64_t few = MOST_TOUCHES / touches_of(u), waves = (few < MOST_TASKS ? few : MOST_TASKS) / at_once;
    const int64_t most = (waves > 2 ? waves : 2) * at_once;
    return u->tasks < most ? u->tasks : most;
}

Traffic traffic_of(const Reuse *u, const RemapMachine *m, const Order *o, TrafficRoom *room) {
    const int64_t tasks = tasks_to_count(u, m->slots * m->chiplets);
    Count n = {.u = u, .m = m, .room = room, .arena = room->near.arena};
    uint64_t first = 0;
    n.come = ARENA_ARRAY(n.arena, double, (size_t)m->chiplets);
    n.first = ARENA_ARRAY(n.arena, uint64_t, u->group.n + 1);
    cells_clear(&room->near);
    cells_clear(&room->far);
    for (int g = 0; g < u->group.n; g++) {
        uint64_t cells = 1;
        for (int d = 0; d < u->group.p[g].ndim; d++) cells *= (uint64_t)u->group.p[g].pieces[d];
        n.first[g] = first, first += cells;
    }
    tasks_count(&n, o, tasks);
    const double more = (double)u->tasks / (double)tasks;
    n.t.asked *= more, n.t.fetched *= more, n.t.memory *= more;
    n.t.held /= n.waves;
    n.t.seconds = n.t.fetched / m->last_rate + n.t.memory / m->rate;
    return n.t;
}
