/* region_step.c: does a loop's result depend on how many positions a step has? Not where each carried value only
   takes in a reduction over the step's positions, by the same operator: sum of sums, largest of largest. A merge says
   how steps go together, so a loop with a merge is taken at its word. */
#include "ir/uses.h"

typedef struct {
    int range;
    Uses uses; /* of the kernel */
    bool *way; /* of each value: it lies on the way of a carried value through the body, or is reduced for it */
} Steps;

static int result_at(const Op *op, const Value *v) {
    int i = 0;
    while (op->res.p[i] != v) i++;
    return i;
}

/* ---- the ways: a reduction each ---- */

static bool is_part(const Steps *s, const Value *v, OpKind way);

/* A sum times what is the same for all of the step. */
static bool is_scaled(const Steps *s, const Op *op, OpKind way) {
    if (op_info[way].joins != OP_ADD) return false;
    return is_part(s, op->arg.p[0], way) || is_part(s, op->arg.p[1], way);
}

/* Whole numbers wrap: what is carried may be cut and widened, as it is in each step. */
static bool is_whole_sum(const Op *cast, OpKind way) {
    return op_info[way].joins == OP_ADD && elem_is_int(cast->arg.p[0]->type.elem) && elem_is_int(cast->res.p[0]->type.elem);
}

/* A sum that has wrapped is not widened: with longer steps it would wrap elsewhere. */
static bool keeps_part(const Op *cast, OpKind way) {
    Elem to = cast->res.p[0]->type.elem;
    return elem_is_float(to) || (is_whole_sum(cast, way) && elem_bits(to) <= elem_bits(cast->arg.p[0]->type.elem));
}

/* It is reduced over the range, in the way that the whole is. */
static bool part_fits(const Steps *s, const Value *v, OpKind way) {
    const Op *op = v->def;
    if (!op) return false;
    switch (op->kind) {
    case OP_BROADCAST: return is_part(s, op->arg.p[0], way);
    case OP_CAST: return keeps_part(op, way) && is_part(s, op->arg.p[0], way);
    case OP_MUL: return is_scaled(s, op, way);
    case OP_DOT: return op_info[way].joins == OP_ADD && op->arg.n == 2 && op_reduces(op, s->range);
    default: return op->kind == way && op_reduces(op, s->range);
    }
}

static bool is_part(const Steps *s, const Value *v, OpKind way) {
    bool fits = part_fits(s, v, way);
    if (fits) s->way[v->id] = true;
    return fits;
}

static bool takes_in(const Steps *s, const Value *v, const Value *carried, OpKind way);

static bool joins(const Steps *s, const Op *op, const Value *carried, OpKind way) {
    for (int i = 0; i < 2; i++)
        if (takes_in(s, op->arg.p[i], carried, way)) return is_part(s, op->arg.p[1 - i], way);
    return false;
}

static bool loop_takes_in(const Steps *s, const Op *loop, int i, const Value *carried, OpKind way) {
    const Region *body = loop->region[0];
    return takes_in(s, body->last->arg.p[i], body->arg.p[i], way) && takes_in(s, loop->arg.p[2 + i], carried, way);
}

static bool branches_take_in(const Steps *s, const Op *op, int i, const Value *carried, OpKind way) {
    for (int r = 0; r < 2; r++)
        if (!op->region[r] || !takes_in(s, op->region[r]->last->arg.p[i], carried, way)) return false;
    return true;
}

static bool op_takes_in(const Steps *s, const Value *v, const Value *carried, OpKind way) {
    const Op *op = v->def;
    if (!op) return false;
    switch (op->kind) {
    case OP_FOR: return loop_takes_in(s, op, result_at(op, v), carried, way);
    case OP_IF: return branches_take_in(s, op, result_at(op, v), carried, way);
    case OP_CAST: return is_whole_sum(op, way) && takes_in(s, op->arg.p[0], carried, way);
    case OP_SUB:
        return op_info[way].joins == OP_ADD && takes_in(s, op->arg.p[0], carried, way) && is_part(s, op->arg.p[1], way);
    case OP_DOT:
        return op_info[way].joins == OP_ADD && op->arg.n == 3 && op_reduces(op, s->range) &&
               takes_in(s, op->arg.p[2], carried, way);
    default: return op->kind == op_info[way].joins && joins(s, op, carried, way);
    }
}

