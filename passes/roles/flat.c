/* flat.c: loops over blocks of a sum, as over groups that have a scale each: `for e { part = 0; for p in w e .. w (e +
   1) { part += .. } acc += part * scale[e] }`, w positions being a step. Roles run one loop over the steps instead.
   Takes: such a loop of numbers. Gives: the inner one, whose steps are those of both. */
#include "passes/roles/slice.h"

enum { MOST_BLOCKS = 4096 /* that are looked at */ };

/* The only loop of the body; NULL: there are others, or conditions. */
static const Op *only_loop(const Op *loop) {
    const Op *found = NULL;
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        if (op->kind == OP_IF || op->kind == OP_PUT || (op->kind == OP_FOR && found)) return NULL;
        if (op->kind == OP_FOR) found = op;
    }
    return found;
}

/* The number in the block `at`; false: it depends on something else. */
static bool number_at(const Value *v, int range, int64_t at, int depth, int64_t *n) {
    enum { DEEP = 16 /* operations */ };
    const Op *op = v->def;
    int64_t a, b;
    if (value_const(v, n)) return true;
    if (!op || depth > DEEP) return false;
    if (op->kind == OP_POS && op->range == range) {
        *n = at;
        return true;
    }
    if (op->arg.n != 2 || !number_at(op->arg.p[0], range, at, depth + 1, &a) ||
        !number_at(op->arg.p[1], range, at, depth + 1, &b))
        return false;
    switch (op->kind) {
    case OP_ADD: *n = a + b; return true;
    case OP_SUB: *n = a - b; return true;
    case OP_MUL: *n = a * b; return true;
    case OP_MIN: *n = a < b ? a : b; return true;
    case OP_MAX: *n = a > b ? a : b; return true;
    default: return false;
    }
}

/* Blocks follow each other from 0 on, each of a step, of which the last one may end early. */
static bool blocks_follow(const Op *loop, const Op *inner, int64_t step, int64_t *end) {
    int64_t first, past, lo, hi;
    if (!value_const(loop->arg.p[0], &first) || !value_const(loop->arg.p[1], &past)) return false;
    if (first != 0 || past < 1 || past > MOST_BLOCKS) return false;
    for (int64_t e = 0; e < past; e++) {
        if (!number_at(inner->arg.p[0], loop->range, e, 0, &lo) || !number_at(inner->arg.p[1], loop->range, e, 0, &hi))
            return false;
        if (lo != e * step || hi <= lo || (e + 1 < past ? hi != lo + step : hi > lo + step)) return false;
        *end = hi;
    }
    return true;
}

/* Places may count blocks in loads of the groups, not in copies. */
static bool copies_count(const Slice *s, const Op *inner, int range) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            const Op *load = s->stream.p[i].load.p[n];
            if (load->in->parent != inner) return true;
            for (int d = 0; d < load->sub.n; d++)
                for (int t = 0; t < load->sub.p[d].lo.nterm; t++) {
                    const Term *term = &load->sub.p[d].lo.term[t];
                    if (term->kind == TERM_VALUE || (term->kind == TERM_POS && term->id == range)) return true;
                }
        }
    return false;
}

const Op *loop_flat(const Slice *s, const Op *loop, int64_t *end) {
    if (!s->makes || s->chained || loop->kind != OP_FOR || loop->in != s->k->body || loop->region[1]) return NULL;
    const Op *inner = s->k->range.p[loop->range].kind == RANGE_POSITION ? only_loop(loop) : NULL;
    if (!inner || s->k->range.p[inner->range].kind != RANGE_TILE || copies_count(s, inner, loop->range)) return NULL;
    return blocks_follow(loop, inner, slice_depth(s), end) ? inner : NULL;
}

/* ---- building ---- */

Op *flat_begin(Cut *c, const Op *loop, const Op *inner, int64_t end, int carried) {
    Value **init = ARENA_ARRAY(c->s->scratch, Value *, carried + 1);
    for (int i = 0; i < carried; i++) init[i] = cut_value(c, loop->arg.p[2 + i]);
    c->b.loc = loop->loc;
    const Stream *t = c->s->slices > 1 ? &c->s->stream.p[0] : NULL;
    Op *flat = t ? build_for(&c->b, inner->range, t->first, t->past, init, carried)
                 : build_for(&c->b, inner->range, cut_value(c, loop->arg.p[0]), build_const_i(&c->b, ELEM_I64, end),
                             init, carried);
    for (int i = 0; i < carried; i++) {
        cut_name(c, loop->region[0]->arg.p[i], flat->region[0]->arg.p[i]);
        cut_name(c, loop->res.p[i], flat->res.p[i]);
    }
    return flat;
}

/* In the loop: the number of the block. */
void flat_count(Cut *c, const Op *loop, const Op *inner) {
    Value *begin = build_index(&c->b, OP_BEGIN, inner->range),
          *size = build_const_i(&c->b, ELEM_I64, c->s->k->range.p[inner->range].size);
    c->counted = 1 + loop->range;
    c->count = build_binary(&c->b, OP_DIV, begin, size);
}
