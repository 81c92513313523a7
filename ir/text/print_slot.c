/* print_slot.c: rings, slots and turns, as operations name them. */
#include "ir/roles.h"
#include "ir/text/print.h"

static const Ring *ring_at(const Printer *p, int ring) {
    const Roles *r = p->k->roles;
    return r && ring >= 0 && ring < r->ring.n ? &r->ring.p[ring] : NULL;
}

void print_ring_name(Printer *p, int ring) {
    text_add(&p->out, " $");
    print_name(p, ring_at(p, ring) ? ring_at(p, ring)->name : NULL);
}

void print_slot(Printer *p, const Op *op) {
    const Op *put = op->in->parent;
    const Ring *r = put && put->kind == OP_PUT ? ring_at(p, put->ring) : NULL;
    text_add(&p->out, " -> %");
    print_name(p, r && op->slot >= 0 && op->slot < r->tile.n ? r->tile.p[op->slot].name : NULL);
}

void print_part(Printer *p, const Op *op) {
    text_add(&p->out, "[");
    print_range_name(p, op->range);
    text_add(&p->out, "]");
}

static void print_piece(Printer *p, int piece) { text_printf(&p->out, "%c", 'A' + piece); }

/* [A E@1] B F@1 ends 3: the pieces in brackets, and the last 3 iterations, are run by one group after the other.
   A B@1 runs 4: turns begin anew after 4 iterations. */
void print_turns(Printer *p, const Op *op) {
    text_add(&p->out, " turns");
    for (int i = 0; i < op->turn.n; i++) {
        const Turn *t = &op->turn.p[i];
        bool opens = t->alone && (i == 0 || !t[-1].alone), closes = t->alone && (i + 1 == op->turn.n || !t[1].alone);
        text_add(&p->out, opens ? " [" : " ");
        print_piece(p, t->piece);
        if (t->shift) text_printf(&p->out, "@%d", t->shift);
        if (closes) text_add(&p->out, "]");
    }
    if (op->ends) text_printf(&p->out, " ends %d", op->ends);
    if (op->runs) text_printf(&p->out, " runs %d", op->runs);
}

/* The piece that begins with the operation, on a line of its own. */
void print_label(Printer *p, const Op *op) {
    const Op *loop = op->in->parent;
    if (!loop || loop->turn.n == 0 || (op->prev && op->prev->piece == op->piece)) return;
    p->depth--;
    print_line(p);
    p->depth++;
    print_piece(p, op->piece);
    text_add(&p->out, ":");
}
