/* role_turns.c: turns of loops in roles. A value is read after it is made, and before it is made anew. Slots come and
   go in the order of the text, and are read in between. */
#include "ir/verify/role_run.h"

/* ---- the list of pieces ---- */

static bool is_listed(const Op *loop, int piece) {
    for (int i = 0; i < loop->turn.n; i++)
        if (loop->turn.p[i].piece == piece) return true;
    return false;
}

static bool has_ops(const Op *loop, int piece) {
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind != OP_YIELD && op->piece == piece) return true;
    return false;
}

static void pieces_verify(Verifier *v, const Role *r, const Op *loop) {
    for (int i = 0; i < loop->turn.n; i++) {
        const Turn *t = &loop->turn.p[i];
        char name = (char)('A' + t->piece);
        for (int j = 0; j < i; j++)
            if (loop->turn.p[j].piece == t->piece) violation(v, loop->loc, "piece %c stands twice in a turn", name);
        if (t->shift < 0) violation(v, loop->loc, "piece %c runs before its iteration begins", name);
        if (!has_ops(loop, t->piece)) violation(v, loop->loc, "piece %c has no operation", name);
        if (t->alone && role_groups(r) < 2)
            violation(v, loop->loc, "piece %c is for one group at a time, and role '%s' has one", name, r->name);
    }
}

static bool is_in_loop(const Op *op) {
    while ((op = op->in->parent))
        if (op->kind == OP_FOR) return true;
    return false;
}

/* Bounds of loops that get slots are the same in all groups; products keep the threads of a group together. */
static void ends_verify(Verifier *v, const Role *r, const Op *loop) {
    bool gets = false, multiplies = false;
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        gets |= op->kind == OP_GET, multiplies |= op->kind == OP_MMA;
    if (!loop->ends) return;
    if (loop->ends < 0 || loop->ends > ROLE_MOST)
        violation(v, loop->loc, "groups end %d iterations in turn; %d at most", loop->ends, ROLE_MOST);
    if (role_groups(r) < 2) violation(v, loop->loc, "groups end a loop in turn, and role '%s' has one", r->name);
    if (!gets || !multiplies) violation(v, loop->loc, "groups end a loop in turn that gets no slot or has no product");
    if (is_in_loop(loop)) violation(v, loop->loc, "groups end a loop in turn that stands in another");
}

/* Iterations of a run are written out. */
static void runs_verify(Verifier *v, const Op *loop) {
    if (!loop->runs) return;
    if (loop->runs < 2 || loop->runs > ROLE_MOST)
        violation(v, loop->loc, "a run has %d iterations; 2 to %d at most", loop->runs, ROLE_MOST);
    if (loop->ends) violation(v, loop->loc, "groups end a loop in turn whose turns begin anew after each run");
}

static void placed_verify(Verifier *v, const Op *loop, const Region *body) {
    for (const Op *op = body->first; op; op = op->next) {
        bool turns = loop && loop->turn.n;
        if (op->kind != OP_YIELD && turns && !is_listed(loop, op->piece))
            violation(v, op->loc, "piece %c is in no turn", 'A' + op->piece);
        if (!turns && op->piece)
            violation(v, op->loc, "%s is of a piece, and its loop has no turns", op_info[op->kind].text);
    }
}

/* ---- values ---- */

/* A slot's tile lies elsewhere in each iteration; a constant is the same. */
static bool stays(const Op *maker) { return maker->kind == OP_GET || maker->kind == OP_CONST; }

static const Op *ready_of(const Region *body, const Value *sum) {
    for (const Op *op = body->first; op; op = op->next)
        for (int i = 0; i < op->arg.n && op->kind == OP_READY; i++)
            if (op->arg.p[i] == sum) return op;
    return NULL;
}

/* Registers that a product reads are free when it is done. False: that is after the loop's body. */
static bool read_until(const Op *use, int operand, const Region *body, When *until) {
    *until = op_when(use, body);
    if (use->kind != OP_MMA || operand > 1) return true;
    const Op *ready = use->in == body ? ready_of(body, use->res.p[0]) : NULL;
    if (ready) *until = op_when(ready, body);
    return ready != NULL;
}

/* The first use of what the loop carries, in an iteration. */
static When first_use(const Region *body, const Value *carried, When first) {
    for (const Op *op = walk(body); op; op = walk_next(op, body))
        for (int i = 0; i < op->arg.n; i++)
            if (op->arg.p[i] == carried && op_within(op, body)->kind != OP_YIELD &&
                when_compare(op_when(op, body), first) < 0)
                first = op_when(op, body);
    return first;
}

/* Each iteration of a run has registers of its own, but for what the loop carries. */
static bool is_renamed(const Region *body, int later) { return body->parent && body->parent->runs && !later; }

/* What the loop carries is copied when its last use is over, and before the first one of the next iteration. */
static bool is_past(const Region *body, const Value *x, int later, When made, When until) {
    bool past = when_compare(until, when_later(made, 1)) > 0;
    return past || (later && when_compare(until, when_later(first_use(body, x, until), 1)) > 0);
}

