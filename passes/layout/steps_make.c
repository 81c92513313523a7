/* steps_make.c: the copy of a kernel whose rows go in steps. Operations along the row are copied into every loop that
   needs them, down to their loads; all others stand once, where they stood. */
#include "passes/fuse/inline.h"
#include "passes/layout/layout.h"
#include "passes/layout/steps.h"

typedef struct {
    Inline in;
    Kernel *from;
    int row;
    int64_t step;
    VEC(const Op *) stored; /* stores along the row that are in a loop */
} Steps;

/* One loop: what it computes, and of that what is carried from step to step. */
typedef struct {
    Steps *s;
    VEC(const Op *) work;   /* reductions and stores */
    VEC(const Op *) prefix; /* that these need */
    VEC(Value *) carried;   /* values before the loop, then, in the loop, behind the step */
    bool *seen;             /* of each value of the kernel */
    Op *loop;
    Builder b;
} Loop;

static bool is_over_range(const Op *op, int range) {
    for (int i = 0; i < op->nover; i++)
        if (op->over[i] == range) return true;
    return op_info[op->kind].class == CLASS_PREFIX && op->range == range;
}

static bool is_along(const Steps *s, const Value *v) { return type_has(v->type, s->row); }

static bool is_store(const Op *op) { return op->kind == OP_STORE; }
static bool is_arg(const Op *op) { return op_info[op->kind].position; }

static bool has_row(const Steps *s, const Op *op) {
    bool along = false;
    for (int i = 0; i < op->arg.n; i++) along |= is_along(s, op->arg.p[i]);
    for (int d = 0; d < op->sub.n; d++) along |= type_has(affine_type(s->from, &op->sub.p[d].lo), s->row);
    return along;
}

static bool is_work(const Steps *s, const Op *op) {
    OpClass class = op_info[op->kind].class;
    if (is_store(op)) return has_row(s, op);
    return (class == CLASS_REDUCE || class == CLASS_DOT) && is_over_range(op, s->row) && has_row(s, op);
}

static bool is_done(const Steps *s, const Op *op) {
    for (int i = 0; i < s->stored.n; i++)
        if (s->stored.p[i] == op) return true;
    return op->res.n && s->in.value[op->res.p[0]->id];
}

/* ---- what an operation needs ---- */

typedef bool Need(Loop *, Value *);

static bool each_need(Loop *l, const Op *op, Need *need) {
    bool all = true;
    for (int i = 0; i < op->arg.n; i++) all &= need(l, op->arg.p[i]);
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].value) all &= need(l, op->sub.p[d].lo.term[i].value);
    return all;
}

/* All that it is made of beside rows has been computed. */
static bool is_ready(Loop *l, Value *v) {
    if (!is_along(l->s, v)) return l->s->in.value[v->id] != NULL;
    if (l->seen[v->id]) return true;
    bool ready = each_need(l, v->def, is_ready);
    l->seen[v->id] = ready;
    return ready;
}

static bool find_prefixes(Loop *l, Value *v) {
    if (!is_along(l->s, v) || l->seen[v->id]) return true;
    l->seen[v->id] = true;
    each_need(l, v->def, find_prefixes);
    bool prefix = op_info[v->def->kind].class == CLASS_PREFIX && is_over_range(v->def, l->s->row);
    if (prefix) vec_push(l->s->in.m->arena, &l->prefix, v->def);
    return true;
}

static void find_work(Loop *l, const Op *first) {
    Arena *a = l->s->in.m->arena;
    for (const Op *op = first; op; op = op->next)
        if (is_work(l->s, op) && !is_done(l->s, op) && each_need(l, op, is_ready)) vec_push(a, &l->work, op);
    l->seen = ARENA_ARRAY(a, bool, l->s->from->nvalue + 1);
    for (int i = 0; i < l->work.n; i++) each_need(l, l->work.p[i], find_prefixes);
}

/* ---- what is carried: how it begins, and how two parts become one ---- */

/* The reduction that gives the value which a prefix ends in, or which lies at a position. */
static OpKind reduction_of(const Op *op) { return op_reduction(op_info[op->kind].joins); }

static void carry(Loop *l, OpKind by, Elem e, const Op *op) {
    Type t = inline_type(&l->s->in, type_without(op->res.p[0]->type, l->s->row));
    t.elem = e;
    Value *v = build_broadcast(&l->b, t, lay_ignored_by(&l->b, by, e));
    v->name = op->res.p[0]->name;
    vec_push(l->s->in.m->arena, &l->carried, v);
}

static void carry_work(Loop *l, const Op *op) {
    if (is_store(op)) return;
    if (op->kind == OP_DOT && op->arg.n == 3)
        vec_push(l->s->in.m->arena, &l->carried, l->s->in.value[op->arg.p[2]->id]);
    else if (is_arg(op))
        carry(l, reduction_of(op), op->arg.p[0]->type.elem, op);
    else
        carry(l, op->kind, op->res.p[0]->type.elem, op);
    if (is_arg(op)) carry(l, OP_SUM, ELEM_I64, op);
}

