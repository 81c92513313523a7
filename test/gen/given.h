/* given.h: what a program is given and what its statements assign: inputs and states, alone or as fields of records,
   whole or in parts; results and temporaries. */
#ifndef TILEC_TEST_GEN_GIVEN_H
#define TILEC_TEST_GEN_GIVEN_H

#include "test/gen/source.h"

/* Declares a parameter; gives the name by which the program calls it. */
static const char *parameter_declare(Src *g, const SrcTensor *t) {
    bool state = t->kind == KIND_STATE, field = RARELY(g, 6);
    bool inner = field && !state && RARELY(g, 3);
    Text *to = !field ? &g->inputs : state ? &g->state_fields : inner ? &g->inner : &g->fields;
    const char *name = SAY(g, "%s%d", state ? "z" : "x", g->nname++);
    bool whole_number = !elem_is_float(t->elem) && t->elem != ELEM_BOOL && elem_bits(t->elem) >= 8;
    const char *values =
        whole_number && !state && !field && RARELY(g, 4) ? " in 0 .. 8" : ""; /* as all tests draw them */
    text_printf(to, "%s%s%s: %s%s", to->n ? ", " : "", state && !field ? "state " : "", name, type_text(g, t), values);
    return field ? SAY(g, "%s.%s", state ? "s" : inner ? "w.own" : "w", name) : name;
}

/* The place of a part along a first dimension of its own; no two iterations of a repeat have the same. */
static const char *part_place(Src *g, int *extent) {
    int n = g->repeats ? g->repeats + DRAW(g, 2) : 1 + DRAW(g, 3);
    *extent = EXTENT_NUMBER + n;
    if (!g->repeats && RARELY(g, 4)) return g->integer = true, DRAW(g, 2) ? "b / 4" : "b";
    if (!g->repeats) return SAY(g, "%d", DRAW(g, n));
    return DRAW(g, 2)       ? SAY(g, "%d - %s", n - 1, g->iteration)
           : n > g->repeats ? SAY(g, "%s + 1", g->iteration)
                            : g->iteration;
}

static void dim_prepend(Src *g, SrcTensor *t, int dim) {
    memmove(t->dim + 1, t->dim, sizeof *t->dim * (size_t)t->ndim++);
    t->dim[0] = dim;
    for (int a = 0; a < g->naxis; a++) t->split[a]++;
}

/* An input or a state of this type, or a part of one. Iterations of a repeat see what those before them left in a
 * state. */
static int given_add(Src *g, SrcTensor t, SrcKind kind) {
    SrcTensor whole = t;
    const char *place = NULL;
    int extent;
    t.kind = whole.kind = kind;
    if (t.ndim > 0 && t.ndim < SRC_RANK && RARELY(g, 5)) place = part_place(g, &extent), dim_prepend(g, &whole, extent);
    t.name = parameter_declare(g, &whole);
    if (place) t.name = SAY(g, "%s[%s]", t.name, place);
    t.part = place != NULL;
    t.assigned = g->repeats && !place;
    t.exact = kind != KIND_STATE || !g->repeats || !elem_is_float(t.elem);
    return tensor_new(g, t);
}

/* ---- targets ---- */

/* A value of this type may be stored to the state; a whole one is cut into blocks where the state is split. */
static bool state_takes(const Src *g, const SrcTensor *state, const SrcTensor *t) {
    if (state->kind != KIND_STATE || (state->assigned && !state->read) || state->elem != t->elem ||
        !same_dims(state, t))
        return false;
    for (int a = 0; a < g->naxis; a++) {
        bool same = state->place[a] == t->place[a] && (t->place[a] != PLACE_S || state->split[a] == t->split[a]);
        if (!same && (state->place[a] != PLACE_S || t->place[a] != PLACE_R || t->view)) return false;
    }
    return true;
}

static int state_for(Src *g, const SrcTensor *t) {
    int found[16], n = 0;
    for (int i = 0; i < g->tensor.n && n < 16; i++)
        if (state_takes(g, &g->tensor.p[i], t)) found[n++] = i;
    return n && DRAW(g, 3) ? found[DRAW(g, n)] : -1;
}

/* What a statement assigns: a state, a result of the program, or a new temporary. A repeat assigns no results. */
static const char *target_name(Src *g, const SrcTensor *value) {
    bool whole = is_whole_place(g, value) && !has_local_dim(value);
    int state = whole ? state_for(g, value) : -1;
    SrcTensor t = *value;
    t.read = t.part = t.view = false;
    if (state < 0 && whole && RARELY(g, 12)) state = given_add(g, t, KIND_STATE), g->tensor.p[state].assigned = false;
    if (state >= 0) {
        SrcTensor *s = &g->tensor.p[state];
        s->assigned = true, s->read = false, s->exact = value->exact;
        return s->name;
    }
    t.kind = whole && !g->depth && RARELY(g, 4) ? KIND_OUTPUT : KIND_TEMPORARY;
    t.name = SAY(g, "%s%d", t.kind == KIND_OUTPUT ? "y" : "t", g->nname++);
    if (t.kind == KIND_OUTPUT) text_printf(&g->outputs, "%s%s: %s", g->outputs.n ? ", " : "", t.name, type_text(g, &t));
    tensor_new(g, t);
    return t.name;
}

#endif
