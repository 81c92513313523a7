/* decode.c: see decode.h. Figures: bench/gpu/log.md. */
#include "codegen/schedules/decode.h"

#include <string.h>

static int64_t keys_most(const Module *m, const Kernel *k, const Attention *a) {
    return size_most(m, a->keys) * (a->pages_at ? decode_page(k, a) : 1);
}

/* Time of so many workgroups, each of the same part of the work: in a last round fewer than 9 of 20 processors do not
   read as fast as the memory gives (measured). */
static double time_of(int64_t groups, int64_t resident_groups) {
    int64_t rest = groups % resident_groups, least = resident_groups * 9 / 20;
    return (double)(groups - rest + (rest && rest < least ? least : rest)) / (double)groups;
}

/* From so many steps of a workgroup on, beginning and end matter less than how much is on its way. */
enum { MANY_STEPS = 16 };

/* Two launches at once: one begins and ends while the other reads. Less than a quarter of the machine does not read as
   fast as the memory gives. */
static bool fits_twice(const MatrixSchedule *s, int64_t tasks, int64_t keys) {
    int64_t groups = tasks * s->cluster;
    return s->cluster && 2 * groups <= s->resident_groups && 4 * groups >= s->resident_groups &&
           keys / s->cluster < (int64_t)MANY_STEPS * s->columns;
}

static bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

/* In a round and a half at most: clusters wait until so many processors beside each other are free. Others than 2, 4 or
   8 workgroups do not fill the machine evenly: 96 in clusters of 3 or 6 were slower than 64 in clusters of 2 or 4. */
static bool fits(const MatrixSchedule *s, int64_t tasks, int64_t keys) {
    if (s->cluster <= 1 || fits_twice(s, tasks, keys)) return true;
    return is_power_of_two(s->cluster) && 2 * tasks * s->cluster <= 3 * s->resident_groups;
}

static bool is_better(const MatrixSchedule *s, const MatrixSchedule *than, int64_t tasks, int64_t keys) {
    if (!s->resident_groups) return !than; /* a machine that makes no parts */
    bool twice = fits_twice(s, tasks, keys);
    if (!than || twice != fits_twice(than, tasks, keys)) return !than || twice;
    return twice || time_of(tasks * s->cluster, s->resident_groups) <= time_of(tasks * than->cluster, than->resident_groups);
}

const MatrixSchedule *decode_schedule(const MatrixTarget *t, const Module *m, const Kernel *k, const Attention *a,
                                      bool *overlaps) {
    const MatrixSchedule *best = NULL;
    int64_t tasks = decode_tasks(m, k), keys = keys_most(m, k, a);
    for (const MatrixSchedule *s = t->schedule; s->name; s++)
        if (!strcmp(s->name, "decode") && a->width.c <= s->width && fits(s, tasks, keys) &&
            is_better(s, best, tasks, keys))
            best = s;
    bool pairs = best && best->cluster <= 2 && 2 * tasks * best->cluster > best->resident_groups;
    *overlaps = best && (pairs || fits_twice(best, tasks, keys));
    return best;
}
