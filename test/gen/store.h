/* store.h: what a random kernel stores: its results, read again by later tasks or positions, and updates in place. */
#ifndef TILEC_TEST_GEN_STORE_H
#define TILEC_TEST_GEN_STORE_H

#include "test/gen/body.h"

typedef struct {
    int ndim, kd[SRC_RANK + 1];
    Elem elem;
    bool exact, max; /* max: of a split dimension, not the sum */
    int places;      /* extent of a first dimension that stores compute, adding; 0: none */
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
    if (c == CLASS_B)
        text = v->class == CLASS_B ? SAYK(k, "(%s || %s)", e.text, v->name) : SAYK(k, "(%s && %s)", e.text, finite);
    else if (v->class == CLASS_B)
        text = SAYK(k, "(%s + where(%s, %s(1), %s(0)))", e.text, v->name, class_type[c], class_type[c]);
    else if (c == v->class)
        text = SAYK(k, "(%s + %s(%s))", e.text, class_type[c], v->name);
    else
        text = SAYK(k, "(%s + where(%s, %s(1), %s(0)))", e.text, finite, class_type[c], class_type[c]);
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
    if (k->ragged >= 0) return NULL; /* tiles begin where data say: no earlier task is known */
    for (int d = 0; d < r->ndim; d++) {
        const KernRange *own =
            &k->range[position >= 0 && k->range[position].kd == r->kd[d] ? position : k->dim[r->kd[d]].range];
        bool back = !dim_is_split(k, r->kd[d]) && DRAW(k->g, 2);
        before += back;
        const char *at = !back       ? own->name
                         : own->tile ? SAYK(k, "begin(%s) - 1", own->name)
                                     : SAYK(k, "%s - 1", own->name);
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
    return (Piece){SAYK(k, "(%s + %s(%s)%s)", e.text, class_type[c], at, c == CLASS_F ? " * 0.5" : ""), e.ranges,
                   c != CLASS_F};
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

/* ---- sums ---- */

/* The positions of tiles, added up: whole, halved, or twice as far apart; several may have one place. */
static const char *place_of_positions(Kern *k, unsigned tiles) {
    const char *s = NULL;
    for (int r = 0; r < k->nrange; r++) {
        if (!(tiles >> r & 1)) continue;
        const char *position = SAYK(k, "pos(%s)", k->range[r].name),
                   *pick[] = {position, position, SAYK(k, "%s / 2", position), SAYK(k, "2 * %s", position)};
        const char *term = pick[DRAW(k->g, 4)];
        s = s ? SAYK(k, "%s + %s", s, term) : term;
    }
    return s;
}

/* A place along a dimension of this extent; now and then outside of it. */
static const char *place_computed(Kern *k, unsigned use, int extent, unsigned *ranges) {
    unsigned tiles = grid_tiles(k, use) & (unsigned)DRAW(k->g, 1 << 8);
    bool outer = k->subscript;
    if (tiles && RARELY(k->g, 2)) {
        *ranges |= tiles;
        return SAYK(k, "(%s) %% %d", place_of_positions(k, tiles), extent);
    }
    k->subscript = true;
    const char *s = SAYK(k, "(%s)", expr_make(k, CLASS_I, (use & ~grid_tiles(k, use)) | tiles, 1, true).text);
    k->subscript = outer;
    for (int r = 0; r < k->nrange; r++)
        if (tiles >> r & 1) s = SAYK(k, "%s ^ %si32(pos(%s))", s, DRAW(k->g, 2) ? "3 * " : "", k->range[r].name);
    *ranges |= tiles;
    return RARELY(k->g, 4) ? s : SAYK(k, "(%s) %% %d", s, extent);
}

/* The value has the ranges of the place that it is added to, or fewer; how many tiles a split range has does not count.
 */
static Piece summed_over(Kern *k, ValueClass c, Piece e, unsigned within) {
    for (int d = 0; d < k->ndim; d++) {
        int r = k->dim[d].range;
        if (r >= 0 && dim_is_split(k, d) && k->range[r].tile && !(within >> r & 1)) e = with_range(k, c, e, r);
    }
    for (int r = 0; r < k->nrange; r++)
        if ((e.ranges & ~within) >> r & 1) e.text = SAYK(k, "sum(%s(%s), %s)", class_type[c], e.text, k->range[r].name);
    e.ranges &= within;
    return e;
}

/* Adds to computed places of a result, also position by position of a loop. */
static void store_adding(Kern *k, int o, KernResult *r, unsigned use) {
    ValueClass c = class_of(r->elem);
    int nrange = k->nrange, nvar = k->nvar, kd = all_used(k) && RARELY(k->g, 3) ? dim_to_loop(k) : -1;
    if (kd >= 0) use |= 1u << loop_open(k, use, kd, true);
    unsigned within = 0;
    const char *at = place_computed(k, use, r->places, &within);
    for (int d = 0; d < r->ndim; d++) within |= mask_of(k, k->dim[r->kd[d]].range);
    Piece e = summed_over(k, c, result_value(k, c, use, RARELY(k->g, 4)), within);
    const char *rest = result_subscripts(k, r, -1);
    r->exact = c != CLASS_F;
    line(k, "o%d[%s%s%s] %c= %s;", o, at, *rest ? ", " : "", rest, DRAW(k->g, 2) ? '-' : '+',
         as_stored(k, r->elem, e.text));
    if (kd >= 0) loop_close(k, nrange, nvar);
}

static void store(Kern *k, int o, KernResult *r, unsigned use) {
    if (r->places) {
        store_adding(k, o, r, use);
        return;
    }
    int tiles = any_range(k, grid_tiles(k, use));
    if (tiles >= 0 && !k->range[tiles].whole && all_used(k) && RARELY(k->g, 4))
        store_positions(k, o, r, use, tiles);
    else
        store_value(k, o, r, use, -1);
}

/* The one result of a kernel that sums a split dimension: the sum times something whole; or its maximum. */
static void store_sum(Kern *k, KernResult *r, int kd, unsigned use) {
    KernVar *v = loop_accumulate(k, use, kd, r->max);
    r->exact = r->max;
    const char *sub = result_subscripts(k, r, -1), *name = v->name;
    v->read = true;
    v->name = NULL;
    if (r->max)
        line(k, "o0[%s] = %s;", sub, name);
    else
        line(k, "o0[%s] = %s * %s;", sub, name, result_value(k, CLASS_F, use, false).text);
}

/* ---- a parameter that is updated in place ---- */

/* Those of the grid by which all accesses of the parameter name dimensions. */
static unsigned update_ranges(const Kern *k) {
    unsigned ranges = 0;
    for (int d = 0; d < k->param[0].ndim; d++) {
        int r = update_range(k, &k->param[0], d);
        if (r >= 0) ranges |= mask_of(k, r);
    }
    return ranges;
}

/* ranges: of computed places. */
static const char *update_subscripts(Kern *k, unsigned use, unsigned *ranges) {
    const KernParam *p = &k->param[0];
    const char *s = "";
    for (int d = 0; d < p->ndim; d++) {
        int r = update_range(k, p, d);
        const char *at = r >= 0 ? k->range[r].name : NULL;
        if (!at && k->places) at = SAYK(k, "p1[%s]", k->range[k->dim[k->param[1].kd[0]].range].name);
        if (!at && k->adds) at = place_computed(k, use, 2 + DRAW(k->g, 5), ranges);
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
    unsigned within = 0;
    static const char *const op[] = {"=", "+=", "-=", "*="};
    int form = plain ? 0 : k->adds ? 1 + DRAW(k->g, 2) : DRAW(k->g, 4);
    const char *at = update_subscripts(k, use, &within), *guard = !plain && DRAW(k->g, 2) ? guard_text(k, use) : NULL;
    Piece e = result_value(k, c, use, RARELY(k->g, 4));
    if (k->adds) e = summed_over(k, c, e, within | update_ranges(k));
    const char *text = SAYK(k, "p0[%s] %s %s;", at, op[form], as_stored(k, p->elem, e.text));
    if (guard)
        line(k, "if %s { %s }", guard, text);
    else
        line(k, "%s", text);
    p->exact = c != CLASS_F || (p->exact && e.exact && form == 0);
    p->read = true;
    if (k->places) k->param[1].read = true;
}

#endif
