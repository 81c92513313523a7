/* gather.c: all_gather (S to R) and stack (V to R under a new leading dimension).
     pull    own block published; consumers read the owner's memory
     staged  own block published; a kernel fetches every block into private memory
     push    every rank stores its block into all peers' copies; fused into the producer where there is one
     packet  push, each word carrying its generation: no flags
     unfused staged, with barriers of the whole mesh around it */
#include "passes/comm/comm.h"
#include "target/matrix.h"

#include <math.h>

/* Workgroups that push beside a product, which keep the link of an H200 busy (345 GB/s); as many again where the own
   rows are copied, too: those that are no argument of the program. */
enum { PUSH_WORKGROUPS = 8 };

typedef struct {
    Comm *c;
    const Node *n;
    int axis, dim;
    bool stacked;
    Size split;      /* extent of the gathered dimension, split: (ranks, split) for stack */
    double block;    /* bytes of a rank's part */
    int64_t ranks;
    bool from_caller; /* the part is in the caller's memory */
    bool early;       /* and never changes */
} Gather;

static Gather gather_of(Comm *c, const Node *n) {
    Gather g = {.c = c, .n = n, .axis = n->axis, .dim = n->dim, .stacked = coll_info[n->coll].stacks};
    const Tensor *src = &c->p->tensor.p[n->src];
    g.ranks = c->m->axis.p[n->axis].ranks;
    g.split = g.stacked ? (Size){g.ranks, -1, (int16_t)n->axis} : src->dim[n->dim];
    g.block = comm_bytes(c, n->src);
    g.from_caller = src->role != ROLE_TEMP;
    g.early = src->role == ROLE_INPUT;
    return g;
}

static bool can_pull(const Gather *g) {
    bool later = !g->from_caller && comm_updates(g->c, g->n->src); /* what is read then may be gone */
    return !later && comm_can_pull(g->c, g->n->dst, g->dim, g->split);
}

/* An output, what a later collective takes, or a condition lies in private memory too. */
static bool is_kept(const Gather *g) {
    const Comm *c = g->c;
    for (int i = c->at + 1; i < c->p->node.n; i++)
        if (c->p->node.p[i]->kind == NODE_COLLECTIVE && c->p->node.p[i]->src == g->n->dst) return true;
    return c->p->tensor.p[g->n->dst].role == ROLE_OUTPUT || comm_decides(c, g->n->dst);
}

/* The kernel that stores it into the peers' copies as well, if one can. */
static const Node *fused_producer(const Gather *g) {
    const Tensor *src = &g->c->p->tensor.p[g->n->src];
    if (src->role != ROLE_TEMP || src->symmetric >= 0 || comm_is_scheduled(g->c, g->n->src)) return NULL;
    return comm_only_producer(g->c, g->n->src);
}

/* Bytes for whose accesses the producer takes as long as links do for what they carry meanwhile. Measured on two H200s,
   all_reduce of 4096 x 8192 behind a product: pushed 371 us, fetched 395. */
static double bytes_meanwhile(const Gather *g, double linked) {
    const Node *n = fused_producer(g);
    double bytes = 0;
    for (int a = 0; n && a < n->arg.n; a++) bytes += comm_bytes(g->c, n->arg.p[a].tensor);
    return fmin(bytes, linked / g->c->facts->link * g->c->facts->memory);
}

ToAll comm_gather_to_all(Comm *c, const Node *n) {
    const Gather g = gather_of(c, n);
    const Tensor *dst = &c->p->tensor.p[n->dst];
    return (ToAll){.from = n->src,
                   .inbox = comm_symmetric_like(c, n->dst, "inbox", g.axis, dst->dim, dst->ndim, dst->elem),
                   .axis = g.axis,
                   .dim = g.dim,
                   .split = g.split,
                   .keep = comm_readers(c, n->src) > 0};
}

/* A product in roles sends its tiles to all ranks as they are done. */
static bool roles_push(const Gather *g) {
    const Tensor *src = &g->c->p->tensor.p[g->n->src];
    const ToAll to = comm_gather_to_all(g->c, g->n);
    return !g->stacked && src->role == ROLE_TEMP && src->symmetric < 0 && src->elem == to.inbox.elem &&
           comm_is_scheduled(g->c, g->n->src) && comm_plans_all(g->c, &to);
}

