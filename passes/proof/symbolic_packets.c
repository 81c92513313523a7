/* symbolic_packets.c: do the packets that a task waits for come, for all sizes?
   Takes: loads of packet tensors. Gives: whether each element that one can touch is stored by a task of an earlier node. */
#include "passes/proof/meeting.h"

/* Positions that the store has, not those of a longer tile: false where they are not known. */
static bool write_dim(RelationText *w, const Box *b, int d) {
    if (!b->known || !relation_can_write(w, &b->start)) return false;
    relation_box(w, b, "x", d);
    return relation_end(w, b, "x", d);
}

/* Some task of the store's node stores element x of rank m0. */
static bool write_stored(const Symbolic *y, const Access *a, Text *text) {
    RelationText w = {.m = y->m, .k = y->p->node.p[a->node]->kernel, .letter = 'w', .text = text};
    bool some = false, known = a->rank.known && a->rank.extent == 1 && relation_can_write(&w, &a->rank.start);
    int axis = y->p->tensor.p[a->tensor].symmetric;
    text_add(text, " and not (exists (");
    relation_names(text, "w", w.k->range.n, &some);
    relation_names(text, "wr", y->m->axis.n, &some);
    text_add(text, " : 1 > 0");
    relation_ranges(&w);
    relation_loops(&w, a->op);
    for (int i = 0; i < y->m->axis.n; i++) {
        text_printf(text, " and 0 <= wr%d < %lld", i, (long long)y->m->axis.p[i].ranks);
        if (i != axis) text_printf(text, " and wr%d = cr%d", i, i);
    }
    relation_box(&w, &a->rank, "m", 0);
    for (int d = 0; d < a->ndim && known; d++) known = write_dim(&w, &a->dim[d], d);
    text_add(text, "))");
    return known;
}

static void write_stores(const Symbolic *y, const Access *load, Text *text) {
    for (int n = 0; n < load->node; n++)
        for (int i = 0; i < y->access[n].n; i++) {
            const Access *a = &y->access[n].p[i];
            Text one = {0};
            if (a->tensor == load->tensor && a->write && write_stored(y, a, &one)) text_add(text, text_str(&one));
            text_free(&one);
        }
}

static bool packets_come(Symbolic *y, const Access *load) {
    Meeting *m = meeting_exactly(y, load, load, MEET_SAME);
    Text stores = {0};
    relation_blocks(&m->to, m->tensor);
    write_stores(y, load, &stores);
    bool come = meeting_empty(y, m, text_str(&stores));
    text_free(&stores);
    text_free(&m->text);
    if (come) return true;
    return symbolic_fail(y, load->op->loc, "'%s' waits for packets of '%s' that no earlier task sends for all sizes",
                         y->p->node.p[load->node]->kernel->name, y->p->tensor.p[load->tensor].name);
}

bool symbolic_packets_check(Symbolic *y, int node) {
    for (int i = 0; i < y->access[node].n; i++) {
        const Access *a = &y->access[node].p[i];
        if (y->p->tensor.p[a->tensor].packet && !a->write && !packets_come(y, a)) return false;
    }
    return true;
}
