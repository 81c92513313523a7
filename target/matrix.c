/* matrix.c: the tables of matrix instructions, read from the targets' .def files.
   Takes: a target and an instruction. Gives: the layouts and costs of its row. */
#include "target/matrix.h"
#include <string.h>

#define TEXT(x) #x

enum {
#define SHAPE(name, m, n, k, blocks, a, b, d) SHAPE_##name,
#define PANEL(name, swizzle, width, layout)
#include "target/mfma.def"
#include "target/mma.def"
#undef SHAPE
#undef PANEL
};

static const MatrixShape shapes[] = {
#define SHAPE(name, m, n, k, blocks, a, b, d) {TEXT(name), m, n, k, blocks, a, b, d},
#define PANEL(name, swizzle, width, layout)
#include "target/mfma.def"
#include "target/mma.def"
#undef SHAPE
#undef PANEL
};

static const MatrixPanel panels[] = {
#define SHAPE(name, m, n, k, blocks, a, b, d)
#define PANEL(name, swizzle, width, layout) {#name, swizzle, width, layout},
#include "target/mma.def"
#undef SHAPE
#undef PANEL
};

#define COUNT(...) (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))
#define LANES(...)                                                                                                     \
    COUNT(__VA_ARGS__), { __VA_ARGS__ }
#define RATES(...)
#define GPU_RATES(...)
#define MACHINE(...)
#define SCHEDULE(...)
#define MFMA(...)
#define MMA(...)
#define WGMMA(...)
#define LDS_READ(bytes, banks, ...) {false, bytes, banks, __VA_ARGS__},
#define LDS_WRITE(bytes, banks, ...) {true, bytes, banks, __VA_ARGS__},
static const LdsPhase gfx90a_phases[] = {
#include "target/gfx90a.def"
};
static const LdsPhase gfx942_phases[] = {
#include "target/gfx942.def"
};
static const LdsPhase gfx950_phases[] = {
#include "target/gfx950.def"
};
static const LdsPhase sm_90a_phases[] = {
#include "target/sm_90a.def"
};
#undef LDS_READ
#undef LDS_WRITE
#undef MFMA
#undef MMA
#undef WGMMA

