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
    const char *gpu = f->hip ? gpu_format(o, op, e) : NULL;
    if (o->gpu_near && e == ELEM_F32 && f->back->is_near && f->back->is_near(f, op)) gpu = o->gpu_near;
    const char *typed = gpu ? gpu : typed_format(o, e);
    if (typed) return typed;
    return o->c_operator ? fn_text(f, "($x %s $y)", o->c_operator) : o->c;
}

static bool takes_word(const char **format, const char *word) {
    size_t n = strlen(word);
    if (strncmp(*format, word, n) != 0) return false;
    *format += n;
    return true;
}

static const char *filled(Fn *f, const char *format, size_t n, Elem e, const char *x, const char *y) {
    Text t = {0};
    for (const char *end = format + n; format < end;) {
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

/* Rows of ops.def are calls, operators in parentheses or open ones. Arguments of a call need no parentheses. */
static const CExpr *elementwise_text(Fn *f, const Op *op, const CExpr *const *arg) {
    Elem e = op->arg.p[0]->type.elem;
    const char *format = format_of(f, op, e), *x[2] = {NULL, NULL};
    if (!format) {
        fn_unsupported(f, op->loc, fn_text(f, "%s of %s", op_phrase(op->kind), elem_text(e)));
        return arg[0];
    }
    size_t n = strlen(format);
    bool call = isalpha((unsigned char)format[0]), group = format[0] == '(' && format[n - 1] == ')';
    for (int i = 0; i < op->arg.n; i++) x[i] = (call ? cexpr_bare(arg[i]) : cexpr_operand(f, arg[i]))->text;
    if (group) return cexpr_group(f, cexpr_open(f, "%s", filled(f, format + 1, n - 2, e, x[0], x[1])));
    const char *text = filled(f, format, n, e, x[0], x[1]);
    return call ? cexpr_call(f, "%s", text) : cexpr_open(f, "%s", text);
}

/* ---- conversions ---- */

static bool is_small_float(Elem e) { return elem_is_float(e) && e != ELEM_F32 && e != ELEM_F64; }

/* Floats end at the least and the largest value, integers wrap. */
static const CExpr *packed_cast_text(Fn *f, Elem to, Elem from, const CExpr *x) {
    int64_t most = (INT64_C(1) << (elem_bits(to) - 1)) - 1;
    if (elem_is_float(from))
        return cexpr_open(f, "(int8_t)tile_most(%" PRId64 ", tile_least(%" PRId64 ", tile_i32_of_%s(%s)))", -most - 1,
                          most, elem_text(from), cexpr_bare(x)->text);
    if (elem_is_packed(from) && elem_bits(from) <= elem_bits(to)) return x;
    return cexpr_call(f, "tile_%s_wrap(%s)", elem_text(to), cexpr_bare(x)->text);
}

static const CExpr *cast_text(Fn *f, Elem to, Elem from, const CExpr *x) {
    if (to == from || (to == ELEM_I8 && elem_is_packed(from))) return x;
    if (is_small_float(from)) {
        return cast_text(f, to, ELEM_F32, cexpr_call(f, "tile_f32_of_%s(%s)", elem_text(from), cexpr_bare(x)->text));
    }
    if (is_small_float(to)) {
        const CExpr *bare = cexpr_bare(x),
                    *near = from == ELEM_F32 ? bare : cexpr_call(f, "tile_f32_odd(%s)", bare->text);
        return cexpr_call(f, "tile_%s_of_f32(%s)", elem_text(to), near->text);
    }
    if (to == ELEM_BOOL) return cexpr_group(f, cexpr_open(f, "%s != 0", x->text));
    if (elem_is_packed(to)) return packed_cast_text(f, to, from, x);
    if (elem_is_float(from) && elem_is_int(to))
        return cexpr_call(f, "tile_%s_of_%s(%s)", elem_text(to), elem_text(from), cexpr_bare(x)->text);
    return cexpr_open(f, "(%s)%s", elem_c(to), cexpr_operand(f, x)->text);
}

const CExpr *nest_convert(Nest *n, Elem to, Elem from, const CExpr *x) { return cast_text(n->f, to, from, x); }

const CExpr *op_text(Fn *f, const Op *op, const CExpr *const *arg) {
    switch (op_info[op->kind].class) {
    case CLASS_UNARY:
    case CLASS_BINARY:
    case CLASS_COMPARE: return elementwise_text(f, op, arg);
    case CLASS_SELECT:
        return cexpr_group(f, cexpr_open(f, "%s ? %s : %s", cexpr_operand(f, arg[0])->text,
                                         cexpr_operand(f, arg[1])->text, cexpr_operand(f, arg[2])->text));
    case CLASS_CAST:
        return cast_text(f, op->res.p[0]->type.elem, op->arg.p[0]->type.elem, arg[0]);
    default: fn_unsupported(f, op->loc, op_phrase(op->kind)); return cexpr_number(f, 0);
    }
}

/* The shortest text that reads back the same number, as a C literal. */
static const CExpr *float_text(Fn *f, double x, const char *ending, int digits) {
    if (isnan(x)) return cexpr_name(f, "NAN");
    const CExpr *infinity = cexpr_name(f, "INFINITY");
    if (isinf(x)) return x < 0 ? cexpr_group(f, cexpr_open(f, "-%s", infinity->text)) : infinity;
    char s[64];
    for (int d = 1; d <= digits; d++) {
        snprintf(s, sizeof s, "%.*g", d, x);
        double back;
        if (sscanf(s, "%lf", &back) == 1 && (digits > 9 ? back == x : (float)back == (float)x)) break;
    }
    const char *text = fn_text(f, "%s%s%s", s, strpbrk(s, ".e") ? "" : ".0", ending);
    return signbit(x) ? cexpr_group(f, cexpr_open(f, "%s", text)) : cexpr_name(f, text);
}

const CExpr *literal_text(Fn *f, Elem e, const Op *op) {
    if (e == ELEM_F32) return float_text(f, op->fimm, "f", 9);
    if (e == ELEM_F64) return float_text(f, op->fimm, "", 17);
    if (elem_is_float(e)) return cast_text(f, e, ELEM_F32, float_text(f, op->fimm, "f", 9));
    if (e == ELEM_I64 && op->imm == INT64_MIN) return cexpr_name(f, "INT64_MIN");
    return cexpr_operand(f, cexpr_number(f, op->imm));
}
