/* lower.c: the front end in order: read, dims, meshes, programs, kernels, verify.
   Takes a path and options; gives a verified module in value form, or errors. */
#include "frontend/sema/const.h"
#include "frontend/sema/unit.h"

#include <inttypes.h>
#include <string.h>

enum { RANKS_LIMIT = 1024 };

/* ---- what the command line says ---- */

static const Decl *decl_named(const Front *f, const char *name, bool (*is)(const Decl *)) {
    for (int i = 0; i < f->own.n; i++)
        if (is(f->own.p[i]) && strcmp(f->own.p[i]->name, name) == 0) return f->own.p[i];
    return NULL;
}

static const char *near_named(const Front *f, const char *name, bool (*is)(const Decl *)) {
    const char **list = ARENA_ARRAY(f->arena, const char *, f->own.n + 1);
    int n = 0;
    for (int i = 0; i < f->own.n; i++)
        if (is(f->own.p[i])) list[n++] = f->own.p[i]->name;
    return spelling_nearest(name, list, n);
}

static bool is_number(const Decl *d) { return d->kind == DECL_DIM || d->kind == DECL_MESH; }
static bool is_program(const Decl *d) { return d->kind == DECL_PROGRAM; }

static void named_check(Front *f, const char *name, bool (*is)(const Decl *), const char *id, const char *what) {
    if (decl_named(f, name, is)) return;
    diag_error(f->diags, (Loc){0}, id, "%s '%s' is not declared", what, name);
    const char *near = near_named(f, name, is);
    if (near) diag_note(f->diags, (Loc){0}, "did you mean '%s'?", near);
}

static void options_check(Front *f) {
    const LowerOptions *o = f->lower.options;
    for (int i = 0; i < o->ndefine; i++) named_check(f, o->define[i].name, is_number, "unknown-define", "-D: dim");
    if (o->program) named_check(f, o->program, is_program, "unknown-program", "program");
}

/* ---- dims and meshes ---- */

static void axis_add(Front *f, const Decl *d) {
    Size s;
    Module *m = f->lower.m;
    if (global_find(&f->lower, d->name, d->loc, &s) != FOUND) return;
    if (!size_is_number(s) || s.c < 1 || s.c > RANKS_LIMIT)
        diag_error(f->diags, d->loc, "bad-mesh", "a mesh axis has 1 to %d ranks", RANKS_LIMIT);
    else if (m->axis.n == MAX_AXES)
        diag_error(f->diags, d->loc, "too-many-axes", "a mesh has at most %d axes", MAX_AXES);
    else if (mesh_ranks(m) * s.c > MAX_RANKS)
        diag_error(f->diags, d->loc, "bad-mesh", "the axes make %" PRId64 " ranks, at most %d are possible", mesh_ranks(m) * s.c, MAX_RANKS);
    else
        vec_push(m->arena, &m->axis, ((Axis){.name = d->name, .ranks = s.c, .loc = d->loc}));
}

static void ranks_check(Front *f, int axes) {
    int64_t ranks = f->lower.options->ranks;
    if (ranks <= 1 || axes == 1) return;
    diag_error(f->diags, (Loc){0}, "ranks", "--ranks=%" PRId64 " needs a file with one mesh axis, this one has %d",
               ranks, axes);
    diag_note(f->diags, (Loc){0}, axes ? "set each axis with -D NAME=N" : "declare one: mesh tp = %" PRId64 ";", ranks);
}

static void numbers_evaluate(Front *f) {
    int axes = 0;
    for (int i = 0; i < f->own.n; i++) {
        const Decl *d = f->own.p[i];
        Size s;
        if (d->kind == DECL_DIM) global_find(&f->lower, d->name, d->loc, &s);
        if (d->kind == DECL_MESH) axis_add(f, d), axes++;
        if (d->kind == DECL_FORMAT) format_check(f, d);
    }
    ranks_check(f, axes);
}

/* ---- programs and kernels ---- */

static void call_note(void *ctx, const Expr *e) {
    Front *f = ctx;
    if (e->kind == EXPR_CALL) ptrmap_put(f->arena, &f->called, e->name, (void *)e);
}

/* A program whose names only a call binds is none of its own, unless nothing calls it: then its head is reported. */
static bool is_entry(Front *f, const Decl *d) {
    if (!is_program(d)) return false;
    return !program_called_only(f, d) || (!ptrmap_get(&f->called, d->name) && d->loc.file == f->file);
}

static void entry_lower(Front *f, const Decl *d) {
    int before = f->diags->errors;
    program_lower(f, d);
    if (f->diags->errors > before && program_called_only(f, d))
        diag_note(f->diags, d->loc, "no program calls '%s', which would bind names of its own", d->name);
}

static void programs_lower(Front *f) {
    const char *only = f->lower.options->program;
    for (int i = 0; i < f->own.n; i++) stmts_each_value(&f->own.p[i]->body, call_note, f);
    for (int i = 0; i < f->own.n; i++)
        if (only ? is_program(f->own.p[i]) && strcmp(f->own.p[i]->name, only) == 0 : is_entry(f, f->own.p[i]))
            entry_lower(f, f->own.p[i]);
    for (int i = 0; i < f->own.n; i++)
        if (f->own.p[i]->kind == DECL_KERNEL) kernel_check(&f->lower, decl_flat(f, f->own.p[i]));
}

/* An instance that a call gave up for another is not part of the module. */
static void kernels_prune(Module *m) {
    bool *used = ARENA_ARRAY(m->arena, bool, m->kernel.n + 1);
    for (int i = 0; i < m->program.n; i++)
        for (int k = 0; k < m->program.p[i]->node.n; k++)
            if (m->program.p[i]->node.p[k]->kernel) used[m->program.p[i]->node.p[k]->kernel->id] = true;
    int n = 0;
    for (int i = 0; i < m->kernel.n; i++)
        if (used[i]) m->kernel.p[n] = m->kernel.p[i], m->kernel.p[n]->id = n, n++;
    m->kernel.n = n;
}

Module *lower_file(Arena *arena, Names *names, Diags *diags, const char *path, const LowerOptions *options,
                   Paths *files) {
    Front *f = ARENA_NEW(arena, Front);
    *f = (Front){.arena = arena, .names = names, .diags = diags, .files = files};
    f->lower.m = module_new(arena, names, diags);
    f->lower.options = options;
    if (!front_read(f, path)) return NULL;
    options_check(f);
    numbers_evaluate(f);
    if (diags->errors == 0) programs_lower(f);
    if (diags->errors == 0) programs_tuned(f);
    if (diags->errors) return NULL;
    Module *m = f->lower.m;
    kernels_prune(m);
    for (int i = 0; i < m->program.n; i++) program_dims(m, m->program.p[i]);
    return module_verify(m) ? m : NULL;
}
