/* order_alone.c: the order of a grid's workgroups as a function of HIP, from blockIdx and gridDim alone. */
#include "codegen/text/order_alone.h"
#include "codegen/text/program.h"

#include <inttypes.h>

static const char axis_name[] = "xyz";

/* Workgroups along range r, and the name of its tile. */
static void range_set(Fn *f, const OrderAxes *axes, int r, OrderTiles *t) {
    if (axes->columns && r >= axes->n) {
        const bool row = r == axes->n;
        t->tiles[r] = row ? cexpr_name(f, "rows") : cexpr_number(f, axes->columns);
        t->name[r] = c_name(&f->names, row ? "x_row" : "x_column");
        return;
    }
    const char axis[] = {axis_name[axes->axis[r]], 0};
    t->tiles[r] = cexpr_name(f, fn_text(f, "gridDim.%s", axis));
    t->name[r] = c_name(&f->names, axis);
}

/* The number of a workgroup among those that are ordered, as the machine begins them. */
static const CExpr *group_text(Fn *f, const OrderAxes *axes) {
    const CExpr *sum = NULL;
    for (int i = 0; i < axes->n; i++) {
        const CExpr *at = cexpr_name(f, fn_text(f, "blockIdx.%c", axis_name[axes->axis[i]]));
        const CExpr *n = cexpr_name(f, fn_text(f, "gridDim.%c", axis_name[axes->axis[i]]));
        sum = sum ? cexpr_add(f, cexpr_mul(f, sum, n), at) : at;
    }
    const CExpr *x = cexpr_name(f, "blockIdx.x");
    if (axes->columns) sum = sum ? cexpr_add(f, cexpr_mul(f, sum, cexpr_name(f, "whole")), x) : x;
    return sum;
}

/* order_deal (ir/order.h) in steps. */
static void deal_write(Fn *f, const Order *o, const CExpr *tasks) {
    const int64_t block = o->chiplets ? (o->block + o->chiplets - 1) / o->chiplets * o->chiplets : 0;
    const char *in = "group", *n = "tasks";
    fn_constant(f, "tasks", tasks->text);
    if (block) {
        fn_constant(f, "begin", fn_text(f, "group - group %% %" PRId64, block));
        fn_constant(f, "left", fn_text(f, "tasks - begin < %" PRId64 " ? tasks - begin : %" PRId64, block, block));
        in = "(group - begin)", n = "left";
    }
    fn_constant(f, "chiplet", fn_text(f, "%s %% %d", in, o->chiplets));
    fn_constant(f, "longer", fn_text(f, "%s %% %d", n, o->chiplets));
    fn_constant(f, "task",
                fn_text(f, "%schiplet * (%s / %d) + (chiplet < longer ? chiplet : longer) + %s / %d",
                        block ? "begin + " : "", n, o->chiplets, in, o->chiplets));
}

/* What is not a whole row of x stays. */
static void rows_write(Fn *f, const OrderAxes *axes, Text *head) {
    if (!axes->columns) return;
    text_printf(head, "    const unsigned rows = gridDim.x / %" PRId64 ", whole = rows * %" PRId64 ";\n", axes->columns,
                axes->columns);
    text_add(head, "    if (blockIdx.x >= whole) return {blockIdx.x, blockIdx.y, blockIdx.z};\n");
    c_name(&f->names, "rows");
    c_name(&f->names, "whole");
}

static const char *axis_text(Fn *f, const OrderAxes *axes, int axis) {
    if (axis == 0 && axes->columns) return fn_text(f, "x_row * %" PRId64 " + x_column", axes->columns);
    for (int i = 0; i < axes->n; i++)
        if (axes->axis[i] == axis) return fn_text(f, "%c", axis_name[axis]);
    return fn_text(f, "blockIdx.%c", axis_name[axis]);
}

void order_alone_write(Text *to, const char *name, const char *comment, const Order *o, const OrderAxes *axes) {
    static const char *const words[] = {"group", "tasks", "begin", "left", "chiplet", "longer", "task"};
    Arena *a = arena_new();
    Fn f = {.arena = a, .names = {.arena = a}, .indent = 1};
    OrderTiles t = {.n = axes->n + (axes->columns ? 2 : 0), .alone = true};
    Text head = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) c_name(&f.names, words[i]);
    rows_write(&f, axes, &head);
    for (int r = 0; r < t.n; r++) range_set(&f, axes, r, &t);
    const CExpr *tasks = t.tiles[0];
    for (int r = 1; r < t.n; r++) tasks = cexpr_mul(&f, tasks, t.tiles[r]);
    fn_constant(&f, "group", group_text(&f, axes)->text);
    if (o->chiplets > 1) deal_write(&f, o, tasks);
    order_write(&f, o, &t, o->chiplets > 1 ? "task" : "group");
    for (int i = 0; i < f.head.n; i++)
        if (f.head.p[i].type[0] == 'i') f.head.p[i].type = "unsigned";
    fn_line(&f, "return {%s, %s, %s};", axis_text(&f, axes, 0), axis_text(&f, axes, 1), axis_text(&f, axes, 2));
    text_printf(to, "%sstruct %s_block {\n    unsigned x, y, z;\n};\n", comment, name);
    text_printf(to, "static __device__ inline %s_block %s_order() {\n%s", name, name, text_str(&head));
    fn_head_print(&f, to);
    text_add(to, text_str(&f.body));
    text_add(to, "}\n");
    text_free(&f.body);
    text_free(&head);
    arena_free(a);
}
