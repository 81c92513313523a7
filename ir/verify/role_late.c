/* role_late.c: loops over parts of a tile that run while the next task's products do. Such a loop is the end of a role
   of groups, takes from its task what registers keep, and has rings of its own. */
#include "ir/verify/roles.h"

enum { MOST_TURNS = 16 }; /* of an iteration: as many columns as a warp writes at once are a part of a tile */

static void place_verify(Verifier *v, const Role *r, const Op *loop) {
    const Op *beside = role_beside(r), *get = beside ? beside->region[0]->first : NULL;
    while (get && get->kind != OP_GET) get = get->next;
    if (loop->late < 0 || loop->late > MOST_TURNS)
        violation(v, loop->loc, "an iteration of a late loop runs in %d turns; %d at most", loop->late, MOST_TURNS);
    if (!loop->unrolled || !v->k->range.p[loop->range].part_of || loop->res.n)
        violation(v, loop->loc, "a late loop is an unrolled one over parts of a tile, and carries nothing");
    else if (loop->in != r->body || loop->next || r->first < 0 || r->in >= 0)
        violation(v, loop->loc, "a late loop is not the last operation of a role of groups");
    else if (!get)
        violation(v, loop->loc, "role '%s' has no loop with turns that gets slots, beside which a late one runs",
                  r->name);
}

/* Its turns are those of the products around it. */
static void operation_verify(Verifier *v, const Op *op) {
    bool waits = op_info[op->kind].class == CLASS_SYNC || op->kind == OP_MMA || op->kind == OP_READY;
    if (waits || op->kind == OP_FOR || op->kind == OP_IF)
        violation(v, op->loc, "%s stands in a late loop", op_info[op->kind].text);
}

/* Slots of a ring come and go in the order of the tasks. */
static void ring_verify(Verifier *v, const Role *r, const Op *op, const Op *loop) {
    if ((op->kind != OP_PUT && op->kind != OP_GET) || op_within(op, loop->region[0])) return;
    for (const Op *in = walk(loop->region[0]); in; in = walk_next(in, loop->region[0]))
        if ((in->kind == OP_PUT || in->kind == OP_GET) && in->ring == op->ring) {
            violation(v, op->loc, "role '%s' uses ring '%s' in its late loop, too", r->name,
                      v->k->roles->ring.p[op->ring].name);
            return;
        }
}

/* Another rank may wait for this task's results before it sends what the next task waits for. */
static void signals_verify(Verifier *v, const Op *loop) {
    const Roles *r = v->k->roles;
    for (int i = 0; i < r->role.n; i++)
        for (const Op *op = walk(r->role.p[i].body); op; op = walk_next(op, r->role.p[i].body))
            if (op->kind == OP_SIGNAL)
                violation(v, loop->loc, "a late loop makes what role '%s' signals", r->role.p[i].name);
}

void role_late_verify(Verifier *v, const Role *r) {
    const Op *loop = role_late(r);
    if (!loop) return;
    int before = v->violations;
    place_verify(v, r, loop);
    if (v->violations != before) return;
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0])) operation_verify(v, op);
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) ring_verify(v, r, op, loop);
    signals_verify(v, loop);
}
