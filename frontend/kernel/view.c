/* view.c: let X = view(x, [n, 32, 16]); a tensor parameter under other extents, its elements in row-major order.
   Takes subscripts of the view; gives those of the tensor: X[i, a, b] of x: [n, 512] is x[i, 16 * a + b]. */
#include "frontend/kernel/kernel.h"

#include <inttypes.h>
#include <string.h>

bool is_view(const Expr *e) { return e && e->kind == EXPR_CALL && strcmp(e->name, "view") == 0; }

/* ---- declaration ---- */

/* How many elements the dimensions from `same` on have; false: they are not numbers. */
static bool elements_of(const Size *dim, int n, int same, int64_t *elements) {
    *elements = 1;
    for (int d = same; d < n; d++)
        if (!size_is_number(dim[d]) || __builtin_mul_overflow(*elements, dim[d].c, elements)) return false;
    return true;
}

static bool shape_fits(Kern *c, const Expr *e, const Param *p, KernView *v) {
    int64_t have, want;
    while (v->same < p->ndim && v->same < v->ndim && size_equal(p->dim[v->same], v->dim[v->same])) v->same++;
    if (!elements_of(p->dim, p->ndim, v->same, &have) || !elements_of(v->dim, v->ndim, v->same, &want))
        diag_error(c->diags, e->loc, "view-shape", "extents that change are numbers, and not split");
    else if (have != want && !c->checking)
        diag_error(c->diags, e->loc, "view-shape",
                   "behind the first %d dimensions this has %" PRId64 " elements, and the view %" PRId64, v->same, have,
                   want);
    else
        return true;
    return false;
}

static const Entry *viewed(Kern *c, const Expr *e) {
    const Expr *base = field_name(c, e);
    const Entry *x = base->kind == EXPR_NAME ? scope_use(c->scope, base->name, base->loc) : NULL;
    if (x && (x->kind == NAME_TENSOR || x->kind == NAME_BROKEN)) return x->kind == NAME_TENSOR ? x : NULL;
    diag_error(c->diags, e->loc, "not-a-tensor", "a kernel views parameters that are read");
    return NULL;
}

void view_declare(Kern *c, const Stmt *let) {
    const Expr *e = let->value, *target = let->targets.p[0];
    const Expr *shape =
        e->args.n == 2 && e->args.p[1]->kind == EXPR_LIST && e->args.p[1]->args.n <= SOURCE_DIMS ? e->args.p[1] : NULL;
    if (!shape || let->has_type)
        diag_error(c->diags, e->loc, "wrong-arguments",
                   "view takes a tensor and its new extents: let X = view(x, [n, 32])");
    const Entry *found = shape ? viewed(c, e->args.p[0]) : NULL;
    Entry x = found ? *found : (Entry){0};
    KernView v = {.ndim = shape ? shape->args.n : 0};
    bool good = found && !let->has_type;
    for (int d = 0; good && d < v.ndim; d++) good = extent_lower(c, shape->args.p[d], &v.dim[d]);
    good = good && shape_fits(c, e, &c->b.k->param.p[x.index], &v);
    Entry *fresh = scope_declare(c->scope, target->name, good ? NAME_TENSOR : NAME_BROKEN, target->loc);
    if (fresh->kind == NAME_BROKEN) return;
    fresh->index = x.index;
    fresh->global = x.global;
    fresh->view = arena_copy(c->arena, &v, sizeof v);
}

/* ---- subscripts ---- */

/* A range of the dimension itself, or a number inside of it. */
static bool lies_inside(const Kern *c, const Val *v, int64_t n) {
    if (v->kind == VAL_INT) return v->i >= 0 && v->i < n;
    Affine a = affine_of(v);
    if (a.nterm != 1 || a.c != 0 || a.term[0].kind != TERM_POS || a.term[0].mul != 1 || a.term[0].div != 1)
        return false;
    Size of = c->range_of.p[a.term[0].id];
    return size_is_number(of) && of.c > 0 && of.c <= n;
}

static void require_inside(Kern *c, const Val *v, int64_t n, Value **exists) {
    if (lies_inside(c, v, n)) return;
    Value *at = val_as(c, *v, ELEM_I64);
    Value *first = build_binary(&c->b, OP_GE, at, build_const_i(&c->b, ELEM_I64, 0));
    Value *inside =
        build_binary(&c->b, OP_AND, first, build_binary(&c->b, OP_LT, at, build_const_i(&c->b, ELEM_I64, n)));
    *exists = *exists ? build_binary(&c->b, OP_AND, *exists, inside) : inside;
}

/* The row-major place of the dimensions that change. */
static Val place_of(Kern *c, const KernView *view, const Val *at, Loc loc) {
    Val place = val_int(0);
    for (int d = view->same; d < view->ndim; d++)
        place = arith_binary(c, AST_ADD, arith_binary(c, AST_MUL, place, val_int(view->dim[d].c), loc), at[d], loc);
    return place;
}

/* Of an empty tensor any places will do. */
static void place_split(Kern *c, const Param *p, int same, Val place, Loc loc, Span *sub) {
    int64_t stride = 1;
    for (int d = p->ndim - 1; d >= same; d--) {
        int64_t n = p->dim[d].c > 0 ? p->dim[d].c : 1;
        Val v = stride == 1 ? place : arith_binary(c, AST_DIV, place, val_int(stride), loc);
        if (d > same) v = arith_binary(c, AST_MOD, v, val_int(n), loc);
        sub[d] = span_of(affine_of(&v));
        stride *= n;
    }
}

static bool subscripts_of(Kern *c, const Expr *e, const Entry *x, Val *at) {
    const KernView *view = x->view;
    bool good = e->kind == EXPR_INDEX && e->args.n == view->ndim;
    if (!good)
        diag_error(c->diags, e->loc, "wrong-rank", "'%s' has %d dimensions, one subscript each", x->name, view->ndim);
    for (int d = 0; good && d < view->ndim; d++) {
        at[d] = subscript_value(c, e->args.p[d]);
        if (at[d].kind == VAL_ERROR) return false;
        if (!(good = is_affine(at[d])))
            diag_error(c->diags, e->args.p[d]->loc, "subscript-type", "a subscript is an integer, this is %s",
                       elem_text(val_type(c, at[d]).elem));
    }
    return good;
}

bool view_subscripts(Kern *c, const Expr *e, const Entry *x, Span *sub, Value **exists) {
    const Param *p = &c->b.k->param.p[x->index];
    const KernView *view = x->view;
    bool outer = c->in_index;
    Val at[MAX_DIMS];
    if (!subscripts_of(c, e, x, at)) return false;
    for (int d = 0; d < view->same; d++) sub[d] = span_of(affine_of(&at[d]));
    for (int d = view->same + (view->same < p->ndim); d < view->ndim; d++) require_inside(c, &at[d], view->dim[d].c, exists);
    c->in_index = true;
    place_split(c, p, view->same, place_of(c, view, at, e->loc), e->loc, sub);
    c->in_index = outer;
    Type t = type_scalar(ELEM_I64);
    for (int d = 0; d < p->ndim; d++) {
        if (!types_fit(c, t, affine_type(c->b.k, &sub[d].lo), e->loc)) return false;
        t = type_union(t, affine_type(c->b.k, &sub[d].lo));
    }
    return true;
}
