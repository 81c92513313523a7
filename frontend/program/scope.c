/* scope.c: variables in blocks and bodies, and the dims and element types that a body's head names.
   Takes declarations in the order of the statements; gives what a name stands for where it is asked. */
#include "frontend/program/scope.h"

typedef struct Body Body;
struct Body {
    const Decl *decl;
    const Binding *bound; /* NULL: the program itself */
    int base;             /* of its variables */
    PtrMap var_of;        /* name -> index of the variable + 1 */
    Body *outer;
};

struct Scope {
    Front *f;
    VEC(Variable *) var;
    Body *body;
    int bodies;
};

static void body_push(Scope *s, const Decl *d, const Binding *bound) {
    Body *b = ARENA_NEW(s->f->arena, Body);
    *b = (Body){.decl = d, .bound = bound, .base = s->var.n, .outer = s->body};
    s->body = b;
}

Scope *scope_new(Front *f, const Decl *program) {
    Scope *s = ARENA_NEW(f->arena, Scope);
    *s = (Scope){.f = f};
    body_push(s, program, NULL);
    return s;
}

Front *scope_front(const Scope *s) { return s->f; }

/* ---- blocks ---- */

int block_begin(const Scope *s) { return s->var.n; }

void variable_unread(const Scope *s, const Variable *v) {
    if (v->read || !v->made || v->value.kind == PROG_ERROR) return;
    diag_error(s->f->diags, v->loc, "unused-value", "the value of '%s' is never read", v->name);
}

void block_end(Scope *s, int mark) {
    for (; s->var.n > mark; s->var.n--) {
        const Variable *v = vec_last(&s->var);
        if (v->value.kind != PROG_NUMBER) variable_unread(s, v);
        ptrmap_put(s->f->arena, &s->body->var_of, v->name, NULL);
    }
}

/* ---- bodies ---- */

void body_begin(Scope *s, const Decl *d, const Binding *bound) {
    body_push(s, d, bound);
    s->bodies++;
}

void body_end(Scope *s) {
    s->var.n = s->body->base;
    s->body = s->body->outer;
}

int bodies_begun(const Scope *s) { return s->bodies; }

bool body_is_called(const Scope *s) { return s->body->bound != NULL; }

bool body_is_open(const Scope *s, const Decl *d) {
    const Body *b = s->body;
    while (b->bound && b->decl->body.p != d->body.p) b = b->outer; /* a call's head may be its own */
    return b->bound != NULL;
}

const Decl *body_decl(const Scope *s) { return s->body->decl; }

Loc body_call(const Scope *s, Loc otherwise) { return s->body->bound ? s->body->bound->call : otherwise; }

void body_check(const Scope *s) {
    for (int i = s->body->base; i < s->var.n; i++) {
        const Variable *v = s->var.p[i];
        if (v->output && !v->made) {
            diag_error(s->f->diags, v->loc, "output-not-assigned", "%sthe output '%s' is never assigned",
                       v->part.n ? "a part of " : "", v->name);
            diag_note(s->f->diags, v->loc, "assign it once: %s = ..;", v->name);
        } else if (!v->output && !v->state)
            variable_unread(s, v);
    }
}

/* ---- variables ---- */

Variable *variable_change(Scope *s, Name name) {
    size_t at = (size_t)ptrmap_get(&s->body->var_of, name);
    return at ? s->var.p[at - 1] : NULL;
}

const Variable *variable_find(const Scope *s, Name name) {
    size_t at = (size_t)ptrmap_get(&s->body->var_of, name);
    return at ? s->var.p[at - 1] : NULL;
}

Variable *variable_new(Scope *s, Variable v) {
    vec_push(s->f->arena, &s->var, arena_copy(s->f->arena, &v, sizeof v));
    ptrmap_put(s->f->arena, &s->body->var_of, v.name, (void *)(size_t)s->var.n);
    return vec_last(&s->var);
}

bool value_is_fixed(const Scope *s, const ProgValue *v) {
    for (int i = s->body->base; body_is_called(s) && i < s->var.n; i++)
        if (s->var.p[i]->fixed && value_overlaps(&s->var.p[i]->value, v)) return true;
    return false;
}

int variable_count(const Scope *s) { return s->var.n; }

int variable_base(const Scope *s) { return s->body->base; }

Variable *variable_at(const Scope *s, int i) { return s->var.p[i]; }

Variables variables_copy(const Scope *s, int mark) {
    Variables r = {0};
    for (int i = mark; i < s->var.n; i++) vec_push(s->f->arena, &r, *s->var.p[i]);
    return r;
}

void variables_restore(Scope *s, const Variables *from) {
    for (int i = 0; i < from->n; i++) *s->var.p[i] = from->p[i];
}

/* ---- dims and element types ---- */

bool dim_of_head(const Scope *s, Name name, Size *size) {
    const Binding *bound = s->body->bound;
    for (int i = 0; bound && i < bound->dim.n; i++)
        if (bound->dim.p[i].name == name) return *size = bound->dim.p[i].size, true;
    return false;
}

Found dim_find(const Scope *s, Name name, Loc loc, Size *size) {
    return dim_of_head(s, name, size) ? FOUND : global_find(&s->f->lower, name, loc, size);
}

bool elem_find(const Scope *s, Name name, Elem *e) {
    const Binding *bound = s->body->bound;
    for (int i = 0; bound && i < bound->elem.n; i++)
        if (bound->elem.p[i].name == name) return *e = bound->elem.p[i].elem, true;
    return elem_parse(name, e);
}
