/* flags_map.c: which tiles of a producer an access needs, and of which ranks.
   Takes: the places that the producer's tiles store and those that the access reads. Gives: the first and last tile
   along each dimension of the producer's grid; all tiles where an end is not affine. The proof judges the outcome.

     tile I on rank s stores the Z places from Z I + B s + c on; the access reads the f places from L on:
     floor((L - c - B s) / Z) <= I <= floor((L + f - 1 - c - B s) / Z) */
#include "passes/sync/flags.h"

static const Need all = {.known = false};

static Need need_exactly(Affine a) { return (Need){.known = true, .lo = a, .hi = a}; }

static bool is_term(const Affine *a, TermKind kind, int id) {
    return a->nterm == 1 && a->c == 0 && a->term[0].kind == kind && a->term[0].id == id && a->term[0].mul == 1 && a->term[0].div == 1;
}

static bool is_rank(const Box *b, int axis) { return b->known && is_term(&b->start, TERM_RANK, axis); }

static int edge_axis(const Program *p, const Access *from, const Access *to) {
    int axis = p->tensor.p[from->tensor].symmetric;
    return axis >= 0 && is_rank(&from->rank, axis) && is_rank(&to->rank, axis) ? -1 : axis;
}

static Edge edge_new(const Program *p, const Access *from, const Access *to) {
    return (Edge){.from = from, .to = to, .axis = edge_axis(p, from, to), .dest_dim = -1, .owner_dim = -1};
}

Edge edge_whole(const Program *p, const Access *from, const Access *to) { return edge_new(p, from, to); }

/* ---- ranks ---- */

static bool value_at_top(const Kernel *k, const Value *v) { return v->def && v->def->in == k->body; }

/* In terms that hold at the end of a task. */
static bool affine_at_end(const Kernel *k, const Affine *a) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_VALUE ? !value_at_top(k, t->value) : t->kind == TERM_INDEX && !k->range.p[t->id].grid) return false;
    }
    return true;
}

static int grid_dim_used(const Kernel *k, const Value *v, int depth) {
    const Op *op = v->def;
    if (!op || depth == 0) return -1;
    if (op->kind == OP_POS && op->range < k->ngrid) return op->range;
    for (int i = 0; i < op->arg.n; i++) {
        int d = grid_dim_used(k, op->arg.p[i], depth - 1);
        if (d >= 0) return d;
    }
    return -1;
}

/* The dimension that runs over destinations: a position range that alone decides the rank stored to. */
static int dest_dim_of(const Kernel *k, const Affine *dest) {
    if (dest->nterm != 1) return -1;
    const Term *t = &dest->term[0];
    int d = t->kind == TERM_INDEX && t->div == 1 ? t->id : t->kind == TERM_VALUE ? grid_dim_used(k, t->value, 8) : -1;
    return d >= 0 && k->range.p[d].kind == RANGE_POSITION ? d : -1;
}

static void solve_ranks(const Kernel *k, Edge *e) {
    const Box *from = &e->from->rank, *to = &e->to->rank;
    if (is_rank(from, e->axis) && to->known && to->extent == 1) e->source = need_exactly(to->start);
    if (!is_rank(to, e->axis) || !from->known || from->extent != 1 || !affine_at_end(k, &from->start)) return;
    e->dest_known = true;
    e->dest = from->start;
    e->dest_dim = dest_dim_of(k, &from->start);
    const Term *t = &from->start.term[0];
    if (from->start.nterm == 1 && from->start.c == 0 && t->kind == TERM_INDEX && t->mul == 1 && e->dest_dim < 0)
        e->owner_dim = t->id, e->owner_group = t->div;
    if (e->dest_dim < 0 && e->owner_dim < 0 && !e->source.known) e->dest_known = false; /* nobody would know whom to wait for */
}

/* ---- dimensions ---- */

/* A producer's start, taken apart: Z * I + B * rank, or Z * I + B * I', and what the consumer knows. */
typedef struct {
    int dim;          /* grid dimension, or -1 */
    int64_t tile;     /* Z */
    int outer;        /* a grid dimension that counts blocks of which .dim is inside, or -1 */
    int64_t outer_block;
    int64_t block;    /* B of the rank term; 0: none */
    Affine rest;      /* in terms of the consumer: constant, and floor(I / n) where that is the consumer's rank */
} Start;

/* One grid dimension, or two of which the finer is inside the coarser. */
static bool start_index(Start *s, int dim, int64_t mul) {
    if (s->dim < 0) {
        s->dim = dim, s->tile = mul;
        return true;
    }
    if (s->outer >= 0 || mul == s->tile) return false;
    bool coarser = mul > s->tile;
    s->outer = coarser ? dim : s->dim, s->outer_block = coarser ? mul : s->tile;
    if (!coarser) s->dim = dim, s->tile = mul;
    return true;
}

