/* reduce.c: reduce_scatter (P to S) and all_reduce (P to R): partials are stored and summed in f32, in rank order.
     pull    the producer's partial is peer-visible; the reader of a tile of the sum loads it from every rank
     push    the producer stores its partial into the wanting ranks' inbox [source rank, ..]
     packet  push, each word carrying its generation: no flags
     staged  like pull: there is nothing to stage; unfused: pull with barriers of the whole mesh
   all_reduce of large tensors is a reduce_scatter and an all_gather. */
#include "passes/comm/comm.h"
#include "target/matrix.h"

typedef struct {
    Comm *c;
    const Node *n;
    int axis, dim; /* dim: scattered; -1: all_reduce */
    int64_t ranks;
    double bytes;  /* of a whole partial */
    const Node *gather; /* of the sum, behind this one; NULL: none */
} Reduce;

static PartOp part_op(const Reduce *r) { return r->c->p->tensor.p[r->n->src].place[r->axis].op; }

static Node *fusable_producer(const Reduce *r) {
    const Tensor *src = &r->c->p->tensor.p[r->n->src];
    return src->role == ROLE_TEMP && src->symmetric < 0 ? comm_producer(r->c, r->n->src) : NULL;
}

static Tensor inbox_of(const Reduce *r) {
    Comm *c = r->c;
    const Tensor *dst = &c->p->tensor.p[r->n->dst];
    Size dim[MAX_DIMS] = {size_number(r->ranks)};
    for (int d = 0; d < dst->ndim; d++) dim[d + 1] = dst->dim[d];
    return comm_symmetric_like(c, r->n->src, "inbox", r->axis, dim, dst->ndim + 1, c->p->tensor.p[r->n->src].elem);
}

static Size split_of(const Reduce *r) {
    return r->dim >= 0 ? r->c->p->tensor.p[r->n->dst].dim[r->dim] : size_number(0);
}

/* A product in roles sends its tiles to their owners as they are done. */
static bool roles_push(const Reduce *r) {
    const Tensor inbox = inbox_of(r), *src = &r->c->p->tensor.p[r->n->src];
    return r->dim >= 0 && src->role == ROLE_TEMP && src->symmetric < 0 && comm_readers(r->c, r->n->src) == 0 &&
           comm_is_scheduled(r->c, r->n->src) &&
           comm_plans_store(r->c, r->n->src, &inbox, r->axis, r->dim, split_of(r));
}

static CommForm choose(const Reduce *r, bool by_roles) {
    double all = r->bytes, part = r->dim >= 0 ? all / (double)r->ranks : all, sources = (double)r->ranks;
    CommCost pull = {.copied = part, .moved = part * sources, .flags = 1, .tasks = 1};
    CommCost push = {.copied = part * sources + part, .moved = all, .flags = 1, .tasks = 1};
    if (by_roles) push.moved = 0, pull.copied += 2 * all; /* beside the product; the partial is copied for others to read */
    const double sent = comm_packet_bytes(r->c, r->n->src);
    const CommCost packets = {.copied = (r->dim >= 0 ? sent : sent * sources) + part, .moved = sent, .tasks = 1};
    const bool packet = !by_roles && comm_fits_packets(r->c, r->n, all);
    CommCost unfused = {.copied = part, .moved = part * sources, .barriers = 2, .tasks = 1};
    Choice choice[] = {
        {COMM_PULL, true, NULL, model_comm(r->c->facts, &pull)},
        {COMM_PUSH, true, NULL, model_comm(r->c->facts, &push)},
        {COMM_STAGED, false, "a partial is read once, when it is summed", 0},
        {COMM_PACKET, packet, by_roles ? "products in roles store to no packets" : comm_not_packets, model_comm(r->c->facts, &packets)},
        {COMM_UNFUSED, true, NULL, model_comm(r->c->facts, &unfused)},
    };
    return comm_choose(r->c, r->n, choice, 5);
}

