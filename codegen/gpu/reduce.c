/* reduce.c: reductions and prefixes: over a thread's registers, then the lanes of a wave by shuffles, then waves
   through the workgroup's memory. Every thread that holds an element of the result has the same bits in it. */
#include "codegen/gpu/hip.h"
#include "ir/uses.h"

#include <inttypes.h>

/* ---- what is reduced lies where ---- */

/* Bits of the thread's number that move along the ranges that are reduced. */
static uint64_t thread_bits_over(Fn *f, const Op *op, const Layout *l) {
    uint64_t column[64], over = 0, bits = 0;
    int n = thread_columns(f->hip, l, column);
    for (int i = 0; i < op->nover; i++) over |= layout_range_bits(l, f->k->range.p[op->over[i]].name);
    for (int b = 0; b < n; b++)
        if (column[b] & over) bits |= UINT64_C(1) << b;
    return bits;
}

/* A running value: a tile's registers, or a scalar. */
typedef struct {
    const Op *op;
    OpKind kind;
    Elem elem;
    Tile tile;        /* count 1 and no layout: a scalar */
    bool pairs;       /* argmax: with the positions in `place` */
    Tile place;
} Run;

/* A loop over the registers of the result. */
static void registers_open(Fn *f, int64_t count) {
    if (count == 1) return;
    fn_line(f, "#pragma unroll");
    fn_line(f, "for (int reg = 0; reg < %" PRId64 "; reg++) {", count);
    f->indent++;
}

static void registers_close(Fn *f, int64_t count) {
    if (count == 1) return;
    f->indent--;
    fn_line(f, "}");
}

/* next and its position take the place of the best so far if they are better: larger (smaller), or as good and earlier; a
   NaN is better than any number. */
static const char *better_text(Fn *f, const Run *run, const char *best, const char *at, const char *next, const char *next_at) {
    const char *beats = run->kind == OP_ARGMAX ? ">" : "<";
    const char *plain = fn_text(f, "%s %s %s || (%s == %s && %s < %s)", next, beats, best, next, best, next_at, at);
    if (!elem_is_float(run->elem)) return plain;
    return fn_text(f, "%s != %s ? %s != %s && %s < %s : %s != %s || %s", best, best, next, next, next_at, at, next, next, plain);
}

/* Text of the register in a loop over the result's; NULL: there is one. */
static const CExpr *run_register(Fn *f, const Run *run) { return run->tile.count == 1 ? NULL : cexpr_name(f, "reg"); }

/* The statements by which the register r takes in another value; of argmax: and its position. */
static void take(Fn *f, const Run *run, const CExpr *r, const CExpr *x, const CExpr *x_at) {
    const CExpr *best = tile_at(f, &run->tile, r);
    if (!run->pairs) {
        fn_line(f, "%s", reduce_combine(f, run->kind, run->elem, best->text, x));
        return;
    }
    const CExpr *at = tile_at(f, &run->place, r);
    fn_line(f, "const %s next = %s;", elem_c(run->elem), x->text);
    fn_line(f, "const int64_t next_at = %s;", x_at->text);
    fn_line(f, "const bool better = %s;", better_text(f, run, best->text, at->text, "next", "next_at"));
    fn_line(f, "%s = better ? next_at : %s;", at->text, at->text);
    fn_line(f, "%s = better ? next : %s;", best->text, best->text);
}

/* ---- lanes ---- */

static void over_lanes_once(Fn *f, const Run *run, const char *apart) {
    const CExpr *r = run_register(f, run);
    const CExpr *x =
        cexpr_call(f, "tile_shuffle_xor_%s(%s, %s)", elem_text(run->elem), tile_at(f, &run->tile, r)->text, apart);
    const CExpr *at =
        run->pairs ? cexpr_call(f, "tile_shuffle_xor_i64(%s, %s)", tile_at(f, &run->place, r)->text, apart) : NULL;
    registers_open(f, run->tile.count);
    take(f, run, r, x, at);
    registers_close(f, run->tile.count);
}

/* Lanes that differ in one bit exchange what they have; neighbouring bits in one loop. */
static void over_lanes(Fn *f, const Run *run, uint64_t bits) {
    for (int b = 0; b < 64 && bits >> b; b++) {
        int end = b;
        while (bits >> end & 1) end++;
        if (end == b) continue;
        fn_line(f, "#pragma unroll");
        fn_line(f, "for (int apart = %d; apart < %" PRIu64 "; apart *= 2) {", 1 << b, UINT64_C(1) << end);
        f->indent++;
        over_lanes_once(f, run, "apart");
        f->indent--;
        fn_line(f, "}");
        b = end;
    }
}

