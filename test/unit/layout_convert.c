/* layout/convert.c: conversions played on a tile, element by element, and bank conflicts of every operand. With arguments
   TARGET FROM TO prints the plan; with TARGET alone counts the conflicts of the conversions on standard input. Exits 0
   when every element arrives and no computed swizzle has a conflict. */
#include "target/matrix.h"
#include "ir/layout/convert.h"
#include "test/unit/check.h"
#include <stdlib.h>
#include <string.h>

static int failures;

static Layout parsed(Arena *arena, const char *text) {
    Layout l;
    int at = 0;
    const char *error = layout_parse(arena, &l, text, &at);
    if (error) fprintf(stderr, "%s: at %d: %s\n", text, at, error);
    CHECK(!error);
    return l;
}

static int bits_of(const Layout *l, const char *place) {
    int d = layout_place(l, place, NULL);
    return d < 0 ? 0 : l->place[d].bits;
}

/* One round in one wave: who receives what, and that no lane sends two registers. */
static void play_round(const Conversion *c, uint64_t t, uint64_t wave, unsigned char *got) {
    int reg = c->source.place[0].bits, lanes = c->source.place[1].bits;
    int from_reg = c->source.index[0].bits, from_lanes = c->source.index[1].bits;
    uint64_t first = 0, sends[64];
    memset(sends, 0xff, sizeof sends);
    for (uint64_t lane = 0; lane >> lanes == 0; lane++) {
        uint64_t place = lane << reg | wave << (reg + lanes), source = convert_source(c, t, place);
        uint64_t to = convert_receives(c, t, place), from = source >> from_reg & ((1u << from_lanes) - 1);
        CHECK(source >> (from_reg + from_lanes) == wave);
        CHECK(sends[from] == UINT64_MAX || sends[from] == source);
        sends[from] = source;
        if (lane == 0) first = from;
        CHECK(c->crosses || (from ^ lane) == first);
        got[to]++;
    }
}

/* Every place of `to` receives once, and what it gets is its element: `from` and `to` agree through the source map. */
static void play(const Conversion *c, const Layout *from, const Layout *to) {
    int bits = layout_place_bits(to);
    Layout f = *from, t = *to, back;
    CHECK(layout_compose(&back, &f, &c->source) && layout_same_tile(&back, &t));
    for (int b = 0; b < bits; b++) CHECK(back.column[b] == t.column[b]);
    if (c->kind != CONVERT_SHUFFLE) return;
    unsigned char *got = calloc(UINT64_C(1) << bits, 1);
    for (uint64_t wave = 0; wave >> c->source.place[2].bits == 0; wave++)
        for (uint64_t round = 0; round >> c->source.place[0].bits == 0; round++) play_round(c, round, wave, got);
    for (uint64_t p = 0; p >> bits == 0; p++) CHECK(got[p] == 1);
    free(got);
}

static void check_memory(const Conversion *c, const Layout *from, const Layout *to, const MatrixTarget *target) {
    LdsCount store, load;
    CHECK(layout_bijective(&c->memory));
    CHECK(lds_count(&store, &target->lds, &c->memory, from, true) && store.cycles == store.phases);
    CHECK(lds_count(&load, &target->lds, &c->memory, to, false) && load.cycles == load.phases);
}

/* A random map onto a tile of `tile` bits; extra place bits are copies of sums of others. */
static Layout layout_random(unsigned *seed, int reg, int lane, int wave, int tile) {
    Layout l = {.width = 16};
    layout_add_index(&l, "i", INT64_C(1) << tile / 2);
    layout_add_index(&l, "k", INT64_C(1) << (tile - tile / 2));
    layout_add_place(&l, "reg", reg);
    layout_add_place(&l, "lane", lane);
    layout_add_place(&l, "wave", wave);
    layout_add_place(&l, "block", 0);
    do
        for (int b = 0; b < reg + lane + wave; b++)
            l.column[b] =
                rand_r(seed) % 3 ? UINT64_C(1) << rand_r(seed) % tile : (uint64_t)rand_r(seed) & ((1u << tile) - 1);
    while (!layout_surjective(&l));
    return l;
}

