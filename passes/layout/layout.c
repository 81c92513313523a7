/* layout.c: where every tile lies on a GPU: in which registers of which lanes of which waves of its workgroup.
   Takes: value form without flags. Gives: the form `layout`, the same results; docs/design/gpu.md. */
#include "passes/layout/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lay_refuse(Lay *l, Loc loc, const char *format, ...) {
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    l->failed = true;
    diag_error(l->m->diags, loc, "unsupported", "not supported yet on %s: %s", l->target->name, text);
}

void lay_each(Lay *l, Region *r, LayVisit *visit) {
    for (Op *op = r ? r->first : NULL, *next; op; op = next) {
        next = op->next;
        visit(l, op);
        for (int i = 0; i < 2; i++) lay_each(l, op->region[i], visit);
    }
}

Layout lay_slice(const Lay *l, const Layout *of, Type t) {
    const char *name[MAX_RANGES];
    Layout to = {0};
    for (int i = 0; i < t.nrange; i++) name[i] = l->k->range.p[t.range[i]].name;
    layout_slice(&to, of, name, t.nrange);
    return to;
}

int lay_number(Lay *l, const Layout *wanted) {
    for (int i = 0; i < l->k->layout.n; i++)
        if (layout_equal(&l->k->layout.p[i], wanted)) return i + 1;
    vec_push(l->m->arena, &l->k->layout, *wanted);
    return l->k->layout.n;
}

int64_t lay_elements(const Lay *l, Type t) {
    int64_t n = 1;
    for (int i = 0; i < t.nrange; i++) n *= l->extent[t.range[i]];
    return n;
}

int lay_words(Elem e) { return elem_bits(e) > 32 ? 2 : 1; }

/* ---- what a GPU's kernels do not do ---- */

static bool adds_atomically(Elem e) { return e == ELEM_F32 || e == ELEM_F64 || e == ELEM_I32 || e == ELEM_I64; }

static void refuse_op(Lay *l, Op *op) {
    if (op->kind == OP_STORE && op->mode == STORE_ADD && !adds_atomically(l->k->param.p[op->param].elem))
        lay_refuse(l, op->loc, "an atomic sum of %s", elem_text(l->k->param.p[op->param].elem));
    op->region[1] = op->kind == OP_FOR ? NULL : op->region[1]; /* only `split` looks at merge */
}

static void refuse_params(Lay *l) {
    for (int i = 0; i < l->k->param.n; i++) {
        const Param *p = &l->k->param.p[i];
        if (elem_is_packed(p->elem) && (p->out || p->inout)) lay_refuse(l, p->loc, "results of %s", elem_text(p->elem));
    }
}

/* ---- ranges: names that differ, extents that are powers of two ---- */

static Name plain_name(const Lay *l, Name name) {
    char *plain = arena_text(l->m->arena, name, strlen(name));
    for (char *c = plain; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(c > plain && *c >= '0' && *c <= '9')) *c = '_';
    return name_of(l->m->names, *plain ? plain : "_");
}

static bool name_is_taken(const Kernel *k, int before, Name name) {
    for (int i = 0; i < before; i++)
        if (k->range.p[i].name == name) return true;
    return false;
}

static void name_ranges(Lay *l) {
    for (int i = 0; i < l->k->range.n; i++) {
        Name plain = plain_name(l, l->k->range.p[i].name), name = plain;
        for (int n = 2; name_is_taken(l->k, i, name); n++)
            name = name_of(l->m->names, arena_format(l->m->arena, "%s_%d", plain, n));
        l->k->range.p[i].name = name;
    }
}

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
    enum { LEAST = 32 };
    int best = -1;
    for (int i = 0; i < t.nrange; i++) {
        const Range *r = &l->k->range.p[t.range[i]];
        if (r->kind != RANGE_TILE || !r->tunable || r->size < LEAST || kernel_needs_size(l->k, t.range[i])) continue;
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
    enum { LEAST = 32 };
    if (op->kind != OP_DOT || op->nover != 1) return;
    const Range *r = &l->k->range.p[op->over[0]];
    bool free = r->kind == RANGE_TILE && r->tunable && !kernel_needs_size(l->k, op->over[0]);
    while (free && r->size > LEAST && !lay_step_fits(l, op->in)) halve(l, op->over[0], "memory");
}

