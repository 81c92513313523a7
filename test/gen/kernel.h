/* kernel.h: a random kernel for given dimensions, parameters and results, written to the source.
   Split dimensions of the results are only read at their own place; a split dimension in no result is only summed. */
#ifndef TILEC_TEST_GEN_KERNEL_H
#define TILEC_TEST_GEN_KERNEL_H

#include "test/gen/store.h"

#include <stdlib.h>

enum { GRID_TASKS = 48 };

static const char *extents_text(Kern *k, const int *kd, int n, int plus) {
    const char *s = "";
    for (int d = 0; d < n; d++) s = SAYK(k, "%s%sn%d%s", s, d ? ", " : "[", kd[d], d == plus ? " + 1" : "");
    return n ? SAYK(k, "%s]", s) : s;
}

static const char *result_extents(Kern *k, const KernResult *r) {
    const char *s = extents_text(k, r->kd, r->ndim, -1);
    return r->places ? SAYK(k, "[%d%s%s", r->places, *s ? ", " : "]", *s ? s + 1 : "") : s;
}

static int summed_dim(const Kern *k) {
    for (int d = 0; d < k->ndim; d++)
        if (k->dim[d].reduced && dim_is_split(k, d)) return d;
    return -1;
}

/* ---- the grid ---- */

/* Tiles of this size make no more tasks than a program can be checked with; they are large ones otherwise. */
static const char *few_tasks(Kern *k, int d, const char *size) {
    int64_t tasks = k->tasks * ((extent_value(k->g, k->dim[d].dim) + atoi(size) - 1) / atoi(size));
    if (tasks > GRID_TASKS) return "64";
    k->tasks = tasks;
    return size;
}

/* Groups of the dimension, by the starts in q. */
static const char *ragged_range(Kern *k, int d) {
    int r = range_push(k, "i", d, true);
    const char *name = k->range[r].name;
    k->dim[d].range = r;
    k->tasks *= k->groups;
    return SAYK(k, "g of %d, %s: %s of n%d in q[g] .. q[g + 1]", k->groups, name, few_tasks(k, d, tile_size(k, d)), d);
}

static const char *range_of_result(Kern *k, int d) {
    if (d == k->ragged) return ragged_range(k, d);
    int form = DRAW(k->g, k->ndim > 3 ? 6 : 7);
    if (k->ndim > 6 && d < 3) form = 4; /* a tile has at most 8 ranges, of the grid and of loops */
    int64_t n = extent_value(k->g, k->dim[d].dim);
    if (form == 4 && k->tasks * n > GRID_TASKS) form = 5;
    int r = range_push(k, "i", d, form != 4);
    const char *name = k->range[r].name;
    k->range[r].whole = form == 5;
    k->dim[d].range = r;
    if (form == 4) {
        k->tasks *= n ? n : 1;
        return SAYK(k, "%s of n%d", name, d);
    }
    return form == 5   ? SAYK(k, "%s: * of n%d", name, d)
           : form == 6 ? SAYK(k, "%s: auto of n%d", name, d)
                       : SAYK(k, "%s: %s of n%d", name, few_tasks(k, d, tile_size(k, d)), d);
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
        if (p->plus >= 0)
            e = (Piece){SAYK(k, "p%d[0]", i), 0, true}, k->param[i].read = true;
        else if (can_load(k, p, use))
            e = expr_load(k, i, use);
        else
            continue;
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
    if (summed >= 0)
        store_sum(k, result, summed, use);
    else
        for (int o = 0; o < nresult; o++) store(k, o, &result[o], use);
}

static void params_print(Kern *k, Text *to) {
    for (int i = 0; i < k->nparam; i++) {
        const KernParam *p = &k->param[i];
        text_printf(to, "%s%sp%d: %s%s", i ? ", " : "",
                    p->inout    ? "inout "
                    : p->unique ? "unique "
                                : "",
                    i, i == k->generic ? "T" : elem_text(p->elem), extents_text(k, p->kd, p->ndim, p->plus));
    }
    if (k->ragged >= 0) text_printf(to, ", ascending q: i32[%d]", k->groups + 1);
    if (k->scalar_read) text_add(to, ", s: f32");
    if (k->flag_read) text_add(to, ", const c: bool");
    if (k->number_read) text_add(to, ", const m: i32");
}

/* Writes the kernel; false where a parameter cannot be read by it. */
static bool kernel_write(Kern *k, const char *name, KernResult *result, int nresult) {
    Src *g = k->g;
    int span = tape_open(g->tape);
    k->tasks = 1;
    for (int d = 0; d < k->ndim; d++) k->dim[d].range = -1;
    const char *grid = grid_text(k);
    k->indent = 2;
    body_write(k, result, nresult, result_ranges(k));
    tape_close(g->tape, span);
    if (!all_read(k)) return false;
    k->generic = class_of(k->param[0].elem) == CLASS_F && RARELY(g, 6) ? 0 : -1; /* what is not called is one of f32 */
    text_printf(&g->kernels, "kernel %s(", name);
    params_print(k, &g->kernels);
    text_add(&g->kernels, ") -> (");
    for (int o = 0; o < nresult; o++)
        text_printf(&g->kernels, "%so%d: %s%s", o ? ", " : "", o, elem_text(result[o].elem),
                    result_extents(k, &result[o]));
    text_printf(&g->kernels, ") {\n  each %s {\n%s  }\n}\n", grid, text_str(&k->out));
    return true;
}

#endif