static bool start_term(const Kernel *k, const Edge *e, const Term *t, Start *s) {
    Affine same = {.nterm = 1, .term = {*t}}, owner = affine_term(TERM_RANK, e->axis, t->mul, 1);
    if (t->kind == TERM_RANK) {
        if (e->axis < 0) return affine_add(&s->rest, &same, 1);
        s->block = t->mul;
        return t->id == e->axis;
    }
    if (t->kind != TERM_INDEX) return false;
    if (t->id == e->owner_dim && t->div == e->owner_group) return affine_add(&s->rest, &owner, 1);
    return t->id < k->ngrid && t->div == 1 && t->mul > 0 && start_index(s, t->id, t->mul);
}

static bool start_take_apart(const Kernel *k, const Edge *e, const Affine *start, Start *s) {
    *s = (Start){.dim = -1, .outer = -1, .rest = affine_const(start->c)};
    for (int i = 0; i < start->nterm; i++)
        if (!start_term(k, e, &start->term[i], s)) return false;
    return true;
}

static bool need_div(const Affine *first, int64_t reach_lo, int64_t reach_hi, int64_t q, Need *out) {
    Affine lo = *first, hi = *first;
    lo.c += reach_lo;
    hi.c += reach_hi;
    Need n = {.known = true};
    if (!affine_floor_div(&lo, q, &n.lo) || !affine_floor_div(&hi, q, &n.hi)) return false;
    *out = n;
    return true;
}

/* The source from a dimension that holds every rank's part in turn: B * s + what stays below B. */
static bool solve_source(Edge *e, const Start *s, const Box *from, const Affine *at, int64_t extent) {
    if (e->source.known) return true;
    bool inside = s->dim < 0 ? from->extent <= s->block : from->limit <= s->block;
    return inside && need_div(at, 0, extent - 1, s->block, &e->source);
}

static void solve_dim(const Kernel *k, Edge *e, const Box *from, const Box *to) {
    Start s;
    if (!from->known || !to->known || !start_take_apart(k, e, &from->start, &s)) return;
    Affine at = to->start;
    if (!affine_add(&at, &s.rest, -1)) return;
    if (s.block) {
        if (!solve_source(e, &s, from, &at, to->extent) || !affine_equal(&e->source.lo, &e->source.hi)) return;
        if (!affine_add(&at, &e->source.lo, -s.block)) return;
    }
    if (s.outer >= 0) {
        Need *outer = &e->dim[s.outer];
        if (from->limit > s.outer_block || (!outer->known && !need_div(&at, 0, to->extent - 1, s.outer_block, outer))) return;
        if (!affine_equal(&outer->lo, &outer->hi) || !affine_add(&at, &outer->lo, -s.outer_block)) return;
    }
    if (s.dim < 0 || e->dim[s.dim].known) return;
    need_div(&at, s.tile - from->extent, to->extent - 1, s.tile, &e->dim[s.dim]);
}

/* It takes place under the condition that the consumer's tile is its rank's own: floor(begin(d) / block) = rank. */
static bool is_of_owner(const Kernel *k, const Edge *e) {
    const int64_t block = e->owner_group * k->range.p[e->owner_dim].size;
    for (const Region *r = e->to->op->in; r->parent; r = r->parent->in) {
        const Op *test = r->parent->kind == OP_IF && r == r->parent->region[0] ? r->parent->arg.p[0]->def : NULL;
        if (!test || test->kind != OP_EQ || !test->arg.p[0]->def || !test->arg.p[1]->def) continue;
        const Op *owner = test->arg.p[0]->def, *rank = test->arg.p[1]->def;
        if (owner->kind != OP_DIV || !value_is(owner->arg.p[1], block) || rank->kind != OP_RANK) continue;
        const Op *begin = owner->arg.p[0]->def;
        if (rank->axis == e->axis && begin && begin->kind == OP_BEGIN && begin->range == e->owner_dim) return true;
    }
    return false;
}

/* A consumer's tile must not reach into words of the next owner, which are never completed here. */
static void settle_owner(const Kernel *k, Edge *e) {
    if (e->owner_dim < 0) return;
    Need *n = &e->dim[e->owner_dim];
    const Affine own = affine_term(TERM_INDEX, e->owner_dim, 1, 1);
    if (e->from->node == e->to->node && n->known && affine_equal(&n->lo, &own) && affine_equal(&n->hi, &own) &&
        is_of_owner(k, e))
        return;
    Affine rank = affine_term(TERM_RANK, e->axis, e->owner_group, 1), first = n->lo, last = n->hi;
    if (n->known && affine_add(&first, &rank, -1) && affine_add(&last, &rank, -1)) {
        bool fits = affine_is_const(&first) ? first.c >= 0 && last.c < e->owner_group : false;
        int64_t length = last.c - first.c + 1;
        if (first.nterm == 1) fits = first.c == 0 && e->owner_group % length == 0 && first.term[0].mul == length;
        if (fits) return;
    }
    *n = all;
}

Edge edge_of(const Program *p, const Access *from, const Access *to) {
    const Kernel *k = p->node.p[from->node]->kernel;
    Edge e = edge_new(p, from, to);
    if (e.axis >= 0) solve_ranks(k, &e);
    for (int d = 0; d < from->ndim; d++) solve_dim(k, &e, &from->dim[d], &to->dim[d]);
    settle_owner(k, &e);
    return e;
}
