/* place.c: placements through a kernel: which values are whole, and which are one rank's share of a sum or maximum.
   Takes: a lowered body and the placements of its arguments along one axis. Gives: those of its results. A forward
   analysis: parallel dimensions keep values whole, and sums and dots over a split range make them partial. Partial
   values may only meet operations that commute with adding up (or taking the maximum of) the ranks' shares. */
#include "frontend/sema/place.h"

#include "ir/poly/relation.h"

#include <math.h>

/* CARRY: the value that a loop over a split range carries, on its way in; CARRY_SUM: plus this rank's terms. */
typedef enum { NOTHING, ZERO, LEAST, WHOLE, SUM, MAX, CARRY, CARRY_SUM, CARRY_MAX, BAD } State;

typedef struct {
    PlaceQuery *q;
    State *state;   /* by value id */
    Size *split;    /* by range: the split extent it runs over, or a number */
    State *result;  /* by parameter */
    const Op *loop; /* over a split range, or NULL */
    bool grid;      /* a range of the grid is split */
} Flow;

static State fault(Flow *f, const Op *op, PlaceFault kind) {
    if (f->q->fault == PLACE_FINE) f->q->fault = kind, f->q->at = op;
    return BAD;
}

static State not_linear(Flow *f, const Op *op) { return fault(f, op, PLACE_NOT_LINEAR); }

static State state_of(const Flow *f, const Value *v) { return f->state[v->id]; }

static bool is_whole(State s) { return s == ZERO || s == LEAST || s == WHOLE; }

static bool is_split(const Flow *f, int range) { return size_is_split_over(f->split[range], f->q->axis); }

static bool over_split(const Flow *f, const Op *op) {
    for (int i = 0; i < op->nover; i++)
        if (is_split(f, op->over[i])) return true;
    return false;
}

/* What a value is that comes from either of two paths. */
static State join(Flow *f, const Op *op, State a, State b) {
    if (a == BAD || b == BAD) return BAD;
    if (a == b || b == NOTHING) return a;
    if (a > b || a == NOTHING) return join(f, op, b, a);
    if (is_whole(a) && is_whole(b)) return WHOLE;
    if ((a == ZERO && b == SUM) || (is_whole(a) && b == MAX)) return b;
    if (a == CARRY && (b == CARRY_SUM || b == CARRY_MAX)) return b;
    return not_linear(f, op);
}

/* ---- arithmetic ---- */

/* A partial value from before a loop over the split range would be counted once an iteration. */
static bool is_inside(const Flow *f, const Value *v) {
    for (const Region *r = v->def ? v->def->in : v->arg_of; r && f->loop; r = r->parent ? r->parent->in : NULL)
        if (r == f->loop->region[0]) return true;
    return !f->loop;
}

static State add_states(Flow *f, const Op *op, State a, const Value *other, State b) {
    if (a == CARRY || a == CARRY_SUM)
        return (is_whole(b) || (b == SUM && is_inside(f, other))) ? CARRY_SUM : not_linear(f, op);
    if (a == ZERO) return b;
    if (b == ZERO) return a;
    if (is_whole(a) && is_whole(b)) return WHOLE;
    return a == SUM && b == SUM ? SUM : not_linear(f, op);
}

static State flow_add(Flow *f, const Op *op) {
    const Value *x = op->arg.p[0], *y = op->arg.p[1];
    State a = state_of(f, x), b = state_of(f, y);
    bool second = (b == CARRY || b == CARRY_SUM) && op->kind == OP_ADD;
    return second ? add_states(f, op, b, x, a) : add_states(f, op, a, y, b);
}

static State max_states(Flow *f, const Op *op, State a, State b) {
    if (a == CARRY || a == CARRY_MAX) return is_whole(b) || b == MAX ? CARRY_MAX : not_linear(f, op);
    if (is_whole(a) && is_whole(b)) return WHOLE;
    bool legal = (a == MAX || is_whole(a)) && (b == MAX || is_whole(b));
    return legal ? MAX : not_linear(f, op);
}

static State flow_max(Flow *f, const Op *op) {
    State a = state_of(f, op->arg.p[0]), b = state_of(f, op->arg.p[1]);
    return b == CARRY || b == CARRY_MAX ? max_states(f, op, b, a) : max_states(f, op, a, b);
}

