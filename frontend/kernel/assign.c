/* assign.c: variables. The first assignment declares, later ones update; a variable's type is fixed then.
   An update may be narrower than the variable (it is repeated), never wider. */
#include "frontend/sema/familiar.h"
#include "frontend/kernel/kernel.h"

#include <string.h>

/* ---- types of variables ---- */

static bool elem_plain(Kern *c, const TypeExpr *t, Elem *e) {
    if (elem_parse(t->elem, e)) return true;
    Entry *held = scope_find(c->scope, t->elem);
    if (held && held->kind == NAME_ELEM) return *e = held->elem, true;
    diag_error(c->diags, t->loc, "undefined", "'%s' is not an element type", t->elem);
    const char *near = familiar_elem(t->elem);
    if (near) diag_suggest(c->diags, t->loc, t->elem, near);
    return false;
}

/* sum(T) is the type in which elements of T are summed. */
static bool elem_named(Kern *c, const TypeExpr *t, Elem *e) {
    if (!elem_plain(c, t, e)) return false;
    if (!t->of) return true;
    *e = elem_accum(*e);
    if (strcmp(t->of, "sum") == 0) return true;
    diag_error(c->diags, t->loc, "undefined", "'%s(%s)' is not an element type", t->of, t->elem);
    diag_note(c->diags, t->loc, "the type in which elements are summed is sum(%s)", t->elem);
    return false;
}

static bool range_missing(Kern *c, const Expr *e) {
    if (e->kind != EXPR_NAME) {
        diag_error(c->diags, e->loc, "not-a-range", "a tile's type names the ranges it has");
        return false;
    }
    diag_error(c->diags, e->loc, "not-a-range",
               "'%s' is not a range of tiles, and a tile's type names the ranges it has", e->name);
    if (!scope_find(c->scope, e->name))
        diag_note(c->diags, e->loc, "a range over all of a dimension is declared by each: %s: * of ..", e->name);
    return false;
}

static bool type_declared(Kern *c, const TypeExpr *t, Type *r) {
    *r = type_scalar(ELEM_F32);
    if (!elem_named(c, t, &r->elem)) return false;
    for (int i = 0; i < t->shape.n; i++) {
        Entry *range = range_named(c, t->shape.p[i]);
        if (!range || c->b.k->range.p[range->index].kind == RANGE_POSITION) return range_missing(c, t->shape.p[i]);
        if (!types_fit(c, *r, type_with(type_scalar(r->elem), range->index), t->loc)) return false;
        *r = type_with(*r, range->index);
    }
    return true;
}

/* A range that the variable lacks. */
static const char *widening_range(const Kern *c, Type held, Type fresh) {
    for (int i = 0; i < fresh.nrange; i++)
        if (!type_covers(held, type_with(type_scalar(fresh.elem), fresh.range[i])))
            return c->b.k->range.p[fresh.range[i]].name;
    return "..";
}

static bool covers_or_report(Kern *c, Type held, Type fresh, Name name, Loc loc) {
    if (type_covers(held, fresh)) return true;
    diag_error(c->diags, loc, "widened-update", "'%s' is %s, this is %s", name, tile_text(c, held),
               tile_text(c, fresh));
    diag_note(c->diags, loc, "declare it with all its ranges, or reduce what is assigned: sum(.., %s)",
              widening_range(c, held, fresh));
    return false;
}

/* The value as a variable of that type holds it. */
static Val fit_to(Kern *c, Val v, Type want, Name name, Loc loc) {
    Type t = val_type(c, v);
    if (v.kind == VAL_ERROR || !covers_or_report(c, want, t, name, loc)) return val_error;
    if (v.kind != VAL_TILE && type_equal(t, want)) return v;
    c->b.loc = loc;
    Value *x = val_assign(c, v, want.elem, loc, arena_format(c->arena, "'%s'", name));
    return x ? val_tile(build_broadcast(&c->b, want, x)) : val_error;
}

static void value_name(Val v, Name name) {
    if (v.kind == VAL_TILE && !v.v->name) v.v->name = name;
}

/* ---- declarations and updates ---- */

static void declare(Kern *c, const Stmt *s, const Expr *target, bool fixed) {
    Type want;
    bool typed = s->has_type, good = !typed || type_declared(c, &s->type, &want);
    Val v = expr_lower(c, s->value);
    if (good && typed) v = fit_to(c, v, want, target->name, s->value->loc);
    v.fresh_dot = false;
    value_name(v, target->name);
    Entry *e = scope_declare(c->scope, target->name, NAME_VAR, target->loc);
    if (!good || v.kind == VAL_ERROR) e->kind = NAME_BROKEN;
    if (e->kind == NAME_BROKEN) return;
    e->val = v;
    e->fixed = fixed;
    e->typed = typed;
    if (typed) e->type = want;
}

