/* function.c: the functions of the kernel language.
   Takes: rows of ops.def that are functions, and the functions made of others. Gives: what a name is. */
#include "frontend/sema/function.h"

#include <string.h>

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
