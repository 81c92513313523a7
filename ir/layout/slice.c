/* slice.c: the layout of a tile that has some of another's ranges.
   Takes: a layout with places reg, lane and wave. Gives: where the elements of the smaller tile must lie so that every lane
   that has an element of the larger one has its counterpart: lanes and waves stay, registers that only repeat vanish. */
#include "ir/layout/layout.h"

static const char *const places[] = {"reg", "lane", "wave"};

bool layout_slice(Layout *to, const Layout *l, const char *const ranges[], int n) {
    Layout all, s = {.width = l->width};
    int first;
    if (!layout_sub(&all, l, places, 3, ranges, n)) return false;
    s.nindex = all.nindex;
    for (int i = 0; i < n; i++) s.index[i] = all.index[i];
    for (int p = 0; p < 3; p++) {
        int d = layout_place(&all, places[p], &first);
        if (layout_add_place(&s, places[p], 0) < 0) return false;
        for (int b = 0; b < all.place[d].bits; b++) {
            uint64_t column = all.column[first + b];
            if (p > 0 || column) s.column[layout_add_place(&s, places[p], 1)] = column;
        }
    }
    *to = s;
    return true;
}
