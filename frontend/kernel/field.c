/* field.c: fields of records: parameters whose names have dots. */
#include "frontend/kernel/kernel.h"

static Name path_of(const Kern *c, const Expr *e) {
    if (e->kind == EXPR_NAME) return e->name;
    Name base = e->kind == EXPR_FIELD ? path_of(c, e->base) : NULL;
    return base ? name_of(c->m->names, arena_format(c->arena, "%s.%s", base, e->name)) : NULL;
}

const Expr *field_name(Kern *c, const Expr *e) {
    Name path = e->kind == EXPR_FIELD ? path_of(c, e) : NULL;
    if (!path) return e;
    Expr *name = arena_copy(c->arena, e, sizeof *e);
    name->kind = EXPR_NAME;
    name->name = path;
    return name;
}
