/* proof_symbolic_own.c: tasks of one node that read what others of it write, for all sizes.
   Takes: accesses of a node; of two sums each is the write of the other. Two tasks are told apart by the first dimension of the grid in which they differ: the lower
   one writes and a wait of the other one covers it, and the higher one writes nothing that the lower one reads. */
#include "passes/proof_meeting.h"

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
    relation_ranges(&m.from);
    relation_ranges(&m.to);
    relation_loops(&m.to, w);
    write_named(&m, &y->p->flag.p[w->flag], w);
    bool earlier = y->p->flag.p[w->flag].axis < 0;
    for (int d = 0; d <= k->ngrid && earlier; d++) earlier = none_later(y, &m, d);
    text_free(&m.text);
    return earlier;
}

/* ---- reads of what other tasks write ---- */

static bool lower_covered(const Symbolic *y, const Access *a, const Access *b, int d) {
    Meeting *m = meeting_of(y, a, b, MEET_SAME);
    for (int i = 0; i < d; i++) text_printf(&m->text, " and p%d = c%d", i, i);
    text_printf(&m->text, " and p%d < c%d", d, d);
    bool covered = meeting_empty(y, m, "") || symbolic_wait_covers(y, m, a, b, MEET_SAME);
    text_free(&m->text);
    return covered;
}

static bool higher_apart(const Symbolic *y, const Access *a, const Access *b, int d) {
    Meeting *m = meeting_of(y, a, b, MEET_SAME);
    bool apart = none_later(y, m, d);
    text_free(&m->text);
    return apart;
}

static bool own_pair_check(Symbolic *y, const Access *write, const Access *read) {
    for (int d = 0; d < y->p->node.p[read->node]->kernel->ngrid; d++) {
        y->proof->pairs++;
        bool good = lower_covered(y, write, read, d) && (read->write || higher_apart(y, write, read, d));
        if (!good) return symbolic_fail_pair(y, write, read, 0);
    }
    return true;
}

bool symbolic_own_order(Symbolic *y, int node) {
    const AccessList *list = &y->access[node];
    const Kernel *k = y->p->node.p[node]->kernel;
    for (int i = 0; i < list->n; i++)
        for (int j = 0; j < list->n; j++) {
            const Access *write = &list->p[j], *read = &list->p[i];
            if (siblings_need_order(k, write, read) && !own_pair_check(y, write, read)) return false;
        }
    return true;
}
