/* range.c: texts of the ranges of a kernel: where its tasks and the tiles of its loops begin, and what they have. */
#include "codegen/text/access.h"
#include "codegen/text/program.h"
#include "codegen/text/size.h"

#include <inttypes.h>
#include <string.h>

static int64_t smaller(int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : a < b ? a : b; }

/* Extent of a grid range: of the block of the owner that another range is at, or of this rank's. */
static const CExpr *grid_extent(Fn *f, const Range *r) {
    return r->owner >= 0 ? size_text_at(f, r->of, f->range[r->owner].pos) : size_text(f, r->of);
}

static const CExpr *count_text(Fn *f, int64_t size, const CExpr *begin, const CExpr *end) {
    int64_t n, b;
    if (cexpr_const(end, &n)) {
        if (cexpr_const(begin, &b)) return cexpr_number(f, n - b < 0 ? 0 : n - b < size ? n - b : size);
        if (n > 0 && n % size == 0) return cexpr_number(f, size);
    }
    if (cexpr_is(begin, 0)) return cexpr_call(f, "tile_least(%" PRId64 ", %s)", size, end->text);
    return cexpr_call(f, "tile_least(%" PRId64 ", %s - %s)", size, end->text, cexpr_operand(f, begin)->text);
}

/* A tile may lie beyond the end: of a block that is shorter than others, or in a cluster. */
static bool may_be_beyond(const Fn *f, const Range *r) {
    return r->owner >= 0 || range_cluster(f->k, (int)(r - f->k->range.p)) > 1;
}

static const CExpr *grid_count(Fn *f, const Range *r, const CExpr *begin, const CExpr *end) {
    int range = (int)(r - f->k->range.p);
    if (range_cluster(f->k, range) == 1) return count_text(f, r->size, begin, end);
    if (range_is_full(f->k, range)) return cexpr_number(f, r->size);
    return cexpr_call(f, "tile_least(%" PRId64 ", %s - %s)", r->size, end->text, cexpr_operand(f, begin)->text);
}

/* Known behind the operation that finds it. */
static void grid_ragged(Fn *f, RangeText *t, const Range *r, const char *name) {
    t->index = cexpr_name(f, c_name(&f->names, fn_text(f, "%s_tile", name)));
    t->begin = cexpr_name(f, c_name(&f->names, fn_text(f, "%s0", name)));
    t->count = cexpr_name(f, c_name(&f->names, fn_text(f, "n%s", name)));
    t->most = smaller(r->size, size_most(f->m, r->of));
}

static void grid_tile(Fn *f, RangeText *t, const Range *r, const char *name) {
    const CExpr *end = grid_extent(f, r), *begin = cexpr_name(f, c_name(&f->names, fn_text(f, "%s0", name)));
    t->index = cexpr_name(f, c_name(&f->names, fn_text(f, "%s_tile", name)));
    fn_constant(f, begin->text, cexpr_mul(f, cexpr_number(f, r->size), t->index)->text);
    t->begin = begin;
    t->most = smaller(r->size, size_most(f->m, r->of));
    t->count = grid_count(f, r, begin, end);
    int64_t n;
    if (cexpr_const(t->count, &n)) return;
    const char *count = c_name(&f->names, fn_text(f, "n%s", name));
    fn_constant(f, count, may_be_beyond(f, r) ? fn_text(f, "tile_most(0, %s)", t->count->text) : t->count->text);
    t->count = cexpr_name(f, count);
}

static void grid_whole(Fn *f, RangeText *t, const Range *r) {
    t->begin = t->index = cexpr_number(f, 0);
    t->most = size_most(f->m, r->of);
    t->count = grid_extent(f, r);
}

/* Grids have the tasks of a full block, and at least one. */
static bool may_be_missing(const Module *m, Size of) {
    if (of.sym >= 0 || of.c < 1) return true;
    return of.axis >= 0 && of.c % axes_ranks(m, of.axis) != 0;
}

