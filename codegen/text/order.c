/* order.c: the order of a grid's tasks as C (ir/order.h): constants from a task's number to its tile along each range. */
#include "codegen/text/program.h"

#include <inttypes.h>

typedef struct {
    Fn *f;
    const OrderTiles *tiles;
    const CExpr *left[MAX_RANGES]; /* tiles that the digits so far leave open */
    const char *first[MAX_RANGES]; /* of the band; NULL: there is none */
    const char *task;              /* its number, or what is left of it */
    int band_of;                   /* 1 + a range with a band of numbers of tiles: .whole, or .rest where not .is_whole; 0 */
    int64_t whole, rest;
    const char *is_whole;
    bool counted;                  /* digits have been taken from the front of .task */
    const char *before;            /* the last digit */
    bool turns;                    /* a digit looks at the one before it */
} OrderWriter;

static void constant_named(OrderWriter *w, const char *name, const char *value) {
    fn_constant_of(w->f, w->tiles->type ? w->tiles->type : "int64_t", name, value);
}

static const char *constant(OrderWriter *w, const char *name, const char *value) {
    name = c_name(&w->f->names, name);
    constant_named(w, name, value);
    return name;
}

/* The number of tasks along all ranges but one; -1: along all. */
static const CExpr *tasks_beside(const OrderWriter *w, int range) {
    const CExpr *n = cexpr_number(w->f, 1);
    for (int r = 0; r < w->tiles->n; r++)
        if (r != range) n = cexpr_mul(w->f, n, cexpr_operand(w->f, w->left[r]));
    return n;
}

/* The same with the band's tiles as numbers; false: others are none. */
static bool numbers_beside(OrderWriter *w, int range, int64_t more, int64_t *whole, int64_t *rest) {
    *whole = *rest = more;
    for (int r = 0; r < w->tiles->n; r++) {
        int64_t n = 1;
        if (r == range) continue;
        if (r != w->band_of - 1 && !cexpr_const(w->left[r], &n)) return false;
        *whole *= r == w->band_of - 1 ? w->whole : n;
        *rest *= r == w->band_of - 1 ? w->rest : n;
    }
    return *whole != *rest;
}

static const CExpr *operated(OrderWriter *w, char op, const CExpr *by) {
    if (cexpr_is(by, 1)) return op == '/' ? cexpr_name(w->f, w->task) : cexpr_number(w->f, 0);
    return cexpr_open(w->f, "%s %c %s", w->task, op, cexpr_operand(w->f, by)->text);
}

/* The task's number divided by, or modulo, `more` times the tasks beside the range. Division by one of two numbers is
   faster than by any. */
static const CExpr *task_by(OrderWriter *w, char op, int range, int64_t more) {
    Fn *f = w->f;
    int64_t whole, rest;
    if (!w->band_of || !numbers_beside(w, range, more, &whole, &rest))
        return operated(w, op, cexpr_mul(f, tasks_beside(w, range), cexpr_number(f, more)));
    const CExpr *either = operated(w, op, cexpr_number(f, whole)), *other = operated(w, op, cexpr_number(f, rest));
    return cexpr_group(f, cexpr_open(f, "%s ? %s : %s", w->is_whole, either->text, other->text));
}

/* What the digits so far have not taken. */
static void task_behind(OrderWriter *w, int range, int64_t more) {
    const CExpr *left = cexpr_bare(task_by(w, '%', range, more));
    w->task = cexpr_is(left, 0) ? "0" : constant(w, "task", left->text);
    w->counted = false;
}

/* Tiles of the band: a number where bands are alike, or one of two, or what a run knows. */
static const CExpr *band_height(OrderWriter *w, const OrderDigit *d, const char *band) {
    Fn *f = w->f;
    const char *name = w->tiles->name[d->range];
    const CExpr *left = w->left[d->range];
    int64_t n;
    if (cexpr_is_multiple(left, d->band)) return cexpr_number(f, d->band);
    const bool single = cexpr_const(left, &n) && n < d->band;
    if (single && !w->tiles->counted_late) return left;
    if (cexpr_const(left, &n) && !w->band_of && !single) {
        w->band_of = 1 + d->range, w->whole = d->band, w->rest = n % d->band;
        w->is_whole = c_name(&f->names, fn_text(f, "%s_whole", name));
        fn_constant_of(f, "bool", w->is_whole, fn_text(f, "%s < %" PRId64, band, n / d->band));
        return cexpr_name(f, constant(w, fn_text(f, "%s_height", name),
                                      fn_text(f, "%s ? %d : %" PRId64, w->is_whole, d->band, w->rest)));
    }
    const char *rest = fn_text(f, "%s - %s * %d", cexpr_operand(f, left)->text, band, d->band);
    return cexpr_name(f, constant(w, fn_text(f, "%s_height", name),
                                  w->tiles->alone ? fn_text(f, "%s < %d ? %s : %d", rest, d->band, rest, d->band)
                                                  : fn_text(f, "tile_least(%d, %s)", d->band, rest)));
}

