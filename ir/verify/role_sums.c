/* role_sums.c: sums that are under way. From the issue of a product to `ready` only a product that adds to the sums
   names them. One group of products at most is under way from one turn to the next. */
#include "ir/verify/roles.h"

typedef struct {
    Verifier *v;
    bool *flying; /* by value: sums under way */
} Sums;

/* ---- which values are ---- */

static bool fly(const Sums *s, const Value *x) {
    bool fresh = !s->flying[x->id];
    s->flying[x->id] = true;
    return fresh;
}

static bool yields_fly(const Sums *s, const Op *op) {
    bool changed = false;
    for (int r = 0; r < 2; r++) {
        const Op *yield = op->region[r] ? op->region[r]->last : NULL;
        for (int i = 0; i < op->res.n && yield && i < yield->arg.n; i++)
            if (s->flying[yield->arg.p[i]->id]) changed |= fly(s, op->res.p[i]);
    }
    return changed;
}

static bool carried_fly(const Sums *s, const Op *loop) {
    bool changed = false;
    for (int i = 0; i < loop->res.n; i++)
        if (s->flying[loop->arg.p[2 + i]->id] || s->flying[loop->res.p[i]->id])
            changed |= fly(s, loop->region[0]->arg.p[i]) | fly(s, loop->res.p[i]);
    return changed;
}

static void flying_find(const Sums *s, const Region *r) {
    for (bool again = true; again;) {
        again = false;
        for (const Op *op = walk(r); op; op = walk_next(op, r)) {
            if (op->kind == OP_MMA) again |= fly(s, op->res.p[0]);
            if (op->kind == OP_FOR || op->kind == OP_IF) again |= yields_fly(s, op);
            if (op->kind == OP_FOR) again |= carried_fly(s, op);
        }
    }
}

/* ---- who names them ---- */

/* The product that makes the sums, through what carries them; NULL: none. */
static const Op *product_of(const Value *x, int depth) {
    enum { DEEP = 64 }; /* regions within regions; more are not looked at */
    const Op *op = x->def ? x->def : x->arg_of->parent;
    if (!op || depth > DEEP) return NULL;
    if (op->kind == OP_MMA) return op;
    for (int r = 0; r < 2 && (op->kind == OP_FOR || op->kind == OP_IF); r++) {
        const Op *yield = op->region[r] ? op->region[r]->last : NULL;
        const Value *next = yield && x->index < yield->arg.n ? yield->arg.p[x->index] : NULL;
        const Op *found = next && next != x ? product_of(next, depth + 1) : NULL;
        if (found) return found;
    }
    return NULL;
}

static void operand_verify(const Sums *s, const Op *op, int i) {
    const Value *x = op->arg.p[i];
    if (op->kind == OP_READY && !s->flying[x->id]) violation(s->v, op->loc, "ready of what no product makes");
    if (!s->flying[x->id] || op->kind == OP_READY || op->kind == OP_YIELD || (op->kind == OP_FOR && i >= 2)) return;
    const Op *product = op->kind == OP_MMA && i == 2 ? product_of(x, 0) : NULL;
    if (op->kind != OP_MMA || i != 2)
        violation(s->v, op->loc, "%s reads sums that are not ready", op_info[op->kind].text);
    else if (product && product->by != op->by)
        violation(s->v, op->loc, "mma by '%s' adds to sums of '%s' that are not ready", op->by, product->by);
}

static void names_verify(const Sums *s, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->arg.n; i++) operand_verify(s, op, i);
}

/* ---- sums keep their registers ---- */

/* The sums that x takes over, where it comes from: an argument of the region, a value outside, or NULL: none. */
static const Value *root_in(const Region *r, const Value *x) {
    for (;;) {
        const Op *op = x->def ? op_within(x->def, r) : NULL;
        if (!op) return x;
        if (op->kind == OP_MMA && op->arg.n < 3) return NULL;
        if (op->kind == OP_MMA)
            x = op->arg.p[2];
        else if (op->kind == OP_FOR)
            x = op->arg.p[2 + x->index];
        else if (op->kind == OP_IF)
            x = root_in(op->region[0], op->region[0]->last->arg.p[x->index]);
        else
            return x;
        if (!x) return NULL;
    }
}

