/* const.c: dims, mesh axes and expressions over extents.
   Takes declarations and -D definitions; gives numbers, or run-time dimensions plus a number. */
#include "frontend/sema/const.h"

#include <inttypes.h>
#include <string.h>

typedef enum { DIM_NEW, DIM_BUSY, DIM_KNOWN, DIM_BROKEN } DimState;

typedef struct {
    const Decl *decl;
    DimState state;
    Size size;
} GlobalDim;

/* ---- expressions ---- */

static bool error_at(const Resolver *r, const Expr *e, const char *id, const char *what) {
    diag_error(r->lw->m->diags, e->loc, id, "%s", what);
    return false;
}

static bool number_of(const Resolver *r, const Expr *e, int64_t *n) {
    Size s;
    if (!size_of_expr(r, e, &s)) return false;
    if (!size_is_number(s)) return error_at(r, e, "not-constant", "this must be known at compile time");
    *n = s.c;
    return true;
}

/* false: overflow. The divisor is not 0. */
static bool number_binary(AstOp op, int64_t a, int64_t b, int64_t *n) {
    if ((op == AST_DIV || op == AST_MOD) && b == -1) return *n = 0, op == AST_MOD || !__builtin_sub_overflow(0, a, n);
    switch (op) {
    case AST_ADD: return !__builtin_add_overflow(a, b, n);
    case AST_SUB: return !__builtin_sub_overflow(a, b, n);
    case AST_MUL: return !__builtin_mul_overflow(a, b, n);
    case AST_DIV: *n = int_floor_div(a, b); return true;
    case AST_MOD: *n = a - int_floor_div(a, b) * b; return true;
    case AST_EQ: *n = a == b; return true;
    case AST_NE: *n = a != b; return true;
    case AST_LT: *n = a < b; return true;
    case AST_LE: *n = a <= b; return true;
    case AST_GT: *n = a > b; return true;
    default: *n = a >= b; return true;
    }
}

static bool operator_known(AstOp op) { return (op >= AST_ADD && op <= AST_MOD) || (op >= AST_EQ && op <= AST_GE); }

/* A run-time dimension plus or minus a number. */
static bool size_shift(const Resolver *r, const Expr *e, Size a, Size b, Size *s) {
    bool sum = e->op == AST_ADD && (size_is_number(a) || size_is_number(b));
    if (!sum && !(e->op == AST_SUB && size_is_number(b)))
        return error_at(r, e, "unsupported",
                        "not supported yet: an extent that is more than a run-time dimension plus a number");
    if (a.axis >= 0 || b.axis >= 0)
        return error_at(r, e, "unsupported", "not supported yet: arithmetic on a dimension that is split over ranks");
    *s = size_is_number(a) ? b : a;
    return number_binary(e->op, a.c, b.c, &s->c) || error_at(r, e, "overflow", "this does not fit in 64 bits");
}

static bool size_binary(const Resolver *r, const Expr *e, Size *s) {
    Size a, b;
    bool good = size_of_expr(r, e->lhs, &a);
    if (!size_of_expr(r, e->rhs, &b) || !good) return false;
    if (!operator_known(e->op))
        return error_at(r, e, "bad-extent", "an extent is made of names, numbers and + - * / %");
    if (!size_is_number(a) || !size_is_number(b)) return size_shift(r, e, a, b, s);
    if ((e->op == AST_DIV || e->op == AST_MOD) && b.c == 0)
        return error_at(r, e, "division-by-zero", "division by zero");
    *s = size_number(0);
    return number_binary(e->op, a.c, b.c, &s->c) || error_at(r, e, "overflow", "this does not fit in 64 bits");
}

static bool size_negated(const Resolver *r, const Expr *e, Size *s) {
    int64_t n;
    if (e->op != AST_NEG) return error_at(r, e, "bad-extent", "an extent is made of names, numbers and + - * / %");
    if (!number_of(r, e->base, &n)) return false;
    *s = size_number(0);
    return !__builtin_sub_overflow(0, n, &s->c) || error_at(r, e, "overflow", "this does not fit in 64 bits");
}

static bool size_cond(const Resolver *r, const Expr *e, Size *s) {
    int64_t n;
    return number_of(r, e->cond, &n) && size_of_expr(r, n ? e->lhs : e->rhs, s);
}

static bool size_min_max(const Resolver *r, const Expr *e, Size *s) {
    bool is_min = strcmp(e->name, "min") == 0;
    if ((!is_min && strcmp(e->name, "max") != 0) || e->args.n == 0)
        return error_at(r, e, "bad-extent", "an extent is made of names, numbers, + - * / %, min and max");
    for (int i = 0; i < e->args.n; i++) {
        int64_t n;
        if (!number_of(r, e->args.p[i], &n)) return false;
        if (i == 0 || (is_min ? n < s->c : n > s->c)) *s = size_number(n);
    }
    return true;
}

static bool size_named(const Resolver *r, const Expr *e, Size *s) {
    Found found = r->find(r, e->name, e->loc, s);
    if (found == FOUND_NOT) r->unknown(r, e);
    return found == FOUND;
}

