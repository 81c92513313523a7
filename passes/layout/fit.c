/* fit.c: how large tiles are on a GPU, and how many waves hold them. There are three steps. lay_measure rounds the
   positions of a tile up to a power of two. lay_shrink_tiles halves tiles until registers and the memory of a workgroup
   hold them. lay_choose_waves says how many waves share them.
   Takes: value form. Gives: the same results, with smaller tiles, and the waves of a workgroup. */
#include "passes/layout/layout.h"

/* Positions of a tile that is halved: two edges of a matrix instruction, of 16. */
enum { LEAST_HALVED = 32 };

/* ---- extents ---- */

static int64_t power_above(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

void lay_measure(Lay *l) {
    const int64_t most_positions = 1 << 24;
    l->extent = ARENA_ARRAY(l->scratch, int64_t, l->k->range.n + 1);
    for (int i = 0; i < l->k->range.n; i++) {
        int64_t most = range_most(l->m, l->k, i);
        const Range *r = &l->k->range.p[i];
        if (most < 0 || most > most_positions) lay_refuse(l, r->loc, "range '%s', whose tiles have no bound", r->name);
        l->extent[i] = power_above(most < 0 || most > most_positions ? 1 : most);
    }
    lay_pad(l);
}

/* ---- tiles that are too large, where their sizes are the compiler's to choose ---- */

static int64_t words_of(const Lay *l, const Value *v) { return lay_elements(l, v->type) * lay_words(v->type.elem); }

static bool is_accumulator(const Region *r, const Value *v) {
    for (const Op *op = r->first; op; op = op->next)
        if (op->kind == OP_DOT && type_equal(op->res.p[0]->type, v->type)) return true;
    return false;
}

/* Of all dots of a region, results and operands; and what else the region carries. */
static int64_t words_of_dots(const Lay *l, const Region *r) {
    int64_t words = 0;
    for (const Op *op = r->first; op; op = op->next)
        if (op->kind == OP_DOT)
            words += words_of(l, op->res.p[0]) + words_of(l, op->arg.p[0]) + words_of(l, op->arg.p[1]);
    for (int i = 0; i < r->arg.n; i++)
        if (!is_accumulator(r, r->arg.p[i])) words += words_of(l, r->arg.p[i]);
    return words;
}

/* Registers of the workgroup that are wanted at once, as far as an operation tells. */
static int64_t words_at(const Lay *l, const Op *op) {
    int64_t words = 0;
    if (op->kind == OP_DOT) return words_of_dots(l, op->in);
    for (int i = 0; i < op->res.n; i++) words = words > words_of(l, op->res.p[i]) ? words : words_of(l, op->res.p[i]);
    return words;
}

static const Op *widest_op(const Lay *l, const Region *r) {
    const Op *best = NULL;
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->res.n && op->kind != OP_POS && (!best || words_at(l, op) > words_at(l, best))) best = op;
    return best;
}

static int range_to_halve(const Lay *l, Type t) {
    int best = -1;
    for (int i = 0; i < t.nrange; i++) {
        const Range *r = &l->k->range.p[t.range[i]];
        if (r->kind != RANGE_TILE || !r->tunable || r->size < LEAST_HALVED || kernel_needs_size(l->k, t.range[i])) continue;
        if (best < 0 || l->extent[t.range[i]] >= l->extent[best]) best = t.range[i];
    }
    return best;
}

void lay_halve(Lay *l, int range, const char *why) {
    Range *r = &l->k->range.p[range];
    remark(l->c, "layout", r->loc, "'%s': tiles of %lld instead of %lld along %s, so that %s", l->k->name,
           (long long)(r->size / 2), (long long)r->size, r->name, why);
    r->size /= 2;
    lay_measure(l);
}

static void halve(Lay *l, int range, const char *what) {
    lay_halve(l, range, arena_format(l->m->arena, "they fit the %s of %s", what, l->target->name));
}

static int64_t bytes_of_operands(const Lay *l, const Region *r) {
    int64_t bytes = 0;
    for (const Op *op = r->first; op; op = op->next)
        for (int i = 0; i < 2 && op->kind == OP_DOT; i++)
            bytes += lay_elements(l, op->arg.p[i]->type) * elem_value_bits(op->arg.p[i]->type.elem) / 8;
    return bytes;
}

/* The operands of a step leave room for another workgroup's. */
bool lay_step_fits(const Lay *l, const Region *r) { return 2 * bytes_of_operands(l, r) <= l->target->lds_bytes; }