static void use_verify(Verifier *v, const Op *use, int operand, const Value *x, const Region *body) {
    int later;
    const Op *maker = value_maker(x, body, &later), *top = op_within(use, body);
    When until;
    if (!maker || (maker == top && !later)) return;
    const When made = op_when(maker, body), used = when_later(op_when(use, body), later);
    if (when_compare(used, made) < 0)
        violation(v, use->loc, "%s reads a value that is made later in its turns", op_info[use->kind].text);
    else if (!stays(maker) && !read_until(use, operand, body, &until))
        violation(v, use->loc, "the registers that mma reads are made anew before it is ready");
    else if (!stays(maker) && !is_renamed(body, later) && is_past(body, x, later, made, until))
        violation(v, use->loc, "%s reads a value that has been made anew", op_info[use->kind].text);
}

static void uses_verify(Verifier *v, const Region *body) {
    for (const Op *op = walk(body); op; op = walk_next(op, body)) {
        if (op->kind == OP_YIELD && op->in == body) continue;
        for (int i = 0; i < op->arg.n; i++) use_verify(v, op, i, op->arg.p[i], body);
        for (int d = 0; d < op->sub.n; d++)
            for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
                if (op->sub.p[d].lo.term[i].kind == TERM_VALUE)
                    use_verify(v, op, 2, op->sub.p[d].lo.term[i].value, body);
    }
}

/* ---- slots ---- */

static const Op *next_of(const Op *op, OpKind kind, int ring) {
    while (op && (op->kind != kind || op->ring != ring)) op = op->next;
    return op;
}

/* Slots go round in the order of the text: the operations of one kind on a ring are in it, and all of one turn. */
static void order_verify(Verifier *v, const Region *body, OpKind kind, int ring) {
    const Op *a = next_of(body->first, kind, ring), *b;
    for (; a && (b = next_of(a->next, kind, ring)); a = b) {
        const When x = op_when(a, body), y = op_when(b, body);
        if (x.turn != y.turn || when_compare(x, y) > 0)
            violation(v, b->loc, "%s of ring '%s' runs in another turn than, or before, the one in front of it",
                      op_info[kind].text, v->k->roles->ring.p[ring].name);
    }
}

static void life_verify(Verifier *v, const Region *body, const Op *get, const Op *back) {
    const When end = op_when(back, body);
    const char *ring = v->k->roles->ring.p[get->ring].name;
    if (when_compare(end, op_when(get, body)) < 0)
        violation(v, back->loc, "a slot of ring '%s' goes back before it has come", ring);
    for (const Op *op = walk(body); op; op = walk_next(op, body))
        for (int i = 0; i < op->arg.n; i++)
            if (op->arg.p[i]->def == get && op->kind != OP_YIELD && when_compare(op_when(op, body), end) > 0)
                violation(v, op->loc, "%s reads a tile of ring '%s' that has gone back", op_info[op->kind].text, ring);
}

static int count_in(const Region *body, OpKind kind, int ring) {
    int n = 0;
    for (const Op *op = next_of(body->first, kind, ring); op; op = next_of(op->next, kind, ring)) n++;
    return n;
}

/* The slots that the body gets and gives back: the first that it gets is the first that goes. */
static void slots_verify(Verifier *v, const Region *body, int ring) {
    order_verify(v, body, OP_PUT, ring);
    order_verify(v, body, OP_GET, ring);
    order_verify(v, body, OP_FREE, ring);
    if (count_in(body, OP_GET, ring) != count_in(body, OP_FREE, ring)) return;
    const Op *get = next_of(body->first, OP_GET, ring), *back = next_of(body->first, OP_FREE, ring);
    for (; get && back; get = next_of(get->next, OP_GET, ring), back = next_of(back->next, OP_FREE, ring))
        life_verify(v, body, get, back);
}

/* A slot's tile has no other name than the get's result. */
static void names_verify(Verifier *v, const Op *op) {
    for (int i = 0; i < op->arg.n; i++) {
        const Value *x = op->arg.p[i];
        bool kept = op->kind == OP_YIELD || (op->kind == OP_FOR && i >= 2);
        if (kept && x->def && x->def->kind == OP_GET && x->type.nrange)
            violation(v, op->loc, "a tile of ring '%s' is carried on", v->k->roles->ring.p[x->def->ring].name);
    }
}

/* ---- regions ---- */

static void region_turns_verify(Verifier *v, const Role *r, const Region *body) {
    const Op *loop =
        body->parent && body->parent->kind == OP_FOR && body == body->parent->region[0] ? body->parent : NULL;
    int before = v->violations;
    if (loop) pieces_verify(v, r, loop), ends_verify(v, r, loop), runs_verify(v, loop);
    placed_verify(v, loop, body);
    if (v->violations != before) return;
    if (loop) uses_verify(v, body);
    for (int ring = 0; ring < v->k->roles->ring.n; ring++) slots_verify(v, body, ring);
}

void role_turns_verify(Verifier *v, const Role *r) {
    region_turns_verify(v, r, r->body);
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) {
        names_verify(v, op);
        for (int i = 0; i < 2; i++)
            if (op->region[i]) region_turns_verify(v, r, op->region[i]);
    }
}
