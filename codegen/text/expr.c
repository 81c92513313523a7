/* expr.c: elementwise operations, literals and conversions as C expressions. */
#include "codegen/text/c.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* By element type: $ is the operand, @ the name of the element type. NULL: not defined for that type. */
typedef struct {
    const char *f32, *f64, *integer;
} UnaryText;

static const UnaryText unary[OP_COUNT] = {
    [OP_NEG] = {"(-$)", "(-$)", "tile_sub_@(0, $)"}, [OP_ABS] = {"fabsf($)", "fabs($)", "tile_abs_@($)"},
    [OP_EXP] = {"tile_exp($)", "exp($)", NULL},      [OP_EXP2] = {"tile_exp2($)", "exp2($)", NULL},
    [OP_LOG] = {"tile_log($)", "log($)", NULL},      [OP_LOG2] = {"tile_log2($)", "log2($)", NULL},
    [OP_SQRT] = {"sqrtf($)", "sqrt($)", NULL},       [OP_RSQRT] = {"(1.0f / sqrtf($))", "(1.0 / sqrt($))", NULL},
    [OP_SIN] = {"sinf($)", "sin($)", NULL},          [OP_COS] = {"cosf($)", "cos($)", NULL},
    [OP_TANH] = {"tile_tanh($)", "tanh($)", NULL},   [OP_ERF] = {"tile_erf($)", "erf($)", NULL},
    [OP_FLOOR] = {"floorf($)", "floor($)", "$"},     [OP_CEIL] = {"ceilf($)", "ceil($)", "$"},
    [OP_ROUND] = {"rintf($)", "rint($)", "$"},
};

static const char *filled(Fn *f, const char *format, Elem e, const char *operand) {
    Text t = {0};
    for (; *format; format++) {
        if (*format == '$')
            text_add(&t, operand);
        else if (*format == '@')
            text_add(&t, elem_text(e));
        else
            text_add_n(&t, format, 1);
    }
    const char *s = arena_text(f->arena, text_str(&t), t.n);
    text_free(&t);
    return s;
}

