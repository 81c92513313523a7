/* tuned.c: measured sizes of tiles in the place of written ones, for the instances that their keys fit.
   Takes: entries of a file (tuned.h). Gives: sizes, or errors in that file; and what could be tuned. */
#include "frontend/kernel/kernel.h"

#include <inttypes.h>
#include <string.h>

/* ---- which entry ---- */

/* FNV-1a over the source's text without blanks. */
static const char *source_hash(const Kern *c) {
    Loc at = c->bound->decl->span;
    const char *text = c->diags->file.p[at.file - 1].text;
    uint32_t h = 2166136261u;
    for (uint32_t i = at.begin; i < at.end; i++)
        if (!strchr(" \t\r\n", text[i])) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return arena_format(c->arena, "%08" PRIx32, h);
}

/* Expressions of programs have no names; their text is a part of the key. */
static const char *file_name(const Kern *c) {
    const Decl *d = c->bound->decl;
    return d->made ? arena_format(c->arena, "%s%s", TUNED_EXPRESSION, d->name) : d->name;
}

/* What a key's name is for this instance, as text; "": no single number; NULL: no such name. */
static const char *bound_text(const Kern *c, const char *name) {
    const Binding *b = c->bound;
    for (int i = 0; i < b->elem.n; i++)
        if (strcmp(b->elem.p[i].name, name) == 0) return elem_text(b->elem.p[i].elem);
    for (int i = 0; i < b->dim.n; i++)
        if (strcmp(b->dim.p[i].name, name) == 0)
            return size_is_number(b->dim.p[i].size) ? arena_format(c->arena, "%" PRId64, b->dim.p[i].size.c) : "";
    for (int i = 0; i < b->param.n; i++) {
        const BoundParam *p = &b->param.p[i];
        if (p->decl->is_const && strcmp(p->decl->name, name) == 0)
            return p->constant == BOUND_FLOAT ? "" : arena_format(c->arena, "%" PRId64, p->i);
    }
    return c->bound->decl->made && strcmp(name, "source") == 0 ? source_hash(c) : NULL;
}

static bool key_fits(const Kern *c, const TunedPair *p) {
    const char *text = bound_text(c, p->name);
    if (text) return strcmp(text, p->value) == 0;
    diag_error(c->diags, p->loc, "unknown-tuning", "'%s' is no dimension, element type or constant of '%s'", p->name,
               c->bound->decl->name);
    return false;
}

static bool entry_fits(const Kern *c, const TunedEntry *e) {
    bool fits =
        !e->program && strcmp(e->name, file_name(c)) == 0 && strcmp(e->target, c->lw->options->target) == 0;
    for (int i = 0; i < e->key.n && fits; i++) fits = key_fits(c, &e->key.p[i]);
    return fits;
}

const TunedEntry *tuned_entry(const Kern *c) {
    const Tuned *t = c->lw->options->tuned;
    const TunedEntry *found = NULL;
    for (int i = 0; t && i < t->n && !c->checking; i++)
        if (entry_fits(c, &t->p[i])) found = &t->p[i];
    return found;
}

/* ---- its sizes ---- */

/* What a range is called in a file: of several with one name the second is p.2. */
static const char *range_word(const Kern *c, const char *name, int before) {
    int n = 1;
    for (int i = 0; i < before; i++) n += strcmp(c->b.k->range.p[i].name, name) == 0;
    return n == 1 ? name : arena_format(c->arena, "%s.%d", name, n);
}

static const char *word_of(const Kern *c, int range) { return range_word(c, c->b.k->range.p[range].name, range); }

static const TunedPair *pair_named(const TunedEntry *e, const char *name) {
    for (int i = 0; e && i < e->set.n; i++)
        if (strcmp(e->set.p[i].name, name) == 0) return &e->set.p[i];
    return NULL;
}

bool tuned_size(Kern *c, const RangeDecl *d, Range *r) {
    const TunedPair *p = pair_named(c->tuned, range_word(c, d->name, c->b.k->range.n));
    if (!p) return true;
    if (r->kind != RANGE_TILE) {
        diag_error(c->diags, p->loc, "bad-tuning", "'%s' of '%s' has no size to choose", p->name, c->bound->decl->name);
        return false;
    }
    if (d->fixed) {
        diag_error(c->diags, p->loc, "bad-tuning", "the size of '%s' of '%s' is fixed", p->name, c->bound->decl->name);
        diag_note(c->diags, d->loc, "declared here");
        return false;
    }
    c->b.k->plan.sized = true;
    if (tuned_number(p, TILE_LIMIT, &r->size)) return true;
    diag_error(c->diags, p->at, "bad-tuning", "a tile has 1 to %d positions along a range, not '%s'", TILE_LIMIT,
               p->value);
    return false;
}

/* ---- names ---- */

static bool is_power(int64_t n) { return (n & (n - 1)) == 0; }

/* By the place of a word among those that are taken, or by a number. */
static bool split_set(Plan *c, int64_t n) { return c->parts = (int)n, n >= 1; }
static bool waves_set(Plan *c, int64_t n) { return c->waves = (int)n, n >= 1 && is_power(n); }
static bool columns_set(Plan *c, int64_t n) { return c->columns = (int)n, n >= 1; }
static bool clusters_set(Plan *c, int64_t n) { return c->clusters = (int)n, n >= 1 && is_power(n); }
static bool slices_set(Plan *c, int64_t n) { return c->slices = (int)n, n >= 1; }
static bool resident_set(Plan *c, int64_t n) { return c->resident = (int)n, n >= 1; }
static bool schedule_set(Plan *c, int64_t word) { return c->lowering = word == 0 ? LOWER_PLAIN : LOWER_OPEN, true; }
static bool pipelined_set(Plan *c, int64_t word) { return c->pipelined = word == 0 ? -1 : 1, true; }

