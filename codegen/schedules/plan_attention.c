/* plan_attention.c: attention by a schedule: which sizes and types it takes. */
#include "codegen/schedules/arms.h"

static const Param *param_of(const Kernel *k, int i) { return &k->param.p[i]; }

bool attention_one_type(const Kernel *k, const Attention *a) {
    const int used[] = {a->q, a->k, a->v, a->o};
    Elem e = param_of(k, a->q)->elem;
    for (int i = 0; i < 4; i++) {
        const Param *p = param_of(k, used[i]);
        if (p->elem != e || p->ranks >= 0 || p->inout || p->packet || p->out != (i == 3)) return false;
    }
    return e == ELEM_BF16 || e == ELEM_F16;
}

/* Matrices of a parameter; -1: run-time, or too many. */
static int64_t matrices(const Param *p) {
    int64_t n = 1;
    for (int d = 0; d < p->ndim - 2; d++) {
        if (!size_is_number(p->dim[d]) || p->dim[d].c > 1 << 20) return -1;
        n *= p->dim[d].c;
        if (n > 1 << 20) return -1;
    }
    return n;
}

/* The largest value of a subscript over positions of the grid; -1: it may be negative, or is something else. */
static int64_t subscript_most(const Kernel *k, const Affine *a) {
    int64_t most = a->c;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind != TERM_POS || t->mul < 0 || t->id >= k->ngrid || k->range.p[t->id].kind != RANGE_POSITION)
            return -1;
        most += t->mul * ((k->range.p[t->id].of.c - 1) / t->div);
    }
    return a->c < 0 ? -1 : most;
}

static bool keys_inside(const Kernel *k, const Attention *a) {
    const Param *p = param_of(k, a->k);
    for (int d = 0; d < p->ndim - 2; d++) {
        int64_t most = subscript_most(k, &a->keys_at->sub.p[d].lo);
        if (most < 0 || most >= p->dim[d].c) return false;
    }
    return true;
}

/* Numbers of rows that are known at the latest when the program is called, and the same wherever they are not. */
static bool lengths_fit(const Module *m, const Attention *a) {
    if (a->rows.axis >= 0 || a->keys.axis >= 0 || a->rows.c < 0) return false;
    if (a->keys.sym >= 0 && !size_equal(a->keys, a->rows)) return false;
    return size_most(m, a->rows) < 1 << 30 && size_most(m, a->keys) < 1 << 30 && (a->keys.sym >= 0 || a->keys.c > 0);
}

/* What keeps the schedule from taking it; "": it is no attention. */
static Reason refused(const Module *m, const Kernel *k, const MatrixTarget *t, Attention *a, const MatrixSchedule **s) {
    const char *why = matrix_schedule(t, "attention", 0) ? attention_match(k, a) : "";
    if (why) return (Reason){.words = why};
    *s = matrix_schedule_wide(t, "attention", a->width.c);
    if (!attention_one_type(k, a)) return (Reason){.words = "its tensors are not all bf16, or all f16"};
    if (!*s || !size_is_number(a->width)) return (Reason){.words = "its rows are too wide"};
    if (a->width.c * 2 % (*s)->align)
        return (Reason){.words = "its rows are not multiples of 16 bytes", .fix = reason_rows.fix};
    if (matrices(param_of(k, a->q)) <= 0 || matrices(param_of(k, a->k)) <= 0 || !keys_inside(k, a))
        return (Reason){.words = "its heads are not known numbers"};
    if (!lengths_fit(m, a))
        return (Reason){.words = "the number of its keys is known at run time only",
                        .fix = "make it a number: dim N = 4096, or -D N=4096"};
    return (Reason){.words = size_most(m, a->rows) < (*s)->rows / 2 ? "it has few rows" : NULL};
}

/* Roles want tiles of rows. */
static bool has_row_tile(const Kernel *k) { return k->ngrid < 2 || k->range.p[k->ngrid - 2].kind == RANGE_TILE; }

Planned attention_plan(PassContext *c, const Kernel *k, const MatrixTarget *t) {
    const MatrixSchedule *s;
    Attention a;
    Planned few = decode_plan(c, k, t);
    few.why.exact = few.why.words && *few.why.words;
    if (!few.why.words || few.why.exact) return few;
    Reason why = refused(c->m, k, t, &a, &s);
    if (!why.words) return arm_planned(c, k, s, a.row, a.key);
    why.exact = !has_row_tile(k);
    return plan_refused_by(why);
}
