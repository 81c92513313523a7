/* whole.h: expressions over whole tensors, and views. */
#ifndef TILEC_TEST_GEN_WHOLE_H
#define TILEC_TEST_GEN_WHOLE_H

#include "test/gen/given.h"

/* Placements of a sum of two tensors; false where there is none. Blocks of views are not taken. */
static bool places_join(const Src *g, SrcTensor *to, const SrcTensor *t) {
    for (int a = 0; a < g->naxis; a++) {
        PlaceKind x = to->place[a], y = t->place[a];
        if (x == y && (x != PLACE_S || to->split[a] == t->split[a]) && (x != PLACE_P || !(to->max || t->max))) continue;
        bool free_dim = !to->view && !t->view;
        if (x == PLACE_R && y == PLACE_S)
            for (int b = 0; b < g->naxis; b++)
                free_dim = free_dim && !(b != a && to->place[b] == PLACE_S && to->split[b] == t->split[a]);
        if (x == PLACE_R && y != PLACE_P && free_dim)
            to->place[a] = y, to->split[a] = t->split[a];
        else if (!(y == PLACE_R && x != PLACE_P && free_dim))
            return false;
    }
    return true;
}

static bool same_places(const SrcTensor *a, const SrcTensor *b) {
    return memcmp(a->place, b->place, sizeof a->place) == 0 && memcmp(a->split, b->split, sizeof a->split) == 0;
}

static int map_base(Src *g) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++) {
        const SrcTensor *t = &g->tensor.p[i];
        if (t->elem == ELEM_F32 && !t->max) found[n++] = i;
    }
    return n ? found[n - 1 - DRAW(g, n)] : -1;
}

/* A function of elements of the tensor, a linear one where it is partial; *text: so far. */
static const char *map_function(Src *g, const char *text, bool linear) {
    static const char *const one[] = {"exp(min(%s, 1.0))",           "max(%s, 0)", "sigmoid(%s)", "tanh(%s)",
                                      "where(%s > 5.0e9, 0.0, 1.0)", "f32(bf16(%s))"};
    if (linear || DRAW(g, 2) == 0) return text;
    const char *form = one[DRAW(g, 6)], *at = strstr(form, "%s");
    return SAY(g, "%.*s%s%s", (int)(at - form), form, text, at + 2);
}

/* Its values as f32, by way of another type of its kind. */
static const char *map_converted(Src *g, int i) {
    static const char *const whole[] = {"i64", "i32", "i16", "i8", "u8"}, *const real[] = {"f64", "bf16", "f16", "f8e5m2"};
    SrcTensor *t = &g->tensor.p[i];
    const char *by = elem_is_float(t->elem) ? real[DRAW(g, 4)] : whole[DRAW(g, 5)], *name = read_tensor(g, i);
    if (t->elem == ELEM_BOOL) return SAY(g, "where(%s, 1.0, 0.0)", name);
    return DRAW(g, 2) ? SAY(g, "f32(%s(%s))", by, name) : SAY(g, "f32(%s)", name);
}

/* An expression over the base and tensors of its shape. *r: its type; kept: its placement stays that of the base. */
static const char *map_text(Src *g, int base, SrcTensor *r, bool kept) {
    *r = g->tensor.p[base];
    bool linear = any_place(g, r, PLACE_P);
    const char *text = map_function(g, read_tensor(g, base), linear);
    for (int i = 0; i < g->tensor.n; i++) {
        SrcTensor *t = &g->tensor.p[i], joined = *r;
        bool converts = t->elem != ELEM_F32 && !linear && !any_place(g, t, PLACE_P);
        if (i == base || (t->elem != ELEM_F32 && !converts) || !same_dims(t, r) || DRAW(g, 2) || !places_join(g, &joined, t)) continue;
        if (kept && !same_places(&joined, r)) continue;
        joined.view = joined.view || t->view;
        *r = joined;
        text = SAY(g, "%s %s %s", text, linear || DRAW(g, 2) ? "+" : "-",
                   converts ? map_converted(g, i) : read_tensor(g, i));
    }
    r->exact = false;
    static const char *const scale[] = {"0.5 * (%s)", "(%s) * 2", "a * (%s)"};
    int form = DRAW(g, 5) % 3;
    g->scalar = g->scalar || form == 2;
    const char *at = strstr(scale[form], "%s");
    return SAY(g, "%.*s%s%s", (int)(at - scale[form]), scale[form], text, at + 2);
}

/* Known while compiling. */
static const char *constant_condition(Src *g) {
    if (g->repeats && DRAW(g, 2)) return SAY(g, "%s %% 2 == %d", g->iteration, DRAW(g, 2));
    return g->dim[0].runtime ? SAY(g, "%d > 2", DRAW(g, 5)) : SAY(g, "N0 > %d", DRAW(g, 12));
}

static const char *program_condition(Src *g) {
    int form = DRAW(g, 4);
    if (form < 2) return constant_condition(g);
    if (form == 2) g->scalar = true;
    else g->integer = true;
    return form == 2 ? SAY(g, "a < %s", DRAW(g, 2) ? "0.25" : "-0.5") : SAY(g, "b %% %d == 0", 2 + DRAW(g, 2));
}

/* One of two expressions: an if whose branches both assign, or a choice, by its first arm or by a tree that compares
 * `a`. */
