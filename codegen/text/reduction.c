/* reduction.c: what reductions and prefixes begin with, and how they take in a value. */
#include "codegen/text/size.h"
#include "codegen/text/step.h"

/* The operation that makes one of the running value and the next. */
static const OpInfo *join_of(OpKind kind) { return &op_info[op_info[kind].joins]; }

/* Sums of integers wrap, which C's operator does not. */
static bool is_operator(OpKind kind, Elem e) { return join_of(kind)->c_operator && !elem_is_int(e); }

const CExpr *reduce_start(Fn *f, OpKind kind, Elem e) {
    bool is_float = elem_is_float(e);
    switch (join_of(kind)->neutral) {
    case NEUTRAL_LEAST:
        return is_float ? cexpr_open(f, "-INFINITY") : cexpr_name(f, fn_text(f, "TILE_MIN_%s", elem_text(e)));
    case NEUTRAL_MOST: return cexpr_name(f, is_float ? "INFINITY" : fn_text(f, "TILE_MAX_%s", elem_text(e)));
    case NEUTRAL_ONE: return cexpr_number(f, 1);
    default: return cexpr_number(f, 0);
    }
}

const char *reduce_pair(Fn *f, OpKind kind, Elem e, const char *a, const CExpr *b) {
    const OpInfo *join = join_of(kind);
    if (!is_operator(kind, e))
        return fn_text(f, "tile_%s_%s(%s, %s)", join->text, elem_text(e), a, cexpr_bare(b)->text);
    return fn_text(f, "%s %s %s", a, join->c_operator, (e == ELEM_BOOL ? cexpr_operand(f, b) : cexpr_bare(b))->text);
}

const char *reduce_combine(Fn *f, OpKind kind, Elem e, const char *run, const CExpr *x) {
    if (!is_operator(kind, e)) return fn_text(f, "%s = %s;", run, reduce_pair(f, kind, e, run, x));
    return fn_text(f, "%s %s= %s;", run, join_of(kind)->c_operator, cexpr_bare(x)->text);
}
