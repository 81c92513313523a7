/* symbolic_wait.c: which accesses a wait covers, for all sizes, and which waits and accesses certainly happen. */
#include "passes/proof/meeting.h"

/* Operations behind each other in a scalar: time of the proof; chosen: no measurement is recorded. */
enum { DEPTH = 32 };

const Op *flag_signal(const Kernel *k, int flag) {
    for (const Op *op = k->body->last; op && op->kind == OP_SIGNAL; op = op->prev)
        if (op->flag == flag) return op;
    return NULL;
}

/* The ranks of a signal exist; those of a wait are cut to what there is. */
bool ranks_all(const Module *m, int axis, const Span *s, bool exactly) {
    if (axis < 0) return true;
    int64_t last = m->axis.p[axis].ranks - 1;
    if (!affine_is_const(&s->lo) || !affine_is_const(&s->hi) || s->lo.c > 0 || s->hi.c < last) return false;
    return !exactly || (s->lo.c == 0 && s->hi.c == last);
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

static bool wait_is_exact(const Symbolic *y, int node, const Op *w) {
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
        if (r && r->starts) return false;
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

/* ---- cover ---- */

static bool rank_within(const Symbolic *y, Meeting *m, char letter, int axis, RelationText *w, const Span *s) {
    char text[16];
    if (ranks_all(y->m, axis, s, false)) return true;
    snprintf(text, sizeof text, "%cr%d", letter, axis);
    return meeting_within(y, m, text, w, &s->lo, &s->hi);
}

static bool words_cover(const Symbolic *y, Meeting *m, const Flag *f, const Op *w) {
    for (int d = 0; d < f->dim.n; d++) {
        char word[64];
        if (f->dim.p[d].group <= 0) continue;
        snprintf(word, sizeof word, "floor((p%d)/%lld)", d, (long long)f->dim.p[d].group);
        if (!meeting_within(y, m, word, &m->to, &w->sub.p[d].lo, &w->sub.p[d].hi)) return false;
    }
    if (f->axis < 0) return true;
    const Op *s = flag_signal(m->from.k, f->id);
    return rank_within(y, m, 'p', f->axis, &m->to, &w->dest) && rank_within(y, m, 'c', f->axis, &m->from, &s->dest);
}

/* A word of another rank comes along the flag's axis: from a rank that differs along the tensor's if both are one axis. */
static bool flag_connects(const Symbolic *y, const Flag *f, const Access *a, MeetRanks ranks) {
    return ranks == MEET_SAME || f->axis == y->p->tensor.p[a->tensor].symmetric;
}

bool symbolic_wait_covers(const Symbolic *y, Meeting *m, const Access *a, const Access *b, MeetRanks ranks) {
    for (const Op *at = b->op; at; at = at->in->parent)
        for (const Op *w = at->prev; w; w = w->prev) {
            if (w->kind != OP_WAIT || w->lag || y->p->flag.p[w->flag].producer != a->node) continue;
            const Flag *f = &y->p->flag.p[w->flag];
            if (!wait_acquires(f, w) || !flag_connects(y, f, a, ranks)) continue;
            if (m ? wait_is_exact(y, b->node, w) && words_cover(y, m, f, w) : wait_is_whole(y, f, w)) return true;
        }
    return false;
}
