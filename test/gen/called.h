/* called.h: calls of what is expanded: programs of one or two tensors, and products with weights in a format. */
#ifndef TILEC_TEST_GEN_CALLED_H
#define TILEC_TEST_GEN_CALLED_H

#include "test/gen/whole.h"

/* ---- programs ---- */

static const char *head_type(Src *g, int ndim) {
    const char *s = "f32";
    for (int d = 0; d < ndim; d++) s = SAY(g, "%s%sn%d", s, d ? ", " : "[", d);
    return ndim ? SAY(g, "%s]", s) : s;
}

/* Another tensor of the shape, whose sum with the first has a placement, which *r then is; -1: none. */
static int operand_find(Src *g, int base, SrcTensor *r) {
    for (int i = g->tensor.n - 1; i >= 0; i--) {
        const SrcTensor *t = &g->tensor.p[i];
        SrcTensor joined = *r;
        if (i == base || t->elem != ELEM_F32 || !same_dims(t, r) || DRAW(g, 2) || !places_join(g, &joined, t)) continue;
        *r = joined;
        return i;
    }
    return -1;
}

static void program_call(Src *g) {
    int base = map_base(g);
    if (base < 0) return;
    SrcTensor r = g->tensor.p[base];
    bool linear = any_place(g, &r, PLACE_P);
    int other = operand_find(g, base, &r);
    const char *name = SAY(g, "sub%d", g->nname++), *type = head_type(g, r.ndim),
               *z = other >= 0 ? SAY(g, ", z: %s", type) : "";
    text_printf(&g->kernels, "program %s(x: %s%s, const c: i64 = 2) -> (y: %s) {\n  assert c == 1 || c == 2;\n  t = %s;\n", name, type, z, type,
                linear ? "2 * x" : "tanh(x)");
    text_printf(&g->kernels, "  if c > 1 { y = t%s; } else { y = 0.5 * t%s; }\n}\n", *z ? " + z" : "",
                *z ? " - z" : "");
    const char *args =
        SAY(g, "%s%s%s%s", read_tensor(g, base), *z ? ", " : "", *z ? read_tensor(g, other) : "", DRAW(g, 2) ? "" : ", 1");
    r.view = r.exact = false;
    statement_print(g, target_name(g, &r), SAY(g, "%s(%s)", name, args));
}

/* A program that updates what it is given as state: the call gives the next version before the result. */
static void state_call(Src *g) {
    int base = map_base(g);
    if (base < 0 || !is_whole_place(g, &g->tensor.p[base]) || has_local_dim(&g->tensor.p[base])) return;
    SrcTensor r = g->tensor.p[base], own = r;
    if (!r.ndim) return; /* a head without names is a program of its own */
    const char *name = SAY(g, "sub%d", g->nname++), *type = head_type(g, r.ndim), *from = read_tensor(g, base);
    text_printf(&g->kernels, "program %s(x: %s, %s h: %s) -> (y: %s) {\n  h = 0.5 * h + x;\n  y = h - 0.25 * x;\n}\n",
                name, type, DRAW(g, 2) ? "state" : "inout", type, type);
    own.view = own.distinct = false;
    int state = given_add(g, own, KIND_STATE);
    SrcTensor *h = &g->tensor.p[state];
    h->assigned = true, h->read = h->exact = false;
    const char *memory = h->name;
    r.view = r.exact = false;
    statement_print(g, SAY(g, "%s, %s", memory, target_name(g, &r)), SAY(g, "%s(%s, %s)", name, from, memory));
}

/* ---- results without extents ---- */

/* One number of a matrix or a row that every rank has. */
static void total_call(Src *g) {
    static const char *const each[] = {"s = sum(x[i%s], i%s);", "s = max(x[i%s], i%s);", "s += sum(x[i%s], i%s);"};
    int base = map_base(g), form = DRAW(g, 3);
    if (base < 0) return;
    SrcTensor t = g->tensor.p[base];
    for (int a = 0; a < g->naxis; a++)
        if (t.place[a] != PLACE_R) return;
    if (t.ndim < 1 || t.ndim > 2 || tensor_elements(g, &t) == 0) return;
    const char *name = SAY(g, "k%d", g->nkernel++), *j = t.ndim > 1 ? ", j" : "";
    text_printf(&g->kernels, "kernel %s(x: %s) -> (s: f32) {\n  each i: %s of n0%s { ", name, head_type(g, t.ndim),
                form == 2 ? "4" : "*", t.ndim > 1 ? ", j: * of n1" : "");
    text_printf(&g->kernels, each[form], j, j);
    text_add(&g->kernels, " }\n}\n");
    SrcTensor r = {.elem = ELEM_F32};
    const char *from = read_tensor(g, base);
    statement_print(g, target_name(g, &r), SAY(g, "%s(%s)", name, from));
}

