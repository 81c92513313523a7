/* region.c: questions about operations that several passes ask. */
#include "ir/uses.h"

bool access_equal(const Op *a, const Op *b) {
    if (a->sub.n != b->sub.n) return false;
    for (int d = 0; d < a->sub.n; d++)
        if (!affine_equal(&a->sub.p[d].lo, &b->sub.p[d].lo)) return false;
    return true;
}

bool region_synchronises(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op_info[op->kind].class == CLASS_SYNC) return true;
    return false;
}

static bool affine_counts_tiles(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_INDEX && (range < 0 || a->term[i].id == range)) return true;
    return false;
}

bool region_counts_tiles(const Region *r, int range) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int d = 0; d < op->sub.n; d++)
            if (affine_counts_tiles(&op->sub.p[d].lo, range)) return true;
    return false;
}

bool region_has_dot(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_DOT) return true;
    return false;
}

bool region_has_access(const Region *r, int param, OpKind kind) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == kind && op->param == param) return true;
    return false;
}

/* ---- sizes that the meaning depends on ---- */

static bool affine_names(const Affine *a, int range, const bool *derived) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_INDEX && t->id == range) return true;
        if (t->value && derived[t->value->id]) return true;
    }
    return false;
}

bool op_reduces(const Op *op, int range) {
    for (int i = 0; i < op->nover; i++)
        if (op->over[i] == range) return true;
    return op_takes_positions(op->kind) && op->range == range;
}

/* A sum over a tile that goes to no other place than one where tasks and steps add up: the whole is the same. */
bool op_adds_in_memory(const Uses *u, const Op *op) {
    const Op *user;
    if (op->kind != OP_SUM && (op->kind != OP_DOT || op->arg.n > 2)) return false;
    for (const Value *v = op->res.p[0]; (user = uses_only(u, v)); v = user->res.p[0]) {
        if (user->kind == OP_STORE) return user->arg.n && user->arg.p[0] == v && (user->mode == STORE_SUM || user->mode == STORE_ADD);
        if (user->kind != OP_NEG && (user->kind != OP_CAST || !elem_is_float(user->res.p[0]->type.elem))) return false;
    }
    return false;
}

/* Marks the values of the region that are made of the range's positions. */
static void positions_mark(const Region *r, int range, bool *marked) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        bool from = op->kind == OP_POS && op->range == range;
        for (int i = 0; i < op->arg.n; i++) from |= marked[op->arg.p[i]->id];
        for (int i = 0; i < op->res.n && from; i++) marked[op->res.p[i]->id] = true;
    }
}

/* Marks where a tile of the range begins or ends, and sums, minima and maxima with it; not what is chosen by it. */
static void edges_mark(const Region *r, int range, bool *marked) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        bool from = (op->kind == OP_BEGIN || op->kind == OP_END) && op->range == range;
        bool chosen = op->kind == OP_SELECT || op_info[op->kind].class == CLASS_COMPARE;
        for (int i = 0; i < op->arg.n && !chosen; i++) from |= marked[op->arg.p[i]->id];
        for (int i = 0; i < op->res.n && from; i++) marked[op->res.p[i]->id] = true;
    }
}

/* Compares what is marked in one way with what is marked in the other. */
static bool op_compares(const Op *op, const bool *one, const bool *other) {
    if (op_info[op->kind].class != CLASS_COMPARE || op->arg.n != 2) return false;
    const int a = op->arg.p[0]->id, b = op->arg.p[1]->id;
    return (one[a] && other[b]) || (one[b] && other[a]);
}

static bool is_zero(const Value *v) {
    while (v->def && (v->def->kind == OP_BROADCAST || v->def->kind == OP_CAST)) v = v->def->arg.p[0];
    return v->def && v->def->kind == OP_CONST && (elem_is_float(v->type.elem) ? v->def->fimm == 0 : v->def->imm == 0);
}

