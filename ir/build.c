/* build.c: construction of modules, kernels and programs. */
#include "ir/ir.h"
#include "base/require.h"

Module *module_new(Arena *a, Names *names, Diags *diags) {
    Module *m = ARENA_NEW(a, Module);
    m->arena = a;
    m->names = names;
    m->diags = diags;
    return m;
}

void kernel_add(Module *m, Kernel *k) {
    k->id = m->kernel.n;
    vec_push(m->arena, &m->kernel, k);
}

Kernel *kernel_alone(Module *m, Name name, Loc loc) {
    Kernel *k = ARENA_NEW(m->arena, Kernel);
    k->name = name;
    k->loc = loc;
    k->level = LEVEL_GROUP;
    k->body = region_new(m, NULL);
    return k;
}

Kernel *kernel_new(Module *m, Name name, Loc loc) {
    Kernel *k = kernel_alone(m, name, loc);
    kernel_add(m, k);
    return k;
}

int kernel_param(Module *m, Kernel *k, Param p) {
    REQUIRE(p.name && p.ndim >= 0 && p.ndim <= MAX_DIMS);
    vec_push(m->arena, &k->param, p);
    return k->param.n - 1;
}

int kernel_range(Module *m, Kernel *k, Range r) {
    REQUIRE(r.name && k->range.n < INT16_MAX);
    REQUIRE(!r.grid || k->ngrid == k->range.n);
    if (r.kind != RANGE_TILE) r.size = r.kind == RANGE_POSITION;
    vec_push(m->arena, &k->range, r);
    k->ngrid += r.grid;
    return k->range.n - 1;
}

Program *program_new(Module *m, Name name, Loc loc) {
    Program *p = ARENA_NEW(m->arena, Program);
    p->name = name;
    p->loc = loc;
    vec_push(m->arena, &m->program, p);
    return p;
}

int program_tensor(Module *m, Program *p, Tensor t) {
    REQUIRE(t.name && t.ndim >= 0 && t.ndim <= MAX_DIMS);
    t.id = p->tensor.n;
    if (t.slots == 0) t.slots = 1;
    vec_push(m->arena, &p->tensor, t);
    return t.id;
}

Tensor tensor_temp(const Module *m, const Param *like) {
    Tensor t = {.name = like->name, .elem = like->elem, .ndim = like->ndim, .role = ROLE_TEMP, .symmetric = -1, .loc = like->loc};
    for (int d = 0; d < t.ndim; d++) t.dim[d] = like->dim[d];
    for (int a = 0; a < m->axis.n; a++) t.place[a].kind = PLACE_V;
    return t;
}

bool places_have_partial(const Module *m, const Place *place) {
    for (int a = 0; a < m->axis.n; a++)
        if (place[a].kind == PLACE_P) return true;
    return false;
}

Arg arg_whole(int tensor) {
    Arg a = {.tensor = tensor};
    for (int d = 0; d < MAX_DIMS; d++) a.slice[d] = -1;
    return a;
}

Node *program_node(Module *m, Program *p, Node n) {
    Node *fresh = arena_copy(m->arena, &n, sizeof n);
    fresh->id = p->node.n;
    vec_push(m->arena, &p->node, fresh);
    return fresh;
}

Region *region_new(Module *m, Op *parent) {
    Region *r = ARENA_NEW(m->arena, Region);
    r->parent = parent;
    return r;
}

static Value *value_new(Module *m, Kernel *k, Type t, int index) {
    Value *v = ARENA_NEW(m->arena, Value);
    v->id = k->nvalue++;
    v->type = t;
    v->index = index;
    return v;
}

Value *region_arg(Module *m, Kernel *k, Region *r, Type t, Name name) {
    Value *v = value_new(m, k, t, r->arg.n);
    v->name = name;
    v->arg_of = r;
    vec_push(m->arena, &r->arg, v);
    return v;
}

Value *op_result(Module *m, Kernel *k, Op *op, Type t) {
    Value *v = value_new(m, k, t, op->res.n);
    v->def = op;
    vec_push(m->arena, &op->res, v);
    return v;
}

Op *op_new(Module *m, OpKind kind, Loc loc) {
    Op *op = ARENA_NEW(m->arena, Op);
    op->kind = kind;
    op->loc = loc;
    op->order = ORDER_ACQ_REL;
    return op;
}

void op_append_to(Region *r, Op *op) {
    op->in = r;
    op->prev = r->last;
    *(r->last ? &r->last->next : &r->first) = op;
    r->last = op;
}

void op_insert_before(Op *at, Op *fresh) {
    Region *r = at->in;
    fresh->in = r;
    fresh->prev = at->prev;
    fresh->next = at;
    *(at->prev ? &at->prev->next : &r->first) = fresh;
    at->prev = fresh;
}

void op_remove(Op *op) {
    *(op->prev ? &op->prev->next : &op->in->first) = op->next;
    *(op->next ? &op->next->prev : &op->in->last) = op->prev;
    op->prev = op->next = NULL;
    op->in = NULL;
}

void region_take(Region *to, Region *from) {
    for (Op *op = from->first, *next; op; op = next) {
        next = op->next;
        op_remove(op);
        op_append_to(to, op);
    }
}
