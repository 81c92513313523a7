/* step.c: steps that make, copy and store tiles element by element. */
#include "codegen/text/size.h"
#include "codegen/text/step.h"

static const char simd[] = "#pragma omp simd";

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

/* ---- stores ---- */

static bool mentions(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_POS && t->id == range) return true;
        if (t->kind == TERM_VALUE && type_has(t->value->type, range)) return true;
    }
    return false;
}

/* Ranges in the order of the subscripts that use them: neighbours in memory innermost. */
static int store_order(Fn *f, const Op *op, int16_t *order) {
    Type t = op->arg.p[0]->type;
    for (int d = 0; d < op->sub.n; d++) t = type_union(t, affine_type(f->k, &op->sub.p[d].lo));
    int n = 0;
    for (int d = -1; d < op->sub.n; d++)
        for (int i = 0; i < t.nrange; i++) {
            bool here = d >= 0 && mentions(&op->sub.p[d].lo, t.range[i]), later = false;
            for (int e = d + 1; e < op->sub.n; e++) later |= mentions(&op->sub.p[e].lo, t.range[i]);
            if (!later && (here || d < 0)) order[n++] = t.range[i];
        }
    return n;
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

static const char *store_text(Nest *n, const Op *op, const CExpr *place) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[op->param];
    Elem from = op->arg.p[0]->type.elem;
    const CExpr *x = nest_convert(n, p->elem, from, nest_value(n, op->arg.p[0]));
    if (elem_is_packed(p->elem))
        return fn_text(f, "tile_%s_put(%s, %s);", elem_text(p->elem), place->text, cexpr_bare(x)->text);
    if (op->mode == STORE_SUM) return fn_text(f, "%s = %s;", place->text, cexpr_bare(sum_value(n, op, place))->text);
    if (p->packet) return f->back->sync->packet_put(f, place->text, packet_bits(f, p->elem, x));
    if (op->mode != STORE_ADD) return fn_text(f, "%s = %s;", place->text, cexpr_bare(x)->text);
    if (p->elem != ELEM_F32 && p->elem != ELEM_I32 && p->elem != ELEM_I64 && p->elem != ELEM_F64)
        fn_unsupported(f, op->loc, fn_text(f, "an atomic sum in %s", elem_text(p->elem)));
    return fn_text(f, "tile_atomic_add_%s(&%s, %s);", elem_text(p->elem), place->text, cexpr_bare(x)->text);
}

void emit_store(Fn *f, const Op *op) {
    Nest n = nest_new(f, NULL, 0);
    n.n = store_order(f, op, n.range);
    const Param *p = &f->k->param.p[op->param];
    if (elem_is_packed(p->elem)) packed_store_check(f, op);
    else if (op->mode == STORE_SET && !p->packet && n.n) n.pragma = simd;
    const char *inside;
    const CExpr *place = nest_place(&n, op, &inside), *line = nontemporal_target(&n, op);
    const char *text = store_text(&n, op, line ? line : place);
    if (inside) {
        nest_line(&n, n.n, "if (%s)", inside);
        nest_line(&n, n.n, "    %s", text);
    } else
        nest_line(&n, n.n, "%s", text);
    nest_print(&n);
}
