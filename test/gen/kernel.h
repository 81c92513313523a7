/* kernel.h: a random kernel for given dimensions, parameters and results, written to the source.
   Split dimensions of the results are only read at their own place; a split dimension in no result is only summed. */
#ifndef TILEC_TEST_GEN_KERNEL_H
#define TILEC_TEST_GEN_KERNEL_H

#include "test/gen/body.h"

typedef struct {
    int ndim, kd[SRC_RANK];
    Elem elem;
    bool exact, max; /* max: of a split dimension, not the sum */
} KernResult;

static const char *extents_text(Kern *k, const int *kd, int n, int plus) {
    const char *s = "";
    for (int d = 0; d < n; d++) s = SAYK(k, "%s%sn%d%s", s, d ? ", " : "[", kd[d], d == plus ? " + 1" : "");
    return n ? SAYK(k, "%s]", s) : s;
}

static int summed_dim(const Kern *k) {
    for (int d = 0; d < k->ndim; d++)
        if (k->dim[d].reduced && dim_is_split(k, d)) return d;
    return -1;
}

/* ---- the grid ---- */

static const char *range_of_result(Kern *k, int d) {
    int form = DRAW(k->g, k->ndim > 3 ? 6 : 7), r = range_push(k, "i", d, form != 4);
    const char *name = k->range[r].name;
    k->range[r].whole = form == 5;
    k->dim[d].range = r;
    if (form == 4) return SAYK(k, "%s of n%d", name, d);
    return form == 5 ? SAYK(k, "%s: * of n%d", name, d) : form == 6 ? SAYK(k, "%s: auto of n%d", name, d)
                                                                    : SAYK(k, "%s: %s of n%d", name, tile_size(k), d);
}

static const char *grid_text(Kern *k) {
    const char *s = "";
    bool reversed = DRAW(k->g, 2);
    for (int n = 0; n < k->ndim; n++) {
        int d = reversed ? k->ndim - 1 - n : n;
        if (!k->dim[d].reduced) s = SAYK(k, "%s%s%s", s, *s ? ", " : "", range_of_result(k, d));
    }
    for (int d = 0; d < k->ndim && !k->param[0].inout; d++) {
        if (!k->dim[d].reduced || dim_is_split(k, d) || DRAW(k->g, 2)) continue;
        int r = range_push(k, "w", d, true);
        k->range[r].whole = true;
        s = SAYK(k, "%s, %s: * of n%d", s, k->range[r].name, d);
    }
    static const char *const level[] = {"wave", "group", "chiplet", "device"};
    return RARELY(k->g, 8) ? SAYK(k, "%s on %s", s, level[DRAW(k->g, 4)]) : s;
}

/* ---- the results ---- */

static unsigned result_ranges(const Kern *k) {
    unsigned use = 0;
    for (int d = 0; d < k->ndim; d++)
        if (!k->dim[d].reduced && k->dim[d].range >= 0) use |= 1u << k->dim[d].range;
    return use;
}

/* The expression and a variable that nothing has read yet: where it may be off, only as far as it is finite. */
static Piece with_variable(Kern *k, ValueClass c, Piece e, KernVar *v) {
    const char *finite = SAYK(k, "f32(%s) < 1.0e30", v->name), *text;
    if (c == CLASS_B) text = v->class == CLASS_B ? SAYK(k, "(%s || %s)", e.text, v->name) : SAYK(k, "(%s && %s)", e.text, finite);
    else if (v->class == CLASS_B) text = SAYK(k, "(%s + where(%s, %s(1), %s(0)))", e.text, v->name, class_type[c], class_type[c]);
    else if (c == v->class) text = SAYK(k, "(%s + %s(%s))", e.text, class_type[c], v->name);
    else text = SAYK(k, "(%s + where(%s, %s(1), %s(0)))", e.text, finite, class_type[c], class_type[c]);
    v->read = true;
    return (Piece){text, e.ranges | v->ranges, e.exact && c != CLASS_F};
}

static Piece result_value(Kern *k, ValueClass c, unsigned use, bool exact) {
    Piece e = expr_make(k, c, use, 3, c != CLASS_F || exact);
    if (c == CLASS_F) e.text = SAYK(k, "f32(%s)", e.text);
    for (int i = 0; i < k->nvar; i++)
        if (k->var[i].name && !k->var[i].read) e = with_variable(k, c, e, &k->var[i]);
    return e;
}

/* As the element type can hold it. */
static const char *as_stored(Kern *k, Elem elem, const char *text) {
    ValueClass c = class_of(elem);
    if (c == CLASS_F && elem_bits(elem) <= 16) return SAYK(k, "min(max(%s, -8.0), 8.0)", text);
    return c == CLASS_I ? SAYK(k, "%s(%s)", elem_text(elem), text) : text;
}

static const char *result_subscripts(Kern *k, const KernResult *r) {
    const char *s = "";
    for (int d = 0; d < r->ndim; d++) s = SAYK(k, "%s%s%s", s, d ? ", " : "", k->range[k->dim[r->kd[d]].range].name);
    return s;
}

static void store(Kern *k, int o, KernResult *r, unsigned use) {
    ValueClass c = class_of(r->elem);
    Piece e = result_value(k, c, use, RARELY(k->g, 4));
    r->exact = e.exact || c != CLASS_F;
    line(k, "o%d[%s] = %s;", o, result_subscripts(k, r), as_stored(k, r->elem, e.text));
}

/* The one result of a kernel that sums a split dimension: the sum times something whole; or its maximum. */
static void store_sum(Kern *k, KernResult *r, int kd, unsigned use) {
    KernVar *v = loop_accumulate(k, use, kd, r->max);
    r->exact = r->max;
    const char *sub = result_subscripts(k, r), *name = v->name;
    v->read = true;
    v->name = NULL;
    if (r->max) line(k, "o0[%s] = %s;", sub, name);
    else line(k, "o0[%s] = %s * %s;", sub, name, result_value(k, CLASS_F, use, false).text);
}

