/* grouped.c: sums in groups, as weights of few bits are scaled: a loop over groups, and in it a product of few rows with
   codes in memory. Each group's sum is scaled by a number for its column, and added up. One call does it, in place of
   both loops (tile_few_scaled_* of runtime/device/tile_few.h). Groups are equal but for the last; all sizes are known. */
#include "codegen/host/rows.h"
#include "codegen/text/access.h"
#include "codegen/text/size.h"
#include "ir/match.h"
#include "ir/size.h"

typedef struct {
    const Op *loop, *inner, *dot;
    const Value *scale;
    int64_t k, width;
} Grouped;

static bool number_of(const Value *v, int64_t *n) {
    const Op *size = match_op(v, OP_SIZE);
    double x;
    if (size) return *n = size->size.c, size_is_number(size->size);
    if (!match_number(v, &x)) return false;
    return *n = (int64_t)x, true;
}

/* v = width * pos(range) + c */
static bool multiple_of(const Value *v, int range, int64_t *width, int64_t *c) {
    const Value *base;
    match_sum(v, &base, c);
    const Op *mul = match_op(base, OP_MUL);
    for (int i = 0; mul && i < 2; i++) {
        const Op *pos = match_op(mul->arg.p[i], OP_POS);
        if (pos && pos->range == range && number_of(mul->arg.p[1 - i], width)) return true;
    }
    return false;
}

/* The inner loop's bounds: width e .. min(k, width (e + 1)). */
static bool bounds_match(Grouped *g) {
    int64_t c, width;
    const Op *min = match_op(g->inner->arg.p[1], OP_MIN);
    if (!min || !multiple_of(g->inner->arg.p[0], g->loop->range, &g->width, &c) || c || g->width < 1) return false;
    for (int i = 0; i < 2; i++)
        if (number_of(min->arg.p[i], &g->k) && multiple_of(min->arg.p[1 - i], g->loop->range, &width, &c) &&
            width == g->width && c == width)
            return true;
    return false;
}

/* All groups there are: as many as k has. */
static bool counts_match(const Grouped *g) {
    int64_t lo, hi;
    return number_of(g->loop->arg.p[0], &lo) && number_of(g->loop->arg.p[1], &hi) && lo == 0 &&
           hi == (g->k + g->width - 1) / g->width;
}

/* The loop carries one value, which its body ends with; *last: what that is. */
static bool carries_one(const Op *loop, const Value **last) {
    const Op *yield = loop->region[0]->last;
    if (loop->res.n != 1 || !yield || yield->kind != OP_YIELD) return false;
    *last = yield->arg.p[0];
    return true;
}

static bool writes_nothing(const Op *loop) {
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (!op_is_expression(op) && op->kind != OP_LOAD && op->kind != OP_DOT && op->kind != OP_FOR &&
            op->kind != OP_YIELD)
            return false;
    return true;
}

/* part * scale, part being what an inner loop sums from zero. */
static bool scaled_match(Grouped *g, const Value *term) {
    const Op *mul = match_op(term, OP_MUL);
    for (int i = 0; mul && i < 2; i++) {
        const Op *inner = mul->arg.p[i]->def;
        double zero;
        const Value *sum;
        if (!inner || inner->kind != OP_FOR || inner->in != g->loop->region[0] || !carries_one(inner, &sum)) continue;
        g->inner = inner, g->scale = match_bare(mul->arg.p[1 - i]), g->dot = match_op(sum, OP_DOT);
        return g->dot && g->dot->arg.n == 3 && g->dot->arg.p[2] == inner->region[0]->arg.p[0] &&
               writes_nothing(inner) && match_number(inner->arg.p[2], &zero) && zero == 0;
    }
    return false;
}

/* Subscripts are made of positions of other ranges than the group's. */
static bool stands_for_itself(const Op *load, int group) {
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++) {
            const Term *t = &load->sub.p[d].lo.term[i];
            if (t->kind == TERM_VALUE || t->kind == TERM_INDEX || (t->kind == TERM_POS && t->id == group)) return false;
        }
    return true;
}

