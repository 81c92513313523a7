/* move.c: kernels that copy tiles, or sum them over ranks, between private and symmetric tensors.
   Used by every form of every collective; tiles are sized so that one is worth a task. */
#include "passes/comm/comm.h"

#include <math.h>

/* Elements of a tile of a copy; chosen: no measurement is recorded. */
enum { TILE_ELEMENTS = 32768 };

static Param param_of(const Comm *c, int tensor, bool out) {
    const Tensor *t = &c->p->tensor.p[tensor];
    Param p = {.name = t->name, .elem = t->elem, .ndim = t->ndim, .out = out, .ranks = t->symmetric, .packet = t->packet};
    for (int d = 0; d < t->ndim; d++) p.dim[d] = t->dim[d];
    return p;
}

static int peer_range(Move *mv, int axis, const char *name, bool grid) {
    Size ranks = size_number(mv->c->m->axis.p[axis].ranks);
    Range r = {.name = name_of(mv->c->m->names, name), .kind = RANGE_POSITION, .size = 1, .of = ranks, .owner = -1, .grid = grid};
    return kernel_range(mv->c->m, mv->k, r);
}

/* Powers of two, so that the tiles of a kernel at either end are whole numbers of ours. */
static int64_t tile_extent(int64_t n, int64_t most) {
    int64_t size = 1;
    if (n <= most) return n < 1 ? 1 : n;
    while (size * 2 <= most) size *= 2;
    return size;
}

/* Tile extents from the innermost dimension outwards, until a tile has TILE_ELEMENTS. */
static void add_ranges(Move *mv, const Size *dim, int owned) {
    static const char *const names[MAX_DIMS] = {"i", "j", "k", "l", "i1", "j1", "k1", "l1", "m1"};
    Module *m = mv->c->m;
    int64_t size[MAX_DIMS], left = TILE_ELEMENTS;
    for (int d = mv->ndim - 1; d >= 0; d--) {
        size[d] = tile_extent(size_bound(m, dim[d]), left);
        left = left / size[d] ? left / size[d] : 1;
    }
    for (int d = 0; d < mv->ndim; d++) {
        Range r = {.name = name_of(m->names, names[d]), .kind = RANGE_TILE, .size = size[d], .of = dim[d], .grid = true,
                   .owner = (int16_t)(d == owned ? mv->peer : -1), .tunable = true};
        mv->range[d] = kernel_range(m, mv->k, r);
    }
}

Move move_begin(Comm *c, const char *what, int in, int out, int axis, bool peer, const Size *dim, int ndim, int owned) {
    const Tensor *t = &c->p->tensor.p[in];
    Move mv = {.c = c, .in = in, .out = out, .ndim = ndim, .peer = -1};
    const char *name = arena_format(c->m->arena, "%s_%s", t->name, what);
    mv.k = kernel_new(c->m, name_of(c->m->names, name), t->loc);
    kernel_param(c->m, mv.k, param_of(c, in, false));
    kernel_param(c->m, mv.k, param_of(c, out, true));
    if (peer) mv.peer = peer_range(&mv, axis, "r", true);
    add_ranges(&mv, dim, owned);
    mv.b = (Builder){.m = c->m, .k = mv.k, .at = mv.k->body, .loc = t->loc};
    return mv;
}

void move_tiles(Move *mv, const int64_t *size) {
    for (int d = 0; d < mv->ndim; d++) mv->k->range.p[mv->range[d]].size = size[d];
}

void move_from(Move *mv, Affine a) { mv->from[mv->nfrom++] = span_of(a); }
void move_from_own(Move *mv) {
    int axis = mv->c->p->tensor.p[mv->in].symmetric;
    if (axis >= 0) move_from(mv, affine_rank(axis));
}

void move_to(Move *mv, Affine a) { mv->to[mv->nto++] = span_of(a); }
Affine move_pos(const Move *mv, int dim) { return affine_term(TERM_POS, mv->range[dim], 1, 1); }
Affine move_peer(const Move *mv) { return affine_term(TERM_POS, mv->peer, 1, 1); }

void move_plain(Move *mv) {
    for (int d = 0; d < mv->ndim; d++) {
        move_from(mv, move_pos(mv, d));
        move_to(mv, move_pos(mv, d));
    }
}

Affine move_in_mine(const Move *mv, int dim, Size split) {
    Builder b = mv->b;
    Affine a = move_pos(mv, dim), own = comm_own_block(&b, split);
    affine_add(&a, &own, 1);
    return a;
}

