/* plan_product.c: products of two matrices: of few rows by a schedule, others by roles where the machine has them. */
#include "codegen/schedules/arms.h"
#include "codegen/schedules/skinny.h"
#include "passes/plan/tiles.h"
#include "target/rates.h"

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
    if (is_f8(k, f)) return !f->b_is_kn && (c == ELEM_F32 || c == ELEM_BF16 || c == ELEM_F16 || quantised);
    return (a == ELEM_BF16 || a == ELEM_F16) && (c == a || c == ELEM_F32 || quantised);
}

static bool operands_align(const Kernel *k, const Product *f, int bytes) {
    int param[MOST_OPERANDS], n = product_operands(f, param);
    for (int i = 0; i < n; i++)
        if (!rows_align(&k->param.p[param[i]], bytes)) return false;
    return true;
}

/* No words: the machine has a kernel for such. */
static Reason refused(const Kernel *k, const Product *f, int align) {
    if (!types_fit(k, f)) return reason_types;
    return operands_align(k, f, align) ? (Reason){0} : reason_rows;
}

/* Few rows always go by the schedule. Others where it is faster and few tiles share their sums. roles: their plan. */
static bool is_skinny(const Kernel *k, const SkinnyPlan *few, const MatrixTarget *t, const Planned *roles) {
    enum { MANY = 128 }; /* rows */
    const double unit = 40e-9;
    int64_t m = k->range.p[0].of.c;
    if (!few->facts) return false;
    if (m <= few->facts->rows || roles->why.words) return true;
    return (few->parts > 1 || m <= MANY) && few->time * unit + gpu_facts(t->name)->fill < roles->seconds;
}

static Planned planned_few(PassContext *c, const Kernel *k, const SkinnyPlan *few, int sums) {
    MatrixSchedule s = *few->facts;
    s.columns = few->columns / sums;
    return k->range.p[1].of.c < s.columns ? plan_refused("the result is small") : arm_planned(c, k, &s, 0, 1);
}

/* By the schedules of few rows. */
static Planned few_plan(PassContext *c, const Kernel *k, const MatrixTarget *t, const Product *f,
                        const Planned *roles) {
    const double around = 2.6e-6; /* seconds beside what the schedule counts: chosen by 48 and 64 rows (bench/gpu/log.md) */
    int64_t m = k->range.p[0].of.c, n = k->range.p[1].of.c;
    if (is_f8(k, f)) return plan_refused("");
    SkinnyPlan few = skinny_plan(t, m, n, f->depth, f->sums, 0), narrow = {0};
    if (f->sums == 1 && f->stores == 1)
        narrow = narrow_plan(t, &few, m, n, f->depth, f->b_is_kn, k->plan.columns);
    if (narrow.facts && (roles->why.words || narrow.time * 1e-9 + around < roles->seconds))
        return planned_few(c, k, &narrow, 1);
    if (m <= TILES_FEW && !roles->why.words) return plan_refused("");
    if (k->plan.columns) few = skinny_plan(t, m, n, f->depth, f->sums, k->plan.columns);
    return is_skinny(k, &few, t, roles) ? planned_few(c, k, &few, f->sums) : plan_refused("");
}

Planned product_plan(PassContext *c, const Kernel *k, const MatrixTarget *t) {
    Product f;
    const MatrixSchedule *any = matrix_schedule(t, "skinny", 0);
    Reason why = any ? product_match(k, &f) : (Reason){.words = ""};
    if (why.words) return plan_refused_by(why);
    if (!any->cluster) return product_plan_cdna(c, k, t, &f);
    why = refused(k, &f, any->align);
    if (why.words) return arm_refused(k, &f, any->align, why);
    const Planned roles = roles_plan(c, k, t);
    if (plan_asks_roles(&k->plan) && !roles.why.words) return roles;
    const Planned few = few_plan(c, k, t, &f, &roles);
    return few.why.words ? roles : few;
}