void range_text_grid(Fn *f) {
    f->range = ARENA_ARRAY(f->arena, RangeText, f->k->range.n + 1);
    for (int i = f->k->ngrid; i < f->k->range.n; i++) f->range[i].most = range_most(f->m, f->k, i);
    for (int i = 0; i < f->k->ngrid; i++) {
        const Range *r = &f->k->range.p[i];
        RangeText *t = &f->range[i];
        t->natural = true;
        t->pos = cexpr_name(f, c_name(&f->names, r->name));
        if (r->starts)
            grid_ragged(f, t, r, t->pos->text);
        else if (r->kind == RANGE_TILE)
            grid_tile(f, t, r, t->pos->text);
        else if (r->kind == RANGE_WHOLE)
            grid_whole(f, t, r);
        else
            *t = (RangeText){.pos = t->pos,
                             .begin = t->pos,
                             .count = cexpr_number(f, 1),
                             .index = t->pos,
                             .most = 1,
                             .natural = true,
                             .missing = may_be_missing(f->m, r->of)};
    }
}

void range_text_group(Fn *f, const Op *group) {
    const Range *r = &f->k->range.p[group->range];
    const RangeText *t = &f->range[group->range];
    const Held *held = fn_held(f, group->res.p[0]);
    const char *of = size_text(f, r->of)->text, *groups = size_text(f, range_groups(f->k, group->range))->text;
    if (f->back->refuse_starts) f->back->refuse_starts(f, group, groups, of, t->index->text);
    const char *at = c_name(&f->names, fn_text(f, "%s_at", r->name));
    fn_line(f, "const tile_ragged %s = tile_ragged_%s(%s, %s, %s, %" PRId64 ", %s);", at,
            elem_text(f->k->param.p[group->param].elem), f->param[group->param], groups, of, r->size, t->index->text);
    fn_local(f, t->begin->text, fn_text(f, "%s.begin", at));
    fn_local(f, t->count->text, fn_text(f, "%s.count", at));
    if (held->reader.op) {
        fn_held(f, group->res.p[0])->name = c_name(&f->names, fn_value_name(f, group->res.p[0]));
        fn_line(f, "const int64_t %s = %s.group;", held->name, at);
    }
    if (!region_synchronises(f->k->body)) fn_line(f, "if (%s == 0) %s", t->count->text, f->back->leave);
}

/* The access has one subscript that is the position alone, of a dimension of the same extent. */
static bool access_is_at(const Kernel *k, const Op *op, int range) {
    const Param *p = &k->param.p[op->param];
    for (int d = 0; d < p->ndim; d++) {
        const Affine *a = &op->sub.p[d + (p->ranks >= 0)].lo;
        bool alone = a->nterm == 1 && a->c == 0 && a->term[0].kind == TERM_POS && a->term[0].id == range;
        if (alone && a->term[0].mul == 1 && a->term[0].div == 1 && size_equal(p->dim[d], k->range.p[range].of))
            return true;
    }
    return false;
}

/* Nothing that others see happens beyond the end of the range. */
static bool only_stores_at(const Kernel *k, const Region *r, int range) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op->kind == OP_SIGNAL || op->kind == OP_WAIT) return false;
        if (op->kind == OP_STORE && !access_is_at(k, op, range)) return false;
    }
    return true;
}

void skip_missing_tasks(Fn *f) {
    for (int i = 0; i < f->k->ngrid; i++) {
        RangeText *t = &f->range[i];
        if (!t->missing || !only_stores_at(f->k, f->k->body, i)) continue;
        fn_line(f, "if (%s >= %s) %s", t->pos->text, grid_extent(f, &f->k->range.p[i])->text, f->back->leave);
        t->missing = false;
    }
}