#define LDS_READ(...)
#define LDS_WRITE(...)
#define MFMA(name, a, b, d, ad, bd, cycles)                                                                            \
    {MATRIX_MFMA, #name, #a, #b, #d, &shapes[SHAPE_##ad], &shapes[SHAPE_##bd], cycles, 0},
#define MMA(name, a, b, d, shape, cycles)                                                                              \
    {MATRIX_MMA, "mma.sync.aligned." name, #a, #b, #d, &shapes[SHAPE_##shape], &shapes[SHAPE_##shape], cycles, 0},
#define WGMMA(name, a, b, d, shape, step)                                                                              \
    {                                                                                                                  \
        MATRIX_WGMMA,                                                                                                  \
        "wgmma.mma_async.sync.aligned." name,                                                                          \
        #a,                                                                                                            \
        #b,                                                                                                            \
        #d,                                                                                                            \
        &shapes[SHAPE_##shape],                                                                                        \
        &shapes[SHAPE_##shape],                                                                                        \
        4,                                                                                                             \
        step},
static const MatrixOp gfx90a_ops[] = {
#include "target/gfx90a.def"
};
static const MatrixOp gfx942_ops[] = {
#include "target/gfx942.def"
};
static const MatrixOp gfx950_ops[] = {
#include "target/gfx950.def"
};
static const MatrixOp sm_90a_ops[] = {
#include "target/sm_90a.def"
};
#undef MFMA
#undef MMA
#undef WGMMA
#undef SCHEDULE

#define MFMA(...)
#define MMA(...)
#define WGMMA(...)
#define SCHEDULE(name, ...) {#name, __VA_ARGS__},
static const MatrixSchedule gfx90a_schedules[] = {
#include "target/gfx90a.def"
    {0}};
static const MatrixSchedule gfx942_schedules[] = {
#include "target/gfx942.def"
    {0}};
static const MatrixSchedule gfx950_schedules[] = {
#include "target/gfx950.def"
    {0}};
static const MatrixSchedule sm_90a_schedules[] = {
#include "target/sm_90a.def"
    {0}};
#undef MFMA
#undef MMA
#undef WGMMA
#undef SCHEDULE
#undef MACHINE

#define LENGTH(array) (int)(sizeof(array) / sizeof *(array))
#define MFMA(...)
#define MMA(...)
#define WGMMA(...)
#define SCHEDULE(...)
#define WGMMA_PANELS .panel = panels, .npanels = LENGTH(panels)
#define MACHINE(machine, texts, ...)                                                                                   \
    {.name = #machine,                                                                                                 \
     .family = #texts,                                                                                                 \
     .lds = {machine##_phases, LENGTH(machine##_phases)},                                                              \
     .op = machine##_ops,                                                                                              \
     .nops = LENGTH(machine##_ops),                                                                                    \
     .schedule = machine##_schedules,                                                                                  \
     __VA_ARGS__},
const MatrixTarget matrix_targets[] = {
#include "target/gfx90a.def"
#include "target/gfx942.def"
#include "target/gfx950.def"
#include "target/sm_90a.def"
};
const int matrix_target_count = LENGTH(matrix_targets);

const MatrixTarget *matrix_target(const char *name) {
    for (int i = 0; i < matrix_target_count; i++)
        if (!strcmp(matrix_targets[i].name, name)) return &matrix_targets[i];
    return NULL;
}

const MatrixOp *matrix_op(const MatrixTarget *t, const char *name, const char *a, const char *b) {
    for (int i = 0; i < t->nops; i++)
        if (!strcmp(t->op[i].name, name) && !strcmp(t->op[i].a, a) && !strcmp(t->op[i].b, b)) return &t->op[i];
    return NULL;
}

const MatrixOp *matrix_deepest(const MatrixTarget *t, int rows, const char *operand, const char *sum) {
    const MatrixOp *best = NULL;
    for (const MatrixOp *op = t->op; op < t->op + t->nops; op++) {
        bool fits = matrix_is_plain(op) && op->ad->m == rows && !strcmp(op->a, operand) && !strcmp(op->b, operand) &&
                    !strcmp(op->d, sum);
        if (fits && (!best || op->ad->k > best->ad->k)) best = op;
    }
    return best;
}

static int64_t products(const MatrixOp *op) { return (int64_t)op->ad->m * op->ad->n * op->ad->k; }

static bool is_faster(const MatrixOp *op, const MatrixOp *than) {
    int64_t gain = products(op) * than->cycles - products(than) * op->cycles;
    if (gain) return gain > 0;
    return op->ad->m == than->ad->m ? op->ad->k > than->ad->k : op->ad->m < than->ad->m;
}

const MatrixOp *matrix_fastest(const MatrixTarget *t, int rows, int depth, const char *operand, const char *sum) {
    const MatrixOp *best = NULL;
    for (const MatrixOp *op = t->op; op < t->op + t->nops; op++) {
        bool fits = (matrix_is_plain(op) || matrix_is_scaled(op)) && op->ad->m <= rows && op->ad->k <= depth &&
                    !strcmp(op->a, operand) && !strcmp(op->b, operand) && !strcmp(op->d, sum);
        if (fits && (!best || is_faster(op, best))) best = op;
    }
    return best;
}

const MatrixSchedule *matrix_schedule(const MatrixTarget *t, const char *name, int64_t columns) {
    for (const MatrixSchedule *s = t->schedule; s->name; s++)
        if (!strcmp(s->name, name) && (columns == 0 || columns == s->columns)) return s;
    return NULL;
}

const MatrixSchedule *matrix_schedule_wide(const MatrixTarget *t, const char *name, int64_t width) {
    for (const MatrixSchedule *s = t->schedule; s->name; s++)
        if (!strcmp(s->name, name) && width <= s->width) return s;
    return NULL;
}

int matrix_width(const char *type) {
    static const struct {
        const char *name;
        int bits;
    } widths[] = {{"f64", 64},  {"f32", 32}, {"i32", 32},  {"xf32", 32},
                  {"tf32", 32}, {"f16", 16}, {"bf16", 16}, {"f4e2m1", 4}};
    for (int i = 0; i < LENGTH(widths); i++)
        if (!strcmp(type, widths[i].name)) return widths[i].bits;
    return 8; /* the kinds of f8, i8, u8 */
}

bool matrix_is_scaled(const MatrixOp *o) { return strncmp(o->name, "scale", 5) == 0; }

bool matrix_is_plain(const MatrixOp *o) {
    return o->kind != MATRIX_WGMMA && o->ad->blocks == 1 && !matrix_is_scaled(o);
}

bool matrix_n(const MatrixOp *op, int n) {
    if (op->kind != MATRIX_WGMMA) return n == op->ad->n;
    return n >= 8 && n <= 256 && n % (n <= 32 ? 8 : op->step) == 0;
}

int matrix_cycles(const MatrixOp *op, int n) { return op->kind == MATRIX_WGMMA ? op->cycles * (n / 8) : op->cycles; }

/* D of a wide wgmma: the columns of n = 8 again and again, in further registers. */
static bool layout_widen(Layout *l, int times) {
    Layout wide = {0}, narrow = *l;
    layout_add_index(&wide, "j", times);
    int bits = wide.index[0].bits, at = layout_add_place(&wide, "reg", bits);
    for (int b = 0; b < bits; b++) wide.column[at + b] = UINT64_C(1) << b;
    return layout_product(l, &narrow, &wide);
}

bool matrix_layout(Arena *arena, Layout *l, const MatrixOp *op, char operand, int n) {
    const char *text = operand == 'a' ? op->ad->a : operand == 'b' ? op->bd->b : op->ad->d;
    const char *type = operand == 'a' ? op->a : operand == 'b' ? op->b : op->d;
    int at;
    if (!text || !matrix_n(op, n) || layout_parse(arena, l, text, &at)) return false;
    l->width = matrix_width(type);
    return operand != 'd' || n == op->ad->n || layout_widen(l, n / op->ad->n);
}
