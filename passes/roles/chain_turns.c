/* chain_turns.c: steps of products in a chain overlap: the first products of a step run beside the last ones of the
   step before (software pipelining, FlashAttention-3: arXiv 2407.08608). Takes: a loop of the groups that multiply, as
   its body stands. Gives: its pieces in turns; or the loop as it was. */
#include "passes/roles/slice.h"

/* In the order of the data: what first products add to, as a bias; these, those of the first sum, then others; what is
   made of them; sums of the steps before, scaled for this one; operands of the last products; these; their sums. */
enum { FRONT, HEAD, SECOND, MIDDLE, SCALE, PACK, TAIL, END, PIECES };

typedef struct {
    const Region *body;
} Step;

static bool is_slot(const Value *v) { return v->def && v->def->kind == OP_GET; }

static bool is_last_product(const Op *op) { return op->kind == OP_MMA && !is_slot(op->arg.p[0]); }

static bool reads_ring(const Op *mma, int ring) {
    for (int i = 0; i < 2 && mma->kind == OP_MMA; i++)
        if (is_slot(mma->arg.p[i]) && mma->arg.p[i]->def->ring == ring) return true;
    return false;
}

/* Products that only slots are operands of, and whose sums are not added to those of the first such ones. */
static bool is_second(const Step *s, const Op *mma) {
    const Op *before = NULL;
    for (const Op *op = s->body->first; op && op != mma; op = op->next)
        if (op->kind == OP_MMA && !is_last_product(op)) before = op;
    const Value *sum = mma->arg.n > 2 ? mma->arg.p[2] : NULL;
    return before && !(sum && sum->def && sum->def->kind == OP_MMA && !is_second(s, sum->def));
}

static int product_piece(const Step *s, const Op *mma) {
    return is_last_product(mma) ? TAIL : is_second(s, mma) ? SECOND : HEAD;
}

/* The first piece whose products read the ring, or the last one. MIDDLE: threads read it. */
static int ring_piece(const Step *s, int ring, bool last) {
    int found = -1;
    for (const Op *op = s->body->first; op; op = op->next) {
        const int piece = reads_ring(op, ring) ? product_piece(s, op) : -1;
        if (piece >= 0 && (found < 0 || (piece > found) == last)) found = piece;
    }
    return found < 0 ? MIDDLE : found;
}

/* The n-th value that the operation reads: its operands, then those of its subscripts; NULL: it reads fewer. */
static const Value *value_read(const Op *op, int n) {
    if (n < op->arg.n) return op->arg.p[n];
    n -= op->arg.n;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            if (t->kind == TERM_VALUE && n-- == 0) return t->value;
        }
    return NULL;
}

/* First products add to what is made of it. */
static bool feeds_first(const Step *s, const Op *op, int depth) {
    enum { DEEP = 8 /* operations */ };
    for (const Op *use = s->body->first; use && depth < DEEP && op->res.n == 1; use = use->next)
        for (int i = 0; value_read(use, i); i++) {
            if (value_read(use, i) != op->res.p[0]) continue;
            const bool product = use->kind == OP_MMA;
            if (product ? !is_last_product(use) && i == 2 : feeds_first(s, use, depth + 1)) return true;
        }
    return false;
}

static bool packs(const Step *s, const Op *op) {
    if (op->kind != OP_CAST) return false;
    for (const Op *use = s->body->first; use; use = use->next)
        if (is_last_product(use) && use->arg.p[0] == op->res.p[0]) return true;
    return false;
}

static bool is_made_at(const Step *s, const Value *v, int piece) {
    return v->def && v->def->in == s->body && v->def->kind != OP_CONST && v->def->piece == piece;
}

/* What the loop carries, and the last piece makes. */
static bool is_carried_late(const Step *s, const Value *v) {
    return v->arg_of == s->body && is_made_at(s, s->body->last->arg.p[v->index], END);
}

/* A sum of the last products that is scaled for them, right in front. */
static bool scales_sum(const Step *s, const Op *op) {
    for (const Op *use = s->body->first; use; use = use->next)
        if (is_last_product(use) && use->arg.n == 3 && use->arg.p[2] == op->res.p[0]) return op->res.n == 1;
    return false;
}

static bool follows_end(const Step *s, const Op *op) {
    for (int i = 0; i < op->arg.n; i++)
        if (is_made_at(s, op->arg.p[i], END) || (op->kind == OP_READY && is_made_at(s, op->arg.p[i], TAIL)))
            return true;
    return op->kind == OP_YIELD;
}

static int piece_of(const Step *s, const Op *op) {
    if (op->kind == OP_MMA) return product_piece(s, op);
    if (op->kind == OP_GET) return ring_piece(s, op->ring, false);
    if (op->kind == OP_FREE) return ring_piece(s, op->ring, true) == TAIL ? END : MIDDLE;
    if (follows_end(s, op)) return END;
    if (feeds_first(s, op, 0)) return FRONT;
    if (packs(s, op)) return PACK;
    return op_is_elementwise(op) && scales_sum(s, op) ? SCALE : MIDDLE;
}

/* ---- whether the values allow it ---- */