static State times(Flow *f, const Op *op, State a, State b) {
    if (is_whole(a) && is_whole(b)) return a == ZERO || b == ZERO ? ZERO : WHOLE;
    return (a == SUM && is_whole(b)) || (b == SUM && is_whole(a)) ? SUM : not_linear(f, op);
}

static State flow_binary(Flow *f, const Op *op) {
    State a = state_of(f, op->arg.p[0]), b = state_of(f, op->arg.p[1]);
    switch (op->kind) {
    case OP_ADD:
    case OP_SUB: return flow_add(f, op);
    case OP_MUL: return times(f, op, a, b);
    case OP_MAX: return flow_max(f, op);
    case OP_DIV:
        if (a == SUM && is_whole(b) && elem_is_float(op->res.p[0]->type.elem)) return SUM;
        break;
    default: break;
    }
    return is_whole(a) && is_whole(b) ? WHOLE : not_linear(f, op);
}

static State flow_unary(Flow *f, const Op *op) {
    State a = state_of(f, op->arg.p[0]);
    if (op->kind == OP_NEG && (a == SUM || a == ZERO)) return a;
    return is_whole(a) ? WHOLE : not_linear(f, op);
}

static State flow_cast(Flow *f, const Op *op) {
    State a = state_of(f, op->arg.p[0]);
    Elem from = op->arg.p[0]->type.elem, to = op->res.p[0]->type.elem;
    if (is_whole(a)) return a == LEAST && !elem_is_float(to) ? WHOLE : a;
    bool exact = a == MAX || elem_is_float(to) || (elem_is_int(from) && elem_bits(to) >= elem_bits(from));
    return exact && to != ELEM_BOOL ? a : not_linear(f, op);
}

static State flow_select(Flow *f, const Op *op) {
    if (!is_whole(state_of(f, op->arg.p[0]))) return not_linear(f, op);
    return join(f, op, state_of(f, op->arg.p[1]), state_of(f, op->arg.p[2]));
}

static State flow_reduce(Flow *f, const Op *op) {
    State a = state_of(f, op->arg.p[0]);
    bool split = over_split(f, op);
    if (is_whole(a) && !split) return a == ZERO ? ZERO : WHOLE;
    if (op->kind == OP_SUM && (a == SUM || is_whole(a))) return a == ZERO ? ZERO : SUM;
    if (op->kind == OP_RMAX && (a == MAX || is_whole(a))) return MAX;
    return not_linear(f, op);
}

static State flow_argument_reduce(Flow *f, const Op *op) {
    bool good = is_whole(state_of(f, op->arg.p[0])) && !is_split(f, op->range) && !over_split(f, op);
    return good ? WHOLE : not_linear(f, op);
}

static State flow_prefix(Flow *f, const Op *op) {
    State a = state_of(f, op->arg.p[0]);
    bool split = is_split(f, op->range) || over_split(f, op);
    if (!split && (is_whole(a) || (op->kind == OP_CUMSUM && a == SUM) || (op->kind == OP_CUMMAX && a == MAX)))
        return is_whole(a) ? WHOLE : a;
    return not_linear(f, op);
}

static State flow_dot(Flow *f, const Op *op) {
    State product = times(f, op, state_of(f, op->arg.p[0]), state_of(f, op->arg.p[1]));
    if (product == WHOLE && over_split(f, op)) product = SUM;
    if (op->arg.n < 3 || product == BAD) return product;
    return add_states(f, op, state_of(f, op->arg.p[2]), op->res.p[0], product);
}

/* ---- memory ---- */

/* Every block of `of`, along each axis, is `times` blocks of `dim`. */
static bool blocks_nest(const Module *m, Size of, Size dim, int64_t times) {
    bool nest = of.sym < 0 && dim.sym < 0 && of.axis == dim.axis;
    for (; nest && of.axis >= 0; of = size_gathered(of), dim = size_gathered(dim))
        nest = size_block(m, of, NULL) == times * size_block(m, dim, NULL);
    return nest;
}