static void branches_verify(const Sums *s, const Op *op) {
    for (int i = 0; i < op->res.n; i++) {
        if (!s->flying[op->res.p[i]->id]) continue;
        const Value *a = root_in(op->region[0], op->region[0]->last->arg.p[i]),
                    *b = root_in(op->region[1], op->region[1]->last->arg.p[i]);
        if (!a || a != b) violation(s->v, op->loc, "a condition around mma leaves other sums than those that it took");
    }
}

static void carried_verify(const Sums *s, const Op *loop) {
    const Region *body = loop->region[0];
    for (int i = 0; i < loop->res.n; i++) {
        const Value *x = body->last->arg.p[i];
        const Value *root = s->flying[x->id] ? root_in(body, x) : NULL;
        if (root && root->arg_of == body && root->index != i)
            violation(s->v, loop->loc, "sums that are not ready change places from one turn to the next");
    }
}

/* Sums that are not ready are not copied: the next product takes them over at their last use. */
static void taken_verify(const Sums *s, const Op *loop) {
    const Region *body = loop->region[0];
    for (const Op *op = walk(body); op; op = walk_next(op, body))
        for (int i = 0; i < op->arg.n; i++) {
            const Value *x = op->arg.p[i];
            int later;
            if (x->arg_of != body || !s->flying[x->id] || op_within(op, body)->kind == OP_YIELD) continue;
            const Op *maker = value_maker(x, body, &later);
            if (maker && when_compare(op_when(op, body), op_when(maker, body)) > 0)
                violation(s->v, op->loc, "%s reads sums of the turn before, which a product has taken over",
                          op_info[op->kind].text);
        }
}

/* ---- from one turn to the next ---- */

static bool is_carried(const Region *body, const Value *x) {
    for (int i = 0; i < body->last->arg.n && body->last->kind == OP_YIELD; i++)
        if (body->last->arg.p[i] == x) return true;
    return false;
}

/* The operation issues products in a turn whose sums are ready in a later one. */
static bool lasts(const Sums *s, const Region *body, const Op *op) {
    for (int i = 0; i < op->res.n; i++) {
        const Value *x = op->res.p[i];
        if (!s->flying[x->id]) continue;
        if (is_carried(body, x)) return true;
        for (const Op *use = body->first; use; use = use->next)
            for (int u = 0; u < use->arg.n && use->kind == OP_READY; u++)
                if (use->arg.p[u] == x && op_when(use, body).turn > op_when(op, body).turn) return true;
    }
    return false;
}

static void groups_verify(const Sums *s, const Op *loop) {
    const Region *body = loop->region[0];
    const Op *first = NULL;
    for (const Op *op = body->first; op; op = op->next) {
        if (!lasts(s, body, op)) continue;
        if (first && op_when(first, body).place != op_when(op, body).place)
            violation(s->v, op->loc, "products of two pieces are under way from one turn to the next");
        first = op;
    }
}

/* Products that nobody waits for would still write their sums when the registers have other values. */
static void ends_verify(const Sums *s, const Region *r, const Uses *u) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->res.n; i++)
            if (s->flying[op->res.p[i]->id] && !u->count[op->res.p[i]->id])
                violation(s->v, op->loc, "the sums of %s are never ready", op_info[op->kind].text);
}

void role_sums_verify(Verifier *v, const Role *r) {
    const Uses uses = uses_of(v->k, v->scratch);
    const Sums s = {v, ARENA_ARRAY(v->scratch, bool, v->k->nvalue + 1)};
    flying_find(&s, r->body);
    names_verify(&s, r->body);
    ends_verify(&s, r->body, &uses);
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) {
        if (op->kind == OP_IF && op->res.n) branches_verify(&s, op);
        if (op->deferred && sum_of_loop(&uses, op, true) < 0)
            violation(v, op->loc, "a sum that cannot be made behind its loop");
        if (op->kind != OP_FOR) continue;
        carried_verify(&s, op);
        taken_verify(&s, op);
        groups_verify(&s, op);
    }
}
