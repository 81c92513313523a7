/* nest.c: steps of GPU text: loops over the registers of a thread, and what its elements' positions are there. */
#include "codegen/gpu/hip.h"

#include <inttypes.h>
#include <string.h>

const uint64_t *layout_columns(const Layout *l, const char *place, int *n) {
    int first, d = layout_place(l, place, &first);
    *n = d < 0 ? 0 : l->place[d].bits;
    return d < 0 ? l->column : l->column + first;
}

int layout_registers(const Layout *l) {
    int n;
    layout_columns(l, "reg", &n);
    return (int)layout_repeats(l) << n;
}

uint64_t layout_range_bits(const Layout *l, const char *range) {
    int first, d = layout_index(l, range, &first);
    return d < 0 ? 0 : ((UINT64_C(1) << l->index[d].bits) - 1) << first;
}

int thread_columns(Hip *h, const Layout *l, uint64_t column[]) {
    int nl, nw, lanes = __builtin_ctz((unsigned)h->lanes);
    const uint64_t *lane = layout_columns(l, "lane", &nl), *wave = layout_columns(l, "wave", &nw);
    for (int b = 0; b < lanes; b++) column[b] = b < nl ? lane[b] : 0;
    for (int b = 0; b < nw; b++) column[lanes + b] = wave[b];
    return lanes + nw;
}

uint64_t layout_copies(Hip *h, const Layout *l) {
    uint64_t column[64], copies = 0;
    int n = thread_columns(h, l, column);
    for (int b = 0; b < n; b++)
        if (!column[b]) copies |= UINT64_C(1) << b;
    return copies;
}

const CExpr *thread_part(Fn *f, const char *wanted, const uint64_t *column, int n) {
    const CExpr *thread = cexpr_name(f, "thread"), *text = bits_text(f, thread, column, n);
    if (cexpr_is(text, 0) || text == thread) return text;
    for (int i = 0; i < f->hip->part.n; i++)
        if (cexpr_equal(f->hip->part.p[i].text, text) && strcmp(f->hip->part.p[i].wanted, wanted) == 0)
            return f->hip->part.p[i].name;
    const CExpr *name = cexpr_name(f, c_name(&f->names, wanted));
    fn_constant_of(f, "int", name->text, cexpr_bare(text)->text);
    vec_push(f->arena, &f->hip->part, ((ThreadPart){wanted, text, name}));
    return name;
}

const Layout *held_layout(Fn *f, const Value *v) { return value_layout(f->k, v); }

/* ---- positions ---- */

static void columns_of_range(const Layout *l, const char *range, const uint64_t *from, int n, uint64_t *to) {
    int first = 0;
    layout_index(l, range, &first);
    uint64_t mask = layout_range_bits(l, range);
    for (int b = 0; b < n; b++) to[b] = (from[b] & mask) >> first;
}

/* Elements by which the row of a aligned range begins behind a multiple. */
static const CExpr *skew_text(Fn *f, int range) {
    RangeText *t = &f->range[range];
    const Op *row = range_row(f->k, range);
    const CExpr *index = cexpr_number(f, 0);
    Nest n = nest_new(f, NULL, 0);
    if (t->skew) return t->skew;
    for (int d = 0; d < row->sub.n; d++) {
        index = d ? cexpr_mul(f, cexpr_operand(f, index), cexpr_operand(f, param_extent(f, row->param, d))) : index;
        if (d + 1 < row->sub.n) index = cexpr_add(f, index, nest_affine(&n, &row->sub.p[d].lo));
    }
    t->skew = cexpr_name(f, c_name(&f->names, fn_text(f, "%s_skew", f->k->range.p[range].name)));
    fn_constant_of(f, "int", t->skew->text,
                   fn_text(f, "(int)(%s & %d)", index->text, f->k->range.p[range].aligned - 1));
    return t->skew;
}

static int64_t layout_extent(const Layout *l, const char *range) {
    const LayoutDim *d = &l->index[layout_index(l, range, NULL)];
    return d->repeat << d->bits;
}

/* `step` for each block of the layout in front of the one that has the register `r`. */
static const CExpr *blocks_before(Fn *f, const Layout *l, const CExpr *r, int64_t step) {
    int nr;
    layout_columns(l, "reg", &nr);
    const CExpr *block = cexpr_group(f, cexpr_open(f, "%s / %d", cexpr_operand(f, r)->text, 1 << nr));
    return cexpr_mul(f, block, cexpr_number(f, step));
}