static void alternatives_print(Src *g, const char *name, const char *text) {
    const char *indent = SAY(g, "%*s", 2 + 2 * g->depth, ""), *other = SAY(g, "0.25 * (%s)", text);
    int form = DRAW(g, 3);
    if (form == 0) {
        text_printf(&g->body, "%sif %s {\n%s  %s = %s;\n%s} else {\n%s  %s = %s;\n%s}\n", indent, program_condition(g),
                    indent, name, text, indent, indent, name, other, indent);
        return;
    }
    g->scalar = g->scalar || form == 2;
    statement_print(g, name,
                    SAY(g, "choose%s {\n%s  one: %s;\n%s  other: %s;\n%s}", form == 2 ? " by \"choice.tree\"" : "",
                        indent, text, indent, other, indent));
}

/* What the program's choices need, beside its file. */
static const char choice_tree[] = "if a < 0.25\n  one\nelse\n  other\n";

/* ---- conversions: the type that the rule of the language gives, stated here once more ---- */

static bool may_convert(const Src *g, const SrcTensor *t) {
    bool wide = elem_is_float(t->elem) ? elem_bits(t->elem) >= 16 : elem_is_int(t->elem) && elem_bits(t->elem) >= 8;
    return wide && !t->max && !any_place(g, t, PLACE_P);
}

static Elem elem_converted(Src *g, bool floats) {
    static const Elem to[2][4] = {{ELEM_I64, ELEM_I32, ELEM_I16, ELEM_I8}, {ELEM_F64, ELEM_F32, ELEM_F32, ELEM_BF16}};
    return to[floats][DRAW(g, 4)];
}

static int conversion_base(Src *g) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++)
        if (may_convert(g, &g->tensor.p[i])) found[n++] = i;
    return n ? found[n - 1 - DRAW(g, n)] : -1;
}

/* T(x) - 2 * U(y): operands of any type of a kind, of which each conversion says another. false: nothing to convert. */
static bool conversion_make(Src *g) {
    int base = conversion_base(g);
    if (base < 0) return false;
    SrcTensor r = g->tensor.p[base];
    bool floats = elem_is_float(r.elem);
    r.elem = elem_converted(g, floats);
    const char *text = SAY(g, "%s(%s)", elem_text(r.elem), read_tensor(g, base));
    for (int i = 0; i < g->tensor.n; i++) {
        const SrcTensor *t = &g->tensor.p[i];
        SrcTensor joined = r;
        if (!may_convert(g, t) || elem_is_float(t->elem) != floats || !same_dims(t, &r) || !DRAW(g, 3)) continue;
        if (!places_join(g, &joined, t)) continue;
        Elem e = elem_converted(g, floats);
        r = joined;
        r.elem = elem_bits(e) > elem_bits(r.elem) ? e : r.elem;
        text = SAY(g, "%s %s %s(%s)", text, DRAW(g, 2) ? "- 2 *" : "+", elem_text(e), read_tensor(g, i));
    }
    r.exact = r.view = r.distinct = false;
    statement_print(g, target_name(g, &r), text);
    return true;
}

static void map_make(Src *g) {
    if (RARELY(g, 4) && conversion_make(g)) return;
    int base = map_base(g);
    if (base < 0) return;
    SrcTensor r;
    const char *text = map_text(g, base, &r, false);
    r.view = false;
    const char *name = target_name(g, &r);
    if (RARELY(g, 5))
        alternatives_print(g, name, text);
    else
        statement_print(g, name, text);
}

/* ---- views ---- */

enum { VIEW_ELEMENTS = 1024 }; /* a kernel may take all pairs of elements */

/* The last dimensions from d on are numbers, and not split. */
static bool may_view(const Src *g, const SrcTensor *t, int d) {
    for (int a = 0; a < g->naxis; a++)
        if (t->place[a] == PLACE_P || t->place[a] == PLACE_V || (t->place[a] == PLACE_S && t->split[a] >= d))
            return false;
    int64_t n = 1;
    for (; d < t->ndim; d++) {
        if (!is_number(g, t->dim[d])) return false;
        n *= extent_value(g, t->dim[d]);
    }
    return n <= VIEW_ELEMENTS;
}

static int divisor_of(Src *g, int n) {
    int d = 1 + DRAW(g, 6);
    return n % d ? 1 : d;
}

/* The dimensions from d on are one, two, or change places. */
static void view_dims(Src *g, SrcTensor *t, int d) {
    int n = 1, form = DRAW(g, 3), first = (int)extent_value(g, t->dim[d]);
    for (int i = d; i < t->ndim; i++) n *= (int)extent_value(g, t->dim[i]);
    int outer = form == 0 ? 1 : form == 1 && first ? n / first : divisor_of(g, n);
    t->ndim = d;
    if (form && d + 2 <= SRC_RANK) t->dim[t->ndim++] = EXTENT_NUMBER + outer, n /= outer;
    t->dim[t->ndim++] = EXTENT_NUMBER + n;
}

static void view_make(Src *g) {
    int i = DRAW(g, g->tensor.n);
    SrcTensor t = g->tensor.p[i];
    int d = t.ndim ? DRAW(g, t.ndim) : 0;
    if (t.ndim == 0 || t.kind == KIND_STATE || t.view || tensor_elements(g, &t) == 0 || !may_view(g, &t, d)) return;
    const char *from = read_tensor(g, i), *extents = "";
    view_dims(g, &t, d);
    for (d = 0; d < t.ndim; d++) extents = SAY(g, "%s%s%s", extents, d ? ", " : "", extent_text(g, t.dim[d]));
    t.name = SAY(g, "t%d", g->nname++);
    t.kind = KIND_TEMPORARY;
    t.view = true;
    t.read = t.part = t.distinct = false;
    statement_print(g, t.name, SAY(g, "view(%s, [%s])", from, extents));
    tensor_add(g, t);
}

#endif
