/* matrix.c: matrix instructions on the CPU, by the published layouts: which element of A, B and D a lane holds where.
   AMD: instruction set architectures of MI200, MI300 and CDNA4, "Matrix arithmetic instructions"; NVIDIA: PTX ISA,
   "Matrix multiply-accumulate operation using mma instruction". Written from those documents, apart from the compiler's
   tables. */
#include "emu.h"

#include <string.h>

typedef struct {
    int row, k;
} Place;

/* ---- AMD: lane l holds row (column of B) l % m and, with the other lanes of that row, all of k ---- */

static Place amd_operand(const tile_emu_matrix *op, int lane, int e) {
    int group = lane / op->m, each = op->k * op->m / 64;
    if (op->kind == TILE_EMU_MFMA_SCALED) return (Place){lane % op->m, 16 * group + op->k / 2 * (e / 16) + e % 16};
    return (Place){lane % op->m, each * group + e};
}

static int amd_row(const tile_emu_matrix *op, int lane, int r) {
    int group = lane / op->m;
    return op->d == TILE_EMU_F64 ? 4 * r + group : 8 * (r >> 2) + 4 * group + (r & 3);
}

/* ---- NVIDIA: a register holds w neighbours on k of row lane / 4; the next one is 8 rows further, then 4 w on k ----
 */

static int elements_a_register(tile_emu_elem e) {
    return e == TILE_EMU_F64 ? 1 : e == TILE_EMU_F16 || e == TILE_EMU_BF16 ? 2 : 4;
}

static Place nvidia_operand(tile_emu_elem elem, int rows, int lane, int e) {
    int w = elements_a_register(elem), r = e / w, halves = rows / 8;
    return (Place){lane / 4 + 8 * (r % halves), w * (lane % 4) + e % w + 4 * w * (r / halves)};
}

/* ---- both ---- */

static Place operand(const tile_emu_matrix *op, bool right, int lane, int e) {
    if (op->kind != TILE_EMU_MMA) return amd_operand(op, lane, e);
    return nvidia_operand(right ? op->b : op->a, right ? 8 : op->m, lane, e);
}

static int result_row(const tile_emu_matrix *op, int lane, int r) {
    return op->kind == TILE_EMU_MMA ? lane / 4 + 8 * (r >> 1) : amd_row(op, lane, r);
}

static int result_column(const tile_emu_matrix *op, int lane, int r) {
    return op->kind == TILE_EMU_MMA ? 2 * (lane % 4) + (r & 1) : lane % op->m;
}

static float f8e5m2fnuz(uint8_t x) {
    if (x == 0x80) return NAN;
    return (x & 0x80 ? -1.0f : 1.0f) *
           (x & 0x7c ? ldexpf((float)(4 | (x & 3)), (x >> 2 & 31) - 18) : ldexpf(x & 3, -17));
}

static float f16_value(uint16_t x) {
    int e = x >> 10 & 31;
    float m = (float)(x & 1023), size = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf(m + 1024, e - 25) : ldexpf(m, -24);
    return x & 0x8000 ? -size : size;
}

double matrix_value(tile_emu_elem e, const void *p, int i) {
    switch (e) {
    case TILE_EMU_F64: return ((const double *)p)[i];
    case TILE_EMU_F32: return ((const float *)p)[i];
    case TILE_EMU_F16: return f16_value(((const uint16_t *)p)[i]);
    case TILE_EMU_BF16: return tile_f32_of_bf16(((const uint16_t *)p)[i]);
    case TILE_EMU_F8E4M3: return tile_f32_of_f8e4m3(((const uint8_t *)p)[i]);
    case TILE_EMU_F8E5M2: return tile_f32_of_f8e5m2(((const uint8_t *)p)[i]);
    case TILE_EMU_F8E4M3FNUZ: return tile_f32_of_f8e4m3fnuz(((const uint8_t *)p)[i]);
    case TILE_EMU_F8E5M2FNUZ: return f8e5m2fnuz(((const uint8_t *)p)[i]);
    case TILE_EMU_I32: return ((const int32_t *)p)[i];
    case TILE_EMU_I8: return ((const int8_t *)p)[i];
    case TILE_EMU_U8: return ((const uint8_t *)p)[i];
    }
    return NAN;
}

/* Products of f32 and less, and of integers, are exact in f64; the sum is rounded once. */
static void result_add(tile_emu_elem e, void *d, int r, double sum) {
    if (e == TILE_EMU_F64) ((double *)d)[r] += sum;
    if (e == TILE_EMU_F32) ((float *)d)[r] = (float)(((float *)d)[r] + sum);
    if (e == TILE_EMU_I32) ((int32_t *)d)[r] = (int32_t)(uint32_t)((int64_t)((int32_t *)d)[r] + (int64_t)sum);
}

enum { MOST = 32, DEEPEST = 128 }; /* rows, k of the largest instruction: CDNA4 ISA, MFMA */

typedef double Matrix[MOST][DEEPEST]; /* rows (columns of B), k */

static void gather(const tile_emu_matrix *op, bool right, const MeetArg *arg[], int lanes, Matrix to) {
    int rows = right ? op->n : op->m, each = rows * op->k / lanes;
    for (int lane = 0; lane < lanes; lane++)
        for (int e = 0; e < each; e++) {
            Place p = operand(op, right, lane, e);
            to[p.row][p.k] = matrix_value(right ? op->b : op->a, right ? arg[lane]->b : arg[lane]->a, e);
        }
}

static double product(const double *a, const double *b, int k) {
    double sum = 0;
    for (int i = 0; i < k; i++) sum += a[i] * b[i];
    return sum;
}

void matrix_multiply(const tile_emu_matrix *op, const MeetArg *arg[], int lanes) {
    Matrix a, b;
    int each = op->m * op->n / lanes;
    gather(op, false, arg, lanes, a);
    gather(op, true, arg, lanes, b);
    for (int lane = 0; lane < lanes; lane++)
        for (int r = 0; r < each; r++) {
            const double *x = a[result_row(op, lane, r)], *y = b[result_column(op, lane, r)];
            result_add(op->d, arg[lane]->d, r, product(x, y, op->k));
        }
}
