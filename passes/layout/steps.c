/* steps.c: a row that no workgroup's registers hold goes in steps: each reduction along it becomes a loop over tiles of
   the row, which loads them again. Takes: value form without flags, of a GPU. Gives: the same results.
   max(x[0 .. n)) = max(.. max(max(x[0 .. t)), max(x[t .. 2 t))) ..) */
#include "passes/layout/layout.h"
#include "passes/layout/steps.h"
#include "target/matrix.h"

enum { THREADS = 1024 /* the most of a workgroup */, STEP = 8192 /* elements of a step: 8 to 16 a thread */ };

/* ---- which row ---- */

typedef struct {
    const Module *m;
    const Kernel *k;
    const MatrixTarget *target;
} Room;

static int64_t extent_of(const Room *room, int range) {
    int64_t most = range_most(room->m, room->k, range), p = 1;
    while (p < most) p *= 2;
    return p;
}

/* Tiles whose size is free are halved before the row is looked at (layout.c, shrink_tiles). */
static int64_t least_extent(const Room *room, int range) {
    /* Positions; chosen: no measurement is recorded. */
    enum { LEAST = 16 };
    const Range *r = &room->k->range.p[range];
    int64_t n = extent_of(room, range);
    bool free = r->kind == RANGE_TILE && r->tunable && !kernel_needs_size(room->k, range);
    return free && n > LEAST ? LEAST : n;
}

static int64_t words_of(const Room *room, const Value *v) {
    int64_t words = lay_words(v->type.elem);
    for (int i = 0; i < v->type.nrange; i++) words *= least_extent(room, v->type.range[i]);
    return words;
}

static int longest_row(const Room *room, Type t) {
    int best = -1;
    for (int i = 0; i < t.nrange; i++) {
        const Range *r = &room->k->range.p[t.range[i]];
        if (r->kind != RANGE_WHOLE || !r->grid || r->owner >= 0) continue;
        if (best < 0 || extent_of(room, t.range[i]) > extent_of(room, best)) best = t.range[i];
    }
    return best;
}

/* The value with most words that has a row. */
static const Value *widest_value(const Room *room, const Region *r) {
    const Value *best = NULL;
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->res.n; i++) {
            const Value *v = op->res.p[i];
            bool row = op->kind != OP_POS && longest_row(room, v->type) >= 0;
            if (row && (!best || words_of(room, v) > words_of(room, best))) best = v;
        }
    return best;
}

/* The row, and how many of its elements a step takes; -1: all fits. */
static int row_too_long(const Room *room, int64_t *step) {
    const int threads = room->k->level == LEVEL_WAVE ? room->target->wave : THREADS;
    const Value *v = widest_value(room, room->k->body);
    int row = v ? longest_row(room, v->type) : -1;
    if (row < 0 || words_of(room, v) <= (int64_t)threads * lay_registers_of_tile(room->target, threads)) return -1;
    const int64_t beside = words_of(room, v) / extent_of(room, row), fit = (int64_t)STEP * threads / THREADS / beside;
    for (*step = room->target->wave; 2 * *step <= fit;) *step *= 2;
    return row;
}

/* ---- which kernels ---- */

static bool counts_row(const Op *op, int row) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            if ((t->kind == TERM_INDEX || t->kind == TERM_BLOCK) && t->id == row) return true;
        }
    return false;
}

static bool store_is_along(const Kernel *k, const Op *op, int row) {
    if (op->kind != OP_STORE) return false;
    bool along = type_has(op->arg.p[0]->type, row);
    for (int d = 0; d < op->sub.n; d++) along |= type_has(affine_type(k, &op->sub.p[d].lo), row);
    return along;
}

/* No loop or condition carries a row, and what is loaded again is what it was. */
static bool region_fits(const Kernel *k, const Region *r, int row) {
    for (int i = 0; r && i < r->arg.n; i++)
        if (type_has(r->arg.p[i]->type, row)) return false;
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        bool control = op->kind == OP_FOR || op->kind == OP_IF;
        for (int i = 0; i < op->res.n && control; i++)
            if (type_has(op->res.p[i]->type, row)) return false;
        if (counts_row(op, row) || (store_is_along(k, op, row) && op->mode != STORE_SET)) return false;
        if (op->kind == OP_LOAD && region_has_access(k->body, op->param, OP_STORE)) return false;
        if (!region_fits(k, op->region[0], row) || !region_fits(k, op->region[1], row)) return false;
    }
    return true;
}

static bool kernel_fits(const Kernel *k, int row) {
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].packet) return false;
    return !plan_is_whole(&k->plan) && region_fits(k, k->body, row);
}

/* ---- the pass ---- */

static void kernel_step(PassContext *c, const MatrixTarget *target, Kernel **k) {
    int64_t step = 0;
    for (int n = 0; n < MAX_RANGES; n++) {
        const Room room = {c->m, *k, target};
        int row = row_too_long(&room, &step);
        if (row < 0 || !kernel_fits(*k, row)) return;
        remark(c, "steps", (*k)->loc, "'%s': %lld of %s at a time, which do not fit the registers of %s", (*k)->name,
               (long long)step, (*k)->range.p[row].name, target->name);
        *k = steps_make(c->m, *k, row, step);
    }
}

static bool steps_run(PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    const int n = c->m->kernel.n;
    Kernel **now = ARENA_ARRAY(c->m->arena, Kernel *, n + 1);
    for (int i = 0; i < n; i++) {
        now[i] = c->m->kernel.p[i];
        if (target) kernel_step(c, target, &now[i]);
    }
    for (int i = 0; i < c->m->program.n; i++) {
        const Program *p = c->m->program.p[i];
        for (int j = 0; j < p->node.n; j++)
            if (p->node.p[j]->kind == NODE_CALL) p->node.p[j]->kernel = now[p->node.p[j]->kernel->id];
    }
    module_prune(c->m);
    return true;
}

const Pass pass_steps = {
    .name = "steps",
    .help = "take rows that do not fit a workgroup's registers in steps",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = steps_run,
};
