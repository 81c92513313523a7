/* roles_distance.c: distances of a row's position and a column's as floats, as ALiBi takes them: the machine converts a
   number a row of a thread, and subtracts what its columns differ by, which compilers know. All of these are whole
   numbers below 2^24: exact. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"
#include "ir/size.h"

#include <inttypes.h>
#include <string.h>

/* Numbers below 2^24 are exact: smaller integers wrap. */
static bool is_wide(const Value *v) {
    return v->type.elem == ELEM_I64 || v->type.elem == ELEM_I32 || v->type.elem == ELEM_F32;
}

/* The range of which it is the position, in 32 bits; -1: it is something else, or may not be below 2^23. */
static int position_of(Fn *f, const Value *v) {
    enum { MOST = 1 << 23 };
    while (v->def && (v->def->kind == OP_BROADCAST || v->def->kind == OP_CAST) && is_wide(v)) v = v->def->arg.p[0];
    if (!v->def || v->def->kind != OP_POS || v->type.elem != ELEM_I64) return -1;
    const Range *r = &f->k->range.p[v->def->range];
    const Op *loop = r->grid ? NULL : kernel_loop(f->k, v->def->range);
    if (r->starts || r->owner >= 0 || (!r->grid && (!loop || !f->range[v->def->range].natural))) return -1;
    const int64_t most = r->grid ? size_most(f->m, r->of) : value_most(f->m, f->k, loop->arg.p[1]);
    return most >= 0 && most < MOST ? v->def->range : -1;
}

const Layout *hip_role_rows_layout(const Kernel *k, int row) {
    for (int i = 0; i < k->layout.n; i++)
        if (k->layout.p[i].nindex == 1 && strcmp(k->layout.p[i].index[0].name, k->range.p[row].name) == 0)
            return &k->layout.p[i];
    return NULL;
}

static const char *place_of(Fn *f, int range) {
    return cexpr_add(f, f->range[range].begin, f->range[range].pos)->text;
}

/* The distances of a thread's first column, by its rows. */
static const char *base_lines(Nest *n, int row, int column, const Layout *rows, bool back) {
    Fn *f = n->f;
    const CExpr *at_row = f->range[row].pos, *at_column = f->range[column].pos;
    const char *base = c_name(&f->names, "distance_base");
    fn_line(f, "float %s[%d];", base, layout_registers(rows));
    Nest m = nest_over(f, rows, 0);
    f->range[column].pos = nest_first(n, column);
    const char *one = place_of(f, back ? column : row), *other = place_of(f, back ? row : column);
    nest_line(&m, m.n, "%s[%s] = (float)(int32_t)(%s - (%s));", base, nest_register(&m)->text, one, other);
    nest_print(&m);
    f->range[row].pos = at_row, f->range[column].pos = at_column;
    return base;
}

const CExpr *hip_role_distance(Nest *n, const Op *op) {
    Fn *f = n->f;
    const Value *v = op->res.n == 1 ? op->res.p[0] : NULL;
    const Op *sub = op->kind == OP_CAST ? op->arg.p[0]->def : NULL;
    if (!n->layout || !sub || sub->kind != OP_SUB || v->type.elem != ELEM_F32 || v->type.nrange != 2) return NULL;
    const int one = position_of(f, sub->arg.p[0]), other = position_of(f, sub->arg.p[1]), row = f->hip->split - 1;
    if (one < 0 || other < 0 || one == other || (one != row && other != row)) return NULL;
    const bool back = other == row;
    const int column = back ? one : other;
    const Layout *rows = hip_role_rows_layout(f->k, row);
    if (!rows || layout_index(n->layout, f->k->range.p[column].name, NULL) < 0) return NULL;
    const char *base = base_lines(n, row, column, rows, back), *reg = register_of(n, rows)->text;
    return cexpr_open(f, "%s[%s] %s (float)(%s)", base, reg, back ? "+" : "-", nest_behind_first(n, column)->text);
}