static CommForm choose(const Gather *g) {
    static const char schedule[] = "a reader is computed by the machine's schedule, from private memory",
                      again[] = "a reader is computed by roles, which would fetch each tile many times";
    double b = g->block, all = b * (double)g->ranks, publish = g->from_caller ? 2 * b : 0, kept = 0;
    bool scheduled = comm_is_scheduled(g->c, g->n->dst);
    bool roles = scheduled && comm_plans_read(g->c, g->n->dst, g->axis).tasks > 0;
    if (is_kept(g) || (scheduled && !roles)) kept = 2 * all;
    bool inbox = !comm_updates(g->c, g->n->dst) && comm_alone(g->c, g->n->dst); /* readers see the inbox itself, or a copy */
    bool packet = inbox && comm_fits_packets(g->c, g->n, g->block);
    CommCost pull = {.copied = publish, .flags = 1, .tasks = 1};
    CommCost staged = {.copied = publish + all, .moved = all, .flags = 1, .tasks = (int)g->ranks};
    const double held = fused_producer(g) ? 0 : b; /* else it is copied once more */
    CommCost push = {.copied = held + kept - bytes_meanwhile(g, b * (double)(g->ranks - 1)),
                     .moved = all,
                     .flags = 1,
                     .tasks = (int)g->ranks};
    if (roles_push(g)) push.copied = kept, push.moved = 0; /* beside the product */
    CommCost packets = {.copied = b + kept, .moved = comm_packet_bytes(g->c, g->n->src) * (double)g->ranks, .tasks = (int)g->ranks};
    CommCost unfused = {.copied = publish + all, .moved = all, .barriers = 2, .tasks = (int)g->ranks};
    Choice choice[] = {
        {COMM_PULL, inbox && !scheduled && can_pull(g), roles ? again : scheduled ? schedule : "a reader's tile straddles two owners, or it is not read by a kernel alone", 0},
        {COMM_STAGED, true, NULL, model_comm(g->c->facts, &staged)},
        {COMM_PUSH, inbox, "what is gathered is updated in place, or made by several nodes", model_comm(g->c->facts, &push)},
        {COMM_PACKET, packet, comm_not_packets, model_comm(g->c->facts, &packets)},
        {COMM_UNFUSED, true, NULL, model_comm(g->c->facts, &unfused)},
    };
    choice[0].seconds = model_comm(g->c->facts, &pull);
    return comm_choose(g->c, g->n, choice, 5);
}

/* dst[own place of the peer's block] = sym@peer */
static void fetch(const Gather *g, int sym, CommForm form) {
    Comm *c = g->c;
    const Tensor *s = &c->p->tensor.p[sym];
    Move mv = move_begin(c, "fetch", sym, g->n->dst, g->axis, true, s->dim, s->ndim, g->stacked ? -1 : g->dim);
    move_from(&mv, move_peer(&mv));
    if (g->stacked) move_to(&mv, move_peer(&mv));
    for (int d = 0; d < mv.ndim; d++) {
        bool whole = !g->stacked && d == g->dim;
        move_from(&mv, move_pos(&mv, d));
        move_to(&mv, whole ? move_in_peers(&mv, d, g->split) : move_pos(&mv, d));
    }
    move_end_copy(&mv, &c->out, form);
}

