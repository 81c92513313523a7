/* ops.h: the facts of an operator, of which ops.def has a row for each, and the functions that the rows name.
   Whoever adds an operator that is computed element by element writes its row; functions that do not exist yet go to
   interp/math.c and interp/bound.c. */
#ifndef TILEC_IR_OPS_H
#define TILEC_IR_OPS_H

#include "base/elem.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define OP(name, ...) OP_##name,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} OpKind;

typedef enum {
    CLASS_CONST, CLASS_INDEX, CLASS_UNARY, CLASS_BINARY, CLASS_COMPARE, CLASS_SELECT, CLASS_CAST,
    CLASS_BROADCAST, CLASS_REDUCE, CLASS_PREFIX, CLASS_CONVERT, CLASS_DOT, CLASS_MEMORY, CLASS_CONTROL, CLASS_SYNC, CLASS_PRINT, CLASS_ROLE,
} OpClass;

/* Fields of an Op that operations of a kind have; the others are as op_new leaves them. */
enum {
    HAS_IMM = 1 << 0, /* .imm, or .fimm of a float type */
    HAS_RANGE = 1 << 1, HAS_OVER = 1 << 2, HAS_SIZE = 1 << 3, HAS_AXIS = 1 << 4, HAS_PARAM = 1 << 5, HAS_SUB = 1 << 6,
    HAS_MODE = 1 << 7, HAS_PIPELINED = 1 << 8, HAS_DEFERRED = 1 << 9, HAS_BY = 1 << 10,
    HAS_FLAG = 1 << 11, /* also .dest, .order, .scope, .lag and .equal */
    HAS_RING = 1 << 12, HAS_SLOT = 1 << 13,
    HAS_TURNS = 1 << 14, /* also .ends, .late, .down and .unrolled */
};

/* Element types of operands. FLOAT: f32 and f64; INT: integers of 8 bits and more. */
enum {
    TAKES_FLOAT = 1, TAKES_INT = 2, TAKES_BOOL = 4,
    TAKES_NUMBERS = TAKES_FLOAT | TAKES_INT, TAKES_ALL = TAKES_NUMBERS | TAKES_BOOL,
};

/* Outcomes of a comparison; a NaN is unordered. */
enum { IF_LESS = 1, IF_EQUAL = 2, IF_GREATER = 4, IF_UNORDERED = 8 };

typedef enum { NEUTRAL_ZERO, NEUTRAL_ONE, NEUTRAL_LEAST, NEUTRAL_MOST } Neutral; /* least: -inf for floats */

typedef struct World World; /* a run of the interpreter */

/* Values of one element. NULL: not defined for that type. Integers are computed in 64 bits; the caller wraps them. */
typedef struct {
    float (*f32)(float);
    double (*f64)(double);
    int64_t (*i64)(int64_t);
} UnaryValue;

typedef struct {
    float (*f32)(float, float);
    double (*f64)(double, double);
    int64_t (*i64)(int64_t, int64_t);
} BinaryValue;

/* z = f(x) or f(x, y), in the run w, where x is off by up to dx and y by up to dy. */
typedef struct {
    const World *w;
    OpKind f;
    double x, y, z, dx, dy;
} Moved;

/* How far two legal results may be apart. */
typedef struct {
    double (*moved)(const Moved *); /* by how much z moves, f itself being exact; NULL: by dx */
    int own;                        /* error of a good library or a short polynomial, twice; in units of eps |z| */
    bool absolute;                  /* near its zeros the function's own error is eps of 1 */
    bool exact_in_f64;              /* of f32: computed in f64 the result is exact */
} OpBound;

/* Work of one element. Rows without: that of an addition of integers, {1, 1, 1, 0}. */
typedef struct {
    int host;             /* time, in additions (passes/model/count.c) */
    int again;            /* the same, where a value is computed again in an inner loop (codegen/text/hold.c) */
    double lane, special; /* instructions of a GPU's lane, and of its special function unit (passes/model/gpu.c) */
} OpCost;

typedef struct {
    const char *text;    /* in the text form of the IR */
    int8_t operands;     /* -1: any number */
    OpClass class;
    const char *quoted;  /* 'text' */
    const char *written; /* in messages, where the source does not write it as `text`; NULL: it does */
    const char *drawn;   /* arguments legal for any $x, in random programs; NULL: test/gen draws it otherwise */
    bool function;       /* the language has a function of the name `text` */
    uint8_t takes;       /* element types of the operands: TAKES_.. */
    uint16_t has;        /* attributes: HAS_.., beside those of its class */

    /* C expressions, of the most special field that is set; $x and $y: operands, $elem: name of the element type,
       $type: the C type. */
    const char *c, *c_operator, *c_float, *c_f32, *c_f64, *c_integer, *c_bool;
    const char *gpu_f32, *gpu_bool; /* on GPUs instead; gpu_f32: where the second operand is no constant */
    const char *gpu_near;           /* likewise, of f32 whose own error is larger than this one's (Backend.is_near) */

    UnaryValue unary;
    BinaryValue binary;
    uint8_t holds; /* COMPARE: for which outcomes: IF_.. */
    OpBound bound;
    OpCost cost;

    Neutral neutral; /* BINARY: the y of f(x, y) = x */
    OpKind joins;  /* REDUCE, PREFIX, DOT: the binary operation that makes one result of those of two parts */
    bool position; /* REDUCE: the result is where the element is that `joins` would give */
} OpInfo;

extern const OpInfo op_info[OP_COUNT];
const char *op_phrase(OpKind); /* for messages: as the source writes it, with its quotes */
bool op_takes(OpKind, Elem);
int op_attributes(OpKind); /* HAS_.. */
OpCost op_cost(OpKind);
OpKind op_reduction(OpKind joins);  /* the reduction of values that a binary operation joins; OP_COUNT: none */
bool op_takes_positions(OpKind);    /* ARGMAX, CUMSUM, ..: the order of positions counts, so that .over is one range */

/* ---- functions of rows ---- */

/* interp/math.c: div and mod of integers by zero give 0; the smallest integer by -1 wraps. */
float neg_f32(float), rsqrt_f32(float);
double neg_f64(double), rsqrt_f64(double);
int64_t neg_i64(int64_t), not_i64(int64_t), abs_i64(int64_t);
float add_f32(float, float), sub_f32(float, float), mul_f32(float, float), div_f32(float, float), mod_f32(float, float);
double add_f64(double, double), sub_f64(double, double), mul_f64(double, double), div_f64(double, double),
    mod_f64(double, double);
int64_t add_i64(int64_t, int64_t), sub_i64(int64_t, int64_t), mul_i64(int64_t, int64_t), div_i64(int64_t, int64_t),
    mod_i64(int64_t, int64_t);
float min_f32(float, float), max_f32(float, float);
double min_f64(double, double), max_f64(double, double);
int64_t min_i64(int64_t, int64_t), max_i64(int64_t, int64_t);
int64_t and_i64(int64_t, int64_t), or_i64(int64_t, int64_t), xor_i64(int64_t, int64_t), shl_i64(int64_t, int64_t),
    shr_i64(int64_t, int64_t);

/* interp/bound.c */
typedef double MovedBy(const Moved *);
MovedBy moved_ascending; /* of any f of one operand that never falls */
MovedBy moved_exp, moved_exp2, moved_log, moved_log2, moved_sqrt, moved_rsqrt, moved_wave, moved_tanh, moved_erf;
MovedBy moved_sum, moved_product, moved_quotient, moved_rest, moved_pow, moved_min, moved_max;

#endif
