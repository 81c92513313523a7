/* collective.c: collectives as such, an element of the destination at a time.
   Sums are taken over the ranks in their order, in f32 (f64 in f64, integers wrapping), and rounded once at the end. */
#include "ir/interp/state.h"

#include <math.h>
#include <string.h>

typedef struct {
    World *w;
    const Node *node;
    int64_t generation, ranks; /* along the axis */
    int rank;                  /* of the destination */
    int coord[MAX_AXES];
    const Part *dst;
} Collective;

static Copy *part_copy(const Collective *c, const Part *p) { return &p->copy[c->generation % p->t->slots]; }

/* The rank with this coordinate along the axis, the others as the destination's. */
static const Part *source(const Collective *c, int64_t coordinate) {
    const Module *m = c->w->m;
    int rank = 0;
    for (int a = 0; a < m->axis.n; a++)
        rank = rank * (int)m->axis.p[a].ranks + (a == c->node->axis ? (int)coordinate : c->coord[a]);
    return world_part(c->w, rank, c->node->src);
}

static int64_t split_block(const Collective *c, const Part *p, int dim) {
    return size_block(c->w->m, p->t->dim[dim], c->w->sym);
}

/* In what the axes before the collective's have left. */
static int64_t split_origin(const Collective *c, const Part *p, int dim) {
    return c->coord[c->node->axis] * split_block(c, p, dim);
}

/* Which rank's element becomes at[], and where it is there (at[] is changed to that); -1: all ranks' are combined. */
static int64_t element_source(const Collective *c, int64_t *at) {
    const Node *n = c->node;
    const CollInfo *info = &coll_info[n->coll];
    int64_t here = c->coord[n->axis], owner = info->takes == PLACE_P ? -1 : here;
    if (info->argument == ARG_ROOT) owner = n->shift;
    if (info->argument == ARG_SHIFT) owner = ((here - n->shift) % c->ranks + c->ranks) % c->ranks;
    if (info->stacks) {
        owner = at[0];
        memmove(at, at + 1, sizeof *at * (MAX_DIMS - 1));
    }
    if (info->gathers) {
        int64_t block = split_block(c, source(c, 0), n->dim);
        owner = at[n->dim] / block;
        at[n->dim] -= owner * block;
    }
    int split = info->gathers ? n->dim2 : n->dim;
    if (info->splits) at[split] += split_origin(c, c->dst, split);
    return owner;
}

/* Row-major in the part; -1: outside. */
static int64_t element_of(const Part *p, const int64_t *at) {
    int64_t i = 0;
    for (int d = 0; d < p->t->ndim; d++) {
        if (at[d] < 0 || at[d] >= p->dim[d]) return -1;
        i += at[d] * p->stride[d];
    }
    return i;
}

static void element_copy(const Collective *c, const Part *from, int64_t i, int64_t to) {
    size_t each = elem_bytes(from->t->elem);
    const Copy *s = part_copy(c, from);
    Copy *d = part_copy(c, c->dst);
    Array a = {.elem = from->t->elem, .data = s->data}, b = {.elem = c->dst->t->elem, .data = d->data};
    if (i < 0)
        array_set_int(&b, to, 0);
    else if (a.elem == b.elem)
        memcpy(d->data + (size_t)to * each, s->data + (size_t)i * each, each);
    else
        array_set(&b, to, array_get(&a, i));
    if (d->bound) d->bound[to] = i >= 0 && s->bound ? bound_round(c->w, b.elem, array_get(&b, to), s->bound[i]) : 0;
}

/* The running combination of one element. */
typedef struct {
    float f;
    double d, bound, magnitude;
    int64_t i;
} Sum;

static void sum_add(Sum *s, const Array *a, int64_t i, PartOp op, bool first) {
    double x = array_get(a, i);
    int64_t n = elem_is_float(a->elem) ? 0 : array_get_int(a, i);
    bool larger = x > s->d || isnan(x);
    if (op == PART_MAX) {
        if (first || larger) s->d = x, s->f = (float)x;
        if (first || n > s->i) s->i = n;
        return;
    }
    s->f = first ? (float)x : s->f + (float)x;
    s->d = first ? x : s->d + x;
    s->i = (int64_t)((uint64_t)s->i + (uint64_t)n);
}

static void element_combine(const Collective *c, const int64_t *at, int64_t to) {
    Sum s = {0};
    PartOp op = source(c, 0)->t->place[c->node->axis].op;
    for (int64_t r = 0; r < c->ranks; r++) {
        const Part *p = source(c, r);
        const Copy *copy = part_copy(c, p);
        Array a = {.elem = p->t->elem, .data = copy->data};
        int64_t i = element_of(p, at);
        sum_add(&s, &a, i, op, r == 0);
        s.magnitude += fabs(array_get(&a, i));
        if (copy->bound)
            s.bound = op == PART_MAX ? fmax(s.bound, copy->bound[i]) : bound_join(c->w, s.bound, copy->bound[i]);
    }
    Copy *d = part_copy(c, c->dst);
    Array b = {.elem = c->dst->t->elem, .data = d->data};
    if (!elem_is_float(b.elem))
        array_set_int(&b, to, int_wrap(b.elem, s.i));
    else
        array_set(&b, to, b.elem == ELEM_F64 ? s.d : s.f);
    double eps = op == PART_SUM && c->ranks > 1 ? lane_eps(lane_of(b.elem)) : 0;
    double own = bound_own(c->w, (double)c->ranks, eps * s.magnitude);
    if (d->bound) d->bound[to] = bound_round(c->w, b.elem, array_get(&b, to), bound_join(c->w, s.bound, own));
}

static void element_make(const Collective *c, const int64_t *index, int64_t to) {
    int64_t at[MAX_DIMS];
    memcpy(at, index, sizeof at);
    int64_t owner = element_source(c, at);
    if (owner < 0)
        element_combine(c, at, to);
    else
        element_copy(c, source(c, owner), element_of(source(c, owner), at), to);
}

static void rank_receive(const Collective *c) {
    int64_t at[MAX_DIMS] = {0};
    for (int64_t to = 0; to < c->dst->count; to++) {
        element_make(c, at, to);
        for (int d = c->dst->t->ndim - 1; d >= 0 && ++at[d] == c->dst->dim[d]; d--) at[d] = 0;
    }
}

void collective_run(World *w, const Node *node, int64_t generation) {
    for (int rank = 0; rank < w->ranks; rank++) {
        Collective c = {.w = w,
                        .node = node,
                        .generation = generation,
                        .ranks = w->m->axis.p[node->axis].ranks,
                        .rank = rank,
                        .dst = world_part(w, rank, node->dst)};
        memcpy(c.coord, w->coord[rank], sizeof c.coord);
        if (world_chosen(w, node, rank, generation)) rank_receive(&c);
    }
}
