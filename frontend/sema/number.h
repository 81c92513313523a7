/* number.h: numbers that are known at compile time, and their arithmetic. */
#ifndef TILEC_FRONTEND_SEMA_NUMBER_H
#define TILEC_FRONTEND_SEMA_NUMBER_H

#include "base/arena.h"
#include "base/elem.h"
#include "frontend/syntax/ast.h"

#include <stdbool.h>
#include <stdint.h>

/* An integer of 64 bits, .i, or a float, .f. Conditions are the integers 0 and 1. */
typedef struct {
    bool is_integer;
    int64_t i;
    double f;
} Number;

Number number_integer(int64_t);
Number number_float(double);
double number_real(Number); /* an integer beyond 2^53 is rounded */
bool number_holds(Number);  /* it is not 0 */
bool number_is_of(Number, Elem); /* the type has it; floats round any */
const char *number_text(Arena *, Number);

/* + - * / %, which wrap in 64 bits; quotients are floor. false: another operator, or a divisor that is 0. */
bool integer_binary(AstOp, int64_t, int64_t, int64_t *);

#endif