/* ---- weight formats ---- */

/* A matrix of numbers by numbers whose columns are not split, and whose rows are at most that. */
static bool takes_weight(const Src *g, const SrcTensor *t) {
    if (t->elem != ELEM_F32 || t->ndim != 2 || t->view || t->part || t->max || !is_number(g, t->dim[1])) return false;
    for (int a = 0; a < g->naxis; a++)
        if (t->place[a] != PLACE_R && (t->place[a] != PLACE_S || t->split[a] != 0)) return false;
    return extent_value(g, t->dim[0]) > 0 && extent_value(g, t->dim[1]) > 0;
}

/* Two factors, in a format that the file declares. */
static const char *own_format(Src *g, const char *m, const char *n) {
    const char *name = SAY(g, "factors%d", g->nname++);
    text_printf(&g->kernels,
                "format %s(U: T[m, r], V: T[r, n]) for T[m, n] {\n  apply(x: T[b, n]) -> (y: T[b, m]) {\n    y = "
                "linear(linear(x, V), U);\n  }\n}\n",
                name);
    return SAY(g, "%s([%s, 3], [3, %s])", name, m, n);
}

/* Weights of a format, m rows by n columns; the hybrid ones need two rows. */
static const char *weight_shapes(Src *g, const char *m, const char *n, bool rows) {
    if (RARELY(g, 6)) return own_format(g, m, n);
    switch (DRAW(g, rows ? 10 : 7)) {
    case 0: return SAY(g, "lowrank([%s, 2], [2, %s])", m, n);
    case 1: return SAY(g, "int8([%s, %s], [%s])", m, n, m);
    case 2: return SAY(g, "ternary([%s, %s], [%s])", m, n, m);
    case 3: return SAY(g, "kron([%s, 1], [1, %s])", m, n);
    case 4: return SAY(g, "strassen([%s, 3], [3], [3, %s])", m, n);
    case 5: return SAY(g, "int4_groups([%s, %s], [%s, 1])", m, n, m);
    case 6: return SAY(g, "int8_groups([%s, %s], [%s, 2])", m, n, m);
    case 7: return SAY(g, "hmd([1, %s], [1, %s - 1], [1, %s])", n, m, n);
    case 8: return SAY(g, "hmf([1, %s], [%s - 1], [%s])", n, m, n);
    default: return SAY(g, "hkron([%s - 1, %s], [1, 1], [1, %s])", m, n, n);
    }
}

static void linear_call(Src *g) {
    int base = g->tensor.n - 1, rows = DRAW(g, g->ndim);
    while (base >= 0 && !takes_weight(g, &g->tensor.p[base])) base--;
    if (base < 0 || g->dim[rows].runtime) return;
    SrcTensor r = g->tensor.p[base];
    const char *m = extent_text(g, rows), *n = extent_text(g, r.dim[1]), *weight = SAY(g, "W%d", g->nname++);
    bool field = RARELY(g, 5);
    Text *to = field ? &g->fields : &g->inputs;
    const char *shapes = weight_shapes(g, m, n, extent_value(g, rows) > 1);
    text_printf(to, "%s%s: f32[%s, %s] as %s", to->n ? ", " : "", weight, m, n, shapes);
    r.dim[1] = rows;
    r.exact = false;
    const char *x = read_tensor(g, base), *name = target_name(g, &r);
    statement_print(g, name, SAY(g, "linear(%s, %s%s)", x, field ? "w." : "", weight));
    SrcTensor *y = &g->tensor.p[g->tensor.n - 1];
    y->view = y->name == name && y->kind == KIND_TEMPORARY; /* a format may give a view of what it computes */
}

#endif
