/* merge.c: y[i / n, i % n, j] of a tensor [m, n, k] is y[i, j] of the same memory as [m n, k]: a tensor that a product
   reads or makes has rows for boxes then, as results of convolutions do.
   Takes: a kernel in value form, of one rank. Gives: the same results, of fewer dimensions; its calls pass views. */
#include "passes/shape/merge.h"

static bool is_access(const Op *op, int param) {
    return op_info[op->kind].class == CLASS_MEMORY && op->sub.n && op->param == param;
}

/* pos / q % n, and nothing else. */
static bool is_digit(const Affine *a, int64_t n, Term *high) {
    if (a->nterm != 2 || a->c) return false;
    const Term *x = &a->term[a->term[0].mul < 0], *y = &a->term[a->term[0].mul >= 0];
    *high = *y;
    return x->kind == TERM_POS && y->kind == TERM_POS && x->id == y->id && x->mul == 1 && y->mul == -n &&
           y->div == x->div * n;
}

/* Digits of the same position, of which `like` is one. */
static bool goes_on(const Affine *a, const Term *like) {
    bool found = false;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind != TERM_POS || t->id != like->id) return false;
        found |= t->div == like->div && t->mul == 1;
    }
    return found && !a->c;
}

/* The place in both dimensions from d on, as one: of the second one each place exists. No dimension behind is left that
   the position counts, too, as the width of an image with a border. */
static bool place_merged(const Op *op, int d, int64_t n, Affine *to) {
    Term high;
    *to = op->sub.p[d + 1].lo;
    for (int i = d + 2; i < op->sub.n; i++)
        if (affine_follows(&op->sub.p[i].lo, to->term[0].id)) return false;
    return is_digit(to, n, &high) && goes_on(&op->sub.p[d].lo, &high) && affine_add(to, &op->sub.p[d].lo, n);
}

static bool may_merge(const Kernel *k, int param, int d) {
    const Param *p = &k->param.p[param];
    bool accessed = false;
    if (!size_is_number(p->dim[d]) || !size_is_number(p->dim[d + 1])) return false;
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body)) {
        Affine merged;
        if (!is_access(op, param)) continue;
        if (!place_merged(op, d, p->dim[d + 1].c, &merged)) return false;
        accessed = true;
    }
    return accessed;
}

static void dimensions_merge(Kernel *k, int param, int d) {
    Param *p = &k->param.p[param];
    for (Op *op = walk(k->body); op; op = walk_next(op, k->body)) {
        Affine merged;
        if (!is_access(op, param) || !place_merged(op, d, p->dim[d + 1].c, &merged)) continue;
        op->sub.p[d] = span_of(merged);
        for (int i = d + 1; i + 1 < op->sub.n; i++) op->sub.p[i] = op->sub.p[i + 1];
        op->sub.n--;
    }
    p->dim[d] = size_number(p->dim[d].c * p->dim[d + 1].c);
    for (int i = d + 1; i + 1 < p->ndim; i++) p->dim[i] = p->dim[i + 1];
    p->ndim--;
}

/* ---- which tensors ---- */

static bool arg_is_fixed(const Program *p, const Arg *a) {
    const Tensor *t = &p->tensor.p[a->tensor];
    for (int d = 0; d < t->ndim; d++)
        if (!size_is_number(t->dim[d])) return false;
    return arg_is_whole(a);
}

static bool args_are_fixed(const Module *m, const Kernel *k, int param) {
    for (int i = 0; i < m->program.n; i++)
        for (int j = 0; j < m->program.p[i]->node.n; j++) {
            const Node *n = m->program.p[i]->node.p[j];
            if (n->kernel == k && !arg_is_fixed(m->program.p[i], &n->arg.p[param])) return false;
        }
    return true;
}

static void args_view(Module *m, const Kernel *k, int param) {
    for (int i = 0; i < m->program.n; i++)
        for (int j = 0; j < m->program.p[i]->node.n; j++) {
            Node *n = m->program.p[i]->node.p[j];
            if (n->kernel == k) n->arg.p[param].view = true;
        }
}

static bool multiplies(const Kernel *k) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_DOT) return true;
    return false;
}

static bool param_fits(const Module *m, const Kernel *k, int param) {
    const Param *p = &k->param.p[param];
    return p->ndim > 1 && p->ranks < 0 && !p->packet && !elem_is_packed(p->elem) && args_are_fixed(m, k, param);
}

void merge_dimensions(PassContext *c, Kernel *k) {
    if (k->level != LEVEL_GROUP || plan_is_whole(&k->plan) || !multiplies(k)) return;
    for (int i = 0; i < k->param.n; i++) {
        const int before = k->param.p[i].ndim;
        for (int d = before - 2; d >= 0 && param_fits(c->m, k, i); d--)
            if (may_merge(k, i, d)) dimensions_merge(k, i, d);
        if (k->param.p[i].ndim == before) continue;
        args_view(c->m, k, i);
        remark(c, "linearize", k->loc, "'%s': '%s' in %d dimensions: one position counts those that are together",
               k->name, k->param.p[i].name, k->param.p[i].ndim);
    }
}
