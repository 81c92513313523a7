/* expr.h: random expressions over the tiles of a kernel: typed, tame in size, and with what may be compared kept exact.
   Takes the ranges that may be used; gives text with the ranges that it carries. */
#ifndef TILEC_TEST_GEN_EXPR_H
#define TILEC_TEST_GEN_EXPR_H

#include "test/gen/source.h"

enum { KERN_DIMS = 8, KERN_PARAMS = 8, KERN_RANGES = 20, KERN_VARS = 24 };

typedef enum { CLASS_F, CLASS_I, CLASS_B } ValueClass;

typedef struct {
    int dim;      /* extent in the program */
    bool reduced; /* in no result */
    bool whole;   /* of a view: never split */
    int axis;     /* split over it, or -1 */
    int range;    /* of the grid, or -1 */
} KernDim;

typedef struct {
    int ndim, kd[SRC_RANK]; /* dimensions of the kernel */
    int plus;               /* dimension that has one element more, or -1 */
    Elem elem;
    bool exact;
    bool read;
    bool inout, unique;
} KernParam;

typedef struct {
    const char *name;
    int kd;
    bool tile, whole; /* else a position */
} KernRange;

typedef struct {
    const char *name;
    ValueClass class;
    unsigned ranges;
    bool exact, read, fixed;
} KernVar;

typedef struct {
    Src *g;
    int ndim, nparam, nrange, nvar, nname;
    KernDim dim[KERN_DIMS];
    KernParam param[KERN_PARAMS];
    KernRange range[KERN_RANGES];
    KernVar var[KERN_VARS];
    Text out;
    int indent;
    bool scalar, flag, number; /* the kernel has the parameter s, the constants c and m */
    bool scalar_read, flag_read, number_read;
    int scattered;  /* the dimension of p0, updated in place, that its stores compute; or -1 */
    bool places;    /* they take it from p1 */
    bool adds;      /* all they do is to add, to places that tasks share */
    int ragged;     /* the dimension whose positions are in groups; or -1 */
    int groups;
    int generic;    /* the parameter whose element type the call gives, or -1 */
    int64_t tasks;  /* of the grid so far */
    bool subscript; /* inside one a range is a value: max(x, i) is no reduction there */
} Kern;

typedef struct {
    const char *text;
    unsigned ranges; /* of tiles */
    bool exact;
} Piece;

static const char *const class_type[] = {"f32", "i32", "bool"};

#define SAYK(k, ...) SAY((k)->g, __VA_ARGS__)

static ValueClass class_of(Elem e) { return elem_is_float(e) ? CLASS_F : e == ELEM_BOOL ? CLASS_B : CLASS_I; }

static Piece expr_make(Kern *, ValueClass, unsigned, int depth, bool exact);

static bool dim_is_split(const Kern *k, int kd) { return k->dim[kd].axis >= 0; }

/* A range over the dimension among those in use; -1: none. A second one is chosen now and then. */
static int range_over(Kern *k, unsigned use, int kd) {
    int found[KERN_RANGES], n = 0;
    for (int r = 0; r < k->nrange; r++)
        if ((use >> r & 1) && k->range[r].kd == kd) found[n++] = r;
    return n ? found[DRAW(k->g, n)] : -1;
}

static unsigned mask_of(const Kern *k, int r) { return k->range[r].tile ? 1u << r : 0; }

