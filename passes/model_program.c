/* model_program.c: the time of a program, predicted from what its kernels compute and move.
   A node starts when those that it depends on are done: that tiles of the two may overlap is not seen. */
#include "passes/model.h"

#include <math.h>

typedef struct {
    const Module *m;
    const Kernel *k;
    const int64_t *sym;
    double *trips, *length; /* by range: iterations or tasks, and positions, along it */
    double *touched;        /* by parameter: elements that are loaded or stored */
    VEC(int) open;          /* ranges of the loops around */
    Arena *arena;
    NodeCost cost;
} Count;

/* ---- how often ---- */

static double range_steps(const Count *c, int range, bool positions) {
    double n = positions ? c->length[range] : c->trips[range];
    return n > 0 ? n : 0;
}

/* Elements of all tiles of a type, over the grid and the loops around. */
static double elements(const Count *c, Type t) {
    double n = 1;
    for (int i = 0; i < c->k->ngrid; i++) n *= range_steps(c, i, type_has(t, i));
    for (int i = 0; i < c->open.n; i++) n *= range_steps(c, c->open.p[i], type_has(t, c->open.p[i]));
    return n;
}

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
    case OP_POS: return c->length[d->range] / 2;
    case OP_CAST: return x;
    case OP_ADD: return x + y;
    case OP_SUB: return x - y;
    case OP_MUL: return x * y;
    case OP_DIV: return y ? floor(x / y) : NAN;
    case OP_MIN: return isnan(x) ? y : isnan(y) ? x : fmin(x, y);
    case OP_MAX: return fmax(x, y);
    default: return NAN;
    }
}

/* A loop whose bounds depend on data is taken for one tile. */
static void loop_lengths(Count *c, const Op *loop) {
    const Range *r = &c->k->range.p[loop->range];
    double n = value_number(c, loop->arg.p[1]) - value_number(c, loop->arg.p[0]);
    double tile = r->size > 0 ? (double)r->size : 1;
    if (isnan(n)) n = tile;
    c->length[loop->range] = fmax(n, 0);
    c->trips[loop->range] = r->kind == RANGE_WHOLE ? 1 : ceil(fmax(n, 0) / tile);
}

/* ---- what is computed ---- */

/* In additions of the same number of elements. */
static double op_weight(const Op *op) {
    switch (op->kind) {
    case OP_CONST:
    case OP_POS:
    case OP_BROADCAST:
    case OP_LOAD: return 0;
    case OP_EXP:
    case OP_EXP2:
    case OP_LOG:
    case OP_LOG2:
    case OP_TANH: return 64;
    case OP_SIN:
    case OP_COS:
    case OP_ERF:
    case OP_POW: return 600;
    case OP_DIV:
    case OP_MOD:
    case OP_SQRT:
    case OP_RSQRT: return 16;
    default: return op_info[op->kind].class == CLASS_INDEX ? 0 : 1;
    }
}

/* Ranges of one operand alone with more than one position a tile: with none, that side is a single row. */
static bool has_own_range(const Count *c, Type own, Type other) {
    for (int i = 0; i < own.nrange; i++)
        if (!type_has(other, own.range[i]) && c->length[own.range[i]] > 1) return true;
    return false;
}

static double type_bytes(const Count *c, Type t) { return elements(c, t) * elem_value_bits(t.elem) / 8; }

