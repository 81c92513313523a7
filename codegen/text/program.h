/* program.h: texts of a program: the tasks of its nodes, and its ranks. */
#ifndef TILEC_CODEGEN_TEXT_PROGRAM_H
#define TILEC_CODEGEN_TEXT_PROGRAM_H

#include "codegen/text/fn.h"

const CExpr *range_tasks(Fn *, const Kernel *, int range); /* number of tasks along a range of the grid */
const CExpr *grid_index(Fn *, const Kernel *, int range,
                        const char *task);                 /* of a task's tile; the last range is the fastest */
/* Of an order (order.c). Ranges that it does not count have one tile. */
typedef struct {
    int n;
    const CExpr *tiles[MAX_RANGES]; /* along each range */
    const char *name[MAX_RANGES];   /* of the constant that becomes the number of a tile; NULL: of a range with one tile */
    const char *type;               /* of constants; NULL: int64_t */
    bool alone;                     /* the text knows no function of the device library */
    bool counted_late;              /* the height of a band is counted by the run, also where it is known (bench/gpu/log.md) */
} OrderTiles;
void order_write(Fn *, const Order *, const OrderTiles *, const char *task);
/* The way back: the number of the task with the tiles that .name say. */
const CExpr *order_number(Fn *, const Order *, const OrderTiles *);
/* The number of the task of workgroup `group`, of so many. */
const char *order_deal_text(Fn *, const Order *, const char *group, const CExpr *tasks);
const CExpr *node_tasks(Fn *, const Kernel *);
const CExpr *peer_text(Fn *, int axis, const CExpr *coord); /* number of the rank with that coordinate */

#endif
