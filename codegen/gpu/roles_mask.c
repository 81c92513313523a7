/* roles_mask.c: masks of a step's scores by numbers of their row, such as where a document begins: a wave whose rows
   see the whole tile masks nothing. Each comparison is looked at for a thread's rows, with the first or the last column
   of the tile. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

typedef struct {
    Fn *f;
    int row, column;
    const Layout *rows;
} Mask;

static bool follows_column(const Mask *m, const Value *v) {
    const Op *op = v->def;
    if (op && op->kind == OP_POS) return op->range == m->column;
    if (!op || !(op_is_elementwise(op) || op->kind == OP_BROADCAST)) return type_has(v->type, m->column);
    for (int i = 0; i < op->arg.n; i++)
        if (follows_column(m, op->arg.p[i])) return true;
    return false;
}

/* Its text can be made for any column. */
static bool is_inline(const Mask *m, const Value *v) {
    if (v->type.nrange < 2) return true;
    if (!v->def || fn_held(m->f, v)->hold != HOLD_INLINE) return false;
    for (int i = 0; i < v->def->arg.n; i++)
        if (!is_inline(m, v->def->arg.p[i])) return false;
    return true;
}

/* The position of a column, as an integer that does not wrap. */
static bool is_column(const Mask *m, const Value *v) {
    while (v->def && (v->def->kind == OP_BROADCAST || v->def->kind == OP_CAST) && elem_bits(v->type.elem) >= 32 &&
           elem_is_int(v->type.elem))
        v = v->def->arg.p[0];
    return v->def && v->def->kind == OP_POS && v->def->range == m->column;
}

/* The column for which the condition says most: 0: the first, 1: the last; -1: none does. */
static int column_that_decides(const Mask *m, const Op *op) {
    const bool above = op->kind == OP_GE || op->kind == OP_GT;
    if (!above && op->kind != OP_LE && op->kind != OP_LT) return -1;
    for (int i = 0; i < 2; i++)
        if (is_column(m, op->arg.p[i]) && !follows_column(m, op->arg.p[!i])) return above == (i == 1);
    return -1;
}

/* Writes a condition that holds where v holds for all of a thread's rows, in the first or the last column; its name. */
static const char *line_of_rows(const Mask *m, const Value *v, int last) {
    Fn *f = m->f;
    const CExpr *at_row = f->range[m->row].pos, *at_column = f->range[m->column].pos;
    const char *all = c_name(&f->names, "all");
    fn_line(f, "bool %s = true;", all);
    Nest n = nest_over(f, m->rows, 0);
    f->range[m->column].pos = cexpr_number(f, last ? f->k->range.p[m->column].size - 1 : 0);
    nest_line(&n, n.n, "%s = %s && %s;", all, all, cexpr_operand(f, nest_value(&n, v))->text);
    nest_print(&n);
    f->range[m->row].pos = at_row, f->range[m->column].pos = at_column;
    return all;
}

/* A text that is true where all of a thread's rows see all columns; NULL: none is known. */
static const char *holds_for_all(const Mask *m, const Value *v) {
    const Op *op = v->def;
    if (op && (op->kind == OP_AND || op->kind == OP_OR) && op->arg.n == 2) {
        const char *x = holds_for_all(m, op->arg.p[0]), *y = holds_for_all(m, op->arg.p[1]);
        if (x && y) return fn_text(m->f, "(%s %s %s)", x, op->kind == OP_AND ? "&&" : "||", y);
        return op->kind == OP_OR ? (x ? x : y) : NULL;
    }
    if (!follows_column(m, v)) return line_of_rows(m, v, 0);
    const int last = op ? column_that_decides(m, op) : -1;
    return last >= 0 ? line_of_rows(m, v, last) : NULL;
}

/* Some rows' numbers are compared: positions alone are looked at for the whole tile (chain_mask.c). */
static bool find_mask(Fn *f, const Op *op, Mask *m) {
    const Value *made = op->res.n == 1 ? op->res.p[0] : NULL, *seen = op->arg.n == 3 ? op->arg.p[0] : NULL;
    if (op->kind != OP_SELECT || made->type.nrange != 2 || seen->type.nrange != 2 || made->type.elem != ELEM_F32 ||
        (op->in->parent && op->in->parent->kind == OP_IF) || fn_held(f, made)->hold != HOLD_TILE)
        return false;
    const int row = f->hip->split - 1, column = made->type.range[made->type.range[0] == row];
    *m = (Mask){f, row, column, row < 0 ? NULL : hip_role_rows_layout(f->k, row)};
    return m->rows && type_has(made->type, row) && kernel_loop(f->k, column) && is_inline(m, seen);
}

bool hip_role_mask(Fn *f, const Op *op) {
    Mask m;
    if (!find_mask(f, op, &m)) return false;
    const char *all = holds_for_all(&m, op->arg.p[0]);
    if (!all) return false;
    const Tile *to = held_tile(f, op->res.p[0]);
    Nest n = f->back->nest(f, to);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, cexpr_bare(nest_value(&n, op->arg.p[1]))->text);
    nest_print(&n);
    fn_line(f, "if (tile_wave_any(!%s)) {", all);
    f->indent++;
    n = f->back->nest(f, to);
    const char *x = nest_tile(&n, to)->text, *seen = cexpr_operand(f, nest_value(&n, op->arg.p[0]))->text;
    nest_line(&n, n.n, "%s = %s ? %s : %s;", x, seen, x, cexpr_operand(f, nest_value(&n, op->arg.p[2]))->text);
    nest_print(&n);
    f->indent--;
    fn_line(f, "}");
    return true;
}
