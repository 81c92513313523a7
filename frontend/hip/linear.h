/* linear.h: places of memory as sums of multiples. An atom is a symbol, or what is no such sum: of scalars alone, or of
   threads alone. */
#ifndef TILEC_FRONTEND_HIP_LINEAR_H
#define TILEC_FRONTEND_HIP_LINEAR_H

#include "base/arena.h"
#include "frontend/hip/hip.h"

enum { LINEAR_TERMS = 16 }; /* of a sum; chosen: kernels have up to 6 */

typedef struct {
    const HipExpr *atom;
    int64_t mul;
} LinearTerm;

typedef struct {
    bool failed; /* it is no sum of such atoms */
    int64_t c;
    int n;
    LinearTerm term[LINEAR_TERMS];
} Linear;

typedef struct {
    int64_t lo, hi;
} HipInterval;

/* Sizes that symbols have. */
typedef struct {
    Arena *arena;
    const HipKernel *k;
    const HipExpr **trips; /* of each loop */
    int64_t blocks[5];     /* values of HIP_BLOCK 0 to 4: the axes; 3 and 4: rows and columns that axis 0 is cut into */
} HipSizes;

enum { FOLLOWS_BLOCK = 1, FOLLOWS_THREAD = 2, FOLLOWS_LOOP = 4 };
int hip_follows(const HipExpr *);
HipInterval hip_interval(const HipSizes *, const HipExpr *);
const HipExpr *hip_made(Arena *, HipExprKind, const HipExpr *, const HipExpr *);
const HipExpr *hip_symbol(Arena *, HipExprKind, int64_t number);
Linear linear_of(const HipSizes *, const HipExpr *);
const HipExpr *hip_simpler(const HipSizes *, const HipExpr *);

#endif