/* Nothing in the inner loop is made by the outer one, knows the group, or has a place of its own. */
static bool inner_is_apart(Fn *f, const Grouped *g) {
    for (const Op *op = g->inner->region[0]->first; op != g->inner->region[0]->last; op = op->next) {
        if (!op->res.n) return false;
        for (int i = 0; i < op->arg.n; i++)
            if (op->arg.p[i]->def && op->arg.p[i]->def->in == g->loop->region[0]) return false;
        if (op_info[op->kind].class == CLASS_INDEX && (op->range == g->loop->range || op->kind != OP_POS)) return false;
        if (op->kind == OP_LOAD && !stands_for_itself(op, g->loop->range)) return false;
        const Hold hold = fn_held(f, op->res.p[0])->hold;
        if (op != g->dot && hold != HOLD_INLINE && hold != HOLD_UNUSED) return false;
    }
    return true;
}

/* A load for each column, by numbers of positions alone. */
static bool scale_is_load(const Grouped *g) {
    const Op *load = match_op(g->scale, OP_LOAD);
    return load && g->scale->type.nrange == 1 && stands_for_itself(load, -1);
}

static bool grouped_match(Fn *f, const Op *loop, Grouped *g) {
    *g = (Grouped){.loop = loop};
    const Value *last;
    if (!carries_one(loop, &last) || !writes_nothing(loop)) return false;
    const Value *term = match_other(last, OP_ADD, loop->region[0]->arg.p[0]);
    return term && scaled_match(g, term) && g->dot->nover == 1 && g->dot->over[0] == g->inner->range &&
           bounds_match(g) && counts_match(g) && inner_is_apart(f, g) && scale_is_load(g);
}

/* The inner range's text, as if one tile of it were all of the sum; that of the first group. */
static void range_from_zero(Fn *f, const Grouped *g) {
    const CExpr *zero = cexpr_number(f, 0), *k = cexpr_number(f, g->k);
    const CExpr *pos = cexpr_name(f, c_name(&f->names, f->k->range.p[g->inner->range].name));
    const RangeText all = {.begin = zero, .index = zero, .first = zero, .end = k, .count = k, .most = g->k};
    f->range[g->inner->range] = all;
    f->range[g->inner->range].pos = pos;
    f->range[g->loop->range] = (RangeText){.pos = zero, .begin = zero, .index = zero, .count = cexpr_number(f, 1)};
    f->range[g->loop->range].most = 1;
    f->range[g->inner->range].natural = f->range[g->loop->range].natural = true;
}

static bool emit_call(Fn *f, const Grouped *g, const Tile *to) {
    FewProduct p;
    Rows w, x, scale, y;
    if (!few_of(f, g->dot, &p, &w) || !w.whole || !rows_end_with(to, p.n) || g->scale->type.range[0] != p.n)
        return false;
    Nest n = few_nest(f, &p);
    if (!rows_of_value(&n, g->scale, p.n, g->loop->range, &scale) || !scale.whole) return false;
    const int64_t mark = f->scratch;
    few_left(&n, &p, &x);
    rows_of_codes(&n, p.w, p.n, p.k, &w);
    rows_of_tile(&n, to, p.m, p.n, &y);
    nest_line(&n, n.n, "tile_few_scaled_%s(%s, %s, %lld, %lld, &%s, %s, %s, %s, &%s, %s, &%s, %s);", elem_text(w.elem),
              p.m < 0 ? "1" : cexpr_bare(f->range[p.m].count)->text, cexpr_bare(f->range[p.n].count)->text,
              (long long)g->k, (long long)g->width, x.at->text, x.stride->text, w.from, w.stride->text, scale.at->text,
              scale.stride->text, y.at->text, y.stride->text);
    nest_print(&n);
    f->scratch = mark;
    return true;
}

bool emit_grouped(Fn *f, const Op *loop) {
    Grouped g;
    const CExpr *lo, *hi;
    if (!grouped_match(f, loop, &g)) return false;
    const int inner = g.inner->range;
    emit_for_head(f, loop, &lo, &hi);
    const RangeText was = f->range[inner], outer = f->range[loop->range];
    range_from_zero(f, &g);
    const bool made = emit_call(f, &g, &fn_held(f, loop->region[0]->arg.p[0])->tile);
    f->range[inner] = was, f->range[loop->range] = outer;
    if (!made) emit_for_steps(f, loop, lo, hi);
    return true;
}