/* What a comparison leaves out is 0 there: by a choice, as a number that is multiplied, as a power of -inf. Sums of it
   and of what is left out in another way, as by -inf, are not. */
static bool becomes_zero(const Op *op, const bool *marked, const bool *zero) {
    bool all = true, any = false;
    if (op->kind == OP_SELECT) return is_zero(op->arg.p[1]) || is_zero(op->arg.p[2]);
    if (op->kind == OP_EXP || op->kind == OP_EXP2 || op_info[op->kind].class == CLASS_COMPARE) return true;
    for (int i = 0; i < op->arg.n; i++)
        if (marked[op->arg.p[i]->id]) all &= zero[op->arg.p[i]->id], any |= zero[op->arg.p[i]->id];
    return op->kind == OP_ADD || op->kind == OP_SUB ? all : any;
}

/* It is no longer 0: something else is added, or it is the power of 0. */
static bool shows_zero(const Op *op, const bool *marked, const bool *zero) {
    const bool adds = op->kind == OP_ADD || op->kind == OP_SUB, power = op->kind == OP_EXP || op->kind == OP_EXP2;
    bool zeros = false, others = power;
    for (int i = 0; i < op->arg.n; i++) {
        zeros |= marked[op->arg.p[i]->id] && zero[op->arg.p[i]->id];
        others |= !marked[op->arg.p[i]->id];
    }
    return (adds || power) && zeros && others;
}

/* Marks such comparisons in the loop, and tiles along its range that are made of them; false: there are none. */
static bool comparisons_mark(const Op *loop, const bool *one, const bool *other, bool *zero, bool *marked) {
    bool any = false;
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0])) {
        const bool compares = op_compares(op, one, other);
        const Op *to = op->kind == OP_YIELD ? op->in->parent : op;
        bool from = compares;
        for (int i = 0; i < op->arg.n; i++) from |= marked[op->arg.p[i]->id];
        from = from && !shows_zero(op, marked, zero);
        const bool zeros = becomes_zero(op, marked, zero);
        for (int i = 0; i < to->res.n && from; i++)
            if (type_has(to->res.p[i]->type, loop->range)) marked[to->res.p[i]->id] = true, zero[to->res.p[i]->id] = zeros;
        any |= compares;
    }
    return any;
}

/* What a step reduces along the loop's range is made of such comparisons. */
static bool reductions_are_marked(const Op *loop, const bool *marked) {
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0])) {
        bool masked = !op_reduces(op, loop->range);
        for (int i = 0; i < op->arg.n; i++) masked |= marked[op->arg.p[i]->id];
        if (!masked) return false;
    }
    return true;
}

/* A loop that carries values and ends with a tile of another range, and takes in what no comparison of positions of
   both leaves out. */
static bool loop_ends_unmasked(const Kernel *k, const Op *op, int range) {
    if (op->kind != OP_FOR || op->arg.n <= 2) return false;
    Arena *a = arena_new();
    bool *edge = ARENA_ARRAY(a, bool, k->nvalue + 1), *own = ARENA_ARRAY(a, bool, k->nvalue + 1),
         *tile = ARENA_ARRAY(a, bool, k->nvalue + 1), *masked = ARENA_ARRAY(a, bool, k->nvalue + 1),
         *zero = ARENA_ARRAY(a, bool, k->nvalue + 1);
    edges_mark(k->body, range, edge);
    positions_mark(k->body, op->range, own);
    positions_mark(k->body, range, tile);
    const bool masks = comparisons_mark(op, own, tile, zero, masked) && reductions_are_marked(op, masked);
    const bool unmasked = edge[op->arg.p[1]->id] && !masks;
    arena_free(a);
    return unmasked;
}

static const Op *value_sum(const Value *v) {
    const Op *op = v->def;
    while (op && (op->kind == OP_NEG || op->kind == OP_CAST)) op = op->arg.p[0]->def;
    return op;
}

