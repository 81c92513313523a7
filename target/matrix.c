/* matrix.c: questions about matrix instructions.
   Takes: a target and an instruction. Gives: the layouts and costs of its row. */
#include "target/matrix.h"
#include <string.h>

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
    for (int i = 0; i < (int)(sizeof widths / sizeof *widths); i++)
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