/* An index that need not be inside: reads outside give 0. */
static const char *subscript_free(Kern *k, unsigned use, int r, unsigned *ranges) {
    const char *name = r >= 0 ? k->range[r].name : "0";
    unsigned own = r >= 0 ? mask_of(k, r) : 0;
    int form = DRAW(k->g, 10);
    if (r < 0 || dim_is_split(k, k->range[r].kd)) form = form < 6 ? 8 : 9;
    if (form == 9 && k->subscript) form = 8;
    if (form < 8) *ranges |= own;
    switch (form) {
    case 0: return SAYK(k, "%s + %d", name, 1 + DRAW(k->g, 4));
    case 1: return SAYK(k, "%s - %d", name, 1 + DRAW(k->g, 4));
    case 2: return SAYK(k, "2 * %s", name);
    case 3: return SAYK(k, "%s / %d", name, 2 + DRAW(k->g, 3));
    case 4: return SAYK(k, "%s %% %d", name, 2 + DRAW(k->g, 5));
    case 5: return SAYK(k, "n%d - 1 - %s", k->range[r].kd, name);
    case 6: return SAYK(k, "3 * %s - %d", name, DRAW(k->g, 5));
    case 7: return SAYK(k, "(%s + %d) / 2", name, DRAW(k->g, 3));
    case 8: return SAYK(k, "%d", DRAW(k->g, 3));
    default: break;
    }
    bool outer = k->subscript;
    k->subscript = true;
    Piece e = expr_make(k, CLASS_I, use, 1, true);
    k->subscript = outer;
    *ranges |= e.ranges;
    return e.text;
}

/* The range of the grid by which every access of an updated parameter names the dimension; -1: it is free. */
static int update_range(const Kern *k, const KernParam *p, int d) {
    return p->inout && p->kd[d] != k->scattered ? k->dim[p->kd[d]].range : -1;
}

/* One read of a parameter. */
static Piece expr_load(Kern *k, int param, unsigned use) {
    KernParam *p = &k->param[param];
    Piece e = {.text = SAYK(k, "p%d[", param), .exact = p->exact};
    p->read = true;
    for (int d = 0; d < p->ndim; d++) {
        int own = update_range(k, p, d), r = own >= 0 ? own : range_over(k, use, p->kd[d]);
        bool plain = own >= 0 || (r >= 0 && (dim_is_split(k, p->kd[d]) || !RARELY(k->g, 6)));
        const char *sub = plain ? k->range[r].name : subscript_free(k, use, r, &e.ranges);
        if (plain) e.ranges |= mask_of(k, r);
        e.text = SAYK(k, "%s%s%s", e.text, d ? ", " : "", sub);
    }
    e.text = SAYK(k, "%s]", e.text);
    return e;
}

/* A parameter can be read where every split dimension of it has a range in use. */
static bool can_load(const Kern *k, const KernParam *p, unsigned use) {
    if (p->inout && (k->places || k->adds)) return false;
    for (int d = 0; d < p->ndim; d++) {
        int own = update_range(k, p, d);
        if (own >= 0 && !(use >> own & 1)) return false;
        bool some = !dim_is_split(k, p->kd[d]);
        for (int r = 0; r < k->nrange; r++) some = some || ((use >> r & 1) && k->range[r].kd == p->kd[d]);
        if (!some) return false;
    }
    return p->plus < 0;
}

static int param_for(Kern *k, ValueClass c, unsigned use, bool exact) {
    int found[KERN_PARAMS], n = 0;
    for (int i = 0; i < k->nparam; i++)
        if (class_of(k->param[i].elem) == c && can_load(k, &k->param[i], use) && (!exact || k->param[i].exact))
            found[n++] = i;
    return n ? found[DRAW(k->g, n)] : -1;
}

static int var_for(Kern *k, ValueClass c, unsigned use, bool exact) {
    int found[KERN_VARS], n = 0;
    for (int i = 0; i < k->nvar; i++) {
        const KernVar *v = &k->var[i];
        if (v->name && v->class == c && !(v->ranges & ~use) && (!exact || v->exact)) found[n++] = i;
    }
    return n ? found[DRAW(k->g, n)] : -1;
}

/* A range that holds all of a dimension may be reduced inside any expression. */
static int whole_range(Kern *k) {
    int found[KERN_RANGES], n = 0;
    for (int r = 0; r < k->nrange; r++)
        if (k->range[r].whole && !dim_is_split(k, k->range[r].kd)) found[n++] = r;
    return n ? found[DRAW(k->g, n)] : -1;
}