/* floor(pos / d) is the own place where a block of positions is d blocks of the dimension, as of heads and their
 * groups. */
static bool is_own_place(const Flow *f, const Affine *a, Size dim) {
    if (a->nterm != 1 || a->c != 0) return false;
    const Term *t = &a->term[0];
    if (t->kind != TERM_POS || t->mul != 1 || !is_split(f, t->id)) return false;
    Size of = f->split[t->id];
    return t->div == 1 ? size_equal(of, dim) : blocks_nest(f->q->m, of, dim, t->div);
}

/* In a dimension that is not split: nothing that counts inside a block. */
static bool is_everywhere(Flow *f, const Op *op, const Affine *a) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if ((t->kind == TERM_POS || t->kind == TERM_INDEX) && is_split(f, t->id)) return false;
        if (t->kind == TERM_SIZE && size_is_split_over(t->size, f->q->axis)) return false;
        if (t->kind == TERM_VALUE && !is_whole(state_of(f, t->value))) return not_linear(f, op) != BAD;
    }
    return true;
}

static bool access_fault(Flow *f, const Op *op, int dim) {
    f->q->dim = dim;
    return fault(f, op, PLACE_NOT_PARALLEL) != BAD;
}

static bool access_flow(Flow *f, const Op *op) {
    const Param *p = &f->q->k->param.p[op->param];
    for (int d = 0; d < op->sub.n; d++) {
        const Affine *a = &op->sub.p[d].lo;
        bool good = size_is_split_over(p->dim[d], f->q->axis) ? is_own_place(f, a, p->dim[d]) : is_everywhere(f, op, a);
        if (!good) return f->q->fault == PLACE_FINE && access_fault(f, op, d);
    }
    return true;
}

static State flow_load(Flow *f, const Op *op) {
    Place p = f->q->in[op->param];
    if (!access_flow(f, op)) return BAD;
    if (p.kind == PLACE_P) return p.op == PART_SUM ? SUM : MAX;
    return WHOLE;
}

/* All ranks find the same groups, in starts that each has whole. */
static State flow_group(Flow *f, const Op *op) {
    const Param *p = &f->q->k->param.p[op->param];
    if (f->q->in[op->param].kind == PLACE_P) return not_linear(f, op);
    if (size_is_split_over(p->dim[0], f->q->axis)) access_fault(f, op, 0);
    else if (is_split(f, op->range)) return fault(f, op, PLACE_NOT_PARALLEL);
    return WHOLE;
}

/* A value that is added once a tile, and not once a position, counts tiles: the blocks of ranks are cut into others. */
static bool counts_tiles(const Flow *f, const Op *op) {
    Type t = op->arg.p[0]->type;
    for (int d = 0; d < op->sub.n; d++) t = type_union(t, affine_type(f->q->k, &op->sub.p[d].lo));
    for (int r = 0; r < f->q->k->range.n; r++)
        if (is_split(f, r) && f->q->k->range.p[r].kind != RANGE_POSITION && !type_has(t, r)) return true;
    return false;
}

/* What += makes of a value: this rank's terms where tasks or iterations are split. */
static State summed(Flow *f, const Op *op, State s) {
    bool split = f->grid || f->loop;
    if (is_whole(s) && s != ZERO && split && counts_tiles(f, op)) return not_linear(f, op);
    if (is_whole(s)) return split ? SUM : WHOLE;
    bool once = f->grid || is_inside(f, op->arg.p[0]);
    return s == SUM && once ? SUM : not_linear(f, op);
}

/* A rank would store to its own such places alone. */
static bool is_computed(const Op *op) {
    for (int d = 0; d < op->sub.n; d++)
        for (int t = 0; t < op->sub.p[d].lo.nterm; t++)
            if (op->sub.p[d].lo.term[t].kind == TERM_VALUE) return true;
    return false;
}

