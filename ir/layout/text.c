/* text.c: layouts as text, and the layouts of memory that have names.
   Takes: a Layout. Gives: the text that layout_parse reads. */
#include "ir/layout/layout.h"
#include <string.h>

bool layout_memory(Layout *to, const LayoutDim *index, int n, int width, int swizzle) {
    Layout r = {.width = width};
    for (int i = 0; i < n; i++)
        if (!layout_add_index(&r, index[i].name, index[i].repeat << index[i].bits)) return false;
    int bits = layout_index_bits(&r), chunk = 0;
    layout_add_place(&r, "off", bits);
    for (int i = n - 1, at = 0, top = bits; i >= 0; i--) {
        top -= index[i].bits;
        for (int b = 0; b < index[i].bits; b++) r.column[at++] = UINT64_C(1) << (top + b);
    }
    for (int s = 16; swizzle > s; s *= 2, chunk++) {
        if (width < 8) return false;
        int unit = __builtin_ctz((unsigned)width / 8), to_bit = 4 + chunk - unit, from_bit = 7 + chunk - unit;
        if (from_bit < bits) r.column[from_bit] ^= r.column[to_bit];
    }
    *to = r;
    return true;
}

static void index_print(Text *t, const Layout *l) {
    for (int i = 0; i < l->nindex; i++) {
        const LayoutDim *d = &l->index[i];
        text_printf(t, "%s%s:", i ? ", " : "<", d->name);
        if (d->repeat != 1) text_printf(t, "%lld*", (long long)d->repeat);
        text_printf(t, "%llu", 1ULL << d->bits);
    }
    text_add(t, l->nindex ? ">" : "<>");
}

static void column_print(Text *t, const Layout *l, uint64_t column) {
    const char *between = " ";
    int bit = 0;
    for (int i = 0; i < l->nindex; bit += l->index[i++].bits) {
        uint64_t part = column >> bit & ((UINT64_C(1) << l->index[i].bits) - 1);
        if (!part) continue;
        text_printf(t, "%s%llu%s", between, (unsigned long long)part, l->index[i].name);
        between = "^";
    }
    if (!column) text_add(t, " 0");
}

/* The swizzle with which the layout has a name, 0 for plain rows, or -1. */
static int memory_swizzle(const Layout *l) {
    if (l->nplace != 1 || strcmp(l->place[0].name, "off")) return -1;
    for (int swizzle = 0; swizzle <= 128; swizzle = swizzle ? 2 * swizzle : 32) {
        Layout named;
        if (layout_memory(&named, l->index, l->nindex, l->width, swizzle) && layout_equal(l, &named)) return swizzle;
    }
    return -1;
}

void layout_print(Text *t, const Layout *l) {
    int swizzle = memory_swizzle(l), bit = 0;
    if (swizzle == 0) text_add(t, "#rows");
    if (swizzle > 0) text_printf(t, "#swz%d", swizzle);
    index_print(t, l);
    if (swizzle < 0) {
        text_add(t, "{");
        for (int i = 0; i < l->nplace; i++) {
            text_printf(t, "%s%s:", i ? "; " : "", l->place[i].name);
            for (int b = 0; b < l->place[i].bits; b++) column_print(t, l, l->column[bit++]);
        }
        text_add(t, "}");
    }
    if (l->width) text_printf(t, " b%d", l->width);
}
