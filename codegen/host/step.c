/* step.c: steps that make, copy and store tiles element by element. */
#include "codegen/text/print.h"
#include "codegen/text/size.h"
#include "codegen/host/host.h"

static const char simd[] = "#pragma omp simd";

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

void emit_print(Fn *f, const Op *op) {
    Nest n = nest_new(f, op->arg.p[0]->type.range, op->arg.p[0]->type.nrange);
    print_lines(&n, op, NULL);
    nest_print(&n);
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
