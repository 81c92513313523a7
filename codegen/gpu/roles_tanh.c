/* roles_tanh.c: tanh of a step's scores, as soft caps take it: a polynomial while all scores of a wave are near 0, where
   they nearly always are. The machine has 16 exponentials and quotients a clock, and 128 multiplications and additions
   [CUDA C++ programming guide, arithmetic instructions of 9.0]. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <math.h>

static bool is_of_scores(Fn *f, const Op *op) {
    const Value *v = op->kind == OP_TANH ? op->res.p[0] : NULL;
    return v && v->type.nrange == 2 && v->type.elem == ELEM_F32 && fn_held(f, v)->hold == HOLD_TILE &&
           hip_role_is_near(f, op);
}

/* The factor that a soft cap multiplies scores by becomes one of the polynomial's numbers; 1: there is none. */
static double factor_of(Fn *f, const Value **x) {
    static const double most = 0x1p10; /* whose powers are floats, too */
    const Op *mul = (*x)->def;
    if (!mul || mul->kind != OP_MUL || fn_held(f, *x)->hold != HOLD_INLINE) return 1;
    for (int i = 0; i < 2; i++) {
        const Value *by = mul->arg.p[i];
        while (by->def && by->def->kind == OP_BROADCAST) by = by->def->arg.p[0];
        if (!by->def || by->def->kind != OP_CONST || !(fabs(by->def->fimm) <= most && fabs(by->def->fimm) * most >= 1))
            continue;
        *x = mul->arg.p[!i];
        return by->def->fimm;
    }
    return 1;
}

/* behind: what follows the element's name. */
static void line_of_each(Fn *f, const Tile *to, const char *function, const char *behind) {
    Nest n = f->back->nest(f, to);
    const char *x = nest_tile(&n, to)->text;
    nest_line(&n, n.n, "%s = %s(%s%s);", x, function, x, behind);
    nest_print(&n);
}

/* Two maxima, one behind the other, would each wait for the one before. */
static const char *farthest_lines(Fn *f, const Tile *to) {
    const char *far = c_name(&f->names, fn_text(f, "%s_far", to->name));
    fn_line(f, "float %s[2] = {0.0f, 0.0f};", far);
    Nest n = f->back->nest(f, to);
    const char *own = fn_text(f, "%s[%s & 1]", far, register_of(&n, to->layout)->text);
    nest_line(&n, n.n, "%s = fmaxf(%s, fabsf(%s));", own, own, nest_tile(&n, to)->text);
    nest_print(&n);
    return far;
}

bool hip_role_tanh(Fn *f, const Op *op) {
    if (!is_of_scores(f, op)) return false;
    const Tile *to = held_tile(f, op->res.p[0]);
    const Value *of = op->arg.p[0];
    const double by = factor_of(f, &of);
    Nest n = f->back->nest(f, to);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, cexpr_bare(nest_value(&n, of))->text);
    nest_print(&n);
    const char *far = farthest_lines(f, to);
    fn_line(f, "if (!tile_wave_any(!(fmaxf(%s[0], %s[1]) * %.9ef <= TILE_TANH_SMALL))) {", far, far, fabs(by));
    f->indent++;
    line_of_each(f, to, "tile_tanh_small", fn_text(f, ", %.9ef", by));
    f->indent--;
    fn_line(f, "} else {");
    f->indent++;
    line_of_each(f, to, "tile_tanh_near", by == 1 ? "" : fn_text(f, " * %.9ef", by));
    f->indent--;
    fn_line(f, "}");
    return true;
}