/* In which turn, and where in it, a piece runs: FRONT HEAD SECOND TAIL@1 MIDDLE END@1 SCALE PACK. */
static bool may_read(int maker, int reader) {
    static const bool may[PIECES][PIECES] = {
        [FRONT] = {[FRONT] = true, [HEAD] = true, [SECOND] = true, [MIDDLE] = true},
        [HEAD] = {[HEAD] = true, [SECOND] = true, [MIDDLE] = true},
        [SECOND] = {[SECOND] = true, [MIDDLE] = true},
        [MIDDLE] = {[MIDDLE] = true, [SCALE] = true, [PACK] = true, [TAIL] = true},
        [SCALE] = {[SCALE] = true, [TAIL] = true},
        [PACK] = {[PACK] = true, [TAIL] = true, [END] = true},
        [TAIL] = {[TAIL] = true, [END] = true},
        [END] = {[END] = true},
    };
    return may[maker][reader];
}

static bool operand_fits(const Step *s, const Op *op, const Value *v) {
    const Op *def = v->def;
    if (v->arg_of == s->body) {
        const bool late = is_carried_late(s, v);
        return late ? op->piece == TAIL || op->piece == SCALE : op->piece == MIDDLE;
    }
    if (!def || def->in != s->body || def->kind == OP_CONST) return true;
    if (def->kind == OP_GET) return def->piece <= op->piece; /* a slot keeps its name up to the free */
    const bool crosses = (def->piece < TAIL) != (op->piece < TAIL);
    return may_read(def->piece, op->piece) && !(crosses && v->type.nrange == 0);
}

static bool yields_fit(const Step *s) {
    const Op *yield = s->body->last;
    for (int i = 0; i < yield->arg.n; i++) {
        const Value *v = yield->arg.p[i];
        if (v->arg_of == s->body || !v->def || v->def->in != s->body || v->type.nrange == 0) return false;
        if (v->def->piece != MIDDLE && v->def->piece != END) return false;
    }
    return true;
}

/* as: in the piece of this operation. */
static bool operands_fit(const Step *s, const Op *as, const Op *op) {
    for (int i = 0; value_read(op, i); i++)
        if (!operand_fits(s, as, value_read(op, i))) return false;
    return true;
}

static bool region_fits(const Step *s, const Op *outer) {
    for (int r = 0; r < 2; r++)
        for (const Op *op = walk(outer->region[r]); op; op = walk_next(op, outer->region[r])) {
            Op as = {.piece = outer->piece};
            if (!operands_fit(s, &as, op)) return false;
        }
    return true;
}

static bool turns_fit(const Step *s) {
    int first = 0, last = 0;
    for (const Op *op = s->body->first; op && op->kind != OP_YIELD; op = op->next) {
        first += op->kind == OP_MMA && (op->piece == HEAD || op->piece == SECOND),
            last += op->kind == OP_MMA && op->piece == TAIL;
        if (!operands_fit(s, op, op)) return false;
        if (is_last_product(op) && !packs(s, op->arg.p[0]->def ? op->arg.p[0]->def : op)) return false;
        if (!region_fits(s, op)) return false;
    }
    return first && last && yields_fit(s);
}

/* ---- building ---- */

static void sort_pieces(const Slice *s, Region *body) {
    VEC(Op *) op = {0};
    for (Op *x = body->first; x != body->last; x = x->next) vec_push(s->scratch, &op, x);
    for (int piece = 0; piece < PIECES; piece++)
        for (int i = 0; i < op.n; i++) {
            if (op.p[i]->piece != piece) continue;
            op_remove(op.p[i]);
            op_insert_before(body->last, op.p[i]);
        }
}

static bool has_piece(const Step *s, int piece) {
    for (const Op *op = s->body->first; op; op = op->next)
        if (op->piece == piece) return true;
    return false;
}

/* Those that there are, one after the other. */
static void number_pieces(const Step *s, Op *loop) {
    int number[PIECES], n = 0;
    for (int piece = 0; piece < PIECES; piece++) number[piece] = has_piece(s, piece) ? n++ : -1;
    for (Op *op = loop->region[0]->first; op; op = op->next) op->piece = (int16_t)number[op->piece];
    for (int i = 0; i < loop->turn.n; i++) loop->turn.p[i].piece = (int8_t)number[loop->turn.p[i].piece];
}

void chain_turns(const Slice *s, Op *loop) {
    const bool alone = s->k->plan.regs.n - 1 > 1; /* groups: the products of one run beside the arithmetic of others */
    const Turn line[] = {{.piece = FRONT},
                         {.piece = HEAD, .alone = alone},
                         {.piece = SECOND, .alone = alone},
                         {.piece = TAIL, .shift = 1, .alone = alone},
                         {.piece = MIDDLE},
                         {.piece = END, .shift = 1},
                         {.piece = SCALE},
                         {.piece = PACK}};
    const Step step = {loop->region[0]};
    for (Op *op = step.body->first; op; op = op->next) op->piece = (int16_t)piece_of(&step, op);
    if (!turns_fit(&step) || !chain_holds_steps(s)) {
        for (Op *op = step.body->first; op; op = op->next) op->piece = 0;
        return;
    }
    sort_pieces(s, loop->region[0]);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (has_piece(&step, line[i].piece)) vec_push(s->m->arena, &loop->turn, line[i]);
    number_pieces(&step, loop);
}
