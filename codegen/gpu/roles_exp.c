/* roles_exp.c: exponentials of a step's scores less a number of their row: one multiplication and addition in front of
   the machine's power of 2, where the number is small. Where it is large, its rounding would count: there as the IR
   says. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>
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

/* ---- whether a row's number is small ---- */

static const char *const small_note = "/* its rounding is 2^-13 of the result */";
enum { SMALL = 1024 /* a number of this size loses 2^-13 of the exponential [f32: 2^-24 of 1.44 x 1024] */ };

/* Every row's number of this thread. */
static const char *small_line(Fn *f, const Value *row) {
    if (f->hip->role->small[row->id]) return f->hip->role->small[row->id];
    const char *small = c_name(&f->names, "small");
    fn_line(f, "bool %s = true;", small);
    Nest n = f->back->nest(f, &fn_held(f, row)->tile);
    nest_line(&n, n.n, "%s = %s && fabsf(%s) < %d.0f; %s", small, small, nest_value(&n, row)->text, SMALL, small_note);
    nest_print(&n);
    return small;
}

bool hip_role_is_step(Fn *f, const Op *op) {
    const Op *loop = op->in->parent;
    return f->hip->role && loop && loop->kind == OP_FOR && loop->turn.n && hip_role_is_late(loop);
}

/* max(what the loop carries, most), most perhaps times a number; NULL: the row's number is none. */
static const Op *most_of_rows(Fn *f, const Op *most, double *factor) {
    const Region *body = most->in;
    const Value *v = most->res.p[0];
    *factor = 1;
    for (const Op *op = most->next; op; op = op->next) {
        const int at = op->arg.n == 2 && op->arg.p[1] == v;
        if (op->arg.n != 2 || op->arg.p[at] != v) continue;
        const Op *by = bare(op->arg.p[!at])->def;
        if (op->kind == OP_MUL && by && by->kind == OP_CONST && by->fimm > 0 && isfinite(by->fimm) && *factor == 1)
            *factor = by->fimm, v = op->res.p[0];
        else if (op->kind == OP_MAX && op->arg.p[!at]->arg_of == body && fn_held(f, op->arg.p[!at])->hold == HOLD_TILE)
            return op;
    }
    return NULL;
}

static bool has_exponent(Fn *f, const Region *body, const Value *row) {
    Exponent e;
    for (const Op *op = body->first; op; op = op->next)
        if (exponent_of(f, op, &e) && e.row == row) return true;
    return false;
}

/* Lanes have no more of their rows than the rows' largest, and no less than what the loop carries: they need not wait
   until they know it of each other. */
void hip_role_guard(Fn *f, const Op *most) {
    double factor;
    const Op *row =
        most->kind == OP_RMAX && most->res.p[0]->type.elem == ELEM_F32 ? most_of_rows(f, most, &factor) : NULL;
    if (!row || fn_held(f, row->res.p[0])->hold != HOLD_TILE || !has_exponent(f, most->in, row->res.p[0])) return;
    const Value *carried = row->arg.p[row->arg.p[0]->arg_of != most->in];
    const Tile *own = &fn_held(f, most->res.p[0])->tile;
    const char *small = c_name(&f->names, "small"), *times = factor == 1 ? "" : fn_text(f, " * %.9ef", factor);
    fn_line(f, "bool %s = true;", small);
    Nest n = f->back->nest(f, own);
    nest_line(&n, n.n, "%s = %s && fabsf(tile_max_f32(%s, %s%s)) < %d.0f; %s", small, small,
              nest_value(&n, carried)->text, nest_tile(&n, own)->text, times, SMALL, small_note);
    nest_print(&n);
    fn_line(f, "%s = !tile_wave_any(!%s);", small, small);
    f->hip->role->small[row->res.p[0]->id] = small;
}

/* Whether all numbers of a line are small: the lanes of a warp have the line together, and each looks at two. */
void hip_role_line_small(Fn *f, const Op *convert, const char *from, int64_t n) {
    const Value *row = convert->res.p[0];
    if (row->type.elem != ELEM_F32 || !has_exponent(f, convert->in, row)) return;
    const char *small = c_name(&f->names, "small");
    fn_line(f, "const bool %s = tile_sums_line_below(%s, %" PRId64 ", %d.0f, thread); %s", small, from, n, SMALL,
            small_note);
    f->hip->role->small[row->id] = small;
}

