/* symbolic_own.c: tasks of one node that touch one place, for all sizes.
   Takes: accesses of a node. Two tasks are told apart by the first dimension of the grid in which they differ: what they
   touch is apart, or a wait of the higher one covers the lower one. */
#include "passes/proof/meeting.h"

/* ---- waits for lower tickets ---- */

/* Tasks p whose word the wait of task c names. */
static void write_named(Meeting *m, const Flag *f, const Op *w) {
    for (int d = 0; d < f->dim.n; d++) {
        const Affine *side[2] = {&w->sub.p[d].lo, &w->sub.p[d].hi};
        for (int i = 0; f->dim.p[d].group > 0 && i < 2; i++) {
            if (!relation_can_write(&m->to, side[i])) continue;
            text_printf(&m->text, " and floor((p%d)/%lld) %s ", d, (long long)f->dim.p[d].group, i ? "<=" : ">=");
            relation_affine(&m->to, side[i]);
        }
    }
}

/* No p whose first difference from c is that it is higher along d; d past the last: no p that is c. */
static bool none_later(const Symbolic *y, const Meeting *m, int d) {
    Text also = {0};
    for (int i = 0; i < d; i++) text_printf(&also, " and p%d = c%d", i, i);
    if (d < m->from.k->ngrid) text_printf(&also, " and p%d > c%d", d, d);
    bool empty = meeting_empty(y, m, text_str(&also));
    text_free(&also);
    return empty;
}

bool symbolic_names_earlier(const Symbolic *y, int node, const Op *w) {
    const Kernel *k = y->p->node.p[node]->kernel;
    Tensor none = {.symmetric = -1};
    Meeting m = {.tensor = &none, .ranks = MEET_SAME};
    m.from = m.to = (RelationText){.m = y->m, .k = k, .letter = 'p', .text = &m.text};
    m.to.letter = 'c', m.to.values = true;
    meeting_add_ranks(y, &m);
    relation_tasks(&m.from);
    relation_tasks(&m.to);
    relation_loops(&m.to, w);
    write_named(&m, &y->p->flag.p[w->flag], w);
    bool earlier = y->p->flag.p[w->flag].axis < 0;
    for (int d = 0; d <= k->ngrid && earlier; d++) earlier = none_later(y, &m, d);
    text_free(&m.text);
    return earlier;
}

/* ---- tasks of a node that touch one place ---- */

static const Kernel *kernel_of(const Symbolic *y, const Access *a) { return y->p->node.p[a->node]->kernel; }

static bool reads_result(const Symbolic *y, const Access *a) { return !a->write && kernel_of(y, a)->param.p[a->op->param].out; }

static bool stores_as(const Access *a, StoreMode mode) { return a->write && a->op->mode == mode; }

/* One task waits for another there: else that two meet is a fault of the program. */
static bool pair_is_ordered(const Symbolic *y, const Access *a, const Access *b) {
    return reads_result(y, a) || reads_result(y, b) || stores_as(a, STORE_SUM) || stores_as(b, STORE_SUM);
}

static bool places_known(const Symbolic *y, const Access *a) {
    RelationText w = {.m = y->m, .k = kernel_of(y, a)};
    bool known = !a->remote || (a->rank.known && relation_can_write(&w, &a->rank.start));
    for (int d = 0; d < a->ndim && known; d++) known = a->dim[d].known && relation_can_write(&w, &a->dim[d].start);
    return known;
}

/* Places in blocks of a run-time size are not affine: the proof of one size, which follows, looks at them. No proof follows where
   sizes are numbers: there a place that is not affine counts as any place. */
static bool pair_certain(const Symbolic *y, const Access *a, const Access *b) {
    if (!access_is_certain(y, a) || !access_is_certain(y, b)) return false;
    return (places_known(y, a) && places_known(y, b)) || !program_has_symbols(y->p);
}

static bool pair_compared(const Symbolic *y, const Access *a, const Access *b) {
    if (a->tensor != b->tensor || (!a->write && !b->write) || (stores_as(a, STORE_ADD) && stores_as(b, STORE_ADD))) return false;
    if (y->p->tensor.p[a->tensor].packet && a->write && !b->write) return false;
    return pair_is_ordered(y, a, b) || pair_certain(y, a, b);
}

static void add_first_difference(Meeting *m, int d) {
    for (int i = 0; i < d; i++) text_printf(&m->text, " and p%d = c%d", i, i);
    text_printf(&m->text, " and p%d < c%d", d, d);
}

/* Tasks of one rank that first differ along d, a's being the lower. */
static bool apart_along(const Symbolic *y, const Access *a, const Access *b, int d) {
    Meeting *m = meeting_exactly(y, a, b, MEET_SAME);
    add_first_difference(m, d);
    bool apart = meeting_empty(y, m, "");
    text_free(&m->text);
    return apart;
}

/* Tasks of two ranks in the memory of one. */
static bool apart_on_ranks(const Symbolic *y, const Access *a, const Access *b) {
    if (y->p->tensor.p[a->tensor].symmetric < 0) return true;
    Meeting *m = meeting_exactly(y, a, b, MEET_OTHER);
    bool apart = meeting_empty(y, m, "");
    text_free(&m->text);
    return apart;
}

static bool covered_along(const Symbolic *y, const Access *a, const Access *b, int d) {
    Meeting *m = meeting_of(y, a, b, MEET_SAME);
    add_first_difference(m, d);
    bool covered = symbolic_wait_covers(y, m, a, b, MEET_SAME);
    text_free(&m->text);
    return covered;
}

static bool fail_siblings(Symbolic *y, const Access *a, const Access *b) {
    symbolic_fail_pair(y, a, b, 0);
    if (pair_is_ordered(y, a, b)) return false;
    y->proof->id = "tasks-collide";
    y->proof->why = arena_format(y->out, "two tasks of '%s' %s one place of '%s' in no order", kernel_of(y, a)->name,
                                 a->write && b->write ? "write" : "read and write", y->p->tensor.p[a->tensor].name);
    return false;
}

/* a by the lower task. */
static bool own_pair_check(Symbolic *y, const Access *a, const Access *b) {
    bool ordered = pair_is_ordered(y, a, b);
    y->proof->pairs++;
    if (!apart_on_ranks(y, a, b)) return fail_siblings(y, a, b);
    for (int d = 0; d < kernel_of(y, a)->ngrid; d++)
        if (!apart_along(y, a, b, d) && !(ordered && covered_along(y, a, b, d))) return fail_siblings(y, a, b);
    return true;
}

bool symbolic_own_order(Symbolic *y, int node) {
    const AccessList *list = &y->access[node];
    for (int i = 0; i < list->n; i++)
        for (int j = 0; j < list->n; j++)
            if (pair_compared(y, &list->p[i], &list->p[j]) && !own_pair_check(y, &list->p[i], &list->p[j])) return false;
    return true;
}
