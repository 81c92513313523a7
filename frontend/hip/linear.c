/* linear.c: expressions as sums of multiples of atoms. Quotients and remainders by numbers are taken apart: with B a
   multiple of g, g dividing d, and 0 <= S < g, floor((B + S) / d) = floor(B / d) and (B + S) mod d = B mod d + S. */
#include "frontend/hip/linear.h"

#include "ir/ir.h"

int hip_follows(const HipExpr *e) {
    if (!e) return 0;
    const int own = e->kind == HIP_BLOCK    ? FOLLOWS_BLOCK
                    : e->kind == HIP_THREAD ? FOLLOWS_THREAD
                    : e->kind == HIP_LOOP   ? FOLLOWS_LOOP
                                            : 0;
    return own | hip_follows(e->a) | hip_follows(e->b);
}

const HipExpr *hip_symbol(Arena *arena, HipExprKind kind, int64_t number) {
    HipExpr *e = ARENA_NEW(arena, HipExpr);
    *e = (HipExpr){.kind = kind, .number = number};
    return e;
}

const HipExpr *hip_made(Arena *arena, HipExprKind kind, const HipExpr *a, const HipExpr *b) {
    HipExpr *e = ARENA_NEW(arena, HipExpr);
    *e = (HipExpr){.kind = kind, .a = a, .b = b};
    return e;
}

/* ---- intervals ---- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static HipInterval products_hull(HipInterval a, HipInterval b) {
    const int64_t p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    return (HipInterval){least(least(p, q), least(r, s)), most(most(p, q), most(r, s))};
}

static HipInterval quotient_interval(HipInterval a, HipInterval b) {
    if (b.lo < 1) return a;
    return (HipInterval){int_floor_div(a.lo, a.lo < 0 ? b.lo : b.hi), int_floor_div(a.hi, a.hi < 0 ? b.hi : b.lo)};
}

static HipInterval remainder_interval(HipInterval a, HipInterval b) {
    if (b.lo == b.hi && b.lo > 0 && int_floor_div(a.lo, b.lo) == int_floor_div(a.hi, b.lo)) {
        const int64_t whole = b.lo * int_floor_div(a.lo, b.lo);
        return (HipInterval){a.lo - whole, a.hi - whole};
    }
    return (HipInterval){0, b.hi > 0 ? b.hi - 1 : 0};
}

HipInterval hip_interval(const HipSizes *s, const HipExpr *e) {
    const HipInterval a = e->a ? hip_interval(s, e->a) : (HipInterval){0, 0}, b = e->b ? hip_interval(s, e->b) : a;
    switch (e->kind) {
    case HIP_NUMBER: return (HipInterval){e->number, e->number};
    case HIP_BLOCK: return (HipInterval){0, s->blocks[e->number] - 1};
    case HIP_THREAD: return (HipInterval){0, s->k->block[e->number] - 1};
    case HIP_LOOP: return (HipInterval){0, most(0, hip_interval(s, s->trips[e->number]).hi - 1)};
    case HIP_ADD: return (HipInterval){a.lo + b.lo, a.hi + b.hi};
    case HIP_MUL: return products_hull(a, b);
    case HIP_DIV: return quotient_interval(a, b);
    case HIP_MOD: return remainder_interval(a, b);
    case HIP_MIN: return (HipInterval){least(a.lo, b.lo), least(a.hi, b.hi)};
    case HIP_MAX: return (HipInterval){most(a.lo, b.lo), most(a.hi, b.hi)};
    }
    return a;
}

/* ---- sums ---- */

static bool same(const HipExpr *a, const HipExpr *b) {
    if (a == b || !a || !b) return a == b;
    return a->kind == b->kind && a->number == b->number && same(a->a, b->a) && same(a->b, b->b);
}

static void term_add(Linear *to, const HipExpr *atom, int64_t mul) {
    int at = 0;
    while (at < to->n && !same(to->term[at].atom, atom)) at++;
    if (at == LINEAR_TERMS) {
        to->failed = true;
        return;
    }
    if (at == to->n) to->term[to->n++] = (LinearTerm){atom, 0};
    to->term[at].mul += mul;
    if (to->term[at].mul == 0) to->term[at] = to->term[--to->n];
}

static void linear_add(Linear *to, const Linear *from, int64_t mul) {
    to->failed |= from->failed;
    to->c += from->c * mul;
    for (int i = 0; i < from->n; i++) term_add(to, from->term[i].atom, from->term[i].mul * mul);
}

static Linear linear_atom(const HipExpr *atom) { return (Linear){.n = 1, .term = {{atom, 1}}}; }

