/* roles.h: every way to change the roles of a kernel by one step: kinds, the places that each has, and making one.
   Takes: a kernel with roles, of a module of its own. Gives: the kernel changed; some changes leave what the verifier refuses. */
#ifndef TILEC_TEST_MUTATE_ROLES_H
#define TILEC_TEST_MUTATE_ROLES_H

#include "ir/roles.h"

/* Kinds of operations: those of the first list break any kernel that needs the operation. The others may leave a right one. */
#define ROLE_MUTATIONS(M)                                                                                                \
    M(DELETE, "deleted") M(UNREADY, "sums read without `ready`") M(TWICE, "done twice") M(OUT, "moved behind its loop")     \
    M(SKIP, "a loop without steps")
#define ROLE_MOVES(M)                                                                                                    \
    M(LATER, "after the next operation") M(EARLIER, "before the last operation") M(LAST, "at the end of its region")       \
    M(FIRST, "at the begin of its region") M(PIECE_MORE, "in the next piece") M(PIECE_LESS, "in the piece before")        \
    M(ENDS, "one iteration more in turn") M(RUNS, "turns over all runs") M(SHIFT_MORE, "a turn later") M(SHIFT_LESS, "a turn earlier") M(LINE, "two pieces of a line swapped")                  \
    M(ALONE, "a piece in or out of the bracket") M(DOWN, "a loop the other way") M(SLOTS_LESS, "one slot fewer")           \
    M(SLOTS_ONE, "one slot") M(PER, "one ring for all groups") M(WHOLE, "a role whose groups do not share")                \
    M(ELSEWHERE, "a copy from one place on") M(OTHER_TILE, "into another tile of the slot")

typedef enum {
#define M(name, text) ROLE_##name,
    ROLE_MUTATIONS(M)
    ROLE_STRICT, /* the first of the others */
    ROLE_BEFORE = ROLE_STRICT - 1,
    ROLE_MOVES(M)
#undef M
    ROLE_KINDS
} RoleMutation;

static const char *const role_mutation[] = {
#define M(name, text) text,
    ROLE_MUTATIONS(M)
    ROLE_MOVES(M)
#undef M
};

/* ---- places ---- */

static bool is_of_ring(OpKind kind) {
    return kind == OP_PUT || kind == OP_GET || kind == OP_FREE || kind == OP_READY || kind == OP_MMA || kind == OP_WAIT ||
           kind == OP_SIGNAL || kind == OP_STORE;
}

static bool is_place(RoleMutation m, const Op *op) {
    switch (m) {
    case ROLE_DELETE:
        return op->res.n == 0 && op->kind != OP_YIELD && (is_of_ring(op->kind) || op->kind == OP_COPY || op->kind == OP_WRITE);
    case ROLE_UNREADY: return op->kind == OP_READY;
    case ROLE_TWICE: return op->kind == OP_FREE;
    case ROLE_OUT: return (op->kind == OP_FREE || op->kind == OP_PUT) && op->in->parent;
    case ROLE_SKIP:
    case ROLE_DOWN: return op->kind == OP_FOR;
    case ROLE_RUNS: return op->runs > 0;
    case ROLE_ENDS:
    case ROLE_SHIFT_MORE:
    case ROLE_SHIFT_LESS:
    case ROLE_LINE:
    case ROLE_ALONE: return op->turn.n > 0;
    case ROLE_PIECE_MORE:
    case ROLE_PIECE_LESS: return op->in->parent && op->in->parent->turn.n && op->kind != OP_YIELD;
    case ROLE_ELSEWHERE: return op->kind == OP_COPY;
    case ROLE_OTHER_TILE: return op->kind == OP_COPY || op->kind == OP_WRITE;
    default: return is_of_ring(op->kind);
    }
}

static bool is_of_rings(RoleMutation m) { return m == ROLE_SLOTS_LESS || m == ROLE_SLOTS_ONE || m == ROLE_PER; }

static int operation_places(const Kernel *k, RoleMutation m) {
    int n = 0;
    for (int i = 2; i < kernel_regions(k); i++)
        for (const Op *op = walk(kernel_region(k, i)); op; op = walk_next(op, kernel_region(k, i)))
            n += is_place(m, op) ? (op->turn.n > 0 && m >= ROLE_SHIFT_MORE ? op->turn.n : 1) : 0;
    return n;
}

static int role_places(const Kernel *k, RoleMutation m) {
    if (is_of_rings(m)) return k->roles->ring.n;
    return m == ROLE_WHOLE ? k->roles->role.n : operation_places(k, m);
}

/* The operation at a place; *entry: which entry of its line. */
static Op *operation_at(Kernel *k, RoleMutation m, int at, int *entry) {
    for (int i = 2; i < kernel_regions(k); i++)
        for (const Op *op = walk(kernel_region(k, i)); op; op = walk_next(op, kernel_region(k, i))) {
            int n = is_place(m, op) ? (op->turn.n > 0 && m >= ROLE_SHIFT_MORE ? op->turn.n : 1) : 0;
            *entry = at;
            if (at < n) return (Op *)op;
            at -= n;
        }
    return NULL;
}

/* ---- changes ---- */

static void replace_in(Op *op, const Value *from, Value *to) {
    for (int i = 0; i < op->arg.n; i++)
        if (op->arg.p[i] == from) op->arg.p[i] = to;
}

static void replace_value(Region *root, const Value *from, Value *to) {
    for (const Op *op = walk(root); op; op = walk_next(op, root)) replace_in((Op *)op, from, to);
}

