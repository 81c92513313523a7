/* swizzle.c: the memory layout between two register layouts that no bank conflict slows.
   Takes: the layout that stores and the one that loads. Gives: the memory layout of fewest cycles over all access
   widths. */
#include "ir/layout/gf2.h"
#include "ir/layout/lds.h"

#include <stdlib.h>
#include <string.h>

/* One side, for one access width. Vectors are bits of the tile's index, ranges in the order of `from`. */
typedef struct {
    const Layout *layout;
    const LdsPhase *phase;
    Span registers; /* what one lane holds */
    int vector;     /* log2 of the elements of an access */
    int banks;      /* log2, in elements where these are wider than a bank */
} Side;

typedef struct {
    uint64_t column[LAYOUT_BITS];
    int n;
} Columns;

static void side_registers(Side *s) {
    int first, d = layout_place(s->layout, "reg", &first);
    for (int b = 0; d >= 0 && b < s->layout->place[d].bits; b++) span_add(&s->registers, s->layout->column[first + b]);
}

static bool side_width(Side *s, const LdsMachine *m, bool write, int vector) {
    int bits = s->layout->width << vector;
    s->vector = vector;
    s->phase = bits < 8 ? NULL : lds_phase(m, write, bits / 8);
    if (!s->phase || s->registers.dim < vector) return false;
    s->banks = __builtin_ctz((unsigned)s->phase->banks) -
               (s->layout->width > 32 ? __builtin_ctz((unsigned)s->layout->width / 32) : 0);
    return true;
}

/* Adds the lanes that one phase serves together. */
static void side_phase(const Side *s, Span *to) {
    int first, d = layout_place(s->layout, "lane", &first);
    uint64_t inside = d < 0 ? 0 : (UINT64_C(1) << s->layout->place[d].bits) - 1;
    for (int b = 0; b < s->phase->lanes; b++)
        span_add(to, layout_apply(s->layout, ((uint64_t)s->phase->lane[b] & inside) << first));
}

static bool columns_add(Columns *c, Span *all, uint64_t v) {
    if (!span_add(all, v)) return false;
    c->column[c->n++] = v;
    return true;
}

/* Vectors that lie in both spans: combinations of a's basis that b has (Zassenhaus, one vector at a time). */
static Span span_meet(const Span *a, const Span *b) {
    Span both = *b, meet = {0};
    both.added = 0;
    for (int i = 0; i < both.dim; i++) both.sum[i] = 0;
    for (int i = 0; i < a->dim; i++) {
        uint64_t sum = 0, v = 0;
        if (span_solve(&both, a->basis[i], &sum)) {
            for (sum |= UINT64_C(1) << i; sum; sum &= sum - 1) v ^= a->basis[__builtin_ctzll(sum)];
            span_add(&meet, v);
            both.added++;
        } else {
            span_add(&both, a->basis[i]);
        }
    }
    return meet;
}

/* Lowest first: basis vectors of `from`, until `c` has n columns. */
static bool columns_fill(Columns *c, Span *all, const Span *from, int n) {
    while (c->n < n) {
        uint64_t least = 0;
        for (int i = 0; i < from->dim; i++)
            if (!span_has(all, from->basis[i]) && (!least || from->basis[i] < least)) least = from->basis[i];
        if (!least) return false;
        columns_add(c, all, least);
    }
    return true;
}

/* The side's registers that are in `from`, by their numbers: neighbours go together without being moved. */
static void columns_registers(Columns *c, Span *all, const Side *s, const Span *from, int n) {
    int first, d = layout_place(s->layout, "reg", &first);
    for (int b = 0; d >= 0 && b < s->layout->place[d].bits && c->n < n; b++)
        if (span_has(from, s->layout->column[first + b])) columns_add(c, all, s->layout->column[first + b]);
}

/* Offsets within a word, and within one access: the narrower access inside the wider one. */
static bool columns_low(Columns *c, const Side *s, const Side *l, int word, int bits) {
    Span meet = span_meet(&s->registers, &l->registers), all = {0}, whole = {0};
    const Side *wide = s->vector > l->vector ? s : l, *narrow = wide == s ? l : s;
    columns_registers(c, &all, narrow, &meet, narrow->vector);
    if (!columns_fill(c, &all, &meet, narrow->vector)) return false;
    columns_registers(c, &all, wide, &wide->registers, wide->vector);
    if (!columns_fill(c, &all, &wide->registers, wide->vector)) return false;
    for (int b = 0; b < bits; b++) span_add(&whole, UINT64_C(1) << b);
    return c->n >= word || columns_fill(c, &all, &whole, word < bits ? word : bits);
}

