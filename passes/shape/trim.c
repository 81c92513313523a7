/* trim.c: leaves out steps of a loop that a mask hides whole. The mask compares positions of the loop with those of a
   tile, as keys with queries. Takes: value form. Gives: the same results; the loop's bounds follow the tile. */
#include "ir/match.h"
#include "passes/fuse/inline.h"
#include "passes/pass.h"

#include <math.h>

/* What a value is in a step that is hidden: a number, what the loop carries, or anything. */
typedef enum { ANY, NUMBER, CARRIED } Kind;
typedef struct {
    Kind kind;
    double number; /* NUMBER; truth is 0 or 1 */
    int carried;   /* CARRIED: which */
} Known;

typedef struct {
    const Op *loop, *hides; /* hides: the comparison that is false for all of a step */
    Known *known;           /* by value */
} Step;

/* ---- a step of which the comparison shows nothing ---- */

static Known number(double n) { return isnan(n) ? (Known){0} : (Known){.kind = NUMBER, .number = n}; }

static bool is_number(Known x, double n) { return x.kind == NUMBER && x.number == n; }

static bool is_same(Known a, Known b) {
    return a.kind == b.kind && a.kind != ANY && (a.kind == NUMBER ? a.number == b.number : a.carried == b.carried);
}

/* Values that the loop carries are above -inf, or are known as numbers. */
static bool is_above(Known a, Known b) { return a.kind == CARRIED && is_number(b, -INFINITY); }

static Known known_of_two(const Op *op, Known a, Known b) {
    const bool numbers = a.kind == NUMBER && b.kind == NUMBER;
    const double x = a.number, y = b.number;
    switch (op->kind) {
    case OP_ADD: return numbers ? number(x + y) : is_number(b, 0) ? a : is_number(a, 0) ? b : (Known){0};
    case OP_SUB:
        if (numbers) return number(x - y);
        return is_same(a, b) ? number(0) : is_above(b, a) ? a : is_number(b, 0) ? a : (Known){0};
    case OP_MUL: return numbers ? number(x * y) : is_number(b, 1) ? a : is_number(a, 1) ? b : (Known){0};
    case OP_MAX: return numbers ? number(fmax(x, y)) : is_same(a, b) || is_above(a, b) ? a : is_above(b, a) ? b : (Known){0};
    case OP_AND: return is_number(a, 0) || is_number(b, 0) ? number(0) : numbers ? number(x * y) : (Known){0};
    case OP_GT: return numbers ? number(x > y) : is_above(a, b) ? number(1) : (Known){0};
    default: return (Known){0};
    }
}

static Known known_of_dot(const Step *s, const Op *op) {
    const bool zero = is_number(s->known[op->arg.p[0]->id], 0) || is_number(s->known[op->arg.p[1]->id], 0);
    if (!zero) return (Known){0};
    return op->arg.n > 2 ? s->known[op->arg.p[2]->id] : number(0);
}

static Known known_of_choice(const Step *s, const Op *op, Known condition) {
    const Known x = s->known[op->arg.p[1]->id], y = s->known[op->arg.p[2]->id];
    if (condition.kind == NUMBER) return condition.number != 0 ? x : y;
    return is_same(x, y) ? x : (Known){0};
}

static Known known_of_one(const Op *op, Known a) {
    switch (op->kind) {
    case OP_BROADCAST: return a;
    case OP_CAST: return a.kind == NUMBER ? a : (Known){0};
    case OP_EXP: return a.kind == NUMBER ? number(exp(a.number)) : a;
    case OP_EXP2: return a.kind == NUMBER ? number(exp2(a.number)) : a;
    case OP_SUM: return is_number(a, 0) ? a : (Known){0};
    case OP_RMAX: return a.kind == NUMBER ? a : (Known){0};
    default: return (Known){0};
    }
}

static Known known_of(const Step *s, const Op *op) {
    const Known a = op->arg.n ? s->known[op->arg.p[0]->id] : (Known){0};
    double n;
    if (op == s->hides) return number(0);
    if (op->kind == OP_CONST) return match_number(op->res.p[0], &n) ? number(n) : (Known){0};
    if (op->kind == OP_DOT) return known_of_dot(s, op);
    if (op->kind == OP_SELECT) return known_of_choice(s, op, a);
    if ((op->kind == OP_EXP || op->kind == OP_EXP2) && a.kind != NUMBER) return (Known){0};
    return op->arg.n == 2 ? known_of_two(op, a, s->known[op->arg.p[1]->id]) : op->arg.n == 1 ? known_of_one(op, a) : (Known){0};
}

/* The step gives what it was given; its values are in s->known. */
static bool step_keeps(const Step *s) {
    const Region *r = s->loop->region[0];
    for (const Op *op = r->first; op != r->last; op = op->next) {
        if (op->region[0] || op->kind == OP_STORE || op_info[op->kind].class == CLASS_SYNC) return false;
        if (op->res.n == 1) s->known[op->res.p[0]->id] = known_of(s, op);
    }
    for (int i = 0; i < s->loop->res.n; i++)
        if (!is_same(s->known[r->last->arg.p[i]->id], s->known[r->arg.p[i]->id])) return false;
    return true;
}

static bool begins_low(const Op *loop, int i) {
    double n;
    return match_number(loop->arg.p[2 + i], &n) && n == -INFINITY;
}

static void constants_mark(const Kernel *k, Known *known) {
    double n;
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_CONST && match_number(op->res.p[0], &n)) known[op->res.p[0]->id] = number(n);
}

