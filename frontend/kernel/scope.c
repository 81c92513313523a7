/* scope.c: the names of a kernel, one namespace without shadowing.
   Entries are a stack; a table finds the one of a name that is in scope. */
#include "frontend/kernel/scope.h"

enum { SPELLING_ERRORS = 100 }; /* a file with more is no misspelling */

typedef struct {
    int entry; /* -1: not in scope */
    Loc last;  /* where it was declared last */
} NameSlot;

struct KernScope {
    Lower *lw;
    Arena *arena;
    Diags *diags;
    VEC(Entry) entry;  /* everything in scope, innermost last */
    VEC(Entry) unread; /* variables out of scope that nothing read */
    PtrMap slot;       /* name -> NameSlot */
};

KernScope *scope_begin(Lower *lw, Arena *arena, Diags *diags) {
    KernScope *c = ARENA_NEW(arena, KernScope);
    *c = (KernScope){.lw = lw, .arena = arena, .diags = diags};
    return c;
}

static NameSlot *slot_of(const KernScope *c, Name name) { return ptrmap_get(&c->slot, name); }

static NameSlot *slot_make(KernScope *c, Name name) {
    NameSlot *s = slot_of(c, name);
    if (s) return s;
    s = ARENA_NEW(c->arena, NameSlot);
    s->entry = -1;
    ptrmap_put(c->arena, &c->slot, name, s);
    return s;
}

int scope_mark(const KernScope *c) { return c->entry.n; }

Entry *scope_entry(const KernScope *c, int at) { return &c->entry.p[at]; }

int scope_place(const KernScope *c, const Entry *e) { return (int)(e - c->entry.p); }

/* Reported at the end, if nothing else is: an expression with an error may be what reads it. */
static void unread_note(KernScope *c, const Entry *e) {
    if (e->kind == NAME_VAR && !e->read) vec_push(c->arena, &c->unread, *e);
}

void scope_report_unread(const KernScope *c) {
    for (int i = 0; i < c->unread.n; i++)
        diag_error(c->diags, c->unread.p[i].loc, "unused-value", "the value of '%s' is never read",
                   c->unread.p[i].name);
}

void scope_close(KernScope *c, int mark) {
    for (int i = mark; i < c->entry.n; i++) {
        unread_note(c, &c->entry.p[i]);
        slot_of(c, c->entry.p[i].name)->entry = -1;
    }
    c->entry.n = mark;
}

Entry *scope_find(const KernScope *c, Name name) {
    NameSlot *s = slot_of(c, name);
    return s && s->entry >= 0 ? &c->entry.p[s->entry] : NULL;
}

static const char *kind_text(NameKind k) {
    switch (k) {
    case NAME_DIM: return "a dimension";
    case NAME_ELEM: return "an element type";
    case NAME_CONST:
    case NAME_SCALAR:
    case NAME_TENSOR: return "a parameter";
    case NAME_RESULT: return "a result";
    case NAME_INOUT: return "a parameter";
    case NAME_RANGE: return "a range";
    default: return "a variable";
    }
}

static Entry *entry_push(KernScope *c, Name name, NameKind kind, Loc loc) {
    NameSlot *s = slot_make(c, name);
    s->entry = c->entry.n;
    if (kind != NAME_BROKEN) s->last = loc;
    vec_push(c->arena, &c->entry, ((Entry){.name = name, .kind = kind, .loc = loc}));
    return &vec_last(&c->entry);
}

Entry *scope_declare(KernScope *c, Name name, NameKind kind, Loc loc) {
    Entry *held = scope_find(c, name);
    if (!held) return entry_push(c, name, kind, loc);
    if (held->kind != NAME_BROKEN) {
        diag_error(c->diags, loc, "redefined", "'%s' is already %s", name, kind_text(held->kind));
        diag_note(c->diags, held->loc, "declared here; choose another name");
    }
    held->kind = NAME_BROKEN;
    return held;
}

static void nearest_note(KernScope *c, Name name, Loc loc) {
    if (c->diags->errors > SPELLING_ERRORS) return;
    const char **candidate = ARENA_ARRAY(c->arena, const char *, c->entry.n + 1);
    int n = 0;
    for (int i = 0; i < c->entry.n; i++)
        if (c->entry.p[i].kind != NAME_BROKEN) candidate[n++] = c->entry.p[i].name;
    const char *near = spelling_nearest(name, candidate, n);
    if (near) diag_suggest(c->diags, loc, name, near);
}

static void undefined_report(KernScope *c, Name name, Loc loc) {
    NameSlot *s = slot_of(c, name);
    if (!s || !s->last.file) {
        diag_error(c->diags, loc, "undefined", "'%s' is not defined", name);
        nearest_note(c, name, loc);
        return;
    }
    diag_error(c->diags, loc, "undefined", "'%s' is not defined on every path to here", name);
    diag_note(c->diags, s->last, "it is only defined inside the block here; give it a value before the block");
}

/* A name of the whole file: a dim, or a mesh axis as the number of its ranks. */
static bool global_declare(KernScope *c, Name name, Loc loc) {
    Size s;
    Found found = global_find(c->lw, name, loc, &s);
    if (found == FOUND_NOT) return false;
    entry_push(c, name, found == FOUND ? NAME_DIM : NAME_BROKEN, loc)->size = s;
    return true;
}

/* An unknown name is entered as broken, so that it is reported once. */
Entry *scope_use(KernScope *c, Name name, Loc loc) {
    Entry *e = scope_find(c, name);
    if (!e && global_declare(c, name, loc)) e = scope_find(c, name);
    if (!e) {
        undefined_report(c, name, loc);
        e = entry_push(c, name, NAME_BROKEN, loc);
    }
    e->read = true;
    return e;
}

/* ---- what is not lowered, such as the branch of a constant condition that is not taken ---- */

static void touch_args(KernScope *c, const Exprs *args) {
    for (int i = 0; i < args->n; i++) scope_touch(c, args->p[i]);
}

static void touch_name(void *ctx, const Expr *e) {
    Entry *held = e->kind == EXPR_NAME ? scope_find(ctx, e->name) : NULL;
    if (held) held->read = true;
}

void scope_touch(KernScope *c, const Expr *e) { expr_each(e, touch_name, c); }

static void touch_targets(KernScope *c, const Exprs *targets) {
    for (int i = 0; i < targets->n; i++)
        if (targets->p[i]->kind == EXPR_INDEX) touch_args(c, &targets->p[i]->args);
}

void scope_touch_all(KernScope *c, const Stmts *list) {
    for (int i = 0; i < list->n; i++) {
        const Stmt *s = list->p[i];
        touch_targets(c, &s->targets);
        scope_touch(c, s->value);
        for (int r = 0; r < s->ranges.n; r++) {
            scope_touch(c, s->ranges.p[r].lo);
            scope_touch(c, s->ranges.p[r].hi);
        }
        scope_touch_all(c, &s->body);
        scope_touch_all(c, &s->other);
        scope_touch_all(c, &s->merge_body);
    }
}
