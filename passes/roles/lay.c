/* lay.c: where tiles lie in the registers of the groups that multiply: sums as the instruction leaves them, a panel of
   columns as that instruction would with fewer columns, and other tiles beside these.
   Takes: the role `multiply`. Gives: a layout of each tile that lies in no slot, of a group's share. */
#include "passes/layout/layout.h"
#include "passes/roles/slice.h"

#include <string.h>

typedef struct {
    Slice *s;
    Lay lay;
    Layout *base; /* by range that has columns: of the rows, and its positions */
} Tiles;

/* Of sums of so many columns, along the range. */
static Layout sums_layout(const Slice *s, int range, int columns) {
    Layout l = {0};
    matrix_layout(s->m->arena, &l, s->op_matrix, 'd', columns);
    for (int i = 0; i < l.nindex; i++)
        l.index[i].name = s->k->range.p[strcmp(l.index[i].name, "i") ? range : s->row].name;
    l.width = 0;
    return l;
}

static bool is_reduced(const Slice *s, int range) {
    for (int i = 0; i < s->op.n; i++)
        for (int n = 0; n < s->op.p[i]->nover; n++)
            if (op_info[s->op.p[i]->kind].class == CLASS_REDUCE && s->op.p[i]->over[n] == range) return true;
    return false;
}

/* Products with a multiple of 16 columns take less time than those with 8 columns fewer [measured: bench/gpu/log.md],
   and threads write 16 columns to a slot. Nobody stores the columns that there are not. */
int64_t slice_columns_laid(const Slice *s, int range) {
    enum { STEP = 16 /* columns [measured, as above] */ };
    const int64_t n = slice_share(s, range);
    return s->chained && n > STEP && !is_reduced(s, range) ? (n + STEP - 1) / STEP * STEP : n;
}

static bool has_columns(const Slice *s, int range) {
    bool chained = false;
    for (int i = 0; i < s->dot.n && s->chained; i++) chained = chained || dot_column(s, s->dot.p[i]) == range;
    for (int i = 0; i < s->dot.n && s->makes; i++) chained = chained || s->dot.p[i]->over[0] == range;
    const int of = s->k->range.p[range].part_of - 1;
    return chained || range == s->column || of == s->column || (of >= 0 && of == s->share);
}

/* The range of the type that has columns; of rows alone the whole tile's. */
static int columns_of(const Slice *s, Type t) {
    for (int i = 0; i < t.nrange; i++)
        if (has_columns(s, t.range[i])) return t.range[i];
    return s->column;
}

static void value_lay(Tiles *t, Value *v) {
    if (!v->type.nrange) return;
    Layout l = lay_slice(&t->lay, &t->base[columns_of(t->s, v->type)], v->type);
    v->layout = lay_number(&t->lay, &l);
}

static void op_lay(Tiles *t, const Op *op) {
    for (int i = 0; i < op->res.n && op->kind != OP_GET; i++) value_lay(t, op->res.p[i]);
    for (int i = 0; op->kind == OP_FOR && i < op->region[0]->arg.n; i++) value_lay(t, op->region[0]->arg.p[i]);
}

void slice_lay(Slice *s, int multiply) {
    Kernel *k = s->to;
    Tiles t = {.s = s, .lay = {.c = s->c, .m = s->m, .k = k}, .base = ARENA_ARRAY(s->scratch, Layout, k->range.n)};
    lay_names(&t.lay);
    for (int r = 0; r < k->range.n; r++)
        if (has_columns(s, r)) t.base[r] = sums_layout(s, r, (int)slice_columns_laid(s, r));
    for (int i = multiply; i <= multiply + (s->wide >= 0); i++) {
        const Region *body = k->roles->role.p[i].body;
        for (const Op *op = walk(body); op; op = walk_next(op, body)) op_lay(&t, op);
    }
}
