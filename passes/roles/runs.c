/* runs.c: loops in whose steps sums of products are looked at, as those with scales. Before a step is finished, the
   products of the next one begin, and what scales them is loaded: within runs of a few steps.
   Takes: such a loop of the groups that multiply. Gives: its turns. */
#include "passes/roles/slice.h"

enum {
    MOST = 16,       /* steps of a run: measured on an H200, as are ANY and LOADING, bench/gpu/log.md */
    MOST_ALONE = 12, /* of one group: 16 spill (compiled) */
    LONG = 8,        /* fewest, where other lengths leave more steps to no run */
    ANY = 8,         /* where their number is not known */
    LOADING = 4,     /* where each loads something */
    FEWEST = 4,      /* in all [chosen] */
    LEAST_SLOTS = 3, /* of a ring: two steps are read, one is copied */
    OTHERS = 40,     /* registers of a thread beside sums: none spills [compiled] */
    GROUP_THREADS = 128
};

/* Pieces of a step, in the order of the text. */
enum { BEGINS, FINISHES };

/* Of a thread: its share of such a tile. */
static int64_t registers_of(const Slice *s, Type t) {
    const int64_t rows = s->k->range.p[s->row].size / (s->k->plan.regs.n - 1);
    return t.nrange == 2 ? rows * s->k->range.p[s->column].size / GROUP_THREADS : 0;
}

/* ---- pieces ---- */

/* Some value that the operation reads is so. */
static bool reads(const Op *op, bool (*is)(const Value *, const Region *body)) {
    for (int i = 0; i < op->arg.n; i++)
        if (is(op->arg.p[i], op->in)) return true;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE && is(op->sub.p[d].lo.term[i].value, op->in)) return true;
    return false;
}

static bool is_made(const Value *v, const Region *body) { return v->def && v->def->in == body; }

/* Passed on, or made where a step is finished. */
static bool is_finished(const Value *v, const Region *body) {
    return v->arg_of == body || (is_made(v, body) && v->def->piece == FINISHES);
}

/* Other than a place that is known as the step begins. */
static bool is_no_place(const Value *v, const Region *body) {
    return is_finished(v, body) || (is_made(v, body) && (v->def->kind == OP_LOAD || v->def->kind == OP_MMA));
}

/* What is small is loaded as the step begins, and looked at when it is finished. */
static int piece_of(const Op *op) {
    if (op->kind == OP_GET || op->kind == OP_MMA) return BEGINS;
    bool small = op->res.n == 1 && op->res.p[0]->type.nrange < 2 && op->kind != OP_READY;
    return small && !reads(op, is_no_place) ? BEGINS : FINISHES;
}

/* False: a step begins with some of what finishes one. */
static bool cut_step(const Slice *s, const Op *loop) {
    bool cut = true, waits = false;
    for (Op *op = loop->region[0]->first; op; op = op->next) {
        op->piece = (int16_t)piece_of(op);
        waits |= op->kind == OP_READY;
        bool few = op->kind == OP_GET && s->k->roles->ring.p[op->ring].slots < LEAST_SLOTS;
        cut &= !op->region[0] && !few && !(op->piece == BEGINS && reads(op, is_finished)) &&
               op_info[op->kind].class != CLASS_SYNC;
    }
    return cut && waits;
}

enum { LOADED, MULTIPLIED, READY, FREED, LOOKED_AT, PLACES };

/* Loads are under way while a slot is waited for, and nothing looks at them until the sums are ready. Slots go back before
   sums are looked at. */
static int place_of(const Op *op) {
    if (op->piece == BEGINS) return op->kind == OP_GET || op->kind == OP_MMA ? MULTIPLIED : LOADED;
    return op->kind == OP_READY ? READY : op->kind == OP_FREE ? FREED : LOOKED_AT;
}

void loop_sort(const Op *loop, int places, int (*of)(const Op *)) {
    Op *at = loop->region[0]->first, *next;
    for (int place = 0; place < places; place++)
        for (Op *op = at; op; op = next) {
            next = op->next;
            if (of(op) != place) continue;
            if (op == at) {
                at = next;
                continue;
            }
            op_remove(op);
            op_insert_before(at, op);
        }
}

/* Of what the loop carries, and of two steps' sums. */
static bool has_room(const Slice *s, const Op *loop) {
    int64_t n = 0;
    for (int i = 0; i < loop->res.n; i++) n += registers_of(s, loop->res.p[i]->type);
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        for (int i = 0; i < op->res.n && op->kind == OP_MMA; i++) n += 2 * registers_of(s, op->res.p[i]->type);
    return n + OTHERS <= s->k->plan.regs.p[s->k->plan.regs.n - 1];
}

static bool loads(const Op *loop) {
    bool any = false;
    for (const Op *op = loop->region[0]->first; op; op = op->next) any |= op->kind == OP_LOAD;
    return any;
}

/* Whole ones; -1: not known. */
static int64_t steps_of(const Slice *s, const Op *loop) {
    int64_t first, end;
    if (!value_const(loop->arg.p[0], &first) || !value_const(loop->arg.p[1], &end)) return -1;
    return end > first ? (end - first) / s->k->range.p[loop->range].size : 0;
}

/* Steps that fill no run wait for their own products. 0: there are too few. */
static int run_length(const Slice *s, const Op *loop) {
    const int64_t steps = steps_of(s, loop);
    if (steps >= 0 && steps < FEWEST) return 0;
    if (loads(loop)) return LOADING;
    if (steps < 0) return ANY;
    const int most = s->k->plan.regs.n > 2 ? MOST : MOST_ALONE;
    if (steps <= most) return (int)steps;
    int best = most;
    for (int n = most - 1; n >= LONG; n--)
        if (steps % n < steps % best) best = n;
    return best;
}

void take_runs(const Slice *s, Op *loop) {
    bool tiles = s->k->range.p[loop->range].kind == RANGE_TILE;
    const int run = tiles ? run_length(s, loop) : 0;
    if (!run || !cut_step(s, loop) || !has_room(s, loop)) {
        for (Op *op = loop->region[0]->first; op; op = op->next) op->piece = 0;
        return;
    }
    loop_sort(loop, PLACES, place_of);
    vec_push(s->m->arena, &loop->turn, (Turn){.piece = BEGINS});
    vec_push(s->m->arena, &loop->turn, ((Turn){.piece = FINISHES, .shift = 1}));
    loop->runs = (int16_t)run;
}
