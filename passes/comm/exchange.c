/* exchange.c: all_to_all (S(d) to S(e)), permute (ring shift), broadcast (from one root); and the copy that
   any collective is on one rank. Forms: push and staged (unfused: staged with barriers). */
#include "passes/comm/comm.h"

static CommForm choose(Comm *c, const Node *n) {
    double b = comm_bytes(c, n->src);
    CommCost push = {.copied = b, .moved = b, .flags = 1, .tasks = 1};
    CommCost staged = {.copied = 3 * b, .moved = b, .flags = 1, .tasks = 2};
    CommCost unfused = {.copied = 3 * b, .moved = b, .barriers = 2, .tasks = 2};
    Choice choice[] = {
        {COMM_PUSH, coll_info[n->coll].argument != ARG_ROOT, "the root alone has it, and the others fetch it", model_comm(c->facts, &push)},
        {COMM_STAGED, true, NULL, model_comm(c->facts, &staged)},
        {COMM_UNFUSED, true, NULL, model_comm(c->facts, &unfused)},
        {COMM_PULL, false, "it is read whole: staging reads it once", 0},
        {COMM_PACKET, false, "packets serve all_gather and stack", 0},
    };
    return comm_choose(c, n, choice, 5);
}

/* The rank this one receives from: the root, or (me - shift) mod ranks. */
static Affine source_rank(Move *mv, const Node *n) {
    int64_t ranks = mv->c->m->axis.p[n->axis].ranks;
    if (coll_info[n->coll].argument == ARG_ROOT) return affine_const(n->shift);
    Builder *b = &mv->b;
    Value *me = build_rank(b, n->axis), *shift = build_const_i(b, ELEM_I64, n->shift);
    return affine_value(build_binary(b, OP_MOD, build_binary(b, OP_SUB, me, shift), build_const_i(b, ELEM_I64, ranks)));
}

/* dst = sym@source; all_to_all: dst[i in the peer's, j] = sym@peer[i, j in mine] */
static void fetch(Comm *c, const Node *n, int sym, CommForm form) {
    const Tensor *s = &c->p->tensor.p[sym], *dst = &c->p->tensor.p[n->dst];
    bool all = coll_info[n->coll].gathers;
    Size dim[MAX_DIMS];
    for (int d = 0; d < s->ndim; d++) dim[d] = all && d == n->dim2 ? dst->dim[d] : s->dim[d];
    Move mv = move_begin(c, "fetch", sym, n->dst, n->axis, all, dim, s->ndim, all ? n->dim : -1);
    move_from(&mv, all ? move_peer(&mv) : source_rank(&mv, n));
    for (int d = 0; d < mv.ndim; d++) {
        move_from(&mv, all && d == n->dim2 ? move_in_mine(&mv, d, dim[d]) : move_pos(&mv, d));
        move_to(&mv, all && d == n->dim ? move_in_peers(&mv, d, dim[d]) : move_pos(&mv, d));
    }
    move_end_copy(&mv, &c->out, form);
}

static void take(Comm *c, const Node *n, int inbox) {
    const Tensor *dst = &c->p->tensor.p[n->dst];
    Move mv = move_begin(c, "take", inbox, n->dst, n->axis, false, dst->dim, dst->ndim, -1);
    move_from_own(&mv);
    move_plain(&mv);
    move_end_copy(&mv, &c->out, COMM_PUSH);
}

/* inbox@peer[i in mine, j] = src[i, j in the peer's] */
static void push_all_to_all(Comm *c, const Node *n, int inbox) {
    const Tensor *src = &c->p->tensor.p[n->src], *dst = &c->p->tensor.p[n->dst];
    Size dim[MAX_DIMS];
    for (int d = 0; d < src->ndim; d++) dim[d] = d == n->dim2 ? dst->dim[d] : src->dim[d];
    Move mv = move_begin(c, "push", n->src, inbox, n->axis, true, dim, src->ndim, n->dim2);
    move_from_own(&mv);
    move_to(&mv, move_peer(&mv));
    for (int d = 0; d < mv.ndim; d++) {
        move_from(&mv, d == n->dim2 ? move_in_peers(&mv, d, dim[d]) : move_pos(&mv, d));
        move_to(&mv, d == n->dim ? move_in_mine(&mv, d, dim[d]) : move_pos(&mv, d));
    }
    move_end_copy(&mv, &c->out, COMM_PUSH);
}

/* inbox@((me + shift) mod ranks) = src */
static void push_shift(Comm *c, const Node *n, int inbox) {
    const Tensor *src = &c->p->tensor.p[n->src];
    Move mv = move_begin(c, "push", n->src, inbox, n->axis, false, src->dim, src->ndim, -1);
    Node back = *n;
    back.shift = -n->shift;
    move_from_own(&mv);
    move_to(&mv, source_rank(&mv, &back));
    move_plain(&mv);
    move_end_copy(&mv, &c->out, COMM_PUSH);
}

void comm_exchange(Comm *c, const Node *n) {
    CommForm form = choose(c, n);
    if (form != COMM_PUSH) {
        fetch(c, n, comm_published(c, n->src, n->axis, form), form);
        return;
    }
    const Tensor *dst = &c->p->tensor.p[n->dst];
    int inbox = comm_symmetric(c, n->dst, "inbox", n->axis, dst->dim, dst->ndim, dst->elem);
    if (coll_info[n->coll].gathers) push_all_to_all(c, n, inbox);
    else push_shift(c, n, inbox);
    take(c, n, inbox);
}

void comm_copy(Comm *c, const Node *n) {
    const Tensor *src = &c->p->tensor.p[n->src];
    Move mv = move_begin(c, "copy", n->src, n->dst, n->axis, false, src->dim, src->ndim, -1);
    if (coll_info[n->coll].stacks) move_to(&mv, affine_const(0));
    move_from_own(&mv);
    move_plain(&mv);
    move_end_copy(&mv, &c->out, COMM_UNFUSED);
}