static void band_write(OrderWriter *w, const OrderDigit *d) {
    Fn *f = w->f;
    const char *name = w->tiles->name[d->range], *first = w->first[d->range];
    if (w->counted) task_behind(w, -1, 1);
    const char *band = constant(w, fn_text(f, "%s_band", name), cexpr_bare(task_by(w, '/', d->range, d->band))->text);
    const char *begin = fn_text(f, "%s * %d", band, d->band);
    w->first[d->range] = constant(w, fn_text(f, "%s_first", name), first ? fn_text(f, "%s + %s", first, begin) : begin);
    task_behind(w, d->range, d->band);
    if (w->band_of == 1 + d->range) w->band_of = 0;
    w->left[d->range] = band_height(w, d, band);
    w->before = band;
}

static const char *turned_text(OrderWriter *w, DigitWay way, const char *x, const char *tiles) {
    Fn *f = w->f;
    if (way == DIGIT_DOWN) return fn_text(f, "%s - 1 - %s", tiles, x);
    if (way == DIGIT_PAIR) return fn_text(f, "%s %% 2 ? %s - 1 - %s / 2 : %s / 2", x, tiles, x, x);
    if (way == DIGIT_TURN && w->before) return fn_text(f, "%s %% 2 ? %s - 1 - %s : %s", w->before, tiles, x, x);
    return x;
}

static void count_write(OrderWriter *w, const OrderDigit *d) {
    Fn *f = w->f;
    const CExpr *own = w->left[d->range], *x = task_by(w, '/', d->range, 1);
    const char *tiles = cexpr_operand(f, own)->text, *name = w->tiles->name[d->range], *first = w->first[d->range];
    if (cexpr_is(own, 1)) x = cexpr_number(f, 0);
    else if (w->counted && w->band_of == 1 + d->range) task_behind(w, -1, 1), x = task_by(w, '/', d->range, 1);
    else if (w->counted) x = cexpr_open(f, "%s %% %s", x->text, tiles);
    w->left[d->range] = cexpr_number(f, 1);
    if (w->band_of == 1 + d->range) w->band_of = 0;
    const bool plain = d->way == DIGIT_UP && !first, needed = !plain || w->turns;
    const char *digit = needed ? constant(w, fn_text(f, "%s_digit", name), cexpr_bare(x)->text) : x->text;
    const char *value = turned_text(w, d->way, digit, tiles);
    const bool open = d->way == DIGIT_PAIR || (d->way == DIGIT_TURN && w->before);
    if (first) value = fn_text(f, open ? "%s + (%s)" : "%s + %s", first, value);
    constant_named(w, name, value);
    if (!cexpr_is(own, 1)) w->counted = true;
    w->before = digit;
}

void order_write(Fn *f, const Order *o, const OrderTiles *tiles, const char *task) {
    OrderWriter w = {.f = f, .tiles = tiles, .task = task};
    for (int r = 0; r < tiles->n; r++) w.left[r] = tiles->tiles[r];
    for (int i = 0; i < o->n; i++) w.turns = w.turns || o->digit[i].way == DIGIT_TURN;
    for (int i = 0; i < o->n; i++) {
        const OrderDigit *d = &o->digit[i];
        if (d->band)
            band_write(&w, d);
        else if (tiles->name[d->range])
            count_write(&w, d);
    }
}

const char *order_deal_text(Fn *f, const Order *o, const char *group, const CExpr *tasks) {
    if (!o || o->chiplets < 2) return group;
    const int64_t block = (o->block + o->chiplets - 1) / o->chiplets * o->chiplets;
    if (!block) return fn_text(f, "tile_deal_all(%s, %s, %d)", group, tasks->text, o->chiplets);
    if (cexpr_is_multiple(tasks, block))
        return fn_text(f, "tile_deal_even(%s, %d, %" PRId64 ")", group, o->chiplets, block);
    return fn_text(f, "tile_deal(%s, %s, %d, %" PRId64 ")", group, tasks->text, o->chiplets, block);
}
