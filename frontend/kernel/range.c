/* range.c: ranges of `each` and `for`, and what may be asked of them: pos, begin, end. */
#include "frontend/kernel/kernel.h"

#include <inttypes.h>
#include <string.h>

/* ---- declaration ---- */

enum { AUTO_LAST = 128, AUTO_OTHER = 64, AUTO_FOR = 64 };

static Found extent_find(const Resolver *r, Name name, Loc loc, Size *s) {
    Entry *e = scope_use(r->context, name, loc);
    if (e->kind == NAME_BROKEN) return FOUND_ERROR;
    if (e->kind == NAME_DIM) return *s = e->size, FOUND;
    if ((e->kind != NAME_CONST && e->kind != NAME_VAR) || e->val.kind != VAL_INT) return FOUND_NOT;
    *s = size_number(e->val.i);
    return FOUND;
}

static void extent_unknown(const Resolver *r, const Expr *e) {
    diag_error(r->lw->m->diags, e->loc, "bad-extent", "'%s' is not a dimension", e->name);
}

bool extent_lower(Kern *c, const Expr *e, Size *s) {
    Resolver r = {.lw = c->lw, .context = c->scope, .find = extent_find, .unknown = extent_unknown};
    if (!size_of_expr(&r, e, s)) return false;
    if (!size_is_number(*s) || s->c >= 0) return true;
    diag_error(c->diags, e->loc, "bad-extent", "this extent is %" PRId64, s->c);
    return false;
}

static bool tile_size(Kern *c, const Expr *e, int64_t automatic, Range *r) {
    r->size = automatic;
    if (e->kind == EXPR_AUTO) return true;
    if (!const_of_expr(c, e, &r->size)) return false;
    if (r->size >= 1 && r->size <= TILE_LIMIT) return true;
    diag_error(c->diags, e->loc, "bad-size", "a tile has 1 to %d positions along a range, not %" PRId64, TILE_LIMIT,
               r->size);
    return false;
}

static bool range_refuse(Kern *c, const RangeDecl *d, bool grid) {
    if (grid ? d->of != NULL : !d->of || !d->lo) return false;
    diag_error(c->diags, d->loc, "each-bounds",
               grid ? "a range of each runs over a whole dimension" : "a loop runs over a dimension or between bounds, not both");
    diag_note(c->diags, d->loc, grid ? "write: %s of n; for groups of its positions: %s: 128 of n in start[g] .. start[g + 1]"
                                     : "write: %s of n, or %s in 0 .. n", d->name, d->name);
    return true;
}

/* Gives the number of the new range, which is in scope from here on. */
int range_declare(Kern *c, const RangeDecl *d, bool grid, bool last, int starts) {
    Range r = {.name = d->name, .grid = grid, .of = {0, -1, -1}, .owner = -1, .starts = (int16_t)starts, .loc = d->loc};
    Size of = size_number(0);
    bool good = !range_refuse(c, d, grid) && (!d->of || extent_lower(c, d->of, &of));
    r.kind = !d->size ? RANGE_POSITION : d->size->kind == EXPR_STAR ? RANGE_WHOLE : RANGE_TILE;
    r.tunable = r.kind == RANGE_TILE && !d->fixed;
    if (r.kind == RANGE_TILE && !tile_size(c, d->size, !grid ? AUTO_FOR : last ? AUTO_LAST : AUTO_OTHER, &r))
        good = false;
    good = tuned_size(c, d, &r) && good;
    if (c->b.k->range.n >= INT16_MAX - 1 || (grid && c->b.k->ngrid == SOURCE_RANGES)) {
        diag_error(c->diags, d->loc, "too-many-ranges", "too many ranges: each takes at most %d", SOURCE_RANGES);
        good = false;
    }
    Entry *e = scope_declare(c->scope, d->name, NAME_RANGE, d->loc);
    if (!good) e->kind = NAME_BROKEN;
    if (e->kind == NAME_BROKEN) return -1;
    if (grid) r.of = of;
    e->index = kernel_range(c->m, c->b.k, r);
    vec_push(c->arena, &c->range_of, of);
    vec_push(c->arena, &c->range_decl, d);
    vec_push(c->arena, &c->inside, -1);
    return e->index;
}

/* ---- use ---- */

Entry *range_named(Kern *c, const Expr *e) {
    if (e->kind != EXPR_NAME) return NULL;
    Entry *held = scope_find(c->scope, e->name);
    return held && held->kind == NAME_RANGE ? held : NULL;
}

int range_stands_for(const Kern *c, int range) {
    return range >= 0 && c->inside.p[range] >= 0 ? c->inside.p[range] : range;
}

static bool range_split(const Kern *c, int range) { return c->range_of.p[range].axis >= 0; }

static Val value_of_index(Kern *c, OpKind op, int range) {
    Value *v = build_index(&c->b, op, range);
    if (range_split(c, range)) v = build_binary(&c->b, OP_ADD, v, build_size(&c->b, OP_ORIGIN, c->range_of.p[range]));
    return val_tile(v);
}

/* Affine where nothing is lost; global positions of a split dimension are not. */
static Val range_pos(Kern *c, int range) {
    if (range_split(c, range)) return value_of_index(c, OP_POS, range);
    return val_index(c, affine_term(TERM_POS, range, 1, 1));
}

static Val range_begin(Kern *c, int range) {
    const Range *r = &c->b.k->range.p[range];
    if (r->kind == RANGE_POSITION) return range_pos(c, range);
    if (range_split(c, range) || !r->grid || r->starts) return value_of_index(c, OP_BEGIN, range);
    return val_index(c, r->kind == RANGE_WHOLE ? affine_const(0) : affine_term(TERM_INDEX, range, r->size, 1));
}

static Val range_end(Kern *c, int range) {
    if (c->b.k->range.p[range].kind == RANGE_POSITION)
        return arith_binary(c, AST_ADD, range_pos(c, range), val_int(1), c->b.loc);
    return value_of_index(c, OP_END, range);
}

/* pos(i), begin(i), end(i) */
Val range_function(Kern *c, const Expr *call) {
    Entry *e = call->args.n == 1 ? range_named(c, call->args.p[0]) : NULL;
    if (!e) {
        bool silent = call->args.n == 1 && call->args.p[0]->kind == EXPR_NAME &&
                      scope_use(c->scope, call->args.p[0]->name, call->args.p[0]->loc)->kind == NAME_BROKEN;
        if (!silent) diag_error(c->diags, call->loc, "not-a-range", "%s takes the name of a range", call->name);
        return val_error;
    }
    c->b.loc = call->loc;
    if (strcmp(call->name, "pos") == 0) return range_pos(c, e->index);
    return strcmp(call->name, "begin") == 0 ? range_begin(c, e->index) : range_end(c, e->index);
}
