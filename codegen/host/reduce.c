/* reduce.c: reductions, prefixes and contractions by loops over elements. The operand that is read fastest decides
   the order of the loops: a running scalar inside, or a running tile outside. */
#include "codegen/text/size.h"
#include "codegen/host/host.h"

/* For omp simd: its own operators, or a function of the runtime's that knows NaN. */
static const char *reduce_clause(Fn *f, OpKind kind, Elem e) {
    const OpInfo *join = &op_info[op_info[kind].joins]; /* makes one of the running value and the next */
    return join->c_operator ? join->c_operator : fn_text(f, "%s%s", elem_is_float(e) ? "tile_" : "", join->text);
}

static bool is_over(const Op *op, int range) {
    for (int i = 0; i < op->nover; i++)
        if (op->over[i] == range) return true;
    return false;
}

/* What is reduced: the operand, or the product of a dot's two. */
static const CExpr *term_value(Nest *n, const Op *op) {
    if (op->kind != OP_DOT) return nest_value(n, op->arg.p[0]);
    Elem e = op->res.p[0]->type.elem;
    const CExpr *x = nest_convert(n, e, op->arg.p[0]->type.elem, nest_value(n, op->arg.p[0]));
    const CExpr *y = nest_convert(n, e, op->arg.p[1]->type.elem, nest_value(n, op->arg.p[1]));
    if (elem_is_int(e))
        return cexpr_call(n->f, "tile_mul_%s(%s, %s)", elem_text(e), cexpr_bare(x)->text, cexpr_bare(y)->text);
    return cexpr_mul(n->f, x, y);
}

static const Value *accumulator(const Op *op) { return op->kind == OP_DOT && op->arg.n == 3 ? op->arg.p[2] : NULL; }

static double element_count(Fn *f, const Value *v) {
    double n = 1;
    for (int i = 0; i < v->type.nrange; i++) n *= (double)f->range[v->type.range[i]].most;
    return n;
}

/* Of the larger operand, which decides how much memory is read. */
static int16_t fastest_of(Fn *f, const Op *op) {
    const Value *x = op->arg.p[0], *y = op->arg.p[op->kind == OP_DOT];
    return value_fastest(f, element_count(f, y) > element_count(f, x) ? y : x);
}

/* Ranges of `over`, the fastest last. */
static int order_over(const Op *op, int16_t fastest, int16_t *order) {
    int n = 0;
    for (int i = 0; i < op->nover; i++)
        if (op->over[i] != fastest) order[n++] = op->over[i];
    if (n < op->nover) order[n++] = fastest;
    return n;
}

static int order_rest(const Tile *to, int16_t fastest, int16_t *order) {
    int n = 0;
    for (int i = 0; i < to->n; i++)
        if (to->range[i] != fastest) order[n++] = to->range[i];
    if (n < to->n) order[n++] = fastest;
    return n;
}

static const CExpr *start_value(Nest *n, const Op *op, Elem e) {
    const Value *acc = accumulator(op);
    return acc ? cexpr_bare(nest_value(n, acc)) : reduce_start(n->f, op->kind, e);
}

/* One running scalar for each element of the result. */
static void reduce_inside(Fn *f, const Op *op, const Tile *to, int16_t fastest) {
    const Value *v = op->res.p[0];
    Elem e = v->type.elem;
    Nest n = nest_new(f, NULL, 0);
    int rest = to ? order_rest(to, -1, n.range) : 0;
    n.n = rest + order_over(op, fastest, n.range + rest);
    const char *run = c_name(&f->names, to ? "run" : fn_value_name(f, v));
    nest_line(&n, rest, "%s %s = %s;", elem_c(e), run, start_value(&n, op, e)->text);
    n.pragma = fn_text(f, "#pragma omp simd reduction(%s : %s)", reduce_clause(f, op->kind, e), run);
    const CExpr *term = term_value(&n, op);
    nest_line(&n, n.n, "%s", reduce_combine(f, op->kind, e, run, term));
    if (to)
        nest_after(&n, rest, "%s = %s;", nest_tile(&n, to)->text, run);
    else
        fn_held(f, v)->name = run;
    nest_print(&n);
}

