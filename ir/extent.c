/* extent.c: how many positions the tiles of a range have, at most and exactly.
   Takes: a kernel in value form. Gives: bounds that hold for all sizes and tasks. */
#include "ir/roles.h"

static int64_t smaller(int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : a < b ? a : b; }

static const Op *region_loop(const Region *r, int range) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_FOR && op->range == range) return op;
    return NULL;
}

const Op *kernel_loop(const Kernel *k, int range) { return region_loop(k->body, range); }

/* All positions of a loop's range, if the first one is. */
static bool range_is_natural(const Kernel *k, int range) {
    const Op *loop = k->range.p[range].grid ? NULL : kernel_loop(k, range);
    return k->range.p[range].grid || (loop && value_is_natural(k, loop->arg.p[0]));
}

bool value_is_natural(const Kernel *k, const Value *v) {
    const Op *d = v->def;
    if (!d) return false;
    switch (d->kind) {
    case OP_CONST: return d->imm >= 0;
    case OP_SIZE: return true;
    case OP_BEGIN:
    case OP_END:
    case OP_POS: return range_is_natural(k, d->range);
    case OP_ADD:
    case OP_MUL:
    case OP_MIN: return value_is_natural(k, d->arg.p[0]) && value_is_natural(k, d->arg.p[1]);
    default: return false;
    }
}

/* Of two bounds, both known; -1: one is not. */
static int64_t larger(int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : a > b ? a : b; }

/* Of a sum or a product of what is never negative. */
static int64_t most_of_two(const Module *m, const Kernel *k, const Op *op) {
    int64_t a = value_most(m, k, op->arg.p[0]), b = value_most(m, k, op->arg.p[1]);
    if (a < 0 || b < 0 || !value_is_natural(k, op->arg.p[0]) || !value_is_natural(k, op->arg.p[1])) return -1;
    if (op->kind == OP_MUL) return b && a > MAX_EXTENT / b ? -1 : a * b;
    return a > MAX_EXTENT - b ? -1 : a + b;
}

static int64_t position_most(const Module *m, const Range *r, OpKind kind) {
    if (!r->grid) return -1;
    return size_most(m, r->of) - (kind == OP_POS && size_most(m, r->of) > 0);
}

int64_t value_most(const Module *m, const Kernel *k, const Value *v) {
    const Op *d = v->def;
    if (!d) return -1;
    switch (d->kind) {
    case OP_CONST: return d->imm;
    case OP_SIZE: return size_most(m, d->size);
    case OP_END:
    case OP_POS: return position_most(m, &k->range.p[d->range], d->kind);
    case OP_ADD:
    case OP_MUL: return most_of_two(m, k, d);
    case OP_MIN: return smaller(value_most(m, k, d->arg.p[0]), value_most(m, k, d->arg.p[1]));
    case OP_CAST: return value_most(m, k, d->arg.p[0]);
    case OP_SELECT: return larger(value_most(m, k, d->arg.p[1]), value_most(m, k, d->arg.p[2]));
    default: return -1;
    }
}

int64_t range_most(const Module *m, const Kernel *k, int range) {
    const Range *r = &k->range.p[range];
    if (r->kind == RANGE_POSITION) return 1;
    const Op *loop = r->grid ? NULL : kernel_loop(k, range);
    int64_t most = r->grid ? size_most(m, r->of) : loop ? value_most(m, k, loop->arg.p[1]) : -1;
    return r->kind == RANGE_TILE ? smaller(r->size, most) : most;
}

static bool number_of(const Value *v, int64_t *n) {
    const Op *d = v->def;
    if (!d || (d->kind != OP_CONST && d->kind != OP_SIZE)) return false;
    *n = d->kind == OP_CONST ? d->imm : d->size.c;
    return d->kind == OP_CONST || size_is_number(d->size);
}

static bool is_widened(const Op *d) {
    if (d->kind != OP_CAST) return false;
    Elem to = d->res.p[0]->type.elem, from = d->arg.p[0]->type.elem;
    return elem_is_int(to) && elem_is_int(from) && elem_bits(to) > elem_bits(from);
}

bool value_is_multiple(const Value *v, int64_t of) {
    const Op *d = v->def;
    int64_t n;
    if (!d) return false;
    if (number_of(v, &n)) return n % of == 0;
    if (is_widened(d)) return value_is_multiple(d->arg.p[0], of);
    if (d->kind == OP_MUL) return value_is_multiple(d->arg.p[0], of) || value_is_multiple(d->arg.p[1], of);
    bool keeps = d->kind == OP_ADD || d->kind == OP_SUB || d->kind == OP_MIN || d->kind == OP_MAX;
    return keeps && value_is_multiple(d->arg.p[0], of) && value_is_multiple(d->arg.p[1], of);
}

