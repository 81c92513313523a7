/* body.h: random statements of a kernel: variables, conditions, loops that accumulate, products, loops with a merge.
   Every loop's result is the same for any size of its tiles. */
#ifndef TILEC_TEST_GEN_BODY_H
#define TILEC_TEST_GEN_BODY_H

#include "test/gen/expr.h"

static void line(Kern *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(Kern *k, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_printf(&k->out, "%*s", 2 * k->indent, "");
    text_vprintf(&k->out, format, args);
    text_add(&k->out, "\n");
    va_end(args);
}

/* ", i, j" as "[i, j]"; "" without ranges. */
static const char *ranges_text(Kern *k, unsigned ranges) {
    const char *s = "";
    for (int r = 0; r < k->nrange; r++)
        if (ranges >> r & 1) s = SAYK(k, "%s%s%s", s, *s ? ", " : "[", k->range[r].name);
    return *s ? SAYK(k, "%s]", s) : s;
}

static unsigned grid_tiles(const Kern *k, unsigned use) {
    unsigned all = 0;
    for (int r = 0; r < k->nrange; r++)
        if (use >> r & 1) all |= mask_of(k, r);
    return all;
}

static unsigned some_ranges(Kern *k) { return (unsigned)DRAW(k->g, 1 << 12); }

static KernVar *var_add(Kern *k, ValueClass c, unsigned ranges, bool exact) {
    if (k->nvar == KERN_VARS) k->nvar--;
    k->var[k->nvar] = (KernVar){SAYK(k, "v%d", k->nname++), c, ranges, exact, false, false};
    return &k->var[k->nvar++];
}

/* f32(x) where an expression of 16 bits could stay narrow. */
static const char *as_class(Kern *k, ValueClass c, Piece e) {
    return c == CLASS_B ? e.text : SAYK(k, "%s(%s)", class_type[c], e.text);
}

static void define_variable(Kern *k, unsigned use) {
    ValueClass c = (ValueClass)DRAW(k->g, 3);
    bool exact = c != CLASS_F || RARELY(k->g, 3);
    Piece e = expr_make(k, c, use, 2, exact);
    int form = DRAW(k->g, 3);
    KernVar *v = var_add(k, c, e.ranges, e.exact);
    v->fixed = form == 1;
    if (form == 2) {
        v->ranges |= grid_tiles(k, use) & some_ranges(k);
        line(k, "%s: %s%s = %s;", v->name, class_type[c], ranges_text(k, v->ranges), as_class(k, c, e));
    } else
        line(k, "%s%s = %s;", form == 1 ? "let " : "", v->name, as_class(k, c, e));
}

static KernVar *variable_to_change(Kern *k, int first) {
    int found[KERN_VARS], n = 0;
    for (int i = first; i < k->nvar; i++)
        if (k->var[i].name && !k->var[i].fixed) found[n++] = i;
    return n ? &k->var[found[DRAW(k->g, n)]] : NULL;
}

/* Its own updates do not count as reading it. */
static Piece next_value(Kern *k, KernVar *v, unsigned within) {
    bool read = v->read;
    Piece e = expr_make(k, v->class, within, 2, v->exact);
    v->read = read;
    return e;
}

static void update_variable(Kern *k, unsigned use) {
    KernVar *v = variable_to_change(k, 0);
    if (!v) return;
    unsigned within = use & ~(grid_tiles(k, use) & ~v->ranges);
    Piece e = next_value(k, v, within);
    static const char *const op[] = {"=", "+=", "-=", "*="};
    int form = v->class == CLASS_B || (v->exact && v->class == CLASS_F) ? 0 : DRAW(k->g, v->class == CLASS_F ? 5 : 4);
    if (form == 4)
        line(k, "%s /= abs(%s) + 1.0;", v->name, as_class(k, v->class, e));
    else
        line(k, "%s %s %s;", v->name, op[form], as_class(k, v->class, e));
}

/* A condition that is one value a task. */
static const char *scalar_condition(Kern *k, unsigned use) {
    if (k->flag && DRAW(k->g, 2)) return k->flag_read = true, "c";
    return expr_make(k, CLASS_B, use & ~grid_tiles(k, use), 1, true).text;
}

static void condition(Kern *k, unsigned use) {
    KernVar *v = variable_to_change(k, 0);
    if (!v) return;
    unsigned within = use & ~(grid_tiles(k, use) & ~v->ranges);
    line(k, "if %s {", scalar_condition(k, use));
    k->indent++;
    line(k, "%s = %s;", v->name, as_class(k, v->class, next_value(k, v, within)));
    k->indent--;
    if (DRAW(k->g, 2)) {
        line(k, "} else {");
        k->indent++;
        line(k, "%s = %s;", v->name, as_class(k, v->class, next_value(k, v, within)));
        k->indent--;
    }
    line(k, "}");
}

/* ---- loops ---- */

/* Of a range over this dimension: any, or one that divides its extent, or leaves one position over, or has one too many. */
static const char *tile_size(Kern *k, int kd) {
    static const int size[] = {4, 1, 3, 8, 16, 7, 32, 64, 2, 5, 6, 9, 12, 13};
    int64_t n = extent_value(k->g, k->dim[kd].dim), near[] = {n, (n + 1) / 2, n - 1, n + 1, (n + 2) / 3, n / 2};
    int64_t most = k->ndim > 5 ? 3 : k->ndim > 3 ? 16 : 64; /* a tile has a limit */
    int64_t s = RARELY(k->g, 3) ? near[DRAW(k->g, 6)] : size[DRAW(k->g, 14)];
    return SAYK(k, "%" PRId64, s < 1 ? 1 : s > most ? most : s);
}

static int range_push(Kern *k, const char *stem, int kd, bool tile) {
    k->range[k->nrange] = (KernRange){SAYK(k, "%s%d", stem, k->nname++), kd, tile, false};
    return k->nrange++;
}

/* Bounds of a loop over part of a dimension: numbers, positions of the grid, elements of a parameter. */
static const char *loop_bounds(Kern *k, unsigned use, int kd) {
    int ptr = -1, row = -1;
    for (int i = 0; i < k->nparam; i++)
        for (int r = 0; r < k->nrange; r++)
            if (k->param[i].plus >= 0 && (use >> r & 1) && !k->range[r].tile && k->range[r].kd == k->param[i].kd[0])
                ptr = i, row = r;
    if (ptr >= 0 && DRAW(k->g, 2)) {
        k->param[ptr].read = true;
        return SAYK(k, "p%d[%s] .. p%d[%s + 1]", ptr, k->range[row].name, ptr, k->range[row].name);
    }
    int r = any_range(k, use & ~grid_tiles(k, use)), s = any_range(k, use & ~grid_tiles(k, use));
    if (r >= 0 && r != s && DRAW(k->g, 2)) return SAYK(k, "pos(%s) .. min(pos(%s) + 3, n%d)", k->range[r].name, k->range[s].name, kd);
    if (r >= 0 && DRAW(k->g, 2)) return SAYK(k, "0 .. min(n%d, pos(%s) + 1)", kd, k->range[r].name);
    return SAYK(k, "%d .. n%d", DRAW(k->g, 3), kd);
}

/* A tile has at most 8 ranges, those of the grid and of the loops around. */
static bool tile_has_room(const Kern *k, unsigned use) { return __builtin_popcount(grid_tiles(k, use)) < 8; }

static int loop_open(Kern *k, unsigned use, int kd, bool may_bound) {
    bool tile = DRAW(k->g, 5) != 4 && tile_has_room(k, use);
    const char *size = tile ? SAYK(k, ": %s", tile_size(k, kd)) : "";
    const char *over = may_bound && RARELY(k->g, 4) ? SAYK(k, "in %s", loop_bounds(k, use, kd)) : SAYK(k, "of n%d", kd);
    int r = range_push(k, "q", kd, tile);
    line(k, "for %s%s %s {", k->range[r].name, size, over);
    k->indent++;
    return r;
}

static void loop_close(Kern *k, int nrange, int nvar) {
    k->indent--;
    line(k, "}");
    k->nrange = nrange;
    for (int i = nvar; i < k->nvar; i++) k->var[i].name = NULL;
}

/* A product of two tiles that share only the loop's range. */
static const char *product(Kern *k, unsigned use, unsigned tiles, int p) {
    unsigned left = tiles & some_ranges(k), position = use & ~grid_tiles(k, use);
    int depth = DRAW(k->g, 3) == 2;
    Piece a = with_range(k, CLASS_F, expr_make(k, CLASS_F, position | left | 1u << p, depth, false), p);
    Piece b = with_range(k, CLASS_F, expr_make(k, CLASS_F, position | (tiles & ~left) | 1u << p, depth, false), p);
    const char *at = DRAW(k->g, 2) ? SAYK(k, "sum(%s * %s, %s)", a.text, b.text, k->range[p].name)
                                   : SAYK(k, "%s @ %s", a.text, b.text);
    static const char *const cast[] = {"", "bf16", "f16"};
    const char *to = cast[DRAW(k->g, 3)];
    if (*to && at[0] != 's') at = SAYK(k, "%s(%s) @ %s(%s)", to, a.text, to, b.text);
    return SAYK(k, "f32(%s)", at);
}

static const char *summand(Kern *k, unsigned use, unsigned tiles, int p) {
    unsigned within = (use & ~grid_tiles(k, use)) | tiles | 1u << p;
    if (k->range[p].tile && DRAW(k->g, 2)) return product(k, use, tiles, p);
    Piece e = with_range(k, CLASS_F, expr_make(k, CLASS_F, within, 2, false), p);
    return k->range[p].tile ? SAYK(k, "sum(f32(%s), %s)", e.text, k->range[p].name) : as_class(k, CLASS_F, e);
}

/* Parameters that nothing has read are read by the loop over a split dimension: nothing else can. */
static void accumulate_rest(Kern *k, const char *name, unsigned within, int p, bool max) {
    for (int i = 0; i < k->nparam; i++) {
        const KernParam *param = &k->param[i];
        if (param->read || !can_load(k, param, within) || (max && !param->exact)) continue;
        Piece e = expr_load(k, i, within);
        e.text = SAYK(k, "f32(%s)", e.text);
        if (!max) e = with_range(k, CLASS_F, e, p);
        const char *f = max ? "max" : "sum";
        const char *one = e.ranges >> p & 1 ? SAYK(k, "%s(%s, %s)", f, e.text, k->range[p].name) : e.text;
        if (max)
            line(k, "%s = max(%s, %s);", name, name, one);
        else
            line(k, "%s += %s;", name, one);
    }
}

/* acc += sum over a dimension; or its maximum, or integers. Gives the variable. */
static KernVar *loop_accumulate(Kern *k, unsigned use, int kd, int form) {
    unsigned tiles = grid_tiles(k, use) & (form == 0 || DRAW(k->g, 2) ? ~0u : some_ranges(k));
    int nrange = k->nrange, nvar = k->nvar;
    ValueClass c = form == 2 ? CLASS_I : CLASS_F;
    const char *name = SAYK(k, "acc%d", k->nname++), *start = form == 1                              ? "-9.0"
                                                              : form == 2                            ? "3"
                                                              : dim_is_split(k, kd) || DRAW(k->g, 2) ? "0"
                                                                                                     : "0.5";
    line(k, "%s: %s%s = %s;", name, class_type[c], ranges_text(k, tiles), start);
    int p = loop_open(k, use, kd, !dim_is_split(k, kd));
    unsigned within = (use & ~grid_tiles(k, use)) | tiles | 1u << p;
    const char *q = k->range[p].name;
    if (form == 0)
        line(k, "%s += %s;", name, summand(k, use, tiles, p));
    else {
        Piece e = with_range(k, c, expr_make(k, c, within, 2, true), p);
        if (form == 1 && k->range[p].tile)
            line(k, "%s = max(%s, max(%s, %s));", name, name, as_class(k, c, e), q);
        else if (form == 1)
            line(k, "%s = max(%s, %s);", name, name, as_class(k, c, e));
        else if (k->range[p].tile)
            line(k, "%s += sum(%s, %s);", name, as_class(k, c, e), q);
        else
            line(k, "%s += %s;", name, as_class(k, c, e));
    }
    if (dim_is_split(k, kd)) accumulate_rest(k, name, within, p, form == 1);
    loop_close(k, nrange, nvar);
    KernVar *v = var_add(k, c, tiles, form != 0);
    v->name = name;
    v->fixed = dim_is_split(k, kd);
    return v;
}

/* A softmax of scores over a dimension, weighted: two variables that rescale, with the rule that puts parts together.
 */
static void loop_online(Kern *k, unsigned use, int kd) {
    unsigned tiles = grid_tiles(k, use), rows = tiles & some_ranges(k), position = use & ~tiles;
    int nrange = k->nrange, nvar = k->nvar, id = k->nname++;
    line(k, "m%d: f32%s = -9.0;", id, ranges_text(k, rows));
    line(k, "l%d: f32%s = 0;", id, ranges_text(k, rows));
    line(k, "a%d: f32%s = 0;", id, ranges_text(k, tiles));
    int p = range_push(k, "q", kd, true);
    line(k, "for %s: %s of n%d {", k->range[p].name, tile_size(k, kd), kd);
    k->indent++;
    const char *q = k->range[p].name;
    Piece x = with_range(k, CLASS_F, expr_make(k, CLASS_F, position | rows | 1u << p, 1, false), p);
    Piece w = with_range(k, CLASS_F, expr_make(k, CLASS_F, position | (tiles & ~rows) | 1u << p, 1, false), p);
    line(k, "x%d = min(max(f32(%s), -8.0), 8.0);", id, x.text);
    line(k, "y%d = max(m%d, max(x%d, %s));", id, id, id, q);
    line(k, "e%d = exp(x%d - y%d);", id, id, id);
    line(k, "r%d = exp(m%d - y%d);", id, id, id);
    line(k, "l%d = l%d * r%d + sum(e%d, %s);", id, id, id, id, q);
    line(k, "a%d = a%d * r%d + sum(e%d * f32(%s), %s);", id, id, id, id, w.text, q);
    line(k, "m%d = y%d;", id, id);
    k->indent--;
    line(k, "} merge (mm%d, ll%d, aa%d) {", id, id, id);
    k->indent++;
    line(k, "y%d = max(m%d, mm%d);", id, id, id);
    line(k, "r%d = exp(m%d - y%d);", id, id, id);
    line(k, "t%d = exp(mm%d - y%d);", id, id, id);
    line(k, "l%d = l%d * r%d + ll%d * t%d;", id, id, id, id, id);
    line(k, "a%d = a%d * r%d + aa%d * t%d;", id, id, id, id, id);
    line(k, "m%d = y%d;", id, id);
    loop_close(k, nrange, nvar);
    KernVar *v = var_add(k, CLASS_F, tiles, false);
    v->name = SAYK(k, "(a%d / (l%d + 0.001))", id, id);
    v->fixed = true;
}

static int dim_to_loop(Kern *k) {
    int found[KERN_DIMS], n = 0;
    for (int d = 0; d < k->ndim; d++)
        if (!dim_is_split(k, d)) found[n++] = d;
    return n ? found[DRAW(k->g, n)] : -1;
}

static void statement(Kern *k, unsigned use) {
    int span = tape_open(k->g->tape), kd;
    switch (DRAW(k->g, 8)) {
    case 0:
    case 1: define_variable(k, use); break;
    case 2: update_variable(k, use); break;
    case 3: condition(k, use); break;
    case 4:
        if ((kd = dim_to_loop(k)) >= 0 && tile_has_room(k, use)) loop_online(k, use, kd);
        break;
    default:
        if ((kd = dim_to_loop(k)) >= 0) loop_accumulate(k, use, kd, DRAW(k->g, 3));
        break;
    }
    tape_close(k->g->tape, span);
}

#endif