/* What is contracted goes in smaller pieces until they do. */
static void shrink_depth(Lay *l, Op *op) {
    if (op->kind != OP_DOT || op->nover != 1) return;
    const Range *r = &l->k->range.p[op->over[0]];
    bool free = r->kind == RANGE_TILE && r->tunable && !kernel_needs_size(l->k, op->over[0]);
    while (free && r->size > LEAST_HALVED && !lay_step_fits(l, op->in)) halve(l, op->over[0], "memory");
}

/* Until no operation wants more than half of the workgroup's registers. */
void lay_shrink_tiles(Lay *l) {
    for (;;) {
        const Op *op = widest_op(l, l->k->body);
        if (!op || 2 * words_at(l, op) <= l->target->registers) break;
        int range = range_to_halve(l, op->res.p[0]->type);
        if (range < 0) break;
        halve(l, range, "registers");
    }
    lay_each(l, l->k->body, shrink_depth);
}

/* ---- waves: so many that a thread has a handful of each tile, and that all of them fit ---- */

static int registers_of_thread(const MatrixTarget *t, int threads) {
    int most = t->registers / threads;
    return most > t->most_registers ? t->most_registers : most;
}

int lay_registers_of_tile(const MatrixTarget *t, int threads) { return registers_of_thread(t, threads) * 3 / 4; }

/* i: 16, j: all 4096 */
static const char *extents_text(const Lay *l, Type t) {
    const char *text = "";
    for (int i = 0; i < t.nrange; i++) {
        const Range *r = &l->k->range.p[t.range[i]];
        text = arena_format(l->m->arena, "%s%s%s: %s%lld", text, i ? ", " : "", r->name, r->kind == RANGE_WHOLE ? "all " : "",
                            (long long)l->extent[t.range[i]]);
    }
    return text;
}

static void check_registers(Lay *l, const Op *widest, int64_t words, int threads) {
    int most = registers_of_thread(l->target, threads), free = lay_registers_of_tile(l->target, threads);
    if (words / threads <= free) return;
    l->failed = true;
    diag_error(l->m->diags, l->k->loc, "register-budget",
               "a tile of '%s' takes %lld registers of each of %d threads, and may take %d of the %d on %s", l->k->name,
               (long long)(words / threads), threads, free, most, l->target->name);
    diag_note(l->m->diags, l->k->loc, "the largest has %s: smaller ones take less", widest ? extents_text(l, widest->res.p[0]->type) : "one element");
}

/* Registers that the largest operand of a product takes: of few rows, more than the result. */
static int64_t words_of_operands(const Lay *l, const Region *r) {
    int64_t most = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < 2 && op->kind == OP_DOT; i++) {
            int64_t n = lay_elements(l, op->arg.p[i]->type) * elem_value_bits(op->arg.p[i]->type.elem) / 32;
            most = n > most ? n : most;
        }
    return most;
}

/* Products reuse what a thread holds; all else is faster the more workgroups a processor can hold. */
void lay_choose_waves(Lay *l) {
    enum { MOST_THREADS = 1024 }; /* of a workgroup, on each machine */
    const int64_t some = 3 * (int64_t)l->target->processors; /* tasks that keep the machine busy */
    const bool product = region_has_dot(l->k->body), few = !product && lay_tasks(l, some) < some;
    const int64_t handful = few ? 4 : 16, common_threads = few ? 512 : 256, plenty = product ? 128 : 64;
    const Op *widest = widest_op(l, l->k->body);
    int64_t words = widest ? words_of(l, widest->res.p[0]) : 1, operand = words_of_operands(l, l->k->body);
    if (operand > words) words = operand;
    int waves = 1, lanes = l->target->wave;
    bool alone = l->k->level == LEVEL_WAVE;
    while (!alone && words > handful * lanes * waves && lanes * waves < common_threads) waves *= 2;
    while (!alone && words > plenty * lanes * waves && lanes * waves < MOST_THREADS) waves *= 2;
    if (!alone && l->k->plan.waves) waves = l->k->plan.waves;
    while (lanes * waves > MOST_THREADS) waves /= 2;
    check_registers(l, widest, words, lanes * waves);
    l->k->plan.waves = waves;
    l->wave_bits = __builtin_ctz((unsigned)waves);
    for (int b = 0; b < LAY_WAVE_BITS; b++) l->wave[b].range[0] = l->wave[b].range[1] = -1;
}