/* dst[i] = sum over s of partial@s[i, in the whole] */
static void sum_partials(const Reduce *r, int sym, CommForm form) {
    Comm *c = r->c;
    vec_push(c->m->arena, &c->sum, r->n->dst);
    const Tensor *dst = &c->p->tensor.p[r->n->dst];
    Move mv = move_begin(c, part_op(r) == PART_SUM ? "sum" : "max", sym, r->n->dst, r->axis, false, dst->dim, dst->ndim, -1);
    int s = move_sum_range(&mv, r->axis);
    move_from(&mv, affine_term(TERM_POS, s, 1, 1));
    for (int d = 0; d < mv.ndim; d++) {
        move_from(&mv, d == r->dim ? move_in_mine(&mv, d, dst->dim[d]) : move_pos(&mv, d));
        move_to(&mv, move_pos(&mv, d));
    }
    move_end_sum(&mv, part_op(r), &c->out, form);
}

/* dst[i] = sum over s of inbox@me[s, i], in these tiles; NULL: in such as are worth a task */
static void sum_inbox(const Reduce *r, int inbox, const int64_t *tile, CommForm form) {
    Comm *c = r->c;
    const Tensor *dst = &c->p->tensor.p[r->n->dst];
    Move mv = move_begin(c, part_op(r) == PART_SUM ? "sum" : "max", inbox, r->n->dst, r->axis, false, dst->dim, dst->ndim, -1);
    if (tile) move_tiles(&mv, tile);
    int s = move_sum_range(&mv, r->axis);
    move_from(&mv, affine_rank(r->axis));
    move_from(&mv, affine_term(TERM_POS, s, 1, 1));
    move_plain(&mv);
    move_end_sum(&mv, part_op(r), &c->out, form);
}

/* inbox@peer[me, i] = src[i in the whole], where no producer can store it there itself */
static void push_partial(const Reduce *r, int inbox, CommForm form) {
    Comm *c = r->c;
    const Tensor *dst = &c->p->tensor.p[r->n->dst];
    Move mv = move_begin(c, "push", r->n->src, inbox, r->axis, true, dst->dim, dst->ndim, r->dim);
    move_from_own(&mv);
    move_to(&mv, move_peer(&mv));
    move_to(&mv, affine_rank(r->axis));
    for (int d = 0; d < mv.ndim; d++) {
        move_from(&mv, d == r->dim ? move_in_peers(&mv, d, dst->dim[d]) : move_pos(&mv, d));
        move_to(&mv, move_pos(&mv, d));
    }
    move_end_copy(&mv, &c->out, form);
}

static OwnSum own_sum_of(const Reduce *r) {
    return (OwnSum){.partial = r->n->src,
                    .inbox = inbox_of(r),
                    .result = r->c->p->tensor.p[r->n->dst],
                    .axis = r->axis,
                    .dim = r->dim,
                    .split = split_of(r),
                    .op = part_op(r)};
}

/* Tasks of two rounds wait for the link twice where they add own tiles: 1024 rows of GEMM+RS took 84 us on two H200s, 71
   with a launch that sums; 256, 4096 and 8192 rows 31.5, 224, 431 and 33.0, 236, 462. One round has nothing to send
   results beside: 256 rows of GEMM+AR 43.0 and 41.7; 1024 and 4096 rows 103, 289 and 107, 343. */
static bool is_worth_own(const Reduce *r, const RolesTasks *of) {
    const MatrixTarget *t = matrix_target(r->c->pass->options->target);
    const double rounds = t ? (double)of->tasks * of->cluster / t->processors : 0;
    return of->tasks && (r->gather ? rounds > 1 : rounds <= 1 || rounds > 2);
}

/* The product finishes its own tiles itself. What element by element follows a sum is an epilogue of the kernel that
   sums, and of no product yet. */
static bool sum_in_product(const Reduce *r) {
    Comm *c = r->c;
    OwnSum o = own_sum_of(r);
    ToAll to = r->gather ? comm_gather_to_all(c, r->gather) : (ToAll){0};
    if (!r->gather && comm_readers(c, r->n->dst)) return false;
    const RolesTasks of = comm_plans_sum(c, &o, r->gather ? &to : NULL);
    if (!is_worth_own(r, &of)) return false;
    Node *producer = comm_only_producer(c, r->n->src);
    producer->kernel = kernel_clone(c->m, producer->kernel);
    o.inbox.id = program_tensor(c->m, c->p, o.inbox);
    comm_sum_own(c, producer, &o);
    return true;
}

