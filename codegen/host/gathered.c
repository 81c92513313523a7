/* gathered.c: sums of products of a vector in memory and gathered elements, as a row of a sparse matrix times a vector:
   dot %a[..], %x[%index[..]] over p. One call reads all three where they are (runtime/device/tile_gathered.h). */
#include "codegen/host/host.h"
#include "codegen/text/size.h"

typedef struct {
    const Op *a, *index, *x; /* loads */
    int16_t k;
} Gathered;

/* Of a tensor with one dimension, of the program's own rank. */
static const Op *line_load(Fn *f, const Value *v, Elem e) {
    const Op *load = v->def;
    if (!load || load->kind != OP_LOAD || fn_held(f, v)->hold != HOLD_INLINE) return NULL;
    const Param *p = &f->k->param.p[load->param];
    return p->elem == e && p->ndim == 1 && p->ranks < 0 && !p->packet ? load : NULL;
}

/* Neighbours along k. */
static bool runs_along(const Op *load, int16_t k) {
    const Affine *a = &load->sub.p[0].lo;
    bool found = false;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        const bool own = t->kind == TERM_POS && t->id == k;
        if (own && (t->mul != 1 || t->div != 1)) return false;
        if (t->kind == TERM_VALUE && t->value->type.nrange) return false;
        found |= own;
    }
    return found;
}

static bool is_gather(Fn *f, const Op *load, const Op **index) {
    const Affine *a = &load->sub.p[0].lo;
    const Term *t = &a->term[0];
    if (a->nterm != 1 || a->c || t->kind != TERM_VALUE || t->mul != 1 || t->div != 1) return false;
    *index = line_load(f, t->value, ELEM_I32);
    return *index && size_most(f->m, f->k->param.p[load->param].dim[0]) <= INT32_MAX;
}

/* The same elements of tensors of one length. */
static bool runs_beside(Fn *f, const Op *a, const Op *b) {
    const Param *p = f->k->param.p;
    return size_equal(p[a->param].dim[0], p[b->param].dim[0]) && affine_equal(&a->sub.p[0].lo, &b->sub.p[0].lo);
}

static bool gathered_of(Fn *f, const Op *dot, Gathered *g) {
    if (dot->kind != OP_DOT || dot->nover != 1 || dot->res.p[0]->type.nrange || dot->res.p[0]->type.elem != ELEM_F32)
        return false;
    g->k = dot->over[0];
    for (int i = 0; i < 2; i++) {
        g->a = line_load(f, dot->arg.p[i], ELEM_F32);
        g->x = line_load(f, dot->arg.p[1 - i], ELEM_F32);
        if (g->a && g->x && runs_along(g->a, g->k) && is_gather(f, g->x, &g->index) && runs_beside(f, g->a, g->index))
            return true;
    }
    return false;
}

static const char *extent_text(Fn *f, const Op *load) { return size_text(f, f->k->param.p[load->param].dim[0])->text; }

/* The call's text, for the positions from the first on. */
static const char *call_text(Nest *n, const Gathered *g, const char *count) {
    Fn *f = n->f;
    const CExpr *pos = f->range[g->k].pos;
    f->range[g->k].pos = cexpr_number(f, 0);
    const char *at = cexpr_bare(nest_affine(n, &g->a->sub.p[0].lo))->text;
    f->range[g->k].pos = pos;
    return fn_text(f, "tile_dot_gathered(%s, %s, %s, %s, %s, %s, %s)", count, at, extent_text(f, g->a),
                   f->param[g->a->param], f->param[g->index->param], f->param[g->x->param], extent_text(f, g->x));
}

bool emit_gathered(Fn *f, const Op *op) {
    Gathered g;
    if (!gathered_of(f, op, &g)) return false;
    Nest n = nest_new(f, NULL, 0);
    Held *h = fn_held(f, op->res.p[0]);
    h->name = c_name(&f->names, fn_value_name(f, op->res.p[0]));
    const char *from = op->arg.n == 3 ? fn_text(f, "%s + ", cexpr_operand(f, nest_value(&n, op->arg.p[2]))->text) : "";
    nest_line(&n, 0, "const float %s = %s%s;", h->name, from, call_text(&n, &g, cexpr_bare(f->range[g.k].count)->text));
    nest_print(&n);
    return true;
}

/* ---- a loop that is nothing but such a sum: one call for all of its steps ---- */

static bool is_inline(Fn *f, const Op *op) {
    if (!op_is_expression(op) && op->kind != OP_LOAD && op_info[op->kind].class != CLASS_INDEX) return false;
    const Hold hold = fn_held(f, op->res.p[0])->hold;
    return hold == HOLD_INLINE || hold == HOLD_UNUSED;
}

static bool loop_match(Fn *f, const Op *loop, Gathered *g) {
    const Region *r = loop->region[0];
    const Op *yield = r->last;
    if (f->k->range.p[loop->range].kind != RANGE_TILE || loop->region[1] || r->arg.n != 1 || yield->arg.n != 1)
        return false;
    const Op *dot = yield->arg.p[0]->def;
    if (!dot || dot->in != r || dot->arg.n != 3 || dot->arg.p[2] != r->arg.p[0] || dot->over[0] != loop->range)
        return false;
    for (const Op *op = r->first; op != yield; op = op->next)
        if (op != dot && !is_inline(f, op)) return false;
    return gathered_of(f, dot, g);
}

bool emit_gathered_loop(Fn *f, const Op *loop) {
    Gathered g;
    const CExpr *lo, *hi;
    if (!loop_match(f, loop, &g)) return false;
    emit_for_head(f, loop, &lo, &hi);
    const RangeText was = f->range[g.k];
    Nest n = nest_new(f, NULL, 0);
    f->range[g.k].begin = lo;
    const char *count = cexpr_is(lo, 0) ? cexpr_bare(hi)->text
                                        : fn_text(f, "%s - %s", cexpr_bare(hi)->text, cexpr_operand(f, lo)->text);
    nest_line(&n, 0, "%s += %s;", fn_held(f, loop->region[0]->arg.p[0])->name, call_text(&n, &g, count));
    nest_print(&n);
    f->range[g.k] = was;
    return true;
}