/* first: no step has shown anything yet. The largest score of a row is -inf then, and its sums are what they were. */
static bool keeps(const Kernel *k, Step *s, bool first) {
    constants_mark(k, s->known);
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_BROADCAST) s->known[op->res.p[0]->id] = s->known[op->arg.p[0]->id];
    for (int i = 0; i < s->loop->res.n; i++) {
        const int id = s->loop->region[0]->arg.p[i]->id;
        s->known[id] = first ? s->known[s->loop->arg.p[2 + i]->id] : (Known){.kind = CARRIED, .carried = i};
    }
    return step_keeps(s);
}

/* ---- comparisons of the loop's positions with a tile's ---- */

/* key >= row + by where `below`, else key <= row + by - 1. */
typedef struct {
    int row;
    int64_t by;
    bool below;
} Bound;

static bool is_pos(const Value *v, int range) {
    const Op *pos = match_op(match_bare(v), OP_POS);
    return pos && (range < 0 || pos->range == range);
}

static OpKind mirrored(OpKind kind) {
    return kind == OP_LT ? OP_GT : kind == OP_LE ? OP_GE : kind == OP_GT ? OP_LT : kind == OP_GE ? OP_LE : kind;
}

static bool bound_of(const Kernel *k, const Op *loop, const Op *compare, Bound *b) {
    const Value *left, *right;
    int64_t c, d;
    if (op_info[compare->kind].class != CLASS_COMPARE) return false;
    match_sum(compare->arg.p[0], &left, &c);
    match_sum(compare->arg.p[1], &right, &d);
    const bool turned = is_pos(right, loop->range);
    if (!is_pos(turned ? right : left, loop->range) || !is_pos(turned ? left : right, -1)) return false;
    const OpKind kind = turned ? mirrored(compare->kind) : compare->kind;
    const int64_t by = turned ? c - d : d - c;
    b->row = match_bare(turned ? left : right)->def->range;
    b->below = kind == OP_GE || kind == OP_GT;
    b->by = by + (kind == OP_LE || kind == OP_GT);
    const Range *r = &k->range.p[b->row];
    return r->grid && r->kind == RANGE_TILE && r->owner < 0 && !r->starts &&
           (b->below || kind == OP_LE || kind == OP_LT);
}

/* ---- the loop's bounds ---- */

static bool follows(const Value *v, OpKind edge, int row) {
    if (!v->def) return false;
    if (v->def->kind == edge && v->def->range == row) return true;
    for (int i = 0; i < v->def->arg.n && v->def->kind != OP_FOR; i++)
        if (follows(v->def->arg.p[i], edge, row)) return true;
    return false;
}

static bool begins_at_zero(const Op *loop) {
    double n;
    return match_number(loop->arg.p[0], &n) && n == 0;
}

/* Each row sees the first position, so that a step that is hidden is never the first. */
static bool shows_first(const Op *loop, const Bound *b) { return begins_at_zero(loop) && !b->below && b->by > 0; }

static Value *moved(Builder *b, Value *v, int64_t by) {
    return by ? build_binary(b, OP_ADD, v, build_const_i(b, ELEM_I64, by)) : v;
}

/* A number of positions that all steps divide. */
enum { STEP = 128 };

static void set_bound(PassContext *c, Kernel *k, Op *loop, const Bound *bound) {
    Region aside = {.parent = loop->in->parent};
    Builder b = {.m = c->m, .k = k, .at = &aside, .loc = loop->loc};
    Value *at = moved(&b, build_index(&b, bound->below ? OP_BEGIN : OP_END, bound->row), bound->by);
    if (bound->below) {
        Value *step = build_const_i(&b, ELEM_I64, STEP);
        at = build_binary(&b, OP_DIV, build_binary(&b, OP_MAX, at, build_const_i(&b, ELEM_I64, 0)), step);
        loop->arg.p[0] = build_binary(&b, OP_MUL, at, step);
    } else
        loop->arg.p[1] = build_binary(&b, OP_MIN, loop->arg.p[1], at);
    region_splice_before(loop, &aside);
    remark(c, "trim", loop->loc, "'%s': steps that the mask hides are left out: the loop %s with the tile of %s", k->name,
           bound->below ? "begins" : "ends", k->range.p[bound->row].name);
}

static bool may_trim(Kernel *k, Op *loop, const Op *compare, const Bound *b) {
    if (follows(loop->arg.p[!b->below], b->below ? OP_BEGIN : OP_END, b->row)) return false;
    if (b->below && !begins_at_zero(loop)) return false;
    bool low = false;
    for (int i = 0; i < loop->res.n; i++) low |= begins_low(loop, i);
    Arena *a = arena_new();
    Step s = {.loop = loop, .hides = compare, .known = ARENA_ARRAY(a, Known, k->nvalue + 1)};
    bool fits = keeps(k, &s, false);
    if (fits && low && !shows_first(loop, b)) fits = keeps(k, &s, true);
    arena_free(a);
    return fits;
}

static void trim_loop(PassContext *c, Kernel *k, Op *loop) {
    Bound b;
    const Range *r = &k->range.p[loop->range];
    if (!loop->res.n || r->kind != RANGE_TILE || r->owner >= 0 || r->starts) return;
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (bound_of(k, loop, op, &b) && may_trim(k, loop, op, &b)) set_bound(c, k, loop, &b);
}

/* What a step prints is shown, whatever a mask hides. */
static void trim_kernel(PassContext *c, Kernel *k) {
    if (kernel_prints(k)) return;
    for (Op *op = k->body->first; op; op = op->next)
        if (op->kind == OP_FOR) trim_loop(c, k, op);
}

static bool trim_run(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n; i++) trim_kernel(c, c->m->kernel.p[i]);
    return true;
}

const Pass pass_trim = {
    .name = "trim",
    .help = "leave out steps of loops that masks hide whole",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = trim_run,
    .kernel = trim_kernel,
};
