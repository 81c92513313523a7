/* dot.c: matrix instructions: which one a dot uses, and the layouts of its operands over the workgroup: the
   instruction's own, repeated over registers and divided among waves.
   Takes: dots of two tiles. Gives: dots `by` an instruction, their operands converted; the others are sums of products. */
#include "passes/fuse/inline.h"
#include "passes/layout/layout.h"

#include <string.h>

typedef struct {
    int16_t m, n, k; /* ranges: of the first operand, of the second, of both */
} DotRanges;

static int other_range(Type t, int range) {
    return t.nrange == 2 && type_has(t, range) ? t.range[t.range[0] == range] : -1;
}

static bool dot_ranges(const Op *op, DotRanges *d) {
    const Type *x = &op->arg.p[0]->type, *y = &op->arg.p[1]->type, *r = &op->res.p[0]->type;
    if (op->nover != 1 || r->nrange != 2) return false;
    int m = other_range(*x, op->over[0]), n = other_range(*y, op->over[0]);
    *d = (DotRanges){(int16_t)m, (int16_t)n, op->over[0]};
    return m >= 0 && n >= 0 && m != n && type_has(*r, m) && type_has(*r, n);
}

/* Exact for these element types, and no larger than the tile. */
static bool op_fits(const MatrixOp *o, const Op *op, int64_t m, int64_t n, int64_t k) {
    const char *e = elem_text(op->arg.p[0]->type.elem);
    return matrix_is_plain(o) && !strcmp(o->a, e) && !strcmp(o->b, e) &&
           !strcmp(o->d, elem_text(op->res.p[0]->type.elem)) && o->ad->m <= m && o->ad->n <= n && o->ad->k <= k;
}

static double cost_of(const MatrixOp *o) { return (double)o->cycles / ((double)o->ad->m * o->ad->n * o->ad->k); }

static bool is_better(const MatrixOp *a, const MatrixOp *b) {
    if (!b || cost_of(a) != cost_of(b)) return !b || cost_of(a) < cost_of(b);
    return a->ad->m * a->ad->n < b->ad->m * b->ad->n;
}

/* Whether the neighbours in a lane's registers of D run along its columns. */
static bool rows_in_registers(const Lay *l, const MatrixOp *o) {
    Layout d;
    int reg, j;
    if (!matrix_layout(l->scratch, &d, o, 'd', o->ad->n) || layout_index(&d, "j", &j) < 0) return false;
    int place = layout_place(&d, "reg", &reg);
    return place >= 0 && d.place[place].bits && d.column[reg] == UINT64_C(1) << j;
}

/* The first operand becomes the instruction's A. A lane's neighbours in D should be neighbours of the later range, along
   which results are stored and reduced. */
static const MatrixOp *pick(const Lay *l, const Op *op, const DotRanges *d, bool *swap) {
    const MatrixOp *best = NULL;
    for (int i = 0; i < l->target->nops; i++) {
        const MatrixOp *o = &l->target->op[i];
        bool turned = rows_in_registers(l, o) ? d->m > d->n : d->m < d->n;
        int64_t m = l->extent[turned ? d->n : d->m], n = l->extent[turned ? d->m : d->n];
        if (!op_fits(o, op, m, n, l->extent[d->k]) || !is_better(o, best)) continue;
        best = o;
        *swap = turned;
    }
    return best;
}

/* ---- layouts ---- */

/* Bits of a range that the waves divide, from its top down. */
static int bits_of(const Lay *l, int range) { return __builtin_ctzll((uint64_t)l->extent[range]); }

static int taken_bits(const Lay *l, int range) {
    int n = 0;
    for (int b = 0; b < l->wave_bits; b++) n += l->wave[b].range[0] == range || l->wave[b].range[1] == range;
    return n;
}

static bool is_reduced(const Region *r, int range) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->nover && op_info[op->kind].class == CLASS_REDUCE; i++)
            if (op->over[i] == range) return true;
    return false;
}

/* Which of the two ranges the next wave bit divides: not one that is reduced, else the longer; -1: neither has any left. */
static int next_divided(const Lay *l, int first, int first_left, int second, int second_left) {
    bool first_whole = is_reduced(l->k->body, first), second_whole = is_reduced(l->k->body, second);
    if (first_left <= 0 && second_left <= 0) return -1;
    if (first_left <= 0 || second_left <= 0) return first_left > 0 ? first : second;
    if (first_whole != second_whole) return first_whole ? second : first;
    return bits_of(l, first) - taken_bits(l, first) >= bits_of(l, second) - taken_bits(l, second) ? first : second;
}

/* Whether the bit is free for a dot with these ranges, and as its which range: what divides another dot's range alone. */
static int wave_alternative(const Lay *l, int b, int first, int second) {
    const int16_t *range = l->wave[b].range;
    if (range[0] < 0) return 0;
    return range[0] != first && range[0] != second && range[1] < 0 ? 1 : -1;
}

