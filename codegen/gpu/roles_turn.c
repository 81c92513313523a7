/* roles_turn.c: which turns the text can have; loops that the two groups of a role end in turn: the second group waits
   for a token before its last iterations, which the first one passes on behind its own. The token is a ring of one slot
   without bytes. */
#include "codegen/gpu/roles.h"

#include <inttypes.h>

/* Pieces as they stand, and those that are one turn late. */
void hip_role_turns_check(Fn *f, const Op *loop) {
    for (int i = 0; i < loop->turn.n; i++) {
        if (loop->turn.p[i].alone && !(hip_role_is_late(loop) && f->hip->groups > 1))
            fn_unsupported(f, loop->loc, "pieces that groups run one after the other");
        if (loop->turn.p[i].shift > 1) fn_unsupported(f, loop->loc, "a piece that is more than one turn late");
    }
    if (loop->down) fn_unsupported(f, loop->loc, "a loop from the last tile to the first");
}

bool hip_role_is_late(const Op *loop) {
    for (const Op *op = loop->region[0]->first; op && !loop->runs; op = op->next)
        if (op_shift(op) && op->kind != OP_FREE && op->kind != OP_YIELD) return true;
    return false;
}

bool hip_role_in_turn(const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->ends) return true;
    return false;
}

static const char *token_text(Fn *f) {
    RoleText *r = f->hip->role;
    const char *member = r->facts->turn[r->number].member;
    if (!r->turn) r->turn = c_name(&f->names, fn_text(f, "%s_end", member));
    return fn_text(f, "&all->%s, &%s", member, r->turn);
}

/* Below the loop's first position where it has fewer iterations. */
static const CExpr *last_position(Fn *f, const Op *loop) {
    const RangeText *r = &f->range[loop->range];
    const int64_t size = f->k->range.p[loop->range].size;
    int64_t first, end;
    const bool known = cexpr_const(r->first, &first) && cexpr_const(r->end, &end);
    const CExpr *length = known ? cexpr_number(f, end - first)
                          : cexpr_is(r->first, 0)
                              ? r->end
                              : cexpr_open(f, "%s - %s", r->end->text, cexpr_operand(f, r->first)->text);
    const CExpr *before = cexpr_add(f, cexpr_ceil_div(f, length, size), cexpr_number(f, -loop->ends));
    return cexpr_add(f, r->first, cexpr_mul(f, before, cexpr_number(f, size)));
}

void hip_role_last(Fn *f, const Op *loop) {
    enum { GROUPS = 2 /* of a role: the token has one writer and one reader */ };
    const Range *range = &f->k->range.p[loop->range];
    int64_t first, last;
    f->hip->role->last[loop->range] = NULL;
    if (!loop->ends) return;
    if (f->hip->groups != GROUPS || range->kind != RANGE_TILE)
        fn_unsupported(f, loop->loc, "a loop that other than two groups end in turn");
    const CExpr *at = last_position(f, loop);
    if (cexpr_const(f->range[loop->range].first, &first) && cexpr_const(at, &last) && last < first) return;
    if (!cexpr_is_named(at)) {
        const CExpr *name = cexpr_name(f, c_name(&f->names, fn_text(f, "%s_last", range->name)));
        fn_line(f, "const int64_t %s = %s;", name->text, at->text);
        at = name;
    }
    f->hip->role->last[loop->range] = at;
}

static bool is_first_get(const Op *get) {
    const Op *op = get->in->first;
    while (op->kind != OP_GET) op = op->next;
    return op == get;
}

void hip_role_follow(Fn *f, const Op *get) {
    const Op *loop = get->in->parent;
    if (!loop || !loop->ends || !is_first_get(get) || !f->hip->role->last[loop->range]) return;
    fn_line(f, "if (group && %s == %s) tile_ring_get(%s);", f->range[loop->range].begin->text,
            f->hip->role->last[loop->range]->text, token_text(f));
}

void hip_role_pass(Fn *f, const Op *loop) {
    const CExpr *last = loop->ends ? f->hip->role->last[loop->range] : NULL;
    int64_t n;
    if (!last) return;
    const char *has = cexpr_const(last, &n)
                          ? ""
                          : fn_text(f, "%s >= %s && ", last->text, cexpr_operand(f, f->range[loop->range].first)->text);
    fn_line(f, "if (%sgroup == 0) tile_ring_pass(%s, thread);", has, token_text(f));
    fn_line(f, "if (%sgroup) tile_ring_free(%s, 1, thread);", has, token_text(f));
}
