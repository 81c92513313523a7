/* made_fit.c: which operands that are made on the way (made.c) groups can make.
   Takes: an operand that is computed. Gives: whether it is one; or why not. */
#include "passes/roles/slice.h"

enum { ROW_BYTES = 128 /* of a row of a swizzled box, at most */ };

static const char *name_of_param(const Slice *s, const Op *load) { return s->k->param.p[load->param].name; }

/* Positions behind the loop's end, of which only zeros come, add nothing. */
static bool ends_fit(Slice *s, const Op *dot, int i) {
    const Op *loop = kernel_loop(s->k, dot->over[0]);
    const int n = slice_depth(s);
    if (operand_is_widened(dot, i)) return true;
    if (loop && value_is_multiple(loop->arg.p[0], n) && value_is_multiple(loop->arg.p[1], n)) return true;
    return slice_refuse(s, dot, "a loop over whole steps, of 64 positions or more",
                        "the loop ends within a step, whose other positions are made of zeros");
}

static bool loads_fit(Slice *s, const Op *dot, const Loads *l) {
    for (int n = 0; n < l->n; n++) {
        Panel panel;
        const Reason why = box_why(s, l->load[n], s->row, dot->over[0], &panel);
        if (why.words) return slice_refuse(s, l->load[n], why.fix, "%s", why.words);
        if (slice_depth(s) * elem_bits(l->load[n]->res.p[0]->type.elem) > 8 * ROW_BYTES)
            return slice_refuse(s, l->load[n], "elements of one size, or the wider ones by a kernel of their own",
                                "elements of '%s' are wider than others that the operand is made of",
                                name_of_param(s, l->load[n]));
    }
    return l->n > 0 || slice_refuse(s, dot, "store it the other way round, [.., n, k]",
                                    "no tile that an operand is made of lies along what is summed");
}

/* The other side, of exchanged operands, is asked for apart. */
bool made_fits(Slice *s, const Op *dot, int i) {
    const Value *v = product_operand(dot, i);
    if (!operand_is_computed(dot, i) || operand_is_made(dot, !i))
        return slice_refuse(s, v->def ? v->def : dot, "store what is multiplied first, by a kernel of its own",
                            "an operand of the product is computed");
    if (!type_has(v->type, s->row)) return false;
    if (slice_has_peers(s))
        return slice_refuse(s, dot, "compute the operand by a kernel of its own",
                            "an operand of the product is computed, and other ranks have some of its tensors");
    const Loads l = operand_loads(s, dot, i);
    return ends_fit(s, dot, i) && loads_fit(s, dot, &l);
}

/* Boxes bring tiles of several panels; other copies, rows of one. */
bool made_beside_fits(Slice *s) {
    enum { PANEL = 64 /* positions of 16 bits */ };
    for (int i = 0; i < s->stream.n && s->makes && slice_depth(s) != PANEL; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++)
            if (s->stream.p[i].fill != FILL_BOX || s->stream.p[i].pixels.p[n])
                return slice_refuse(s, s->stream.p[i].load.p[n], "compute the operand by a kernel of its own",
                                    "'%s' does not come by boxes, and the other operand is computed",
                                    name_of_param(s, s->stream.p[i].load.p[n]));
    return true;
}
