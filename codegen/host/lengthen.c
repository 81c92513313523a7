/* lengthen.c: longer steps of a loop whose products read a matrix in memory where it is, and of sums without tiles. A
   short step ends with sums across vectors, and reads a few lines of each page. */
#include "codegen/host/host.h"
#include "codegen/text/access.h"
#include "ir/size.h"

/* Positions of a step; elements of a tile that it makes, at most: those of the second-level cache. */
enum { STEP = 4096, MOST_ELEMENTS = 65536 };

static bool counts_tiles(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_INDEX && a->term[i].id == range) return true;
    return false;
}

/* Made in scratch memory, a step of it is still small. */
static bool stays_small(Fn *f, const Value *v, int range) {
    int64_t n = STEP;
    if (!type_has(v->type, range) || fn_held(f, v)->hold != HOLD_TILE) return true;
    for (int i = 0; i < v->type.nrange; i++)
        if (v->type.range[i] != range && __builtin_mul_overflow(n, f->range[v->type.range[i]].most, &n)) return false;
    return n >= 0 && n <= MOST_ELEMENTS;
}

static bool sums_over(const Op *op, int range) { return op->nover == 1 && op->over[0] == range; }

/* Rows in memory times few rows, or a sum of products alone. */
static bool dot_may_be_long(Fn *f, const Op *op) {
    DotRanges d;
    return (!dot_ranges(f, op, &d) && d.m < 0 && d.n < 0) || few_reads_in_place(f, op) || integers_read_in_place(f, op);
}

static bool may_be_long(Fn *f, const Op *op, int range) {
    for (int d = 0; d < op->sub.n; d++)
        if (counts_tiles(&op->sub.p[d].lo, range)) return false;
    for (int i = 0; i < op->res.n; i++)
        if (!stays_small(f, op->res.p[i], range)) return false;
    switch (op_info[op->kind].class) {
    case CLASS_DOT: return sums_over(op, range) && dot_may_be_long(f, op);
    case CLASS_REDUCE: return !op_info[op->kind].position;
    case CLASS_MEMORY: return op->kind == OP_LOAD && !f->k->param.p[op->param].packet;
    case CLASS_CONTROL: return op->kind == OP_YIELD;
    case CLASS_INDEX: return op->range != range || op->kind == OP_POS;
    default: return op_is_expression(op);
    }
}

/* Products over the range, or sums, and nothing that its steps' length decides; a file of sizes decides itself. */
static bool is_free(Fn *f, const Op *loop) {
    const Range *r = &f->k->range.p[loop->range];
    bool sums = false;
    if (f->k->plan.sized || r->kind != RANGE_TILE || !r->tunable || r->size >= STEP || kernel_needs_size(f->k, loop->range)) return false;
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        if (!may_be_long(f, op, loop->range)) return false;
        sums |= sums_over(op, loop->range);
    }
    return sums;
}

/* All there is, in whole steps as written, or STEP. */
static int64_t step_of(Fn *f, const Op *loop) {
    const int64_t size = f->k->range.p[loop->range].size, most = value_most(f->m, f->k, loop->arg.p[1]);
    return most < 0 || most > STEP ? STEP / size * size : most < size ? size : (most + size - 1) / size * size;
}

void lengthen_steps(Fn *f, const Op *loop) {
    if (!is_free(f, loop)) return;
    Kernel *k = ARENA_ARRAY(f->arena, Kernel, 1);
    *k = *f->k;
    k->range.p = ARENA_ARRAY(f->arena, Range, k->range.n);
    for (int i = 0; i < k->range.n; i++) k->range.p[i] = f->k->range.p[i];
    k->range.p[loop->range].size = step_of(f, loop);
    f->k = k;
    f->range[loop->range].most = range_most(f->m, k, loop->range);
    range_text_tile(f, loop->range, f->range[loop->range].begin);
}
