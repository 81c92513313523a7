/* hold.c: decides where each value of a kernel is held.
   Takes: a kernel in value form. Gives: a place for each value. One backward walk reaches an operation after all
   steps that read its result. A result that one step alone reads becomes an expression inside that step's loops;
   others become variables (scalars) or scratch memory (tiles). */
#include "codegen/text/step.h"

#include <string.h>

typedef struct {
    Fn *f;
    int at;
} Holding;

enum { CHEAP = 4 }; /* worth computing again in an inner loop */

static void note_read(Holding *p, const Value *v, Step s, int16_t fastest) {
    Held *h = fn_held(p->f, v);
    if (!h->reader.op)
        h->reader = s;
    else if (h->reader.op != s.op || h->reader.operand != s.operand)
        h->shared = true;
    else
        h->again = true;
    if (s.at > h->last) h->last = s.at;
    if (fastest >= 0 && h->fastest < 0 && type_has(v->type, fastest)) h->fastest = fastest;
}

/* The operands of an expression are read where the expression is. */
static void note_through(Holding *p, const Value *v, const Held *by) {
    note_read(p, v, by->reader, by->fastest);
    Held *h = fn_held(p->f, v);
    h->shared |= by->shared;
    h->again |= by->again;
    if (by->last > h->last) h->last = by->last;
}

static void note_subscripts(Holding *p, const Op *op, const Held *by, Step s) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            if (t->kind != TERM_VALUE) continue;
            if (by)
                note_through(p, t->value, by);
            else
                note_read(p, t->value, s, -1);
        }
}

static void note_operands(Holding *p, const Op *op, const Held *by, Step s) {
    for (int i = 0; i < op->arg.n; i++) {
        if (by)
            note_through(p, op->arg.p[i], by);
        else
            note_read(p, op->arg.p[i], s, fn_held(p->f, op->res.p[0])->fastest);
    }
    if (op->kind == OP_LOAD) note_subscripts(p, op, by, s);
}

static int cost_of(const Op *op) {
    bool free = op->kind == OP_CONST || op->kind == OP_POS || op->kind == OP_BROADCAST;
    return free ? 0 : op_cost(op->kind).again;
}

/* Bounded by what makes the answer certain. */
static int value_cost(Holding *p, const Value *v, int depth) {
    if (!v->def || depth > 8) return 0;
    int cost = cost_of(v->def);
    for (int i = 0; i < v->def->arg.n && cost < CHEAP; i++) cost += value_cost(p, v->def->arg.p[i], depth + 1);
    return cost;
}

/* Nothing between a load and its reader changes what the load sees, or allows others to. */
static bool load_is_fixed(const Fn *f, const Op *load, const Op *reader) {
    const Param *from = &f->k->param.p[load->param];
    /* A store of other elements of the same tensor would change what its own loop reads later. */
    if (reader->kind == OP_STORE && reader->param == load->param && !access_equal(load, reader)) return false;
    for (const Op *op = load->next; op && op != reader; op = op->next) {
        if (op->kind == OP_SIGNAL) return false;
        if (op->kind == OP_STORE && (op->param == load->param || from->ranks >= 0)) return false;
        if ((op->kind == OP_FOR || op->kind == OP_IF) && (from->out || from->inout || f->m->form & FORM_FLAGS))
            return false;
    }
    return true;
}

static bool is_free(const Op *op) {
    if (op->kind == OP_LOAD && op->sub.n == 0) return true; /* an argument by value */
    return op->kind == OP_CONST || op->kind == OP_POS || op->kind == OP_BROADCAST ||
           op_info[op->kind].class == CLASS_INDEX;
}

static bool can_be_inline(Holding *p, const Op *op, const Held *h) {
    const Op *reader = h->reader.op;
    if (h->shared || reader->in != op->in || reader->kind == OP_YIELD) return false;
    if (op->kind == OP_LOAD && !load_is_fixed(p->f, op, reader)) return false;
    return op->res.p[0]->type.nrange == h->reader.nrange || value_cost(p, op->res.p[0], 0) < CHEAP;
}

static void hold_expression(Holding *p, const Op *op) {
    const Value *v = op->res.p[0];
    Held *h = fn_held(p->f, v);
    bool packet = op->kind == OP_LOAD && p->f->k->param.p[op->param].packet;
    h->at = p->at;
    if (!h->reader.op) return;
    bool apart = op->kind == OP_LOAD && v->type.nrange && p->f->back->loads_apart;
    if (!packet && !apart && (is_free(op) || (v->type.nrange && can_be_inline(p, op, h)))) {
        h->hold = HOLD_INLINE;
        note_operands(p, op, h, h->reader);
    } else {
        h->hold = v->type.nrange ? HOLD_TILE : HOLD_SCALAR;
        note_operands(p, op, NULL, (Step){op, 0, p->at, v->type.nrange});
    }
}

