/* eval.c: interval arithmetic over the integers of a kernel.
   Takes: positions of the enclosing ranges. Gives: intervals that hold every value an expression can have. */
#include "passes/proof/eval.h"

/* Operations of one value: time of the proof; chosen: no measurement is recorded. */
enum { VALUE_BUDGET = 512 };

static const Interval anything = {-UNBOUNDED, UNBOUNDED};

Interval interval_of(int64_t x) { return (Interval){x, x}; }
bool interval_exact(Interval a) { return a.lo == a.hi; }
bool interval_empty(Interval a) { return a.lo > a.hi; }

static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

static Interval interval_hull(Interval a, Interval b) {
    if (interval_empty(a)) return b;
    if (interval_empty(b)) return a;
    return (Interval){min_of(a.lo, b.lo), max_of(a.hi, b.hi)};
}

static int64_t saturate(__int128 x) {
    return x > UNBOUNDED ? UNBOUNDED : x < -UNBOUNDED ? -UNBOUNDED : (int64_t)x;
}

static int64_t floor_bound(int64_t a, int64_t b) {
    return a >= UNBOUNDED || a <= -UNBOUNDED ? a : int_floor_div(a, b);
}

static Interval interval_add(Interval a, Interval b) {
    return (Interval){saturate((__int128)a.lo + b.lo), saturate((__int128)a.hi + b.hi)};
}

static Interval interval_mul(Interval a, Interval b) {
    __int128 p[4] = {(__int128)a.lo * b.lo, (__int128)a.lo * b.hi, (__int128)a.hi * b.lo, (__int128)a.hi * b.hi};
    __int128 lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        if (p[i] < lo) lo = p[i];
        if (p[i] > hi) hi = p[i];
    }
    return (Interval){saturate(lo), saturate(hi)};
}

/* Division by a positive number. */
static Interval interval_div(Interval a, int64_t d) {
    return (Interval){floor_bound(a.lo, d), floor_bound(a.hi, d)};
}

static Interval interval_mod(Interval a, int64_t d) {
    if (interval_exact(a)) return interval_of(a.lo - d * int_floor_div(a.lo, d));
    if (floor_bound(a.lo, d) == floor_bound(a.hi, d) && a.hi < UNBOUNDED)
        return (Interval){a.lo - d * int_floor_div(a.lo, d), a.hi - d * int_floor_div(a.hi, d)};
    return (Interval){0, d - 1};
}

/* ---- ranges ---- */

static int64_t tile_size(const Range *r) { return r->kind == RANGE_TILE ? r->size : 1; }

static RangeAt tile_at(const Range *r, int64_t lo, int64_t hi, int64_t index) {
    RangeAt at = {.index = interval_of(index)};
    int64_t begin = r->kind == RANGE_WHOLE ? lo : lo + index * tile_size(r);
    int64_t end = r->kind == RANGE_WHOLE ? hi : min_of(hi, begin + tile_size(r));
    at.begin = interval_of(begin);
    at.end = interval_of(max_of(begin, end));
    at.pos = (Interval){begin, end - 1};
    if (r->kind == RANGE_POSITION && end > begin) at.pos = interval_of(begin);
    return at;
}

static int64_t grid_length(const Env *e, const Range *r) {
    if (r->owner < 0) return size_eval(e->m, r->of, e->sym, e->coord);
    int coord[MAX_AXES] = {0};
    for (int i = 0; i < e->m->axis.n; i++) coord[i] = e->coord[i];
    if (r->of.axis >= 0) coord[axes_last(r->of.axis)] = (int)e->at[r->owner].index.lo;
    return size_eval(e->m, r->of, e->sym, coord);
}

void env_grid(Env *e, int range, int64_t index) {
    const Range *r = &e->k->range.p[range];
    int64_t n = grid_length(e, r);
    e->at[range] = tile_at(r, 0, n, index);
    if (!r->starts) return; /* of a ragged range any tile */
    e->at[range].begin = e->at[range].end = (Interval){0, n};
    e->at[range].pos = (Interval){0, n - 1};
}

void env_tile(Env *e, int range, int64_t lo, int64_t hi, int64_t index) {
    e->at[range] = tile_at(&e->k->range.p[range], lo, hi, index);
}

int64_t env_trips(const Env *e, int range, int64_t lo, int64_t hi) {
    const Range *r = &e->k->range.p[range];
    if (hi <= lo) return 0;
    return r->kind == RANGE_WHOLE ? 1 : (hi - lo - 1) / tile_size(r) + 1;
}

void env_whole(Env *e, int range, Interval lo, Interval hi) {
    const Range *r = &e->k->range.p[range];
    RangeAt at = {.begin = {lo.lo, hi.hi - 1}, .end = {lo.lo + 1, hi.hi}, .pos = {lo.lo, hi.hi - 1}};
    bool known = lo.lo > -UNBOUNDED && hi.hi < UNBOUNDED;
    at.index = (Interval){0, known ? env_trips(e, range, lo.lo, hi.hi) - 1 : UNBOUNDED};
    if (r->kind == RANGE_WHOLE) at.begin = lo, at.end = hi;
    e->at[range] = at;
}

/* ---- affine expressions ---- */

static Interval term_variable(Env *e, const Term *t) {
    switch (t->kind) {
    case TERM_POS: return e->at[t->id].pos;
    case TERM_INDEX: return e->at[t->id].index;
    case TERM_RANK: return interval_of(e->coord[t->id]);
    case TERM_BLOCK: return interval_mul(e->at[t->id].pos, interval_of(size_block(e->m, t->size, e->sym)));
    case TERM_SIZE: return interval_of(size_eval(e->m, t->size, e->sym, e->coord));
    case TERM_VALUE: return env_value(e, t->value);
    }
    return anything;
}

