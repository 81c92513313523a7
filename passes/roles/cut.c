/* cut.c: copies of operations of the body in a role's.
   Takes: operations in the order of the text. Gives: the same ones, of the copies of their operands. */
#include "passes/roles/slice.h"
#include "base/require.h"

Cut cut_begin(Slice *s, Region *at) {
    Cut c = {.s = s, .b = {.m = s->m, .k = s->to, .at = at, .loc = s->k->loc}};
    c.value = ARENA_ARRAY(s->scratch, Value *, s->values + 1);
    for (int i = 0; i < s->values; i++) c.value[i] = s->scalar[i];
    return c;
}

void cut_within(Cut *c, void (*build)(Cut *, const Region *), const Region *from, Region *to) {
    Region *at = c->b.at;
    c->b.at = to;
    build(c, from);
    c->b.at = at;
}

Value *cut_value(const Cut *c, const Value *v) {
    REQUIRE(c->value[v->id]);
    return c->value[v->id];
}

void cut_name(Cut *c, const Value *from, Value *to) {
    to->name = from->name;
    c->value[from->id] = to;
}

static Affine affine_cut(const Cut *c, Affine a) {
    for (int i = 0; i < a.nterm; i++) {
        Term *t = &a.term[i];
        if (t->kind == TERM_VALUE) t->value = cut_value(c, t->value);
        if (t->kind == TERM_POS && t->id == c->counted - 1) t->kind = TERM_VALUE, t->id = -1, t->value = c->count;
    }
    return a;
}

static Span span_cut(const Cut *c, const Span *s) { return (Span){affine_cut(c, s->lo), affine_cut(c, s->hi)}; }

Span *cut_place(const Cut *c, const Op *op) {
    Span *sub = ARENA_ARRAY(c->b.m->arena, Span, op->sub.n + 1);
    for (int d = 0; d < op->sub.n; d++) sub[d] = span_cut(c, &op->sub.p[d]);
    return sub;
}

/* The end of a loop passes on what the role's loop carries. */
static bool is_left(const Cut *c, const Op *op, int i) {
    const Op *loop = op->kind == OP_YIELD ? op->in->parent : NULL;
    return loop && loop->kind == OP_FOR && !wide_carries(c, loop->res.p[i]);
}

/* Its operands are taken, as they are. */
static Op *op_begin(Cut *c, const Op *op) {
    Op *fresh = op_like(c->b.m, op);
    fresh->sub.p = cut_place(c, op);
    fresh->dest = span_cut(c, &op->dest);
    for (int i = 0; i < op->arg.n; i++)
        if (!is_left(c, op, i)) vec_push(c->b.m->arena, &fresh->arg, cut_value(c, op->arg.p[i]));
    op_append_to(c->b.at, fresh);
    return fresh;
}

Op *cut_op(Cut *c, const Op *op) {
    Op *fresh = op_begin(c, op);
    for (int i = 0; i < op->res.n; i++) cut_name(c, op->res.p[i], op_result(c->b.m, c->b.k, fresh, op->res.p[i]->type));
    return fresh;
}

/* NULL: all workgroups run the whole loop. */
static const Stream *sliced_stream(const Slice *s, const Op *loop) {
    for (int i = 0; i < s->stream.n && s->slices > 1; i++)
        if (s->stream.p[i].first && s->stream.p[i].at == loop->region[0]) return &s->stream.p[i];
    return NULL;
}

Op *cut_loop(Cut *c, const Op *op, int carried) {
    Value **init = ARENA_ARRAY(c->s->scratch, Value *, carried + 1);
    int n = 0;
    for (int i = 0; i < carried; i++)
        if (wide_carries(c, op->res.p[i])) init[n++] = cut_value(c, op->arg.p[2 + i]);
    c->b.loc = op->loc;
    const Stream *slice = sliced_stream(c->s, op);
    Value *first = slice ? slice->first : cut_value(c, op->arg.p[0]),
          *past = slice ? slice->past : cut_value(c, op->arg.p[1]);
    Op *loop = build_for(&c->b, op->range, first, past, init, n);
    for (int i = 0, at = 0; i < carried; i++) {
        if (!wide_carries(c, op->res.p[i])) continue;
        cut_name(c, op->region[0]->arg.p[i], loop->region[0]->arg.p[at]);
        cut_name(c, op->res.p[i], loop->res.p[at++]);
    }
    return loop;
}

Op *cut_condition(Cut *c, const Op *op, int results) {
    Type *type = ARENA_ARRAY(c->s->scratch, Type, results + 1);
    for (int i = 0; i < results; i++) type[i] = op->res.p[i]->type;
    c->b.loc = op->loc;
    Op *condition = build_if(&c->b, cut_value(c, op->arg.p[0]), type, results);
    for (int i = 0; i < results; i++) cut_name(c, op->res.p[i], condition->res.p[i]);
    return condition;
}

/* Parameters of kernels that were one another's may have one name. */
static bool is_ring(const Slice *s, Name name) {
    for (int i = 0; i < s->k->roles->ring.n; i++)
        if (s->k->roles->ring.p[i].name == name) return true;
    return false;
}

int ring_new(Slice *s, Name name, int slots, Loc loc) {
    Name own = name;
    for (int n = 2; is_ring(s, own); n++) own = name_of(s->m->names, slice_text(s, "%s_%d", name, n));
    return roles_ring(s->m, s->to, own, slots, loc);
}

void panel_loop(Builder *b, const Slice *s) {
    Value *lo = build_index(b, OP_BEGIN, s->share), *hi = build_index(b, OP_END, s->share);
    Op *loop = build_for(b, s->panel, lo, hi, NULL, 0);
    loop->unrolled = true;
    b->at = loop->region[0];
}
