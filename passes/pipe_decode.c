/* pipe_decode.c: attention of a few rows against many keys by a schedule: which sizes and types it takes. Workgroups of
   a cluster share a task's keys. */
#include "passes/pipe.h"

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

/* All dimensions but the keys' are numbers, and a task's own are inside. */
static bool keys_inside(const Module *m, const Kernel *k, const Attention *a) {
    const Param *p = &k->param.p[a->k];
    int64_t all = 1;
    for (int d = 0; d < p->ndim; d++) {
        if (d == a->keys_dim) continue;
        if (!size_is_number(p->dim[d])) return false;
        if (d < p->ndim - 1 && number_most(k, &a->keys_at->sub.p[d].lo) >= p->dim[d].c) return false;
        all *= p->dim[d].c;
        if (all > MOST_STRIDE) return false;
    }
    return a->keys.axis < 0 && size_most(m, a->keys) < 1 << 30;
}

/* Where a task has one workgroup, processors for each that still read what memory gives (from counts of bytes on their
 * way). */
enum { FEW = 5 };

/* NULL: the schedule takes it. Else what keeps it from that; "": it is no attention. */
static const char *refused(PassContext *c, const Kernel *k, const MatrixTarget *t, Attention *a,
                           const MatrixSchedule **s) {
    const char *why = matrix_schedule(t, "decode", 0) ? decode_match(k, a) : "";
    if (why) return why;
    if (k->choice.plain || k->choice.split || c->options->split) return "its loop is to be cut as asked for";
    *s = matrix_schedule_wide(t, "decode", a->width.c);
    if (!pipe_one_type(k, a)) return "its tensors are not all bf16, or all f16";
    if (!*s || !size_is_number(a->width)) return "its rows are too wide";
    if (a->width.c * 2 % (*s)->align)
        return arena_format(c->m->arena, "its rows are not multiples of %d bytes", (*s)->align);
    if (k->range.p[a->row].size > (*s)->rows) return "it has too many rows";
    int64_t tasks = decode_tasks(k);
    if (tasks <= 0 || !keys_inside(c->m, k, a)) return "its heads are not known numbers";
    if (!(*s)->at_once && FEW * tasks < t->processors) return "it has few heads";
    return tasks * (*s)->cluster < (*s)->at_once / 6 ? "it has few heads" : NULL;
}

bool pipe_decode(PassContext *c, Kernel *k, const MatrixTarget *t) {
    const MatrixSchedule *s;
    Attention a;
    const char *why = refused(c, k, t, &a, &s);
    if (why) {
        if (*why) pipe_refuse(c, k, why);
        return *why;
    }
    k->schedule = name_of(c->m->names, s->name);
    k->range.p[a.key].size = s->columns;
    remark(c, "pipe", k->loc, "'%s': the schedule '%s', %lld rows and %d keys at a time", k->name, s->name,
           (long long)k->range.p[a.row].size, s->columns);
    return true;
}
