/* ahead.c: loops whose operands are made on the way. An operand is made while the products of the step before run. In
   runs of a few steps each has registers of its own.
   Takes: such a loop of the groups that multiply. Gives: its turns, `turns B@1 A C@1`. */
#include "passes/roles/slice.h"

enum {
    RUN = 4,         /* steps [guess] */
    LEAST_SLOTS = 3, /* of a ring: two steps are read, one is copied */
    OTHERS = 56,     /* registers of a thread beside sums and operands (compiled: 40 spill) */
    GROUP_THREADS = 128,
    WORD_BITS = 32
};

/* Pieces of a step, in the order of the text. */
enum { MAKES, MULTIPLIES, FINISHES, PIECES };

/* It is passed on by the step before, or made of products. */
static bool is_later(const Value *v, const Region *body) {
    return v->arg_of == body || (v->def && v->def->in == body && v->def->piece != MAKES);
}

static bool reads_later(const Op *op) {
    for (int i = 0; i < op->arg.n; i++)
        if (is_later(op->arg.p[i], op->in)) return true;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE && is_later(op->sub.p[d].lo.term[i].value, op->in))
                return true;
    return false;
}

static int piece_of(const Op *op) {
    if (op->kind == OP_MMA) return MULTIPLIES;
    bool ends = op->kind == OP_READY || op->kind == OP_FREE || op->kind == OP_YIELD;
    return ends || reads_later(op) ? FINISHES : MAKES;
}

static bool cut_step(const Slice *s, const Op *loop) {
    bool cut = true, made = false;
    for (Op *op = loop->region[0]->first; op; op = op->next) {
        op->piece = (int16_t)piece_of(op);
        bool few = op->kind == OP_GET && s->k->roles->ring.p[op->ring].slots < LEAST_SLOTS;
        bool late = op->kind == OP_MMA && (is_later(op->arg.p[0], op->in) || is_later(op->arg.p[1], op->in));
        made |= op->kind == OP_MMA && op->arg.p[0]->def && op->arg.p[0]->def->kind != OP_GET;
        cut &= !op->region[0] && !few && !late && op_info[op->kind].class != CLASS_SYNC;
    }
    return cut && made;
}

/* Some of what it reads comes with a slot. */
static bool reads_slot(const Op *op, int depth) {
    enum { DEEP = 16 /* operations */ };
    bool reads = op->kind == OP_GET || depth > DEEP;
    for (int i = 0; i < op->arg.n && !reads; i++)
        reads = op->arg.p[i]->def && op->arg.p[i]->def->in == op->in && reads_slot(op->arg.p[i]->def, depth + 1);
    for (int d = 0; d < op->sub.n && !reads; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm && !reads; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            reads = t->kind == TERM_VALUE && t->value->def && t->value->def->in == op->in &&
                    reads_slot(t->value->def, depth + 1);
        }
    return reads;
}

/* Scales and the like are under way while the slot is waited for. */
static int place_of(const Op *op) { return op->piece == MAKES && !reads_slot(op, 0) ? 0 : 1 + op->piece; }

static int64_t elements_of(const Slice *s, Type t) {
    const int64_t rows = s->k->range.p[s->row].size / (s->k->plan.regs.n - 1);
    int64_t n = t.nrange == 2 ? rows : 0;
    for (int i = 0; i < t.nrange; i++)
        if (t.range[i] != s->row) n *= s->k->range.p[t.range[i]].size;
    return n / GROUP_THREADS;
}

/* Of what the loop carries, of a step's sums that it does not, and of two steps' operands. */
static bool has_room(const Slice *s, const Op *loop) {
    int64_t n = 0;
    for (int i = 0; i < loop->res.n; i++) n += elements_of(s, loop->res.p[i]->type);
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        if (op->kind != OP_MMA) continue;
        const Type a = op->arg.p[0]->type;
        if (op->arg.n < 3) n += elements_of(s, op->res.p[0]->type);
        if (op->arg.p[0]->def->kind != OP_GET) n += 2 * elements_of(s, a) * elem_bits(a.elem) / WORD_BITS;
    }
    return n + OTHERS <= s->k->plan.regs.p[s->k->plan.regs.n - 1];
}

static bool is_short(const Slice *s, const Op *loop) {
    int64_t first, end;
    return value_const(loop->arg.p[0], &first) && value_const(loop->arg.p[1], &end) &&
           end - first < RUN * s->k->range.p[loop->range].size;
}

void make_ahead(const Slice *s, Op *loop) {
    bool tiles = s->k->range.p[loop->range].kind == RANGE_TILE;
    if (!tiles || is_short(s, loop) || !cut_step(s, loop) || !has_room(s, loop)) {
        for (Op *op = loop->region[0]->first; op; op = op->next) op->piece = 0;
        return;
    }
    loop_sort(loop, 1 + PIECES, place_of);
    vec_push(s->m->arena, &loop->turn, ((Turn){.piece = MULTIPLIES, .shift = 1}));
    vec_push(s->m->arena, &loop->turn, (Turn){.piece = MAKES});
    vec_push(s->m->arena, &loop->turn, ((Turn){.piece = FINISHES, .shift = 1}));
    loop->runs = RUN;
}
