/* function.h: operators and functions of the language: signs, operators that are called by name, functions made of others. */
#ifndef TILEC_FRONTEND_SEMA_FUNCTION_H
#define TILEC_FRONTEND_SEMA_FUNCTION_H

#include "frontend/syntax/ast.h"
#include "ir/ops.h"

/* EXTREME: of values, or over ranges; RANGE: pos, begin, end. */
typedef enum {
    FN_UNARY, FN_BINARY, FN_EXTREME, FN_REDUCE, FN_PREFIX, FN_WHERE, FN_RANGE, FN_RELU, FN_SIGMOID, FN_SILU, FN_GELU,
} FunctionKind;

typedef struct {
    const char *name;
    FunctionKind kind;
    OpKind op; /* of operators */
} Function;

enum { FUNCTIONS_MOST = OP_COUNT + 8 };

OpKind operator_op(AstOp); /* the operation of a sign between two operands, other than @ */
bool function_find(const char *name, Function *);
bool function_is_of_elements(const Function *); /* it gives an element for each of its operand's */
int function_names(const char **names, bool of_elements); /* all, or those of elements; at most FUNCTIONS_MOST */

#endif