static Value *join(Builder *b, OpKind kind, Value *x, Value *y) { return build_binary(b, op_info[kind].joins, x, y); }

static Value *is_number(Builder *b, Value *x, bool holds) { return build_binary(b, holds ? OP_EQ : OP_NE, x, x); }

/* A NaN is better than any number. */
static Value *join_beats(Builder *b, OpKind kind, Value *x, Value *y) {
    Value *beats = build_binary(b, kind == OP_ARGMAX ? OP_GT : OP_LT, y, x);
    if (!elem_is_float(x->type.elem)) return beats;
    Value *first = build_binary(b, OP_AND, is_number(b, x, true), is_number(b, y, false));
    return build_binary(b, OP_OR, beats, first);
}

/* Of equals the first: x comes before y. */
static void join_arg(Builder *b, OpKind kind, Value *const x[2], Value *const y[2], Value *to[2]) {
    Value *beats = join_beats(b, kind, x[0], y[0]);
    to[0] = join(b, kind, x[0], y[0]);
    to[1] = build_select(b, beats, y[1], x[1]);
}

/* ---- a step ---- */

static Value *copy_along(Loop *l, Value *v);

static bool copy_need(Loop *l, Value *v) { return copy_along(l, v) != NULL; }

static int carried_at(const Loop *l, const Op *prefix) {
    int at = l->carried.n - l->prefix.n;
    for (int i = 0; l->prefix.p[i] != prefix; i++) at++;
    return at;
}

/* From the row's beginning: what the steps before came to goes in front. */
static Value *copy_prefix(Loop *l, const Op *op, Value *own) {
    const int at = carried_at(l, op);
    const int16_t over[] = {l->s->in.range[l->s->row]};
    Value *before = l->loop->region[0]->arg.p[at], *x = l->s->in.value[op->arg.p[0]->id];
    l->carried.p[at] = join(&l->b, op->kind, before, build_reduce(&l->b, reduction_of(op), x, over, 1));
    return join(&l->b, op->kind, build_broadcast(&l->b, own->type, before), own);
}

static Value *copy_along(Loop *l, Value *v) {
    Inline *in = &l->s->in;
    if (in->value[v->id]) return in->value[v->id];
    const Op *op = v->def;
    each_need(l, op, copy_need);
    inline_op(in, op);
    bool prefix = op_info[op->kind].class == CLASS_PREFIX && is_over_range(op, l->s->row);
    if (prefix) in->value[v->id] = copy_prefix(l, op, in->value[v->id]);
    return in->value[v->id];
}

static void step_arg(Loop *l, const Op *op, int at) {
    const int16_t over[] = {l->s->in.range[l->s->row]};
    Value *const *before = &l->loop->region[0]->arg.p[at];
    Value *here[2] = {build_reduce(&l->b, reduction_of(op), l->s->in.value[op->arg.p[0]->id], over, 1), NULL};
    inline_op(&l->s->in, op);
    here[1] = l->s->in.value[op->res.p[0]->id];
    join_arg(&l->b, op->kind, before, here, &l->carried.p[at]);
}

/* Its part of a step; how many values it carries. */
static int step_work(Loop *l, const Op *op, int at) {
    Inline *in = &l->s->in;
    Value *before = at < l->loop->res.n ? l->loop->region[0]->arg.p[at] : NULL;
    each_need(l, op, copy_need);
    if (is_arg(op)) return step_arg(l, op, at), 2;
    const bool sums = op->kind == OP_DOT && op->arg.n == 3;
    Value *outer = sums ? in->value[op->arg.p[2]->id] : NULL;
    if (sums) in->value[op->arg.p[2]->id] = before;
    inline_op(in, op);
    if (sums) in->value[op->arg.p[2]->id] = outer;
    if (is_store(op)) return 0;
    Value *here = in->value[op->res.p[0]->id];
    l->carried.p[at] = sums ? here : join(&l->b, op->kind, before, here);
    return 1;
}

static void rows_forget(Loop *l) {
    for (int i = 0; i < l->s->from->nvalue; i++)
        if (l->seen[i]) l->s->in.value[i] = NULL;
}

/* Parts of the loop meet as steps do, so that `split` may cut it. */
static void merge_write(Loop *l) {
    const int n = l->loop->res.n;
    bool args = false;
    for (int i = 0; i < l->work.n; i++) {
        args |= is_arg(l->work.p[i]);
        if (is_store(l->work.p[i]) || l->work.p[i]->kind == OP_DOT || l->prefix.n) return;
    }
    if (!args) return; /* others go together by themselves */
    Region *r = l->loop->region[1] = region_new(l->s->in.m, l->loop);
    Value **to = ARENA_ARRAY(l->s->in.m->arena, Value *, n + 1);
    for (int i = 0; i < 2 * n; i++) region_arg(l->b.m, l->b.k, r, l->loop->res.p[i % n]->type, NULL);
    l->b.at = r;
    for (int i = 0, at = 0; i < l->work.n; i++) {
        const Op *op = l->work.p[i];
        Value *const *x = &r->arg.p[at], *const *y = &r->arg.p[n + at];
        if (is_arg(op))
            join_arg(&l->b, op->kind, x, y, &to[at]);
        else
            to[at] = join(&l->b, op->kind, x[0], y[0]);
        at += 1 + is_arg(op);
    }
    build_yield(&l->b, to, n);
}

