/* comm.h: what the files of the pass `comm` share: kernels that move tensors, and edits of the kernels at both ends. */
#ifndef TILEC_PASSES_COMM_COMM_H
#define TILEC_PASSES_COMM_COMM_H

#include "passes/model/model.h"
#include "passes/pass.h"

typedef VEC(Node) Nodes;

typedef struct {
    PassContext *pass;
    Module *m;
    Program *p;
    const TargetFacts *facts;
    Nodes first; /* nodes that read only inputs: they go before everything else */
    Nodes out;   /* the program's nodes so far, rewritten */
    VEC(int) sum; /* tensors that are made of partials */
    int at;      /* index in p->node of the collective being replaced */
    int when;    /* its condition */
    bool off;    /* the pass is switched off: every collective is unfused */
} Comm;

/* ---- move.c: kernels that copy or sum tiles between tensors ---- */

/* A kernel being made. Ranges: a peer (a position range over the ranks) if wanted, then one per dimension. */
typedef struct {
    Comm *c;
    Kernel *k;
    Builder b;
    int in, out;   /* tensors */
    int peer;      /* range, or -1 */
    int ndim;
    int range[MAX_DIMS];
    Span from[MAX_DIMS + 2], to[MAX_DIMS + 2]; /* subscripts, filled by the caller in order */
    int nfrom, nto;
} Move;

/* dim: extents the ranges run over; owned: the dimension that is the peer's block, or -1. */
Move move_begin(Comm *, const char *what, int in, int out, int axis, bool peer, const Size *dim, int ndim, int owned);
void move_tiles(Move *, const int64_t *size); /* the tiles' extents, in place of those that make them worth a task */
void move_from(Move *, Affine);
void move_to(Move *, Affine);
Affine move_pos(const Move *, int dim);
Affine move_peer(const Move *);
void move_from_own(Move *); /* the own rank first, if the source is peer-visible */
/* Position `dim` in the gathered dimension: inside this rank's block (mine) or the peer's. */
Affine move_in_mine(const Move *, int dim, Size split);
Affine move_in_peers(const Move *, int dim, Size split);
void move_plain(Move *); /* every dimension: to the same place */
/* out[to] = in[from] */
void move_end_copy(Move *, Nodes *into, CommForm);
/* out[to] = sum (or maximum) over s of in[from], s appended by the caller through move_sum_range(); ranks in order, in f32 (f64). */
int move_sum_range(Move *, int axis);
void move_end_sum(Move *, PartOp, Nodes *into, CommForm);

/* What peers along the axis may address: the tensor itself, or a copy of it (of an input: made before anything else). */
int comm_published(Comm *, int tensor, int axis, CommForm);

/* ---- ends.c: the kernels that produce and consume what a collective moves ---- */

Affine affine_rank(int axis);
/* Where this rank's block begins, along the last axis of the split. */
Affine comm_own_block(Builder *, Size split);
/* The CALL that writes a tensor, among the nodes already rewritten; NULL for inputs. Its kernel is made private. */
Node *comm_producer(Comm *, int tensor);
Node *comm_only_producer(Comm *, int tensor); /* the same, as it is, also where a schedule computes it */
/* Does nothing but the collective being replaced store it? */
bool comm_alone(const Comm *, int tensor);
/* A schedule of the machine computes a kernel that reads or writes the tensor: it stays as it is, in private memory. */
bool comm_is_scheduled(const Comm *, int tensor);
/* How many node arguments and conditions read the tensor, the collective at c->at left out. */
int comm_readers(const Comm *, int tensor);
/* A symmetric tensor like `like`, named NAME.what, of these extents. */
int comm_symmetric(Comm *, int like, const char *what, int axis, const Size *dim, int ndim, Elem);
/* The same, which is no tensor of the program yet. */
Tensor comm_symmetric_like(const Comm *, int like, const char *what, int axis, const Size *dim, int ndim, Elem);
/* Its producer reads what it has written: that stays in private memory. */
bool comm_reads_itself(const Comm *, int tensor);
/* Makes a temporary peer-visible in place: every access of its kernels addresses the own rank. */
void comm_publish_temp(Comm *, int tensor, int axis);
/* The node's argument is the own copy of the symmetric tensor; its kernel is copied. */
void comm_argument_own(Comm *, Node *, int argument, int tensor, int axis);
/* Every later reader of tensor `from` reads the own copy of symmetric tensor `to`, which has the same extents. */
void comm_read_own(Comm *, int from, int to, int axis);
bool comm_updates(const Comm *, int tensor); /* some node updates it in place */
bool comm_decides(const Comm *, int tensor); /* it is the condition of a later node, or bounds its groups */
/* May every later reader address the owner of what it reads along dim (block B = ceil(n / ranks)) directly? */
bool comm_can_pull(const Comm *, int tensor, int dim, Size split);
/* Every later reader of `from` reads symmetric `to` at the owner's rank. stacked: the dimension itself is the rank. */
void comm_read_owner(Comm *, int from, int to, int axis, int dim, Size split, bool stacked);
/* The producer stores to every peer: to[peer][own rank's place in dim]; stacked: to[peer][rank, ..]. keep: also where it did. */
void comm_store_to_peers(Comm *, Node *producer, int from, int to, int axis, int dim, Size split, bool stacked, bool keep);
/* Do the producer's tiles along dim never straddle two owners? */
bool comm_can_store_to_owner(const Comm *, const Node *producer, int tensor, int dim, Size split);
/* The producer stores to to[owner][rank, .. position in the owner's block ..]. */
void comm_store_to_owner(Comm *, Node *producer, int from, const Tensor *to, int axis, int dim, Size split);

