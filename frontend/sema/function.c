/* function.c: the operators and functions of the language.
   Takes: rows of ops.def that are functions, and the functions made of others. Gives: what a name is. */
#include "frontend/sema/function.h"

#include <string.h>

OpKind operator_op(AstOp sign) {
    static const OpKind op[] = {
        [AST_ADD] = OP_ADD,  [AST_SUB] = OP_SUB, [AST_MUL] = OP_MUL, [AST_DIV] = OP_DIV,  [AST_MOD] = OP_MOD,
        [AST_EQ] = OP_EQ,    [AST_NE] = OP_NE,   [AST_LT] = OP_LT,   [AST_LE] = OP_LE,    [AST_GT] = OP_GT,
        [AST_GE] = OP_GE,    [AST_AND] = OP_AND, [AST_OR] = OP_OR,   [AST_BAND] = OP_AND, [AST_BOR] = OP_OR,
        [AST_BXOR] = OP_XOR, [AST_SHL] = OP_SHL, [AST_SHR] = OP_SHR,
    };
    return op[sign];
}

static const Function made[] = {
    {"where", FN_WHERE, 0}, {"pos", FN_RANGE, 0},       {"begin", FN_RANGE, 0}, {"end", FN_RANGE, 0},
    {"relu", FN_RELU, 0},   {"sigmoid", FN_SIGMOID, 0}, {"silu", FN_SILU, 0},   {"gelu", FN_GELU, 0},
};
enum { MADE = sizeof made / sizeof *made };
_Static_assert(OP_COUNT + MADE <= FUNCTIONS_MOST, "lists of names hold all functions");

static FunctionKind kind_of(OpKind op) {
    switch (op_info[op].class) {
    case CLASS_UNARY: return FN_UNARY;
    case CLASS_REDUCE: return FN_REDUCE;
    case CLASS_PREFIX: return FN_PREFIX;
    default: return op_reduction(op) < OP_COUNT ? FN_EXTREME : FN_BINARY;
    }
}

/* Number i of all rows and of `made`; false: the operator is no function. */
static bool function_at(int i, Function *f) {
    if (i >= OP_COUNT) return *f = made[i - OP_COUNT], true;
    if (!op_info[i].function) return false;
    *f = (Function){op_info[i].text, kind_of((OpKind)i), (OpKind)i};
    return true;
}

bool function_find(const char *name, Function *f) {
    for (int i = 0; i < OP_COUNT + MADE; i++)
        if (function_at(i, f) && strcmp(f->name, name) == 0) return true;
    return false;
}

bool function_is_of_elements(const Function *f) {
    return f->kind != FN_REDUCE && f->kind != FN_PREFIX && f->kind != FN_RANGE;
}

int function_names(const char **names, bool of_elements) {
    int n = 0;
    Function f;
    for (int i = 0; i < OP_COUNT + MADE; i++)
        if (function_at(i, &f) && (!of_elements || function_is_of_elements(&f))) names[n++] = f.name;
    return n;
}
