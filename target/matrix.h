/* matrix.h: the matrix instructions of the GPUs, as data: element types, shapes, layouts of the operands, cycles.
   The rows are in target/NAME.def, what they mean is in docs/design/layout.md. */
#ifndef TILEC_TARGET_MATRIX_H
#define TILEC_TARGET_MATRIX_H

#include "ir/layout/lds.h"

typedef enum { MATRIX_MFMA, MATRIX_MMA, MATRIX_WGMMA } MatrixKind;

/* Layouts as text; ranges i, j, k, and b for an instruction that multiplies several blocks at once. b is NULL where B
   must lie in shared memory. */
typedef struct {
    const char *name;
    int m, n, k, blocks;
    const char *a, *b, *d;
} MatrixShape;

typedef struct {
    MatrixKind kind;
    const char
        *name; /* MFMA: what follows __builtin_amdgcn_mfma_; others: the PTX name, with N in place of n for wgmma */
    const char *function;       /* of the device headers (tile_mfma_.., tile_mma_..); NULL: schedules alone use it */
    const char *a, *b, *d;      /* element types */
    const MatrixShape *ad, *bd; /* the shape of A and D, and that of B */
    int cycles;                 /* wgmma: for n = 8 */
    int step;                   /* wgmma: n is a multiple of 8 up to 32, of this up to 256 */
} MatrixOp;

/* A panel of shared memory that wgmma reads through a descriptor: 8 rows of it, ranges j (or i) and k. */
typedef struct {
    const char *name;
    int swizzle, width;
    const char *layout;
} MatrixPanel;

/* A whole kernel that the machine has a pipelined text for, codegen/schedules/NAME_FAMILY.hip, with the tiles that it
   works in; there may be several of one name. Rows of its tensors begin at multiples of `align` bytes. */
typedef struct {
    const char *name;
    int width; /* of rows that one workgroup holds as a whole, at most; 0: none are */
    int rows, columns, align;
    int threads, lds_bytes; /* of a workgroup */
    int cluster;            /* workgroups that meet; 0: a plain kernel, which copies no boxes of tensors */
    int resident_groups;    /* workgroups that the machine runs at once */
    double cost;            /* time of a step of 64 positions along a tile, in 40 ns; 0: counted */
} MatrixSchedule;

typedef struct {
    const char *name;
    const char *family; /* machines that have the texts of schedules in common */
    int processors;     /* compute units of the device (AMD), multiprocessors (NVIDIA) */
    int wave, lds_bytes;
    int registers, most_registers; /* of 32 bits: those that a workgroup shares, and at most of a thread */
    bool dependent; /* a launch may begin before the one before it has ended, and waits for that itself */
    bool prefetch;  /* memory is brought to the L2 without being loaded (tile_prefetch) */
    LdsMachine lds;
    const MatrixOp *op;
    int nops;
    const MatrixPanel *panel;
    int npanels;
    const MatrixSchedule *schedule; /* ends with a row without a name */
} MatrixTarget;

extern const MatrixTarget matrix_targets[];
extern const int matrix_target_count;

const MatrixTarget *matrix_target(const char *name); /* NULL: none */
const MatrixOp *matrix_op(const MatrixTarget *, const char *name, const char *a, const char *b);
/* The one that goes deepest at once of those with so many rows, for operands of one type. NULL: none. */
const MatrixOp *matrix_deepest(const MatrixTarget *, int rows, const char *operand, const char *sum);
/* The one that multiplies most in a cycle, of at most so many rows and so deep; of several that with the fewest rows,
   then the deepest. NULL: none. */
const MatrixOp *matrix_fastest(const MatrixTarget *, int rows, int depth, const char *operand, const char *sum);
/* With tiles of so many columns; 0: the first of that name. NULL: none. */
const MatrixSchedule *matrix_schedule(const MatrixTarget *, const char *name, int64_t columns);
/* The first of that name for rows of so many elements. NULL: none. */
const MatrixSchedule *matrix_schedule_wide(const MatrixTarget *, const char *name, int64_t width);
int matrix_width(const char *type);      /* bits of an element */
bool matrix_is_plain(const MatrixOp *);  /* one product of operands that lie in registers, without scales */
bool matrix_is_scaled(const MatrixOp *); /* f8f6f4; MFMA's function says the operands' types behind the name */
bool matrix_n(const MatrixOp *, int n);  /* whether it exists with this n */
int matrix_cycles(const MatrixOp *, int n);

/* The registers of operand 'a', 'b' or 'd' for this n; false: the operand has no registers. */
bool matrix_layout(Arena *, Layout *, const MatrixOp *, char operand, int n);

#endif
