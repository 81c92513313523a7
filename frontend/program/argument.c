/* argument.c: the arguments of calls of kernels, as their heads want them.
   Takes a call as written; gives numbers, extents and tensors, one for each parameter of the flat head. */
#include "frontend/program/program.h"

static bool is_extent(Prog *c, const Expr *e) {
    Size s;
    if (e->kind == EXPR_BINARY) return is_extent(c, e->lhs) && e->rhs->kind == EXPR_INT;
    if (e->kind != EXPR_NAME) return false;
    const Variable *v = variable_find(c->scope, e->name);
    if (v) return v->value.kind == PROG_SIZE;
    return dim_find(c->scope, e->name, e->loc, &s) == FOUND;
}

ProgValue argument_lower(Prog *c, const Expr *e, const ParamDecl *p) {
    ProgValue v;
    Expected want = expected_nothing;
    want.has_elem = elem_parse(p->type.elem, &want.elem);
    if (!p->type.has_shape && number_of_expr(c->scope, e, &v)) return v;
    if (p->is_const && is_extent(c, e)) {
        v = (ProgValue){.kind = PROG_SIZE, .loc = e->loc, .number.is_integer = true};
        return extent_of(c->scope, e, &v.size) ? v : prog_error(e->loc);
    }
    return tensor_lower(c, e, &want);
}

static bool count_fits(Prog *c, const Expr *e, const Decl *d) {
    if (e->args.n == d->params.n) return true;
    diag_error(c->diags, e->loc, "wrong-arguments", "%s takes %d argument%s, not %d", d->name, d->params.n,
               d->params.n == 1 ? "" : "s", e->args.n);
    diag_note(c->diags, d->loc, "'%s' is declared here", d->name);
    return false;
}

bool arguments_count(Prog *c, const Expr *e, const Decl *d, int n) {
    const Decl *flat = decl_flat(c->f, d);
    int have = decl_inouts(flat) + flat->results.n;
    if (!count_fits(c, e, d)) return false;
    if (have == n) return true;
    diag_error(c->diags, e->loc, "wrong-results", "%s gives %d results, and one is taken", d->name, have);
    diag_note(c->diags, e->loc, "name each of them: a, b = %s(..)", d->name);
    return false;
}

bool call_values(Prog *c, const Expr *e, const Decl *d, const Expected *want, int n, ProgValue *out) {
    if (!arguments_count(c, e, d, n)) return false;
    ProgValues arg = {0};
    bool good = true;
    for (int i = 0; i < e->args.n; i++) good = argument_flatten(c, e->args.p[i], &d->params.p[i], &arg) && good;
    return good && call_apply(c, decl_flat(c->f, d), arg.p, arg.n, e->loc, want, n, out);
}