/* Where a value is not taken: what would be. */
static const struct {
    const char *name, *takes, *word[2];
    int64_t most;
    bool (*set)(Plan *, int64_t);
} choices[] = {
    {"split", "a loop is cut into 1 to 64 parts", {0}, 64, split_set},
    {"waves", "a workgroup has 1, 2, 4, 8, 16 or 32 waves", {0}, 32, waves_set},
    {"columns", "a schedule's tile has 1 to 1024 columns", {0}, 1024, columns_set},
    {"clusters", "a cluster has 1, 2, 4 or 8 workgroups", {0}, 8, clusters_set},
    {"slices", "a cluster shares a tile in 1 to 8 slices", {0}, 8, slices_set},
    {"resident", "a processor holds 1 to 4 workgroups of roles", {0}, 4, resident_set},
    {"schedule", "schedule can be off", {"off"}, 0, schedule_set},
    {"ahead", "ahead can be on or off", {"off", "on"}, 0, pipelined_set},
};
enum { NCHOICE = sizeof choices / sizeof *choices };

static bool is_range(const Kern *c, const char *word) {
    for (int i = 0; i < c->b.k->range.n; i++)
        if (strcmp(word_of(c, i), word) == 0) return true;
    return false;
}

/* A range of that name is meant first. */
static bool choice_set(Kern *c, const TunedPair *p) {
    for (int i = 0; i < NCHOICE; i++) {
        int64_t n = -1;
        if (strcmp(choices[i].name, p->name)) continue;
        for (int w = 0; w < 2 && choices[i].word[w]; w++)
            if (strcmp(choices[i].word[w], p->value) == 0) n = w;
        bool known = choices[i].most ? tuned_number(p, choices[i].most, &n) : n >= 0;
        if (!known || !choices[i].set(&c->b.k->plan, n))
            diag_error(c->diags, p->at, "bad-tuning", "%s, not '%s'", choices[i].takes, p->value);
        return true;
    }
    return false;
}

static void report_unknown(const Kern *c, const TunedPair *p) {
    const char **list = ARENA_ARRAY(c->arena, const char *, c->b.k->range.n + 1);
    for (int i = 0; i < c->b.k->range.n; i++) list[i] = word_of(c, i);
    const char *near = spelling_nearest(p->name, list, c->b.k->range.n);
    diag_error(c->diags, p->loc, "unknown-tuning", "'%s' is no range of '%s'", p->name, c->bound->decl->name);
    if (near)
        diag_note(c->diags, p->loc, "did you mean '%s'?", near);
    else
        diag_note(c->diags, p->loc,
                  "beside ranges there are split, waves, columns, clusters, slices, resident, schedule and ahead");
}

static void check_source(const Kern *c) {
    const TunedPair *p = pair_named(c->tuned, "source");
    if (!p || strcmp(p->value, source_hash(c)) == 0) return;
    diag_warning(c->diags, p->loc, "stale-tuning", "'%s' differs from what was measured", c->bound->decl->name);
    diag_note(c->diags, p->loc, "measure again with tilec tune");
}

static void pair_check(Kern *c, const TunedPair *p) {
    if (!tuned_is_fact(p->name) && !is_range(c, p->name) && !choice_set(c, p)) report_unknown(c, p);
}

void tuned_check(Kern *c) {
    if (!c->tuned) return;
    for (int i = 0; i < c->tuned->set.n; i++) pair_check(c, &c->tuned->set.p[i]);
    check_source(c);
}

/* ---- what could be tuned ---- */

static void site_key(const Kern *c, TunedPairs *to, const char *name) {
    const char *text = bound_text(c, name);
    if (text && *text) vec_push(c->arena, to, ((TunedPair){.name = name, .value = text}));
}

static void site_sizes(Kern *c, TunedSite *s) {
    for (int i = 0; i < c->b.k->range.n; i++) {
        const Range *r = &c->b.k->range.p[i];
        TunedPairs *to = r->tunable ? &s->entry.set : &s->fixed;
        const char *size = arena_format(c->arena, "%" PRId64, r->size);
        if (r->kind == RANGE_TILE)
            vec_push(c->arena, to, ((TunedPair){.name = word_of(c, i), .value = size, .loc = r->loc}));
    }
}

void tuned_site(Kern *c) {
    const Binding *b = c->bound;
    TunedSites *sites = c->lw->options->sites;
    if (!sites) return;
    TunedSite s = {.entry = {.name = file_name(c), .target = c->lw->options->target}, .from = c->tuned};
    if (b->decl->made) site_key(c, &s.entry.key, "source");
    for (int i = 0; i < b->elem.n; i++) site_key(c, &s.entry.key, b->elem.p[i].name);
    for (int i = 0; i < b->dim.n; i++) site_key(c, &s.entry.key, b->dim.p[i].name);
    for (int i = 0; i < b->param.n; i++)
        if (b->param.p[i].decl->is_const) site_key(c, &s.entry.key, b->param.p[i].decl->name);
    site_sizes(c, &s);
    if (!b->decl->made) vec_push(c->arena, &s.entry.set, ((TunedPair){.name = "source", .value = source_hash(c)}));
    vec_push(c->arena, sites, s);
    c->b.k->site = sites->n;
}
