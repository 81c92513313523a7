/* inline.c: copies operations between kernels. Used by fuse. */
#include "passes/fuse/inline.h"

Inline inline_begin(Module *m, Kernel *from, Kernel *into, Region *at) {
    Inline in = {.m = m, .from = from, .into = into, .at = at};
    in.range = ARENA_ARRAY(m->arena, int16_t, from->range.n);
    in.param = ARENA_ARRAY(m->arena, int, from->param.n);
    in.value = ARENA_ARRAY(m->arena, Value *, from->nvalue);
    for (int i = 0; i < from->range.n; i++) in.range[i] = -1;
    for (int i = 0; i < from->param.n; i++) in.param[i] = -1;
    return in;
}

static int16_t range_copy(Inline *in, int16_t range) {
    if (in->range[range] < 0) in->range[range] = (int16_t)kernel_range(in->m, in->into, in->from->range.p[range]);
    return in->range[range];
}

/* A range of positions in one kernel may be a range of tiles in the other: then types differ by that range. */
Type inline_type(Inline *in, Type t) {
    Type copy = type_scalar(t.elem);
    for (int i = 0; i < t.nrange && !in->pointwise; i++) {
        int16_t range = range_copy(in, t.range[i]);
        if (in->into->range.p[range].kind != RANGE_POSITION) copy = type_with(copy, range);
    }
    return copy;
}

static Type result_type(Inline *in, const Op *copy, Type t) {
    OpClass class = op_info[copy->kind].class;
    for (int i = 0; op_is_of_tiles(copy) && i < copy->arg.n; i++) t = type_union(t, copy->arg.p[i]->type);
    for (int i = 0; i < copy->nover && class != CLASS_PREFIX; i++) t = type_without(t, copy->over[i]);
    for (int i = 0; copy->kind == OP_LOAD && i < copy->sub.n; i++) t = type_union(t, affine_type(in->into, &copy->sub.p[i].lo));
    if (copy->kind == OP_POS && in->into->range.p[copy->range].kind != RANGE_POSITION) t = type_with(t, copy->range);
    return t;
}

Affine inline_affine(Inline *in, const Affine *a) {
    Affine copy = *a;
    for (int i = 0; i < copy.nterm; i++) {
        Term *t = &copy.term[i];
        if (t->kind == TERM_POS || t->kind == TERM_INDEX || (t->kind == TERM_BLOCK && t->id >= 0)) t->id = range_copy(in, t->id);
        if (t->value) t->value = in->value[t->value->id];
    }
    return copy;
}

static void op_copy(Inline *in, const Op *op);

static Region *region_copy(Inline *in, const Region *r, Op *parent) {
    Region *copy = region_new(in->m, parent), *at = in->at;
    for (int i = 0; i < r->arg.n; i++)
        in->value[r->arg.p[i]->id] =
            region_arg(in->m, in->into, copy, inline_type(in, r->arg.p[i]->type), r->arg.p[i]->name);
    in->at = copy;
    inline_region(in, r);
    in->at = at;
    return copy;
}

static void op_copy(Inline *in, const Op *op) {
    const int has = op_attributes(op->kind);
    Op *copy = op_like(in->m, op);
    for (int i = 0; i < op->arg.n; i++) vec_push(in->m->arena, &copy->arg, in->value[op->arg.p[i]->id]);
    for (int i = 0; i < op->sub.n; i++)
        copy->sub.p[i] = (Span){inline_affine(in, &op->sub.p[i].lo), inline_affine(in, &op->sub.p[i].hi)};
    if (has & HAS_RANGE) copy->range = range_copy(in, op->range);
    for (int i = 0; i < op->nover; i++) copy->over[i] = range_copy(in, op->over[i]);
    if (has & HAS_PARAM) copy->param = (int16_t)in->param[op->param];
    op_append_to(in->at, copy);
    for (int i = 0; i < 2; i++)
        if (op->region[i]) copy->region[i] = region_copy(in, op->region[i], copy);
    for (int i = 0; i < op->res.n; i++) {
        Value *v = op_result(in->m, in->into, copy, result_type(in, copy, inline_type(in, op->res.p[i]->type)));
        v->name = op->res.p[i]->name;
        in->value[op->res.p[i]->id] = v;
    }
}

void inline_op(Inline *in, const Op *op) {
    if (in->pointwise && op->kind == OP_BROADCAST)
        in->value[op->res.p[0]->id] = in->value[op->arg.p[0]->id];
    else if (!in->access || op_info[op->kind].class != CLASS_MEMORY || !in->access(in->ctx, op)) op_copy(in, op);
}

void inline_region(Inline *in, const Region *r) {
    for (const Op *op = r->first; op; op = op->next) inline_op(in, op);
}

void region_splice_before(Op *at, Region *aside) {
    for (Op *op = aside->first, *next; op; op = next) {
        next = op->next;
        op_remove(op);
        op_insert_before(at, op);
    }
}

void region_replace(Region *r, const Value *v, Value *by) {
    for (Op *op = walk(r); op; op = walk_next(op, r)) {
        for (int i = 0; i < op->arg.n; i++)
            if (op->arg.p[i] == v) op->arg.p[i] = by;
        for (int d = 0; d < op->sub.n; d++)
            for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
                if (op->sub.p[d].lo.term[i].value == v) {
                    op->sub.p[d].lo.term[i].value = by;
                    op->sub.p[d].hi = op->sub.p[d].lo;
                }
    }
}