static bool unready(Op *op) {
    Region *root = op->in;
    while (root->parent) root = root->parent->in;
    for (int i = 0; i < op->res.n; i++) replace_value(root, op->res.p[i], op->arg.p[i]);
    op_remove(op);
    return true;
}

static bool reads(const Op *op, const Op *made) {
    for (int i = 0; i < op->arg.n; i++)
        if (op->arg.p[i]->def == made) return true;
    return false;
}

static bool uses(const Op *op, const Op *made) {
    for (int k = 0; k < 2; k++)
        for (const Op *in = walk(op->region[k]); in; in = walk_next(in, op->region[k]))
            if (reads(in, made)) return true;
    return reads(op, made);
}

/* Past the operation behind it. */
static bool move_later(Op *op) {
    Op *next = op->next;
    if (!next || next->kind == OP_YIELD || uses(next, op)) return false;
    op_remove(next);
    op_insert_before(op, next);
    op->piece = next->piece;
    return true;
}

static bool move_earlier(Op *op) {
    Op *prev = op->prev;
    if (!prev || uses(op, prev)) return false;
    op_remove(op);
    op_insert_before(prev, op);
    op->piece = prev->piece;
    return true;
}

static bool move_far(Op *op, bool (*move)(Op *)) {
    int n = 0;
    while (move(op)) n++;
    return n > 1; /* one step is a mutant of its own */
}

static bool move_out(Op *op) {
    Op *loop = op->in->parent;
    op_remove(op);
    op->piece = loop->piece;
    if (loop->next)
        op_insert_before(loop->next, op);
    else
        op_append_to(loop->in, op);
    return true;
}

static bool do_twice(Module *m, Op *op) {
    Op *again = op_like(m, op);
    again->piece = op->piece;
    op_insert_before(op, again);
    return true;
}

static bool skip_steps(Op *loop) {
    if (loop->arg.p[1] == loop->arg.p[0]) return false;
    loop->arg.p[1] = loop->arg.p[0];
    return true;
}

static bool line_swap(Op *loop, int at) {
    if (at + 1 >= loop->turn.n) return false;
    Turn t = loop->turn.p[at];
    loop->turn.p[at] = loop->turn.p[at + 1];
    loop->turn.p[at + 1] = t;
    return true;
}

static bool shift_edit(Op *loop, int at, int by) {
    if (loop->turn.p[at].shift + by < 0) return false;
    loop->turn.p[at].shift = (int8_t)(loop->turn.p[at].shift + by);
    return true;
}

static int pieces_of(const Op *loop) { return loop->turn.n; }

static bool piece_edit(Op *op, int by) {
    if (op->piece + by < 0 || op->piece + by >= pieces_of(op->in->parent)) return false;
    op->piece = (int8_t)(op->piece + by);
    return true;
}

static bool elsewhere(Op *copy) {
    copy->sub.p[copy->sub.n - 1].lo.c++;
    return true;
}

static bool other_tile(const Kernel *k, Op *op) {
    const Op *put = op;
    while (put->kind != OP_PUT) put = put->in->parent;
    int n = k->roles->ring.p[put->ring].tile.n;
    op->slot = (int16_t)((op->slot + 1) % n);
    return n > 1;
}

static bool ring_edit(Ring *r, RoleMutation m) {
    int slots = m == ROLE_SLOTS_ONE ? 1 : r->slots - 1;
    if (m == ROLE_PER ? r->per < 0 : slots < 1 || slots == r->slots || (m == ROLE_SLOTS_ONE && r->slots == 2)) return false;
    if (m == ROLE_PER)
        r->per = -1;
    else
        r->slots = slots;
    return true;
}

static bool role_whole(Role *r) {
    bool can = r->split >= 0 && r->last > r->first;
    r->split = -1;
    return can;
}

/* False: the place cannot be changed so. */
static bool role_mutate(Module *m, Kernel *k, RoleMutation kind, int at) {
    int entry = 0;
    if (is_of_rings(kind)) return ring_edit(&k->roles->ring.p[at], kind);
    if (kind == ROLE_WHOLE) return role_whole(&k->roles->role.p[at]);
    Op *op = operation_at(k, kind, at, &entry);
    switch (kind) {
    case ROLE_DELETE: op_remove(op); return true;
    case ROLE_UNREADY: return unready(op);
    case ROLE_TWICE: return do_twice(m, op);
    case ROLE_OUT: return move_out(op);
    case ROLE_SKIP: return skip_steps(op);
    case ROLE_LATER: return move_later(op);
    case ROLE_EARLIER: return move_earlier(op);
    case ROLE_LAST: return move_far(op, move_later);
    case ROLE_FIRST: return move_far(op, move_earlier);
    case ROLE_PIECE_MORE: return piece_edit(op, 1);
    case ROLE_PIECE_LESS: return piece_edit(op, -1);
    case ROLE_ENDS: op->ends++; return true;
    case ROLE_RUNS: op->runs = 0; return true;
    case ROLE_SHIFT_MORE: return shift_edit(op, entry, 1);
    case ROLE_SHIFT_LESS: return shift_edit(op, entry, -1);
    case ROLE_LINE: return line_swap(op, entry);
    case ROLE_ALONE: op->turn.p[entry].alone = !op->turn.p[entry].alone; return true;
    case ROLE_DOWN: op->down = !op->down; return true;
    case ROLE_ELSEWHERE: return elsewhere(op);
    default: return other_tile(k, op);
    }
}

#endif
