/* occupancy.c: a grid with fewer tasks than the machine has processors leaves some of them idle. Where tile sizes
   are the compiler's to choose and tasks share no work, they are halved. Takes: value form. Gives: the same results. */
#include "passes/layout/layout.h"

/* Positions: an edge of a matrix instruction; the deepest tile that is tried; chosen: no measurement is recorded. */
enum { NARROWEST = 16, DEEPEST = 256 };

static const char PROCESSORS[] = "more processors work";

/* Tasks that read what others have made, or sum into one place. */
static bool tasks_meet(const Kernel *k, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op->kind == OP_LOAD && (k->param.p[op->param].out || k->param.p[op->param].inout)) return true;
        if (op->kind == OP_STORE && op->mode != STORE_SET) return true;
    }
    return false;
}

static bool has_loop(const Region *r) {
    for (const Op *op = r->first; op; op = op->next)
        if (op_info[op->kind].class == CLASS_CONTROL) return true;
    return false;
}

static bool is_alone(const Lay *l) { return mesh_ranks(l->m) == 1; }

/* Products read the same operands in each task; the words of flags count tiles: on a mesh a loop may wait for each. */
static bool tasks_share(const Lay *l) {
    const Region *body = l->k->body;
    return region_has_dot(body) || region_synchronises(body) || tasks_meet(l->k, body) ||
           (has_loop(body) && !is_alone(l));
}

static bool has_prefix(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op_info[op->kind].class == CLASS_PREFIX) return true;
    return false;
}

static int64_t largest_tile(const Lay *l, const Region *r) {
    int64_t most = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->res.n; i++) {
            int64_t n = lay_elements(l, op->res.p[i]->type);
            most = n > most ? n : most;
        }
    return most;
}

static bool rows_along(const Lay *l, const Region *r, int range) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        bool access = op->kind == OP_LOAD || op->kind == OP_STORE;
        if (access && l->k->param.p[op->param].ndim > 1 && lay_fastest(l->k, op) == range) return true;
    }
    return false;
}

/* The outermost range that has more than one position a tile. */
static int range_to_halve(const Lay *l, bool whole_rows) {
    for (int i = 0; i < l->k->ngrid; i++) {
        const Range *r = &l->k->range.p[i];
        if (r->kind != RANGE_TILE || !r->tunable || r->size <= 1 || kernel_needs_size(l->k, i)) continue;
        if (!whole_rows || !rows_along(l, l->k->body, i)) return i;
    }
    return -1;
}

/* ---- products with few tasks that `split` has not cut: narrower tiles, deeper steps ---- */

/* A product whose sums lack the range would be made again in each of its tiles. */
static bool products_have(const Region *r, int range) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_DOT && !type_has(op->res.p[0]->type, range)) return false;
    return true;
}

/* The widest tile. */
static int range_to_narrow(const Lay *l) {
    int best = -1;
    for (int i = 0; i < l->k->ngrid; i++) {
        const Range *r = &l->k->range.p[i];
        bool may = r->kind == RANGE_TILE && r->tunable && r->size <= l->extent[i] && l->extent[i] >= 2 * NARROWEST;
        if (!may || kernel_needs_size(l->k, i) || !products_have(l->k->body, i)) continue;
        if (best < 0 || l->extent[i] >= l->extent[best]) best = i;
    }
    return best;
}

/* The loop of a sum of products, whose steps may be others; NULL: it has none. */
static const Op *loop_of_sum(const Lay *l, const Op *op) {
    if (op->kind != OP_DOT || op->nover != 1) return NULL;
    const Op *loop = op->in->parent;
    const Range *r = &l->k->range.p[op->over[0]];
    bool may = r->kind == RANGE_TILE && r->tunable && !kernel_needs_size(l->k, op->over[0]);
    return may && loop && loop->kind == OP_FOR && loop->range == op->over[0] ? loop : NULL;
}

static void deepen(Lay *l, Op *op) {
    const Op *loop = loop_of_sum(l, op);
    int64_t most = loop ? value_most(l->m, l->k, loop->arg.p[1]) : 0;
    Range *r = loop ? &l->k->range.p[loop->range] : NULL;
    while (r && r->size < DEEPEST && r->size < most) {
        r->size *= 2;
        lay_measure(l);
        if (lay_step_fits(l, op->in)) continue;
        r->size /= 2;
        lay_measure(l);
        return;
    }
}

static void narrow(Lay *l) {
    const int64_t half = (l->target->processors + 1) / 2;
    bool narrowed = false;
    for (int range; lay_tasks(l, half) < half && (range = range_to_narrow(l)) >= 0; narrowed = true)
        lay_halve(l, range, PROCESSORS);
    if (narrowed) lay_each(l, l->k->body, deepen);
}

static void spread(Lay *l, int64_t wanted, bool whole_rows) {
    const int64_t least_tile = 4 * (int64_t)l->target->wave; /* a few elements a lane */
    int range;
    while (lay_tasks(l, wanted) < wanted && largest_tile(l, l->k->body) >= 2 * least_tile &&
           (range = range_to_halve(l, whole_rows)) >= 0)
        lay_halve(l, range, PROCESSORS);
}

/* A task of prefixes is at barriers for most of its time: several of them a processor. A loop over narrow pieces of
   rows would read a sector of memory for each few of its bytes. */
void lay_occupancy(Lay *l) {
    const Region *body = l->k->body;
    const int64_t processors = l->target->processors;
    if (l->k->level != LEVEL_GROUP || l->k->plan.cut) return;
    if (region_has_dot(body) && !l->k->plan.sized && is_alone(l)) narrow(l);
    if (tasks_share(l)) return;
    spread(l, processors, has_loop(body));
    if (has_prefix(body)) spread(l, 4 * processors, true);
}
