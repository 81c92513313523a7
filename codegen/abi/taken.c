/* taken.c: the condition under which a launch stores anything, as far as run-time dims and scalar arguments decide it.
   Takes: a kernel in the form `layout`. Gives: C of the host, which does not launch where the condition is false. */
#include "codegen/abi/abi.h"
#include "codegen/text/nest.h"
#include "codegen/text/size.h"

#include <string.h>

typedef struct {
    const CExpr *text; /* NULL: the host does not know it */
    bool made;
} Known;

typedef struct {
    Fn *f;
    const Node *node;
    const char **param;    /* names of scalar arguments that have been read */
    Known *equal, *beyond; /* by value: what it is; a condition that holds wherever the value is true */
} Taken;

/* ---- which kernels ---- */

static bool region_stores(const Region *r);

static bool op_stores(const Op *op) {
    if (op->kind == OP_STORE || op_info[op->kind].class == CLASS_SYNC) return true;
    return region_stores(op->region[0]) || region_stores(op->region[1]);
}

static bool region_stores(const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next)
        if (op_stores(op)) return true;
    return false;
}

/* The `if` without which a task stores and signals nothing; NULL: there is none. */
static const Op *guard_of(const Kernel *k) {
    const Op *guard = k->body->last;
    if (!guard || guard->kind != OP_IF || region_stores(guard->region[1])) return NULL;
    for (const Op *op = k->body->first; op != guard; op = op->next)
        if (op_stores(op)) return NULL;
    return guard;
}

bool taken_may_be_left(const Kernel *k) { return guard_of(k) != NULL; }

/* Arguments of a kernel are those of one node. NULL: several nodes call it. */
static const Node *only_node(const Program *p, const Kernel *k) {
    const Node *only = NULL;
    for (int i = 0; i < p->node.n; i++) {
        if (p->node.p[i]->kernel != k) continue;
        if (only) return NULL;
        only = p->node.p[i];
    }
    return only;
}

/* ---- values ---- */

static bool may_be_product(const Value *v) {
    OpKind k = v->def ? v->def->kind : OP_MUL;
    return k == OP_MUL || k == OP_NEG || k == OP_SELECT || k == OP_IF || k == OP_BROADCAST;
}

/* A sum may be fused with the product that it takes, by one compiler and not by another. */
static bool f64_is_exact(const Op *op) {
    switch (op->kind) {
    case OP_NEG:
    case OP_MUL:
    case OP_DIV: return true;
    case OP_ADD:
    case OP_SUB: return !may_be_product(op->arg.p[0]) && !may_be_product(op->arg.p[1]);
    default: return false;
    }
}

/* Host and device compute the same bits. */
static bool is_exact(const Op *op) {
    Elem e = op->res.p[0]->type.elem;
    switch (op_info[op->kind].class) {
    case CLASS_UNARY:
    case CLASS_BINARY: return !elem_is_float(e) || (e == ELEM_F64 && f64_is_exact(op));
    case CLASS_COMPARE:
    case CLASS_SELECT:
    case CLASS_CAST: return !elem_is_packed(e);
    default: return false;
    }
}

static const CExpr *scalar_text(Taken *t, const Op *load) {
    const Tensor *x = &t->f->p->tensor.p[t->node->arg.p[load->param].tensor];
    if (x->role != ROLE_INPUT || x->ndim || elem_is_packed(x->elem)) return NULL;
    if (t->param[load->param]) return cexpr_name(t->f, t->param[load->param]);
    int arg = 0;
    while (t->f->p->io.p[arg] != x->id) arg++;
    const char *name = t->param[load->param] = c_name(&t->f->names, x->name), *type = elem_c(x->elem);
    fn_constant_of(t->f, type, name, fn_text(t->f, "*(const %s *)t->arg[%d]", type, arg));
    return cexpr_name(t->f, name);
}

static const CExpr *equal_text(Taken *, const Value *);

