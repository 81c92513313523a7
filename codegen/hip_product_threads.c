/* hip_product_threads.c: what the schedule of products wants to know where threads load the operands. */
#include "codegen/hip_schedule.h"

#include <inttypes.h>

enum { ROW_BYTES = 64 }; /* of workgroup memory, a step: four lanes have 16 bytes each */

static void fill_tiles(Schedule *s) {
    schedule_number(s, "ROWS", s->facts->rows);
    schedule_number(s, "COLUMNS", s->facts->columns);
    schedule_number(s, "TALL", s->facts->rows / 2);
    schedule_number(s, "WIDE", s->facts->columns / 4);
}

static void fill_operands(Schedule *s, const Product *p) {
    const Param *a = &s->f.k->param.p[p->a], *b = &s->f.k->param.p[p->b[0]];
    int bytes = elem_bits(a->elem) / 8, deep = ROW_BYTES / bytes;
    bool cut = a->dim[1].c % (2 * deep) || (p->across && b->dim[0].c % (2 * deep));
    schedule_kind(s, cut ? "cut" : "even");
    if (p->across) schedule_kind(s, cut ? "columns_cut" : "columns_even");
    schedule_hole(s, "left_in", cut ? ", int left" : "");
    schedule_hole(s, "left_above", cut ? fn_text(&s->f, ", %" PRId64 " - above", b->dim[0].c) : "");
    schedule_hole(s, "left", cut ? ", left" : "");
    schedule_number(s, "DEEP", deep);
    schedule_number(s, "CHUNK", 16 / bytes);
    schedule_number(s, "a_row", a->dim[1].c * bytes);
    schedule_number(s, "b_row", b->dim[1].c * bytes);
    schedule_number(s, "deep", b->dim[0].c);
    schedule_hole(s, "a_at", hip_argument(&s->f, p->a));
    schedule_hole(s, "b_at", hip_argument(&s->f, p->b[0]));
}

/* Of the products, of their sums and of the result; `wide`: four of its elements are stored together. */
static void fill_types(Schedule *s, const Product *p, const MatrixOp *op) {
    const Kernel *k = s->f.k;
    const Param *c = &k->param.p[p->c[0]];
    bool wide = c->dim[1].c % 4 == 0;
    schedule_hole(s, "operand", elem_c(k->param.p[p->a].elem));
    schedule_hole(s, "total", elem_c(p->loop->res.p[0]->type.elem));
    schedule_hole(s, "mfma", op->name);
    schedule_number(s, "each", op->ad->k * op->ad->m / s->f.hip->target->wave);
    schedule_number(s, "bytes", elem_bits(c->elem) / 2);
    schedule_kind(s, wide ? "wide" : "single");
    schedule_hole(s, "clamp_j", wide ? "" : "tile_min_i32(");
    schedule_hole(s, "end_j", wide ? "" : fn_text(&s->f, ", %s_N - 1)", s->launch->function));
}

bool product_prepare_threads(Schedule *s, const Product *p, const MatrixSchedule *facts) {
    const MatrixOp *op = product_op(s->f.hip->target, s->f.k, p);
    if (!op) return false;
    schedule_begin(s, facts);
    product_fill_sizes(s, p);
    fill_tiles(s);
    product_fill_result(s, p);
    fill_operands(s, p);
    fill_types(s, p, op);
    return true;
}
