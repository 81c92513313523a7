/* dead.c: removes from a kernel what no store needs, and in roles no ring: operations, results of conditions and loops.
   Takes a body without waits and signals; gives one that stores the same. */
#include "ir/ir.h"

typedef VEC(Value *) ValueList;

typedef struct {
    Arena *arena;
    bool *live; /* by value id */
    ValueList todo;
    bool changed;
} Dead;

static Op *end_of(const Region *r) { return r && r->last && r->last->kind == OP_YIELD ? r->last : NULL; }

/* ---- what is needed ---- */

static void need(Dead *d, Value *v) {
    if (d->live[v->id]) return;
    d->live[v->id] = true;
    vec_push(d->arena, &d->todo, v);
}

static void need_terms(Dead *d, const Affine *a) {
    for (int t = 0; t < a->nterm; t++)
        if (a->term[t].kind == TERM_VALUE) need(d, a->term[t].value);
}

static void need_span(Dead *d, const Span *s) {
    need_terms(d, &s->lo);
    need_terms(d, &s->hi);
}

static void need_operands(Dead *d, const Op *op) {
    for (int i = 0; i < op->arg.n; i++) need(d, op->arg.p[i]);
    for (int i = 0; i < op->sub.n; i++) need_span(d, &op->sub.p[i]);
    need_span(d, &op->dest);
}

/* A value that a loop carries is needed on its way in, in its body and on its way out, or nowhere. */
static void need_carried(Dead *d, const Op *loop, int i) {
    need(d, loop->arg.p[2 + i]);
    need(d, loop->res.p[i]);
    need(d, loop->region[0]->arg.p[i]);
    need(d, end_of(loop->region[0])->arg.p[i]);
}

static void need_sources(Dead *d, const Value *v) {
    const Op *op = v->def ? v->def : v->arg_of->parent;
    if (!v->def && v->arg_of == op->region[1]) return;
    if (op->kind == OP_FOR)
        need_carried(d, op, v->index);
    else if (op->kind != OP_IF)
        need_operands(d, op);
    else
        for (int i = 0; i < 2; i++) need(d, end_of(op->region[i])->arg.p[v->index]);
}

/* A rule that puts parts of a loop together is about all that it carries. */
static void need_merge(Dead *d, const Op *loop) {
    for (int i = 0; i < loop->res.n; i++) need_carried(d, loop, i);
    if (loop->res.n) need_operands(d, end_of(loop->region[1]));
}

/* It does something, beside giving results. */
static bool has_effect(const Op *op) {
    return op->kind == OP_STORE || op->kind == OP_PUT || op->kind == OP_COPY || op->kind == OP_WRITE ||
           op->kind == OP_GET || op->kind == OP_FREE || op->kind == OP_GROUP || op_info[op->kind].class == CLASS_SYNC || op_info[op->kind].class == CLASS_PRINT;
}

static void need_roots(Dead *d, const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        if (has_effect(op)) need_operands(d, op);
        if (op->kind == OP_PUT) need_roots(d, op->region[0]);
        if (op->kind == OP_IF) need(d, op->arg.p[0]);
        if (op->kind != OP_FOR && op->kind != OP_IF) continue;
        for (int i = 0; i < 2 && op->kind == OP_FOR; i++) need(d, op->arg.p[i]);
        if (op->kind == OP_FOR && op->region[1]) need_merge(d, op);
        need_roots(d, op->region[0]);
        if (op->kind == OP_IF) need_roots(d, op->region[1]);
    }
}

/* ---- what is not goes ---- */

static void value_remove(Value **v, int *n, int i) {
    for (int k = i + 1; k < *n; k++) {
        v[k - 1] = v[k];
        v[k - 1]->index = k - 1;
    }
    --*n;
}

static void operand_remove(Op *op, int i) {
    for (int k = i + 1; k < op->arg.n; k++) op->arg.p[k - 1] = op->arg.p[k];
    op->arg.n--;
}

static void result_remove(Op *op, int i) {
    bool loop = op->kind == OP_FOR;
    value_remove(op->res.p, &op->res.n, i);
    if (loop) operand_remove(op, 2 + i), value_remove(op->region[0]->arg.p, &op->region[0]->arg.n, i);
    for (int r = 0; r < 2 && !(loop && r); r++) operand_remove(end_of(op->region[r]), i);
}

static bool is_empty(const Region *r) {
    return !r || !r->first || (r->first->kind == OP_YIELD && r->first->arg.n == 0);
}

static void sweep(Dead *d, Region *r);

static bool gives_nothing(const Dead *d, const Op *op) {
    for (int i = 0; i < op->res.n; i++)
        if (d->live[op->res.p[i]->id]) return false;
    return op->res.n > 0;
}

static bool is_dead(Dead *d, Op *op) {
    if (has_effect(op)) return false;
    bool control = op->kind == OP_FOR || op->kind == OP_IF;
    if (!control) return gives_nothing(d, op);
    for (int i = op->res.n - 1; i >= 0; i--) {
        if (d->live[op->res.p[i]->id]) continue;
        result_remove(op, i);
        d->changed = true;
    }
    sweep(d, op->region[0]);
    if (op->kind == OP_IF) sweep(d, op->region[1]);
    return op->res.n == 0 && is_empty(op->region[0]) && is_empty(op->region[1]);
}

static void sweep(Dead *d, Region *r) {
    for (Op *op = r ? r->last : NULL, *before; op; op = before) {
        before = op->prev;
        if (!is_dead(d, op)) continue;
        op_remove(op);
        d->changed = true;
    }
}

void kernel_remove_dead(Kernel *k) {
    for (bool again = true; again;) {
        Dead d = {.arena = arena_new()};
        d.live = ARENA_ARRAY(d.arena, bool, k->nvalue + 1);
        for (int i = 0; i < kernel_regions(k); i++) need_roots(&d, kernel_region(k, i));
        while (d.todo.n) need_sources(&d, d.todo.p[--d.todo.n]);
        for (int i = 0; i < kernel_regions(k); i++) sweep(&d, kernel_region(k, i));
        again = d.changed;
        arena_free(d.arena);
    }
}