static void flow_store(Flow *f, const Op *op) {
    State s = state_of(f, op->arg.p[0]);
    if (!access_flow(f, op)) return;
    bool split = false;
    for (int d = 0; d < op->sub.n; d++)
        split = split || size_is_split_over(f->q->k->param.p[op->param].dim[d], f->q->axis);
    bool sum = op->mode == STORE_SUM || op->mode == STORE_ADD;
    if (!split && sum) s = summed(f, op, s);
    if (!split && !sum && (f->grid || f->loop) && is_computed(op)) s = fault(f, op, PLACE_NOT_PARALLEL);
    if ((s >= CARRY && s < BAD) || (split && !is_whole(s))) s = not_linear(f, op);
    f->result[op->param] = join(f, op, f->result[op->param], s);
}

/* ---- control ---- */

static void flow_region(Flow *, const Region *);

static const Op *yield_of(const Region *r) { return r && r->last && r->last->kind == OP_YIELD ? r->last : NULL; }

static void flow_if(Flow *f, const Op *op) {
    if (!is_whole(state_of(f, op->arg.p[0]))) not_linear(f, op);
    for (int i = 0; i < 2; i++)
        if (op->region[i]) flow_region(f, op->region[i]);
    const Op *then = yield_of(op->region[0]), *other = yield_of(op->region[1]);
    for (int i = 0; i < op->res.n; i++)
        f->state[op->res.p[i]->id] = join(f, op, state_of(f, then->arg.p[i]), state_of(f, other->arg.p[i]));
}

/* What is left of a carried value when its shares on all ranks are put together. */
static State loop_result(Flow *f, const Op *op, State init, State end) {
    if (end == CARRY) return init;
    if (end == CARRY_SUM && (init == ZERO || init == SUM)) return SUM;
    if (end == CARRY_MAX && (is_whole(init) || init == MAX)) return MAX;
    return not_linear(f, op);
}

static void flow_split_loop(Flow *f, const Op *op) {
    const Region *body = op->region[0];
    if (f->loop || f->grid) {
        fault(f, op, PLACE_NOT_PARALLEL);
        return;
    }
    f->loop = op;
    for (int i = 0; i < body->arg.n; i++) f->state[body->arg.p[i]->id] = CARRY;
    flow_region(f, body);
    f->loop = NULL;
    for (int i = 0; i < op->res.n; i++)
        f->state[op->res.p[i]->id] =
            loop_result(f, op, state_of(f, op->arg.p[i + 2]), state_of(f, yield_of(body)->arg.p[i]));
}

/* One round with the carried values as they are known; true when that changed none of them. */
static bool loop_round(Flow *f, const Op *op) {
    const Region *body = op->region[0];
    bool stable = true;
    flow_region(f, body);
    for (int i = 0; i < body->arg.n; i++) {
        State *s = &f->state[body->arg.p[i]->id];
        State now = join(f, op, *s, state_of(f, yield_of(body)->arg.p[i]));
        stable = stable && now == *s;
        *s = now;
    }
    return stable;
}

static void flow_plain_loop(Flow *f, const Op *op) {
    const Region *body = op->region[0];
    for (int i = 0; i < body->arg.n; i++) f->state[body->arg.p[i]->id] = state_of(f, op->arg.p[i + 2]);
    while (!loop_round(f, op) && f->q->fault == PLACE_FINE) continue;
    for (int i = 0; i < op->res.n; i++) f->state[op->res.p[i]->id] = state_of(f, body->arg.p[i]);
}

static bool is_local_size(const Flow *f, const Value *v) {
    return v->def && v->def->kind == OP_SIZE && size_is_split_over(v->def->size, f->q->axis);
}

static void flow_for(Flow *f, const Op *op) {
    const Value *lo = op->arg.p[0], *hi = op->arg.p[1];
    int through = loop_positions_of(op);
    if (through >= 0) f->split[op->range] = f->split[through]; /* in the block that the range is in */
    bool zero = value_is(lo, 0);
    if (is_local_size(f, hi) && zero) {
        f->split[op->range] = hi->def->size;
        flow_split_loop(f, op);
    } else if (is_local_size(f, hi) || is_local_size(f, lo))
        fault(f, op, PLACE_BOUND);
    else if (!is_whole(state_of(f, lo)) || !is_whole(state_of(f, hi)))
        not_linear(f, op);
    else
        flow_plain_loop(f, op);
}

/* ---- operations ---- */