/* to@peer[own place] = src. By few workgroups beside the product that reads it? */
static bool push_kernel(const Gather *g, int to, CommForm form) {
    Comm *c = g->c;
    const Tensor *s = &c->p->tensor.p[g->n->src];
    const RolesTasks reads = comm_plans_read(c, g->n->dst, g->axis);
    const int few = g->early ? PUSH_WORKGROUPS : 2 * PUSH_WORKGROUPS;
    bool beside = form == COMM_PUSH && comm_is_worth_few(c, &reads, few, g->block * (double)(g->ranks - 1));
    Move mv = move_begin(c, "push", g->n->src, to, g->axis, true, s->dim, s->ndim, -1);
    move_from_own(&mv);
    move_to(&mv, move_peer(&mv));
    if (g->stacked) move_to(&mv, affine_rank(g->axis));
    for (int d = 0; d < mv.ndim; d++) {
        bool whole = !g->stacked && d == g->dim;
        move_from(&mv, move_pos(&mv, d));
        move_to(&mv, whole ? move_in_mine(&mv, d, g->split) : move_pos(&mv, d));
    }
    move_end_copy(&mv, g->early ? &c->first : &c->out, form);
    if (beside) comm_by_few(c, mv.k, few);
    return mv.k->plan.workgroups > 0;
}

static void keep_private(const Gather *g, int sym) {
    Comm *c = g->c;
    const Tensor *dst = &c->p->tensor.p[g->n->dst];
    Move mv = move_begin(c, "take", sym, g->n->dst, g->axis, false, dst->dim, dst->ndim, -1);
    move_from(&mv, affine_rank(g->axis));
    move_plain(&mv);
    move_end_copy(&mv, &c->out, COMM_PUSH);
}

static void push_by_roles(const Gather *g) {
    Comm *c = g->c;
    ToAll to = comm_gather_to_all(c, g->n);
    Node *producer = comm_only_producer(c, g->n->src);
    producer->kernel = kernel_clone(c->m, producer->kernel);
    to.inbox.id = program_tensor(c->m, c->p, to.inbox);
    comm_store_to_all(c, producer, &to);
    producer->form = COMM_PUSH;
    if (is_kept(g)) keep_private(g, to.inbox.id);
    comm_read_own(c, g->n->dst, to.inbox.id, g->axis);
}

/* Tasks that push have whole rows, where there are enough for all processors; else a reader would wait for parts of rows,
   step by step: 16 rows by 8192 columns of AG+GEMM took 411 us so, 36 with a copy of them. */
static bool has_whole_rows(const Gather *g) {
    const MatrixTarget *t = matrix_target(g->c->pass->options->target);
    return t && size_bound(g->c->m, g->split) * g->ranks >= t->processors;
}

static void gather_push(const Gather *g, CommForm form) {
    Comm *c = g->c;
    const Tensor *dst = &c->p->tensor.p[g->n->dst];
    if (form == COMM_PUSH && roles_push(g)) {
        push_by_roles(g);
        return;
    }
    int to = comm_symmetric(c, g->n->dst, "inbox", g->axis, dst->dim, dst->ndim, dst->elem);
    c->p->tensor.p[to].packet = form == COMM_PACKET;
    const Tensor *src = &c->p->tensor.p[g->n->src];
    bool fits = src->role == ROLE_TEMP && src->symmetric < 0 && src->elem == c->p->tensor.p[to].elem;
    Node *producer = fits ? comm_producer(c, g->n->src) : NULL;
    const bool scheduled = comm_is_scheduled(c, g->n->dst);
    bool by_roles = scheduled && form == COMM_PUSH && comm_plans_read(c, g->n->dst, g->axis).tasks > 0;
    if (producer) {
        bool keep = comm_readers(c, g->n->src) > 0;
        comm_store_to_peers(c, producer, g->n->src, to, g->axis, g->dim, g->split, g->stacked, keep);
        producer->form = form;
    } else {
        by_roles &= push_kernel(g, to, form) || has_whole_rows(g);
    }
    const bool private = scheduled && !by_roles;
    if (private || is_kept(g)) keep_private(g, to);
    if (!private) comm_read_own(c, g->n->dst, to, g->axis);
}

void comm_gather(Comm *c, const Node *n) {
    Gather g = gather_of(c, n);
    CommForm form = choose(&g);
    switch (form) {
    case COMM_PULL: {
        int sym = comm_published(c, n->src, g.axis, form);
        comm_read_owner(c, n->dst, sym, g.axis, g.dim, g.split, g.stacked);
        break;
    }
    case COMM_PUSH:
    case COMM_PACKET: gather_push(&g, form); break;
    default: fetch(&g, comm_published(c, n->src, g.axis, form), form);
    }
}
