/* reuse.c: the places that each task of a kernel touches, from its accesses.
   Takes: a kernel. Gives: for each access and dimension an interval of pieces, by the tiles that it follows. */
#include "passes/remap/reuse.h"
#include "passes/proof/eval.h"

#include <stdlib.h>
#include <string.h>

/* Entries of a table of places, pieces of a box along a dimension, and depth of an expression; chosen for the time that
   they take: no measurement is recorded. */
enum { MOST_ENTRIES = 1 << 16, MOST_PIECES = 12, DEPTH = 24 };

typedef struct {
    const Module *m;
    const Kernel *k;
    Arena *arena;
    Env env;
    Reuse reuse;
} Walk;

/* ---- which tiles a place follows ---- */

static uint32_t value_follows(const Kernel *k, const Value *v, int depth);

/* A range of the grid itself; of a loop, what its bounds follow. */
static uint32_t range_follows(const Kernel *k, int range, int depth) {
    const Range *r = &k->range.p[range];
    const Op *loop = r->grid ? NULL : kernel_loop(k, range);
    if (r->grid) return (r->kind == RANGE_WHOLE ? 0 : UINT32_C(1) << range) | (r->owner >= 0 ? UINT32_C(1) << r->owner : 0);
    return loop && depth ? value_follows(k, loop->arg.p[0], depth - 1) | value_follows(k, loop->arg.p[1], depth - 1) : 0;
}

static uint32_t value_follows(const Kernel *k, const Value *v, int depth) {
    uint32_t set = 0;
    if (!v->def || !depth) return 0;
    if (op_attributes(v->def->kind) & HAS_RANGE) set |= range_follows(k, v->def->range, depth - 1);
    for (int i = 0; i < v->def->arg.n; i++) set |= value_follows(k, v->def->arg.p[i], depth - 1);
    return set;
}

static uint32_t affine_ranges(const Kernel *k, const Affine *a) {
    uint32_t set = 0;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_POS || t->kind == TERM_INDEX || t->kind == TERM_BLOCK) set |= range_follows(k, t->id, DEPTH);
        if (t->kind == TERM_VALUE) set |= value_follows(k, t->value, DEPTH);
    }
    return set;
}

/* ---- intervals ---- */

/* All iterations of the loops around. */
static void loops_enter(Walk *w, const Op *at) {
    const Op *around[DEPTH];
    int n = 0;
    for (const Op *up = at->in->parent; up && n < DEPTH; up = up->in->parent)
        if (up->kind == OP_FOR) around[n++] = up;
    while (n-- > 0) {
        const Op *loop = around[n];
        w->env.budget = 512;
        const Interval lo = env_value(&w->env, loop->arg.p[0]);
        w->env.budget = 512;
        env_whole(&w->env, loop->range, lo, env_value(&w->env, loop->arg.p[1]));
    }
}

/* Of the dimension; the last one in lines. false: not known. */
static bool place_of(Walk *w, const Op *op, int d, Interval *at) {
    const Param *p = &w->k->param.p[op->param];
    const int64_t n = size_bound(w->m, p->dim[d]), bits = elem_bits(p->elem);
    w->env.budget = 512;
    *at = env_affine(&w->env, &op->sub.p[d].lo);
    if (at->lo <= -UNBOUNDED || at->hi >= UNBOUNDED) return false;
    at->lo = at->lo < 0 ? 0 : at->lo;
    at->hi = at->hi >= n ? n - 1 : at->hi;
    if (at->hi < at->lo) at->lo = at->hi = 0;
    if (d == p->ndim - 1) at->lo = at->lo * bits / 8 / LINE, at->hi = at->hi * bits / 8 / LINE;
    return true;
}

/* The table of a dimension: first and past the last place. */
static bool dim_fill(Walk *w, const Op *op, int d, ReuseDim *to) {
    const uint32_t set = affine_ranges(w->k, &op->sub.p[d].lo);
    to->n = 1;
    for (int r = w->k->ngrid - 1; r >= 0; r--) {
        if (!(set >> r & 1)) continue;
        to->step[r] = to->n;
        to->n *= w->reuse.tiles[r];
        if (to->n > MOST_ENTRIES) return false;
    }
    to->lo = ARENA_ARRAY(w->arena, int32_t, (size_t)to->n);
    to->hi = ARENA_ARRAY(w->arena, int32_t, (size_t)to->n);
    for (int64_t i = 0; i < to->n; i++) {
        Interval at;
        for (int r = 0; r < w->k->ngrid; r++) env_grid(&w->env, r, to->step[r] ? i / to->step[r] % w->reuse.tiles[r] : 0);
        loops_enter(w, op);
        if (!place_of(w, op, d, &at) || at.hi >= INT32_MAX) return false;
        to->lo[i] = (int32_t)at.lo, to->hi[i] = (int32_t)at.hi + 1;
    }
    return true;
}