static void hold_result(Holding *p, const Value *v) {
    Held *h = fn_held(p->f, v);
    h->at = p->at;
    h->hold = v->type.nrange ? HOLD_TILE : HOLD_SCALAR;
}

/* Values that a loop begins with, and gives on, lie as what it carries, and gives in the end. */
static int16_t carried_fastest(Holding *p, const Op *op, int i) {
    const Op *parent = op->in->parent;
    if (op->kind == OP_YIELD && parent->kind == OP_FOR) return fn_held(p->f, parent->res.p[i])->fastest;
    if (op->kind != OP_FOR || i < 2) return -1;
    const int16_t inside = fn_held(p->f, op->region[0]->arg.p[i - 2])->fastest;
    return inside >= 0 ? inside : fn_held(p->f, op->res.p[i - 2])->fastest;
}

static void hold_each_operand(Holding *p, const Op *op) {
    for (int i = 0; i < op->arg.n; i++)
        note_read(p, op->arg.p[i], (Step){op, i, p->at, op->arg.p[i]->type.nrange}, carried_fastest(p, op, i));
}

/* An operation that makes loops over all ranges of its operands. */
static void hold_loops(Holding *p, const Op *op) {
    Type t = {0};
    for (int i = 0; i < op->arg.n; i++) t = type_union(t, op->arg.p[i]->type);
    Step s = {op, 0, p->at, t.nrange};
    const int16_t fastest = op->kind == OP_STORE ? access_fastest(p->f->k, op) : -1;
    for (int i = 0; i < op->arg.n; i++) note_read(p, op->arg.p[i], s, fastest);
    if (op->kind == OP_STORE || op->kind == OP_COPY) note_subscripts(p, op, NULL, s);
}

static void hold_dot(Holding *p, const Op *op) {
    DotRanges d;
    if (!p->f->back->loads_apart && !dot_ranges(p->f, op, &d)) {
        hold_loops(p, op);
        return;
    }
    for (int i = 0; i < op->arg.n; i++) {
        int16_t fastest = i == 2 || p->f->back->loads_apart ? -1 : i == d.left ? d.k : d.n;
        note_read(p, op->arg.p[i], (Step){op, i, p->at, op->arg.p[i]->type.nrange}, fastest);
    }
}

static void hold_sync(Holding *p, const Op *op) {
    const Span *span = op->sub.p;
    for (int i = 0; i <= op->sub.n; i++) {
        const Span *s = i < op->sub.n ? &span[i] : &op->dest;
        for (int side = 0; side < 2; side++) {
            const Affine *a = side ? &s->hi : &s->lo;
            for (int j = 0; j < a->nterm; j++)
                if (a->term[j].kind == TERM_VALUE) note_read(p, a->term[j].value, (Step){op, 0, p->at, 0}, -1);
        }
    }
}

static void hold_region(Holding *p, const Region *r);

static void hold_op(Holding *p, const Op *op) {
    if (op->kind == OP_IF) hold_region(p, op->region[1]);
    if (op->kind == OP_IF || op->kind == OP_FOR || op->kind == OP_PUT) hold_region(p, op->region[0]);
    p->at--;
    bool expression = op_is_expression(op) || op->kind == OP_LOAD;
    if (expression) {
        hold_expression(p, op);
        return;
    }
    for (int i = 0; i < op->res.n; i++) hold_result(p, op->res.p[i]);
    switch (op->kind) {
    case OP_DOT:
    case OP_MMA: hold_dot(p, op); break;
    case OP_FOR:
    case OP_IF:
    case OP_READY:
    case OP_PART:
    case OP_YIELD: hold_each_operand(p, op); break;
    case OP_WAIT:
    case OP_SIGNAL: hold_sync(p, op); break;
    default: hold_loops(p, op); break;
    }
}

static void hold_region(Holding *p, const Region *r) {
    if (!r) return;
    for (const Op *op = r->last; op; op = op->prev) hold_op(p, op);
    for (int i = 0; i < r->arg.n; i++) hold_result(p, r->arg.p[i]);
}

static int count_ops(const Region *r) {
    int n = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r)) n++;
    return n;
}

void hold_values_of(Fn *f, const Region *const *region, int n) {
    f->held = ARENA_ARRAY(f->arena, Held, f->k->nvalue + 1);
    for (int i = 0; i < f->k->nvalue; i++) f->held[i].fastest = -1;
    Holding p = {f, 1};
    for (int i = 0; i < n; i++) p.at += count_ops(region[i]);
    for (int i = n - 1; i >= 0; i--) hold_region(&p, region[i]);
}

void hold_values(Fn *f) { hold_values_of(f, (const Region *const[]){f->k->body}, 1); }
