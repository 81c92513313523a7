/* tiles.h: in which tiles a workgroup of roles computes products: their sizes, stages, groups, registers, the cluster.
 */
#ifndef TILEC_PASSES_PLAN_TILES_H
#define TILEC_PASSES_PLAN_TILES_H

#include "target/matrix.h"

#include <stdbool.h>
#include <stdint.h>

enum { PANEL_COLUMNS = 64 /* of results that are made at a time: 128 bytes of elements of 16 bits, a row of a box */ };

enum { TILES_FEW = 64 /* rows of results for which memory takes the time (tile_few.c) */ };

/* Products of two tiles in shared memory. Sizes known at run time only count by their bounds. */
typedef struct {
    int64_t rows, columns; /* of the results */
    int64_t row_groups, column_groups; /* of a ragged range; 1: it is none */
    int64_t tasks;         /* for each tile of them */
    int64_t steps;         /* of a task, of `depth` positions each, its loops together */
    int rings;             /* of which each step fills a slot of one */
    int depth;
    int width;      /* bytes of an element of the operands, .. */
    int row_bits;   /* .. and bits of one with the rows, in a slot */
    int made_words; /* of a thread, of an operand that it makes of these; 0: they are operands as they are */
    int row_tiles,
        column_tiles;   /* tiles in the slots of all rings: those with the rows of results, with their columns */
    int row_across, column_across; /* of these: in panels that run across what is contracted */
    int sums;           /* tiles of sums that a task holds at once */
    int parts;          /* products of a step whose sums are added up elsewhere, while those of the next step are made */
    int products;       /* of a step of each ring */
    bool gathers;       /* threads copy row by row */
    double bytes;       /* of the tensors that are copied */
    bool apart;         /* rows of operands are no multiples of LINE bytes: a box of a row reads two lines */
    int results, slots; /* stores; those that go through a slot */
    bool sends;         /* results go to other ranks, at the pace of links: a group leaves a tile in slots, and goes on */
    int nears;          /* matrices of 16 bits beside the results that come by boxes, a panel of columns at a time */
    int kept;           /* tiles of sums, rounded to 16 bits, of which results may be made in the next task; 0: they are
                           made at once */
    bool oblong;        /* tiles are no squares */
    bool few; /* results have up to TILES_FEW rows, or columns where operands are exchanged; of plain products */
    bool early; /* those of few rows' products that are read once are weights, which may come before the launch before has
                   ended */
    bool exchanged;     /* rows of tiles are columns of results */
    int least_columns;  /* of a tile, which are multiples of it up to 64, and of 8 */
    int64_t only_rows, only_columns; /* the sizes that tiles have to have; 0: any */
    int64_t even_rows, even_columns; /* tiles have to have divisors of these; 0: any */
    bool edges;                      /* tiles over an edge may come last, and be narrow */
    bool singles;                    /* bytes of results leave one by one */
    int only_cluster;                /* workgroups; 0: any number */
    int only_slices;                 /* likewise, that share a tile; 0: any number */
    int only_resident;               /* workgroups that a processor holds at once; 0: one */
    bool sliced;                     /* sums of slices of the steps add up to a task's */
    bool clusters_rows,
        clusters_columns; /* workgroups of other rows (columns) may copy the columns' (rows') tiles together */
} TileQuestion;

typedef struct {
    int rows, columns;             /* of a tile */
    int stages;                    /* slots of a ring that a loop fills */
    int outs;                      /* slots of a ring of results, a group */
    int nears;                     /* slots of the ring of what comes beside results; 0: there is none */
    int late;                      /* tiles_late */
    int groups;                    /* of 128 threads, that multiply; each has an equal part of the rows */
    int copy_registers, registers; /* of a thread: of the group with the copying warp, of those that multiply */
    int resident;                  /* workgroups that a processor holds at once */
    int cluster;
    int slices;  /* workgroups of a cluster that share a tile, each with a slice of the steps; 1: none do */
    bool edges;  /* tiles over an edge come last, to who is done first, and have products of what exists alone */
    bool beside; /* the cluster's tiles lie along a row of tiles, and have the rows in common; else above each other */
    double share;  /* of the processors that copy at once */
    double memory; /* clocks for which all processors together wait for a round's operands from memory */
    double clocks; /* of a task */
    double apart,
        outside; /* clocks that it takes longer where rows are apart; that it takes where copies lie outside */
    double again; /* clocks that it takes longer where more than .few tasks, or several rounds, run at once */
    double few;   /* tasks for which it is counted; 0: there are several rounds of them */
    double seconds;
} TilePlan;

/* The largest tiles but where others gain more than the model knows: a last round that is not full takes less power. */
#define TILES_GAIN 0.97
#define TILES_GAIN_FEW 0.995 /* of few rows it knows more */

/* false: no tile fits. op: the instruction of the products. */
bool tiles_plan(const MatrixTarget *, const MatrixOp *op, const TileQuestion *, TilePlan *);

/* Seconds of all rounds of tasks, if nothing but this were at work: tensor cores; operands read from shared memory;
   copies from the L2. counted: with all of these, as the choice compares plans. */
typedef struct {
    double products, shared, copies, counted;
} TileTimes;

TileTimes tiles_times(const MatrixTarget *, const MatrixOp *op, const TileQuestion *, const TilePlan *);

/* Of n positions in so many groups, taken for equally long; no tile has positions of two. */
int64_t tiles_of(int64_t n, int64_t groups, int64_t size);

/* Turns of the next task's products that a panel of results takes, a part of it in each, or in each of some; 0: results
   are made at once. */
int tiles_late(const MatrixTarget *, const TileQuestion *, const TilePlan *);

/* Sums that a cluster adds up have bytes of their own: they do not lie over the operands. */
bool tiles_sums_apart(const MatrixTarget *, const TileQuestion *, const TilePlan *);

/* Slots that a group's ring of results has room for; 0: nothing fits. */
void tiles_rings(const MatrixTarget *, const TileQuestion *, TilePlan *);

#endif
