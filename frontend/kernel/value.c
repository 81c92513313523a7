/* value.c: values of expressions, from numbers and affine sums to operations.
   Constants take the type of what they meet; operations are made when a value is asked for. */
#include "frontend/kernel/kernel.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const Val val_error = {.kind = VAL_ERROR};

Val val_int(int64_t i) { return (Val){.kind = VAL_INT, .i = i}; }
Val val_float(double f) { return (Val){.kind = VAL_FLOAT, .f = f}; }
Val val_bool(bool b) { return (Val){.kind = VAL_BOOL, .i = b}; }
Val val_tile(Value *v) { return v ? (Val){.kind = VAL_TILE, .v = v} : val_error; }

static Val val_typed(Val v, Elem e) {
    v.converted = true;
    v.elem = e;
    return v;
}

/* Positions and extents are i64 also where they are known. */
Val val_index(Kern *c, Affine a) {
    if (affine_is_const(&a)) return val_typed(val_int(a.c), ELEM_I64);
    return (Val){.kind = VAL_INDEX, .index = arena_copy(c->arena, &a, sizeof a)};
}

bool val_is_const(Val v) { return v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_BOOL; }

Type val_type(const Kern *c, Val v) {
    if (v.converted) return type_scalar(v.elem);
    switch (v.kind) {
    case VAL_FLOAT: return type_scalar(ELEM_F32);
    case VAL_BOOL: return type_scalar(ELEM_BOOL);
    case VAL_INDEX: return affine_type(c->b.k, v.index);
    case VAL_TILE: return v.v->type;
    default: return type_scalar(ELEM_I64);
    }
}

Value *val_value(Kern *c, Val v) {
    switch (v.kind) {
    case VAL_ERROR: return NULL;
    case VAL_INT: return build_const_i(&c->b, ELEM_I64, v.i);
    case VAL_FLOAT: return build_const_f(&c->b, ELEM_F32, v.f);
    case VAL_BOOL: return build_const_i(&c->b, ELEM_BOOL, v.i);
    case VAL_INDEX: return index_value(c, v.index);
    case VAL_TILE: return v.v;
    }
    return NULL;
}

Value *val_as(Kern *c, Val v, Elem e) {
    if (v.kind == VAL_INT && elem_is_float(e) && elem_bits(e) >= 32) return build_const_f(&c->b, e, (double)v.i);
    if (v.kind == VAL_FLOAT && elem_is_float(e) && elem_bits(e) >= 32) return build_const_f(&c->b, e, v.f);
    if (v.kind == VAL_INT && elem_is_int(e) && elem_bits(e) >= 8 && elem_holds(e, v.i))
        return build_const_i(&c->b, e, v.i);
    bool narrow_float = v.kind == VAL_INT && elem_is_float(e);
    Value *x = narrow_float ? build_const_f(&c->b, ELEM_F32, (double)v.i) : val_value(c, v);
    return x ? build_cast(&c->b, e, x) : NULL;
}

/* Truth of a number is that it is not 0. */
static Val convert_to_bool(Kern *c, Val v) {
    if (v.kind == VAL_INT || v.kind == VAL_FLOAT) return val_bool(v.kind == VAL_INT ? v.i != 0 : v.f != 0);
    Value *x = val_value(c, v);
    if (x->type.elem == ELEM_BOOL) return v;
    x = build_cast(&c->b, elem_arith(x->type.elem), x);
    return val_tile(build_binary(&c->b, OP_NE, x, val_as(c, val_int(0), x->type.elem)));
}

Val val_convert(Kern *c, Val v, Elem e) {
    if (v.kind == VAL_ERROR) return v;
    if (e == ELEM_BOOL) return convert_to_bool(c, v);
    if (v.kind == VAL_INT && (e == ELEM_F32 || e == ELEM_F64))
        return val_typed(val_float(e == ELEM_F32 ? (float)v.i : (double)v.i), e);
    if (v.kind == VAL_FLOAT && (e == ELEM_F32 || e == ELEM_F64))
        return val_typed(val_float(e == ELEM_F32 ? (float)v.f : v.f), e);
    if (v.kind == VAL_INT && elem_is_int(e) && elem_holds(e, v.i)) return val_typed(val_int(v.i), e);
    if (v.kind == VAL_INDEX && e == ELEM_I64) return v;
    return val_tile(val_as(c, v, e));
}

const char *tile_text(Kern *c, Type t) {
    char s[512];
    size_t n = (size_t)snprintf(s, sizeof s, "%s", elem_text(t.elem));
    for (int i = 0; i < t.nrange && n < sizeof s; i++)
        n += (size_t)snprintf(s + n, sizeof s - n, "%s%s", i ? ", " : "[", c->b.k->range.p[t.range[i]].name);
    if (t.nrange && n < sizeof s) snprintf(s + n, sizeof s - n, "]");
    return arena_text(c->arena, s, strlen(s));
}

