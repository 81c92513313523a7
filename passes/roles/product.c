/* product.c: products as instructions compute them.
   Takes: contractions of a kernel in value form. Gives: their operands, and which sums they add up. */
#include "passes/roles/slice.h"

/* Elements of 8 bits, of two types, are products of what both are widened to: instructions take them as they are. */
const Value *product_operand(const Op *dot, int i) {
    const Value *v = dot->arg.p[i], *from = v->def && v->def->kind == OP_CAST ? v->def->arg.p[0] : v;
    bool is_load = from->def && from->def->kind == OP_LOAD && elem_bits(from->type.elem) == 8;
    return is_load && v->type.elem == elem_accum(from->type.elem) ? from : v;
}

bool is_widened(const Slice *s, const Op *op) {
    if (op->kind != OP_CAST || !s->stream_of[op->arg.p[0]->id]) return false;
    if (!s->makes) return true;
    int products = 0;
    for (int i = 0; i < 2 * s->dot.n; i++)
        products +=
            s->dot.p[i / 2]->arg.p[i % 2] == op->res.p[0] && product_operand(s->dot.p[i / 2], i % 2) == op->arg.p[0];
    return products > 0 && products == s->uses[op->res.p[0]->id];
}

/* wgmma keeps 14 bits of sums of 8-bit floats (DeepSeek-V3 technical report, 3.3.2): a step's are added to others in
   f32. */
bool dot_promotes(const Op *dot) {
    Elem x = product_operand(dot, 0)->type.elem;
    return dot->arg.n > 2 && elem_is_float(x) && elem_bits(x) == 8;
}

bool operand_is_made(const Op *dot, int i) {
    const Value *v = product_operand(dot, i);
    return !v->def || v->def->kind != OP_LOAD;
}

int dot_column(const Slice *s, const Op *dot) {
    const Type t = dot->res.p[0]->type;
    return t.range[t.range[0] == s->row];
}

int64_t slice_extent(const Slice *s, int range) {
    const Range *r = &s->k->range.p[range];
    return r->kind == RANGE_TILE ? r->size : r->of.c;
}

int64_t slice_share(const Slice *s, int range) {
    const int64_t n = slice_extent(s, range);
    return range == s->wide ? n / WIDE_GROUPS : n;
}

/* Groups of one kind have as many registers. */
int plan_row_groups(const Plan *p) {
    int n = 1;
    while (n + 1 < p->regs.n && p->regs.p[n + 1] == p->regs.p[1]) n++;
    return p->regs.n > 1 ? n : 0;
}

bool wide_carries(const Cut *c, const Value *v) {
    return !c->half || type_has(v->type, c->s->wide) == (c->half == HALF_WIDE);
}

bool is_column(const Slice *s, int range) {
    for (int i = 0; i < s->dot.n; i++)
        if (dot_column(s, s->dot.p[i]) == range) return true;
    return false;
}

bool is_key(const Slice *s, int range) { return !s->k->range.p[range].grid && is_column(s, range); }

/* The range of tiles whose positions the subscript follows, one by one; -1: none, -2: it follows otherwise. */
int subscript_range(const Slice *s, const Affine *a) {
    int found = -1;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (term_type(s->k, t).nrange == 0) continue;
        if (found != -1 || t->kind != TERM_POS || t->mul != 1 || t->div != 1) return -2;
        found = t->id;
    }
    return found;
}
