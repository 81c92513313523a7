/* role_scalar.c: scalars that bound loops and stand in conditions: whether two roles have the same ones, and of what
   they are made. */
#include "ir/verify/roles.h"

/* Operations that one question looks at; one that is an operand twice counts twice. Then the answer is the safe one. */
enum { STEPS = 10000 };

/* ---- the same in two roles ---- */

typedef struct {
    const Role *one, *other;
    int left; /* of STEPS */
} Pair;

static bool same(Pair *p, const Value *a, const Value *b);

/* In the body of a split role, tiles of the range are the group's; among the scalars they are the task's. */
static bool follows_split(const Role *r, const Op *op) {
    bool of_range = op->kind == OP_POS || op->kind == OP_BEGIN || op->kind == OP_END;
    const Region *root = op->in;
    while (root->parent) root = root->parent->in;
    if (r->split < 0 || root != r->body) return false;
    if (of_range && op->range == r->split) return true;
    for (int d = 0; d < op->sub.n; d++)
        if (affine_follows(&op->sub.p[d].lo, r->split)) return true;
    return false;
}

static bool terms_same(Pair *p, const Affine *a, const Affine *b) {
    if (a->c != b->c || a->nterm != b->nterm) return false;
    for (int i = 0; i < a->nterm; i++) {
        Term s = a->term[i], t = b->term[i];
        if (s.kind == TERM_VALUE && t.kind == TERM_VALUE && same(p, s.value, t.value)) s.value = t.value = NULL;
        Affine one = {.nterm = 1, .term = {s}}, other = {.nterm = 1, .term = {t}};
        if (!affine_equal(&one, &other)) return false;
    }
    return true;
}

/* op_same_attributes, where subscripts may name values of each role. */
static bool attributes_same(Pair *p, const Op *a, const Op *b) {
    Op x = *a, y = *b;
    if (a->sub.n != b->sub.n) return false;
    for (int d = 0; d < a->sub.n; d++)
        if (!terms_same(p, &a->sub.p[d].lo, &b->sub.p[d].lo)) return false;
    x.sub.n = y.sub.n = 0;
    return op_same_attributes(&x, &y);
}

/* What a role writes to a ring, where it has one put of it, is what another gets from it. */
static const Value *written(const Role *r, int ring, int slot) {
    if (role_puts(r, ring) != 1) return NULL;
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->kind == OP_WRITE && op->in->parent->ring == ring && op->slot == slot) return op->arg.p[0];
    return NULL;
}

static bool came_by_ring(const Role *from, const Value *a, const Value *got) {
    const Op *get = got->def;
    return get && get->kind == OP_GET && written(from, get->ring, got->index) == a;
}

static bool ops_same(Pair *p, const Op *a, const Op *b) {
    if (a->kind != b->kind || a->arg.n != b->arg.n || op_info[a->kind].class == CLASS_CONTROL) return false;
    if (a->kind == OP_GET)
        return a->ring == b->ring && role_reads(p->one, a->ring) == 2 && role_reads(p->other, a->ring) == 2;
    if (!attributes_same(p, a, b) || follows_split(p->one, a) != follows_split(p->other, b)) return false;
    if (follows_split(p->one, a) && (p->one->split != p->other->split || role_groups(p->one) != role_groups(p->other)))
        return false;
    for (int i = 0; i < a->arg.n; i++)
        if (!same(p, a->arg.p[i], b->arg.p[i])) return false;
    return true;
}

static bool same(Pair *p, const Value *a, const Value *b) {
    if (a == b) return true;
    if (p->left-- <= 0) return false;
    if (came_by_ring(p->one, a, b) || came_by_ring(p->other, b, a)) return true;
    return a->def && b->def && a->index == b->index && ops_same(p, a->def, b->def);
}

bool scalar_same(const Role *one, const Value *a, const Role *other, const Value *b) {
    return same(&(Pair){one, other, STEPS}, a, b);
}

/* ---- what they are made of ---- */

typedef struct {
    const Kernel *k;
    const Role *r;
    int left; /* of STEPS */
} Made;

static const Op *stray_of(Made *m, const Value *x);

static const Op *terms_stray(Made *m, const Op *op) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            const Op *stray = t->kind == TERM_VALUE ? stray_of(m, t->value) : NULL;
            if (stray) return stray;
        }
    return NULL;
}

static bool copies_param(const Region *r, int param) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_COPY && op->param == param) return true;
    return false;
}

/* A role waits, and copies from the parameter: another task, or rank, writes it. In a put it waits for what follows. */
static bool is_awaited(const Kernel *k, int param) {
    for (int i = 2; i < kernel_regions(k); i++)
        for (const Op *op = walk(kernel_region(k, i)); op; op = walk_next(op, kernel_region(k, i))) {
            bool filling = op->in->parent && op->in->parent->kind == OP_PUT;
            if (op->kind == OP_WAIT && !filling && copies_param(kernel_region(k, i), param)) return true;
            for (const Op *copy = op->kind == OP_WAIT ? op->next : NULL; copy; copy = copy->next)
                if (copy->kind == OP_COPY && copy->param == param) return true;
        }
    return false;
}

/* Nobody writes the elements while the kernel runs. */
static bool load_is_settled(const Kernel *k, const Op *load) {
    const Param *p = &k->param.p[load->param];
    return !p->out && !p->inout && p->ranks < 0 && !p->packet && !is_awaited(k, load->param);
}

static bool is_settled(const Kernel *k, const Role *r, const Op *op) {
    OpClass class = op_info[op->kind].class;
    if (r && follows_split(r, op)) return false;
    if (op->kind == OP_LOAD) return load_is_settled(k, op);
    return op->kind == OP_GET || class == CLASS_CONST || class == CLASS_INDEX || op_is_elementwise(op);
}

static const Op *stray_of(Made *m, const Value *x) {
    const Op *op = x->def, *stray = NULL;
    if (!op) return x->arg_of->parent;
    if (m->left-- <= 0 || !is_settled(m->k, m->r, op)) return op;
    for (int i = 0; i < op->arg.n && !stray; i++) stray = stray_of(m, op->arg.p[i]);
    return stray ? stray : terms_stray(m, op);
}

const Op *scalar_stray(const Kernel *k, const Role *r, const Value *x) { return stray_of(&(Made){k, r, STEPS}, x); }

static bool follows(const Value *x, int range, int *left) {
    const Op *op = x->def;
    bool of_range = op && (op->kind == OP_POS || op->kind == OP_BEGIN || op->kind == OP_END);
    if (!op || op->kind == OP_GET || (of_range && op->range == range) || (*left)-- <= 0) return true;
    for (int d = 0; d < op->sub.n; d++) {
        const Affine *a = &op->sub.p[d].lo;
        if (affine_follows(a, range)) return true;
        for (int i = 0; i < a->nterm; i++)
            if (a->term[i].kind == TERM_VALUE && follows(a->term[i].value, range, left)) return true;
    }
    for (int i = 0; i < op->arg.n; i++)
        if (follows(op->arg.p[i], range, left)) return true;
    return false;
}

bool scalar_follows(const Value *x, int range) {
    int left = STEPS;
    return follows(x, range, &left);
}