static const CExpr *in_block(Fn *f, const Layout *l, const CExpr *r) {
    int nr;
    layout_columns(l, "reg", &nr);
    return layout_repeats(l) == 1 ? r : cexpr_group(f, cexpr_open(f, "%s %% %d", cexpr_operand(f, r)->text, 1 << nr));
}

static const CExpr *block_begin(Fn *f, const Layout *l, const char *range, const CExpr *r) {
    const LayoutDim *d = &l->index[layout_index(l, range, NULL)];
    return d->repeat == 1 ? cexpr_number(f, 0) : blocks_before(f, l, r, INT64_C(1) << d->bits);
}

/* Where the share of a tile begins that this group of a role has; NULL: it has all of it. */
static const CExpr *share_text(Fn *f, const char *range) {
    const int split = f->hip->split - 1;
    if (split < 0 || strcmp(f->k->range.p[split].name, range) != 0) return NULL;
    return cexpr_open(f, "%" PRId64 " * group", f->hip->share);
}

/* The part of a position in a tile that the thread adds, and the one that the register adds. */
static const CExpr *of_thread_text(Fn *f, const Layout *l, const char *range) {
    uint64_t thread[64];
    const int n = thread_columns(f->hip, l, thread);
    columns_of_range(l, range, thread, n, thread);
    return thread_part(f, fn_text(f, "%s_t", range), thread, n);
}

static const CExpr *of_register_text(Fn *f, const Layout *l, const char *range, const CExpr *r, int skip) {
    uint64_t reg[64];
    int n;
    const uint64_t *column = layout_columns(l, "reg", &n);
    columns_of_range(l, range, column, n, reg);
    for (int b = 0; b < skip; b++) reg[b] = 0;
    return cexpr_add(f, bits_text(f, in_block(f, l, r), reg, n), block_begin(f, l, range, r));
}

/* The position in its tile of the element in the register `r` of this thread. */
static const CExpr *position_text(Fn *f, const Layout *l, const char *range, const CExpr *r, int skip) {
    const CExpr *of_thread = of_thread_text(f, l, range), *share = share_text(f, range);
    const CExpr *in_share = cexpr_add(f, of_thread, of_register_text(f, l, range, r, skip));
    return share ? cexpr_add(f, share, in_share) : in_share;
}

const CExpr *nest_first(Nest *n, int range) {
    return cexpr_operand(n->f, of_thread_text(n->f, n->layout, n->f->k->range.p[range].name));
}

const CExpr *nest_behind_first(Nest *n, int range) {
    return of_register_text(n->f, n->layout, n->f->k->range.p[range].name, nest_register(n), 0);
}

static const CExpr *place_text(Fn *f, const Layout *l, int range, const CExpr *r, int skip) {
    const Range *of = &f->k->range.p[range];
    const CExpr *place = position_text(f, l, of->name, r, skip);
    if (!of->aligned) return place;
    return cexpr_group(f, cexpr_open(f, "(%s - %s) & %" PRId64, place->text, skew_text(f, range)->text,
                                     layout_extent(l, of->name) - 1));
}

static void set_positions(Fn *f, const Layout *l, const CExpr *r, int skip) {
    for (int i = 0; i < f->k->range.n; i++)
        if (layout_index(l, f->k->range.p[i].name, NULL) >= 0)
            f->range[i].pos = cexpr_operand(f, place_text(f, l, i, r, skip));
}

static const char *cut_loop(Fn *f, int registers, int step) {
    if (registers % f->hip->cut || step > 1) fn_unsupported(f, f->k->loc, "a cut of a tile of few registers");
    return fn_text(f, "for (int reg = first; reg < first + %d; reg++) {", registers / f->hip->cut);
}

Nest nest_over(Fn *f, const Layout *l, int skip) {
    Nest n = nest_new(f, NULL, 0);
    int registers = layout_registers(l), step = 1 << skip;
    n.layout = l;
    n.pragma = "#pragma unroll";
    if (registers > step) {
        n.n = 1;
        n.loop = f->hip->cut > 1 ? cut_loop(f, registers, step)
                 : step == 1     ? fn_text(f, "for (int reg = 0; reg < %d; reg++) {", registers)
                                 : fn_text(f, "for (int reg = 0; reg < %d; reg += %d) {", registers, step);
    }
    set_positions(f, l, nest_register(&n), skip);
    return n;
}