static void reduce_push(const Reduce *r, bool by_roles, CommForm form) {
    Comm *c = r->c;
    if (by_roles && sum_in_product(r)) return;
    vec_push(c->m->arena, &c->sum, r->n->dst);
    int inbox = program_tensor(c->m, c->p, inbox_of(r));
    c->p->tensor.p[inbox].packet = form == COMM_PACKET;
    Node *producer = by_roles ? comm_only_producer(c, r->n->src) : fusable_producer(r);
    bool alone = producer && comm_readers(c, r->n->src) == 0;
    Size split = split_of(r);
    int64_t tile[MAX_DIMS];
    /* a tile of the sum then waits for one tile of each rank, which no other task has to complete */
    const bool same = by_roles && comm_tiles(c, producer, r->n->src, tile);
    if (by_roles) producer->kernel = kernel_clone(c->m, producer->kernel);
    if (alone && r->dim < 0) comm_store_to_peers(c, producer, r->n->src, inbox, r->axis, -1, split, true, false);
    else if (alone && comm_can_store_to_owner(c, producer, r->n->src, r->dim, split))
        comm_store_to_owner(c, producer, r->n->src, &c->p->tensor.p[inbox], r->axis, r->dim, split);
    else push_partial(r, inbox, form);
    sum_inbox(r, inbox, same ? tile : NULL, form);
}

/* Products in roles send tiles of 16 bits. */
static void warn_wide(const Reduce *r) {
    const Tensor *src = &r->c->p->tensor.p[r->n->src], *dst = &r->c->p->tensor.p[r->n->dst];
    Diags *d = r->c->m->diags;
    if (src->elem != ELEM_F32 || elem_bits(dst->elem) != 16 || !comm_in_roles(r->c, r->n->src)) return;
    diag_perf(d, r->n->loc, "wide-partials", "partial sums of '%s' travel in f32, by kernels of their own", src->name);
    diag_note(d, src->loc, "as p: %s[..] they are half as long, and the product sends each tile when it is done",
              elem_text(dst->elem));
}

static void reduce(const Reduce *r) {
    bool by_roles = roles_push(r);
    CommForm form = choose(r, by_roles);
    if (!by_roles && !r->c->off) warn_wide(r);
    if (form == COMM_PUSH || form == COMM_PACKET) reduce_push(r, by_roles, form);
    else sum_partials(r, comm_published(r->c, r->n->src, r->axis, form), form);
}

void comm_reduce_scatter(Comm *c, const Node *n) {
    Reduce r = {c, n, n->axis, n->dim, c->m->axis.p[n->axis].ranks, comm_bytes(c, n->src), NULL};
    reduce(&r);
}

/* Past this size each rank sums its share and gathers the others'. */
enum { ONE_SHOT_BYTES = 256 * 1024 };

/* The first dimension that gives every rank a share; -1: none. */
static int shared_dim(const Comm *c, const Tensor *t, int64_t ranks) {
    for (int d = 0; d < t->ndim; d++)
        if (t->dim[d].axis < 0 && size_bound(c->m, t->dim[d]) >= ranks) return d;
    return -1;
}

static void two_shot(Comm *c, const Node *n, int dim) {
    Tensor part = c->p->tensor.p[n->dst];
    part.role = ROLE_TEMP;
    part.name = name_of(c->m->names, arena_format(c->m->arena, "%s_part", part.name));
    part.dim[dim].axis = (int16_t)n->axis;
    part.place[n->axis] = (Place){.kind = PLACE_S};
    int id = program_tensor(c->m, c->p, part);
    Node scatter = *n, gather = *n;
    scatter.coll = COLL_REDUCE_SCATTER, scatter.dst = id, scatter.dim = dim;
    gather.coll = COLL_ALL_GATHER, gather.src = id, gather.dim = dim;
    reduce(&(Reduce){c, &scatter, n->axis, dim, c->m->axis.p[n->axis].ranks, comm_bytes(c, n->src), &gather});
    comm_gather(c, &gather);
}

void comm_all_reduce(Comm *c, const Node *n) {
    Reduce r = {c, n, n->axis, -1, c->m->axis.p[n->axis].ranks, comm_bytes(c, n->src), NULL};
    int dim = shared_dim(c, &c->p->tensor.p[n->dst], r.ranks);
    if (r.bytes > ONE_SHOT_BYTES && dim >= 0) two_shot(c, n, dim);
    else reduce(&r);
}
