/* match.c: reading the dataflow of values. */
#include "ir/match.h"

const Op *match_op(const Value *v, OpKind kind) { return v->def && v->def->kind == kind ? v->def : NULL; }

const Value *match_bare(const Value *v) {
    while (match_op(v, OP_BROADCAST)) v = v->def->arg.p[0];
    return v;
}

bool match_number(const Value *v, double *n) {
    const Op *c = match_op(match_bare(v), OP_CONST);
    if (c) *n = elem_is_float(c->res.p[0]->type.elem) ? c->fimm : (double)c->imm;
    return c != NULL;
}

const Value *match_other(const Value *v, OpKind kind, const Value *known) {
    const Op *op = match_op(v, kind);
    if (!op) return NULL;
    if (match_bare(op->arg.p[0]) == known) return op->arg.p[1];
    return match_bare(op->arg.p[1]) == known ? op->arg.p[0] : NULL;
}

static bool small_integer(const Value *v, int64_t *n) {
    const Op *c = match_op(match_bare(v), OP_CONST);
    *n = c ? c->imm : 0;
    return c && !elem_is_float(c->res.p[0]->type.elem) && *n <= MAX_EXTENT && *n >= -MAX_EXTENT;
}

void match_sum(const Value *v, const Value **base, int64_t *c) {
    for (*base = v, *c = 0;; v = *base) {
        const Op *add = match_op(v, OP_ADD), *op = add ? add : match_op(v, OP_SUB);
        int64_t n;
        if (!op || *c > MAX_EXTENT || *c < -MAX_EXTENT) return;
        if (small_integer(op->arg.p[1], &n))
            *base = op->arg.p[0], *c += add ? n : -n;
        else if (add && small_integer(op->arg.p[0], &n))
            *base = op->arg.p[1], *c += n;
        else
            return;
    }
}

bool match_is_pos(const Affine *a, int range) {
    Affine want = affine_term(TERM_POS, range, 1, 1);
    return affine_equal(a, &want);
}
