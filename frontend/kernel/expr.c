/* expr.c: expressions of kernels: names, numbers, operators, conditions. */
#include "frontend/sema/familiar.h"
#include "frontend/kernel/kernel.h"

#include <math.h>
#include <string.h>

/* ---- names ---- */

static Val dim_value(Kern *c, const Entry *e) {
    Size s = c->local_dims ? e->size : size_whole(e->size);
    if (s.axis >= 0) c->bound_dim = s;
    return val_index(c, affine_size(s));
}

/* A scalar argument is read once, at the head of the kernel. */
static Val scalar_value(Kern *c, Entry *e) {
    if (e->val.kind == VAL_TILE) return e->val;
    Builder head = c->b;
    head.at = c->b.k->body;
    head.loc = e->loc;
    Value *v = build_load(&head, e->index, NULL, 0);
    v->name = e->name;
    Op *at = c->head ? c->head->next : head.at->first;
    if (at && at != v->def) {
        op_remove(v->def);
        op_insert_before(at, v->def);
    }
    c->head = v->def;
    return e->val = val_tile(v);
}

static Val range_value(Kern *c, const Entry *e, Loc loc) {
    if (c->in_index || c->b.k->range.p[e->index].kind == RANGE_POSITION)
        return val_index(c, affine_term(TERM_POS, e->index, 1, 1));
    diag_error(c->diags, loc, "range-as-value", "the range '%s' is used as a value", e->name);
    diag_note(c->diags, loc, "its positions are pos(%s); its first is begin(%s), one past its last end(%s)", e->name,
              e->name, e->name);
    return val_error;
}

static Val name_refuse(Kern *c, const Entry *e, Loc loc) {
    if (e->kind == NAME_ELEM)
        diag_error(c->diags, loc, "type-as-value", "'%s' is an element type, not a value", e->name);
    else {
        diag_error(c->diags, loc, "tensor-as-value", "'%s' is a whole tensor, not a tile", e->name);
        diag_note(c->diags, loc, "read a tile of it: %s[..]", e->name);
    }
    return val_error;
}

static Val name_lower(Kern *c, const Expr *e) {
    Entry *held = scope_use(c->scope, e->name, e->loc);
    switch (held->kind) {
    case NAME_BROKEN: return val_error;
    case NAME_DIM: return dim_value(c, held);
    case NAME_CONST:
    case NAME_VAR: return held->val;
    case NAME_SCALAR: return scalar_value(c, held);
    case NAME_RANGE: return range_value(c, held, e->loc);
    case NAME_RESULT: return held->scalar ? load_lower(c, e) : name_refuse(c, held, e->loc);
    default: return name_refuse(c, held, e->loc);
    }
}

/* ---- operators ---- */

/* A constant side of && or || decides, or leaves the other. */
static bool logic_shortcut(Kern *c, const Expr *e, Val x, Val *r) {
    if (x.kind != VAL_BOOL || (e->op != AST_AND && e->op != AST_OR)) return false;
    bool decides = (e->op == AST_OR) == (x.i != 0);
    if (decides) scope_touch(c->scope, e->rhs);
    *r = decides ? x : expr_lower(c, e->rhs);
    return true;
}

static Val binary_lower(Kern *c, const Expr *e) {
    Val r, x = expr_lower(c, e->lhs);
    if (logic_shortcut(c, e, x, &r)) return r;
    Val y = expr_lower(c, e->rhs);
    return e->op == AST_AT ? arith_matmul(c, x, y, e->loc) : arith_binary(c, e->op, x, y, e->loc);
}

/* An expression of a program has no ranges of its own that could be named. */
static Val condition_wide(Kern *c, Type t, Loc loc) {
    bool made = c->bound->decl->made;
    const char *what = made ? "tensor" : arena_format(c->arena, "tile, %s", tile_text(c, t));
    diag_error(c->diags, loc, "tile-condition", "this condition is a %s: it decides element by element", what);
    diag_note(c->diags, loc, "choose elements with where(condition, x, y)%s",
              made ? "" : ", or reduce it with any or all");
    return val_error;
}

Val condition_lower(Kern *c, const Expr *e) {
    bool outer = c->local_dims;
    c->local_dims = false;
    Val v = expr_lower(c, e);
    c->local_dims = outer;
    if (v.kind == VAL_ERROR || v.kind == VAL_BOOL) return v;
    Type t = val_type(c, v);
    if (t.elem == ELEM_BOOL) return t.nrange ? condition_wide(c, t, e->loc) : v;
    diag_error(c->diags, e->loc, "condition-type", "a condition is bool, this is %s", elem_text(t.elem));
    return val_error;
}

static Val cond_lower(Kern *c, const Expr *e) {
    Val test = condition_lower(c, e->cond);
    if (test.kind == VAL_BOOL) {
        scope_touch(c->scope, test.i ? e->rhs : e->lhs);
        return expr_lower(c, test.i ? e->lhs : e->rhs);
    }
    Val x = expr_lower(c, e->lhs), y = expr_lower(c, e->rhs);
    return arith_select(c, test, x, y, e->loc);
}

/* ---- fields of records: parameters whose names have dots ---- */

static Val field_lower(Kern *c, const Expr *e) {
    const Expr *name = field_name(c, e);
    if (name->kind == EXPR_NAME) return name_lower(c, name);
    diag_error(c->diags, e->loc, "not-a-record", "only a record has fields");
    if (strcmp(e->name, "T") == 0) diag_note(c->diags, e->loc, "%s", familiar_in_kernel("transpose"));
    return val_error;
}

static Val misplaced(Kern *c, const Expr *e, const char *what) {
    diag_error(c->diags, e->loc, "bad-expression", "%s is not a value of a kernel", what);
    return val_error;
}

Val expr_lower(Kern *c, const Expr *e) {
    Val r = val_error;
    switch (e->kind) {
    case EXPR_INT: r = val_int(e->i); return r.literal = true, r;
    case EXPR_FLOAT: return val_float(e->f);
    case EXPR_BOOL: return val_bool(e->i);
    case EXPR_INF: return val_float((double)INFINITY);
    case EXPR_NAME: return name_lower(c, e);
    case EXPR_CALL: return call_lower(c, e);
    case EXPR_INDEX: return load_lower(c, e);
    case EXPR_UNARY: return arith_unary(c, e->op == AST_NEG ? OP_NEG : OP_NOT, expr_lower(c, e->base), e->loc);
    case EXPR_BINARY: return binary_lower(c, e);
    case EXPR_COND: return cond_lower(c, e);
    case EXPR_FIELD: return field_lower(c, e);
    case EXPR_CHOOSE: return misplaced(c, e, "a choice");
    case EXPR_STAR: return misplaced(c, e, "'*'");
    case EXPR_AUTO: return misplaced(c, e, "'auto'");
    case EXPR_LIST:
    case EXPR_TUPLE: return misplaced(c, e, "a list");
    case EXPR_ERROR: return r;
    }
    return r;
}

bool const_of_expr(Kern *c, const Expr *e, int64_t *n) {
    Val v = expr_lower(c, e);
    if (v.kind == VAL_INT) return *n = v.i, true;
    if (v.kind != VAL_ERROR)
        diag_error(c->diags, e->loc, "not-constant", "this must be an integer known at compile time");
    return false;
}
