/* predicate.c: the conditions of nodes become conditions in their kernels. A task whose node is not chosen does
   nothing, and waits and signals all the same.
   Takes: value form without flags, no collectives. Gives: the same results, no node with a condition. A condition
   that inputs alone decide is computed in each task, so that nothing waits for it; other conditions are loaded. */
#include "passes/fuse/inline.h"
#include "passes/pass.h"

typedef struct {
    Module *m;
    Program *p;
    Node *node;
    Builder b; /* at the new body of the node's kernel */
} When;

typedef struct {
    When *w;
    const Node *maker;
    Inline in;
    Value *stored;
} Copy;

static Value *value_of(When *, int tensor, Region *at);

/* ---- who computes a condition ---- */

static const Node *maker_of(const Program *p, int tensor, int *out) {
    for (int i = 0; i < p->node.n; i++)
        for (int a = 0; a < p->node.p[i]->arg.n; a++)
            if (p->node.p[i]->arg.p[a].tensor == tensor && p->node.p[i]->kernel->param.p[a].out) {
                *out = a;
                return p->node.p[i];
            }
    return NULL;
}

static bool is_fixed(const Op *op) {
    for (int d = 0; d < op->sub.n; d++)
        if (!affine_is_const(&op->sub.p[d].lo)) return false;
    return true;
}

static bool region_is_scalar(const Node *maker, const Region *r, int out);

/* Scalars of inputs at fixed places. */
static bool is_scalar(const Node *maker, const Op *op, int out) {
    OpClass class = op_info[op->kind].class;
    if (op->kind == OP_STORE) return op->param == out && op->arg.p[0]->type.nrange == 0;
    if (op->kind == OP_YIELD) return true;
    if (op->kind == OP_IF)
        return region_is_scalar(maker, op->region[0], out) && region_is_scalar(maker, op->region[1], out);
    if (op->res.n != 1 || op->res.p[0]->type.nrange || !is_fixed(op)) return false;
    if (class == CLASS_INDEX) return op->kind == OP_SIZE;
    return class != CLASS_CONTROL && class != CLASS_SYNC && class != CLASS_PRINT && (op->kind != OP_LOAD || !maker->kernel->param.p[op->param].out);
}

static bool region_is_scalar(const Node *maker, const Region *r, int out) {
    for (const Op *op = r->first; op; op = op->next)
        if (!is_scalar(maker, op, out)) return false;
    return true;
}

/* Worth computing again: from inputs, which are always there, or from conditions that are. */
static bool is_computed(const Program *p, int tensor) {
    int out;
    const Node *maker = maker_of(p, tensor, &out);
    if (!maker || !region_is_scalar(maker, maker->kernel->body, out)) return false;
    for (int a = 0; a < maker->arg.n; a++) {
        const Tensor *t = &p->tensor.p[maker->arg.p[a].tensor];
        if (a != out && t->role != ROLE_INPUT && !(t->elem == ELEM_BOOL && is_computed(p, t->id))) return false;
    }
    return true;
}

/* ---- its value in a kernel ---- */

static int param_add(When *w, const Param *p, const Arg *arg) {
    vec_push(w->m->arena, &w->node->arg, *arg);
    return kernel_param(w->m, w->node->kernel, *p);
}

static bool copy_access(void *ctx, const Op *op) {
    Copy *c = ctx;
    const Arg *arg = &c->maker->arg.p[op->param];
    if (op->kind == OP_STORE) {
        c->stored = c->in.value[op->arg.p[0]->id];
        return true;
    }
    if (c->w->p->tensor.p[arg->tensor].role != ROLE_INPUT) {
        c->in.value[op->res.p[0]->id] = value_of(c->w, arg->tensor, c->in.at);
        return true;
    }
    if (c->in.param[op->param] < 0) c->in.param[op->param] = param_add(c->w, &c->maker->kernel->param.p[op->param], arg);
    return false;
}

