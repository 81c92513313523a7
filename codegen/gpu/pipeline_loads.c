/* pipeline_loads.c: software-pipelined loads: the first tiles before the loop, the next ones as soon as no later step
   of the body reads those that are there. */
#include "codegen/gpu/hip.h"

#include <inttypes.h>

static bool region_reads(Fn *f, const Region *r, const Value *v);

/* By its operands, its subscripts, or somewhere inside. */
static bool op_reads(Fn *f, const Op *op, const Value *v) {
    for (int i = 0; i < op->arg.n; i++)
        if (reads(f, op->arg.p[i], v)) return true;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            if (t->kind == TERM_VALUE && reads(f, t->value, v)) return true;
        }
    return region_reads(f, op->region[0], v) || region_reads(f, op->region[1], v);
}

static bool region_reads(Fn *f, const Region *r, const Value *v) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next)
        if (op_reads(f, op, v)) return true;
    return false;
}

static bool is_fetched(Fn *f, const Op *op) { return op->pipelined && is_step(f, op); }

/* The step that comes last among those which read what was loaded. */
static const Op *last_reader(Fn *f, const Op *load) {
    for (const Op *op = load->in->last; op != load; op = op->prev)
        if (is_step(f, op) && op_reads(f, op, load->res.p[0])) return op;
    return load;
}

/* The loads of the loop's tile that begins at a place. */
static void fetch(Fn *f, const Op *loop, const CExpr *begin, const Op *const *load, int n) {
    RangeText *range = &f->range[loop->range], now = *range;
    range_text_tile(f, loop->range, begin);
    for (int i = 0; i < n; i++) {
        fn_source_line(f, load[i]->loc);
        hip_load_tile(f, load[i], &fn_held(f, load[i]->res.p[0])->tile);
    }
    *range = now;
}

/* Under a condition, where it is not certain that there is a tile. */
static void fetch_if(Fn *f, const char *when, const Op *loop, const CExpr *begin, const Op *const *load, int n) {
    if (when) {
        fn_line(f, "if (%s) {", when);
        f->indent++;
    }
    fetch(f, loop, begin, load, n);
    if (!when) return;
    f->indent--;
    fn_line(f, "}");
}

static int ops_of(const Region *r) {
    int n = 0;
    for (const Op *op = r->first; op; op = op->next) n++;
    return n;
}

void hip_first_tiles(Fn *f, const Op *loop) {
    const Op **load = ARENA_ARRAY(f->arena, const Op *, ops_of(loop->region[0]) + 1);
    int n = 0;
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (is_fetched(f, op)) load[n++] = op;
    if (!n) return;
    const RangeText *r = &f->range[loop->range];
    int64_t lo, hi;
    bool certain = cexpr_const(r->first, &lo) && cexpr_const(r->end, &hi) && lo < hi;
    for (int i = 0; i < n; i++) held_tile(f, load[i]->res.p[0]);
    fetch_if(f, certain ? NULL : fn_text(f, "%s < %s", r->first->text, r->end->text), loop, r->first, load, n);
}

void hip_next_tiles(Fn *f, const Op *op) {
    const Op *loop = op->in->parent;
    if (!loop || loop->kind != OP_FOR || !op->prev) return;
    const Op **load = ARENA_ARRAY(f->arena, const Op *, ops_of(op->in) + 1);
    int n = 0;
    for (const Op *x = op->in->first; x != op; x = x->next)
        if (is_fetched(f, x) && hip_written_with(f, last_reader(f, x)) == op->prev) load[n++] = x;
    if (!n) return;
    const RangeText *r = &f->range[loop->range];
    const CExpr *next = cexpr_group(f, cexpr_open(f, "%s + %" PRId64, r->begin->text, f->k->range.p[loop->range].size));
    fetch_if(f, fn_text(f, "%s < %s", cexpr_bare(next)->text, r->end->text), loop, next, load, n);
}
