/* roles_exp.c: exponentials of a step's scores less a number of their row: one multiplication and addition in front of
   the machine's power of 2, where the number is small. Where it is large, its rounding would count: there as the IR
   says. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <math.h>

typedef struct {
    const Value *x, *row;
    double factor; /* of x */
} Exponent;

static const Value *bare(const Value *v) {
    while (v->def && v->def->kind == OP_BROADCAST) v = v->def->arg.p[0];
    return v;
}

static bool is_inline(Fn *f, const Value *v, OpKind kind) {
    return v->def && v->def->kind == kind && fn_held(f, v)->hold == HOLD_INLINE;
}

static bool exponent_of(Fn *f, const Op *op, Exponent *e) {
    if (op->kind != OP_EXP || op->res.p[0]->type.nrange != 2 || op->res.p[0]->type.elem != ELEM_F32) return false;
    const Value *less = op->arg.p[0];
    if (!is_inline(f, less, OP_SUB) || less->def->arg.p[0]->type.nrange != 2) return false;
    *e = (Exponent){less->def->arg.p[0], less->def->arg.p[1], 1};
    if (e->row->type.nrange != 1 || fn_held(f, e->row)->hold != HOLD_TILE) return false;
    for (int i = 0; i < 2 && is_inline(f, e->x, OP_MUL); i++) {
        const Op *by = bare(e->x->def->arg.p[i])->def;
        if (!by || by->kind != OP_CONST || !isfinite(by->fimm)) continue;
        e->factor = by->fimm, e->x = e->x->def->arg.p[!i];
        break;
    }
    return e->x->type.nrange == 2 && hip_role_is_near(f, op);
}

/* Every row's number of this thread. */
static const char *small_line(Fn *f, const Value *row) {
    const char *small = c_name(&f->names, "small");
    fn_line(f, "bool %s = true;", small);
    Nest n = f->back->nest(f, &fn_held(f, row)->tile);
    nest_line(&n, n.n, "%s = %s && fabsf(%s) < 1024.0f; /* its rounding is 2^-13 of the result */", small, small,
              nest_value(&n, row)->text);
    nest_print(&n);
    return small;
}

bool hip_role_exp(Fn *f, const Op *op) {
    static const double log2_e = 1.4426950408889634; /* powers of 2 in one of e */
    Exponent e;
    if (!exponent_of(f, op, &e)) return false;
    const Tile *to = held_tile(f, op->res.p[0]);
    fn_line(f, "if (%s) {", small_line(f, e.row));
    f->indent++;
    Nest n = f->back->nest(f, to);
    nest_line(&n, n.n, "%s = tile_exp2_fast(fmaf(%s, %.9ef, -(%s * %.9ef)));", nest_tile(&n, to)->text,
              cexpr_bare(nest_value(&n, e.x))->text, e.factor * log2_e, nest_value(&n, e.row)->text, log2_e);
    nest_print(&n);
    f->indent--;
    fn_line(f, "} else {");
    f->indent++;
    n = f->back->nest(f, to);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, cexpr_bare(nest_definition(&n, op->res.p[0]))->text);
    nest_print(&n);
    f->indent--;
    fn_line(f, "}");
    return true;
}
