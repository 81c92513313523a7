/* runs.c: loops in whose steps sums of products are looked at, as those with scales: the products of a step are begun
   before the sums of the one before are looked at, within runs of a few steps.
   Takes: such a loop of the groups that multiply. Gives: its turns. */
#include "passes/roles/slice.h"

enum {
    RUN = 4,             /* steps: measured on an H200, bench/gpu/log.md */
    LEAST_SLOTS = 3,     /* of a ring: two steps are read, one is copied */
    SUM_REGISTERS = 192, /* of a thread's 232, for tiles */
    GROUP_THREADS = 128
};

/* Of a thread: its share of such a tile. */
static int64_t registers_of(const Slice *s, Type t) {
    const int64_t rows = s->k->range.p[s->row].size / (s->k->plan.regs.n - 1);
    return t.nrange == 2 ? rows * s->k->range.p[s->column].size / GROUP_THREADS : 0;
}

/* Made, or passed on, where a step is finished. */
static bool comes_late(const Value *v, const Region *body) {
    return v->arg_of == body || (v->def && v->def->in == body && v->def->piece);
}

static bool reads_late(const Op *op) {
    for (int i = 0; i < op->arg.n; i++)
        if (comes_late(op->arg.p[i], op->in)) return true;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE && comes_late(op->sub.p[d].lo.term[i].value, op->in))
                return true;
    return false;
}

static bool finishes(const Op *op) {
    return op->kind == OP_READY || op->kind == OP_FREE || op->kind == OP_YIELD || reads_late(op);
}

/* What waits for products, and what follows from that, finishes a step. False: a step begins with some of it. */
static bool cut_step(const Slice *s, const Op *loop) {
    bool cut = true, waits = false;
    for (Op *op = loop->region[0]->first; op; op = op->next) {
        op->piece = finishes(op);
        waits |= op->kind == OP_READY;
        bool begins = op->kind == OP_GET || op->kind == OP_MMA;
        bool few = op->kind == OP_GET && s->k->roles->ring.p[op->ring].slots < LEAST_SLOTS;
        cut &= !op->region[0] && !few && !(begins && op->piece) && op_info[op->kind].class != CLASS_SYNC;
    }
    return cut && waits;
}

/* Of what the loop carries, and of two steps' sums and what lies beside them. */
static bool has_room(const Slice *s, const Op *loop) {
    int64_t n = 0;
    for (int i = 0; i < loop->res.n; i++) n += registers_of(s, loop->res.p[i]->type);
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        for (int i = 0; i < op->res.n && !op->piece && op->kind != OP_GET; i++)
            n += 2 * registers_of(s, op->res.p[i]->type);
    return n <= SUM_REGISTERS;
}

static bool is_short(const Slice *s, const Op *loop) {
    int64_t first, end;
    return value_const(loop->arg.p[0], &first) && value_const(loop->arg.p[1], &end) &&
           end - first < RUN * s->k->range.p[loop->range].size;
}

/* What begins a step stands in front. */
static void sort_pieces(const Op *loop) {
    Op *late = loop->region[0]->first, *next;
    while (!late->piece) late = late->next;
    for (Op *op = late; op; op = next) {
        next = op->next;
        if (op->piece) continue;
        op_remove(op);
        op_insert_before(late, op);
    }
}

void take_runs(const Slice *s, Op *loop) {
    bool tiles = s->k->range.p[loop->range].kind == RANGE_TILE;
    if (!tiles || is_short(s, loop) || !cut_step(s, loop) || !has_room(s, loop)) {
        for (Op *op = loop->region[0]->first; op; op = op->next) op->piece = 0;
        return;
    }
    sort_pieces(loop);
    vec_push(s->m->arena, &loop->turn, (Turn){.piece = 0});
    vec_push(s->m->arena, &loop->turn, ((Turn){.piece = 1, .shift = 1}));
    loop->runs = RUN;
}