static int any_range(Kern *k, unsigned use) {
    int found[KERN_RANGES], n = 0;
    for (int r = 0; r < k->nrange; r++)
        if (use >> r & 1) found[n++] = r;
    return n ? found[DRAW(k->g, n)] : -1;
}

/* ---- leaves ---- */

static Piece expr_position(Kern *k, int r) {
    return (Piece){.text = SAYK(k, "pos(%s)", k->range[r].name), .ranges = mask_of(k, r), .exact = true};
}

static Piece leaf_number(Kern *k, ValueClass c) {
    static const char *const floats[] = {"0.5", "-1.25", "2.0", "0.0", "0.1"};
    static const char *const ints[] = {"1", "3", "-2", "0", "7"};
    const char *text = c == CLASS_F    ? floats[DRAW(k->g, 5)]
                       : c == CLASS_I  ? ints[DRAW(k->g, 5)]
                       : DRAW(k->g, 2) ? "true"
                                       : "false";
    if (c == CLASS_F && k->scalar && DRAW(k->g, 2)) k->scalar_read = true, text = "s";
    if (c == CLASS_I && k->ragged >= 0 && DRAW(k->g, 2)) text = "i32(g)";
    if (c == CLASS_I && k->number && DRAW(k->g, 2)) k->number_read = true, text = "m";
    return (Piece){.text = c == CLASS_B ? text : SAYK(k, "%s(%s)", c == CLASS_F ? "f32" : "i32", text), .exact = true};
}

static Piece expr_cast(Kern *k, const char *to, Piece e) {
    e.text = SAYK(k, "%s(%s)", to, e.text);
    return e;
}

static Piece leaf_make(Kern *k, ValueClass c, unsigned use, bool exact) {
    int param = param_for(k, c, use, exact), var = var_for(k, c, use, exact);
    if (var >= 0 && (param < 0 || DRAW(k->g, 3))) {
        k->var[var].read = true;
        return (Piece){k->var[var].name, k->var[var].ranges, k->var[var].exact};
    }
    if (param >= 0 && !RARELY(k->g, 8)) {
        Piece e = expr_load(k, param, use);
        Elem elem = k->param[param].elem;
        bool keep = c == CLASS_B || (c == CLASS_F && elem != ELEM_F64 && DRAW(k->g, 2));
        return keep ? e : expr_cast(k, c == CLASS_F ? "f32" : "i32", e);
    }
    int r = any_range(k, use);
    if (r >= 0 && c == CLASS_B)
        return (Piece){SAYK(k, "(pos(%s) > %d)", k->range[r].name, DRAW(k->g, 4)), mask_of(k, r), true};
    if (r < 0 || RARELY(k->g, 3)) return leaf_number(k, c);
    Piece e = expr_cast(k, c == CLASS_F ? "f32" : "i32", expr_position(k, r));
    if (c == CLASS_F) e.text = SAYK(k, "(%s * 0.125)", e.text);
    return e;
}

/* ---- what has operands ---- */

static Piece join(Kern *k, Piece a, const char *op, Piece b, bool exact) {
    return (Piece){SAYK(k, "(%s %s %s)", a.text, op, b.text), a.ranges | b.ranges, exact && a.exact && b.exact};
}

static Piece call1(Kern *k, const char *f, Piece a, bool exact) {
    return (Piece){SAYK(k, "%s(%s)", f, a.text), a.ranges, exact && a.exact};
}

/* The same expression, made to carry a range that is going to be reduced. */
static Piece with_range(Kern *k, ValueClass c, Piece e, int r) {
    if (e.ranges >> r & 1 || !k->range[r].tile) return e;
    const char *p = k->range[r].name;
    if (c == CLASS_F)
        e.text = SAYK(k, "(%s + f32(pos(%s)) * 0.0625)", e.text, p), e.exact = false;
    else if (c == CLASS_I)
        e.text = SAYK(k, "(%s + i32(pos(%s)))", e.text, p);
    else
        e.text = SAYK(k, "(%s && pos(%s) > 1)", e.text, p);
    e.ranges |= 1u << r;
    return e;
}