/* The places of what a store has for the owner of its tile: to[owner][rank, .. position in the owner's block ..]. */
int comm_owner_places(const Kernel *, const Op *store, int dim, int64_t block, int axis, Span *sub);
/* The parameter is now that tensor. */
void param_symmetric(Kernel *, int param, const Tensor *);

/* ---- own.c: a product that sends its tiles to their owners, and adds up its own ---- */

typedef struct {
    int partial;          /* what it makes */
    Tensor inbox, result; /* perhaps no tensors of the program yet */
    int axis, dim;
    Size split;
    PartOp op;
} OwnSum;

bool comm_can_sum_own(const Comm *, const Node *producer, const OwnSum *);
void comm_sum_own(Comm *, Node *producer, const OwnSum *);

/* What a rank has of a tensor that is gathered: into the copies of all. */
typedef struct {
    int from;
    Tensor inbox; /* perhaps no tensor of the program yet */
    int axis, dim;
    Size split;
    bool keep; /* where it was, too */
} ToAll;

bool comm_can_store_to_all(const Comm *, const Node *producer, const ToAll *);
void comm_store_to_all(Comm *, Node *producer, const ToAll *);

/* ---- kernels in roles address memory of peers, as schedules do not: roles.c ---- */

/* Tasks of a kernel in roles: clusters of workgroups take them. */
typedef struct {
    int64_t tasks; /* 0: it is not in roles */
    int cluster;
    double seconds; /* of a task */
} RolesTasks;
/* The most of the kernels that read the own copy of a symmetric tensor in place of this one in roles, where others that
   have plans keep them. */
RolesTasks comm_plans_read(Comm *, int tensor, int axis);
/* Beside these tasks few workgroups send so many bytes in no more time than all send them before. */
bool comm_is_worth_few(const Comm *, const RolesTasks *, int workgroups, double bytes);
/* The kernel copies by so many workgroups, where roles do that. */
void comm_by_few(Comm *, Kernel *, int workgroups);
/* Extents of the tiles that the node, in roles, stores of the tensor; false: they follow no ranges. */
bool comm_tiles(Comm *, const Node *, int tensor, int64_t *size);
bool comm_in_roles(Comm *, int tensor); /* its one producer is, as it is */
/* Of its one producer, which stores to the owners in place of it. */
bool comm_plans_store(Comm *, int tensor, const Tensor *inbox, int axis, int dim, Size split);
/* The same, and it adds up its own tiles; and they go to all ranks (NULL: to none). */
RolesTasks comm_plans_sum(Comm *, const OwnSum *, const ToAll *);
bool comm_plans_all(Comm *, const ToAll *); /* what it stores goes to all ranks */

/* ---- forms, choose.c ---- */

typedef struct {
    CommForm form;
    bool legal;
    const char *why_not;
    double seconds;
} Choice;

bool comm_is_named(const Program *, const Node *collective, const char *name); /* its operand or its result */
/* Picks the fastest legal form, or the one that --comm forces where it is legal, and says why in a remark. */
CommForm comm_choose(Comm *, const Node *, Choice *, int n);
double comm_bytes(const Comm *, int tensor);
double comm_packet_bytes(const Comm *, int tensor); /* as packets */
/* Can packets carry the collective's operand, so many bytes a rank? Their 32 bits of generation are enough where every
   run writes every word, as far as the proof knows: not of ragged tiles. */
bool comm_fits_packets(Comm *, const Node *collective, double bytes);
extern const char comm_not_packets[]; /* the reason where they cannot */

void comm_gather(Comm *, const Node *);       /* all_gather and stack */
ToAll comm_gather_to_all(Comm *, const Node *); /* of a gather that is to come */
void comm_reduce_scatter(Comm *, const Node *);
void comm_all_reduce(Comm *, const Node *);
void comm_exchange(Comm *, const Node *);     /* all_to_all, permute, broadcast */
void comm_copy(Comm *, const Node *);         /* any collective on a mesh axis of one rank */

#endif