static Value *value_computed(When *w, int tensor, Region *at) {
    int out;
    Copy c = {.w = w, .maker = maker_of(w->p, tensor, &out)};
    c.in = inline_begin(w->m, c.maker->kernel, w->node->kernel, at);
    c.in.access = copy_access;
    c.in.ctx = &c;
    inline_region(&c.in, c.maker->kernel->body);
    return c.stored;
}

static Value *value_loaded(When *w, int tensor, Region *at) {
    const Tensor *t = &w->p->tensor.p[tensor];
    Param p = {.name = t->name, .elem = t->elem, .ndim = 1, .dim = {t->dim[0]}, .ranks = -1, .loc = t->loc};
    Arg arg = arg_whole(tensor);
    Span first = span_of(affine_const(0));
    Builder b = w->b;
    b.at = at;
    return build_load(&b, param_add(w, &p, &arg), &first, 1);
}

static Value *value_of(When *w, int tensor, Region *at) {
    return is_computed(w->p, tensor) ? value_computed(w, tensor, at) : value_loaded(w, tensor, at);
}

/* ---- nodes ---- */

static void node_guard(Module *m, Program *p, Node *n) {
    Region aside = {0};
    region_take(&aside, n->kernel->body);
    When w = {m, p, n, {.m = m, .k = n->kernel, .at = n->kernel->body, .loc = n->loc}};
    Op *op = build_if(&w.b, value_of(&w, n->when - 1, w.b.at), NULL, 0);
    region_take(op->region[0], &aside);
    n->when = 0;
}

static bool is_one_bool(const Tensor *t) {
    return t->role == ROLE_TEMP && t->elem == ELEM_BOOL && t->ndim == 1 && size_equal(t->dim[0], size_number(1));
}

static bool is_needed(const Program *p, const Node *n, const int *uses) {
    for (int a = 0; a < n->arg.n; a++) {
        const Tensor *t = &p->tensor.p[n->arg.p[a].tensor];
        if (n->kernel->param.p[a].inout || (n->kernel->param.p[a].out && (uses[t->id] > 1 || !is_one_bool(t)))) return true;
    }
    return false;
}

static void uses_add(const Node *n, int *uses, int by) {
    for (int a = 0; a < n->arg.n; a++) uses[n->arg.p[a].tensor] += by;
}

/* Those whose value every reader computes itself go. */
static void makers_drop(Module *m, Program *p) {
    int *uses = ARENA_ARRAY(m->arena, int, p->tensor.n + 1), n = 0;
    for (int i = 0; i < p->node.n; i++) uses_add(p->node.p[i], uses, 1);
    for (int i = p->node.n - 1; i >= 0; i--)
        if (!is_needed(p, p->node.p[i], uses)) uses_add(p->node.p[i], uses, -1), p->node.p[i] = NULL;
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]) p->node.p[n++] = p->node.p[i], p->node.p[n - 1]->id = n - 1;
    p->node.n = n;
}

static bool has_condition(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->when) return true;
    return false;
}

/* Those of the last nodes first: they read makers as they are without a condition of their own. */
static void predicate_program(Module *m, Program *p) {
    if (!has_condition(p)) return;
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->when) p->node.p[i]->kernel = kernel_clone(m, p->node.p[i]->kernel);
    for (int i = p->node.n - 1; i >= 0; i--)
        if (p->node.p[i]->when) node_guard(m, p, p->node.p[i]);
    makers_drop(m, p);
}

static bool predicate_module(PassContext *c) {
    Module *m = c->m;
    for (int i = 0; i < m->program.n; i++)
        if (has_condition(m->program.p[i]) && !collectives_gone(c, m->program.p[i], "predicate")) return false;
    for (int i = 0; i < m->program.n; i++) predicate_program(m, m->program.p[i]);
    module_prune(m);
    return m->diags->errors == 0;
}

const Pass pass_predicate = {
    .name = "predicate", .help = "put the bodies of kernels under the conditions of their nodes",
    .needs = 0, .breaks = FORM_FLAGS, .run = predicate_module,
};
