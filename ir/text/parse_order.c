/* parse_order.c: reads an order of tasks (ir/order.h), of a plan or of roles. */
#include "ir/text/parse.h"

int parse_count(Parser *p, const char *what) {
    Loc loc = p->tok.loc;
    int64_t n = need_int(p, what);
    if (n < 1 || n > INT32_MAX) parse_fail(p, loc, "expected %s, from 1 to %d", what, INT32_MAX);
    return p->failed ? 0 : (int)n;
}

static DigitWay parse_way(Parser *p) {
    for (int w = DIGIT_DOWN; w < DIGIT_WAYS; w++)
        if (take_word(p, digit_way_text[w])) return (DigitWay)w;
    return DIGIT_UP;
}

/* digits := '(' range ['/' INT] ['down' | 'turn' | 'pair'] (',' ..)* ')' */
static void parse_digits(Parser *p, Order *o) {
    need_punct(p, '(');
    do {
        if (o->n == MAX_DIGITS) parse_fail(p, p->tok.loc, "more than %d digits", MAX_DIGITS);
        if (p->failed) return;
        OrderDigit *d = &o->digit[o->n++];
        d->range = (int16_t)need_known(p, &p->ranges, "range");
        if (take_punct(p, '/')) d->band = parse_count(p, "tiles of a band");
        d->way = parse_way(p);
    } while (take_punct(p, ','));
    need_punct(p, ')');
}

/* order := ['own' ('first' | 'late' | 'behind' | 'rank')] ['edges'] [['chiplets' INT] ['block' INT] digits] */
const Order *parse_order(Parser *p) {
    Order *o = ARENA_ARRAY(p->m->arena, Order, 1);
    if (take_word(p, "own"))
        o->own = 1 + (OwnOrder)need_choice(p, own_order_text + 1, OWN_ORDERS - 1, "'first', 'late', 'behind' or 'rank'");
    o->edges = take_word(p, "edges");
    if ((o->own || o->edges) && !at_punct(p, '(')) return o;
    if (take_word(p, "chiplets")) o->chiplets = parse_count(p, "a number of chiplets");
    if (take_word(p, "block")) o->block = parse_count(p, "a number of tasks");
    parse_digits(p, o);
    return o;
}