/* Bits that are free, or divide ranges of other dots, are given to this one's; the first dot decides for the kernel. */
static void divide_waves(Lay *l, int first, int first_bits, int second, int second_bits) {
    for (int b = l->wave_bits - 1; b >= 0; b--) {
        int which = wave_alternative(l, b, first, second);
        if (which < 0) continue;
        int16_t *whole = &l->wave[b].whole;
        int first_left = which && first == *whole ? 0 : first_bits - taken_bits(l, first);
        int second_left = which && second == *whole ? 0 : second_bits - taken_bits(l, second);
        int range = next_divided(l, first, first_left, second, second_left);
        if (range < 0) return;
        if (!which) *whole = (int16_t)(range == first ? second : first);
        l->wave[b].bit[which] = bits_of(l, range) - 1 - taken_bits(l, range);
        l->wave[b].range[which] = (int16_t)range;
    }
}

/* Where an operand's fragment stands: its two ranges, with the fragment's own names for them. */
typedef struct {
    int16_t range[2];
    const char *name[2];
    int16_t whole; /* a range that is summed over: each wave needs all of it; -1: none */
} Side;

static bool is_divided(const Side *s, int range) {
    return range != s->whole && (range == s->range[0] || range == s->range[1]);
}

static uint64_t moved_column(const Layout *to, const Layout *frag, const Side *s, const Lay *l, uint64_t column) {
    uint64_t moved = 0;
    for (int i = 0; i < 2; i++) {
        int from, at;
        int d = layout_index(frag, s->name[i], &from);
        layout_index(to, l->k->range.p[s->range[i]].name, &at);
        moved |= (column >> from & ((UINT64_C(1) << frag->index[d].bits) - 1)) << at;
    }
    return moved;
}

static void place_fragment(const Lay *l, Layout *to, const Layout *frag, const Side *s, const char *place) {
    int first, d = layout_place(frag, place, &first), bits = d < 0 ? 0 : frag->place[d].bits;
    int at = layout_add_place(to, place, bits);
    for (int b = 0; b < bits; b++) to->column[at + b] = moved_column(to, frag, s, l, frag->column[first + b]);
}

static uint64_t bit_of(const Lay *l, const Layout *to, int range, int bit) {
    int at;
    layout_index(to, l->k->range.p[range].name, &at);
    return UINT64_C(1) << (at + bit);
}

/* The fragment's repetitions along a range, in registers: the bits above the fragment's, below those of waves. */
static void repeat_fragment(const Lay *l, Layout *to, const Layout *frag, const Side *s, int side) {
    int range = s->range[side], d = layout_index(frag, s->name[side], NULL);
    int from = frag->index[d].bits, end = bits_of(l, range) - (is_divided(s, range) ? taken_bits(l, range) : 0);
    for (int b = from; b < end; b++) to->column[layout_add_place(to, "reg", 1)] = bit_of(l, to, range, b);
}

static void place_waves(const Lay *l, Layout *to, const Side *s) {
    for (int b = 0; b < l->wave_bits; b++) {
        int at = layout_add_place(to, "wave", 1);
        for (int i = 0; i < 2; i++)
            if (is_divided(s, l->wave[b].range[i])) to->column[at] = bit_of(l, to, l->wave[b].range[i], l->wave[b].bit[i]);
    }
}

/* Repeated along s->range[0] first, then along s->range[1]. */
static void spread(const Lay *l, Layout *to, const Layout *frag, const Side *s) {
    *to = (Layout){0};
    for (int i = 0; i < 2; i++) layout_add_index(to, l->k->range.p[s->range[i]].name, l->extent[s->range[i]]);
    place_fragment(l, to, frag, s, "reg");
    for (int i = 0; i < 2; i++) repeat_fragment(l, to, frag, s, i);
    place_fragment(l, to, frag, s, "lane");
    layout_add_place(to, "wave", 0);
    place_waves(l, to, s);
}

static const MatrixOp *op_by(const Lay *l, const Op *op) {
    const char *e = elem_text(op->arg.p[0]->type.elem);
    return matrix_op(l->target, op->by, e, e);
}

bool lay_dot_layouts(Lay *l, const Op *op, Layout *a, Layout *b, Layout *d) {
    const MatrixOp *o = op->by ? op_by(l, op) : NULL;
    DotRanges r;
    Layout fa, fb, fd;
    if (!o || !dot_ranges(op, &r)) return false;
    if (!matrix_layout(l->scratch, &fa, o, 'a', o->ad->n) || !matrix_layout(l->scratch, &fb, o, 'b', o->ad->n) ||
        !matrix_layout(l->scratch, &fd, o, 'd', o->ad->n))
        return false;
    spread(l, a, &fa, &(Side){{r.k, r.m}, {"k", "i"}, r.k});
    spread(l, b, &fb, &(Side){{r.k, r.n}, {"k", "j"}, r.k});
    spread(l, d, &fd, &(Side){{r.n, r.m}, {"j", "i"}, -1});
    return true;
}

/* ---- dots that are reductions of a product ---- */

/* The product of all pairs is hardly larger than what is multiplied. */
static bool is_slim(const Lay *l, const Op *op) {
    /* Products, and how often the longer side of operands; chosen: no measurement is recorded. */
    enum { FEW = 8192, TIMES = 4 };
    int64_t x = lay_elements(l, op->arg.p[0]->type), y = lay_elements(l, op->arg.p[1]->type);
    int64_t all = lay_elements(l, type_union(op->arg.p[0]->type, op->arg.p[1]->type));
    return all <= FEW || all <= TIMES * (x > y ? x : y);
}

