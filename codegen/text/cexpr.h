/* cexpr.h: C expressions of generated code: small trees that know what they print as, whether they are a number, and
   whether they can be an operand as they stand. Nobody looks into their text. */
#ifndef TILEC_CODEGEN_TEXT_CEXPR_H
#define TILEC_CODEGEN_TEXT_CEXPR_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    CEXPR_NUMBER,
    CEXPR_NAME,  /* a name, a literal of another type, or an element that a name and numbers tell */
    CEXPR_CALL,  /* a call, or an element at an expression */
    CEXPR_GROUP, /* another expression in parentheses */
    CEXPR_OPEN,  /* operators at its top: in parentheses where it is an operand */
} CExprKind;

typedef struct CExpr {
    CExprKind kind;
    int64_t number;            /* CEXPR_NUMBER */
    const struct CExpr *inner; /* CEXPR_GROUP */
    const char *text;
} CExpr;

typedef struct Fn Fn;

const CExpr *cexpr_number(Fn *, int64_t);
const CExpr *cexpr_name(Fn *, const char *);
const CExpr *cexpr_call(Fn *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const CExpr *cexpr_open(Fn *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const CExpr *cexpr_group(Fn *, const CExpr *); /* in parentheses, needed or not */

const CExpr *cexpr_add(Fn *, const CExpr *a, const CExpr *b); /* folded where both are numbers or one is 0 */
const CExpr *cexpr_mul(Fn *, const CExpr *a, const CExpr *b); /* likewise; or one is 1 */
const CExpr *cexpr_least(Fn *, const CExpr *a, const CExpr *b);
const CExpr *cexpr_ceil_div(Fn *, const CExpr *, int64_t);
const CExpr *cexpr_operand(Fn *, const CExpr *); /* in parentheses where it is more than an operand */
const CExpr *cexpr_bare(const CExpr *);          /* without its outer parentheses */

bool cexpr_const(const CExpr *, int64_t *);
bool cexpr_is(const CExpr *, int64_t);             /* this number */
bool cexpr_is_multiple(const CExpr *, int64_t of); /* a number that is one */
bool cexpr_is_named(const CExpr *);                /* nothing is computed: a name or a number */
bool cexpr_equal(const CExpr *, const CExpr *);

#endif