bool size_of_expr(const Resolver *r, const Expr *e, Size *s) {
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_BOOL: *s = size_number(e->i); return true;
    case EXPR_NAME: return size_named(r, e, s);
    case EXPR_BINARY: return size_binary(r, e, s);
    case EXPR_UNARY: return size_negated(r, e, s);
    case EXPR_COND: return size_cond(r, e, s);
    case EXPR_CALL: return size_min_max(r, e, s);
    case EXPR_ERROR: return false;
    default: return error_at(r, e, "bad-extent", "an extent is made of names, numbers, + - * / %, min and max");
    }
}

/* ---- names of the whole file ---- */

struct Instances *instances_of(Lower *lw) {
    if (!lw->instances) lw->instances = ARENA_NEW(lw->m->arena, struct Instances);
    return lw->instances;
}

static GlobalDim *global_of(Lower *lw, Name name) {
    struct Instances *in = instances_of(lw);
    for (; in->ndecl < lw->decl.n; in->ndecl++) {
        const Decl *d = lw->decl.p[in->ndecl];
        if ((d->kind != DECL_DIM && d->kind != DECL_MESH) || ptrmap_get(&in->global, d->name)) continue;
        GlobalDim *g = ARENA_NEW(lw->m->arena, GlobalDim);
        g->decl = d;
        ptrmap_put(lw->m->arena, &in->global, d->name, g);
    }
    return ptrmap_get(&in->global, name);
}

static const Define *define_of(const Lower *lw, Name name) {
    for (int i = lw->options ? lw->options->ndefine - 1 : -1; i >= 0; i--)
        if (strcmp(lw->options->define[i].name, name) == 0) return &lw->options->define[i];
    return NULL;
}

static Size symbol_new(Lower *lw, const Decl *d, int64_t bound) {
    vec_push(lw->m->arena, &lw->m->symbol, ((Symbol){.name = d->name, .bound = bound, .loc = d->loc}));
    return (Size){.c = 0, .sym = (int16_t)(lw->m->symbol.n - 1), .axis = -1};
}

static bool global_in_range(Lower *lw, const Decl *d, int64_t n, int64_t bound) {
    if (n >= 0 && n <= bound) return true;
    if (n < 0)
        diag_error(lw->m->diags, d->loc, "bad-extent", "'%s' is %" PRId64 ": an extent is not negative", d->name, n);
    else
        diag_error(lw->m->diags, d->loc, "bad-extent", "'%s' is %" PRId64 ", beyond its bound %" PRId64, d->name, n,
                   bound);
    return false;
}

/* A constant expression over dims (with -D applied), mesh names (their ranks) and numbers; reports errors. */
static bool const_int(Lower *, const Expr *, int64_t *value);

/* -D fixes a run-time dimension at a number within its bound. */
static bool global_value(Lower *lw, GlobalDim *g) {
    const Decl *d = g->decl;
    const Define *define = define_of(lw, d->name);
    int64_t n = 0, fixed;
    if (d->kind == DECL_MESH && !define && lw->options && lw->options->ranks > 0) {
        g->size = size_number(lw->options->ranks);
        return true;
    }
    bool by_define = define && !d->bounded;
    if (!by_define && !const_int(lw, d->value, &n)) return false;
    fixed = define ? define->value : n;
    if (!global_in_range(lw, d, fixed, d->bounded ? n : INT64_MAX)) return false;
    if (d->bounded && n > MAX_EXTENT) {
        diag_error(lw->m->diags, d->loc, "too-large", "the bound of '%s' is beyond 2^40", d->name);
        return false;
    }
    if (!d->bounded || define)
        g->size = size_number(fixed);
    else if (lw->m->symbol.n == INT16_MAX)
        diag_error(lw->m->diags, d->loc, "too-many-dims", "too many run-time dimensions");
    else
        g->size = symbol_new(lw, d, n);
    return true;
}

Found global_find(Lower *lw, Name name, Loc use, Size *s) {
    GlobalDim *g = global_of(lw, name);
    if (!g) return FOUND_NOT;
    if (g->state == DIM_BUSY) {
        diag_error(lw->m->diags, use, "circular-dim", "the value of '%s' depends on itself", name);
        g->state = DIM_BROKEN;
    }
    if (g->state == DIM_NEW) {
        g->state = DIM_BUSY;
        bool good = global_value(lw, g);
        g->state = good && g->state == DIM_BUSY ? DIM_KNOWN : DIM_BROKEN;
    }
    *s = g->size;
    return g->state == DIM_KNOWN ? FOUND : FOUND_ERROR;
}

static Found find_global_name(const Resolver *r, Name name, Loc loc, Size *s) {
    return global_find(r->lw, name, loc, s);
}

static void unknown_global_name(const Resolver *r, const Expr *e) {
    diag_error(r->lw->m->diags, e->loc, "undefined", "'%s' is not a dim or a mesh axis", e->name);
    diag_note(r->lw->m->diags, e->loc, "declare it: dim %s = ..;", e->name);
}

static bool const_int(Lower *lw, const Expr *e, int64_t *value) {
    Resolver r = {.lw = lw, .find = find_global_name, .unknown = unknown_global_name};
    return number_of(&r, e, value);
}

bool dim_size(Lower *lw, Name name, Size *s) {
    GlobalDim *g = global_of(lw, name);
    return g && g->decl->kind == DECL_DIM && global_find(lw, name, g->decl->loc, s) == FOUND;
}