static void access_add(Walk *w, const Op *op) {
    const Param *p = &w->k->param.p[op->param];
    ReuseAccess a = {.group = op->param, .write = op->kind == OP_STORE, .ndim = p->ndim};
    if (p->ndim == 0) return;
    for (int d = 0; d < p->ndim; d++)
        if (!dim_fill(w, op, d, &a.dim[d])) {
            w->reuse.unknown++;
            return;
        }
    vec_push(w->arena, &w->reuse.access, a);
}

/* ---- pieces ---- */

static int by_number(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int32_t cut_at(const int32_t *cut, int32_t n, int32_t place) {
    int32_t lo = 0;
    while (n > 1) {
        const int32_t half = n / 2;
        if (cut[lo + half] <= place) lo += half, n -= half;
        else n = half;
    }
    return lo;
}

/* Where accesses of the group begin or end, ascending; their number. */
static int32_t cuts_find(Walk *w, int group, int d, int32_t **to) {
    int64_t n = 0;
    for (int i = 0; i < w->reuse.access.n; i++)
        if (w->reuse.access.p[i].group == group) n += 2 * w->reuse.access.p[i].dim[d].n;
    int32_t *cut = *to = ARENA_ARRAY(w->arena, int32_t, (size_t)n + 2), found = 0;
    n = 0;
    for (int i = 0; i < w->reuse.access.n; i++) {
        const ReuseDim *x = &w->reuse.access.p[i].dim[d];
        if (w->reuse.access.p[i].group != group) continue;
        memcpy(cut + n, x->lo, sizeof *cut * (size_t)x->n), n += x->n;
        memcpy(cut + n, x->hi, sizeof *cut * (size_t)x->n), n += x->n;
    }
    qsort(cut, (size_t)n, sizeof *cut, by_number);
    for (int64_t i = 0; i < n; i++)
        if (!found || cut[found - 1] != cut[i]) cut[found++] = cut[i];
    return found;
}

static int32_t pieces_most(const ReuseDim *x) {
    int32_t most = 0;
    for (int64_t i = 0; i < x->n; i++) most = x->hi[i] - x->lo[i] > most ? x->hi[i] - x->lo[i] : most;
    return most;
}

/* Places become numbers of pieces. Where an access has many, as where causal loops end, all of them are one piece. */
static void dim_cut(Walk *w, int group, int d) {
    int32_t *cut, n = cuts_find(w, group, d, &cut), most = 0;
    ReuseGroup *g = &w->reuse.group.p[group];
    for (int i = 0; i < w->reuse.access.n; i++) {
        ReuseDim *x = &w->reuse.access.p[i].dim[d];
        if (w->reuse.access.p[i].group != group) continue;
        for (int64_t e = 0; e < x->n; e++) x->lo[e] = cut_at(cut, n, x->lo[e]), x->hi[e] = cut_at(cut, n, x->hi[e]);
        most = pieces_most(x) > most ? pieces_most(x) : most;
    }
    g->pieces[d] = n < 2 || most > MOST_PIECES ? 1 : n - 1;
    g->length[d] = ARENA_ARRAY(w->arena, double, (size_t)n + 1);
    const double unit = d == g->ndim - 1 ? LINE : 1;
    for (int i = 0; i < n - 1; i++) g->length[d][i] = unit * (cut[i + 1] - cut[i]);
    if (most <= MOST_PIECES) return;
    g->length[d][0] = unit * (cut[n - 1] - cut[0]);
    for (int i = 0; i < w->reuse.access.n; i++) {
        ReuseDim *x = &w->reuse.access.p[i].dim[d];
        if (w->reuse.access.p[i].group != group) continue;
        for (int64_t e = 0; e < x->n; e++) x->lo[e] = 0, x->hi[e] = 1;
    }
}

/* ---- accesses that touch nearly the same ---- */

/* They follow the same tiles, and where the first task reads, one reads at most a piece more than the other. */
static bool is_near(const ReuseAccess *a, const ReuseAccess *b) {
    if (a->group != b->group || a->write != b->write) return false;
    for (int d = 0; d < a->ndim; d++) {
        const ReuseDim *x = &a->dim[d], *y = &b->dim[d];
        if (x->n != y->n || memcmp(x->step, y->step, sizeof x->step) != 0) return false;
        const int64_t middle = x->n / 2;
        if (x->lo[middle] > y->hi[middle] || y->lo[middle] > x->hi[middle]) return false;
    }
    return true;
}

/* Both as one: for a stencil the tile and what is around it. */
static void accesses_join(ReuseAccess *to, const ReuseAccess *from) {
    for (int d = 0; d < to->ndim; d++)
        for (int64_t e = 0; e < to->dim[d].n; e++) {
            ReuseDim *x = &to->dim[d];
            const ReuseDim *y = &from->dim[d];
            x->lo[e] = y->lo[e] < x->lo[e] ? y->lo[e] : x->lo[e];
            x->hi[e] = y->hi[e] > x->hi[e] ? y->hi[e] : x->hi[e];
        }
}

static void near_join(Walk *w) {
    int n = 0;
    for (int i = 0; i < w->reuse.access.n; i++) {
        const ReuseAccess a = w->reuse.access.p[i];
        int at = 0;
        while (at < n && !is_near(&w->reuse.access.p[at], &a)) at++;
        if (at < n) accesses_join(&w->reuse.access.p[at], &a);
        else w->reuse.access.p[n++] = a;
    }
    w->reuse.access.n = n;
}

/* ---- tasks that take longer than others ---- */

/* Steps that the loop of the body takes where the range is at a tile. */
static double trips_at(Walk *w, const Op *loop, int range, int64_t tile) {
    for (int r = 0; r < w->k->ngrid; r++) env_grid(&w->env, r, r == range ? tile : 0);
    loops_enter(w, loop);
    w->env.budget = 512;
    const Interval lo = env_value(&w->env, loop->arg.p[0]);
    w->env.budget = 512;
    const Interval hi = env_value(&w->env, loop->arg.p[1]);
    return lo.lo <= -UNBOUNDED || hi.hi >= UNBOUNDED || hi.hi < lo.lo ? 0 : (double)(hi.hi - lo.lo);
}

/* A loop whose steps follow one range of the grid. */
static void weights_find(Walk *w) {
    for (const Op *op = walk(w->k->body); op; op = walk_next(op, w->k->body)) {
        if (op->kind != OP_FOR) continue;
        const uint32_t set = value_follows(w->k, op->arg.p[0], DEPTH) | value_follows(w->k, op->arg.p[1], DEPTH);
        if (!set || set & (set - 1)) continue;
        w->reuse.heavy = __builtin_ctz(set);
        const int64_t n = w->reuse.tiles[w->reuse.heavy];
        double *weight = ARENA_ARRAY(w->arena, double, (size_t)n);
        bool differ = false;
        for (int64_t t = 0; t < n; t++) weight[t] = trips_at(w, op, w->reuse.heavy, t), differ |= weight[t] != weight[0];
        if (differ) w->reuse.weight = weight;
        if (differ) return;
    }
}

/* The place of one access at a tile along the range, and of another at a later tile: do they meet, others alike? */
static bool dim_meets(const ReuseDim *x, const ReuseDim *y, int range, int64_t tile, int64_t later) {
    const int64_t at = x->step[range] * tile, next = y->step[range] * later;
    return x->lo[at] < y->hi[next] && y->lo[next] < x->hi[at];
}

static bool tiles_meet(const ReuseAccess *a, const ReuseAccess *b, int range, int64_t tile, int64_t later) {
    for (int d = 0; d < a->ndim; d++)
        if (!dim_meets(&a->dim[d], &b->dim[d], range, tile, later)) return false;
    return true;
}

/* Tiles beside each other, or the first one and a later one: remainders of positions repeat. */
static bool accesses_meet(const Reuse *u, const ReuseAccess *a, const ReuseAccess *b, int range) {
    enum { FEW = 8 }; /* tiles that are looked at: quotients of positions repeat */
    for (int64_t tile = 0; tile < FEW && tile + 1 < u->tiles[range]; tile++)
        if (tiles_meet(a, b, range, tile, tile + 1) || tiles_meet(a, b, range, 0, tile + 1)) return true;
    return false;
}

static bool group_is_shared(const Reuse *u, int group) {
    for (int i = 0; i < u->access.n; i++)
        for (int j = 0; j < u->access.n && u->access.p[i].group == group; j++)
            for (int r = 0; r < u->k->ngrid && u->access.p[j].group == group; r++)
                if (accesses_meet(u, &u->access.p[i], &u->access.p[j], r)) return true;
    return false;
}

Reuse reuse_of(const Module *m, const Kernel *k, Arena *arena) {
    static const int origin[MAX_AXES];
    int64_t *bound = ARENA_ARRAY(arena, int64_t, m->symbol.n + 1);
    for (int i = 0; i < m->symbol.n; i++) bound[i] = m->symbol.p[i].bound;
    Walk w = {.m = m, .k = k, .arena = arena};
    w.env = (Env){.m = m, .k = k, .sym = bound, .coord = origin, .at = ARENA_ARRAY(arena, RangeAt, k->range.n + 1)};
    w.reuse = (Reuse){.k = k, .tasks = 1};
    for (int r = 0; r < k->ngrid; r++) w.reuse.tasks *= w.reuse.tiles[r] = range_tiles(m, k, r, bound);
    for (int i = 0; i < k->param.n; i++) vec_push(arena, &w.reuse.group, ((ReuseGroup){.ndim = k->param.p[i].ndim}));
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_LOAD || op->kind == OP_STORE) access_add(&w, op);
    for (int i = 0; i < k->param.n; i++)
        for (int d = 0; d < k->param.p[i].ndim; d++) dim_cut(&w, i, d);
    near_join(&w);
    for (int g = 0; g < w.reuse.group.n; g++) w.reuse.group.p[g].shared = group_is_shared(&w.reuse, g);
    if (reuse_shares(&w.reuse)) weights_find(&w);
    return w.reuse;
}

bool reuse_shares(const Reuse *u) {
    for (int g = 0; g < u->group.n; g++)
        if (u->group.p[g].shared) return true;
    return false;
}