/* An empty variable makes an empty sum: no position, no access. */
Interval env_affine(Env *e, const Affine *a) {
    Interval sum = interval_of(a->c);
    for (int i = 0; i < a->nterm; i++) {
        Interval x = term_variable(e, &a->term[i]);
        if (interval_empty(x)) return (Interval){1, 0};
        sum = interval_add(sum, interval_mul(interval_div(x, a->term[i].div), interval_of(a->term[i].mul)));
    }
    return sum;
}

/* ---- scalars ---- */

static Interval eval(Env *e, const Value *v);

static Interval eval_compare(OpKind kind, Interval a, Interval b) {
    if (kind == OP_GT || kind == OP_LE) {
        Interval t = a;
        a = b, b = t;
        kind = kind == OP_GT ? OP_LT : OP_GE;
    }
    bool always, never;
    if (kind == OP_LT || kind == OP_GE) always = a.hi < b.lo, never = a.lo >= b.hi;
    else always = interval_exact(a) && interval_exact(b) && a.lo == b.lo, never = a.hi < b.lo || b.hi < a.lo;
    bool flip = kind == OP_GE || kind == OP_NE;
    if (!always && !never) return (Interval){0, 1};
    return interval_of(always != flip);
}

/* A sum or product that may leave 64 bits wraps. */
static Interval unwrapped(Interval a) { return a.lo <= -UNBOUNDED || a.hi >= UNBOUNDED ? anything : a; }

static bool is_truth(Interval a) { return a.lo >= 0 && a.hi <= 1; }

static Interval eval_binary(OpKind kind, Interval a, Interval b) {
    if (is_truth(a) && is_truth(b) && (kind == OP_AND || kind == OP_OR)) kind = kind == OP_AND ? OP_MIN : OP_MAX;
    switch (kind) {
    case OP_ADD: return unwrapped(interval_add(a, b));
    case OP_SUB: return unwrapped(interval_add(a, interval_mul(b, interval_of(-1))));
    case OP_MUL: return unwrapped(interval_mul(a, b));
    case OP_DIV: return interval_exact(b) && b.lo > 0 ? interval_div(a, b.lo) : anything;
    case OP_MOD: return interval_exact(b) && b.lo > 0 ? interval_mod(a, b.lo) : anything;
    case OP_MIN: return (Interval){min_of(a.lo, b.lo), min_of(a.hi, b.hi)};
    case OP_MAX: return (Interval){max_of(a.lo, b.lo), max_of(a.hi, b.hi)};
    default: return op_info[kind].class == CLASS_COMPARE ? eval_compare(kind, a, b) : anything;
    }
}

static Interval eval_index(Env *e, const Op *op) {
    switch (op->kind) {
    case OP_POS: return e->at[op->range].pos;
    case OP_BEGIN: return e->at[op->range].begin;
    case OP_END: return e->at[op->range].end;
    case OP_SIZE: return interval_of(size_eval(e->m, op->size, e->sym, e->coord));
    case OP_ORIGIN: return interval_of(size_origin(e->m, op->size, e->sym, e->coord));
    case OP_RANK: return interval_of(e->coord[op->axis]);
    default: return anything;
    }
}

static Interval eval_select(Env *e, const Op *op) {
    Interval cond = eval(e, op->arg.p[0]);
    if (interval_exact(cond)) return eval(e, op->arg.p[cond.lo ? 1 : 2]);
    return interval_hull(eval(e, op->arg.p[1]), eval(e, op->arg.p[2]));
}

/* What may have wrapped is unknown; a bool is 0 or 1. */
static Interval fit(Elem elem, Interval a) {
    int bits = elem_bits(elem);
    if (interval_empty(a)) return a;
    if (elem == ELEM_BOOL) return eval_compare(OP_NE, a, interval_of(0));
    if (bits >= 64) return a;
    bool sign = elem != ELEM_U8;
    int64_t least = sign ? -((int64_t)1 << (bits - 1)) : 0, most = ((int64_t)1 << (bits - sign)) - 1;
    return a.lo >= least && a.hi <= most ? a : anything;
}

static Interval eval_raw(Env *e, const Value *v) {
    const Op *op = v->def;
    if (!op || elem_is_float(v->type.elem) || e->budget-- <= 0) return anything;
    switch (op_info[op->kind].class) {
    case CLASS_CONST: return interval_of(op->imm);
    case CLASS_INDEX: return eval_index(e, op);
    case CLASS_SELECT: return eval_select(e, op);
    case CLASS_CAST: return eval(e, op->arg.p[0]);
    case CLASS_UNARY: return op->kind == OP_NOT && v->type.elem == ELEM_BOOL ? eval_compare(OP_EQ, eval(e, op->arg.p[0]), interval_of(0)) : anything;
    case CLASS_BINARY:
    case CLASS_COMPARE: {
        Interval a = eval(e, op->arg.p[0]), b = eval(e, op->arg.p[1]);
        return interval_empty(a) || interval_empty(b) ? (Interval){1, 0} : eval_binary(op->kind, a, b);
    }
    default: return anything;
    }
}

static Interval eval(Env *e, const Value *v) { return fit(v->type.elem, eval_raw(e, v)); }

Interval env_value(Env *e, const Value *v) {
    e->budget = VALUE_BUDGET;
    return eval(e, v);
}