static int16_t range_of_steps(Steps *s) {
    const Range *row = &s->from->range.p[s->row];
    Range r = {.name = row->name, .kind = RANGE_TILE, .size = s->step, .owner = -1, .loc = row->loc};
    return (int16_t)kernel_range(s->in.m, s->in.into, r);
}

static void loop_write(Loop *l) {
    Steps *s = l->s;
    Region *outer = s->in.at;
    Value *begin = build_const_i(&l->b, ELEM_I64, 0), *end = build_size(&l->b, OP_SIZE, s->from->range.p[s->row].of);
    s->in.range[s->row] = range_of_steps(s);
    l->loop = build_for(&l->b, s->in.range[s->row], begin, end, l->carried.p, l->carried.n);
    s->in.at = l->b.at = l->loop->region[0];
    for (int i = 0, at = 0; i < l->work.n; i++) at += step_work(l, l->work.p[i], at);
    build_yield(&l->b, l->carried.p, l->carried.n);
    rows_forget(l);
    s->in.at = outer;
    s->in.range[s->row] = -1;
}

/* The loop for an operation, and for those behind it that need no more. */
static void loop_make(Steps *s, const Op *first) {
    Loop l = {.s = s, .b = {s->in.m, s->in.into, s->in.at, first->loc}};
    l.seen = ARENA_ARRAY(s->in.m->arena, bool, s->from->nvalue + 1);
    find_work(&l, first);
    for (int i = 0; i < l.work.n; i++) carry_work(&l, l.work.p[i]);
    for (int i = 0; i < l.prefix.n; i++)
        carry(&l, reduction_of(l.prefix.p[i]), l.prefix.p[i]->res.p[0]->type.elem, l.prefix.p[i]);
    loop_write(&l);
    for (int i = 0, at = 0; i < l.work.n; i++) {
        const Op *op = l.work.p[i];
        if (is_store(op))
            vec_push(s->in.m->arena, &s->stored, op);
        else
            s->in.value[op->res.p[0]->id] = l.loop->res.p[at + is_arg(op)];
        at += is_store(op) ? 0 : 1 + is_arg(op);
    }
    merge_write(&l);
}

/* ---- the kernel ---- */

static void region_step(Steps *s, const Region *r);

/* A loop or a condition, its regions step by step. */
static void control_step(Steps *s, Op *op) {
    Region *const region[2] = {op->region[0], op->region[1]}, *at = s->in.at;
    op->region[0] = op->region[1] = NULL;
    inline_op(&s->in, op);
    Op *copy = at->last;
    for (int i = 0; i < 2; i++) {
        op->region[i] = region[i];
        if (!region[i]) continue;
        copy->region[i] = s->in.at = region_new(s->in.m, copy);
        for (int j = 0; j < region[i]->arg.n; j++) {
            const Value *v = region[i]->arg.p[j];
            s->in.value[v->id] = region_arg(s->in.m, s->in.into, s->in.at, inline_type(&s->in, v->type), v->name);
        }
        region_step(s, region[i]);
    }
    s->in.at = at;
}

static bool is_end_of_row(const Steps *s, const Op *op) {
    return (op->kind == OP_BEGIN || op->kind == OP_END) && op->range == s->row;
}

static Value *end_of_row(Steps *s, const Op *op) {
    Builder b = {s->in.m, s->in.into, s->in.at, op->loc};
    if (op->kind == OP_BEGIN) return build_const_i(&b, ELEM_I64, 0);
    return build_size(&b, OP_SIZE, s->from->range.p[s->row].of);
}

static void region_step(Steps *s, const Region *r) {
    for (Op *op = r->first; op; op = op->next) {
        if (is_work(s, op)) {
            if (!is_done(s, op)) loop_make(s, op);
        } else if (is_end_of_row(s, op))
            s->in.value[op->res.p[0]->id] = end_of_row(s, op);
        else if (op->kind == OP_FOR || op->kind == OP_IF)
            control_step(s, op);
        else if (!op->res.n || !is_along(s, op->res.p[0]))
            inline_op(&s->in, op);
    }
}

Kernel *steps_make(Module *m, Kernel *k, int row, int64_t step) {
    Kernel *fresh = kernel_new(m, k->name, k->loc);
    Steps s = {.in = inline_begin(m, k, fresh, fresh->body), .from = k, .row = row, .step = step};
    fresh->level = k->level;
    fresh->site = k->site;
    fresh->plan = k->plan;
    for (int i = 0; i < k->param.n; i++) s.in.param[i] = kernel_param(m, fresh, k->param.p[i]);
    for (int i = 0; i < k->ngrid; i++) {
        if (i == row) continue;
        Range r = k->range.p[i];
        if (r.owner > row) r.owner--;
        s.in.range[i] = (int16_t)kernel_range(m, fresh, r);
    }
    region_step(&s, k->body);
    return fresh;
}