/* The same map with random sums of registers and lanes: often a shuffle. */
static Layout layout_stirred(unsigned *seed, const Layout *l, int bits) {
    Layout r = *l;
    for (int n = rand_r(seed) % 12; n > 0; n--) {
        int a = rand_r(seed) % bits, b = rand_r(seed) % bits;
        uint64_t column = r.column[a];
        if (rand_r(seed) % 2 && a != b) {
            r.column[a] ^= r.column[b];
        } else {
            r.column[a] = r.column[b];
            r.column[b] = column;
        }
    }
    return r;
}

static void check_random(const MatrixTarget *target, int kinds[4]) {
    unsigned seed = 11;
    int lane = target->wave == 64 ? 6 : 5;
    for (int n = 0; n < 300; n++) {
        int reg = 1 + rand_r(&seed) % 4, wave = rand_r(&seed) % 3, copies = rand_r(&seed) % 4 == 0;
        int tile = reg + lane + wave - copies;
        Layout from = layout_random(&seed, reg, lane, wave, tile), to = layout_stirred(&seed, &from, reg + lane);
        if (n % 5 == 0) to = layout_random(&seed, reg, lane, wave, tile);
        Conversion c;
        convert_plan(&c, &from, &to, &target->lds);
        CHECK(c.kind != CONVERT_NONE);
        CHECK(c.kind != CONVERT_LDS || n % 5 == 0 || copies);
        kinds[c.kind]++;
        play(&c, &from, &to);
        if (c.through_memory) check_memory(&c, &from, &to, target);
    }
}

/* 16 bytes a lane, lanes and then waves along the rows of the tile: what a coalesced load from global memory gives. The
   waves are what is left of the tile. */
static Layout layout_rows(const Layout *tile, const MatrixTarget *target, const char *slow, const char *fast) {
    LayoutDim dims[2] = {tile->index[layout_index(tile, slow, NULL)], tile->index[layout_index(tile, fast, NULL)]};
    Layout memory, l = {.width = tile->width, .nindex = 2};
    CHECK(layout_memory(&memory, dims, 2, tile->width, 0));
    memcpy(l.index, dims, sizeof dims);
    int bits = layout_place_bits(&memory), lane = target->wave == 64 ? 6 : 5,
        reg = __builtin_ctz(128u / (unsigned)tile->width);
    layout_add_place(&l, "reg", reg);
    layout_add_place(&l, "lane", lane);
    layout_add_place(&l, "wave", bits - lane - reg);
    memcpy(l.column, memory.column, sizeof l.column);
    return l;
}

/* An operand over a tile of 64 rows (or columns) and 64 on k or more, with the rows' blocks over four waves. */
static bool operand_tile(Arena *arena, Layout *l, const MatrixOp *op, char operand) {
    const char *row = operand == 'b' ? "j" : "i", *column = operand == 'd' ? "j" : "k";
    Layout one, rest = {0}, waves;
    if (!matrix_layout(arena, &one, op, operand, op->ad->n) || op->ad->blocks > 1) return false;
    int rows = one.index[layout_index(&one, row, NULL)].bits,
        columns = one.index[layout_index(&one, column, NULL)].bits;
    int wave = bits_of(&one, "wave") ? 0 : 2, more = 7 - columns < 1 ? 0 : 7 - columns;
    layout_add_index(&rest, row, INT64_C(1) << wave);
    layout_add_index(&rest, column, INT64_C(1) << more);
    int at = layout_add_place(&rest, "reg", more);
    for (int b = 0; b < more; b++) rest.column[at + b] = UINT64_C(1) << (wave + b);
    at = layout_add_place(&rest, "wave", wave);
    for (int b = 0; b < wave; b++) rest.column[at + b] = UINT64_C(1) << b;
    waves = rest;
    CHECK(rows > 0 && layout_product(l, &one, &waves));
    return l->width >= 8;
}

/* Every operand of every instruction: from rows of global memory, and D to rows, through memory without a conflict. */
static void check_in_use(Arena *arena, const MatrixTarget *target) {
    int checked = 0;
    for (int i = 0; i < target->nops; i++)
        for (const char *operand = "abd"; *operand; operand++) {
            Layout l;
            Conversion c;
            if (!operand_tile(arena, &l, &target->op[i], *operand)) continue;
            const char *row = *operand == 'b' ? "j" : "i", *column = *operand == 'd' ? "j" : "k";
            for (int turned = 0; turned < 2; turned++) {
                Layout rows = layout_rows(&l, target, turned ? column : row, turned ? row : column);
                const Layout *from = *operand == 'd' ? &l : &rows, *to = *operand == 'd' ? &rows : &l;
                LdsCount store, load;
                c = (Conversion){.kind = CONVERT_LDS};
                bool found = lds_swizzle(&c.memory, &store, &load, &target->lds, from, to);
                CHECK(found);
                if (!found) continue;
                check_memory(&c, from, to, target);
                checked++;
            }
        }
    CHECK(checked > 40);
}