/* ---- which types go together ---- */

typedef enum { KIND_FLOAT, KIND_INT, KIND_BOOL } ElemKind;

static ElemKind elem_kind(Elem e) { return elem_is_float(e) ? KIND_FLOAT : e == ELEM_BOOL ? KIND_BOOL : KIND_INT; }

static bool is_silent(Val v) { return val_is_const(v) && !v.converted; }

/* A literal is silent about its type where others speak. */
static bool val_adapts(Val v, ElemKind to) {
    return (v.kind == VAL_FLOAT && to == KIND_FLOAT) ||
           (v.kind == VAL_INT && (to == KIND_INT || (v.literal && to == KIND_FLOAT)));
}

static void mixed_report(Kern *c, Elem a, Elem b, Loc loc) {
    diag_error(c->diags, loc, "mixed-types", "%s and %s are mixed", elem_text(a), elem_text(b));
    if (elem_kind(a) == KIND_BOOL || elem_kind(b) == KIND_BOOL)
        diag_note(c->diags, loc, "choose numbers by a condition: where(c, x, y)");
    else
        diag_note(c->diags, loc, "convert the %s: %s(..)%s", elem_text(elem_is_float(a) ? b : a), elem_text(elem_is_float(a) ? a : b),
                  a == ELEM_I64 || b == ELEM_I64 ? "; positions and dimensions are i64" : "");
}

static bool unify_constants(const Val *v, int n, Elem *e) {
    *e = ELEM_COUNT;
    for (int i = 0; i < n; i++)
        if (v[i].kind == VAL_FLOAT) *e = ELEM_F32;
    for (int i = 0; i < n && *e == ELEM_COUNT; i++)
        if (v[i].kind == VAL_INT) *e = ELEM_I64;
    if (*e == ELEM_COUNT) *e = ELEM_BOOL;
    return true;
}

bool vals_unify(Kern *c, const Val *v, int n, Elem *e, Loc loc) {
    bool known = false;
    for (int i = 0; i < n; i++) {
        if (v[i].kind == VAL_ERROR) return false;
        if (is_silent(v[i])) continue;
        Elem x = val_type(c, v[i]).elem;
        if (known && elem_kind(x) != elem_kind(*e)) return mixed_report(c, *e, x, loc), false;
        *e = known ? elem_wider(*e, elem_arith(x)) : elem_arith(x);
        known = true;
    }
    if (!known) unify_constants(v, n, e);
    for (int i = 0; i < n; i++) {
        Elem x = val_type(c, v[i]).elem;
        if (!is_silent(v[i]) || val_adapts(v[i], elem_kind(*e)) || elem_kind(x) == elem_kind(*e)) continue;
        return mixed_report(c, *e, x, loc), false;
    }
    for (int i = 0; i < n; i++)
        if (elem_is_int(*e) && v[i].kind == VAL_INT) *e = elem_to_hold(*e, v[i].i);
    return true;
}

bool types_fit(Kern *c, Type a, Type b, Loc loc) {
    int n = a.nrange;
    for (int i = 0; i < b.nrange; i++) n += !type_has(a, b.range[i]);
    if (n <= SOURCE_RANGES) return true;
    diag_error(c->diags, loc, "too-many-ranges", "this tile has %d ranges, at most %d are possible", n, SOURCE_RANGES);
    return false;
}

/* ---- assignment ---- */

/* Kernels that the compiler makes of expressions have names that the source does not. */
static void assign_report(Kern *c, Elem is, Elem want, Loc loc, const char *what) {
    if (c->bound->decl->made)
        diag_error(c->diags, loc, "mixed-types", "%s is expected here, this is %s", elem_text(want), elem_text(is));
    else
        diag_error(c->diags, loc, "mixed-types", "%s has element type %s, this is %s", what, elem_text(want),
                   elem_text(is));
    diag_note(c->diags, loc, "convert: %s(x)", elem_text(want));
}

Value *val_assign(Kern *c, Val v, Elem want, Loc loc, const char *what) {
    if (v.kind == VAL_ERROR) return NULL;
    Elem is = val_type(c, v).elem;
    bool fits = elem_kind(is) == elem_kind(want) || val_adapts(v, elem_kind(want));
    if (v.kind == VAL_INT && v.literal && elem_is_int(want)) fits = elem_holds(want, v.i);
    if (fits) return val_as(c, v, want);
    if (v.kind == VAL_INT && elem_is_int(want))
        diag_error(c->diags, loc, "mixed-types", "%s has element type %s, which does not hold %" PRId64, what,
                   elem_text(want), v.i);
    else
        assign_report(c, is, want, loc, what);
    return NULL;
}
