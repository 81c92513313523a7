/* expr.c: elementwise operations, literals and conversions as C expressions. */
#include "codegen/text/size.h"
#include "codegen/text/step.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- elementwise operations: the texts of ops.def ---- */

/* Conditions are no bits, where the compiler does not make vectors of them anyway. */
static const char *gpu_format(const OpInfo *o, const Op *op, Elem e) {
    const Value *last = op->arg.p[op->arg.n - 1];
    bool by_number = last->def && last->def->kind == OP_CONST;
    return e == ELEM_BOOL ? o->gpu_bool : e == ELEM_F32 && !by_number ? o->gpu_f32 : NULL;
}

static const char *typed_format(const OpInfo *o, Elem e) {
    const char *own = e == ELEM_F32 ? o->c_f32 : e == ELEM_F64 ? o->c_f64 : elem_is_int(e) ? o->c_integer : o->c_bool;
    return !own && elem_is_float(e) ? o->c_float : own;
}

/* NULL: the operation is not defined for the type. */
static const char *format_of(Fn *f, const Op *op, Elem e) {
    const OpInfo *o = &op_info[op->kind];
    const char *gpu = f->hip ? gpu_format(o, op, e) : NULL, *typed = gpu ? gpu : typed_format(o, e);
    if (typed) return typed;
    return o->c_operator ? fn_text(f, "($x %s $y)", o->c_operator) : o->c;
}

static bool takes_word(const char **format, const char *word) {
    size_t n = strlen(word);
    if (strncmp(*format, word, n) != 0) return false;
    *format += n;
    return true;
}

static const char *filled(Fn *f, const char *format, Elem e, const char *x, const char *y) {
    Text t = {0};
    while (*format) {
        if (takes_word(&format, "$x"))
            text_add(&t, x);
        else if (takes_word(&format, "$y"))
            text_add(&t, y);
        else if (takes_word(&format, "$elem"))
            text_add(&t, elem_text(e));
        else if (takes_word(&format, "$type"))
            text_add(&t, elem_c(e));
        else
            text_add_n(&t, format++, 1);
    }
    const char *s = arena_text(f->arena, text_str(&t), t.n);
    text_free(&t);
    return s;
}

/* Arguments of a call need no parentheses of their own. */
static const char *elementwise_text(Fn *f, const Op *op, const char *const *arg) {
    Elem e = op->arg.p[0]->type.elem;
    const char *format = format_of(f, op, e), *operand[2] = {NULL, NULL};
    if (!format) {
        fn_unsupported(f, op->loc, fn_text(f, "%s of %s", op_phrase(op->kind), elem_text(e)));
        return arg[0];
    }
    for (int i = 0; i < op->arg.n; i++)
        operand[i] = isalpha((unsigned char)format[0]) ? text_bare(f, arg[i]) : text_atom(f, arg[i]);
    return filled(f, format, e, operand[0], operand[1]);
}

/* ---- conversions ---- */

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
    case CLASS_UNARY:
    case CLASS_BINARY:
    case CLASS_COMPARE: return elementwise_text(f, op, arg);
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
