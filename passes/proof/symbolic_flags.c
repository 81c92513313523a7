/* symbolic_flags.c: flags and waits of the proof for all sizes: is every word completed exactly, by earlier tasks?
   Takes: a program with flags. Gives: each signal is the plain one, from which exact arrivals follow; waits go forward. */
#include "passes/proof/meeting.h"

enum { DEPTH = 32 };

/* ---- flags in plain form ---- */

const Op *flag_signal(const Kernel *k, int flag) {
    for (const Op *op = k->body->last; op && op->kind == OP_SIGNAL; op = op->prev)
        if (op->flag == flag) return op;
    return NULL;
}

static int count_signals(const Region *r, int flag) {
    int n = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r)) n += op->kind == OP_SIGNAL && op->flag == flag;
    return n;
}

/* The ranks of a signal exist; those of a wait are cut to what there is. */
bool ranks_all(const Module *m, int axis, const Span *s, bool exactly) {
    if (axis < 0) return true;
    int64_t last = m->axis.p[axis].ranks - 1;
    if (!affine_is_const(&s->lo) || !affine_is_const(&s->hi) || s->lo.c > 0 || s->hi.c < last) return false;
    return !exactly || (s->lo.c == 0 && s->hi.c == last);
}

static bool is_index(const Affine *a, int range, int64_t div) {
    Affine plain = affine_term(TERM_INDEX, range, 1, div);
    return affine_equal(a, &plain);
}

/* One signal, last in every task, of the task's own word, to all ranks or to each rank by one task. */
static bool flag_is_plain(const Symbolic *y, const Flag *f) {
    const Kernel *k = y->p->node.p[f->producer]->kernel;
    const Op *s = flag_signal(k, f->id);
    if (!s || count_signals(k->body, f->id) != 1 || f->arrivals || s->order != ORDER_ACQ_REL) return false;
    if (f->axis >= 0 && (s->scope != SCOPE_SYSTEM || f->scope != SCOPE_SYSTEM)) return false;
    int dest = -1;
    for (int d = 0; d < f->dim.n; d++) {
        if (f->dim.p[d].group == GROUP_DEST && dest >= 0) return false;
        if (f->dim.p[d].group == GROUP_DEST) dest = d;
        if (f->dim.p[d].group > 0 && !is_index(&s->sub.p[d].lo, d, f->dim.p[d].group)) return false;
    }
    if (dest < 0) return ranks_all(y->m, f->axis, &s->dest, true);
    const Range *r = &k->range.p[dest];
    bool every = r->kind == RANGE_POSITION && size_is_number(r->of) && f->axis >= 0 && r->of.c == y->m->axis.p[f->axis].ranks;
    return every && is_index(&s->dest.lo, dest, 1) && is_index(&s->dest.hi, dest, 1);
}

static bool flag_fail(Symbolic *y, const Op *op, const char *why) {
    y->proof->flag = op->flag;
    return symbolic_fail(y, op->loc, "flag '%s': %s for all sizes", y->p->flag.p[op->flag].name, why);
}

/* ---- waits ---- */

bool wait_acquires(const Flag *f, const Op *w) {
    return w->order == ORDER_ACQ_REL && (f->axis < 0 || w->scope == SCOPE_SYSTEM);
}

bool wait_is_whole(const Symbolic *y, const Flag *f, const Op *w) {
    for (int d = 0; d < f->dim.n; d++)
        if (f->dim.p[d].group != GROUP_DROP) return false;
    return ranks_all(y->m, f->axis, &w->dest, false);
}

/* What the other proof computes for one task (eval.c): nothing that is loaded. */
static bool value_is_evaluated(const Value *v, int depth) {
    const Op *op = v->def;
    if (!op || depth == 0 || v->type.nrange || elem_is_float(v->type.elem)) return false;
    OpClass c = op_info[op->kind].class;
    bool divides = op->kind == OP_DIV || op->kind == OP_MOD;
    bool sums = op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL || op->kind == OP_MIN || op->kind == OP_MAX;
    bool truth = v->type.elem == ELEM_BOOL && (op->kind == OP_AND || op->kind == OP_OR);
    if (c == CLASS_BINARY && !sums && !divides && !truth) return false;
    if (divides && (!op->arg.p[1]->def || op->arg.p[1]->def->kind != OP_CONST || op->arg.p[1]->def->imm <= 0)) return false;
    if (c != CLASS_CONST && c != CLASS_INDEX && c != CLASS_BINARY && c != CLASS_COMPARE && c != CLASS_SELECT && c != CLASS_CAST && op->kind != OP_NOT)
        return false;
    for (int i = 0; i < op->arg.n; i++)
        if (!value_is_evaluated(op->arg.p[i], depth - 1)) return false;
    return true;
}

