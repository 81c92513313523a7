/* plan_decode.c: attention of a few rows against many keys by a schedule: which sizes and types it takes. Workgroups
   share a task's keys. */
#include "passes/model/model.h"
#include "codegen/schedules/arms.h"

#include <math.h>

static int64_t number_most(const Kernel *k, const Affine *a) {
    int64_t most = a->c;
    for (int i = 0; i < a->nterm; i++) {
        const Range *r = &k->range.p[a->term[i].id];
        most += a->term[i].mul * ((r->of.c / r->size - 1) / a->term[i].div);
    }
    return most;
}

/* Elements from key to key, of 32 of which the text makes bytes in an int. */
enum { MOST_STRIDE = 1 << 24 };

/* The positions of a range of tasks, in a dimension of its extent: also one that only a run knows. */
static bool is_tasks_own(const Kernel *k, const Affine *a, Size of) {
    int range = affine_position(a);
    return range >= 0 && range < k->ngrid && k->range.p[range].size == 1 && size_equal(k->range.p[range].of, of);
}

static bool ranges_are_numbers(const Kernel *k, const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (!size_is_number(k->range.p[a->term[i].id].of)) return false;
    return true;
}

/* A task's own numbers in a load's dimension d are inside. */
static bool number_inside(const Kernel *k, const Op *load, int d) {
    Size of = k->param.p[load->param].dim[d];
    const Affine *a = &load->sub.p[d].lo;
    if (of.sym >= 0) return is_tasks_own(k, a, of);
    return size_is_number(of) && ranges_are_numbers(k, a) && number_most(k, a) < of.c;
}

/* All dimensions but the keys', or their pages', are numbers or tasks' own, and a task's own are inside. */
static bool keys_inside(const Module *m, const Kernel *k, const Attention *a) {
    const Param *p = &k->param.p[a->k];
    int64_t all = 1;
    for (int d = 0; d < p->ndim; d++) {
        if (d == (a->pages_at ? a->pages_dim : a->keys_dim)) continue;
        bool own = d < p->ndim - 1 && d != a->keys_dim;
        if (own ? !number_inside(k, a->keys_at, d) : !size_is_number(p->dim[d])) return false;
        all *= size_most(m, p->dim[d]);
        if (all > MOST_STRIDE) return false;
    }
    return a->keys.axis < 0 && size_most(m, a->keys) < 1 << 30;
}

/* Where a task has one workgroup, processors for each that still read what memory gives (from counts of bytes on their
 * way). */
enum { FEW = 5 };

/* ---- parts of the keys, where a task has one workgroup (split cuts them): by a prediction, none of it measured ----
 */

enum {
    MOST_PARTS = 32,
    OF_RATE = 4 /* a workgroup has such a part of what a processor may load: its keys come in four times the requests */
};

static double part_seconds(const Module *m, const Kernel *k, const MatrixTarget *t, const Attention *a, double keys, int64_t parts) {
    const TargetFacts *facts = target_facts(t->name);
    const GpuFacts *gpu = gpu_facts(t->name);
    double tasks = (double)decode_tasks(m, k), width = (double)a->width.c,
           busy = fmin(tasks * (double)parts, t->processors);
    double seconds = tasks * keys * width * 4 / fmin(facts->memory, busy * gpu->l2 * gpu->clock / OF_RATE);
    if (parts == 1) return seconds;
    double left = tasks * (double)parts * (double)k->range.p[a->row].size * (width + 2) * 8;
    return seconds + gpu->launch + gpu->load / gpu->clock + left / gpu->cached;
}

static int64_t parts_of(PassContext *c, const Kernel *k, const MatrixTarget *t, const Attention *a) {
    const double gain = 0.9;
    int64_t asked = arm_parts_asked(c, k), keys = size_most(c->m, a->keys), best = 1;
    if (!split_fits(c->m, k)) return 1;
    if (asked) return asked;
    int columns = matrix_schedule_wide(t, "decode", a->width.c)->columns;
    double least = gain * part_seconds(c->m, k, t, a, (double)keys, 1);
    for (int64_t n = 2; n <= MOST_PARTS && n * columns <= keys; n++) {
        double seconds = part_seconds(c->m, k, t, a, (double)keys, n);
        if (seconds < least) best = n, least = seconds;
    }
    return best;
}

