/* convert.c: conversions between register layouts.
   Takes: two layouts of one tile. Gives: the source of every place, and whether renaming, shuffles or memory bring it
   there. */
#include "ir/layout/convert.h"
#include "ir/layout/gf2.h"
#include <string.h>

static const char *const places[] = {"reg", "lane", "wave", "block"};

/* The places in the order above, absent ones with no bits; the ranges in the order of `like`. */
static bool place_normal(Layout *to, const Layout *l, const Layout *like) {
    const char *have[LAYOUT_DIMS], *ranges[LAYOUT_DIMS];
    int n = 0;
    if (!layout_same_tile(l, like)) return false;
    for (int i = 0; i < 4; i++)
        if (layout_place(l, places[i], NULL) >= 0) have[n++] = places[i];
    for (int i = 0; i < like->nindex; i++) ranges[i] = like->index[i].name;
    if (n != l->nplace || !layout_sub(to, l, have, n, ranges, like->nindex)) return false;
    LayoutDim dim[4];
    for (int i = 0; i < 4; i++) {
        int d = layout_place(to, places[i], NULL);
        dim[i] = (LayoutDim){places[i], d < 0 ? 0 : to->place[d].bits, 1};
    }
    memcpy(to->place, dim, sizeof dim);
    to->nplace = 4;
    return true;
}

static int place_first(const Layout *l, int place) {
    int bit = 0;
    for (int i = 0; i < place; i++) bit += l->place[i].bits;
    return bit;
}

static uint64_t place_part(const Layout *l, int place, uint64_t value) {
    return value >> place_first(l, place) & ((UINT64_C(1) << l->place[place].bits) - 1);
}

/* The places of `from` as ranges of the tile of the source map. */
static Layout source_dims(const Layout *from, const Layout *to) {
    Layout s = {.nplace = 4, .nindex = 4};
    memcpy(s.place, to->place, sizeof s.place);
    memcpy(s.index, from->place, sizeof s.index);
    return s;
}

/* Bit b of `to` from the same bit of `from` if that holds it, else from registers, then lanes, then waves, then blocks.
 */
static bool source_fill(Layout *s, const Layout *from, const Layout *to) {
    Span span = {0};
    for (int b = 0; b < layout_place_bits(from); b++) span_add(&span, from->column[b]);
    for (int p = 0, b = 0; p < 4; p++)
        for (int i = 0; i < to->place[p].bits; i++, b++) {
            int same = i < from->place[p].bits ? place_first(from, p) + i : -1;
            if (same >= 0 && from->column[same] == to->column[b])
                s->column[b] = UINT64_C(1) << same;
            else if (!span_solve(&span, to->column[b], &s->column[b]))
                return false;
        }
    return true;
}

/* Bits of `part` of the source that places other than it contribute, and whether its own bits stay. */
static bool part_stays(const Layout *from, const Layout *s, int part) {
    for (int p = 0, b = 0; p < 4; p++)
        for (int i = 0; i < s->place[p].bits; i++, b++)
            if (place_part(from, part, s->column[b]) != (p == part ? UINT64_C(1) << i : 0)) return false;
    return true;
}

static bool registers_alone(const Layout *from, const Layout *s) {
    for (int b = s->place[0].bits; b < layout_place_bits(s); b++)
        if (place_part(from, 0, s->column[b])) return false;
    return true;
}

typedef struct {
    const Layout *from;
    const Layout *source;
    Span lanes;       /* sources of the lanes turned so far */
    uint64_t sent[6]; /* their source places, in the order in which they were added */
    int n;
} Turning;

/* Whether lane bit b, receiving register r first, keeps "every lane sends one register": its source lane is new, or the
   lanes that share one also share the register. */
static bool turn_fits(const Turning *t, int b, uint64_t r) {
    uint64_t place = layout_apply(t->source, r) ^ t->source->column[t->source->place[0].bits + b], sum;
    if (!span_solve(&t->lanes, place_part(t->from, 1, place), &sum)) return true;
    for (; sum; sum &= sum - 1) place ^= t->sent[__builtin_ctzll(sum)];
    return place_part(t->from, 0, place) == 0;
}

static void turn_take(Turning *t, Conversion *c, int b, uint64_t r) {
    uint64_t place = layout_apply(t->source, r) ^ t->source->column[t->source->place[0].bits + b];
    c->turn[b] = r;
    t->sent[t->n++] = place;
    span_add(&t->lanes, place_part(t->from, 1, place));
}

/* The register bits with which lane bit b stays in its lane, or -1. */
static int64_t turn_staying(const Turning *t, int b) {
    for (uint64_t r = 0; r >> t->source->place[0].bits == 0; r++) {
        uint64_t place = layout_apply(t->source, r) ^ t->source->column[t->source->place[0].bits + b];
        if (place_part(t->from, 1, place) == UINT64_C(1) << b && turn_fits(t, b, r)) return (int64_t)r;
    }
    return -1;
}

/* Lanes that can stay first: then a round is an exclusive-or shuffle. The others take whatever is free: where every
   lane of `from` is a source, there always is something. */