static Piece expr_reduce(Kern *k, ValueClass c, unsigned use, int depth, bool exact, int r) {
    static const char *const of[][4] = {
        {"sum", "max", "min", "sum"}, {"sum", "max", "min", "arg"}, {"any", "all", "any", "all"}};
    const char *f = of[c][DRAW(k->g, 4)], *p = k->range[r].name;
    if (k->subscript && f[0] == 'm') f = c == CLASS_I ? "sum" : "max";
    bool is_sum = f[0] == 's';
    use |= 1u << r;
    if (c == CLASS_F && exact && is_sum) f = "max", is_sum = false;
    if (f[1] == 'r') { /* an argument: of floats that are exact, or of integers */
        ValueClass best = DRAW(k->g, 2) ? CLASS_F : CLASS_I;
        Piece e = with_range(k, best, expr_make(k, best, use, depth - 1, true), r);
        return (Piece){SAYK(k, "i32(arg%s(%s, %s))", DRAW(k->g, 2) ? "min" : "max", e.text, p), e.ranges & ~(1u << r),
                       true};
    }
    Piece e = with_range(k, c, expr_make(k, c, use, depth - 1, exact), r);
    const char *type = c == CLASS_F ? "f32" : "i32";
    if (is_sum && DRAW(k->g, 2)) e = expr_cast(k, type, e);
    return (Piece){SAYK(k, "%s(%s, %s)", f, e.text, p), e.ranges & ~(1u << r), e.exact && (c != CLASS_F || !is_sum)};
}

static Piece expr_prefix(Kern *k, ValueClass c, unsigned use, int depth, bool exact, int r) {
    bool sums = !exact && DRAW(k->g, 2);
    Piece e = with_range(k, c, expr_make(k, c, use, depth - 1, exact), r);
    const char *type = c == CLASS_F ? "f32" : "i32";
    return (Piece){SAYK(k, "%s(%s(%s), %s)", sums ? "cumsum" : "cummax", type, e.text, k->range[r].name), e.ranges,
                   e.exact && (c == CLASS_I || !sums)};
}

/* A position among those in use, or -1. */
static int position_range(Kern *k, unsigned use) {
    for (int r = 0; r < k->nrange; r++)
        if ((use >> r & 1) && !k->range[r].tile) return r;
    return -1;
}

static Piece expr_where(Kern *k, ValueClass c, unsigned use, int depth, bool exact) {
    int r = position_range(k, use); /* of what is known in advance one branch is not read */
    bool one = r >= 0 && DRAW(k->g, 2);
    Piece q = one ? expr_position(k, r) : expr_make(k, CLASS_B, use, depth - 1, true);
    Piece a = expr_make(k, c, use, depth - 1, exact), b = expr_make(k, c, use, depth - 1, exact);
    return (Piece){SAYK(k, one ? "(%s > 1 ? %s : %s)" : "where(%s, %s, %s)", q.text, a.text, b.text),
                   q.ranges | a.ranges | b.ranges, a.exact && b.exact};
}

static Piece binary(Kern *k, ValueClass c, const char *op, unsigned use, int depth, bool exact, bool keeps) {
    Piece a = expr_make(k, c, use, depth - 1, exact);
    return join(k, a, op, expr_make(k, c, use, depth - 1, exact), keeps);
}