/* A sum in memory takes a term for each position: its value or its place has the range, or is summed over it. */
static bool sum_has_positions(const Kernel *k, const Op *store, int range) {
    Type t = store->arg.p[0]->type;
    for (int d = 0; d < store->sub.n; d++) t = type_union(t, affine_type(k, &store->sub.p[d].lo));
    const Op *sum = value_sum(store->arg.p[0]);
    return type_has(t, range) || (sum && op_reduces(sum, range));
}

static bool is_edge(const Value *v, OpKind edge, int range) {
    return v->def && v->def->kind == edge && v->def->range == range;
}

/* The loop goes through the positions of one tile, and the sum takes a term for each. */
static bool loop_takes_positions(const Kernel *k, const Op *loop, const Op *store, int range) {
    bool own = is_edge(loop->arg.p[0], OP_BEGIN, range) && is_edge(loop->arg.p[1], OP_END, range);
    return own && (k->range.p[loop->range].kind == RANGE_POSITION || sum_has_positions(k, store, loop->range));
}

bool op_adds_tiles(const Kernel *k, const Op *op, int range) {
    bool inside = range < k->ngrid;
    if (op->kind != OP_STORE || (op->mode != STORE_SUM && op->mode != STORE_ADD) || sum_has_positions(k, op, range))
        return false;
    for (const Op *loop = op->in->parent; loop; loop = loop->in->parent) {
        if (loop->kind == OP_FOR && loop_takes_positions(k, loop, op, range)) return false;
        if (loop->kind == OP_FOR && loop->range == range) inside = true;
    }
    return inside;
}

/* Where a tile begins and ends may bound loops: those that carry nothing do each position once, and those that only end
   there have to mask what is past it. A value or a place that is made of it, or a sum that begins there, is another
   with another size; and so is what is reduced over a tile of the grid, if tasks do not add it up, and what is added
   once a tile. */
static const Op *first_size_use(const Kernel *k, const Uses *u, int range, bool *derived) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body)) {
        if (range < k->ngrid && op_reduces(op, range) && !op_adds_in_memory(u, op)) return op;
        if (loop_ends_unmasked(k, op, range) || op_adds_tiles(k, op, range)) return op;
        bool from = (op->kind == OP_BEGIN || op->kind == OP_END) && op->range == range;
        for (int i = 0; i < op->arg.n; i++) {
            bool bound = op->kind == OP_FOR && (i == 1 || op->arg.n == 2);
            if (derived[op->arg.p[i]->id] && !bound) from = true;
        }
        for (int i = 0; i < op->sub.n; i++)
            if (affine_names(&op->sub.p[i].lo, range, derived)) return op;
        bool scalar = op->res.n == 1 && op->res.p[0]->type.nrange == 0 && op->kind != OP_FOR && op->kind != OP_IF;
        if (from && !scalar) return op;
        if (from) derived[op->res.p[0]->id] = true;
    }
    return NULL;
}

const Op *kernel_size_use(const Kernel *k, int range) {
    Arena *a = arena_new();
    const Uses uses = uses_of(k, a);
    const Op *use = first_size_use(k, &uses, range, ARENA_ARRAY(a, bool, k->nvalue + 1));
    arena_free(a);
    return use;
}

bool kernel_needs_size(const Kernel *k, int range) { return kernel_size_use(k, range) != NULL; }

/* ---- loads of more than their elements ---- */

/* Memory of this rank that the kernel does not write: what lies beside the elements may be read with them. */
bool load_may_cover(const Kernel *k, const Op *load, int range) {
    const Param *p = &k->param.p[load->param];
    const int last = load->sub.n - 1, bits = elem_bits(p->elem);
    if (last < 0 || p->out || p->inout || p->ranks >= 0 || p->packet || bits < 8) return false;
    for (int d = 0; d < last; d++)
        if (affine_follows(&load->sub.p[d].lo, range)) return false;
    return affine_position(&load->sub.p[last].lo) == range;
}