/* Index of the current tile, counted from the loop's start. */
static const CExpr *for_index(Fn *f, const RangeText *t, const CExpr *lo, int64_t size) {
    const CExpr *from = cexpr_is(lo, 0)
                            ? t->begin
                            : cexpr_group(f, cexpr_open(f, "%s - %s", t->begin->text, cexpr_operand(f, lo)->text));
    return size == 1 ? from : cexpr_group(f, cexpr_open(f, "%s / %" PRId64, from->text, size));
}

void range_text_for(Fn *f, const Op *loop, const CExpr *lo, const CExpr *hi) {
    const Range *r = &f->k->range.p[loop->range];
    RangeText *t = &f->range[loop->range];
    *t = (RangeText){.natural = value_is_natural(f->k, loop->arg.p[0])};
    t->pos = cexpr_name(f, c_name(&f->names, r->name));
    int64_t most = value_most(f->m, f->k, loop->arg.p[1]);
    if (r->kind == RANGE_POSITION) {
        t->begin = t->pos;
        t->count = cexpr_number(f, 1);
        t->most = 1;
        t->index = for_index(f, t, lo, 1);
    } else if (r->kind == RANGE_WHOLE) {
        t->begin = lo;
        t->count = cexpr_is(lo, 0) ? hi : cexpr_open(f, "%s - %s", hi->text, cexpr_operand(f, lo)->text);
        t->index = cexpr_number(f, 0);
        t->most = most;
    } else {
        t->most = smaller(r->size, most);
        t->first = lo;
        t->end = hi;
        range_text_tile(f, loop->range, cexpr_name(f, c_name(&f->names, fn_text(f, "%s0", r->name))));
    }
}

void range_text_tile(Fn *f, int range, const CExpr *begin) {
    RangeText *t = &f->range[range];
    int64_t size = f->k->range.p[range].size;
    const CExpr *left =
        cexpr_is(begin, 0) ? t->end : cexpr_open(f, "%s - %s", t->end->text, cexpr_operand(f, begin)->text);
    t->begin = begin;
    if (!f->k->range.p[range].grid &&
        (range_is_full(f->k, range) || (f->k->roles && range_has_whole_steps(f->k, range))))
        t->count = cexpr_number(f, size);
    else
        t->count = cexpr_is(t->first, 0) ? count_text(f, size, begin, t->end)
                                         : cexpr_call(f, "tile_least(%" PRId64 ", %s)", size, left->text);
    t->index = for_index(f, t, t->first, size);
}

/* ---- tasks ---- */

const CExpr *range_tasks(Fn *f, const Kernel *k, int range) {
    const Range *r = &k->range.p[range];
    if (r->kind == RANGE_WHOLE) return cexpr_number(f, 1);
    return r->starts ? ragged_tasks_text(f, r->of, r->size, range_groups(k, range)) : tasks_text(f, r->of, r->size);
}

const CExpr *node_tasks(Fn *f, const Kernel *k) {
    const CExpr *n = cexpr_number(f, 1);
    for (int i = 0; i < k->ngrid; i++) n = cexpr_mul(f, n, cexpr_operand(f, range_tasks(f, k, i)));
    return n;
}

/* Row-major: the last range is the fastest. */
const CExpr *grid_index(Fn *f, const Kernel *k, int range, const char *task) {
    const CExpr *inner = cexpr_number(f, 1), *own = range_tasks(f, k, range), *outer = inner;
    for (int i = 0; i < k->ngrid; i++) {
        const CExpr **side = i < range ? &outer : &inner;
        if (i != range) *side = cexpr_mul(f, *side, cexpr_operand(f, range_tasks(f, k, i)));
    }
    if (cexpr_is(own, 1)) return cexpr_number(f, 0);
    const CExpr *index = cexpr_name(f, task);
    if (!cexpr_is(inner, 1)) index = cexpr_open(f, "%s / %s", task, cexpr_operand(f, inner)->text);
    return cexpr_is(outer, 1) ? index : cexpr_open(f, "%s %% %s", index->text, cexpr_operand(f, own)->text);
}