Affine move_in_peers(const Move *mv, int dim, Size split) {
    Affine a = move_pos(mv, dim), theirs = affine_term(TERM_POS, mv->peer, 1, 1);
    if (split.sym < 0) theirs.term[0].mul = size_block(mv->c->m, split, NULL);
    else theirs.term[0].kind = TERM_BLOCK, theirs.term[0].size = split;
    affine_add(&a, &theirs, 1);
    return a;
}

static void finish(Move *mv, Nodes *into, CommForm form) {
    Node n = {.kind = NODE_CALL, .loc = mv->k->loc, .kernel = mv->k, .src = -1, .dst = -1, .form = form, .when = mv->c->when};
    vec_push(mv->c->m->arena, &n.arg, arg_whole(mv->in));
    vec_push(mv->c->m->arena, &n.arg, arg_whole(mv->out));
    vec_push(mv->c->m->arena, n.when ? &mv->c->out : into, n); /* conditions are computed behind what goes first */
}

static Value *stored(Move *mv, Value *v) {
    return build_cast(&mv->b, mv->k->param.p[1].elem, v);
}

void move_end_copy(Move *mv, Nodes *into, CommForm form) {
    Value *v = build_load(&mv->b, 0, mv->from, mv->nfrom);
    if (v->type.elem != mv->k->param.p[1].elem) v = stored(mv, build_cast(&mv->b, elem_arith(v->type.elem), v));
    build_store(&mv->b, 1, mv->to, mv->nto, v, STORE_SET);
    finish(mv, into, form);
}

int move_sum_range(Move *mv, int axis) { return peer_range(mv, axis, "s", false); }

/* What changes nothing when it is combined with a value. */
static Value *neutral(Builder *b, Elem elem, PartOp op) {
    if (elem_is_float(elem)) return build_const_f(b, elem, op == PART_SUM ? 0 : -INFINITY);
    return build_const_i(b, elem, op == PART_SUM ? 0 : elem == ELEM_I64 ? INT64_MIN : INT32_MIN);
}

/* The range of the sum is the kernel's last. */
void move_end_sum(Move *mv, PartOp op, Nodes *into, CommForm form) {
    Builder *b = &mv->b;
    int s = mv->k->range.n - 1;
    Elem elem = elem_arith(mv->k->param.p[0].elem);
    Value *zero = neutral(b, elem, op);
    Type tile = type_scalar(elem);
    for (int d = 0; d < mv->ndim; d++) tile = type_with(tile, mv->range[d]);
    Value *acc = build_broadcast(b, tile, zero);
    Value *lo = build_const_i(b, ELEM_I64, 0), *hi = build_const_i(b, ELEM_I64, mv->k->range.p[s].of.c);
    Op *loop = build_for(b, s, lo, hi, &acc, 1);
    Builder in = *b;
    in.at = loop->region[0];
    Value *x = build_cast(&in, elem, build_load(&in, 0, mv->from, mv->nfrom));
    Value *sum = build_binary(&in, op == PART_SUM ? OP_ADD : OP_MAX, loop->region[0]->arg.p[0], x);
    build_yield(&in, &sum, 1);
    build_store(b, 1, mv->to, mv->nto, stored(mv, loop->res.p[0]), STORE_SET);
    finish(mv, into, form);
}

/* ---- publishing ---- */

int comm_published(Comm *c, int tensor, int axis, CommForm form) {
    const Tensor *t = &c->p->tensor.p[tensor];
    if (t->symmetric == axis) return tensor;
    bool in_place = t->role == ROLE_TEMP && t->symmetric < 0 && !comm_reads_itself(c, tensor) && !comm_is_scheduled(c, tensor);
    if (in_place) return comm_publish_temp(c, tensor, axis), tensor;
    int to = comm_symmetric(c, tensor, "sym", axis, t->dim, t->ndim, t->elem);
    t = &c->p->tensor.p[tensor];
    Move mv = move_begin(c, "publish", tensor, to, axis, false, t->dim, t->ndim, -1);
    move_from_own(&mv);
    move_to(&mv, affine_rank(axis));
    for (int d = 0; d < t->ndim; d++) {
        move_from(&mv, move_pos(&mv, d));
        move_to(&mv, move_pos(&mv, d));
    }
    move_end_copy(&mv, t->role == ROLE_INPUT ? &c->first : &c->out, form);
    return to;
}
