/* ops.c: the table of operators.
   Takes: the rows of ops.def. Gives: their facts by kind. */
#include "ir/ops.h"

#include <math.h>

const OpInfo op_info[OP_COUNT] = {
#define OP(name, word, n, of, ...)                                                                                     \
    [OP_##name] = {.text = word, .quoted = "'" word "'", .operands = n, .class = CLASS_##of, __VA_ARGS__},
#include "ir/ops.def"
#undef OP
};

const char *op_phrase(OpKind kind) { return op_info[kind].written ? op_info[kind].written : op_info[kind].quoted; }

bool op_takes(OpKind kind, Elem e) {
    int takes = elem_is_float(e) ? TAKES_FLOAT : elem_is_int(e) ? TAKES_INT : TAKES_BOOL;
    return op_info[kind].takes & takes;
}

int op_attributes(OpKind kind) {
    static const uint16_t of_class[] = {
        [CLASS_CONST] = HAS_IMM,
        [CLASS_REDUCE] = HAS_OVER | HAS_RANGE,
        [CLASS_PREFIX] = HAS_OVER | HAS_RANGE,
        [CLASS_DOT] = HAS_OVER | HAS_RANGE,
        [CLASS_MEMORY] = HAS_PARAM | HAS_SUB,
        [CLASS_SYNC] = HAS_FLAG | HAS_SUB,
        [CLASS_PRINT] = HAS_BY,
        [CLASS_ROLE] = 0,
    };
    return of_class[op_info[kind].class] | op_info[kind].has;
}

OpCost op_cost(OpKind kind) {
    const OpCost addition = {.host = 1, .again = 1, .lane = 1};
    return op_info[kind].cost.host ? op_info[kind].cost : addition;
}

OpKind op_reduction(OpKind joins) {
    for (OpKind kind = 0; kind < OP_COUNT; kind++)
        if (op_info[kind].class == CLASS_REDUCE && op_info[kind].joins == joins && !op_info[kind].position) return kind;
    return OP_COUNT;
}

bool op_takes_positions(OpKind kind) { return op_info[kind].class == CLASS_PREFIX || op_info[kind].position; }
