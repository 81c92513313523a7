/* assertion.c: the message of an assertion that does not hold.
   Takes the statement and the values of names; gives an error that shows the condition as written. */
#include "frontend/sema/assertion.h"
#include "frontend/syntax/ast_print.h"

typedef struct {
    Arena *arena;
    const char *text; /* "m = 7, h = 5" */
    NameList seen;
    NameValue *value;
    void *ctx;
} Values;

static bool is_seen(const Values *v, Name name) {
    for (int i = 0; i < v->seen.n; i++)
        if (v->seen.p[i] == name) return true;
    return false;
}

static void value_add(void *ctx, const Expr *e) {
    Values *v = ctx;
    if (e->kind != EXPR_NAME || is_seen(v, e->name)) return;
    vec_push(v->arena, &v->seen, e->name);
    const char *value = v->value(v->ctx, e);
    if (value) v->text = arena_format(v->arena, "%s%s%s = %s", v->text, *v->text ? ", " : "", e->name, value);
}

static const char *condition_text(Diags *d, const Stmt *s) {
    Text text = {0};
    ast_print_expr((Writer){&text, &d->file.p[s->loc.file - 1]}, s->value);
    const char *kept = arena_text(d->arena, text.p, text.n);
    text_free(&text);
    return kept;
}

void assertion_failed(Diags *d, const Stmt *s, const Decl *of, Loc call, NameValue *value, void *ctx) {
    Values v = {.arena = d->arena, .text = "", .value = value, .ctx = ctx};
    expr_each(s->value, value_add, &v);
    diag_error(d, s->loc, "assertion", "%s needs %s%s%s", of->name, condition_text(d, s), *v.text ? ", and " : "", v.text);
    if (call.file == s->loc.file && call.begin != s->loc.begin) diag_note(d, call, "%s is called here", of->name);
}

void assertion_unknown(Diags *d, const Stmt *s, const Decl *of, Loc call) {
    diag_warning(d, call, "assertion-unchecked", "%s needs %s, which nothing checks: only a run knows it", of->name,
                 condition_text(d, s));
    diag_note(d, s->loc, "asserted here");
}
