/* order_number.c: the number of a task as C, from its tile along each range: the way back from order.c. */
#include "codegen/text/program.h"

typedef struct {
    Fn *f;
    const OrderTiles *tiles;
    const CExpr *left[MAX_RANGES], *first[MAX_RANGES]; /* tiles that the digits so far leave open; the first of them */
    const CExpr *before, *sum;                         /* the last digit; the number so far */
} NumberWriter;

static const CExpr *constant(NumberWriter *w, const char *name, int range, const CExpr *value) {
    Fn *f = w->f;
    if (cexpr_is_named(value)) return value;
    name = c_name(&f->names, fn_text(f, "%s_%s", w->tiles->name[range], name));
    fn_constant_of(f, w->tiles->type ? w->tiles->type : "int64_t", name, cexpr_bare(value)->text);
    return cexpr_name(f, name);
}

static const CExpr *minus(Fn *f, const CExpr *a, const CExpr *b) {
    return cexpr_is(b, 0) ? a : cexpr_open(f, "%s - %s", cexpr_operand(f, a)->text, cexpr_operand(f, b)->text);
}

/* A digit is worth the tasks along the other ranges, times the tiles of a band. */
static void digit_add(NumberWriter *w, const OrderDigit *d, const CExpr *x) {
    Fn *f = w->f;
    const CExpr *each = cexpr_number(f, d->band ? d->band : 1);
    for (int r = 0; r < w->tiles->n; r++)
        if (r != d->range) each = cexpr_mul(f, each, cexpr_operand(f, w->left[r]));
    w->sum = cexpr_add(f, w->sum, cexpr_mul(f, x, each));
    w->before = x;
}

static void band_add(NumberWriter *w, const OrderDigit *d) {
    Fn *f = w->f;
    const int r = d->range;
    const CExpr *own = cexpr_name(f, w->tiles->name[r]), *in = minus(f, own, w->first[r]);
    const CExpr *band = constant(w, "band", r, cexpr_open(f, "%s / %d", cexpr_operand(f, in)->text, d->band));
    const CExpr *begin = cexpr_mul(f, band, cexpr_number(f, d->band));
    digit_add(w, d, band);
    w->first[r] = constant(w, "first", r, cexpr_add(f, w->first[r], begin));
    if (cexpr_is_multiple(w->left[r], d->band)) w->left[r] = cexpr_number(f, d->band);
    else w->left[r] = constant(w, "height", r, cexpr_least(f, cexpr_number(f, d->band), minus(f, w->left[r], begin)));
}

/* The digit that comes to be tile v of n. */
static const CExpr *turned(NumberWriter *w, DigitWay way, const CExpr *v, const CExpr *n) {
    Fn *f = w->f;
    const char *at = cexpr_operand(f, v)->text, *tiles = cexpr_operand(f, n)->text;
    if (way == DIGIT_DOWN) return cexpr_open(f, "%s - 1 - %s", tiles, at);
    if (way == DIGIT_PAIR) return cexpr_open(f, "2 * %s < %s ? 2 * %s : 2 * (%s - %s) - 1", at, tiles, at, tiles, at);
    if (way == DIGIT_TURN && w->before)
        return cexpr_open(f, "%s %% 2 ? %s - 1 - %s : %s", cexpr_operand(f, w->before)->text, tiles, at, at);
    return v;
}

static void count_add(NumberWriter *w, const OrderDigit *d) {
    const int r = d->range;
    const CExpr *at = constant(w, "in", r, minus(w->f, cexpr_name(w->f, w->tiles->name[r]), w->first[r]));
    digit_add(w, d, constant(w, "digit", r, turned(w, d->way, at, w->left[r])));
    w->left[r] = cexpr_number(w->f, 1);
}

const CExpr *order_number(Fn *f, const Order *o, const OrderTiles *tiles) {
    NumberWriter w = {.f = f, .tiles = tiles, .sum = cexpr_number(f, 0)};
    for (int r = 0; r < tiles->n; r++) w.left[r] = tiles->tiles[r], w.first[r] = cexpr_number(f, 0);
    for (int i = 0; i < o->n; i++) {
        const OrderDigit *d = &o->digit[i];
        if (!tiles->name[d->range]) continue;
        if (d->band) band_add(&w, d);
        else count_add(&w, d);
    }
    return w.sum;
}