static const HipExpr *linear_expr(Arena *arena, const Linear *l) {
    const HipExpr *sum = hip_symbol(arena, HIP_NUMBER, l->c);
    for (int i = 0; i < l->n; i++) {
        const HipExpr *by = hip_symbol(arena, HIP_NUMBER, l->term[i].mul);
        sum = hip_made(arena, HIP_ADD, sum, hip_made(arena, HIP_MUL, l->term[i].atom, by));
    }
    return sum;
}

static HipInterval linear_interval(const HipSizes *s, const Linear *l) {
    HipInterval sum = {l->c, l->c};
    for (int i = 0; i < l->n; i++) {
        const HipInterval x = hip_interval(s, l->term[i].atom), m = {l->term[i].mul, l->term[i].mul},
                          p = products_hull(x, m);
        sum.lo += p.lo, sum.hi += p.hi;
    }
    return sum;
}

static int64_t common(int64_t a, int64_t b) { return b == 0 ? a : common(b, a % b); }

/* Multiples of d leave the sum; `out` gets them, divided. */
static Linear multiples_take(const Linear *l, int64_t d, Linear *out) {
    Linear rest = {.c = l->c - d * int_floor_div(l->c, d)};
    *out = (Linear){.c = int_floor_div(l->c, d), .failed = l->failed};
    for (int i = 0; i < l->n; i++) {
        const LinearTerm *t = &l->term[i];
        if (t->mul % d == 0)
            term_add(out, t->atom, t->mul / d);
        else
            term_add(&rest, t->atom, t->mul);
    }
    return rest;
}

/* Of scalars alone or threads alone: an atom. */
static Linear divided_whole(const HipSizes *s, const Linear *l, HipExprKind kind, int64_t d) {
    const HipInterval at = linear_interval(s, l);
    if (at.lo >= 0 && at.hi < d) return kind == HIP_DIV ? (Linear){0} : *l;
    return linear_atom(hip_made(s->arena, kind, linear_expr(s->arena, l), hip_symbol(s->arena, HIP_NUMBER, d)));
}

static Linear divided(const HipSizes *s, const Linear *l, HipExprKind kind, int64_t d) {
    Linear out, scalars = {0}, threads, result;
    const Linear rest = multiples_take(l, d, &out);
    int64_t g = d;
    threads = (Linear){.c = rest.c};
    for (int i = 0; i < rest.n; i++) {
        const bool thread = hip_follows(rest.term[i].atom) & FOLLOWS_THREAD;
        term_add(thread ? &threads : &scalars, rest.term[i].atom, rest.term[i].mul);
        if (!thread) g = common(g, rest.term[i].mul < 0 ? -rest.term[i].mul : rest.term[i].mul);
    }
    const HipInterval within = linear_interval(s, &threads);
    if (!scalars.n || !threads.n) {
        result = divided_whole(s, &rest, kind, d);
    } else {
        result = divided_whole(s, &scalars, kind, d);
        if (kind == HIP_MOD) linear_add(&result, &threads, 1);
        result.failed |= within.lo < 0 || within.hi >= g;
    }
    if (kind == HIP_DIV) linear_add(&result, &out, 1);
    result.failed |= l->failed;
    return result;
}

Linear linear_of(const HipSizes *s, const HipExpr *e) {
    if (e->kind == HIP_NUMBER) return (Linear){.c = e->number};
    if (e->kind <= HIP_LOOP) return linear_atom(e);
    Linear a = linear_of(s, e->a), b = linear_of(s, e->b), sum = {0};
    const bool one_kind = !(hip_follows(e) & FOLLOWS_THREAD) || hip_follows(e) == FOLLOWS_THREAD;
    if (e->kind == HIP_ADD) return linear_add(&a, &b, 1), a;
    if (e->kind == HIP_MUL && !a.n) return linear_add(&sum, &b, a.c), sum;
    if (e->kind == HIP_MUL && !b.n) return linear_add(&sum, &a, b.c), sum;
    if ((e->kind == HIP_DIV || e->kind == HIP_MOD) && !b.n && b.c > 0) return divided(s, &a, e->kind, b.c);
    if ((e->kind == HIP_MIN || e->kind == HIP_MAX) && !a.n && !b.n)
        return (Linear){.c = e->kind == HIP_MIN ? least(a.c, b.c) : most(a.c, b.c), .failed = a.failed || b.failed};
    sum = linear_atom(e);
    sum.failed = !one_kind || a.failed || b.failed;
    return sum;
}

const HipExpr *hip_simpler(const HipSizes *s, const HipExpr *e) {
    if (e->kind <= HIP_LOOP) return e;
    const Linear l = linear_of(s, e);
    if (l.failed || (l.n == 1 && l.term[0].atom == e))
        return hip_made(s->arena, e->kind, hip_simpler(s, e->a), hip_simpler(s, e->b));
    return linear_expr(s->arena, &l);
}
