/* move.h: collectives, on what is split, partial or different on each rank. */
#ifndef TILEC_TEST_GEN_MOVE_H
#define TILEC_TEST_GEN_MOVE_H

#include "test/gen/given.h"

static int split_dim_of(const Src *g, const SrcTensor *t, int but) {
    int found[SRC_RANK], n = 0;
    for (int d = 0; d < t->ndim; d++) {
        bool free = d != but && is_plain_dim(t->dim[d]);
        for (int a = 0; a < g->naxis; a++) free = free && !(t->place[a] == PLACE_S && t->split[a] == d);
        if (free) found[n++] = d;
    }
    return n ? found[tape_draw(g->tape, n)] : -1;
}

static const char *move_split(Src *g, SrcTensor *t, int a, const char *x) {
    int to = split_dim_of(g, t, t->split[a]);
    if (to >= 0 && DRAW(g, 2)) {
        t->split[a] = to;
        return SAY(g, "all_to_all(%s, %s, %d)", x, axis_name[a], to);
    }
    t->place[a] = PLACE_R;
    return SAY(g, "all_gather(%s, %s)", x, axis_name[a]);
}

static const char *move_partial(Src *g, SrcTensor *t, int a, const char *x) {
    int to = split_dim_of(g, t, -1);
    t->max = false;
    if (to >= 0 && DRAW(g, 2)) {
        t->place[a] = PLACE_S;
        t->split[a] = to;
        return SAY(g, "reduce_scatter(%s, %s, %d)", x, axis_name[a], to);
    }
    t->place[a] = PLACE_R;
    return SAY(g, "all_reduce(%s, %s)", x, axis_name[a]);
}

static const char *move_different(Src *g, SrcTensor *t, int a, const char *x) {
    int form = t->ndim < SRC_RANK ? DRAW(g, 3) : DRAW(g, 2);
    if (form == 1) return SAY(g, "permute(%s, %s, %d)", x, axis_name[a], 1 + DRAW(g, 3));
    t->place[a] = PLACE_R;
    if (form == 0) return SAY(g, "broadcast(%s, %s, %d)", x, axis_name[a], DRAW(g, (int)g->ranks[a]));
    dim_prepend(g, t, EXTENT_RANKS + a);
    return SAY(g, "stack(%s, %s)", x, axis_name[a]);
}

static void move_make(Src *g, int tensor, bool last) {
    SrcTensor t = g->tensor.p[tensor];
    for (int a = 0; a < g->naxis; a++) {
        const char *x = g->tensor.p[tensor].name, *text;
        if (t.place[a] == PLACE_S && !last)
            text = move_split(g, &t, a, x);
        else if (t.place[a] == PLACE_P)
            text = move_partial(g, &t, a, x);
        else if (t.place[a] == PLACE_V)
            text = move_different(g, &t, a, x);
        else
            continue;
        read_tensor(g, tensor);
        statement_print(g, target_name(g, &t), text);
        return;
    }
}

/* An input split over two axes, major first, as it is or doubled; then over one of them, or none. */
static void nested_make(Src *g) {
    if (g->naxis < 2) return;
    SrcTensor t = {.ndim = 1 + DRAW(g, 3), .elem = ELEM_F32, .kind = KIND_TEMPORARY};
    int a = DRAW(g, g->naxis), b = (a + 1 + DRAW(g, g->naxis - 1)) % g->naxis, d = DRAW(g, t.ndim);
    int to = t.ndim > 1 && DRAW(g, 2) ? (d + 1) % t.ndim : -1;
    for (int i = 0; i < t.ndim; i++) t.dim[i] = DRAW(g, g->ndim);
    const char *x = SAY(g, "x%d", g->nname++), *both = SAY(g, "(%s, %s)", axis_name[a], axis_name[b]), *type = "";
    for (int i = 0; i < t.ndim; i++)
        type = SAY(g, "%s%s%s%s%s", type, i ? ", " : "", extent_text(g, t.dim[i]), i == d ? " @ " : "",
                   i == d ? both : "");
    text_printf(&g->inputs, "%s%s: f32[%s]", g->inputs.n ? ", " : "", x, type);
    if (DRAW(g, 2)) {
        const char *twice = SAY(g, "t%d", g->nname++);
        statement_print(g, twice, SAY(g, "2 * %s", x));
        x = twice;
    }
    bool whole = to < 0 && DRAW(g, 2);
    if (!whole) t.place[a] = PLACE_S, t.split[a] = d;
    if (to >= 0) t.place[b] = PLACE_S, t.split[b] = to;
    t.exact = true;
    statement_print(g, target_name(g, &t),
                    to >= 0 ? SAY(g, "all_to_all(%s, %s, %d)", x, axis_name[b], to)
                    : whole ? SAY(g, "all_gather(%s)", x)
                            : SAY(g, "all_gather(%s, %s)", x, axis_name[b]));
}

static void move_some(Src *g) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++)
        if (any_place(g, &g->tensor.p[i], PLACE_S) || !is_whole_place(g, &g->tensor.p[i])) found[n++] = i;
    if (n) move_make(g, found[n - 1 - DRAW(g, n)], false);
}

#endif