/* Until no operation wants more than half of the workgroup's registers. */
static void shrink_tiles(Lay *l) {
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

static void check_registers(Lay *l, int64_t words, int threads) {
    int most = registers_of_thread(l->target, threads);
    if (words / threads <= lay_registers_of_tile(l->target, threads)) return;
    l->failed = true;
    diag_error(l->m->diags, l->k->loc, "register-budget", "a tile of '%s' takes %lld registers of each of %d threads, of %d on %s",
               l->k->name, (long long)(words / threads), threads, most, l->target->name);
    diag_note(l->m->diags, l->k->loc, "smaller tiles take less");
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
static void choose_waves(Lay *l) {
    enum { MOST_THREADS = 1024 };
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
    if (!alone && l->k->choice.waves) waves = l->k->choice.waves;
    while (lanes * waves > MOST_THREADS) waves /= 2;
    check_registers(l, words, lanes * waves);
    l->k->waves = waves;
    l->wave_bits = __builtin_ctz((unsigned)waves);
    for (int b = 0; b < LAY_WAVE_BITS; b++) l->wave[b].range[0] = l->wave[b].range[1] = -1;
}

/* ---- the list of layouts, without those that no tile has in the end ---- */

typedef struct {
    int *renumbered, n;
    VEC(Layout) kept;
} Compact;

static void keep_layout(Lay *l, Compact *c, Value *v) {
    if (!v->layout) return;
    int *to = &c->renumbered[v->layout];
    if (!*to) {
        vec_push(l->m->arena, &c->kept, l->k->layout.p[v->layout - 1]);
        *to = c->kept.n;
    }
    v->layout = *to;
}

static void keep_region(Lay *l, Compact *c, Region *r) {
    if (!r) return;
    for (int i = 0; i < r->arg.n; i++) keep_layout(l, c, r->arg.p[i]);
    for (Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->res.n; i++) keep_layout(l, c, op->res.p[i]);
        for (int i = 0; i < 2; i++) keep_region(l, c, op->region[i]);
    }
}

static void compact_layouts(Lay *l) {
    Compact c = {.renumbered = ARENA_ARRAY(l->scratch, int, l->k->layout.n + 1)};
    keep_region(l, &c, l->k->body);
    memcpy(&l->k->layout, &c.kept, sizeof c.kept);
}

/* ---- the pass ---- */

static bool layout_kernel(PassContext *c, Kernel *k, const MatrixTarget *target) {
    Lay l = {.c = c, .m = c->m, .k = k, .target = target, .scratch = arena_new()};
    static void (*const step[])(Lay *) = {
        name_ranges, lay_measure, lay_unpack, lay_load_cse, lay_hoist, lay_expand, shrink_tiles, lay_tile_size, lay_occupancy, choose_waves, lay_prepare,
        lay_matrix, lay_align_rows, lay_classes, lay_transpose, lay_choose, lay_insert, lay_schedule_loads, lay_pipeline_loads, lay_defer_sums, compact_layouts};
    lay_each(&l, k->body, refuse_op);
    refuse_params(&l);
    for (size_t i = 0; i < sizeof step / sizeof *step && !l.failed; i++) step[i](&l);
    arena_free(l.scratch);
    return !l.failed;
}

static bool layout_run(PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    bool good = true;
    if (!target) {
        diag_error(c->m->diags, (Loc){0}, "unsupported", "the pass 'layout' wants a GPU: --target=%s", matrix_targets[0].name);
        return false;
    }
    for (int i = 0; i < c->m->kernel.n; i++)
        if (!c->m->kernel.p[i]->schedule) good = layout_kernel(c, c->m->kernel.p[i], target) && good;
    c->m->form |= FORM_LAYOUT;
    return good;
}

const Pass pass_layout = {
    .name = "layout", .help = "give every tile its place in the registers of a GPU's workgroup",
    .needs = 0, .breaks = FORM_FLAGS | FORM_LAYOUT, .run = layout_run,
};