/* ---- tiles narrower than every instruction for their elements ---- */

static int64_t least_side(const Lay *l, const Op *op) {
    int64_t least = 0;
    for (int i = 0; i < l->target->nops; i++) {
        const MatrixOp *o = &l->target->op[i];
        int64_t side = o->ad->m > o->ad->n ? o->ad->m : o->ad->n;
        if (op_fits(o, op, side, side, l->extent[op->over[0]]) && (!least || side < least)) least = side;
    }
    return least;
}

static void pad_range(Lay *l, int range, int64_t side) {
    if (l->k->range.p[range].kind == RANGE_TILE && l->extent[range] > 1 && l->extent[range] < side) l->extent[range] = side;
}

/* A few rows take places for as many as an instruction has; a single one is cheaper summed. */
static void pad(Lay *l, Op *op) {
    DotRanges d;
    if (op->kind != OP_DOT || !dot_ranges(op, &d)) return;
    int64_t side = least_side(l, op);
    if (l->extent[d.m] < side && l->extent[d.n] < side) return;
    pad_range(l, d.m, side);
    pad_range(l, d.n, side);
}

void lay_pad(Lay *l) { lay_each(l, l->k->body, pad); }

static bool has_matrix_op(const Lay *l, const Op *op) {
    DotRanges d;
    bool swap;
    return dot_ranges(op, &d) && pick(l, op, &d, &swap);
}

static void expand(Lay *l, Op *op) {
    if (op->kind != OP_DOT || !is_slim(l, op) || has_matrix_op(l, op)) return;
    Region *aside = region_new(l->m, NULL);
    Builder b = {.m = l->m, .k = l->k, .at = aside, .loc = op->loc};
    Elem e = op->res.p[0]->type.elem;
    Value *x = build_cast(&b, e, op->arg.p[0]), *y = build_cast(&b, e, op->arg.p[1]);
    Value *product = build_binary(&b, OP_MUL, x, y);
    Value *sum = build_reduce(&b, OP_SUM, product, op->over, op->nover);
    if (op->arg.n == 3) sum = build_binary(&b, OP_ADD, op->arg.p[2], sum);
    sum->name = op->res.p[0]->name;
    region_splice_before(op, aside);
    region_replace(l->k->body, op->res.p[0], sum);
    op_remove(op);
}

void lay_expand(Lay *l) { lay_each(l, l->k->body, expand); }

/* ---- the dots of a kernel ---- */

/* After the operand, or the tensor that it comes from. */
static Name fragment_name(const Lay *l, const Value *v) {
    const Op *d = v->def;
    while (d && !v->name && (d->kind == OP_CAST || d->kind == OP_SELECT)) {
        v = d->arg.p[d->kind == OP_SELECT];
        d = v->def;
    }
    Name name = v->name ? v->name : d && d->kind == OP_LOAD ? l->k->param.p[d->param].name : NULL;
    return name ? name_of(l->m->names, arena_format(l->m->arena, "%s_frag", name)) : NULL;
}

/* In front of the dot, or behind a definition outside of its loop. */
static void convert_operand(Lay *l, Op *op, int operand, const Layout *to) {
    const Value *x = op->arg.p[operand];
    Op *convert = op_new(l->m, OP_CONVERT, op->loc);
    vec_push(l->m->arena, &convert->arg, op->arg.p[operand]);
    if (x->def && x->def->in != op->in)
        lay_insert_behind(convert, x);
    else
        op_insert_before(op, convert);
    Value *v = op_result(l->m, l->k, convert, op->arg.p[operand]->type);
    v->name = fragment_name(l, op->arg.p[operand]);
    v->layout = lay_number(l, to);
    op->arg.p[operand] = v;
}

static int log2_of(int64_t n) { return __builtin_ctzll((uint64_t)n); }

static void matrix_op_of(Lay *l, Op *op) {
    DotRanges d;
    Layout a, b, r;
    bool swap = false;
    if (op->kind != OP_DOT || !dot_ranges(op, &d)) return;
    const MatrixOp *o = pick(l, op, &d, &swap);
    if (!o) return;
    op->by = name_of(l->m->names, o->name);
    if (swap) {
        Value *x = op->arg.p[0];
        op->arg.p[0] = op->arg.p[1];
        op->arg.p[1] = x;
        d = (DotRanges){d.n, d.m, d.k};
    }
    int m_bits = log2_of(l->extent[d.m] / o->ad->m), n_bits = log2_of(l->extent[d.n] / o->ad->n);
    if (d.m < d.n)
        divide_waves(l, d.m, m_bits, d.n, n_bits);
    else
        divide_waves(l, d.n, n_bits, d.m, m_bits);
    lay_dot_layouts(l, op, &a, &b, &r);
    convert_operand(l, op, 0, &a);
    convert_operand(l, op, 1, &b);
}

void lay_matrix(Lay *l) { lay_each(l, l->k->body, matrix_op_of); }