/* ---- waves ---- */

static const CExpr *slot_text(Fn *f, const Run *run, const CExpr *thread) {
    if (run->tile.count == 1) return thread;
    return cexpr_open(f, "reg * %d + %s", f->hip->threads, thread->text);
}

static const char *lds_at(Fn *f, Elem e, int64_t offset, const CExpr *slot) {
    const CExpr *at = cexpr_mul(f, cexpr_operand(f, slot), cexpr_number(f, elem_bits(e) / 8));
    return offset ? fn_text(f, "lds + %" PRId64 " + %s", offset, at->text) : fn_text(f, "lds + %s", at->text);
}

static int64_t slots_bytes(Fn *f, const Run *run) { return run->tile.count * f->hip->threads * (elem_bits(run->elem) / 8); }

static void lds_put(Fn *f, const Run *run) {
    const CExpr *slot = slot_text(f, run, cexpr_name(f, "thread")), *r = run_register(f, run);
    int64_t bytes = slots_bytes(f, run);
    lds_take(f, run->op->loc, bytes + (run->pairs ? run->tile.count * f->hip->threads * 8 : 0));
    registers_open(f, run->tile.count);
    fn_line(f, "tile_lds_store_%s(%s, %s);", elem_text(run->elem), lds_at(f, run->elem, 0, slot),
            tile_at(f, &run->tile, r)->text);
    if (run->pairs)
        fn_line(f, "tile_lds_store_i64(%s, %s);", lds_at(f, ELEM_I64, bytes, slot), tile_at(f, &run->place, r)->text);
    registers_close(f, run->tile.count);
}

/* Text of the number of the thread that has the part of the wave with this number of those that are combined. */
static const CExpr *other_thread(Fn *f, uint64_t bits, const CExpr *wave) {
    uint64_t column[64];
    int n = 0;
    for (int b = 0; b < 64; b++)
        if (bits >> b & 1) column[n++] = UINT64_C(1) << b;
    const CExpr *first = cexpr_group(f, cexpr_open(f, "thread & %" PRIu64, (uint64_t)(f->hip->threads - 1) & ~bits));
    return cexpr_add(f, first, bits_text(f, wave, column, n));
}

static void over_waves(Fn *f, const Run *run, uint64_t bits) {
    const CExpr *r = run_register(f, run);
    if (!bits) return;
    lds_put(f, run);
    sync_line(f);
    registers_open(f, run->tile.count);
    const CExpr *first = slot_text(f, run, other_thread(f, bits, cexpr_number(f, 0))),
                *other = slot_text(f, run, other_thread(f, bits, cexpr_name(f, "wave")));
    int64_t offset = slots_bytes(f, run);
    fn_line(f, "%s = tile_lds_load_%s(%s);", tile_at(f, &run->tile, r)->text, elem_text(run->elem),
            lds_at(f, run->elem, 0, first));
    if (run->pairs)
        fn_line(f, "%s = tile_lds_load_i64(%s);", tile_at(f, &run->place, r)->text, lds_at(f, ELEM_I64, offset, first));
    fn_line(f, "#pragma unroll");
    fn_line(f, "for (int wave = 1; wave < %d; wave++) {", 1 << __builtin_popcountll(bits));
    f->indent++;
    take(f, run, r, cexpr_call(f, "tile_lds_load_%s(%s)", elem_text(run->elem), lds_at(f, run->elem, 0, other)),
         cexpr_call(f, "tile_lds_load_i64(%s)", lds_at(f, ELEM_I64, offset, other)));
    f->indent--;
    fn_line(f, "}");
    registers_close(f, run->tile.count);
    lds_done(f);
}

/* Where every thread would read many partial results, each reads a share of them, and all of them read what came of that. */
static bool are_many(const Fn *f, const Run *run, uint64_t bits) {
    /* Registers of a thread, from which on a loop takes the place of single lines; chosen: no measurement is recorded. */
    enum { MANY = 64 };
    bool all = bits == ((uint64_t)(f->hip->threads - 1) & ~((uint64_t)f->hip->lanes - 1));
    return all && !run->pairs && run->tile.count << __builtin_popcountll(bits) >= MANY;
}