/* ---- exponentials ---- */

/* All lanes of a warp go one way: each has its own text. */
static void exp_ways(Fn *f, const Exponent *e, const Tile *to, const char *small, double log2_e) {
    const Tile *row = &fn_held(f, e->row)->tile;
    const char *base = c_name(&f->names, fn_text(f, "%s_base", to->name));
    fn_line(f, "if (%s) {", small);
    f->indent++;
    fn_line(f, "float %s[%" PRId64 "];", base, row->count);
    Nest n = f->back->nest(f, row);
    nest_line(&n, n.n, "%s[reg] = %s * %.9ef;", base, nest_value(&n, e->row)->text, log2_e);
    nest_print(&n);
    n = f->back->nest(f, to);
    nest_line(&n, n.n, "%s = tile_exp2_fast(fmaf(%s, %.9ef, -%s[%s]));", nest_tile(&n, to)->text,
              nest_value(&n, e->x)->text, e->factor * log2_e, base, register_of(&n, row->layout)->text);
    nest_print(&n);
    f->indent--;
    fn_line(f, "} else {");
    f->indent++;
    n = f->back->nest(f, to);
    const char *x = nest_value(&n, e->x)->text, *value = e->factor == 1 ? x : fn_text(f, "%s * %.9ef", x, e->factor);
    nest_line(&n, n.n, "%s = tile_exp2_fast(tile_sub_apart(%s, %s) * %.9ef);", nest_tile(&n, to)->text, value,
              nest_value(&n, e->row)->text, log2_e);
    nest_print(&n);
    f->indent--;
    fn_line(f, "}");
}

bool hip_role_is_exponent(Fn *f, const Op *op) {
    Exponent e;
    return exponent_of(f, op, &e);
}

/* Where the row's number is large, x becomes x less that number, which then is none. */
bool hip_role_exp(Fn *f, const Op *op) {
    static const double log2_e = 1.4426950408889634; /* powers of 2 in one of e */
    Exponent e;
    if (!exponent_of(f, op, &e)) return false;
    const Tile *to = held_tile(f, op->res.p[0]);
    if (e.row->def && e.row->def->kind == OP_CONVERT && f->hip->role->small[e.row->id]) {
        exp_ways(f, &e, to, f->hip->role->small[e.row->id], log2_e);
        return true;
    }
    const char *small = small_line(f, e.row), *base = c_name(&f->names, fn_text(f, "%s_base", to->name));
    const char *slope = fn_text(f, "%.9ef", log2_e);
    if (e.factor != 1) {
        slope = c_name(&f->names, fn_text(f, "%s_slope", to->name));
        fn_line(f, "const float %s = %s ? %.9ef : %.9ef;", slope, small, e.factor * log2_e, log2_e);
    }
    fn_line(f, "float %s[%" PRId64 "];", base, fn_held(f, e.row)->tile.count);
    Nest n = f->back->nest(f, &fn_held(f, e.row)->tile);
    nest_line(&n, n.n, "%s[reg] = %s ? %s * %.9ef : 0.0f;", base, small, nest_value(&n, e.row)->text, log2_e);
    nest_print(&n);
    n = f->back->nest(f, to);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, cexpr_bare(nest_value(&n, e.x))->text);
    nest_print(&n);
    fn_line(f, "if (!%s) {", small);
    f->indent++;
    n = f->back->nest(f, to);
    const char *x = nest_tile(&n, to)->text;
    const char *value = e.factor == 1 ? x : fn_text(f, "%s * %.9ef", x, e.factor);
    nest_line(&n, n.n, "%s = tile_sub_apart(%s, %s);", x, value, nest_value(&n, e.row)->text);
    nest_print(&n);
    f->indent--;
    fn_line(f, "}");
    n = f->back->nest(f, to);
    const CExpr *row = register_of(&n, fn_held(f, e.row)->tile.layout);
    nest_line(&n, n.n, "%s = tile_exp2_fast(fmaf(%s, %s, -%s[%s]));", nest_tile(&n, to)->text, nest_tile(&n, to)->text,
              slope, base, row->text);
    nest_print(&n);
    return true;
}
