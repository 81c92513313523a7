/* tuned.c: entries of a file of measured sizes that name programs, and names that nothing has.
   Takes: lowered programs. Gives: their number of workers and the forms of their collectives. */
#include "frontend/sema/const.h"
#include "frontend/sema/unit.h"
#include "ir/text/print.h"

#include <inttypes.h>
#include <string.h>

enum { WORKERS_LIMIT = 4096 };

static const Decl *global_named(const Front *f, const char *name) {
    for (int i = 0; i < f->own.n; i++) {
        const Decl *d = f->own.p[i];
        if ((d->kind == DECL_DIM || d->kind == DECL_MESH) && strcmp(d->name, name) == 0) return d;
    }
    return NULL;
}

/* "": no single number. */
static const char *global_text(Front *f, const Decl *d) {
    Size s;
    if (global_find(&f->lower, d->name, d->loc, &s) != FOUND || !size_is_number(s)) return "";
    return arena_format(f->arena, "%" PRId64, s.c);
}

static bool key_fits(Front *f, const TunedEntry *e, const TunedPair *p) {
    const Decl *d = global_named(f, p->name);
    if (d) return strcmp(global_text(f, d), p->value) == 0;
    diag_error(f->diags, p->loc, "unknown-tuning", "'%s' is no dim or mesh axis of the program '%s'", p->name, e->name);
    return false;
}

static void comm_set(Front *f, Program *p, const TunedPair *s) {
    for (int form = 0; form < TEXT_FORMS; form++) {
        if (strcmp(text_form[form], s->value)) continue;
        for (int i = 0; i < p->node.n; i++)
            if (p->node.p[i]->kind == NODE_COLLECTIVE) p->node.p[i]->form = (CommForm)form;
        return;
    }
    diag_error(f->diags, s->at, "bad-tuning", "comm is auto, unfused, pull, staged, push or packet, not '%s'",
               s->value);
}

static void workers_set(Front *f, Program *p, const TunedPair *s) {
    int64_t n;
    if (tuned_number(s, WORKERS_LIMIT, &n))
        p->workers = (int)n;
    else
        diag_error(f->diags, s->at, "bad-tuning", "a run has 1 to %d workers, not '%s'", WORKERS_LIMIT, s->value);
}

static const struct {
    const char *name;
    void (*set)(Front *, Program *, const TunedPair *); /* NULL: a fact, which changes nothing */
} knobs[] = {{"comm", comm_set}, {"workers", workers_set}, {"measured_us", NULL}, {"written_us", NULL}};

static void pair_set(Front *f, Program *p, const TunedPair *s) {
    for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++)
        if (strcmp(knobs[i].name, s->name) == 0) {
            if (knobs[i].set) knobs[i].set(f, p, s);
            return;
        }
    diag_error(f->diags, s->loc, "unknown-tuning", "a program has no '%s' to choose", s->name);
    diag_note(f->diags, s->loc, "there are workers and comm");
}

static void program_set(Front *f, Program *p, const TunedEntry *e) {
    bool fits = strcmp(p->name, e->name) == 0;
    for (int i = 0; i < e->key.n && fits; i++) fits = key_fits(f, e, &e->key.p[i]);
    for (int i = 0; i < e->set.n && fits; i++) pair_set(f, p, &e->set.p[i]);
}

static void report_unknown(Front *f, const TunedEntry *e) {
    const char *near = front_near(f, name_of(f->names, e->name)), *what = e->program ? "program" : "kernel";
    diag_error(f->diags, e->loc, "unknown-tuning", "there is no %s '%s'", what, e->name);
    if (near) diag_note(f->diags, e->loc, "did you mean '%s'?", near);
}

/* One that is gone, or was changed, is none any more. */
static bool names_expression(const TunedEntry *e) {
    return !e->program && strncmp(e->name, TUNED_EXPRESSION, strlen(TUNED_EXPRESSION)) == 0;
}

static void entries_apply(Front *f) {
    const LowerOptions *o = f->lower.options;
    for (int i = 0; o->tuned && i < o->tuned->n; i++) {
        const TunedEntry *e = &o->tuned->p[i];
        if (strcmp(e->target, o->target) || names_expression(e)) continue;
        const Decl *d = front_find(f, name_of(f->names, e->name));
        if (!d || d->kind != (e->program ? DECL_PROGRAM : DECL_KERNEL)) report_unknown(f, e);
        for (int k = 0; e->program && k < f->lower.m->program.n; k++) program_set(f, f->lower.m->program.p[k], e);
    }
}

static void site_add(Front *f, const Program *p) {
    TunedSite s = {.entry = {.program = true, .name = p->name, .target = f->lower.options->target}};
    for (int i = 0; i < f->own.n; i++) {
        const Decl *d = f->own.p[i];
        if (d->kind != DECL_DIM && d->kind != DECL_MESH) continue;
        const char *text = global_text(f, d);
        if (*text) vec_push(f->arena, &s.entry.key, ((TunedPair){.name = d->name, .value = text}));
    }
    vec_push(f->arena, f->lower.options->sites, s);
}

void programs_tuned(Front *f) {
    entries_apply(f);
    for (int i = 0; f->lower.options->sites && i < f->lower.m->program.n; i++) site_add(f, f->lower.m->program.p[i]);
}