void let_lower(Kern *c, const Stmt *s) {
    if (is_view(s->value)) view_declare(c, s);
    else declare(c, s, s->targets.p[0], true);
}

Type variable_type(Kern *c, Entry *e) {
    if (!e->typed) e->type = val_type(c, e->val);
    e->typed = true;
    return e->type;
}

void variable_update(Kern *c, Entry *e, Val v, Loc loc) {
    v = fit_to(c, v, variable_type(c, e), e->name, loc);
    if (v.kind == VAL_ERROR) return;
    v.fresh_dot = false;
    value_name(v, e->name);
    e->val = v;
}

Value *variable_value(Kern *c, Entry *e) {
    Type t = variable_type(c, e);
    Value *x = val_as(c, e->val, t.elem);
    return build_broadcast(&c->b, t, x);
}

/* `acc = 0` is an integer: what is added up gives the type it should have. */
static bool update_is_mixed(Kern *c, const Stmt *s, Entry *e, Val v) {
    if (s->op == ASSIGN_SET || v.kind == VAL_ERROR || e->val.kind == VAL_ERROR) return false;
    Type held = val_type(c, e->val), fresh = val_type(c, v);
    if (held.elem != ELEM_I64 || held.nrange || !elem_is_float(fresh.elem) || v.kind == VAL_FLOAT) return false;
    fresh.elem = elem_arith(fresh.elem);
    diag_error(c->diags, s->loc, "mixed-types", "'%s' is i64, this is %s", e->name, tile_text(c, fresh));
    diag_note(c->diags, e->loc, "declare it with its type: %s: %s = ..", e->name, tile_text(c, fresh));
    e->kind = NAME_BROKEN;
    return true;
}

static void update(Kern *c, const Stmt *s, Name name) {
    Val v = expr_lower(c, s->value);
    Entry *e = scope_find(c->scope, name); /* after the value: new entries may have moved the others */
    if (update_is_mixed(c, s, e, v)) return;
    if (s->op != ASSIGN_SET) v = arith_assign(c, s->op, e->val, v, s->loc);
    variable_update(c, e, v, s->value->loc);
}

static void update_refuse(Kern *c, const Stmt *s, const Entry *held, Loc loc) {
    if (held->kind == NAME_BROKEN) return;
    if (held->kind == NAME_VAR && s->has_type)
        diag_error(c->diags, loc, "redefined", "'%s' is already a variable", held->name);
    else if (held->kind == NAME_VAR)
        diag_error(c->diags, loc, "not-assignable", "'%s' is a let: it keeps its value", held->name);
    else if (held->kind == NAME_RESULT || held->kind == NAME_INOUT) {
        diag_error(c->diags, loc, "not-assignable", "'%s' is a whole tensor, not a tile", held->name);
        diag_note(c->diags, loc, "store a tile of it: %s[..] = ..", held->name);
        return;
    } else
        diag_error(c->diags, loc, "not-assignable", "'%s' cannot be assigned", held->name);
    diag_note(c->diags, held->loc, "declared here");
}

static void name_assign(Kern *c, const Stmt *s, const Expr *target) {
    Entry *held = scope_find(c->scope, target->name);
    if (!held && s->op == ASSIGN_SET) return declare(c, s, target, false);
    if (!held) held = scope_use(c->scope, target->name, target->loc);
    if (held->kind == NAME_VAR && !held->fixed && !s->has_type) return update(c, s, target->name);
    if (held->scalar) return store_lower(c, s, target);
    update_refuse(c, s, held, target->loc);
    expr_lower(c, s->value);
}

void assign_lower(Kern *c, const Stmt *s) {
    const Expr *target = field_name(c, s->targets.p[0]);
    if (s->targets.n != 1) {
        diag_error(c->diags, s->loc, "one-target", "a statement of a kernel assigns one name");
        scope_touch(c->scope, s->value);
    } else if (target->kind == EXPR_NAME)
        name_assign(c, s, target);
    else if (target->kind == EXPR_INDEX && field_name(c, target->base)->kind == EXPR_NAME)
        store_lower(c, s, target);
    else if (target->kind != EXPR_ERROR)
        diag_error(c->diags, target->loc, "not-assignable", "this cannot be assigned");
}
