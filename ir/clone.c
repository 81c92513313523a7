/* clone.c: deep copies of kernels and modules.
   Takes: anything verified. Gives: the same text, nothing shared but names and diagnostics. */
#include "ir/roles.h"

#include <string.h>

typedef struct {
    Module *m;
    Value **value; /* the copies, by id */
} Clone;

static Value *value_clone(Clone *c, const Value *v) {
    Value *fresh = arena_copy(c->m->arena, v, sizeof *v);
    c->value[v->id] = fresh;
    return fresh;
}

static void affine_remap(const Clone *c, Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE) a->term[i].value = c->value[a->term[i].value->id];
}

static void span_remap(const Clone *c, Span *s) {
    affine_remap(c, &s->lo);
    affine_remap(c, &s->hi);
}

static Region *region_clone(Clone *, const Region *, Op *parent);

static Op *op_clone(Clone *c, const Op *op) {
    Op *fresh = arena_copy(c->m->arena, op, sizeof *op);
    vec_copy(c->m->arena, &fresh->arg);
    vec_copy(c->m->arena, &fresh->res);
    vec_copy(c->m->arena, &fresh->sub);
    vec_copy(c->m->arena, &fresh->turn);
    fresh->prev = fresh->next = NULL;
    for (int i = 0; i < op->arg.n; i++) fresh->arg.p[i] = c->value[op->arg.p[i]->id];
    for (int i = 0; i < op->sub.n; i++) span_remap(c, &fresh->sub.p[i]);
    span_remap(c, &fresh->dest);
    for (int i = 0; i < 2; i++) fresh->region[i] = region_clone(c, op->region[i], fresh);
    for (int i = 0; i < op->res.n; i++) {
        fresh->res.p[i] = value_clone(c, op->res.p[i]);
        fresh->res.p[i]->def = fresh;
    }
    return fresh;
}

static Region *region_clone(Clone *c, const Region *r, Op *parent) {
    if (!r) return NULL;
    Region *fresh = region_new(c->m, parent);
    for (int i = 0; i < r->arg.n; i++) {
        Value *v = value_clone(c, r->arg.p[i]);
        v->arg_of = fresh;
        vec_push(c->m->arena, &fresh->arg, v);
    }
    for (const Op *op = r->first; op; op = op->next) op_append_to(fresh, op_clone(c, op));
    return fresh;
}

static Region *root_clone(void *c, const Region *r) { return region_clone(c, r, NULL); }

Kernel *kernel_clone(Module *m, const Kernel *k) {
    Arena *scratch = arena_new();
    Kernel *fresh = kernel_new(m, k->name, k->loc);
    int id = fresh->id;
    *fresh = *k;
    fresh->id = id;
    vec_copy(m->arena, &fresh->param);
    vec_copy(m->arena, &fresh->range);
    vec_copy(m->arena, &fresh->layout);
    vec_copy(m->arena, &fresh->plan.regs);
    vec_copy(m->arena, &fresh->plan.copy);
    Clone c = {m, ARENA_ARRAY(scratch, Value *, k->nvalue + 1)};
    fresh->body = root_clone(&c, k->body);
    if (k->roles) fresh->roles = roles_clone(m, k->roles, root_clone, &c);
    arena_free(scratch);
    return fresh;
}

static void node_clone(Module *m, Program *p, const Node *n) {
    Node *fresh = program_node(m, p, *n);
    vec_copy(m->arena, &fresh->arg);
    vec_copy(m->arena, &fresh->otherwise);
    if (n->kernel) fresh->kernel = m->kernel.p[n->kernel->id];
    for (int i = 0; i < n->otherwise.n; i++) fresh->otherwise.p[i] = m->kernel.p[n->otherwise.p[i]->id];
}

static void program_clone(Module *m, const Program *p) {
    Program *fresh = program_new(m, p->name, p->loc);
    *fresh = *p;
    vec_copy(m->arena, &fresh->tensor);
    vec_copy(m->arena, &fresh->io);
    vec_copy(m->arena, &fresh->flag);
    vec_copy(m->arena, &fresh->dim);
    for (int i = 0; i < p->flag.n; i++) vec_copy(m->arena, &fresh->flag.p[i].dim);
    memset(&fresh->node, 0, sizeof fresh->node);
    for (int i = 0; i < p->node.n; i++) node_clone(m, fresh, p->node.p[i]);
}

Module *module_clone(const Module *m, Arena *a) {
    Module *fresh = module_new(a, m->names, m->diags);
    fresh->form = m->form;
    fresh->symbol.p = m->symbol.p, fresh->symbol.n = m->symbol.n;
    fresh->axis.p = m->axis.p, fresh->axis.n = m->axis.n;
    vec_copy(a, &fresh->symbol);
    vec_copy(a, &fresh->axis);
    for (int i = 0; i < m->kernel.n; i++) kernel_clone(fresh, m->kernel.p[i]);
    for (int i = 0; i < m->program.n; i++) program_clone(fresh, m->program.p[i]);
    return fresh;
}
