/* roles_tanh.c: tanh of a step's scores, as soft caps take it: a polynomial while all scores of a wave are near 0, where
   they nearly always are. The machine has 16 exponentials and quotients a clock, and 128 multiplications and additions
   [CUDA C++ programming guide, arithmetic instructions of 9.0]. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

static bool is_of_scores(Fn *f, const Op *op) {
    const Value *v = op->kind == OP_TANH ? op->res.p[0] : NULL;
    return v && v->type.nrange == 2 && v->type.elem == ELEM_F32 && fn_held(f, v)->hold == HOLD_TILE &&
           hip_role_is_near(f, op);
}

static void line_of_each(Fn *f, const Tile *to, const char *function) {
    Nest n = f->back->nest(f, to);
    const char *x = nest_tile(&n, to)->text;
    nest_line(&n, n.n, "%s = %s(%s);", x, function, x);
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
    Nest n = f->back->nest(f, to);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, cexpr_bare(nest_value(&n, op->arg.p[0]))->text);
    nest_print(&n);
    const char *far = farthest_lines(f, to);
    fn_line(f, "if (!tile_wave_any(!(fmaxf(%s[0], %s[1]) <= TILE_TANH_SMALL))) {", far, far);
    f->indent++;
    line_of_each(f, to, "tile_tanh_small");
    f->indent--;
    fn_line(f, "} else {");
    f->indent++;
    line_of_each(f, to, "tile_tanh_near");
    f->indent--;
    fn_line(f, "}");
    return true;
}
