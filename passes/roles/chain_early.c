/* chain_early.c: steps of several first products, as of attention's backward pass, and chunks: products that read slots alone are
   issued before all else, and sums are waited for where code reads them. Takes: a loop of the groups that multiply,
   without turns. Gives: its body in another order, a piece for each group of products; or the loop as it was. */
#include "passes/roles/slice.h"

typedef struct {
    Region *body;
    VEC(Op *) op; /* in the order of the text, without the yield */
    bool *done;   /* by place */
    int piece;
    bool full; /* the piece has products */
    bool all;  /* who waits for a product waits for all */
} Early;

static bool is_slot(const Value *v) { return v->def && v->def->kind == OP_GET; }

static bool is_first(const Op *op) { return op->kind == OP_MMA && is_slot(op->arg.p[0]) && is_slot(op->arg.p[1]); }

static bool is_last(const Op *op) { return op->kind == OP_MMA && !is_first(op); }

static int place_of(const Early *e, const Op *op) {
    for (int i = 0; i < e->op.n; i++)
        if (e->op.p[i] == op) return i;
    return -1;
}

/* ---- whether it helps ---- */

static bool adds_to(const Op *op, const Op *other) {
    return op->arg.n == 3 && other && op->arg.p[2] == other->res.p[0];
}

/* Sums that are added up one product after the other count once. */
static bool helps(const Region *body, bool chunks) {
    const Op *before = NULL;
    int first = 0, last = 0;
    for (const Op *op = body->first; op; op = op->next) {
        if (op->kind == OP_FOR || (op->kind == OP_IF && op->res.n == 0)) return false;
        if (op->kind != OP_MMA) continue;
        if (is_first(op)) first += !adds_to(op, before), before = op;
        last += !is_first(op);
    }
    return (first > 1 || chunks) && last > 0;
}

/* ---- the order ---- */

static void put_op(Early *e, int at);

static void put_value(Early *e, const Value *v) {
    const int at = v->def ? place_of(e, v->def) : -1;
    if (at >= 0) put_op(e, at);
}

/* What the operation, or one in its regions, takes of the body. */
static void put_operands(Early *e, const Op *op) {
    for (int i = 0; i < op->arg.n; i++) put_value(e, op->arg.p[i]);
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE) put_value(e, op->sub.p[d].lo.term[i].value);
    for (int r = 0; r < 2; r++)
        for (const Op *in = op->region[r] ? op->region[r]->first : NULL; in; in = in->next) put_operands(e, in);
}

static bool is_issued(const Early *e, const Op *wait) {
    for (int i = 0; i < wait->arg.n; i++) {
        const int at = wait->arg.p[i]->def ? place_of(e, wait->arg.p[i]->def) : -1;
        if (at >= 0 && !e->done[at]) return false;
    }
    return true;
}

/* The last ones first: those before are done then, too. */
static void put_waits(Early *e) {
    for (int i = e->op.n - 1; i >= 0; i--)
        if (!e->done[i] && e->op.p[i]->kind == OP_READY && is_issued(e, e->op.p[i])) put_op(e, i);
}

static void put_op(Early *e, int at) {
    Op *op = e->op.p[at];
    if (e->done[at]) return;
    if (e->all && op->kind == OP_READY && is_issued(e, op)) {
        e->all = false;
        put_waits(e);
        e->all = true;
        return;
    }
    e->done[at] = true;
    put_operands(e, op);
    if (op->kind == OP_MMA && e->full && !(op->prev && op->prev->kind == OP_MMA && adds_to(op, op->prev)))
        e->piece++, e->full = false;
    e->full = e->full || op->kind == OP_MMA;
    op->piece = (int16_t)e->piece;
    op_remove(op);
    op_insert_before(e->body->last, op);
}

static void put_if(Early *e, bool (*is)(const Op *)) {
    for (int i = 0; i < e->op.n; i++)
        if (is(e->op.p[i])) put_op(e, i);
}

static bool is_load(const Op *op) { return op->kind == OP_LOAD || op->kind == OP_CONVERT; }
static bool is_line(const Op *op) { return op->kind == OP_CONVERT; }
static bool is_wait(const Op *op) { return op->kind == OP_READY; }
static bool is_free(const Op *op) { return op->kind == OP_FREE; }
static bool is_plain(const Op *op) { return !is_wait(op) && !is_free(op); }

/* Loads that the next product needs are under way before sums are waited for. */
static void put_loads(Early *e, int from) {
    for (int i = from; i < e->op.n && e->op.p[i]->kind != OP_MMA; i++)
        if (is_load(e->op.p[i])) put_op(e, i);
}

/* Threads read what the first of them need before products that read slots alone keep workgroup memory busy: 0.2 of
   1.8 ms of dK and dV [measured on an H200: bench/gpu/log.md]. */
static void put_lines(Early *e) {
    for (int i = 0; i < e->op.n && !is_last(e->op.p[i]); i++)
        if (is_line(e->op.p[i])) put_op(e, i);
}

static void put_rest(Early *e) {
    bool behind = true; /* a product */
    for (int i = 0; i < e->op.n; i++) {
        if (e->done[i] || !is_plain(e->op.p[i])) continue;
        if (behind) put_loads(e, i);
        behind = e->op.p[i]->kind == OP_MMA;
        put_op(e, i);
    }
}

/* The pieces stand in the order of the body, and none is late. */
static void set_turns(const Slice *s, Op *loop) {
    int last = -1;
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op->piece != last && op->kind != OP_YIELD)
            last = op->piece, vec_push(s->m->arena, &loop->turn, (Turn){.piece = (int8_t)last});
    loop->region[0]->last->piece = (int16_t)last;
}

void chain_early(const Slice *s, Op *loop) {
    const bool chunks = s->k->range.p[loop->range].kind == RANGE_POSITION;
    Early e = {.body = loop->region[0], .all = chunks};
    if (loop->turn.n || !helps(e.body, chunks)) return;
    for (Op *op = e.body->first; op != e.body->last; op = op->next) vec_push(s->scratch, &e.op, op);
    e.done = ARENA_ARRAY(s->scratch, bool, e.op.n + 1);
    put_lines(&e);
    put_if(&e, is_first);
    put_rest(&e);
    put_if(&e, is_wait);
    put_if(&e, is_free);
    set_turns(s, loop);
}