/* Waves in their order, as one thread would take them. */
static void over_waves_shared(Fn *f, const Run *run) {
    int lanes = f->hip->lanes, threads = f->hip->threads, shift = __builtin_ctz((unsigned)lanes);
    const char *e = elem_text(run->elem);
    const CExpr *at = cexpr_name(f, "slot"),
                *own = slot_text(f, run, cexpr_group(f, cexpr_open(f, "thread & %d", lanes - 1)));
    lds_put(f, run);
    sync_line(f);
    fn_line(f, "for (int share = thread; share < %" PRId64 "; share += %d) {", run->tile.count * lanes, threads);
    f->indent++;
    fn_line(f, "const int %s = (share >> %d) * %d + (share & %d);", at->text, shift, threads, lanes - 1);
    fn_line(f, "%s part = tile_lds_load_%s(%s);", elem_c(run->elem), e, lds_at(f, run->elem, 0, at));
    fn_line(f, "#pragma unroll");
    fn_line(f, "for (int wave = 1; wave < %d; wave++) {", threads / lanes);
    const CExpr *other = cexpr_call(f, "tile_lds_load_%s(%s)", e,
                                    lds_at(f, run->elem, 0, cexpr_open(f, "%s + wave * %d", at->text, lanes)));
    fn_line(f, "    %s", reduce_combine(f, run->kind, run->elem, "part", other));
    fn_line(f, "}");
    fn_line(f, "tile_lds_store_%s(%s, part);", e, lds_at(f, run->elem, 0, at));
    f->indent--;
    fn_line(f, "}");
    sync_line(f);
    registers_open(f, run->tile.count);
    fn_line(f, "%s = tile_lds_load_%s(%s);", tile_at(f, &run->tile, run_register(f, run))->text, e,
            lds_at(f, run->elem, 0, own));
    registers_close(f, run->tile.count);
    lds_done(f);
}

static void over_threads(Fn *f, const Run *run, const Layout *l) {
    uint64_t bits = thread_bits_over(f, run->op, l), lanes = (uint64_t)f->hip->lanes - 1;
    over_lanes(f, run, bits & lanes);
    if (are_many(f, run, bits & ~lanes))
        over_waves_shared(f, run);
    else
        over_waves(f, run, bits & ~lanes);
}

/* ---- reductions ---- */

/* The result's place, with the value that nothing reduces to in it. */
static Run run_begin(Fn *f, const Op *op) {
    Value *v = op->res.p[0];
    Run run = {.op = op, .kind = op->kind, .elem = op->arg.p[0]->type.elem};
    run.tile = (Tile){.count = 1, .elem = run.elem};
    if (v->type.nrange) {
        run.tile = *held_tile(f, v);
        Nest n = nest_over(f, run.tile.layout, 0);
        nest_line(&n, n.n, "%s = %s;", nest_tile(&n, &run.tile)->text, reduce_start(f, op->kind, run.elem)->text);
        nest_print(&n);
    } else {
        run.tile.name = fn_held(f, v)->name = c_name(&f->names, fn_value_name(f, v));
        fn_line(f, "%s %s = %s;", elem_c(run.elem), run.tile.name, reduce_start(f, op->kind, run.elem)->text);
    }
    return run;
}

/* Text of the result's register in a loop over the operand's. */
static const CExpr *result_register(Nest *n, const Run *run) {
    return run->tile.layout ? register_of(n, run->tile.layout) : NULL;
}

/* Of scores, two chains for each row: one of 32 operations waits longer for each than the products beside it allow. */
static bool has_halves(Fn *f, const Op *op, const Run *run, const Layout *l) {
    enum { LEAST = 16 /* registers of a row [guess] */ };
    int n;
    const uint64_t *reg = layout_columns(l, "reg", &n);
    const bool over = n && (reg[0] & layout_range_bits(l, f->k->range.p[op->over[0]].name));
    return hip_role_is_step(f, op) && over && run->tile.count > 1 && layout_registers(l) >= LEAST * run->tile.count;
}

