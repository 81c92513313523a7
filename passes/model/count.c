/* count.c: counts what a kernel computes and moves, in all its tasks. For a GPU kernel in the form `layout`, also
   counts what one task waits for.
   Takes: a node, values of the run-time sizes. Gives: counts. */
#include "passes/model/count.h"

#include <math.h>

/* ---- how often ---- */

static double grid_length(const Count *c, int range) {
    const Range *r = &c->k->range.p[range];
    double n = (double)size_block(c->m, r->of, c->sym);
    return n > 0 ? n : 0;
}

/* Ends and beginnings of tiles: as they are in the middle. NAN: not known. */
static double value_number(const Count *c, const Value *v) {
    const Op *d = v->def;
    if (!d) return NAN;
    double x = d->arg.n > 0 ? value_number(c, d->arg.p[0]) : 0, y = d->arg.n > 1 ? value_number(c, d->arg.p[1]) : 0;
    double half = op_info[d->kind].class == CLASS_INDEX && (d->kind == OP_BEGIN || d->kind == OP_END)
                      ? (double)c->k->range.p[d->range].size / 2
                      : 0;
    switch (d->kind) {
    case OP_CONST: return (double)d->imm;
    case OP_SIZE: return (double)size_block(c->m, d->size, c->sym);
    case OP_BEGIN: return fmax(c->length[d->range] / 2 - half, 0);
    case OP_END: return fmin(c->length[d->range] / 2 + half, c->length[d->range]);
    case OP_POS: return fmax(c->length[d->range] - 1, 0) / 2;
    case OP_CAST: return x;
    case OP_ADD: return x + y;
    case OP_SUB: return x - y;
    case OP_MUL: return x * y;
    case OP_DIV: return y ? floor(x / y) : NAN;
    case OP_MIN: return isnan(x) ? y : isnan(y) ? x : fmin(x, y);
    case OP_MAX: return isnan(x) || isnan(y) ? NAN : fmax(x, y);
    case OP_LOAD: return c->loaded;
    default: return NAN;
    }
}

/* Positions that subscripts `range / div` can look up in a dimension; NAN: there are none. */
static double looked_up(const Count *c, const Region *r, int range) {
    double n = NAN;
    for (const Op *op = r ? r->first : NULL; op; op = op->next)
        for (int d = 0; op->kind == OP_LOAD && d < op->sub.n; d++) {
            const Affine *a = &op->sub.p[d].lo;
            const Term *t = &a->term[0];
            if (a->nterm == 1 && t->kind == TERM_POS && t->id == range && t->mul == 1)
                n = fmin(n, (double)size_block(c->m, c->k->param.p[op->param].dim[d], c->sym) * (double)t->div);
        }
    return n;
}

/* Of a loop that ends where data says: as if that were the end of what it looks up, else one tile. */
static double unknown_length(Count *c, const Op *loop, double tile) {
    c->loaded = looked_up(c, loop->region[0], loop->range);
    double n = value_number(c, loop->arg.p[1]) - value_number(c, loop->arg.p[0]);
    n = fmin(n, c->loaded);
    c->loaded = NAN;
    return n > 0 ? n : tile;
}

static void loop_lengths(Count *c, const Op *loop) {
    const Range *r = &c->k->range.p[loop->range];
    double n = value_number(c, loop->arg.p[1]) - value_number(c, loop->arg.p[0]);
    double tile = r->size > 0 ? (double)r->size : 1;
    if (isnan(n)) n = unknown_length(c, loop, tile);
    c->length[loop->range] = fmax(n, 0);
    c->trips[loop->range] = r->kind == RANGE_WHOLE ? 1 : ceil(fmax(n, 0) / tile);
}

/* ---- what is computed ---- */

/* In additions of the same number of elements. */
static double op_weight(const Op *op) {
    OpClass class = op_info[op->kind].class;
    bool free = class == CLASS_CONST || class == CLASS_INDEX || class == CLASS_BROADCAST || op->kind == OP_LOAD;
    return free ? 0 : op_cost(op->kind).host;
}

/* Ranges of one operand alone with more than one position a tile: with none, that side is a single row. */
static bool has_own_range(const Count *c, Type own, Type other) {
    for (int i = 0; i < own.nrange; i++)
        if (!type_has(other, own.range[i]) && c->length[own.range[i]] > 1) return true;
    return false;
}

static double type_bytes(const Count *c, Type t) { return count_elements(c, t) * elem_value_bits(t.elem) / 8; }

/* What a product takes is read and written once a step, and so are its sums; a single row is used where it lies. */
static void count_dot(Count *c, const Op *op) {
    Type x = op->arg.p[0]->type, y = op->arg.p[1]->type;
    double flops = 2 * count_elements(c, type_union(x, y));
    bool product = has_own_range(c, x, y) && has_own_range(c, y, x);
    *(product ? &c->cost.dot : &c->cost.row) += flops;
    if (product) c->cost.staged += 2 * (type_bytes(c, x) + type_bytes(c, y) + type_bytes(c, op->res.p[0]->type));
}

static void count_region(Count *c, const Region *r);