/* Tiles of the grid begin at multiples of their size, and end there if their range does. */
static bool edge_is_multiple(const Kernel *k, const Op *edge, int64_t of) {
    const Range *r = &k->range.p[edge->range];
    bool tile = r->grid && r->kind == RANGE_TILE && !r->starts && r->owner < 0 && r->size % of == 0;
    return tile && (edge->kind == OP_BEGIN || (size_is_number(r->of) && r->of.c % of == 0));
}

static bool bound_is_multiple(const Kernel *k, const Value *v, int64_t of) {
    const Op *d = v->def;
    if (!d) return false;
    if (d->kind == OP_BEGIN || d->kind == OP_END) return edge_is_multiple(k, d, of);
    bool keeps = d->kind == OP_ADD || d->kind == OP_SUB || d->kind == OP_MIN || d->kind == OP_MAX;
    if (keeps) return bound_is_multiple(k, d->arg.p[0], of) && bound_is_multiple(k, d->arg.p[1], of);
    return value_is_multiple(v, of);
}

bool range_has_whole_steps(const Kernel *k, int range) {
    const int64_t size = k->range.p[range].size;
    const Op *loop = kernel_loop(k, range);
    return loop && bound_is_multiple(k, loop->arg.p[0], size) && bound_is_multiple(k, loop->arg.p[1], size);
}

/* A tile that the bound cuts short ends where the dimension does. */
static bool bound_cuts_at(const Kernel *k, const Value *v, Size of, int64_t step) {
    const Op *d = v->def;
    int64_t n;
    if (!d) return false;
    if (d->kind == OP_MIN) return bound_cuts_at(k, d->arg.p[0], of, step) && bound_cuts_at(k, d->arg.p[1], of, step);
    if (d->kind == OP_SIZE && size_equal(d->size, of)) return true;
    if (number_of(v, &n) && size_is_number(of) && n == of.c) return true;
    if (d->kind == OP_END && k->range.p[d->range].grid && size_equal(k->range.p[d->range].of, of)) {
        const Range *r = &k->range.p[d->range];
        return r->kind == RANGE_TILE && !r->starts && r->owner < 0 && r->size % step == 0;
    }
    return bound_is_multiple(k, v, step);
}

bool range_is_cut_at(const Kernel *k, int range, Size of) {
    const int64_t size = k->range.p[range].size;
    const Op *loop = kernel_loop(k, range);
    return loop && bound_is_multiple(k, loop->arg.p[0], size) && bound_cuts_at(k, loop->arg.p[1], of, size);
}

/* Each role has loops of its own. */
static const Op *loop_around(const Kernel *k, const Op *op, int range) {
    for (const Op *loop = op->in->parent; loop; loop = loop->in->parent)
        if (loop->kind == OP_FOR && loop->range == range) return loop;
    return kernel_loop(k, range);
}

bool range_begins_at(const Kernel *k, const Op *op, int range, int64_t of) {
    const Range *r = &k->range.p[range];
    if (r->part_of) return r->size % of == 0 && range_begins_at(k, op, r->part_of - 1, of);
    if (r->starts) return of == 1; /* groups begin anywhere */
    const Op *loop = loop_around(k, op, range);
    return !(r->kind == RANGE_TILE && r->size % of) && (!loop || bound_is_multiple(k, loop->arg.p[0], of));
}

/* lo + n, with a number n above 0. */
static bool is_behind(const Value *hi, const Value *lo, int64_t *n) {
    const Op *d = hi->def;
    return d && d->kind == OP_ADD && d->arg.p[0] == lo && number_of(d->arg.p[1], n) && *n > 0;
}

int range_cluster(const Kernel *k, int range) {
    const int n = k->roles ? k->roles->cluster : k->plan.cluster;
    return n > 1 && range == (k->roles ? k->roles->cluster_range : k->plan.cluster_range) ? n : 1;
}

bool range_is_full(const Kernel *k, int range) {
    const Range *r = &k->range.p[range];
    const Op *loop = r->grid ? NULL : kernel_loop(k, range);
    int64_t lo = 0, hi = r->of.c;
    if (r->kind == RANGE_POSITION) return true;
    if (r->starts) return false;
    if (loop && r->kind == RANGE_TILE && is_behind(loop->arg.p[1], loop->arg.p[0], &hi)) return hi % r->size == 0;
    if (r->grid ? !size_is_number(r->of) : !loop || !number_of(loop->arg.p[0], &lo) || !number_of(loop->arg.p[1], &hi))
        return false;
    return hi > lo && (r->kind == RANGE_WHOLE ? lo == 0 : (hi - lo) % (r->size * range_cluster(k, range)) == 0);
}
