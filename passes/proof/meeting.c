/* meeting.c: two accesses that meet, as constraints that isl decides, for all sizes.
   Takes: accesses of nodes; ranks are variables. Gives: whether there are such instances. */
#include "passes/proof/meeting.h"

#include "ir/poly/isl_context.h"
#include "ir/poly/relation_read.h"

#include <isl/set.h>

void meeting_add_ranks(const Symbolic *y, Meeting *m) {
    for (int i = 0; i < y->m->axis.n; i++) {
        int ranks = y->m->axis.p[i].ranks;
        text_printf(&m->text, " and 0 <= pr%d < %d and 0 <= cr%d < %d", i, ranks, i, ranks);
        bool other = m->ranks == MEET_OTHER && i == m->tensor->symmetric;
        if (other) text_printf(&m->text, " and (pr%d < cr%d or pr%d > cr%d)", i, i, i, i);
        else text_printf(&m->text, " and pr%d = cr%d", i, i);
    }
}

Meeting *meeting_of_ranks(const Symbolic *y, const Access *a, const Access *b, MeetRanks ranks) {
    Meeting *m = ARENA_NEW(y->arena, Meeting);
    m->tensor = &y->p->tensor.p[a->tensor];
    m->ranks = ranks;
    m->from = (RelationText){.m = y->m, .k = y->p->node.p[a->node]->kernel, .letter = 'p', .text = &m->text};
    m->to = (RelationText){.m = y->m, .k = y->p->node.p[b->node]->kernel, .letter = 'c', .text = &m->text};
    m->to.values = true;
    meeting_add_ranks(y, m);
    if (m->tensor->symmetric >= 0) {
        relation_box(&m->from, &a->rank, "m", 0);
        relation_box(&m->to, &b->rank, "m", 0);
    }
    return m;
}

Meeting *meeting_of(const Symbolic *y, const Access *a, const Access *b, MeetRanks ranks) {
    Meeting *m = meeting_of_ranks(y, a, b, ranks);
    relation_ranges(&m->from);
    relation_ranges(&m->to);
    relation_loops(&m->from, a->op);
    relation_loops(&m->to, b->op);
    relation_tensor(&m->to, m->tensor);
    for (int d = 0; d < a->ndim; d++) {
        relation_box(&m->from, &a->dim[d], "x", d);
        relation_box(&m->to, &b->dim[d], "x", d);
    }
    return m;
}

Meeting *meeting_exactly(const Symbolic *y, const Access *a, const Access *b, MeetRanks ranks) {
    Meeting *m = meeting_of(y, a, b, ranks);
    for (int d = 0; d < a->ndim; d++) {
        relation_end(&m->from, &a->dim[d], "x", d);
        relation_end(&m->to, &b->dim[d], "x", d);
    }
    return m;
}

static bool set_is_empty(isl_ctx *isl, const char *text) {
    isl_ctx_reset_operations(isl);
    isl_set *set = relation_read(isl, text);
    bool empty = isl_set_is_empty(set) == isl_bool_true;
    isl_context_check(isl);
    isl_set_free(set);
    return empty;
}

bool meeting_empty(const Symbolic *y, const Meeting *m, const char *also) {
    Text t = {0};
    bool some = false;
    text_add(&t, "[");
    relation_names(&t, "n", y->m->symbol.n, &some);
    text_add(&t, "] -> { [");
    some = false;
    relation_names(&t, "p", m->from.k->range.n, &some);
    relation_names(&t, "c", m->to.k->range.n, &some);
    relation_names(&t, "pr", y->m->axis.n, &some);
    relation_names(&t, "cr", y->m->axis.n, &some);
    relation_names(&t, "m", m->tensor->symmetric >= 0, &some);
    relation_names(&t, "x", m->tensor->ndim, &some);
    for (int i = 0; i < m->to.nvalue; i++) text_printf(&t, ", v%d", m->to.value[i]);
    text_add(&t, "] : 1 > 0");
    relation_symbols(&t, y->m);
    text_add(&t, m->text.n ? m->text.p : "");
    text_add(&t, also);
    text_add(&t, " }");
    int *empty = name_map_at(y->answer, name_of(y->asked, t.p));
    if (*empty < 0) *empty = set_is_empty(y->isl, t.p);
    bool answer = *empty;
    text_free(&t);
    return answer;
}

bool meeting_within(const Symbolic *y, Meeting *m, const char *x, RelationText *w, const Affine *lo, const Affine *hi) {
    const Affine *side[2] = {lo, hi};
    for (int i = 0; i < 2; i++) {
        if (!relation_can_write(w, side[i])) return false;
        Text also = {0};
        w->text = &also;
        text_printf(&also, " and %s %s ", x, i ? ">" : "<");
        relation_affine(w, side[i]);
        w->text = &m->text;
        bool never = meeting_empty(y, m, also.p);
        text_free(&also);
        if (!never) return false;
    }
    return true;
}

bool symbolic_fail(Symbolic *y, Loc loc, const char *format, ...) {
    va_list list;
    va_start(list, format);
    proof_fail(y->proof, y->out, loc, format, list);
    va_end(list);
    return false;
}

bool symbolic_fail_pair(Symbolic *y, const Access *a, const Access *b, int64_t later) {
    Proof *p = y->proof;
    if (p->why) return false;
    p->from = a->op, p->to = b->op, p->from_node = a->node, p->to_node = b->node, p->later = later;
    return symbolic_fail(y, b->op->loc, "nothing orders %s of '%s' before %s of '%s' on '%s' for all sizes%s", a->write ? "a write" : "a read",
                y->p->node.p[a->node]->kernel->name, b->write ? "a write" : "a read", y->p->node.p[b->node]->kernel->name,
                y->p->tensor.p[a->tensor].name, later ? ", generations later" : "");
}