static void count_loop(Count *c, const Op *loop) {
    loop_lengths(c, loop);
    vec_push(c->arena, &c->open, loop->range);
    count_region(c, loop->region[0]);
    c->open.n--;
}

static double ranks_of(const Count *c, const Param *p) { return (double)c->m->axis.p[p->ranks].ranks; }

static bool is_own(const Param *p, const Op *access) {
    const Affine own = affine_term(TERM_RANK, p->ranks, 1, 1);
    return affine_equal(&access->sub.p[0].lo, &own);
}

/* Ranks that are not known to be the own one are each of them equally often. */
static void count_touched(Count *c, const Op *op, double n) {
    const Param *p = &c->k->param.p[op->param];
    c->touched[op->param] += n;
    if (p->ranks >= 0 && !is_own(p, op)) c->far[op->param] += n * (1 - 1 / ranks_of(c, p));
}

/* floor(begin / block) = rank: of the tasks, those whose tile is the rank's own. 0: another condition. */
static double share_of_own(const Count *c, const Op *branch) {
    const Op *eq = branch->arg.p[0]->def, *owner = eq && eq->kind == OP_EQ ? eq->arg.p[0]->def : NULL,
             *rank = owner ? eq->arg.p[1]->def : NULL;
    const bool own = rank && rank->kind == OP_RANK && owner->kind == OP_DIV;
    return own ? 1 / (double)c->m->axis.p[rank->axis].ranks : 0;
}

static void count_branch(Count *c, const Op *op) {
    const double part = c->part, own = share_of_own(c, op);
    if (own > 0) c->part = part * own;
    count_region(c, op->region[0]);
    if (own > 0) c->part = part * (1 - own);
    count_region(c, op->region[1]);
    c->part = part;
}

static void count_op(Count *c, const Op *op) {
    if (c->machine) count_on_gpu(c, op);
    if (op->kind == OP_FOR) {
        count_loop(c, op);
    } else if (op->kind == OP_DOT) {
        count_dot(c, op);
    } else if (op->kind == OP_IF) {
        count_branch(c, op);
    } else if (op->arg.n || op->kind == OP_LOAD) {
        const Value *v = op->arg.n ? op->arg.p[0] : op->res.p[0];
        Type t = op->res.n ? type_union(op->res.p[0]->type, v->type) : v->type;
        if (t.nrange) c->cost.ops += op_weight(op) * count_elements(c, t);
        if (op->kind == OP_LOAD || op->kind == OP_STORE) count_touched(c, op, count_elements(c, t));
    }
}

static void count_region(Count *c, const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) count_op(c, op);
}

/* ---- what is moved ---- */

static double param_elements(const Count *c, const Param *p) {
    double n = 1;
    for (int d = 0; d < p->ndim; d++) n *= (double)size_block(c->m, p->dim[d], c->sym);
    return n;
}

enum { PACKET = 8 /* bytes of an element beside the number of its run */ };

/* Each element once: what tasks share comes from a cache. */
static void count_bytes(Count *c) {
    for (int i = 0; i < c->k->param.n; i++) {
        const Param *p = &c->k->param.p[i];
        double bytes = fmin(param_elements(c, p), c->touched[i]) * (p->packet ? PACKET : elem_bits(p->elem) / 8.0);
        double far = c->touched[i] > 0 ? bytes * c->far[i] / c->touched[i] : 0;
        c->cost.linked += far;
        c->cost.bytes += bytes - far;
        if (!p->out) c->cost.gpu.read += bytes;
    }
}

static void count_tasks(Count *c, int range) {
    const Range *r = &c->k->range.p[range];
    double n = c->length[range] = grid_length(c, range);
    double tiles = c->trips[range] = r->kind == RANGE_WHOLE ? 1 : (double)range_tiles(c->m, c->k, range, c->sym);
    double size = r->kind == RANGE_WHOLE || (double)r->size > n ? n : (double)r->size;
    c->cost.tasks *= tiles;
    c->cost.whole *= size > 0 ? floor(n / size) : tiles;
    c->cost.share *= size > 0 ? size / n : 1;
}

NodeCost model_node(Arena *a, const TargetFacts *f, const Module *m, const Node *n, const int64_t *sym) {
    const Kernel *k = n->kernel;
    Count c = {.m = m, .k = k, .sym = sym, .arena = a, .loaded = NAN, .machine = matrix_target(f->name)};
    c.trips = ARENA_ARRAY(a, double, k->range.n + 1);
    c.length = ARENA_ARRAY(a, double, k->range.n + 1);
    c.touched = ARENA_ARRAY(a, double, k->param.n + 1);
    c.far = ARENA_ARRAY(a, double, k->param.n + 1);
    c.part = 1;
    c.once = ARENA_ARRAY(a, double, k->param.n + 1);
    c.cost.tasks = c.cost.whole = c.cost.share = 1;
    for (int i = 0; i < k->ngrid; i++) count_tasks(&c, i);
    c.cost.kernel = k;
    count_region(&c, k->body);
    count_bytes(&c);
    return c.cost;
}