static void over_halves(Fn *f, const Run *run, const Layout *l) {
    const char *half = c_name(&f->names, fn_text(f, "%s_half", run->tile.name));
    Nest n = nest_over(f, l, 0);
    const CExpr *x = nest_value(&n, run->op->arg.p[0]);
    const CExpr *row = register_of(&n, run->tile.layout),
                *at = cexpr_open(f, "2 * %s + (reg & 1)", cexpr_operand(f, cexpr_group(f, row))->text);
    fn_line(f, "%s %s[%" PRId64 "];", elem_c(run->elem), half, 2 * run->tile.count);
    fn_line(f, "#pragma unroll");
    fn_line(f, "for (int reg = 0; reg < %" PRId64 "; reg++) %s[reg] = %s;", 2 * run->tile.count, half,
            reduce_start(f, run->kind, run->elem)->text);
    nest_line(&n, n.n, "%s", reduce_combine(f, run->kind, run->elem, fn_text(f, "%s[%s]", half, at->text), x));
    nest_print(&n);
    registers_open(f, run->tile.count);
    for (int i = 0; i < 2; i++)
        take(f, run, run_register(f, run), cexpr_name(f, fn_text(f, "%s[2 * reg + %d]", half, i)), NULL);
    registers_close(f, run->tile.count);
}

void hip_reduce(Fn *f, const Op *op) {
    Run run = run_begin(f, op);
    const Layout *l = held_layout(f, op->arg.p[0]);
    if (has_halves(f, op, &run, l)) {
        over_halves(f, &run, l);
        hip_role_guard(f, op);
        if (!op->deferred) over_threads(f, &run, l);
        return;
    }
    Nest n = nest_over(f, l, 0);
    const CExpr *x = nest_value(&n, op->arg.p[0]);
    nest_line(&n, n.n, "%s",
              reduce_combine(f, op->kind, run.elem, tile_at(f, &run.tile, result_register(&n, &run))->text, x));
    nest_print(&n);
    if (!op->deferred) over_threads(f, &run, l);
}

/* Each thread has added what it holds. */
void hip_deferred_sums(Fn *f, const Op *loop) {
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        if (!op->deferred) continue;
        const Uses uses = uses_of(f->k, f->arena);
        const Value *total = loop->res.p[sum_of_loop(&uses, op, true)];
        Run run = {.op = op, .kind = op->kind, .elem = total->type.elem, .tile = fn_held(f, total)->tile};
        over_threads(f, &run, held_layout(f, op->arg.p[0]));
    }
}

/* ---- argmax ---- */

static Run arg_begin(Fn *f, const Op *op) {
    Value *v = op->res.p[0];
    const Layout *l = v->type.nrange ? held_layout(f, v) : NULL;
    Run run = {.op = op, .kind = op->kind, .elem = op->arg.p[0]->type.elem, .pairs = true};
    const CExpr *start = reduce_start(f, op->kind, run.elem);
    const CExpr *begin = f->range[op->over[0]].begin;
    if (l) {
        run.tile = tile_like(f, l, run.elem, "best");
        run.place = *held_tile(f, v);
        Nest n = nest_over(f, l, 0);
        nest_line(&n, n.n, "%s = %s;", nest_tile(&n, &run.tile)->text, start->text);
        nest_line(&n, n.n, "%s = %s;", nest_tile(&n, &run.place)->text, begin->text);
        nest_print(&n);
        return run;
    }
    run.tile = run.place = (Tile){.count = 1, .elem = run.elem};
    run.tile.name = c_name(&f->names, "best");
    run.place.name = fn_held(f, v)->name = c_name(&f->names, fn_value_name(f, v));
    fn_line(f, "%s %s = %s;", elem_c(run.elem), run.tile.name, start->text);
    fn_line(f, "int64_t %s = %s;", run.place.name, begin->text);
    return run;
}

void hip_arg(Fn *f, const Op *op) {
    Run run = arg_begin(f, op);
    const Layout *l = held_layout(f, op->arg.p[0]);
    const RangeText *range = &f->range[op->over[0]];
    const Tile *x = made_tile(f, op->arg.p[0]);
    Nest n = nest_over(f, l, 0);
    const CExpr *here = nest_tile(&n, x), *at = cexpr_add(f, range->begin, range->pos), *r = result_register(&n, &run);
    if (n.loop) {
        fn_line(f, "%s", n.pragma);
        fn_line(f, "%s", n.loop);
    } else
        fn_line(f, "{");
    f->indent++;
    take(f, &run, r, here, at);
    f->indent--;
    fn_line(f, "}");
    over_threads(f, &run, l);
}
