/* cexpr.c: C expressions of generated code, folded where they are numbers.
   Takes: the parts of an expression. Gives: a tree with its text. */
#include "codegen/text/fn.h"

#include <inttypes.h>
#include <string.h>

/* ---- construction ---- */

static const CExpr *expr_new(Fn *f, CExpr e) {
    CExpr *made = ARENA_NEW(f->arena, CExpr);
    *made = e;
    return made;
}

const CExpr *cexpr_number(Fn *f, int64_t n) {
    return expr_new(f, (CExpr){.kind = CEXPR_NUMBER, .number = n, .text = fn_text(f, "%" PRId64, n)});
}

const CExpr *cexpr_name(Fn *f, const char *name) { return expr_new(f, (CExpr){.kind = CEXPR_NAME, .text = name}); }

const CExpr *cexpr_call(Fn *f, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *text = fn_vtext(f, format, ap);
    va_end(ap);
    return expr_new(f, (CExpr){.kind = CEXPR_CALL, .text = text});
}

const CExpr *cexpr_open(Fn *f, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *text = fn_vtext(f, format, ap);
    va_end(ap);
    return expr_new(f, (CExpr){.kind = CEXPR_OPEN, .text = text});
}

const CExpr *cexpr_group(Fn *f, const CExpr *e) {
    return expr_new(f, (CExpr){.kind = CEXPR_GROUP, .inner = e, .text = fn_text(f, "(%s)", e->text)});
}

/* ---- questions ---- */

bool cexpr_const(const CExpr *e, int64_t *n) {
    *n = e->number;
    return e->kind == CEXPR_NUMBER;
}

bool cexpr_is(const CExpr *e, int64_t n) { return e->kind == CEXPR_NUMBER && e->number == n; }

bool cexpr_is_multiple(const CExpr *e, int64_t of) { return e->kind == CEXPR_NUMBER && e->number % of == 0; }

bool cexpr_is_named(const CExpr *e) { return e->kind == CEXPR_NAME || (e->kind == CEXPR_NUMBER && e->number >= 0); }

bool cexpr_equal(const CExpr *a, const CExpr *b) { return a == b || strcmp(a->text, b->text) == 0; }

/* ---- arithmetic ---- */

const CExpr *cexpr_operand(Fn *f, const CExpr *e) {
    bool open = e->kind == CEXPR_OPEN || (e->kind == CEXPR_NUMBER && e->number < 0);
    return open ? cexpr_group(f, e) : e;
}

const CExpr *cexpr_bare(const CExpr *e) { return e->kind == CEXPR_GROUP ? e->inner : e; }

const CExpr *cexpr_add(Fn *f, const CExpr *a, const CExpr *b) {
    int64_t x, y;
    bool nx = cexpr_const(a, &x), ny = cexpr_const(b, &y);
    if (nx && ny) return cexpr_number(f, x + y);
    if (nx && x == 0) return b;
    if (ny && y == 0) return a;
    if (ny && y < 0) return cexpr_open(f, "%s - %" PRId64, a->text, -y);
    return cexpr_open(f, "%s + %s", a->text, b->text);
}

const CExpr *cexpr_mul(Fn *f, const CExpr *a, const CExpr *b) {
    int64_t x, y;
    bool nx = cexpr_const(a, &x), ny = cexpr_const(b, &y);
    if (nx && ny) return cexpr_number(f, x * y);
    if ((nx && x == 0) || (ny && y == 0)) return cexpr_number(f, 0);
    if (nx && x == 1) return b;
    if (ny && y == 1) return a;
    return cexpr_open(f, "%s * %s", cexpr_operand(f, a)->text, cexpr_operand(f, b)->text);
}

const CExpr *cexpr_least(Fn *f, const CExpr *a, const CExpr *b) {
    int64_t x, y;
    if (cexpr_equal(a, b)) return a;
    if (cexpr_const(a, &x) && cexpr_const(b, &y)) return x < y ? a : b;
    return cexpr_call(f, "tile_least(%s, %s)", a->text, cexpr_bare(b)->text);
}

const CExpr *cexpr_ceil_div(Fn *f, const CExpr *n, int64_t d) {
    int64_t x;
    if (d == 1) return n;
    if (cexpr_const(n, &x)) return cexpr_number(f, x <= 0 ? 0 : (x - 1) / d + 1);
    return cexpr_call(f, "tile_ceil_div(%s, %" PRId64 ")", n->text, d);
}
