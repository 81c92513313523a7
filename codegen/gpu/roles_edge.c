/* roles_edge.c: products of tiles over an edge, where these come last: of the columns that exist alone; a group without
   rows multiplies nothing.
   Takes: a loop of a role of groups whose steps multiply. Gives: the loop once for whole tiles, once for narrow ones,
   once for groups without rows. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>

enum { STEP = 16 /* columns: of all types the device library has products of multiples of so many */ };

/* Of an edge. */
typedef struct {
    int row, column; /* ranges; -1: none */
    int64_t columns; /* of products of narrow tiles; 0: there are none */
    bool rows;       /* groups may have none */
} Edge;

static const Op *first_product(const Op *loop) {
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_MMA) return op;
    return NULL;
}

static int grid_range(Fn *f, const Op *mma, int operand) {
    const Type t = mma->arg.p[operand]->type;
    for (int i = 0; i < t.nrange; i++)
        if (f->k->range.p[t.range[i]].grid) return t.range[i];
    return -1;
}

/* Positions of the last tile, if it is none of the others. */
static int64_t rest_of(Fn *f, int range) {
    const Range *r = &f->k->range.p[range];
    return range >= 0 && size_is_number(r->of) ? r->of.c % r->size : 0;
}

static Edge edge_of(Fn *f, const Op *mma) {
    Edge e = {.row = grid_range(f, mma, 0), .column = grid_range(f, mma, 1)};
    const int64_t columns = ceil_div(rest_of(f, e.column), STEP) * STEP;
    e.columns = e.column >= 0 && columns < f->k->range.p[e.column].size ? columns : 0;
    e.rows = e.row >= 0 && f->hip->split - 1 == e.row && f->range[e.row].count &&
             f->k->range.p[e.row].of.c % f->k->range.p[e.row].size;
    return e;
}

/* The loop with products of so many columns, as RoleText.narrow says it. */
static void loop_lines(Fn *f, const Op *loop, const RangeText *range, const CExpr *lo, const CExpr *hi,
                       int64_t narrow) {
    f->indent++;
    f->range[loop->range] = *range;
    f->hip->role->narrow = narrow;
    f->back->before_loop(f, loop);
    emit_for_steps(f, loop, lo, hi);
    f->back->after_loop(f, loop);
    f->hip->role->narrow = 0;
    f->indent--;
}

bool hip_role_edges(Fn *f, const Op *loop) {
    const Op *mma = first_product(loop);
    if (!mma || loop->runs || hip_role_is_late(loop) || !hip_role_edges_last(f->k->roles)) return false;
    const Edge e = edge_of(f, mma);
    const CExpr *lo, *hi;
    if (!e.columns && !e.rows) return false;
    emit_for_head(f, loop, &lo, &hi);
    const RangeText range = f->range[loop->range];
    const char *open = "if";
    if (e.rows) {
        fn_line(f, "if (%s <= %" PRId64 " * group) {", cexpr_operand(f, f->range[e.row].count)->text, f->hip->share);
        loop_lines(f, loop, &range, lo, hi, ROLE_NOTHING);
        open = "} else if";
    }
    if (e.columns) {
        fn_line(f, "%s (%s <= %" PRId64 ") {", open, cexpr_operand(f, f->range[e.column].count)->text, e.columns);
        loop_lines(f, loop, &range, lo, hi, e.columns);
    }
    fn_line(f, "} else {");
    loop_lines(f, loop, &range, lo, hi, 0);
    fn_line(f, "}");
    return true;
}