const CExpr *nest_register(Nest *n) { return n->loop ? cexpr_name(n->f, "reg") : cexpr_number(n->f, 0); }

bool range_fills_layout(const Nest *n, int range) {
    int64_t count;
    const Hip *hip = n->f->hip;
    int64_t extent = range == hip->split - 1 ? hip->share * hip->groups : layout_extent(n->layout, n->f->k->range.p[range].name);
    return cexpr_const(n->f->range[range].count, &count) && count >= extent;
}

const char *mask_text(Nest *n, Type t) {
    Fn *f = n->f;
    const char *all = NULL;
    for (int i = 0; i < t.nrange; i++) {
        const RangeText *r = &f->range[t.range[i]];
        if (range_fills_layout(n, t.range[i])) continue;
        const char *here = fn_text(f, "%s < %s", cexpr_operand(f, r->pos)->text, cexpr_operand(f, r->count)->text);
        all = all ? fn_text(f, "%s && %s", all, here) : here;
    }
    return all;
}

/* ---- registers of other tiles ---- */

/* Registers of `inner`, whose ranges are some of the loop's: bits of r that move in them. */
const CExpr *register_of(Nest *n, const Layout *inner) {
    int nr, ni, at = 0;
    uint64_t column[64], all = 0;
    const uint64_t *reg = layout_columns(n->layout, "reg", &nr);
    layout_columns(inner, "reg", &ni);
    if (ni == 0 && layout_repeats(inner) == 1) return NULL;
    for (int i = 0; i < inner->nindex; i++) all |= layout_range_bits(n->layout, inner->index[i].name);
    for (int b = 0; b < nr; b++) column[b] = reg[b] & all ? UINT64_C(1) << at++ : 0;
    if (layout_repeats(inner) > 1 && ni == nr) return nest_register(n);
    const CExpr *own = bits_text(n->f, in_block(n->f, n->layout, nest_register(n)), column, nr);
    if (layout_repeats(inner) == 1) return cexpr_bare(own);
    return cexpr_bare(cexpr_add(n->f, own, blocks_before(n->f, n->layout, nest_register(n), INT64_C(1) << ni)));
}

const CExpr *tile_at(Fn *f, const Tile *t, const CExpr *index) {
    if (t->halves) return cexpr_call(f, "tile_half(%s, %s)", t->name, index->text);
    return t->count == 1 ? cexpr_name(f, t->name) : cexpr_call(f, "%s[%s]", t->name, index->text);
}

const CExpr *tile_address(Fn *f, const Tile *t, const CExpr *index) {
    bool first = t->count > 1 && cexpr_is(index, 0);
    return first ? cexpr_name(f, t->name) : cexpr_open(f, "&%s", tile_at(f, t, index)->text);
}

/* ---- tiles ---- */

static Tile tile_of_layout(const Layout *l, Elem e) {
    return (Tile){.layout = l, .elem = e, .count = layout_registers(l)};
}

Tile tile_like(Fn *f, const Layout *l, Elem e, const char *wanted) {
    Tile t = tile_of_layout(l, e);
    tile_place(f, &t, wanted);
    return t;
}

const Tile *made_tile(Fn *f, const Value *v) {
    Held *h = fn_held(f, v);
    if (h->hold == HOLD_TILE) return &h->tile;
    Tile *t = ARENA_NEW(f->arena, Tile);
    *t = tile_like(f, held_layout(f, v), v->type.elem, fn_value_name(f, v));
    emit_copy(f, t, v);
    return t;
}

/* ---- workgroup memory ---- */

void sync_line(Fn *f) {
    fn_line(f, "tile_sync();");
    f->hip->reading = false;
}

void lds_done(Fn *f) { f->hip->reading = true; }

void lds_settle(Fn *f) {
    if (f->hip->reading) sync_line(f);
}

void lds_take(Fn *f, Loc loc, int64_t bytes) {
    lds_settle(f);
    if (bytes > f->hip->lds) f->hip->lds = bytes;
    if (bytes <= f->hip->target->lds_bytes || f->failed) return;
    f->failed = true;
    diag_error(f->m->diags, loc, "lds-budget", "this takes %" PRId64 " bytes of a workgroup's memory, of %d on %s", bytes,
               f->hip->target->lds_bytes, f->hip->target->name);
    diag_note(f->m->diags, loc, "smaller tiles take less");
}
