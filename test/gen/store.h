/* store.h: what a random kernel stores: its results, read again by later tasks or positions, and updates in place. */
#ifndef TILEC_TEST_GEN_STORE_H
#define TILEC_TEST_GEN_STORE_H

#include "test/gen/body.h"

typedef struct {
    int ndim, kd[SRC_RANK];
    Elem elem;
    bool exact, max; /* max: of a split dimension, not the sum */
} KernResult;

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

static const char *result_subscripts(Kern *k, const KernResult *r, int position) {
    const char *s = "";
    for (int d = 0; d < r->ndim; d++) {
        int own = position >= 0 && k->range[position].kd == r->kd[d] ? position : k->dim[r->kd[d]].range;
        s = SAYK(k, "%s%s%s", s, d ? ", " : "", k->range[own].name);
    }
    return s;
}

/* An element of the result that an earlier task, or an earlier position, has stored: along some dimensions that are not
   split, before the tile or the position. NULL: along none. */
static const char *earlier_element(Kern *k, int o, const KernResult *r, int position) {
    const char *s = "";
    int before = 0;
    for (int d = 0; d < r->ndim; d++) {
        const KernRange *own = &k->range[position >= 0 && k->range[position].kd == r->kd[d] ? position : k->dim[r->kd[d]].range];
        bool back = !dim_is_split(k, r->kd[d]) && DRAW(k->g, 2);
        before += back;
        const char *at = !back ? own->name : own->tile ? SAYK(k, "begin(%s) - 1", own->name) : SAYK(k, "%s - 1", own->name);
        s = SAYK(k, "%s%s%s", s, d ? ", " : "", at);
    }
    return before ? SAYK(k, "o%d[%s]", o, s) : NULL;
}

/* The value and one that the kernel itself has stored. position: see earlier_element. */
static Piece with_earlier(Kern *k, int o, const KernResult *r, Piece e, int position) {
    ValueClass c = class_of(r->elem);
    const char *at = RARELY(k->g, 5) ? earlier_element(k, o, r, position) : NULL;
    if (!at) return e;
    if (c == CLASS_B) return (Piece){SAYK(k, "(%s != %s)", e.text, at), e.ranges, true};
    if (c == CLASS_F && e.exact) return (Piece){SAYK(k, "max(f32(%s), f32(%s))", e.text, at), e.ranges, true};
    return (Piece){SAYK(k, "(%s + %s(%s)%s)", e.text, class_type[c], at, c == CLASS_F ? " * 0.5" : ""), e.ranges, c != CLASS_F};
}

static void store_value(Kern *k, int o, KernResult *r, unsigned use, int position) {
    ValueClass c = class_of(r->elem);
    Piece e = with_earlier(k, o, r, result_value(k, c, use, RARELY(k->g, 4)), position);
    r->exact = e.exact || c != CLASS_F;
    line(k, "o%d[%s] = %s;", o, result_subscripts(k, r, position), as_stored(k, r->elem, e.text));
}

static bool all_used(const Kern *k) {
    for (int i = 0; i < k->nvar; i++)
        if (k->var[i].name && !k->var[i].read) return false;
    return true;
}

/* The positions of a tile in order: a range of one of them stands for the tile's. */
static void store_positions(Kern *k, int o, KernResult *r, unsigned use, int tiles) {
    int nrange = k->nrange, position = range_push(k, "r", k->range[tiles].kd, false);
    line(k, "for %s in %s {", k->range[position].name, k->range[tiles].name);
    k->indent++;
    store_value(k, o, r, (use & ~(1u << tiles)) | 1u << position, position);
    loop_close(k, nrange, k->nvar);
}

static void store(Kern *k, int o, KernResult *r, unsigned use) {
    int tiles = any_range(k, grid_tiles(k, use));
    if (tiles >= 0 && !k->range[tiles].whole && all_used(k) && RARELY(k->g, 4)) store_positions(k, o, r, use, tiles);
    else store_value(k, o, r, use, -1);
}

/* The one result of a kernel that sums a split dimension: the sum times something whole; or its maximum. */
static void store_sum(Kern *k, KernResult *r, int kd, unsigned use) {
    KernVar *v = loop_accumulate(k, use, kd, r->max);
    r->exact = r->max;
    const char *sub = result_subscripts(k, r, -1), *name = v->name;
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
    const char *at = update_subscripts(k, use), *guard = !plain && DRAW(k->g, 2) ? guard_text(k, use) : NULL;
    Piece e = result_value(k, c, use, RARELY(k->g, 4));
    const char *text = SAYK(k, "p0[%s] %s %s;", at, op[form], as_stored(k, p->elem, e.text));
    if (guard) line(k, "if %s { %s }", guard, text);
    else line(k, "%s", text);
    p->exact = c != CLASS_F || (p->exact && e.exact && form == 0);
    p->read = true;
    if (k->places) k->param[1].read = true;
}

#endif