/* ---- a parameter that is updated in place ---- */

static const char *update_subscripts(Kern *k, unsigned use) {
    const KernParam *p = &k->param[0];
    const char *s = "";
    for (int d = 0; d < p->ndim; d++) {
        int r = update_range(k, p, d);
        const char *at = r >= 0 ? k->range[r].name : NULL;
        if (!at && k->places) at = SAYK(k, "p1[%s]", k->range[k->dim[k->param[1].kd[0]].range].name);
        if (!at) {
            unsigned none;
            at = subscript_free(k, use & ~grid_tiles(k, use), -1, &none);
        }
        s = SAYK(k, "%s%s%s", s, d ? ", " : "", at);
    }
    return s;
}

/* Its value before, or after, as a variable that the next store takes. */
static void read_update(Kern *k, unsigned use) {
    if (!can_load(k, &k->param[0], use)) return;
    Piece e = expr_load(k, 0, use);
    ValueClass c = class_of(k->param[0].elem);
    KernVar *v = var_add(k, c, e.ranges, e.exact);
    line(k, "%s = %s;", v->name, as_class(k, c, e));
}

/* A condition that is one value for every size of tiles, and not known in advance; NULL: none. */
static const char *guard_text(Kern *k, unsigned use) {
    int r = any_range(k, use & ~grid_tiles(k, use));
    return r < 0 ? NULL : SAYK(k, "(%s || pos(%s) > 0)", scalar_condition(k, use), k->range[r].name);
}

static void store_update(Kern *k, unsigned use) {
    KernParam *p = &k->param[0];
    ValueClass c = class_of(p->elem);
    bool plain = c == CLASS_B || k->places;
    static const char *const op[] = {"=", "+=", "-=", "*="};
    int form = plain ? 0 : DRAW(k->g, 4);
    const char *at = update_subscripts(k, use), *guard = !plain && RARELY(k->g, 3) ? guard_text(k, use) : NULL;
    Piece e = result_value(k, c, use, RARELY(k->g, 4));
    const char *text = SAYK(k, "p0[%s] %s %s;", at, op[form], as_stored(k, p->elem, e.text));
    if (guard) line(k, "if %s { %s }", guard, text);
    else line(k, "%s", text);
    p->exact = c != CLASS_F || (p->exact && e.exact && form == 0);
    p->read = true;
    if (k->places) k->param[1].read = true;
}

/* ---- the kernel ---- */

static bool all_read(const Kern *k) {
    for (int i = 0; i < k->nparam; i++)
        if (!k->param[i].read) return false;
    return true;
}

/* A statement that reads what nothing has read. */
static void read_rest(Kern *k, unsigned use) {
    for (int i = 0; i < k->nparam; i++) {
        if (k->param[i].read) continue;
        const KernParam *p = &k->param[i];
        Piece e = {0};
        if (p->plus >= 0) e = (Piece){SAYK(k, "p%d[0]", i), 0, true}, k->param[i].read = true;
        else if (can_load(k, p, use)) e = expr_load(k, i, use);
        else continue;
        ValueClass c = class_of(p->elem);
        KernVar *v = var_add(k, c, e.ranges, e.exact);
        line(k, "%s = %s;", v->name, as_class(k, c, e));
    }
}

static void body_write(Kern *k, KernResult *result, int nresult, unsigned use) {
    Src *g = k->g;
    int summed = summed_dim(k);
    bool update = k->param[0].inout;
    if (update && DRAW(g, 2)) read_update(k, use);
    for (int n = summed < 0 ? DRAW(g, 4) : result->max ? 0 : DRAW(g, 2); n > 0; n--) statement(k, use);
    if (summed < 0 || !result->max) read_rest(k, use);
    if (update) store_update(k, use);
    if (update && nresult && DRAW(g, 2)) read_update(k, use);
    if (summed >= 0) store_sum(k, result, summed, use);
    else
        for (int o = 0; o < nresult; o++) store(k, o, &result[o], use);
}

static void params_print(Kern *k, Text *to) {
    for (int i = 0; i < k->nparam; i++) {
        const KernParam *p = &k->param[i];
        text_printf(to, "%s%sp%d: %s%s", i ? ", " : "", p->inout ? "inout " : p->unique ? "unique " : "", i, elem_text(p->elem),
                    extents_text(k, p->kd, p->ndim, p->plus));
    }
    if (k->scalar_read) text_add(to, ", s: f32");
    if (k->flag_read) text_add(to, ", const c: bool");
    if (k->number_read) text_add(to, ", const m: i32");
}

/* Writes the kernel; false where a parameter cannot be read by it. */
static bool kernel_write(Kern *k, const char *name, KernResult *result, int nresult) {
    Src *g = k->g;
    int span = tape_open(g->tape);
    for (int d = 0; d < k->ndim; d++) k->dim[d].range = -1;
    const char *grid = grid_text(k);
    k->indent = 2;
    body_write(k, result, nresult, result_ranges(k));
    tape_close(g->tape, span);
    if (!all_read(k)) return false;
    text_printf(&g->kernels, "kernel %s(", name);
    params_print(k, &g->kernels);
    text_add(&g->kernels, ") -> (");
    for (int o = 0; o < nresult; o++)
        text_printf(&g->kernels, "%so%d: %s%s", o ? ", " : "", o, elem_text(result[o].elem),
                    extents_text(k, result[o].kd, result[o].ndim, -1));
    text_printf(&g->kernels, ") {\n  each %s {\n%s  }\n}\n", grid, text_str(&k->out));
    return true;
}

#endif