static State flow_const(const Op *op) {
    bool is_float = elem_is_float(op->res.p[0]->type.elem);
    if (is_float) return op->fimm == 0 ? ZERO : isinf(op->fimm) && op->fimm < 0 ? LEAST : WHOLE;
    return op->imm == 0 ? ZERO : WHOLE;
}

/* Is there such a position? */
static bool asks_existence(const Flow *f, const Op *op) {
    const Op *pos = op->kind == OP_LT ? op->arg.p[0]->def : NULL, *size = pos ? op->arg.p[1]->def : NULL;
    return size && pos->kind == OP_POS && size->kind == OP_SIZE && is_split(f, pos->range) &&
           size_equal(f->split[pos->range], size->size);
}

/* The length of a block only bounds loops: flow_for looks at it. Anything else that reads it is a fault. */
static bool uses_local_size(Flow *f, const Op *op) {
    for (int i = 0; i < op->arg.n && op->kind != OP_FOR && !asks_existence(f, op); i++)
        if (is_local_size(f, op->arg.p[i])) return fault(f, op, PLACE_BOUND) == BAD;
    return false;
}

static State flow_value(Flow *f, const Op *op) {
    switch (op_info[op->kind].class) {
    case CLASS_CONST: return flow_const(op);
    case CLASS_INDEX: return WHOLE;
    case CLASS_UNARY: return flow_unary(f, op);
    case CLASS_BINARY:
    case CLASS_COMPARE: return flow_binary(f, op);
    case CLASS_SELECT: return flow_select(f, op);
    case CLASS_CAST: return flow_cast(f, op);
    case CLASS_BROADCAST: return state_of(f, op->arg.p[0]);
    case CLASS_REDUCE:
        return op->kind == OP_SUM || op->kind == OP_RMAX ? flow_reduce(f, op) : flow_argument_reduce(f, op);
    case CLASS_PREFIX: return flow_prefix(f, op);
    case CLASS_DOT: return flow_dot(f, op);
    case CLASS_MEMORY: return op->kind == OP_GROUP ? flow_group(f, op) : flow_load(f, op);
    default: return WHOLE;
    }
}

static void flow_op(Flow *f, const Op *op) {
    if (uses_local_size(f, op)) return;
    if (op->kind == OP_FOR)
        flow_for(f, op);
    else if (op->kind == OP_IF)
        flow_if(f, op);
    else if (op->kind == OP_STORE)
        flow_store(f, op);
    else if (op->res.n == 1)
        f->state[op->res.p[0]->id] = flow_value(f, op);
}

static void flow_region(Flow *f, const Region *r) {
    for (const Op *op = r->first; op && f->q->fault == PLACE_FINE; op = op->next) flow_op(f, op);
}

/* ---- the kernel ---- */

static Place place_of(const Flow *f, int param) {
    const Param *p = &f->q->k->param.p[param];
    for (int d = 0; d < p->ndim; d++)
        if (size_is_split_over(p->dim[d], f->q->axis)) return (Place){.kind = PLACE_S};
    State s = f->result[param];
    if (s == SUM || s == MAX) return (Place){.kind = PLACE_P, .op = s == SUM ? PART_SUM : PART_MAX};
    return (Place){.kind = PLACE_R};
}

static void splits_find(Flow *f) {
    const Kernel *k = f->q->k;
    for (int i = 0; i < k->range.n; i++) {
        f->split[i] = i < k->ngrid ? k->range.p[i].of : size_number(0);
        if (f->grid && is_split(f, i)) fault(f, NULL, PLACE_NOT_PARALLEL);
        f->grid = f->grid || is_split(f, i);
    }
}

bool kernel_place(PlaceQuery *q) {
    Arena *a = arena_new();
    const Kernel *k = q->k;
    Flow f = {.q = q,
              .state = ARENA_ARRAY(a, State, k->nvalue + 1),
              .split = ARENA_ARRAY(a, Size, k->range.n + 1),
              .result = ARENA_ARRAY(a, State, k->param.n + 1)};
    q->fault = PLACE_FINE;
    splits_find(&f);
    flow_region(&f, k->body);
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].out || k->param.p[i].inout) q->out[i] = place_of(&f, i);
    arena_free(a);
    return q->fault == PLACE_FINE;
}
