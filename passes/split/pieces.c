/* pieces.c: cuts a loop into parts that its merge puts together; tests whether a merge says what its loop does.
   for piece in 0 .. ceil((hi - lo) / step) with (acc) {
     part = for p in lo' .. hi' { .. };  yield piece == 0 ? part : merge(mend(acc), mend(part)) } */
#include "passes/split/pieces.h"

#include "passes/fuse/inline.h"

#include <math.h>

static Op *merge_loop_in(const Region *r, int n) {
    for (Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_FOR && op->region[1] && n-- == 0) return op;
    return NULL;
}

Op *merge_loop(const Kernel *k, int n) { return merge_loop_in(k->body, n); }

static Value *number(Builder *b, int64_t n) { return build_const_i(b, ELEM_I64, n); }

static Value *sum(Builder *b, Value *x, Value *y) { return build_binary(b, OP_ADD, x, y); }

void merge_move(Op *loop, Region *to, Value *const *mine, Value *const *other) {
    Region *merge = loop->region[1];
    int n = loop->res.n;
    for (int i = 0; i < n; i++) region_replace(merge, merge->arg.p[i], mine[i]);
    for (int i = 0; i < n; i++) region_replace(merge, merge->arg.p[n + i], other[i]);
    region_take(to, merge);
    loop->region[1] = NULL;
}

/* ---- where pieces begin and end ---- */

static bool length_known(const Op *loop, int64_t *n) {
    const Op *lo = loop->arg.p[0]->def, *hi = loop->arg.p[1]->def;
    if (!lo || !hi || lo->kind != OP_CONST || hi->kind != OP_CONST) return false;
    *n = hi->imm > lo->imm ? hi->imm - lo->imm : 0;
    return true;
}

static int64_t step_known(int64_t length, int64_t parts, int64_t multiple) {
    return multiple * (length ? ceil_div(length, parts * multiple) : 1);
}

int64_t pieces_most(const Op *loop, int64_t parts, int64_t multiple) {
    int64_t n;
    return length_known(loop, &n) ? ceil_div(n, step_known(n, parts, multiple)) : parts;
}

/* step = multiple * max(1, ceil(length / (parts * multiple))), count = ceil(length / step) */
Pieces pieces_of(Builder *b, const Op *loop, int64_t parts, int64_t multiple) {
    int64_t known;
    if (length_known(loop, &known)) {
        int64_t step = step_known(known, parts, multiple), count = ceil_div(known, step);
        return (Pieces){number(b, step), number(b, count), count * step == known};
    }
    Value *length = build_binary(b, OP_SUB, loop->arg.p[1], loop->arg.p[0]), *zero = number(b, 0);
    length = build_binary(b, OP_MAX, length, zero);
    Value *tiles =
        build_binary(b, OP_DIV, sum(b, length, number(b, parts * multiple - 1)), number(b, parts * multiple));
    Value *step = build_binary(b, OP_MAX, tiles, number(b, 1));
    if (multiple > 1) step = build_binary(b, OP_MUL, step, number(b, multiple));
    Value *past = build_binary(b, OP_SUB, sum(b, length, step), number(b, 1));
    return (Pieces){step, build_binary(b, OP_DIV, past, step), false};
}

void piece_bounds(Builder *b, const Op *loop, const Pieces *p, Value *at, Value **from, Value **to) {
    const Op *lo = loop->arg.p[0]->def;
    *from = build_binary(b, OP_MUL, at, p->step);
    if (!lo || lo->kind != OP_CONST || lo->imm) *from = sum(b, loop->arg.p[0], *from);
    *to = sum(b, *from, p->step);
    if (!p->even) *to = build_binary(b, OP_MIN, loop->arg.p[1], *to);
}

/* A maximum or minimum of nothing: -inf or inf. */
static bool begins_infinite(const Value *init) {
    const Op *op = init->def;
    if (op && op->kind == OP_BROADCAST) op = op->arg.p[0]->def;
    return op && op->kind == OP_CONST && elem_is_float(init->type.elem) && isinf(op->fimm);
}

/* part[v] = begin[e] == part[e] && part[v] != part[v] ? begin[v] : part[v] */
static Value *value_mend(Builder *b, Value *const *begin, Value *const *part, int e, int v) {
    Value *still = build_binary(b, OP_EQ, part[e], begin[e]), *is_nan = build_binary(b, OP_NE, part[v], part[v]);
    return build_select(b, build_binary(b, OP_AND, still, is_nan), begin[v], part[v]);
}

Value **part_mend(Builder *b, Value *const *begin, Value *const *part, int n) {
    Value **out = ARENA_ARRAY(b->m->arena, Value *, n + 1);
    for (int v = 0; v < n; v++) {
        out[v] = part[v];
        for (int e = 0; e < n && elem_is_float(part[v]->type.elem); e++)
            if (e != v && begins_infinite(begin[e]) && type_covers(part[v]->type, part[e]->type)) {
                out[v] = value_mend(b, begin, part, e, v);
                break;
            }
    }
    return out;
}

/* What the loop gave, the outer one gives now; the parts have results of their own. */
static void results_swap(Module *m, Kernel *k, Op *loop, Op *outer) {
    for (int i = 0; i < loop->res.n; i++) {
        Value *given = loop->res.p[i];
        given->def = outer;
        outer->res.p[i] = given;
    }
    int n = loop->res.n;
    loop->res.n = 0;
    for (int i = 0; i < n; i++) op_result(m, k, loop, outer->res.p[i]->type);
}

static int piece_range(Module *m, Kernel *k, Loc loc) {
    Range r = {.name = name_of(m->names, "piece"), .kind = RANGE_POSITION, .size = 1, .owner = -1, .loc = loc};
    return kernel_range(m, k, r);
}

void loop_cut(Module *m, Kernel *k, Op *loop, int64_t parts, bool backwards) {
    Region aside = {.parent = loop->in->parent};
    Builder b = {.m = m, .k = k, .at = &aside, .loc = loop->loc};
    int n = loop->res.n, piece = piece_range(m, k, loop->loc);
    Value *const *begin = arena_copy(m->arena, loop->arg.p + 2, sizeof *begin * (size_t)n);
    Value *one = number(&b, 1), *zero = number(&b, 0);
    Pieces p = pieces_of(&b, loop, parts, 1);
    Op *outer = build_for(&b, piece, zero, p.count, begin, n);
    b.at = outer->region[0];
    Value *pos = build_index(&b, OP_POS, piece);
    Value *at = backwards ? build_binary(&b, OP_SUB, build_binary(&b, OP_SUB, p.count, one), pos) : pos;
    Value *from, *to;
    piece_bounds(&b, loop, &p, at, &from, &to);
    Value *first = build_binary(&b, OP_EQ, pos, zero);
    results_swap(m, k, loop, outer);
    region_splice_before(loop, &aside);
    op_remove(loop);
    op_append_to(outer->region[0], loop);
    loop->arg.p[0] = from;
    loop->arg.p[1] = to;
    Type *type = ARENA_ARRAY(m->arena, Type, n + 1);
    for (int i = 0; i < n; i++) type[i] = loop->res.p[i]->type;
    Op *branch = build_if(&b, first, type, n);
    b.at = branch->region[0];
    build_yield(&b, loop->res.p, n);
    b.at = branch->region[1];
    Value *const *held = part_mend(&b, begin, outer->region[0]->arg.p, n);
    Value *const *part = part_mend(&b, begin, loop->res.p, n);
    merge_move(loop, branch->region[1], backwards ? part : held, backwards ? held : part);
    b.at = outer->region[0];
    build_yield(&b, branch->res.p, n);
}
