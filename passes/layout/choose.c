/* choose.c: a layout for every class. Results of matrix instructions lie as the instruction makes them. A tile that
   is broadcast into another, or reduced from it, is a slice of that one. All others are blocked: 16 bytes a lane
   along the range that is contiguous in memory (less where its rows are no multiples of that), then lanes and waves
   along it and the others, then further registers. */
#include "passes/layout/layout.h"

static void assign(Lay *l, int class, const Layout *layout) { l->class[class].layout = lay_number(l, layout); }

static void assign_product(Lay *l, Op *op) {
    Layout a, b, d;
    if (op->kind != OP_DOT || !op->by) return;
    int class = lay_class(l, op->res.p[0]);
    if (!l->class[class].layout && lay_dot_layouts(l, op, &a, &b, &d)) assign(l, class, &d);
}

/* ---- slices ---- */

static bool try_slice(Lay *l, const LayPair *p) {
    int small = lay_class(l, l->value.p[p->small]), large = lay_class(l, l->value.p[p->large]);
    const LayClass *s = &l->class[small], *g = &l->class[large];
    if (s->layout || !g->layout || !type_covers(g->type, s->type)) return false;
    Layout slice = lay_slice(l, &l->k->layout.p[g->layout - 1], s->type);
    assign(l, small, &slice);
    return true;
}

static void assign_slices(Lay *l) {
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < l->pair.n; i++) again = try_slice(l, &l->pair.p[i]) || again;
    }
}

/* ---- blocked layouts ---- */

/* A tile's bits still to be placed: from the fastest range up. */
typedef struct {
    int n;
    int16_t range[MAX_RANGES];
    int next[MAX_RANGES], end[MAX_RANGES];
} Bits;

static Bits bits_begin(const Lay *l, const LayClass *c) {
    Bits b = {0};
    int fastest = c->fastest >= 0 ? c->fastest : c->type.range[c->type.nrange - 1];
    b.range[b.n++] = (int16_t)fastest;
    for (int i = c->type.nrange - 1; i >= 0; i--)
        if (c->type.range[i] != fastest) b.range[b.n++] = c->type.range[i];
    for (int i = 0; i < b.n; i++) b.end[i] = __builtin_ctzll((uint64_t)l->extent[b.range[i]]);
    return b;
}

static int bits_left(const Bits *b) {
    int n = 0;
    for (int i = 0; i < b->n; i++) n += b->end[i] - b->next[i];
    return n;
}

static void place_bit(const Lay *l, Layout *to, Bits *b, int i, const char *place) {
    int at = layout_add_place(to, place, 1), first;
    layout_index(to, l->k->range.p[b->range[i]].name, &first);
    to->column[at] = UINT64_C(1) << (first + b->next[i]++);
}

/* The next bit of the first range that has any left goes to a place; a place beyond all bits holds copies. */
static void place_next(const Lay *l, Layout *to, Bits *b, const char *place) {
    for (int i = 0; i < b->n; i++)
        if (b->next[i] < b->end[i]) {
            place_bit(l, to, b, i, place);
            return;
        }
    layout_add_place(to, place, 1);
}

/* What an instruction wants side by side is loaded by one thread, as far as it has registers. */
static void place_inner(const Lay *l, Layout *to, Bits *b, const LayClass *c, int thread_bits) {
    for (int i = 1; i < b->n && c->inner >= 0; i++)
        while (b->range[i] == c->inner && b->next[i] < b->end[i] && b->next[i] < c->inner_bits &&
               bits_left(b) > thread_bits)
            place_bit(l, to, b, i, "reg");
}

static int bits_of_run(const LayClass *c, const Bits *b, int thread_bits, int run) {
    int bits = 0, width = elem_bits(c->memory), spare = bits_left(b) - thread_bits;
    while (bits < spare && bits < b->end[0] && width << (bits + 1) <= 128 && 2 << bits <= run) bits++;
    return bits;
}

static int vector_bits(const LayClass *c, const Bits *b, int thread_bits) {
    int bits = bits_of_run(c, b, thread_bits, c->stored ? c->plain_run : c->run);
    return elem_bits(c->memory) << bits >= LAY_ODD_BITS ? bits : bits_of_run(c, b, thread_bits, c->plain_run);
}

static Layout blocked(const Lay *l, const LayClass *c) {
    Layout to = {0};
    Bits b = bits_begin(l, c);
    int lanes = __builtin_ctz((unsigned)l->target->wave);
    for (int i = 0; i < c->type.nrange; i++)
        layout_add_index(&to, l->k->range.p[c->type.range[i]].name, l->extent[c->type.range[i]]);
    layout_add_place(&to, "reg", 0);
    for (int i = vector_bits(c, &b, lanes + l->wave_bits); i > 0; i--) place_next(l, &to, &b, "reg");
    place_inner(l, &to, &b, c, lanes + l->wave_bits);
    for (int i = 0; i < lanes; i++) place_next(l, &to, &b, "lane");
    layout_add_place(&to, "wave", 0);
    for (int i = 0; i < l->wave_bits; i++) place_next(l, &to, &b, "wave");
    while (bits_left(&b)) place_next(l, &to, &b, "reg");
    return to;
}

/* Of as many elements, the one of which the other may be a slice. */
static bool is_larger(const Lay *l, Type a, Type b) {
    int64_t na = lay_elements(l, a), nb = lay_elements(l, b);
    return na > nb || (na == nb && a.nrange > b.nrange);
}

static int largest_open(const Lay *l) {
    int best = -1;
    for (int v = 0; v < l->nvalue; v++) {
        const LayClass *c = &l->class[v];
        if (l->parent[v] != v || c->layout || c->type.nrange == 0) continue;
        if (best < 0 || is_larger(l, c->type, l->class[best].type)) best = v;
    }
    return best;
}

void lay_choose(Lay *l) {
    lay_each(l, l->k->body, assign_product);
    assign_slices(l);
    for (int open = largest_open(l); open >= 0; open = largest_open(l)) {
        Layout layout = blocked(l, &l->class[open]);
        assign(l, open, &layout);
        assign_slices(l);
    }
}