/* Through a fixed memory layout: cycles over phases, times 100. */
static int factor(Arena *arena, const char *target, const char *memory, const char *registers, bool write) {
    Layout m = parsed(arena, memory), r = parsed(arena, registers);
    LdsCount c;
    bool counted = lds_count(&c, &matrix_target(target)->lds, &m, &r, write);
    CHECK(counted);
    return counted ? 100 * c.cycles / c.phases : 0;
}

#define ROWS32 "<i:32, k:64>{reg: 1k 2k 4k 16k 32k; lane: 1i 2i 4i 8i 16i 8k}" /* mfma 32x32x16, 16 bytes a lane */
#define ROWS16 "<i:16, k:64>{reg: 1k 2k 4k 32k; lane: 1i 2i 4i 8i 8k 16k}"     /* mfma 16x16x32 */
#define HALF32 "<i:32, k:64>{reg: 1k 2k 8k 16k 32k; lane: 1i 2i 4i 8i 16i 4k}" /* mfma 32x32x8, 8 bytes a lane */
#define WRITE64 "<i:32, k:64>{reg: 1k 2k 4k; lane: 8k 16k 32k 1i 2i 4i; wave: 8i 16i}"
#define WRITE32 "<i:32, k:64>{reg: 1k 2k 4k; lane: 8k 16k 32k 1i 2i; wave: 4i 8i 16i}"
#define MMA16 "<i:16, k:64>{reg: 1k 8i 8k 16k 32k; lane: 2k 4k 1i 2i 4i}"

/* Counts that were measured or derived by others: plain rows conflict, 16-byte units are right for 16-byte reads and
   leave a factor of two for 8-byte reads on gfx942. */
static void check_known(Arena *arena) {
    CHECK(factor(arena, "gfx942", "#swz128<i:32, k:64> b16", ROWS32, false) == 100);
    CHECK(factor(arena, "gfx942", "#rows<i:32, k:64> b16", ROWS32, false) == 800);
    CHECK(factor(arena, "gfx942", "#swz128<i:16, k:64> b16", ROWS16, false) == 100);
    CHECK(factor(arena, "gfx942", "#swz128<i:32, k:64> b16", WRITE64, true) == 100);
    CHECK(factor(arena, "gfx942", "#swz128<i:32, k:64> b16", HALF32, false) == 200);
    CHECK(factor(arena, "gfx942", "#swz64<i:32, k:32> b16", "<i:32, k:32>{reg: 1k 2k 4k 16k; lane: 1i 2i 4i 8i 16i 8k}",
                 false) == 100);
    CHECK(factor(arena, "gfx950", "#rows<i:32, k:64> b16", ROWS32, false) > 100);
    CHECK(factor(arena, "sm_90a", "#swz128<i:32, k:64> b16", WRITE32, true) == 100);
    CHECK(factor(arena, "sm_90a", "#swz128<i:16, k:64> b16", MMA16, false) == 100);
    CHECK(factor(arena, "sm_90a", "#rows<i:16, k:64> b16", MMA16, false) == 800);
}

/* Coalesced 16-byte stores into every panel of wgmma that has 128-byte rows cost nothing; the others as enumerated. */
static void check_panels(Arena *arena) {
    const MatrixTarget *t = matrix_target("sm_90a");
    for (int i = 0; i < t->npanels; i++) {
        Layout panel = parsed(arena, t->panel[i].layout), more = {0}, memory;
        layout_add_index(&more, panel.index[0].name, 8);
        int at = layout_add_place(&more, "off", 3);
        for (int b = 0; b < 3; b++) more.column[at + b] = UINT64_C(1) << b;
        CHECK(layout_product(&memory, &panel, &more));
        Layout rows = layout_rows(&memory, t, memory.index[0].name, memory.index[1].name);
        LdsCount c;
        CHECK(lds_count(&c, &t->lds, &memory, &rows, true));
        CHECK(c.bytes == 16 && c.cycles == c.phases);
    }
}

