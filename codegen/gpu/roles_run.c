/* roles_run.c: loops in runs. Iterations of a run are written out, each with registers of its own: products of the next
   one are under way while an iteration is finished. Behind a run no product is under way: ptxas would let each wait
   for the one before if a loop carried sums of two in turn (C7514).
   Takes: a loop whose turns begin anew. Gives: a loop over runs, and one over the iterations that fill none. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>

typedef struct {
    const Op *loop;
    int64_t size; /* positions of an iteration */
    RangeText text;
    const CExpr *at, *lo, *hi; /* where the run begins; bounds of all */
    Held **held;               /* by iteration, by value: of what the body makes; behind them as none is made */
} Run;

/* What the loop's body makes. */
static void held_copy(const Run *r, Held *to, const Held *from) {
    const Region *body = r->loop->region[0];
    for (const Op *op = walk(body); op; op = walk_next(op, body)) {
        for (int i = 0; i < op->res.n; i++) to[op->res.p[i]->id] = from[op->res.p[i]->id];
        for (int k = 0; k < 2 && op->region[k]; k++)
            for (int i = 0; i < op->region[k]->arg.n; i++)
                to[op->region[k]->arg.p[i]->id] = from[op->region[k]->arg.p[i]->id];
    }
}

static Run run_of(Fn *f, const Op *loop) {
    Run r = {.loop = loop, .size = f->k->range.p[loop->range].size};
    emit_for_head(f, loop, &r.lo, &r.hi);
    r.text = f->range[loop->range];
    r.held = ARENA_ARRAY(f->arena, Held *, loop->runs + 1);
    for (int i = 0; i <= loop->runs; i++) {
        r.held[i] = ARENA_ARRAY(f->arena, Held, f->k->nvalue);
        held_copy(&r, r.held[i], f->held);
    }
    return r;
}

/* Sums that are finished stay where they are, in front of the next products. */
static void keep_lines(Fn *f, const Op *loop) {
    const Region *body = loop->region[0];
    for (int i = 0; i < loop->res.n; i++) {
        const Op *made = body->last->arg.p[i]->def;
        const Tile *t = &fn_held(f, body->arg.p[i])->tile;
        const bool sums = body->arg.p[i]->type.nrange == 2 && (t->elem == ELEM_F32 || t->elem == ELEM_I32);
        if (sums && made && made->kind != OP_MMA && !f->hip->role->quads)
            fn_line(f, "tile_wgmma_keep(%s, %" PRId64 ");", t->name, t->count);
    }
}

/* Iterations that are finished leave their registers to the next ones: with arrays of their own for each, ptxas lets sums
   that are carried wander through all of them, and spills (C7512). */
static void leave_sums(Fn *f, const Run *r, int iteration, int next) {
    if (next >= r->loop->runs) return;
    for (const Op *op = r->loop->region[0]->first; op; op = op->next)
        for (int i = 0; i < op->res.n && op->kind == OP_MMA; i++) {
            Tile *same = ARENA_NEW(f->arena, Tile);
            *same = r->held[iteration][op->res.p[i]->id].tile;
            r->held[next][op->res.p[i]->id].into = same;
        }
}

static void piece_lines(Fn *f, const Run *r, const Turn *t, int iteration) {
    const Op *loop = r->loop;
    range_text_tile(f, loop->range, cexpr_add(f, r->at, cexpr_number(f, iteration * r->size)));
    f->range[loop->range].count = cexpr_number(f, r->size);
    held_copy(r, f->held, r->held[iteration]);
    emit_piece(f, loop->region[0], t->piece);
    held_copy(r, r->held[iteration], f->held);
    if (loop->region[0]->last->piece == t->piece) keep_lines(f, loop);
}

static int last_shift(const Op *loop) {
    int late = 0;
    for (int i = 0; i < loop->turn.n; i++)
        if (loop->turn.p[i].shift > late) late = loop->turn.p[i].shift;
    return late;
}

static void turns_lines(Fn *f, const Run *r) {
    for (int turn = 0; turn < r->loop->runs + last_shift(r->loop); turn++)
        for (int i = 0, late = last_shift(r->loop); i < r->loop->turn.n; i++) {
            const Turn *t = &r->loop->turn.p[i];
            f->hip->role->drains = turn >= r->loop->runs;
            if (turn < t->shift || turn - t->shift >= r->loop->runs) continue;
            piece_lines(f, r, t, turn - t->shift);
            if (t->shift == late) leave_sums(f, r, turn - late, turn + 1);
        }
}

/* Whole runs between the bounds; -1: that is known in a run only. */
static int64_t runs_known(const Run *r, int64_t *left) {
    int64_t lo, hi;
    if (!cexpr_const(r->lo, &lo) || !cexpr_const(r->hi, &hi)) return -1;
    const int64_t n = hi > lo ? (hi - lo) / r->size / r->loop->runs : 0;
    *left = hi - lo - n * r->size * r->loop->runs;
    return n;
}

/* all: no iteration is left behind them. */
static void run_lines(Fn *f, Run *r, bool all) {
    const int64_t step = r->size * r->loop->runs;
    r->at = cexpr_name(f, c_name(&f->names, fn_text(f, "%s_run", f->k->range.p[r->loop->range].name)));
    const char *at = r->at->text, *hi = r->hi->text;
    if (!all) fn_line(f, "int64_t %s = %s;", at, r->lo->text);
    fn_line(f, "#pragma unroll 1");
    if (all)
        fn_line(f, "for (int64_t %s = %s; %s < %s; %s += %" PRId64 ") {", at, r->lo->text, at, hi, at, step);
    else
        fn_line(f, "for (; %s + %" PRId64 " <= %s; %s += %" PRId64 ") {", at, step, hi, at, step);
    f->indent++;
    turns_lines(f, r);
    f->indent--;
    fn_line(f, "}");
}

/* One after the other: each waits for its own products. */
static void rest_lines(Fn *f, const Run *r, const CExpr *from) {
    f->range[r->loop->range] = r->text;
    held_copy(r, f->held, r->held[r->loop->runs]);
    f->hip->role->drains = true;
    fn_line(f, "#pragma unroll 1");
    emit_for_steps(f, r->loop, from, r->hi);
}

void hip_role_runs(Fn *f, const Op *loop) {
    int64_t left = -1;
    hip_role_turns_check(f, loop);
    if (f->k->range.p[loop->range].kind != RANGE_TILE) fn_unsupported(f, loop->loc, "runs of other than whole tiles");
    Run r = run_of(f, loop);
    const int64_t runs = runs_known(&r, &left);
    if (runs) run_lines(f, &r, left == 0);
    if (left) rest_lines(f, &r, runs ? r.at : r.lo);
    f->hip->role->drains = false;
}
