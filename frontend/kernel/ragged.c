/* ragged.c: groups of positions: each e of n, i: 128 of m in start[e] .. start[e + 1]. The rows of a group follow
   those of the group before; no tile has rows of two. Takes: the ranges of an each. Gives: one range for both, whose
   tile and group a task finds in the starts; the group's name is a number. */
#include "frontend/kernel/kernel.h"

/* start[e]; gives the two names. */
static bool is_start(const Expr *e, Name *start, Name *group) {
    if (!e || e->kind != EXPR_INDEX || e->args.n != 1 || e->base->kind != EXPR_NAME || e->args.p[0]->kind != EXPR_NAME)
        return false;
    *start = e->base->name;
    *group = e->args.p[0]->name;
    return true;
}

/* start[e + 1] */
static bool is_next(const Expr *e, Name start, Name group) {
    if (!e || e->kind != EXPR_INDEX || e->args.n != 1 || e->base->kind != EXPR_NAME || e->base->name != start)
        return false;
    const Expr *at = e->args.p[0];
    return at->kind == EXPR_BINARY && at->op == AST_ADD && at->lhs->kind == EXPR_NAME && at->lhs->name == group &&
           at->rhs->kind == EXPR_INT && at->rhs->i == 1;
}

static bool has_bounds(const RangeDecl *d, Name *start, Name *group) {
    return d->of && d->lo && is_start(d->lo, start, group) && is_next(d->hi, *start, *group);
}

/* Ranges from number `from` on that the group bounds, but for one. */
static int count_bounded(const Stmt *each, int from, int but, Name group) {
    Name start, own;
    int n = 0;
    for (int i = from; i < each->ranges.n; i++)
        n += i != but && has_bounds(&each->ranges.p[i], &start, &own) && own == group;
    return n;
}

bool ragged_has_group(const Stmt *each, int range) {
    return count_bounded(each, range + 1, -1, each->ranges.p[range].name) > 0;
}

static bool ragged_refuse(Kern *c, Loc loc, const char *why, Name name) {
    diag_error(c->diags, loc, "ragged-range", why, name);
    diag_note(c->diags, loc,
              "groups are written: e of n, i: 128 of m in start[e] .. start[e + 1], with ascending start: i32[n + 1]");
    return false;
}

static const RangeDecl *group_find(const Stmt *each, int before, Name group) {
    for (int i = 0; i < before; i++)
        if (each->ranges.p[i].name == group) return &each->ranges.p[i];
    return NULL;
}

static bool starts_ascend(const Kern *c, Name start) {
    for (int i = 0; i < c->bound->param.n; i++)
        if (c->bound->param.p[i].decl->name == start) return c->bound->param.p[i].decl->is_ascending;
    return false;
}

/* start: [n + 1] */
static bool groups_fit(Kern *c, const Ragged *g, Name start) {
    Size n, have = c->b.k->param.p[g->param].dim[0];
    if (!extent_lower(c, g->group->of, &n)) return false;
    n.c++;
    if (c->checking || size_equal(n, have)) return true;
    return ragged_refuse(c, g->group->loc,
                         "'%s' has another number of starts than one for each group and the end of the last", start);
}

bool ragged_find(Kern *c, const Stmt *each, int range, Ragged *g) {
    const RangeDecl *d = &each->ranges.p[range];
    Name start, group;
    if (!has_bounds(d, &start, &group))
        return ragged_refuse(c, d->loc, "the bounds of '%s' are not those of a group", d->name);
    *g = (Ragged){.group = group_find(each, range, group), .rows = d, .param = -1};
    if (!g->group || g->group->size || !g->group->of || g->group->lo)
        return ragged_refuse(c, d->loc, "'%s' is no range of single positions before it in this each", group);
    if (d->size->kind == EXPR_STAR) return ragged_refuse(c, d->loc, "'%s' has no size of tiles", d->name);
    if (count_bounded(each, 0, range, group)) return ragged_refuse(c, d->loc, "groups of '%s' bound two ranges", group);
    Entry *e = scope_use(c->scope, start, d->lo->loc);
    e->read = true;
    if (e->kind == NAME_BROKEN) return false;
    if (e->kind != NAME_TENSOR || e->view || !starts_ascend(c, start))
        return ragged_refuse(c, d->lo->loc, "'%s' is no parameter that is declared ascending", start);
    g->param = e->index;
    return groups_fit(c, g, start);
}

void ragged_open(Kern *c, const Ragged *g, int range) {
    Entry *e = scope_declare(c->scope, g->group->name, NAME_VAR, g->group->loc);
    if (e->kind == NAME_BROKEN) return;
    c->b.loc = g->group->loc;
    Value *v = build_group(&c->b, range);
    v->name = g->group->name;
    e->val = val_tile(v);
    e->fixed = e->read = true;
}