enum { TOGETHER = 16 }; /* keys that are read together */

enum { FEWEST = 3 }; /* tasks, with eight workgroups each: fewer do not read as fast as the memory gives */

static const char *pages_refused(const Module *m, const Kernel *k, const MatrixSchedule *s, const Attention *a) {
    if (!s->resident_groups) return "its keys lie on pages";
    int64_t page = decode_page(k, a);
    if (page % TOGETHER) return "its pages are not multiples of 16 keys";
    if (size_most(m, a->keys) * page >= 1 << 30) return "its table is too wide";
    for (int d = 0; d < a->pages_at->sub.n - 1; d++)
        if (!number_inside(k, a->pages_at, d)) return "its table's rows are not known numbers";
    return NULL;
}

/* A dimension of its tasks that only a run knows, or NULL. */
static const char *runtime_tasks(const Module *m, const Kernel *k) {
    for (int i = 0; i < k->ngrid - 1; i++) {
        Size of = k->range.p[i].of;
        if (of.sym >= 0) return arena_format(m->arena, "'%s' is known at run time only", m->symbol.p[of.sym].name);
    }
    return NULL;
}

static const char *heads_unknown(const Module *m, const Kernel *k) {
    const char *runtime = runtime_tasks(m, k);
    return runtime ? runtime : "its heads are not known numbers";
}

/* NULL: the schedule takes it. Else what keeps it from that; "": it is no attention. */
static const char *refused(PassContext *c, const Kernel *k, const MatrixTarget *t, Attention *a,
                           const MatrixSchedule **s) {
    const char *why = matrix_schedule(t, "decode", 0) ? decode_match(k, a) : "";
    if (why) return why;
    *s = matrix_schedule_wide(t, "decode", a->width.c);
    bool cut = k->plan.parts || c->options->split;
    if (cut && matrix_schedule(t, "decode", 0)->resident_groups) return "its loop is to be cut as asked for";
    if (!attention_one_type(k, a)) return "its tensors are not all bf16, or all f16";
    if (!*s || !size_is_number(a->width)) return "its rows are too wide";
    if (a->width.c * 2 % (*s)->align)
        return arena_format(c->m->arena, "its rows are not multiples of %d bytes", (*s)->align);
    if (k->range.p[a->row].size > (*s)->rows) return "it has too many rows";
    int64_t tasks = decode_tasks(c->m, k);
    bool runtime = runtime_tasks(c->m, k) && !(*s)->resident_groups; /* the text has the number of tasks */
    if (tasks <= 0 || runtime || !keys_inside(c->m, k, a)) return heads_unknown(c->m, k);
    if ((*s)->resident_groups && tasks < FEWEST) return "it has few heads";
    const char *pages = a->pages_at ? pages_refused(c->m, k, *s, a) : NULL;
    if (pages || (*s)->resident_groups) return pages;
    return FEW * tasks * parts_of(c, k, t, a) < t->processors ? "it has few heads" : NULL;
}

/* Workgroups of a cluster share the keys; where they do not, `split` cuts them into parts. */
Planned decode_plan(PassContext *c, const Kernel *k, const MatrixTarget *t) {
    const MatrixSchedule *s;
    Attention a;
    const char *why = refused(c, k, t, &a, &s);
    if (why) return plan_refused(why);
    Planned p = arm_named(c, k, s);
    int64_t parts = s->cluster ? 1 : parts_of(c, k, t, &a);
    p.plan.parts = parts > 1 ? (int)parts : 0;
    planned_tile(&p, a.key, s->columns);
    p.how = arena_format(c->m->arena, "the schedule '%s', %lld rows and %d keys at a time", s->name,
                         (long long)k->range.p[a.row].size, s->columns);
    return p;
}