static bool takes_in(const Steps *s, const Value *v, const Value *carried, OpKind way) {
    bool fits = v == carried || op_takes_in(s, v, carried, way);
    if (fits) s->way[v->id] = true;
    return fits;
}

static bool has_way(const Steps *s, const Value *v, const Value *carried) {
    for (OpKind way = 0; way < OP_COUNT; way++)
        if (op_info[way].class == CLASS_REDUCE && !op_info[way].position && takes_in(s, v, carried, way)) return true;
    return false;
}

/* ---- what else looks at them ---- */

static bool is_on(const Steps *s, const Value *v) { return s->way[v->id]; }

/* Operand i may be a value on a way: the result is on one as well. */
static bool may_have(const Steps *s, const Op *op, int i) {
    switch (op->kind) {
    case OP_YIELD: return true; /* with the operation that it belongs to */
    case OP_FOR: return i >= 2 && is_on(s, op->res.p[i - 2]) && is_on(s, op->region[0]->arg.p[i - 2]);
    case OP_IF: return false;
    case OP_DOT: return i == 2 && is_on(s, op->res.p[0]);
    case OP_MUL: return is_on(s, op->res.p[0]) && !is_on(s, op->arg.p[1 - i]);
    case OP_CAST:
    case OP_BROADCAST: return is_on(s, op->res.p[0]);
    default: return op_info[op->kind].class == CLASS_BINARY && is_on(s, op->res.p[0]);
    }
}

static bool yields_fit(const Steps *s, const Op *op) {
    for (int r = 0; r < 2 && op->res.n; r++)
        for (int i = 0; op->region[r] && i < op->res.n; i++)
            if (is_on(s, op->region[r]->last->arg.p[i]) && !is_on(s, op->res.p[i])) return false;
    return true;
}

static bool subscripts_fit(const Steps *s, const Op *op) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Value *v = op->sub.p[d].lo.term[i].value;
            if (v && is_on(s, v)) return false;
        }
    return true;
}

static bool region_fits(const Steps *s, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        for (int i = 0; i < op->arg.n; i++)
            if (is_on(s, op->arg.p[i]) && !may_have(s, op, i)) return false;
        if (!yields_fit(s, op) || !subscripts_fit(s, op)) return false;
    }
    return true;
}

static const Op *reduction_beside(const Steps *s, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op_reduces(op, s->range) && !is_on(s, op->res.p[0]) && !op_adds_in_memory(&s->uses, op)) return op;
    return NULL;
}

/* ---- the loop ---- */

static const Op *step_size_use(const Steps *s, const Op *loop) {
    const Region *body = loop->region[0];
    if (loop->region[1]) return NULL;
    for (int i = 0; i < loop->res.n; i++)
        if (!has_way(s, body->last->arg.p[i], body->arg.p[i])) return loop;
    const Op *beside = reduction_beside(s, body);
    return beside || region_fits(s, body) ? beside : loop;
}

static const Op *steps_size_use(const Steps *s, const Region *r) {
    const Op *found = NULL;
    for (const Op *op = walk(r); op && !found; op = walk_next(op, r))
        if (op->kind == OP_FOR && op->range == s->range) found = step_size_use(s, op);
    return found;
}

const Op *loop_size_use(const Kernel *k, int range) {
    if (range < k->ngrid) return NULL;
    Arena *a = arena_new();
    const Op *use = steps_size_use(&(Steps){.range = range, .uses = uses_of(k, a), .way = ARENA_ARRAY(a, bool, k->nvalue + 1)}, k->body);
    arena_free(a);
    return use;
}

bool range_needs_size(const Kernel *k, int range) {
    return kernel_needs_size(k, range) || loop_size_use(k, range) != NULL;
}
