/* parse.c: layouts from their text.
   Takes: text. Gives: a Layout, or what is wrong and where. */
#include "ir/layout/layout.h"
#include <ctype.h>
#include <string.h>

/*  layout = ["#" NAME] "<" [index {"," index}] ">" ["{" [place {";" place}] "}"] ["b" N]
    index  = NAME ":" [N "*"] N
    place  = NAME ":" {N NAME {"^" N NAME} | "0"}      */
typedef struct {
    Arena *arena;
    const char *text, *p, *error, *wrong;
} Reader;

static bool fail(Reader *r, const char *message) {
    if (!r->error) {
        r->error = message;
        r->wrong = r->p;
    }
    return false;
}

static void skip_space(Reader *r) {
    while (isspace((unsigned char)*r->p)) r->p++;
}

static bool accept(Reader *r, char c) {
    skip_space(r);
    if (*r->p != c) return false;
    r->p++;
    return true;
}

static bool expect(Reader *r, char c, const char *message) { return accept(r, c) || fail(r, message); }

static const char *read_name(Reader *r) {
    skip_space(r);
    const char *from = r->p;
    if (!isalpha((unsigned char)*from) && *from != '_') return fail(r, "a name is expected here"), NULL;
    while (isalnum((unsigned char)*r->p) || *r->p == '_') r->p++;
    return arena_text(r->arena, from, (size_t)(r->p - from));
}

static bool read_number(Reader *r, int64_t *n) {
    skip_space(r);
    if (!isdigit((unsigned char)*r->p)) return fail(r, "a number is expected here");
    for (*n = 0; isdigit((unsigned char)*r->p); r->p++) {
        if (*n > INT64_C(1) << 40) return fail(r, "this number is too large");
        *n = 10 * *n + (*r->p - '0');
    }
    return true;
}

static bool read_index(Reader *r, Layout *l) {
    int64_t extent, times = 1;
    const char *name = read_name(r);
    if (!name || !expect(r, ':', "':' and an extent are expected here") || !read_number(r, &extent)) return false;
    if (accept(r, '*')) {
        times = extent;
        if (!read_number(r, &extent)) return false;
    }
    if (times > 1 && extent > (INT64_C(1) << 40) / times) return fail(r, "this extent is too large");
    return layout_add_index(l, name, times * extent) || fail(r, "a range named twice, of no extent, or too large");
}

/* One term: 16i is value 16 of range i. */
static bool read_term(Reader *r, const Layout *l, uint64_t *column) {
    int64_t value;
    int first;
    if (!read_number(r, &value)) return false;
    if (value == 0 && !isalpha((unsigned char)*r->p) && *r->p != '_') return true;
    const char *name = read_name(r);
    if (!name) return false;
    int d = layout_index(l, name, &first);
    if (d < 0) return fail(r, "the tile has no such range");
    if (value >> l->index[d].bits) return fail(r, "this lies outside the range's block");
    *column ^= (uint64_t)value << first;
    return true;
}

static bool read_place(Reader *r, Layout *l) {
    const char *name = read_name(r);
    if (!name || !expect(r, ':', "':' is expected here")) return false;
    if (layout_place(l, name, NULL) >= 0) return fail(r, "this place is named twice");
    int at = layout_add_place(l, name, 0);
    for (skip_space(r); isdigit((unsigned char)*r->p); skip_space(r)) {
        uint64_t column = 0;
        do
            if (!read_term(r, l, &column)) return false;
        while (accept(r, '^'));
        if (at < 0 || (at = layout_add_place(l, name, 1)) < 0) return fail(r, "too many places or bits");
        l->column[at] = column;
    }
    return at >= 0 || fail(r, "too many places");
}

static bool read_list(Reader *r, Layout *l, bool (*item)(Reader *, Layout *), char between, char end) {
    if (accept(r, end)) return true;
    do
        if (!item(r, l)) return false;
    while (accept(r, between));
    return expect(r, end, "the end of the list is expected here");
}

static int swizzle_of(const char *name) {
    static const char *const names[] = {"swz32", "swz64", "swz128"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, names[i])) return 32 << i;
    return strcmp(name, "rows") ? -1 : 0;
}

static bool read_width(Reader *r, Layout *l) {
    int64_t width = 0;
    if (!accept(r, 'b')) return true;
    if (!read_number(r, &width)) return false;
    if (width < 1 || width > 128 || (width & (width - 1))) return fail(r, "the width is a power of two up to 128");
    l->width = (int)width;
    return true;
}

static bool read_layout(Reader *r, Layout *l) {
    const char *name = accept(r, '#') ? read_name(r) : NULL;
    int swizzle = name ? swizzle_of(name) : 0;
    if (r->error) return false;
    if (swizzle < 0) return fail(r, "there is no layout of this name; #rows, #swz32, #swz64 and #swz128 are known");
    if (!expect(r, '<', "'<' is expected here") || !read_list(r, l, read_index, ',', '>')) return false;
    if (!name && (!expect(r, '{', "'{' is expected here") || !read_list(r, l, read_place, ';', '}'))) return false;
    if (!read_width(r, l)) return false;
    skip_space(r);
    if (*r->p) return fail(r, "the layout ends before this");
    if (!name) return true;
    if (swizzle && l->width < 8) return fail(r, "a swizzle needs a width of whole bytes");
    LayoutDim index[LAYOUT_DIMS];
    memcpy(index, l->index, sizeof index);
    return layout_memory(l, index, l->nindex, l->width, swizzle) || fail(r, "this layout is too large");
}

const char *layout_parse(Arena *arena, Layout *to, const char *text, int *at) {
    Reader r = {.arena = arena, .text = text, .p = text};
    *to = (Layout){0};
    if (read_layout(&r, to)) return NULL;
    *at = (int)(r.wrong - text);
    return r.error;
}
