/* cexpr.c: expressions of emitted code: what folds, where parentheses stand, what is known of them. */
#include "check.h"
#include "codegen/text/fn.h"

#include <string.h>

static int failures;

static bool prints(const CExpr *e, const char *text) { return strcmp(e->text, text) == 0; }

static void sums_check(Fn *f, const CExpr *x) {
    CHECK(prints(cexpr_add(f, cexpr_number(f, 2), cexpr_number(f, -5)), "-3"));
    CHECK(cexpr_add(f, cexpr_number(f, 0), x) == x && cexpr_add(f, x, cexpr_number(f, 0)) == x);
    CHECK(prints(cexpr_add(f, x, cexpr_number(f, 7)), "x + 7"));
    CHECK(prints(cexpr_add(f, x, cexpr_number(f, -7)), "x - 7"));
}

static void products_check(Fn *f, const CExpr *x) {
    const CExpr *sum = cexpr_add(f, x, cexpr_number(f, 7));
    CHECK(cexpr_is(cexpr_mul(f, x, cexpr_number(f, 0)), 0));
    CHECK(cexpr_mul(f, cexpr_number(f, 1), sum) == sum);
    CHECK(prints(cexpr_mul(f, sum, cexpr_number(f, 4)), "(x + 7) * 4"));
    CHECK(prints(cexpr_mul(f, cexpr_group(f, sum), x), "(x + 7) * x"));
    CHECK(prints(cexpr_mul(f, cexpr_call(f, "f(%s)", sum->text), cexpr_number(f, -4)), "f(x + 7) * (-4)"));
}

static void parentheses_check(Fn *f, const CExpr *x) {
    const CExpr *open = cexpr_open(f, "(int)%s", x->text), *closed = cexpr_operand(f, open);
    CHECK(prints(closed, "((int)x)") && cexpr_bare(closed) == open);
    CHECK(cexpr_operand(f, closed) == closed && cexpr_operand(f, x) == x && cexpr_bare(x) == x);
    /* Those at its ends are not one pair. */
    const CExpr *two = cexpr_mul(f, cexpr_group(f, open), cexpr_group(f, open));
    CHECK(cexpr_bare(two) == two && prints(cexpr_operand(f, two), "(((int)x) * ((int)x))"));
}

static void least_check(Fn *f, const CExpr *x) {
    const CExpr *sum = cexpr_group(f, cexpr_add(f, x, cexpr_number(f, 1)));
    CHECK(cexpr_is(cexpr_least(f, cexpr_number(f, 3), cexpr_number(f, -2)), -2));
    CHECK(cexpr_least(f, x, cexpr_name(f, "x")) == x);
    CHECK(prints(cexpr_least(f, x, sum), "tile_least(x, x + 1)"));
    CHECK(cexpr_is(cexpr_ceil_div(f, cexpr_number(f, 9), 4), 3) &&
          cexpr_is(cexpr_ceil_div(f, cexpr_number(f, -9), 4), 0));
    CHECK(cexpr_ceil_div(f, x, 1) == x && prints(cexpr_ceil_div(f, x, 4), "tile_ceil_div(x, 4)"));
}

static void questions_check(Fn *f, const CExpr *x) {
    int64_t n;
    CHECK(cexpr_const(cexpr_number(f, 12), &n) && n == 12 && !cexpr_const(x, &n) &&
          !cexpr_const(cexpr_name(f, "12u"), &n));
    CHECK(cexpr_is_multiple(cexpr_number(f, 12), 4) && !cexpr_is_multiple(cexpr_number(f, 13), 4) &&
          !cexpr_is_multiple(x, 4));
    CHECK(cexpr_is_named(x) && cexpr_is_named(cexpr_number(f, 0)) && !cexpr_is_named(cexpr_number(f, -1)));
    CHECK(!cexpr_is_named(cexpr_call(f, "f(x)")) && !cexpr_is_named(cexpr_open(f, "-x")));
}

int main(void) {
    Arena *a = arena_new();
    Fn f = {.arena = a};
    const CExpr *x = cexpr_name(&f, "x");
    sums_check(&f, x);
    products_check(&f, x);
    parentheses_check(&f, x);
    least_check(&f, x);
    questions_check(&f, x);
    arena_free(a);
    return failures != 0;
}