static Piece extremum(Kern *k, ValueClass c, unsigned use, int depth, bool exact) {
    const char *f = DRAW(k->g, 2) ? "max" : "min", *type = c == CLASS_F ? "f32" : "i32";
    Piece a = expr_make(k, c, use, depth - 1, exact);
    if (c == CLASS_F && RARELY(k->g, 8)) {
        a.text = SAYK(k, "%s(f32(%s), %sinf)", f, a.text, f[1] == 'a' ? "-" : "");
        return a;
    }
    Piece b = expr_make(k, c, use, depth - 1, exact);
    return (Piece){SAYK(k, "%s(%s(%s), %s(%s))", f, type, a.text, type, b.text), a.ranges | b.ranges,
                   a.exact && b.exact};
}

/* A function of elements, or a detour through another type that some values survive; the argument is made legal. */
static const char *function_form(Kern *k) {
    static const char *const made[] = {"sigmoid($x)", "silu($x)", "gelu($x)", "(-$x)", "f32(bf16($x))",
                                       "f32(f16(min(max(f32($x), -99.0), 99.0)))",
                                       "f32(f8e4m3(min(max(f32($x), -9.0), 9.0)))", "f32(f64($x))"};
    enum { MADE = sizeof made / sizeof *made };
    const OpInfo *row[OP_COUNT];
    int rows = 0;
    for (int i = 0; i < OP_COUNT; i++)
        if (op_info[i].drawn) row[rows++] = &op_info[i];
    int which = DRAW(k->g, MADE + rows);
    return which < MADE ? made[which] : SAYK(k, "%s(%s)", row[which - MADE]->text, row[which - MADE]->drawn);
}

/* Every element stays a number that all evaluations agree on. */
static bool keeps_exact(const char *form) {
    return strncmp(form, "abs(", 4) == 0 || strncmp(form, "(-", 2) == 0 || strncmp(form, "f32(", 4) == 0;
}

static Piece function_safe(Kern *k, Piece a) {
    const char *form = function_form(k), *at = strstr(form, "$x");
    return (Piece){SAYK(k, "%.*s%s%s", (int)(at - form), form, a.text, at + 2), a.ranges, keeps_exact(form) && a.exact};
}

/* What changes nothing, for any size of the tiles. */
static Piece bool_certain(Kern *k, int r) {
    const char *name = k->range[r].name;
    return (Piece){SAYK(k, "(pos(%s) < end(%s))", name, name), mask_of(k, r), true};
}

static Piece float_exact(Kern *k, unsigned use, int depth) {
    static const char *const step[] = {"floor", "ceil", "round", "relu"};
    switch (DRAW(k->g, 5)) {
    case 0: return leaf_make(k, CLASS_F, use, true);
    case 4: return call1(k, step[DRAW(k->g, 4)], expr_make(k, CLASS_F, use, depth - 1, true), true);
    case 1: return call1(k, "abs", expr_make(k, CLASS_F, use, depth - 1, true), true);
    case 2: return extremum(k, CLASS_F, use, depth, true);
    default: return expr_where(k, CLASS_F, use, depth, true);
    }
}

static Piece float_make(Kern *k, unsigned use, int depth, bool exact) {
    int r = k->subscript ? -1 : whole_range(k);
    if (r >= 0 && RARELY(k->g, 4)) return expr_reduce(k, CLASS_F, use, depth, exact, r);
    if (r >= 0 && (use >> r & 1) && RARELY(k->g, 12)) return expr_prefix(k, CLASS_F, use, depth, exact, r);
    if (exact) return float_exact(k, use, depth);
    switch (DRAW(k->g, 10)) {
    case 0:
    case 1: return binary(k, CLASS_F, "+", use, depth, false, false);
    case 2: return binary(k, CLASS_F, "-", use, depth, false, false);
    case 3: return binary(k, CLASS_F, "*", use, depth, false, false);
    case 4: return extremum(k, CLASS_F, use, depth, false);
    case 5: return expr_where(k, CLASS_F, use, depth, false);
    case 6: return expr_cast(k, "f32", expr_make(k, CLASS_I, use, depth - 1, true));
    case 7: {
        Piece a = expr_make(k, CLASS_F, use, depth - 1, false), b = expr_make(k, CLASS_F, use, depth - 1, false);
        b.text = SAYK(k, "(abs(%s) + 1.0)", b.text);
        return join(k, a, "/", b, false);
    }
    default: return function_safe(k, expr_make(k, CLASS_F, use, depth - 1, false));
    }
}