static bool turn_all(Conversion *c, const Layout *from) {
    Turning t = {.from = from, .source = &c->source};
    int lanes = c->source.place[1].bits, done = 0;
    for (int b = 0; b < lanes; b++) {
        int64_t r = turn_staying(&t, b);
        if (r < 0) continue;
        turn_take(&t, c, b, (uint64_t)r);
        done |= 1 << b;
    }
    for (int b = 0; b < lanes; b++) {
        if (done >> b & 1) continue;
        uint64_t r = 0;
        while (r >> c->source.place[0].bits == 0 && !turn_fits(&t, b, r)) r++;
        if (r >> c->source.place[0].bits) return false;
        turn_take(&t, c, b, r);
        c->crosses = true;
    }
    return true;
}

uint64_t convert_receives(const Conversion *c, uint64_t t, uint64_t place) {
    uint64_t lane = place_part(&c->source, 1, place);
    for (int b = 0; b < c->source.place[1].bits; b++)
        if (lane >> b & 1) t ^= c->turn[b];
    return place ^ t;
}

uint64_t convert_source(const Conversion *c, uint64_t t, uint64_t place) {
    return layout_apply(&c->source, convert_receives(c, t, place));
}

/* Elements narrower than a shuffle go together when the lowest registers keep their places. */
static int elements_together(const Conversion *c, int width) {
    int n = 0;
    while (width << (n + 1) <= 32 && n < c->source.place[0].bits && c->source.column[n] == UINT64_C(1) << n) n++;
    for (; n > 0; n--) {
        uint64_t others = 0, low = (UINT64_C(1) << n) - 1;
        for (int b = n; b < layout_place_bits(&c->source); b++) others |= c->source.column[b] & low;
        for (int b = 0; b < c->source.place[1].bits; b++) others |= c->turn[b] & low;
        if (!others) break;
    }
    return n;
}

/* Rounds that deliver different data and leave their lane, in words of 32 bits. */
static void shuffle_count(Conversion *c, const Layout *from, int width) {
    Span distinct = {0};
    int registers = c->source.place[0].bits, words = width > 32 ? width / 32 : 1,
        together = elements_together(c, width);
    for (int b = 0; b < registers; b++) span_add(&distinct, c->source.column[b]);
    for (uint64_t i = 0; i >> distinct.dim == 0; i++) {
        uint64_t place = 0;
        for (int b = 0; b < distinct.dim; b++)
            if (i >> b & 1) place ^= distinct.basis[b];
        if (c->crosses || place_part(from, 1, place)) c->shuffles += words;
    }
    c->shuffles >>= together;
}

static void turn_facts(Conversion *c, const Layout *from) {
    int registers = c->source.place[0].bits, lanes = c->source.place[1].bits;
    for (int b = 0; b < lanes; b++) c->selects |= c->turn[b] != 0;
    for (int b = registers; b < layout_place_bits(&c->source); b++) {
        c->selects |= place_part(from, 0, c->source.column[b]) != 0;
        c->crosses |= b >= registers + lanes && place_part(from, 1, c->source.column[b]);
    }
}

void convert_plan(Conversion *c, const Layout *from, const Layout *to, const LdsMachine *machine) {
    Layout f, t;
    *c = (Conversion){.kind = CONVERT_NONE};
    if (!place_normal(&f, from, from) || !place_normal(&t, to, from)) return;
    c->source = source_dims(&f, &t);
    c->registers = (int)layout_repeats(to) << t.place[0].bits;
    if (!source_fill(&c->source, &f, &t) || !part_stays(&f, &c->source, 3)) return;
    bool same_lanes = f.place[1].bits == t.place[1].bits && t.place[1].bits <= 6;
    bool waves = part_stays(&f, &c->source, 2);
    if (waves && part_stays(&f, &c->source, 1) && registers_alone(&f, &c->source)) {
        c->kind = CONVERT_FREE;
        return;
    }
    c->through_memory = lds_swizzle(&c->memory, &c->store, &c->load, machine, from, to);
    c->kind = c->through_memory ? CONVERT_LDS : CONVERT_NONE;
    if (!waves || !same_lanes || !turn_all(c, &f)) return;
    c->kind = CONVERT_SHUFFLE;
    turn_facts(c, &f);
    shuffle_count(c, &f, from->width ? from->width : 32);
    c->shuffles *= (int)layout_repeats(to);
}

static void memory_print(Text *t, const Conversion *c) {
    text_printf(t, "store %d x %d bytes in %d cycles, load %d x %d bytes in %d cycles, memory ", c->store.accesses,
                c->store.bytes, c->store.cycles, c->load.accesses, c->load.bytes, c->load.cycles);
    layout_print(t, &c->memory);
}

void convert_print(Text *t, const Conversion *c) {
    static const char *const kinds[] = {"free", "shuffle", "lds", "none"};
    text_add(t, kinds[c->kind]);
    if (c->kind == CONVERT_SHUFFLE)
        text_printf(t, ": %d for %d registers, %s%s%s", c->shuffles, c->registers, c->crosses ? "any lane" : "xor",
                    c->selects ? ", with selects" : "", c->through_memory ? "; or lds" : "");
    if (!c->through_memory) return;
    text_add(t, ": ");
    memory_print(t, c);
}