/* D of one product as an operand of the next. */
static void check_chains(Arena *arena) {
    static const char d32[] = "<i:32, j:32>{reg: 1i 2i 8i 16i; lane: 1j 2j 4j 8j 16j 4i} b16";
    static const char b8[] = "<i:32, j:32>{reg: 1i 2i 8i 16i; lane: 1j 2j 4j 8j 16j 4i} b16";
    static const char b16[] = "<i:32, j:32>{reg: 1i 2i 4i 16i; lane: 1j 2j 4j 8j 16j 8i} b16";
    static const char turned[] = "<i:32, j:32>{reg: 1j 2j 8j 16j; lane: 1i 2i 4i 8i 16i 4j} b16";
    const LdsMachine *m = &matrix_target("gfx950")->lds;
    Layout d = parsed(arena, d32), same = parsed(arena, b8), wide = parsed(arena, b16), other = parsed(arena, turned);
    Conversion c;
    convert_plan(&c, &d, &same, m);
    CHECK(c.kind == CONVERT_FREE);
    convert_plan(&c, &d, &wide, m);
    CHECK(c.kind == CONVERT_SHUFFLE && !c.crosses && c.selects && c.shuffles == 4 && c.registers == 16);
    convert_plan(&c, &d, &other, m);
    CHECK(c.kind == CONVERT_SHUFFLE && c.through_memory && c.shuffles > 4);
    Layout waves = parsed(arena, "<i:32, j:32>{reg: 1i 2i; wave: 8i 16i; lane: 1j 2j 4j 8j 16j 4i} b16");
    convert_plan(&c, &waves, &d, m);
    CHECK(c.kind == CONVERT_LDS);
    Layout blocks = parsed(arena, "<i:32, j:32>{reg: 1i 2i; block: 8i 16i; lane: 1j 2j 4j 8j 16j 4i} b16");
    convert_plan(&c, &blocks, &d, m);
    CHECK(c.kind == CONVERT_NONE);
}

static void print_plan(Arena *arena, const MatrixTarget *target, const char *from, const char *to) {
    Layout f = parsed(arena, from), t = parsed(arena, to);
    Conversion c;
    Text text = {0};
    convert_plan(&c, &f, &t, &target->lds);
    convert_print(&text, &c);
    puts(text_str(&text));
    text_free(&text);
}

static bool has_conflicts(const Conversion *c) {
    return c->store.cycles > c->store.phases || c->load.cycles > c->load.phases;
}

/* Of conversions on standard input, two layouts a line with a tab between: how many go through memory, and which of
   them meet a bank twice. */
static void count_conflicts(Arena *arena, const MatrixTarget *target) {
    char line[4096];
    int memory = 0, conflicts = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *tab = strchr(line, '\t');
        if (CHECK(tab != NULL)) return;
        *tab = 0;
        Layout from = parsed(arena, line), to = parsed(arena, tab + 1);
        Conversion c;
        convert_plan(&c, &from, &to, &target->lds);
        if (c.kind != CONVERT_LDS && !c.through_memory) continue;
        memory++;
        if (!has_conflicts(&c)) continue;
        conflicts++;
        printf("%s -> %s: store %d of %d, load %d of %d\n", line, tab + 1, c.store.cycles, c.store.phases, c.load.cycles, c.load.phases);
    }
    printf("%s: %d through memory, %d with conflicts\n", target->name, memory, conflicts);
}

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    int kinds[4] = {0};
    if (argc > 3) {
        print_plan(arena, matrix_target(argv[1]), argv[2], argv[3]);
    } else if (argc > 1) {
        count_conflicts(arena, matrix_target(argv[1]));
    } else {
        for (int i = 0; i < matrix_target_count; i++) {
            check_random(&matrix_targets[i], kinds);
            check_in_use(arena, &matrix_targets[i]);
        }
        CHECK(kinds[CONVERT_SHUFFLE] > 300 && kinds[CONVERT_LDS] > 50);
        check_known(arena);
        check_panels(arena);
        check_chains(arena);
    }
    arena_free(arena);
    return failures != 0;
}