/* Operands of floats and comparisons as a C operator, or NULL. */
static const char *const operator_text[OP_COUNT] = {
    [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_AND] = "&", [OP_OR] = "|",  [OP_XOR] = "^",
    [OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<",  [OP_LE] = "<=", [OP_GT] = ">",  [OP_GE] = ">=",
};

static const char *unary_text(Fn *f, const Op *op, const char *x) {
    Elem e = op->res.p[0]->type.elem;
    if (op->kind == OP_NOT)
        return e == ELEM_BOOL ? fn_text(f, "!%s", text_atom(f, x)) : fn_text(f, "(%s)~%s", elem_c(e), text_atom(f, x));
    const UnaryText *u = &unary[op->kind];
    const char *format = e == ELEM_F32 ? u->f32 : e == ELEM_F64 ? u->f64 : elem_is_int(e) ? u->integer : NULL;
    if (format) return filled(f, format, e, format[0] == '(' || format[0] == '$' ? text_atom(f, x) : text_bare(f, x));
    fn_unsupported(f, op->loc, fn_text(f, "%s of %s", op_phrase(op->kind), elem_text(e)));
    return x;
}

static bool is_function(const Op *op, Elem e) {
    switch (op->kind) {
    case OP_MIN:
    case OP_MAX:
    case OP_POW:
    case OP_MOD:
    case OP_SHL:
    case OP_SHR: return true;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV: return elem_is_int(e);
    default: return false;
    }
}

/* Conditions are no bits, where the compiler does not make vectors of them anyway. */
static const char *operator_of(Fn *f, const Op *op, Elem e) {
    bool condition = e == ELEM_BOOL && f->hip;
    if (condition && op->kind == OP_AND) return "&&";
    if (condition && op->kind == OP_OR) return "||";
    return operator_text[op->kind];
}

static const char *binary_text(Fn *f, const Op *op, const char *x, const char *y) {
    Elem e = op->arg.p[0]->type.elem;
    if (is_function(op, e))
        return fn_text(f, "tile_%s_%s(%s, %s)", op_info[op->kind].text, elem_text(e), text_bare(f, x), text_bare(f, y));
    bool by_number = op->arg.p[1]->def && op->arg.p[1]->def->kind == OP_CONST;
    if (op->kind == OP_DIV && e == ELEM_F32 && f->back->quotient && !by_number)
        return fn_text(f, "%s(%s, %s)", f->back->quotient, text_bare(f, x), text_bare(f, y));
    return fn_text(f, "(%s %s %s)", x, operator_of(f, op, e), y);
}

static bool is_small_float(Elem e) { return elem_is_float(e) && e != ELEM_F32 && e != ELEM_F64; }

static const char *cast_text(Fn *f, Elem to, Elem from, const char *x) {
    if (to == from || (to == ELEM_I8 && elem_is_packed(from))) return x;
    if (is_small_float(from)) {
        const char *wide = fn_text(f, "tile_f32_of_%s(%s)", elem_text(from), text_bare(f, x));
        return cast_text(f, to, ELEM_F32, wide);
    }
    if (is_small_float(to)) {
        const char *near = from == ELEM_F32 ? text_bare(f, x) : fn_text(f, "tile_f32_odd(%s)", text_bare(f, x));
        return fn_text(f, "tile_%s_of_f32(%s)", elem_text(to), near);
    }
    if (to == ELEM_BOOL) return fn_text(f, "(%s != 0)", x);
    if (elem_is_packed(to)) return packed_cast_text(f, to, from, x);
    if (elem_is_float(from) && elem_is_int(to))
        return fn_text(f, "tile_%s_of_%s(%s)", elem_text(to), elem_text(from), text_bare(f, x));
    return fn_text(f, "(%s)%s", elem_c(to), text_atom(f, x));
}

const char *nest_convert(Nest *n, Elem to, Elem from, const char *text) { return cast_text(n->f, to, from, text); }

const char *op_text(Fn *f, const Op *op, const char *const *arg) {
    switch (op_info[op->kind].class) {
    case CLASS_UNARY: return unary_text(f, op, arg[0]);
    case CLASS_BINARY:
    case CLASS_COMPARE: return binary_text(f, op, text_atom(f, arg[0]), text_atom(f, arg[1]));
    case CLASS_SELECT:
        return fn_text(f, "(%s ? %s : %s)", text_atom(f, arg[0]), text_atom(f, arg[1]), text_atom(f, arg[2]));
    case CLASS_CAST:
        return cast_text(f, op->res.p[0]->type.elem, op->arg.p[0]->type.elem, arg[0]);
    default: fn_unsupported(f, op->loc, op_phrase(op->kind)); return "0";
    }
}

/* The shortest text that reads back the same number, as a C literal. */
static const char *float_text(Fn *f, double x, const char *ending, int digits) {
    if (isnan(x)) return "NAN";
    if (isinf(x)) return x < 0 ? "(-INFINITY)" : "INFINITY";
    char s[64];
    for (int d = 1; d <= digits; d++) {
        snprintf(s, sizeof s, "%.*g", d, x);
        double back;
        if (sscanf(s, "%lf", &back) == 1 && (digits > 9 ? back == x : (float)back == (float)x)) break;
    }
    const char *point = strpbrk(s, ".e") ? "" : ".0";
    return fn_text(f, s[0] == '-' ? "(%s%s%s)" : "%s%s%s", s, point, ending);
}

const char *literal_text(Fn *f, Elem e, const Op *op) {
    if (e == ELEM_F32) return float_text(f, op->fimm, "f", 9);
    if (e == ELEM_F64) return float_text(f, op->fimm, "", 17);
    if (elem_is_float(e)) return cast_text(f, e, ELEM_F32, float_text(f, op->fimm, "f", 9));
    if (e == ELEM_I64 && op->imm == INT64_MIN) return "INT64_MIN";
    return fn_text(f, op->imm < 0 ? "(%" PRId64 ")" : "%" PRId64, op->imm);
}
