/* print_order.c: an order of tasks as text. */
#include "ir/text/print.h"

static void range_add(Text *to, const void *state, int range) {
    Printer p = *(const Printer *)state;
    p.out = *to;
    print_range_name(&p, range);
    *to = p.out;
}

void print_order(Printer *p, const Order *o) {
    Text text = {0};
    order_text(&text, o, range_add, p);
    text_add(&p->out, text_str(&text));
    text_free(&text);
}