static bool loop_is_evaluated(const Kernel *k, const Op *at, int range) {
    const Op *loop = range_loop(at, range);
    if (k->range.p[range].grid) return true;
    return loop && value_is_evaluated(loop->arg.p[0], DEPTH) && value_is_evaluated(loop->arg.p[1], DEPTH);
}

static bool affine_is_exact(const Kernel *k, const Op *w, const Affine *a) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_VALUE && !value_is_evaluated(t->value, DEPTH)) return false;
        if (t->kind == TERM_INDEX && !loop_is_evaluated(k, w, t->id)) return false;
    }
    return true;
}

static bool span_is_exact(const Kernel *k, const Op *w, const Span *s) {
    return affine_is_exact(k, w, &s->lo) && affine_is_exact(k, w, &s->hi);
}

bool wait_is_exact(const Symbolic *y, int node, const Op *w) {
    const Flag *f = &y->p->flag.p[w->flag];
    const Kernel *k = y->p->node.p[node]->kernel;
    for (int d = 0; d < f->dim.n; d++)
        if (f->dim.p[d].group > 0 && !span_is_exact(k, w, &w->sub.p[d])) return false;
    return f->axis < 0 || span_is_exact(k, w, &w->dest);
}

/* ---- accesses that certainly happen ---- */

static bool always_reached(const Op *op) {
    for (const Op *up = op->in->parent; up; up = up->in->parent)
        for (int i = 0; i < (up->kind == OP_FOR ? 2 : 1); i++)
            if (!value_is_evaluated(up->arg.p[i], DEPTH)) return false;
    return true;
}

/* The conditions around it are written as they are. */
static bool guards_are_exact(const Symbolic *y, const Kernel *k, const Op *op) {
    Text text = {0};
    RelationText w = {.m = y->m, .k = k, .letter = 'p', .text = &text};
    bool exact = relation_guards(&w, op);
    text_free(&text);
    return exact;
}

/* One range of positions in the dimension, or one place; no range twice. */
static bool sub_is_dense(const Kernel *k, const Affine *a, uint64_t *ranges) {
    bool found = false;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_VALUE && !value_is_evaluated(t->value, DEPTH)) return false;
        const Range *r = t->kind == TERM_POS ? &k->range.p[t->id] : NULL;
        if (!r || r->kind == RANGE_POSITION || (r->kind == RANGE_TILE && r->size == 1)) continue;
        uint64_t bit = t->id < 64 ? (uint64_t)1 << t->id : 0;
        if (!bit || found || t->div != 1 || (t->mul != 1 && t->mul != -1) || (*ranges & bit)) return false;
        *ranges |= bit;
        found = true;
    }
    return true;
}

bool access_is_certain(const Symbolic *y, const Access *a) {
    const Node *n = y->p->node.p[a->node];
    const Arg *arg = &n->arg.p[a->op->param];
    const Tensor *t = &y->p->tensor.p[a->tensor];
    uint64_t ranges = 0;
    if (arg->lead + arg_same_dims(t, arg, &n->kernel->param.p[a->op->param]) < t->ndim) return false;
    if (!always_reached(a->op) || !guards_are_exact(y, n->kernel, a->op)) return false;
    for (int d = 0; d < a->op->sub.n; d++)
        if (!sub_is_dense(n->kernel, &a->op->sub.p[d].lo, &ranges)) return false;
    return true;
}

/* ---- a program ---- */

static bool wait_check(Symbolic *y, int node, const Op *w) {
    const Flag *f = &y->p->flag.p[w->flag];
    if (w->equal) return flag_fail(y, w, "a wait compares for equality");
    if (w->lag < 0 || w->lag > MAX_LAG) return flag_fail(y, w, "a wait goes back or ahead too many generations");
    bool earlier = w->lag > 0 || f->producer < node || (f->producer == node && symbolic_names_earlier(y, node, w));
    if (earlier && flag_is_plain(y, f)) return true;
    return flag_fail(y, w, "a wait is not for earlier tasks that signal");
}

/* Also where nobody waits: a word that there is not would be written. */
static bool signal_check(Symbolic *y, int node, const Op *s) {
    const Flag *f = &y->p->flag.p[s->flag];
    if (f->producer == node && flag_is_plain(y, f)) return true;
    return flag_fail(y, s, "a signal is not the last, of the task's own word, to ranks that there are,");
}

static bool region_check(Symbolic *y, int node, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op->kind == OP_WAIT && !wait_check(y, node, op)) return false;
        if (op->kind == OP_SIGNAL && !signal_check(y, node, op)) return false;
        y->proof->waits += op->kind == OP_WAIT;
        y->proof->signals += op->kind == OP_SIGNAL;
    }
    return true;
}

bool symbolic_flags_check(Symbolic *y) {
    for (int i = 0; i < y->p->node.n; i++)
        if (!region_check(y, i, y->p->node.p[i]->kernel->body)) return false;
    return true;
}