/* What a product takes is read and written once a step, and so are its sums; a single row is used where it lies. */
static void count_dot(Count *c, const Op *op) {
    Type x = op->arg.p[0]->type, y = op->arg.p[1]->type;
    double flops = 2 * elements(c, type_union(x, y));
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

static void count_op(Count *c, const Op *op) {
    if (op->kind == OP_FOR) {
        count_loop(c, op);
    } else if (op->kind == OP_DOT) {
        count_dot(c, op);
    } else if (op->kind == OP_IF) {
        count_region(c, op->region[0]);
        count_region(c, op->region[1]);
    } else if (op->arg.n || op->kind == OP_LOAD) {
        const Value *v = op->arg.n ? op->arg.p[0] : op->res.p[0];
        Type t = op->res.n ? type_union(op->res.p[0]->type, v->type) : v->type;
        if (t.nrange) c->cost.ops += op_weight(op) * elements(c, t);
        if (op->kind == OP_LOAD || op->kind == OP_STORE) c->touched[op->param] += elements(c, t);
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

/* Each element once: what tasks share comes from a cache. */
static void count_bytes(Count *c) {
    for (int i = 0; i < c->k->param.n; i++) {
        const Param *p = &c->k->param.p[i];
        double bytes = fmin(param_elements(c, p), c->touched[i]) * elem_bits(p->elem) / 8;
        *(p->ranks >= 0 ? &c->cost.linked : &c->cost.bytes) += bytes;
    }
}

NodeCost model_node(Arena *a, const Module *m, const Node *n, const int64_t *sym) {
    const Kernel *k = n->kernel;
    Count c = {.m = m, .k = k, .sym = sym, .arena = a};
    c.trips = ARENA_ARRAY(a, double, k->range.n + 1);
    c.length = ARENA_ARRAY(a, double, k->range.n + 1);
    c.touched = ARENA_ARRAY(a, double, k->param.n + 1);
    c.cost.tasks = 1;
    for (int i = 0; i < k->ngrid; i++) {
        c.length[i] = grid_length(&c, i);
        c.trips[i] = k->range.p[i].kind == RANGE_WHOLE ? 1 : (double)range_tiles(m, k, i, sym);
        c.cost.tasks *= c.trips[i];
    }
    count_region(&c, k->body);
    count_bytes(&c);
    return c.cost;
}

/* ---- how long ---- */

double model_node_seconds(const TargetFacts *f, const NodeCost *n, double cores) {
    double compute = n->dot / f->dot + n->row / f->row + n->ops / f->ops + n->staged / f->staged;
    double moved = n->bytes / (n->bytes + n->linked > f->cache ? f->memory : f->cached) + n->linked / f->link;
    double rounds = ceil(n->tasks / fmax(cores, 1)); /* in the last one some cores may be idle */
    double at_once = fmin(cores, 1) * n->tasks / rounds;
    return fmax(compute, moved) / at_once + n->tasks * f->task / cores + (cores > 1 || n->linked > 0 ? f->flag : 0);
}

/* When the nodes that touched a tensor so far are done. */
typedef struct {
    double written, read;
} Touched;

static double node_ready(const Node *n, const Touched *t) {
    double ready = 0;
    for (int i = 0; i < n->arg.n; i++) {
        const Param *p = &n->kernel->param.p[i];
        const Touched *at = &t[n->arg.p[i].tensor];
        ready = fmax(ready, p->out || p->inout ? fmax(at->written, at->read) : at->written);
    }
    return ready;
}

static void node_done(const Node *n, Touched *t, double done) {
    for (int i = 0; i < n->arg.n; i++) {
        const Param *p = &n->kernel->param.p[i];
        Touched *at = &t[n->arg.p[i].tensor];
        if (p->out || p->inout) at->written = fmax(at->written, done);
        if (!p->out) at->read = fmax(at->read, done);
    }
}

/* The longest chain of nodes, or all work shared by the cores evenly, whichever is longer. */
double model_program(const TargetFacts *f, const Module *m, const Program *p, const int64_t *sym, double cores) {
    Arena *a = arena_new();
    Touched *touched = ARENA_ARRAY(a, Touched, p->tensor.n + 1);
    double work = 0, longest = 0;
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        if (n->kind != NODE_CALL) continue;
        NodeCost cost = model_node(a, m, n, sym);
        double done = node_ready(n, touched) + model_node_seconds(f, &cost, cores);
        node_done(n, touched, done);
        longest = fmax(longest, done);
        work += model_node_seconds(f, &cost, 1);
    }
    arena_free(a);
    return f->start + fmax(longest, work / cores);
}

/* Run-time sizes at their bounds. */
int model_workers(const TargetFacts *f, const Module *m, const Program *p) {
    Arena *a = arena_new();
    int64_t *sym = ARENA_ARRAY(a, int64_t, m->symbol.n + 1);
    for (int i = 0; i < m->symbol.n; i++) sym[i] = m->symbol.p[i].bound;
    bool alone = model_program(f, m, p, sym, 1) <= model_program(f, m, p, sym, 2);
    arena_free(a);
    return alone ? 1 : 0;
}
