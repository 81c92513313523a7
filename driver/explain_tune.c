/* explain_tune.c: sizes of each kernel that has a choice: the present ones, others with their predicted times, and
   the error of predictions that a file of sizes has measured. */
#include "driver/explain.h"
#include "driver/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variants shown beside the one taken, and lowered to find them; chosen: no measurement is recorded. */
enum { OTHERS = 3, LOWERED = 64 };

static const double SLOWER = 1.5; /* as many times as a prediction is told apart from another by a warning */

/* i = 128, j = 256 (128 as compiled) */
static void print_sizes(const Tune *t, int site) {
    const TunedPairs *set = &t->base.s.sites.p[site].entry.set;
    for (int i = 0, n = 0; i < set->n; i++) {
        const TunedPair *p = &set->p[i];
        if (tuned_is_fact(p->name)) continue;
        int64_t size = tune_size_after(t, site, p);
        printf("%s%s = %s", n++ ? ", " : "", p->name, p->value);
        if (size != atoll(p->value)) printf(" (%" PRId64 " as compiled)", size);
    }
}

/* What a file says beside sizes. */
static void print_choices(const TunedSite *s) {
    for (int i = 0; s->from && i < s->from->set.n; i++)
        if (!tuned_is_fact(s->from->set.p[i].name) && !tuned_get(&s->entry.set, s->from->set.p[i].name))
            printf(", %s = %s", s->from->set.p[i].name, s->from->set.p[i].value);
}

static double fact_of(const TunedEntry *e, const char *name) {
    const char *us = e ? tuned_get(&e->set, name) : NULL;
    return us ? atof(us) : 0;
}

static void print_measured(const TunedSite *s, double predicted_us) {
    double measured = fact_of(s->from, "measured_us"), written = fact_of(s->from, "written_us");
    if (measured <= 0) return;
    printf("tune: '%s': the program was measured to take %.4g us", s->entry.name, measured);
    if (written > 0) printf(" (as written %.4g us)", written);
    printf(", predicted %.4g us, error %+.0f %%\n", predicted_us, 100 * (predicted_us / measured - 1));
}

static void print_others(const Variants *list, int count) {
    for (int i = 1; i < list->n; i++) {
        printf("%s", i > 1 ? "; " : count ? "; others: " : "");
        tune_print_pairs(&list->p[i].entry.set, "");
        printf(" %.4g us", list->p[i].predicted * 1e6);
    }
    printf("\n");
}

static Loc site_loc(const Tune *t, int site) {
    const Program *p = t->base.p;
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kernel && p->node.p[i]->kernel->site == site + 1) return p->node.p[i]->loc;
    return p->loc;
}

/* The sizes in use are not those that the model would take: what the next line of `tilec tune` would measure first. */
static void slower_warn(const Tune *t, int site, const Variants *list) {
    Diags *diags = t->base.s.diags;
    double now = list->p[0].predicted, best = list->n > 1 ? list->p[1].predicted : now;
    if (!(now > SLOWER * best)) return;
    const TunedEntry *e = &list->p[1].entry;
    const char *sizes = "";
    for (int i = 0; i < e->set.n; i++)
        if (!tuned_is_fact(e->set.p[i].name))
            sizes = arena_format(t->arena, "%s%s%s = %s", sizes, *sizes ? ", " : "", e->set.p[i].name, e->set.p[i].value);
    diag_perf(diags, site_loc(t, site), "slower-sizes", "the sizes of '%s' are predicted to take %.1f times as long as %s",
              e->name, now / best, sizes);
    diag_note(diags, site_loc(t, site), "tilec tune measures them, and writes the best to a file of sizes");
}

static bool has_size(const TunedPairs *set) {
    for (int i = 0; i < set->n; i++)
        if (!tuned_is_fact(set->p[i].name)) return true;
    return false;
}

static void print_site(const Tune *t, int site) {
    int count = 0;
    const TunedSite *s = &t->base.s.sites.p[site];
    if (s->entry.program || tune_seconds(t, site) == 0 || !has_size(&s->entry.set)) return;
    Variants list = tune_kernel_variants(t, site, OTHERS, &count);
    printf("tune: '%s': ", s->entry.name);
    print_sizes(t, site);
    print_choices(s);
    printf(", %s, %.4g us of the program predicted", s->from ? "by the file of sizes" : "as written",
           list.p[0].predicted * 1e6);
    print_others(&list, count);
    slower_warn(t, site, &list);
    print_measured(s, list.p[0].predicted * 1e6);
}

void explain_sizes(const Session *s, const Program *p, int64_t *sizes) {
    Options *o = ARENA_NEW(s->arena, Options);
    *o = *s->o;
    o->program = p->name;
    /* Orders of tasks change no prediction. */
    vec_copy(s->arena, &o->off);
    vec_push(s->arena, &o->off, "remap");
    Tune t = {.o = o,
              .arena = s->arena,
              .lowered = LOWERED,
              .base = {.s = *s, .p = p, .sym = sizes, .nranks = (int)mesh_ranks(s->m)}};
    if (s->tuned) t.chosen = *s->tuned;
    for (int i = 0; i < s->sites.n; i++) print_site(&t, i);
}
