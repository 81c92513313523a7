/* match.h: kernels that a machine has a schedule for are recognised by their dataflow: arms.h plans them, and code
   generation asks again for what fills the schedule's text. */
#ifndef TILEC_CODEGEN_SCHEDULES_MATCH_H
#define TILEC_CODEGEN_SCHEDULES_MATCH_H

#include "ir/match.h"
#include "passes/plan/plan.h"
#include "target/matrix.h"

/* ---- c[i, j] = f(sum of a[i, p] * b over p), b[p, j] or b[j, p]; i and j are the grid's ranges 0 and 1. Two such sums
   of one a, f of both; and two such results. Or a part of it (split): c[part, i, j] = sum of a[i, p] * b over p of a
   part; the grid's ranges are part, i and j ---- */

enum { MOST_SUMS = 2, MOST_OPERANDS = 1 + MOST_SUMS };

typedef struct {
    int a, b[MOST_SUMS], c[MOST_SUMS]; /* parameters */
    int sums, stores;                  /* how many */
    bool b_is_kn;                      /* b[p, j]: its rows run across what is summed over */
    bool plain;                        /* the sums are stored as they are, each in one result */
    int64_t depth;                     /* positions p */
    int row;                           /* the range i, before j */
    int64_t parts, share;              /* of the sums, one of them for a task, and their positions */
    const Op *loop, *store[MOST_SUMS];
} Product;

/* NULL: it is that. Else what keeps it from it; "": it is no product of two whole matrices. */
Reason product_match(const Kernel *, Product *);                 /* no words: it is one */
int product_operands(const Product *, int param[MOST_OPERANDS]); /* a, then each b; how many */
/* The instruction for a schedule of four waves beside each other and 64 bytes of a row a step. NULL: none. Its operands
   may be f8e4m3fnuz where the product's are f8e4m3: with the same bits, but for -0 and NaN, half of each. */
const MatrixOp *product_op(const MatrixTarget *, const MatrixSchedule *, const Kernel *, const Product *);
/* Of 16 rows and columns, for threads that have 16 bytes of a row. NULL: none. */
const MatrixOp *product_op_few(const MatrixTarget *, const Kernel *, const Product *);

/* ---- o = softmax(scale q k^T, masked) v, the scores of some keys at a time ---- */

typedef struct {
    int q, k, v, o;           /* parameters [.., rows or keys, width] */
    int row, key, column;     /* ranges: rows of q and o, the loop's, the width */
    const Op *loop, *keys_at; /* keys_at: the load of k, and which of its matrices belongs to which of q's */
    Size rows, keys, width;
    double scale;
    bool from, to; /* there are bounds: row i sees the keys j of i + first <= j, and of j <= i + last */
    int64_t first, last;
    int keys_dim;       /* decode: the dimension of k that has the keys; with pages, those of a page */
    const Op *pages_at; /* decode: the load of the keys' pages from a table; NULL: they lie behind each other */
    int pages_dim;
    int64_t parts;   /* decode: of the keys (split), the first range of the grid; 1: all of them */
    int bases, sums; /* in parts: parameters of m and l; o is that of acc */
} Attention;

/* NULL: it is that, and *a says which. Else what keeps it from it; "": it has not two products in a loop. */
const char *attention_match(const Kernel *, Attention *a);
/* The same for a few rows, `row` a position or a tile, and the keys begin .. end - 1 of the loop, scalars of the task;
   k and v have them in any dimension but the last. */
const char *decode_match(const Kernel *, Attention *a);
/* The grid's tasks, at most: -1 where too many, or tiles of a run-time number of rows. */
int64_t decode_tasks(const Module *, const Kernel *);
int64_t decode_page(const Kernel *, const Attention *); /* keys of a page */

#endif
