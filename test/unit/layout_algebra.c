/* layout/algebra.c: laws of layouts on random maps, and the text form.
   Exits 0 when all hold. */
#include "ir/layout/layout.h"
#include "test/unit/check.h"
#include <stdlib.h>
#include <string.h>

static int failures;

static Layout layout_random(unsigned *seed, int in, int out) {
    Layout l = {0};
    int low = out / 2;
    layout_add_index(&l, "i", INT64_C(1) << low);
    layout_add_index(&l, "k", INT64_C(1) << (out - low));
    layout_add_place(&l, "reg", in / 2);
    layout_add_place(&l, "lane", in - in / 2);
    for (int b = 0; b < in; b++) l.column[b] = (uint64_t)rand_r(seed) & ((UINT64_C(1) << out) - 1);
    return l;
}

static Layout parsed(Arena *arena, const char *text) {
    Layout l;
    int at = 0;
    const char *error = layout_parse(arena, &l, text, &at);
    if (error) fprintf(stderr, "%s: at %d: %s\n", text, at, error);
    CHECK(!error);
    return l;
}

static bool is_identity(const Layout *l) {
    for (int b = 0; b < layout_place_bits(l); b++)
        if (l->column[b] != UINT64_C(1) << b) return false;
    return true;
}

static void check_inverses(const Layout *l) {
    Layout inverse, round;
    bool right = layout_right_inverse(&inverse, l);
    CHECK(right == layout_surjective(l));
    if (right) CHECK(layout_compose(&round, l, &inverse) && is_identity(&round));
    bool left = layout_left_inverse(&inverse, l);
    CHECK(left == layout_injective(l));
    if (left) CHECK(layout_compose(&round, &inverse, l) && is_identity(&round));
    CHECK(layout_inverse(&inverse, l) == layout_bijective(l));
}

static void check_product(const Layout *low, const Layout *high) {
    Layout product, quotient;
    CHECK(layout_product(&product, low, high));
    CHECK(layout_rank(&product) == layout_rank(low) + layout_rank(high));
    CHECK(layout_quotient(&quotient, &product, low));
    CHECK(layout_equal(&quotient, high));
    if (!low->place[0].bits) return;
    product.column[0] ^= UINT64_C(1) << (layout_index_bits(&product) - 1);
    CHECK(!layout_quotient(&quotient, &product, low));
}

static void check_text(Arena *arena, const Layout *l) {
    Text once = {0}, twice = {0};
    layout_print(&once, l);
    Layout again = parsed(arena, text_str(&once));
    CHECK(layout_equal(l, &again));
    layout_print(&twice, &again);
    CHECK(!strcmp(text_str(&once), text_str(&twice)));
    text_free(&once);
    text_free(&twice);
}

static void check_random(Arena *arena) {
    unsigned seed = 7;
    for (int n = 0; n < 2000; n++) {
        int in = rand_r(&seed) % 10, out = rand_r(&seed) % 10;
        Layout a = layout_random(&seed, in, out), b = layout_random(&seed, out, in);
        check_inverses(&a);
        check_text(arena, &a);
        if (out) check_product(&a, &b);
    }
}

static void check_composition(Arena *arena) {
    Layout reg = parsed(arena, "<i:4, k:4>{reg: 1k 2k; lane: 1i 2i} b16");
    Layout turn = parsed(arena, "<reg:4, lane:4>{reg: 1lane 2lane; lane: 1reg 2reg}");
    Layout want = parsed(arena, "<i:4, k:4>{lane: 1k 2k; reg: 1i 2i} b16"), got;
    CHECK(layout_compose(&got, &reg, &turn));
    CHECK(layout_equal(&got, &want));
    CHECK(!layout_equal(&got, &reg));
    CHECK(layout_apply(&got, 5) == 5 && layout_apply(&reg, 5) == 5);
    CHECK(layout_part(&reg, "lane", 13) == 3 && layout_part(&reg, "wave", 13) == 0);
    Layout sub;
    CHECK(layout_sub(&sub, &reg, (const char *const[]){"lane"}, 1, (const char *const[]){"i"}, 1));
    Layout lanes = parsed(arena, "<i:4>{lane: 1i 2i} b16");
    CHECK(layout_equal(&sub, &lanes));
}

/* byte ^= (byte >> 7 & 7) << 4, element by element. */
static void check_swizzle(Arena *arena) {
    Layout l = parsed(arena, "#swz128<j:16, k:64> b16");
    int wrong = 0;
    for (unsigned off = 0; off < 1024; off++) {
        unsigned byte = 2 * off, plain = byte ^ (byte >> 7 & 7) << 4;
        unsigned j = plain / 128, k = plain % 128 / 2;
        wrong += layout_apply(&l, off) != (j | k << 4);
    }
    CHECK(wrong == 0);
    check_text(arena, &l);
}

static void check_repeats(Arena *arena) {
    Layout l = parsed(arena, "<i:96, k:3*8>{reg: 1k; lane: 1i 2i 4i 8i 16i 2k^4k}");
    CHECK(layout_repeats(&l) == 9 && layout_index_bits(&l) == 8);
    check_text(arena, &l);
    Layout low = parsed(arena, "<i:8>{lane: 1i 2i 4i}"), high = parsed(arena, "<i:12>{reg: 1i 2i}"), product;
    CHECK(layout_product(&product, &low, &high));
    Layout want = parsed(arena, "<i:3*32>{lane: 1i 2i 4i; reg: 8i 16i}");
    CHECK(layout_equal(&product, &want));
    CHECK(!layout_product(&product, &high, &low));
}

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    if (argc > 1) { /* prints what it reads, for the tests of the text form */
        Layout l;
        int at;
        const char *error = layout_parse(arena, &l, argv[1], &at);
        if (error) return printf("%d: %s\n", at, error), 1;
        Text t = {0};
        layout_print(&t, &l);
        puts(text_str(&t));
        text_free(&t);
    } else {
        check_random(arena);
        check_composition(arena);
        check_swizzle(arena);
        check_repeats(arena);
    }
    arena_free(arena);
    return failures != 0;
}