static Piece int_make(Kern *k, unsigned use, int depth) {
    static const char *const op[] = {"+", "-", "*", "&", "|", "^"};
    int r = whole_range(k);
    if (r >= 0 && RARELY(k->g, 5)) return expr_reduce(k, CLASS_I, use, depth, true, r);
    if (r >= 0 && (use >> r & 1) && RARELY(k->g, 10)) return expr_prefix(k, CLASS_I, use, depth, true, r);
    int form = DRAW(k->g, 12);
    if (form < 6) return binary(k, CLASS_I, op[form], use, depth, true, true);
    Piece a = form < 10 ? expr_make(k, CLASS_I, use, depth - 1, true) : (Piece){0};
    switch (form) {
    case 6: a.text = SAYK(k, "(%s %s %d)", a.text, DRAW(k->g, 2) ? "%" : "/", 2 + DRAW(k->g, 6)); return a;
    case 7: a.text = SAYK(k, "(%s %s %d)", a.text, DRAW(k->g, 2) ? "<<" : ">>", DRAW(k->g, 4)); return a;
    case 8: return call1(k, "abs", a, true);
    case 9: {
        Piece b = expr_make(k, CLASS_I, use, depth - 1, true);
        b.text = SAYK(k, "((%s & 7) + 1)", b.text);
        return join(k, a, DRAW(k->g, 2) ? "%" : "/", b, true);
    }
    case 10: {
        Piece f = expr_make(k, CLASS_F, use, depth - 1, true);
        f.text = SAYK(k, "i32(min(max(f32(%s), -100.0), 100.0))", f.text);
        return f;
    }
    default: return expr_where(k, CLASS_I, use, depth, true);
    }
}

static Piece bool_make(Kern *k, unsigned use, int depth) {
    static const char *const op[] = {"<", "<=", ">", ">=", "==", "!="};
    int r = whole_range(k);
    if (r >= 0 && RARELY(k->g, 6)) return expr_reduce(k, CLASS_B, use, depth, true, r);
    int form = DRAW(k->g, 7);
    r = any_range(k, use);
    if (form == 6)
        return r < 0 || k->subscript || !k->range[r].tile ? leaf_make(k, CLASS_B, use, true) : bool_certain(k, r);
    if (form == 0) return binary(k, CLASS_B, DRAW(k->g, 2) ? "&&" : "||", use, depth, true, true);
    if (form == 1) return call1(k, "!", expr_make(k, CLASS_B, use, depth - 1, true), true);
    ValueClass of = form < 4 ? CLASS_I : CLASS_F;
    Piece a = expr_make(k, of, use, depth - 1, true), b = expr_make(k, of, use, depth - 1, true);
    r = any_range(k, use);
    if (r >= 0 && !(a.ranges | b.ranges))
        a = join(k, expr_cast(k, class_type[of], expr_position(k, r)), "-", a, true); /* not known in advance */
    return join(k, a, op[DRAW(k->g, 6)], b, true);
}

/* use: ranges that may appear, of tiles and positions. exact: the value decides something. */
static Piece expr_make(Kern *k, ValueClass c, unsigned use, int depth, bool exact) {
    int span = tape_open(k->g->tape);
    bool leaf = depth <= 0 || DRAW(k->g, 4) == 0;
    Piece e;
    if (leaf)
        e = leaf_make(k, c, use, exact);
    else if (c == CLASS_F)
        e = float_make(k, use, depth, exact);
    else
        e = c == CLASS_I ? int_make(k, use, depth) : bool_make(k, use, depth);
    if (exact) e.exact = true;
    tape_close(k->g->tape, span);
    return e;
}

#endif
