/* number.c: numbers that are known at compile time, and their arithmetic. */
#include "frontend/sema/number.h"

#include "ir/size.h"

#include <inttypes.h>

Number number_integer(int64_t i) { return (Number){.is_integer = true, .i = i}; }

Number number_float(double f) { return (Number){.f = f}; }

double number_real(Number n) { return n.is_integer ? (double)n.i : n.f; }

bool number_holds(Number n) { return n.is_integer ? n.i != 0 : n.f != 0; }

bool number_is_of(Number n, Elem e) {
    if (elem_is_float(e)) return true;
    return n.is_integer && (e == ELEM_BOOL ? n.i == 0 || n.i == 1 : elem_holds(e, n.i));
}

const char *number_text(Arena *a, Number n) {
    return n.is_integer ? arena_format(a, "%" PRId64, n.i) : arena_format(a, "%g", n.f);
}

static bool divided(AstOp op, int64_t a, int64_t b, int64_t *r) {
    if (b == 0) return false;
    if (b == -1) return *r = op == AST_DIV ? (int64_t)(0 - (uint64_t)a) : 0, true;
    return *r = op == AST_DIV ? int_floor_div(a, b) : a - int_floor_div(a, b) * b, true;
}

bool integer_binary(AstOp op, int64_t a, int64_t b, int64_t *r) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case AST_ADD: return *r = (int64_t)(x + y), true;
    case AST_SUB: return *r = (int64_t)(x - y), true;
    case AST_MUL: return *r = (int64_t)(x * y), true;
    case AST_DIV:
    case AST_MOD: return divided(op, a, b, r);
    default: return false;
    }
}
