/* cut.c: a kernel with a long loop becomes two. Tasks of the first run parts of the loop and store what it carries.
   The second puts the parts together, in order, and does what follows the loop. Takes: value form; the loop stands in
   the kernel's body and has a merge. Gives: kernels beside the old one. part(q, task) = loop over [lo + q step, min(hi,
   lo + (q + 1) step));  merged = (.. merge(merge(part 0, part 1), part 2) ..) */
#include "passes/fuse/inline.h"
#include "passes/split/pieces.h"
#include "passes/split/split.h"

/* ---- where carried values are stored ---- */

static Size tiles_along(const Module *m, const Range *r) {
    return size_number((size_most(m, r->of) + r->size - 1) / r->size);
}

static bool value_dim(SplitValue *v, Size of, Affine at) {
    if (v->param.ndim == MAX_DIMS) return false;
    v->sub[v->param.ndim] = span_of(at);
    v->param.dim[v->param.ndim++] = of;
    return true;
}

/* Tiles that a value does not have are told apart by their number. */
static bool value_place(const Module *m, const Kernel *k, const Value *carried, int64_t parts, SplitValue *v) {
    Type t = carried->type;
    bool good = value_dim(v, size_number(parts), affine_const(0));
    for (int i = 0; i < k->ngrid && good; i++) {
        const Range *r = &k->range.p[i];
        if (r->kind == RANGE_POSITION || type_has(t, i))
            good = value_dim(v, r->of, affine_term(TERM_POS, i, 1, 1));
        else if (r->kind == RANGE_TILE)
            good = value_dim(v, tiles_along(m, r), affine_term(TERM_INDEX, i, 1, 1));
    }
    return good;
}

static bool values_place(Module *m, const Kernel *k, const Op *loop, Split *s) {
    bool good = true;
    s->values = loop->res.n;
    s->value = ARENA_ARRAY(m->arena, SplitValue, loop->res.n + 1);
    for (int i = 0; i < loop->res.n; i++) {
        const Value *v = loop->res.p[i], *in = loop->region[0]->arg.p[i];
        const char *name = arena_format(m->arena, "%s_parts", v->name ? v->name : in->name ? in->name : k->name);
        s->value[i].param =
            (Param){.name = name_of(m->names, name), .elem = v->type.elem, .out = true, .ranks = -1, .loc = loop->loc};
        good = value_place(m, k, v, s->parts, &s->value[i]) && good;
    }
    return good;
}

/* A parameter for each, behind the kernel's own. */
static void values_declare(Module *m, Kernel *k, const Split *s, bool out) {
    for (int i = 0; i < s->values; i++) {
        Param p = s->value[i].param;
        p.out = out;
        kernel_param(m, k, p);
    }
}

static const Span *place_at(SplitValue *v, Affine part) {
    v->sub[0] = span_of(part);
    return v->sub;
}

/* ---- a copy of the kernel that is edited ---- */

typedef struct {
    Module *m;
    Split *s;
    Kernel *k;
    Op *loop;
    int n, first; /* carried values, and the parameter of the first one */
    int q;        /* range of parts */
    Builder b;
} Cut;

static int range_of_parts(Module *m, Kernel *k, int64_t parts, Loc loc) {
    Range r = {.name = name_of(m->names, "part"),
               .kind = RANGE_POSITION,
               .size = 1,
               .of = size_number(parts),
               .owner = -1,
               .loc = loc};
    return kernel_range(m, k, r);
}

static Cut cut_begin(Module *m, const Kernel *k, const Op *loop, Split *s, Region *aside) {
    Cut c = {.m = m, .s = s, .k = kernel_clone(m, k), .n = loop->res.n, .first = k->param.n};
    for (c.loop = c.k->body->first; c.loop->kind != OP_FOR;) c.loop = c.loop->next;
    c.q = range_of_parts(m, c.k, s->parts, loop->loc);
    c.b = (Builder){.m = m, .k = c.k, .at = aside, .loc = loop->loc};
    return c;
}

static Pieces cut_pieces(Cut *c) {
    const Range *r = &c->k->range.p[c->loop->range];
    return pieces_of(&c->b, c->loop, c->s->parts, r->size);
}

/* ---- the copy with its parameters as they are met, and with the parts as the first range of its grid ---- */

typedef struct {
    Inline in;
    SplitKernel *to;
} Settle;

static bool settle_access(void *ctx, const Op *op) {
    Settle *s = ctx;
    if (s->in.param[op->param] >= 0) return false;
    s->in.param[op->param] = kernel_param(s->in.m, s->to->k, s->in.from->param.p[op->param]);
    vec_push(s->in.m->arena, &s->to->from, op->param);
    return false;
}