static const Value *yielded(const Value *v, int branch) { return v->def->region[branch]->last->arg.p[v->index]; }

static bool is_false(const Value *v) { return v->type.elem == ELEM_BOOL && value_is(v, 0); }

static const CExpr *branch_text(Taken *t, const Value *v) {
    const Value *otherwise = yielded(v, 1);
    const CExpr *c = equal_text(t, v->def->arg.p[0]), *x = equal_text(t, yielded(v, 0)), *y = equal_text(t, otherwise);
    if (!c || !x || !y) return NULL;
    return cexpr_group(t->f, is_false(otherwise) ? cexpr_open(t->f, "%s && %s", c->text, x->text)
                                                 : cexpr_open(t->f, "%s ? %s : %s", c->text, x->text, y->text));
}

static const CExpr *operation_text(Taken *t, const Op *op) {
    const CExpr *arg[3];
    if (!is_exact(op)) return NULL;
    for (int i = 0; i < op->arg.n; i++)
        if (!(arg[i] = equal_text(t, op->arg.p[i]))) return NULL;
    return op_text(t->f, op, arg);
}

static const CExpr *definition_text(Taken *t, const Value *v) {
    const Op *op = v->def;
    if (!op || v->type.nrange) return NULL;
    switch (op->kind) {
    case OP_CONST: return literal_text(t->f, v->type.elem, op);
    case OP_SIZE: return cexpr_operand(t->f, size_text(t->f, op->size));
    case OP_LOAD: return scalar_text(t, op);
    case OP_IF: return branch_text(t, v);
    default: return operation_text(t, op);
    }
}

enum { LONG_TEXT = 72 }; /* characters of an expression that becomes a variable */

static const CExpr *known(Taken *t, Known *k, const Value *v, const CExpr *text) {
    k->made = true;
    k->text = text;
    if (!text || strlen(text->text) <= LONG_TEXT) return text;
    k->text = cexpr_name(t->f, c_name(&t->f->names, v->type.elem == ELEM_BOOL ? "taken" : "number"));
    fn_line(t->f, "const %s %s = %s;", elem_c(v->type.elem), k->text->text, cexpr_bare(text)->text);
    return k->text;
}

static const CExpr *equal_text(Taken *t, const Value *v) {
    Known *k = &t->equal[v->id];
    return k->made ? k->text : known(t, k, v, definition_text(t, v));
}

static const CExpr *beyond_text(Taken *, const Value *);

/* Both sides of a conjunction are needed, so that the one that the host knows is enough to leave a launch out. */
static const CExpr *both_text(Taken *t, const Value *x, const Value *y) {
    const CExpr *first = beyond_text(t, x), *second = beyond_text(t, y);
    if (!first || !second) return first ? first : second;
    return cexpr_open(t->f, "%s && %s", first->text, second->text);
}

static const CExpr *beyond_text(Taken *t, const Value *v) {
    Known *k = &t->beyond[v->id];
    const Op *op = v->def;
    if (k->made) return k->text;
    if (op && op->kind == OP_AND) return known(t, k, v, both_text(t, op->arg.p[0], op->arg.p[1]));
    if (op && op->kind == OP_IF && is_false(yielded(v, 1)))
        return known(t, k, v, both_text(t, op->arg.p[0], yielded(v, 0)));
    return known(t, k, v, equal_text(t, v));
}

const CExpr *taken_text(Fn *f, const Kernel *k) {
    const Op *guard = guard_of(k);
    Taken t = {.f = f, .node = only_node(f->p, k)};
    if (!guard || !t.node) return NULL;
    t.param = ARENA_ARRAY(f->arena, const char *, k->param.n + 1);
    t.equal = ARENA_ARRAY(f->arena, Known, k->nvalue + 1);
    t.beyond = ARENA_ARRAY(f->arena, Known, k->nvalue + 1);
    return beyond_text(&t, guard->arg.p[0]);
}