/* Vectors that change the address but not the bank: none may be a difference of two words that one phase wants, so they
   are taken outside both spans. Where the sides differ in banks, the last ones only concern the side with fewer. */
static void columns_rows(Columns *rows, const Side *s, const Side *l, const Columns *low, int word, int bits) {
    Span a = {0}, b = {0};
    for (int i = 0; i < low->n; i++) {
        if (i < word || i < s->vector) span_add(&a, low->column[i]);
        if (i < word || i < l->vector) span_add(&b, low->column[i]);
    }
    side_phase(s, &a);
    side_phase(l, &b);
    for (int left = bits - word; left > s->banks || left > l->banks; left--) {
        const Span *first = left > s->banks ? &a : &b, *second = left > l->banks ? &b : &a;
        uint64_t v = span_outside(first, second, bits);
        if (!v) return;
        rows->column[rows->n++] = v;
        span_add(&a, v);
        span_add(&b, v);
    }
}

/* The last rows, which only one side needs, are the lowest; the others in the order of the tile, so that addresses read
   as few fields. */
static void rows_place(uint64_t *column, const Columns *rows, int one_sided) {
    for (int i = 0; i < rows->n; i++) column[i] = rows->column[rows->n - 1 - i];
    for (int i = one_sided + 1; i < rows->n; i++)
        for (int k = i; k > one_sided && column[k] < column[k - 1]; k--) {
            uint64_t v = column[k];
            column[k] = column[k - 1];
            column[k - 1] = v;
        }
}

static bool swizzle_build(Layout *memory, const Side *s, const Side *l) {
    const Layout *from = s->layout;
    Layout r = {.width = from->width, .nindex = from->nindex};
    memcpy(r.index, from->index, sizeof r.index);
    int bits = layout_index_bits(from), word = from->width < 32 ? __builtin_ctz(32u / (unsigned)from->width) : 0;
    Columns low = {0}, rows = {0};
    Span all = {0}, whole = {0};
    if (!columns_low(&low, s, l, word, bits)) return false;
    columns_rows(&rows, s, l, &low, word, bits);
    for (int i = 0; i < low.n; i++) span_add(&all, low.column[i]);
    for (int i = 0; i < rows.n; i++)
        if (!span_add(&all, rows.column[i])) return false;
    for (int b = 0; b < bits; b++) span_add(&whole, UINT64_C(1) << b);
    columns_fill(&low, &all, &whole, bits - rows.n);
    layout_add_place(&r, "off", bits);
    for (int i = 0; i < low.n; i++) r.column[i] = low.column[i];
    int one_sided = abs(s->banks - l->banks);
    rows_place(&r.column[low.n], &rows, one_sided < rows.n ? one_sided : rows.n);
    *memory = r;
    return true;
}

static bool aligned_to(Layout *to, const Layout *l, const Layout *like) {
    const char *places[LAYOUT_DIMS], *ranges[LAYOUT_DIMS];
    for (int i = 0; i < l->nplace; i++) places[i] = l->place[i].name;
    for (int i = 0; i < like->nindex; i++) ranges[i] = like->index[i].name;
    return layout_same_tile(l, like) && layout_sub(to, l, places, l->nplace, ranges, like->nindex);
}

bool lds_swizzle(Layout *memory, LdsCount *store, LdsCount *load, const LdsMachine *m, const Layout *from,
                 const Layout *to) {
    Layout tail;
    if (!from->width || !aligned_to(&tail, to, from)) return false;
    tail.width = from->width;
    Side s = {.layout = from}, l = {.layout = &tail};
    side_registers(&s);
    side_registers(&l);
    int best = 0;
    for (int w = 0; w < 64; w++) {
        Layout tried;
        LdsCount in, out;
        if (!side_width(&s, m, true, 7 - w / 8) || !side_width(&l, m, false, 7 - w % 8)) continue;
        if (!swizzle_build(&tried, &s, &l) || !lds_count(&in, m, &tried, from, true)) continue;
        if (!lds_count(&out, m, &tried, &tail, false) || (best && in.cycles + out.cycles >= best)) continue;
        best = in.cycles + out.cycles;
        *memory = tried;
        *store = in;
        *load = out;
    }
    return best != 0;
}