/* The result's elements run side by side. */
static void reduce_outside(Fn *f, const Op *op, const Tile *to, int16_t fastest) {
    Elem e = op->res.p[0]->type.elem;
    Nest start = nest_new(f, to->range, to->n);
    start.pragma = "#pragma omp simd";
    const CExpr *from = start_value(&start, op, e), *at = nest_tile(&start, to);
    if (!cexpr_equal(from, at)) {
        nest_line(&start, to->n, "%s = %s;", at->text, from->text);
        nest_print(&start);
    }
    Nest n = nest_new(f, NULL, 0);
    n.n = order_over(op, -1, n.range);
    n.n += order_rest(to, fastest, n.range + n.n);
    n.pragma = "#pragma omp simd";
    const CExpr *term = term_value(&n, op);
    nest_line(&n, n.n, "%s", reduce_combine(f, op->kind, e, nest_tile(&n, to)->text, term));
    nest_print(&n);
}

void emit_contract(Fn *f, const Op *op) {
    const Value *v = op->res.p[0];
    int16_t fastest = fastest_of(f, op);
    const Tile *to = v->type.nrange ? held_tile(f, v) : NULL;
    if (!to || fastest < 0 || is_over(op, fastest) || !type_has(v->type, fastest))
        reduce_inside(f, op, to, fastest);
    else
        reduce_outside(f, op, to, fastest);
}

/* The lowest position of the largest (smallest) element; a NaN counts as larger (smaller) than all. */
static void emit_arg(Fn *f, const Op *op) {
    const Value *v = op->res.p[0], *x = op->arg.p[0];
    const Tile *to = v->type.nrange ? held_tile(f, v) : NULL;
    bool largest = op->kind == OP_ARGMAX;
    if (op->nover != 1) fn_unsupported(f, op->loc, "argmax over several ranges");
    Nest n = nest_new(f, NULL, 0);
    int rest = to ? order_rest(to, -1, n.range) : 0;
    n.range[rest] = op->over[0];
    n.n = rest + 1;
    const RangeText *r = &f->range[op->over[0]];
    const char *best = c_name(&f->names, "best"), *at = c_name(&f->names, to ? "at" : fn_value_name(f, v));
    const char *type = elem_c(x->type.elem), *next = c_name(&f->names, "next");
    nest_line(&n, rest, "%s %s = %s;", type, best, reduce_start(f, op->kind, x->type.elem)->text);
    nest_line(&n, rest, "int64_t %s = %s;", at, r->begin->text);
    const CExpr *text = nest_value(&n, x);
    nest_line(&n, n.n, "const %s %s = %s;", type, next, cexpr_bare(text)->text);
    const char *better = c_name(&f->names, "better");
    if (elem_is_float(x->type.elem)) /* the first NaN stays */
        nest_line(&n, n.n, "const bool %s = %s == %s && !(%s %s %s);", better, best, best, next, largest ? "<=" : ">=", best);
    else nest_line(&n, n.n, "const bool %s = %s %s %s;", better, next, largest ? ">" : "<", best);
    nest_line(&n, n.n, "%s = %s ? %s : %s;", at, better, cexpr_add(f, r->begin, r->pos)->text, at);
    nest_line(&n, n.n, "%s = %s ? %s : %s;", best, better, next, best);
    if (to)
        nest_after(&n, rest, "%s = %s;", nest_tile(&n, to)->text, at);
    else
        fn_held(f, v)->name = at;
    nest_print(&n);
}

void emit_reduce(Fn *f, const Op *op) {
    Elem e = op->arg.p[0]->type.elem;
    if (elem_is_float(e) && e != ELEM_F32 && e != ELEM_F64) fn_unsupported(f, op->loc, "a reduction of a 16-bit type");
    if (op_info[op->kind].position)
        emit_arg(f, op);
    else
        emit_contract(f, op);
}

void emit_prefix(Fn *f, const Op *op) {
    const Value *v = op->res.p[0];
    Elem e = v->type.elem;
    const Tile *to = held_tile(f, v);
    Nest n = nest_new(f, NULL, 0);
    n.n = order_rest(to, op->over[0], n.range);
    const char *run = c_name(&f->names, "run");
    nest_line(&n, n.n - 1, "%s %s = %s;", elem_c(e), run, reduce_start(f, op->kind, e)->text);
    const CExpr *text = nest_value(&n, op->arg.p[0]);
    nest_line(&n, n.n, "%s", reduce_combine(f, op->kind, e, run, text));
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, run);
    nest_print(&n);
}
