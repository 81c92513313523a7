/* callee.c: names of calls: collectives, weights in formats, kernels, programs, views, functions of elements.
   Takes a call; gives what its name stands for, in this order. */
#include "frontend/program/callee.h"

#include "frontend/program/flat.h"
#include "frontend/sema/familiar.h"
#include "frontend/sema/function.h"

#include <string.h>

static const CollInfo coll_local = {.name = "local", .suffix = "local", .takes = PLACE_S, .gives = PLACE_V};

const CollInfo coll_blocks = {.name = "blocks", .suffix = "blocks", .takes = PLACE_V, .gives = PLACE_S};

/* Other ways to see a tensor: nothing moves. */
static const CollInfo *const views[] = {&coll_local, &coll_blocks};
enum { VIEWS = sizeof views / sizeof *views };

bool coll_is_view(const CollInfo *info) { return info == &coll_local || info == &coll_blocks; }

static const CollInfo *coll_named(Name name) {
    for (int i = 0; i < COLL_COUNT; i++)
        if (strcmp(coll_info[i].name, name) == 0) return &coll_info[i];
    for (int i = 0; i < VIEWS; i++)
        if (strcmp(views[i]->name, name) == 0) return views[i];
    return NULL;
}

static const Variable *weight_of(const Scope *s, const Expr *e) {
    if (strcmp(e->name, "linear") != 0 || e->args.n != 2) return NULL;
    Name name = name_path(scope_front(s), e->args.p[1]);
    const Variable *v = name ? variable_find(s, name) : NULL;
    return v && v->format ? v : NULL;
}

static CalleeKind kind_of(const Scope *s, Name name, const Decl *d) {
    Elem elem;
    Function f;
    if (d && d->kind == DECL_KERNEL) return CALLEE_KERNEL;
    if (d && d->kind == DECL_PROGRAM) return CALLEE_PROGRAM;
    if (strcmp(name, "view") == 0) return CALLEE_VIEW;
    bool function = (function_find(name, &f) && function_is_of_elements(&f)) || elem_find(s, name, &elem);
    return function ? CALLEE_FUNCTION : CALLEE_UNKNOWN;
}

Callee callee_find(const Scope *s, const Expr *e) {
    Callee k = {.kind = CALLEE_NONE};
    if (e->kind != EXPR_CALL) return k;
    if ((k.coll = coll_named(e->name))) return k.kind = CALLEE_COLLECTIVE, k;
    if ((k.weight = weight_of(s, e))) return k.kind = CALLEE_FORMAT, k;
    k.decl = front_find(scope_front(s), e->name);
    k.kind = kind_of(s, e->name, k.decl);
    return k;
}

const Decl *callee_decl(const Scope *s, const Expr *e) {
    Callee k = callee_find(s, e);
    return k.kind == CALLEE_KERNEL || k.kind == CALLEE_PROGRAM ? k.decl : NULL;
}

static const char *coll_near(Name name) {
    const char *list[COLL_COUNT + VIEWS];
    for (int i = 0; i < COLL_COUNT + VIEWS; i++) list[i] = (i < COLL_COUNT ? &coll_info[i] : views[i - COLL_COUNT])->name;
    return spelling_nearest(name, list, COLL_COUNT + VIEWS);
}

void callee_unknown(const Scope *s, const Expr *e) {
    Front *f = scope_front(s);
    diag_error(f->diags, e->loc, "undefined", "there is no kernel '%s'", e->name);
    const char *fix = familiar_in_program(e->name);
    if (fix) {
        diag_note(f->diags, e->loc, "%s", fix);
        return;
    }
    const char *candidate[FUNCTIONS_MOST],
        *near = spelling_nearest(e->name, candidate, function_names(candidate, true));
    if (!near) near = front_near(f, e->name);
    if (!near) near = coll_near(e->name);
    if (near) diag_suggest(f->diags, e->loc, e->name, near);
}
