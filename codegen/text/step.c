/* step.c: steps that make and copy tiles element by element; packets, whose loads wait for each element. */
#include "codegen/text/size.h"
#include "codegen/text/step.h"

static bool is_packet(const Fn *f, const Op *op) {
    return (op->kind == OP_LOAD || op->kind == OP_STORE) && f->k->param.p[op->param].packet;
}

/* Floats that C may have as a type keep their bits. */
const CExpr *packet_value(Fn *f, Elem e, const char *bits) {
    bool is_float = e == ELEM_F32 || e == ELEM_F16;
    return is_float ? cexpr_call(f, "tile_%s_of_bits(%s)", elem_text(e), bits)
                    : cexpr_open(f, "(%s)%s", elem_c(e), bits);
}

/* A load of packets waits for each of them; there are none outside of the tensor. */
static void packet_load(Nest *n, const Op *op, const char *to) {
    const char *inside;
    const CExpr *place = nest_place(n, op, &inside);
    const char *bits = c_name(&n->f->names, "bits");
    n->pragma = NULL;
    nest_line(n, n->n, inside ? "uint32_t %s = 0;" : "uint32_t %s;", bits);
    n->f->back->sync->packet_get(n, op, inside, place->text, bits);
    nest_line(n, n->n, "%s = %s;", to, packet_value(n->f, op->res.p[0]->type.elem, bits)->text);
}

static void packet_step(Nest *n, const Op *op, const char *to) {
    n->f->back->sync->begin(n->f, op);
    packet_load(n, op, to);
    nest_print(n);
    n->f->back->sync->end(n->f, op);
}

static void compute_scalar(Fn *f, const Value *v) {
    Held *h = fn_held(f, v);
    Nest n = nest_new(f, NULL, 0);
    h->name = c_name(&f->names, fn_value_name(f, v));
    if (is_packet(f, v->def)) {
        fn_line(f, "%s %s;", elem_c(v->type.elem), h->name);
        packet_step(&n, v->def, h->name);
        return;
    }
    const CExpr *text = nest_definition(&n, v);
    nest_line(&n, 0, "const %s %s = %s;", elem_c(v->type.elem), h->name, cexpr_bare(text)->text);
    nest_print(&n);
}

void emit_compute(Fn *f, const Value *v) {
    if (!v->type.nrange) {
        compute_scalar(f, v);
        return;
    }
    const Tile *to = held_tile(f, v);
    Nest n = f->back->nest(f, to);
    if (is_packet(f, v->def)) {
        packet_step(&n, v->def, nest_tile(&n, to)->text);
        return;
    }
    const CExpr *text = nest_definition(&n, v);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, cexpr_bare(text)->text);
    nest_print(&n);
}

void emit_copy(Fn *f, const Tile *to, const Value *v) {
    Held *h = fn_held(f, v);
    if (h->hold == HOLD_TILE && h->tile.name == to->name) return;
    Nest n = f->back->nest(f, to);
    const CExpr *value = h->hold == HOLD_INLINE ? nest_definition(&n, v) : nest_value(&n, v);
    const CExpr *text = nest_convert(&n, to->elem, v->type.elem, value);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, cexpr_bare(text)->text);
    nest_print(&n);
}

const char *packet_bits(Fn *f, Elem e, const CExpr *x) {
    bool is_float = e == ELEM_F32 || e == ELEM_F16;
    return is_float ? fn_text(f, "tile_bits_of_%s(%s)", elem_text(e), cexpr_bare(x)->text)
                    : fn_text(f, "(uint32_t)%s", cexpr_operand(f, x)->text);
}

/* What is at the place, plus x, in the type of the arithmetic; integers wrap. */
const CExpr *sum_value(Nest *n, const Op *op, const CExpr *old) {
    Fn *f = n->f;
    Elem elem = f->k->param.p[op->param].elem, wide = elem_arith(elem);
    const CExpr *x = cexpr_bare(nest_convert(n, wide, op->arg.p[0]->type.elem, nest_value(n, op->arg.p[0])));
    if (elem == ELEM_I32 || elem == ELEM_I64)
        return cexpr_call(f, "tile_add_%s(%s, %s)", elem_text(elem), old->text, x->text);
    const CExpr *sum =
        cexpr_group(f, cexpr_open(f, "%s + %s", nest_convert(n, wide, elem, old)->text, cexpr_operand(f, x)->text));
    return elem_is_float(elem) ? nest_convert(n, elem, wide, sum) : cexpr_open(f, "(%s)%s", elem_c(elem), sum->text);
}
