/* plan_product.c: products of two matrices by a schedule: which sizes and types it takes, and in which tiles. */
#include "codegen/schedules/arms.h"
#include "codegen/schedules/skinny.h"

#include <math.h>
#include <string.h>

/* Sums of 8-bit types are f32 only from 128 to 128 positions, to 14 bits between: from so many positions on that is no
   more than what f32 sums in another order differ by where signs vary (docs/design/schedules.md). */
enum { LEAST_DEPTH_8 = 2048 };

enum { FEWEST_COLUMNS = 64 }; /* of a result, in a tile */

static bool is_f8(const Kernel *k, const Product *f) {
    Elem a = k->param.p[f->a].elem;
    return a == ELEM_F8E4M3 || a == ELEM_F8E5M2;
}

static bool types_fit(const Kernel *k, const Product *f) {
    Elem a = k->param.p[f->a].elem, c = k->param.p[f->c[0]].elem;
    for (int i = 0; i < f->sums; i++)
        if (k->param.p[f->b[i]].elem != a) return false;
    for (int i = 1; i < f->stores; i++)
        if (k->param.p[f->c[i]].elem != c) return false;
    bool quantised = c == ELEM_I8 || (elem_bits(c) == 8 && elem_is_float(c));
    if (is_f8(k, f))
        return !f->b_is_kn && f->depth >= LEAST_DEPTH_8 &&
               (c == ELEM_F32 || c == ELEM_BF16 || c == ELEM_F16 || quantised);
    return (a == ELEM_BF16 || a == ELEM_F16) && (c == a || c == ELEM_F32 || quantised);
}

static bool operands_align(const Kernel *k, const Product *f, int bytes) {
    int param[MOST_OPERANDS], n = product_operands(f, param);
    for (int i = 0; i < n; i++)
        if (!rows_align(&k->param.p[param[i]], bytes)) return false;
    return true;
}

/* Two sums, and sums of 8-bit types, which take twice the registers, have instructions of some widths alone. */
static bool tiles_fit(const Kernel *k, const Product *f, const MatrixSchedule *s, bool f8) {
    int64_t wide = product_columns(s, f);
    bool any = f->sums == 1 && f->stores == 1 && !f8, some = s->columns == 64 || s->columns % 128 == 0;
    return wide >= FEWEST_COLUMNS && (any || some) && (!f8 || s->columns <= 128) &&
           (!k->plan.columns || wide == k->plan.columns);
}

/* The widest tiles but where others gain more than the model knows. */
static const MatrixSchedule *fastest(const Kernel *k, const Product *f, const MatrixTarget *t, bool f8) {
    const double gain = 0.99;
    const MatrixSchedule *best = NULL;
    for (const MatrixSchedule *s = t->schedule; s->name; s++) {
        if (strcmp(s->name, "product") || !tiles_fit(k, f, s, f8)) continue;
        if (!best || product_time(k, f, s) < gain * product_time(k, f, best)) best = s;
    }
    return best;
}

/* Few rows always go there. Others where it is faster and few tiles share their sums, or where tiles of the other
   schedule, two above each other, would be half empty. */
static bool is_skinny(const Kernel *k, const SkinnyPlan *few, const MatrixSchedule *other, double time) {
    int64_t m = k->range.p[0].of.c;
    if (!few->facts) return false;
    return m <= few->facts->rows || ((few->parts > 1 || !other || m <= other->rows) && few->time < time);
}

static MatrixSchedule of_plan(const SkinnyPlan *p, int sums) {
    MatrixSchedule s = *p->facts;
    s.columns = p->columns / sums;
    return s;
}

/* With the columns of a result in a tile. name: NULL: none. */
static MatrixSchedule chosen(const Kernel *k, const Product *f, const MatrixTarget *t, bool f8) {
    const MatrixSchedule *s = fastest(k, f, t, f8);
    int64_t m = k->range.p[0].of.c, n = k->range.p[1].of.c;
    SkinnyPlan few = {0}, narrow = {0};
    if (!f8) few = skinny_plan(t, m, n, f->depth, f->sums, 0);
    if (!f8 && f->sums == 1 && f->stores == 1)
        narrow = narrow_plan(t, &few, m, n, f->depth, f->b_is_kn, k->plan.columns);
    if (narrow.facts) return of_plan(&narrow, 1);
    if (!f8 && k->plan.columns) few = skinny_plan(t, m, n, f->depth, f->sums, k->plan.columns);
    if (is_skinny(k, &few, s, s ? product_time(k, f, s) : INFINITY)) return of_plan(&few, f->sums);
    MatrixSchedule other = s ? *s : (MatrixSchedule){0};
    other.columns /= f->sums;
    return other;
}

/* No words: the schedule takes it. */
static Reason refused(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    if (!s->name) return reason_tile;
    if (!types_fit(k, f)) return reason_types;
    if (!operands_align(k, f, s->align)) return reason_rows;
    return (Reason){.words = k->range.p[1].of.c < s->columns ? "the result is small" : NULL};
}

/* By roles it takes no longer. Measured on an H200 [bench/gpu/log.md]. Bytes of odd rows go one by one: ptxas
   serialises such products in roles (C7514). */
static bool roles_equal(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    const Param *c = &k->param.p[f->c[0]];
    if (elem_bits(c->elem) == 8 && c->dim[1].c % 2) return false;
    return !strcmp(s->name, "product") && !k->plan.columns;
}

Planned product_plan(PassContext *c, const Kernel *k, const MatrixTarget *t) {
    Product f;
    const MatrixSchedule *any = matrix_schedule(t, "product", 0);
    Reason why = any ? product_match(k, &f) : (Reason){.words = ""};
    if (why.words) return plan_refused_by(why);
    if (!any->cluster) return product_plan_cdna(c, k, t, &f);
    MatrixSchedule s = chosen(k, &f, t, is_f8(k, &f));
    why = refused(k, &f, &s);
    Planned roles = why.words ? plan_refused("") : roles_plan(c, k, t);
    if (!roles.why.words && roles_equal(k, &f, &s)) return roles;
    return why.words ? arm_refused(k, &f, any->align, why) : arm_planned(c, k, &s, 0, 1);
}