static void settle_range(Settle *s, int range) {
    Range r = s->in.from->range.p[range];
    r.grid = true;
    s->in.range[range] = (int16_t)kernel_range(s->in.m, s->to->k, r);
}

static void settle(Cut *c, SplitKernel *to, const char *what, bool parts) {
    Kernel *fresh =
        kernel_new(c->m, name_of(c->m->names, arena_format(c->m->arena, "%s_%s", c->k->name, what)), c->k->loc);
    fresh->site = c->k->site;
    if (parts) fresh->plan = c->k->plan;
    fresh->plan.parts = 0;
    fresh->plan.cut = true;
    *to = (SplitKernel){.k = fresh};
    Settle s = {.in = inline_begin(c->m, c->k, fresh, fresh->body), .to = to};
    s.in.access = settle_access;
    s.in.ctx = &s;
    if (parts) settle_range(&s, c->q);
    for (int i = 0; i < c->k->ngrid; i++) settle_range(&s, i);
    kernel_remove_dead(c->k);
    inline_region(&s.in, c->k->body);
}

/* ---- the two kernels ---- */

static void remove_behind(Op *op) {
    while (op->next) op_remove(op->next);
}

static void part_make(Module *m, const Kernel *k, const Op *loop, Split *s) {
    Region aside = {0};
    Cut c = cut_begin(m, k, loop, s, &aside);
    values_declare(m, c.k, s, true);
    Pieces p = cut_pieces(&c);
    Value *from, *to;
    piece_bounds(&c.b, c.loop, &p, build_index(&c.b, OP_POS, c.q), &from, &to);
    region_splice_before(c.loop, &aside);
    c.loop->arg.p[0] = from;
    c.loop->arg.p[1] = to;
    c.loop->region[1] = NULL;
    remove_behind(c.loop);
    c.b.at = c.k->body;
    Value **part = part_mend(&c.b, c.loop->arg.p + 2, c.loop->res.p, c.n);
    for (int i = 0; i < c.n; i++) {
        SplitValue *v = &s->value[i];
        build_store(&c.b, c.first + i, place_at(v, affine_term(TERM_POS, c.q, 1, 1)), v->param.ndim, part[i],
                    STORE_SET);
    }
    settle(&c, &s->part, "part", true);
}

static Value **parts_load(Cut *c, Affine at) {
    Value **v = ARENA_ARRAY(c->m->arena, Value *, c->n + 1);
    for (int i = 0; i < c->n; i++) {
        v[i] = build_load(&c->b, c->first + i, place_at(&c->s->value[i], at), c->s->value[i].param.ndim);
        v[i]->name = c->loop->res.p[i]->name;
    }
    return v;
}

/* Parts without positions count nowhere: their values may be infinite, and no merge has to bear that. */
static void merge_step(Cut *c, Op *outer, Value *count) {
    Region *body = outer->region[0];
    c->b.at = body;
    Value *held = count ? build_binary(&c->b, OP_LT, build_index(&c->b, OP_POS, c->q), count) : NULL;
    Value **other = parts_load(c, affine_term(TERM_POS, c->q, 1, 1));
    merge_move(c->loop, body, part_mend(&c->b, c->loop->arg.p + 2, body->arg.p, c->n), other);
    Op *yield = body->last;
    op_remove(yield);
    for (int i = 0; i < c->n && held; i++) yield->arg.p[i] = build_select(&c->b, held, yield->arg.p[i], body->arg.p[i]);
    op_append_to(body, yield);
}

static void merge_make(Module *m, const Kernel *k, const Op *loop, Split *s) {
    Region aside = {0};
    Cut c = cut_begin(m, k, loop, s, &aside);
    values_declare(m, c.k, s, false);
    Pieces p = cut_pieces(&c);
    Value **first = parts_load(&c, affine_const(0));
    Value *one = build_const_i(&c.b, ELEM_I64, 1), *past = build_const_i(&c.b, ELEM_I64, s->parts);
    Op *outer = build_for(&c.b, c.q, one, past, first, c.n);
    merge_step(&c, outer, value_is(p.count, s->parts) ? NULL : p.count);
    region_splice_before(c.loop, &aside);
    for (int i = 0; i < c.n; i++) region_replace(c.k->body, c.loop->res.p[i], outer->res.p[i]);
    op_remove(c.loop);
    settle(&c, &s->merge, "merge", false);
}

bool split_cut(Module *m, const Kernel *k, const Op *loop, Split *s) {
    if (!values_place(m, k, loop, s)) return false;
    part_make(m, k, loop, s);
    merge_make(m, k, loop, s);
    return true;
}
