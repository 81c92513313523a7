/* hip_skinny_cdna.c: what the schedule of products of few rows wants to know where threads load the operands. */
#include "codegen/schedules/hip_schedule.h"
#include "codegen/schedules/skinny_cdna.h"

#include <inttypes.h>

enum { SIMDS = 4 }; /* of a processor */

static int bytes_of(const Param *p) { return elem_bits(p->elem) / 8; }

/* Where operands are, and what a lane has of them. */
static void fill_operands(Schedule *s, const Product *p, const MatrixOp *op, int columns) {
    const Param *a = &s->f.k->param.p[p->a], *b = &s->f.k->param.p[p->b[0]];
    schedule_number(s, "DEEP", SKINNY_RUN / bytes_of(a));
    schedule_number(s, "CHUNK", 16 / bytes_of(a));
    schedule_number(s, "BYTES", bytes_of(a));
    schedule_number(s, "piece", columns / 16 * bytes_of(a));
    schedule_number(s, "a_row", a->dim[1].c * bytes_of(a));
    schedule_number(s, "b_row", b->dim[1].c * bytes_of(b));
    schedule_number(s, "deep", b->dim[0].c);
    schedule_hole(s, "a_at", hip_argument(&s->f, p->a)->text);
    schedule_hole(s, "b_at", hip_argument(&s->f, p->b[0])->text);
    if (p->sums > 1) schedule_hole(s, "b2_at", hip_argument(&s->f, p->b[1])->text);
    schedule_hole(s, "second_b", p->sums > 1 ? ", *b2" : "");
    schedule_hole(s, "give_b", p->sums > 1 ? ", b2" : "");
    schedule_hole(s, "operand", elem_c(a->elem));
    schedule_hole(s, "mfma", op->name);
    schedule_number(s, "per", op->ad->k * op->ad->m / s->f.hip->target->wave);
}

static void fill_shape(Schedule *s, const Product *p, const SkinnyShape *shape) {
    Elem sum = p->loop->res.p[0]->type.elem;
    schedule_number(s, "ROWS", shape->rows);
    schedule_number(s, "WIDE", shape->columns);
    schedule_number(s, "STAGES", shape->stages);
    schedule_number(s, "WAVES", shape->waves);
    schedule_number(s, "SUMS", p->sums);
    schedule_number(s, "simd", (shape->pair ? 2 : 1) * shape->waves / SIMDS);
    schedule_number(s, "SIZE", elem_bits(sum) / 8);
    schedule_hole(s, "total", elem_c(sum));
    schedule_hole(s, "each", p->sums > 1 ? ", by each of two b," : "");
}

static void fill_parts(Schedule *s, const Product *p) {
    schedule_kind(s, p->row ? "parts" : "whole");
    schedule_number(s, "PARTS", p->parts);
    schedule_number(s, "SHARE", p->share);
    schedule_hole(s, "parted", !p->row ? "" : fn_text(&s->f, " It sums one of %" PRId64 " parts of k.", p->parts));
}

/* What is stored for the sums number r of four neighbours. */
static const char *stored_text(Schedule *s, const Product *p, int which, bool wide) {
    Fn *f = &s->f;
    if (p->plain) return fn_text(f, "sums[%d][r]", which);
    const char *pick = p->stores > 1 ? fn_text(f, "%d, ", which) : "";
    const char *given = p->sums > 1 ? "sums[0][r], sums[1][r]" : "sums[0][r]", *function = s->launch->function;
    const char *column = wide ? "j + r" : fn_text(f, "tile_min_i32(j + r, %s_N - 1)", function);
    return fn_text(f, "%s_result(call, %s%s, i, %s)", function, pick, given, column);
}

static void fill_stores(Schedule *s, const Product *p) {
    const Param *c = &s->f.k->param.p[p->c[0]];
    bool wide = c->dim[c->ndim - 1].c % 4 == 0;
    schedule_number(s, "bytes", elem_bits(c->elem) / 2);
    schedule_kind(s, wide ? "wide" : "single");
    schedule_hole(s, "value", stored_text(s, p, 0, wide));
    schedule_hole(s, "other", stored_text(s, p, 1, wide));
    schedule_hole(s, "columns_left", wide ? "" : ", int left");
    schedule_hole(s, "give_left", wide ? "" : fn_text(&s->f, ", %s_N - j", s->launch->function));
}

static void fill_order(Schedule *s, const Product *p) {
    const OrderTiles t = schedule_tiles(s);
    schedule_hole(s, "i_tile", t.name[p->row]);
    schedule_hole(s, "j_tile", t.name[p->row + 1]);
    schedule_hole(s, "part_tile", p->row ? t.name[0] : "0");
    schedule_order(s, &t);
}

bool skinny_prepare_cdna(Schedule *s, const Product *p) {
    const MatrixTarget *t = s->f.hip->target;
    const Range *row = &s->f.k->range.p[p->row];
    const MatrixOp *op = product_op_few(t, s->f.k, p);
    const MatrixSchedule *facts = matrix_schedule(t, "skinny", row[1].size * p->sums);
    if (!op || !facts) return false;
    SkinnyShape shape = skinny_shape(t, facts, p, row->of.c);
    if (!shape.facts) return false;
    schedule_begin(s, facts);
    product_fill_sizes(s, p);
    product_fill_result(s, p);
    fill_shape(s, p, &shape);
    fill_parts(s, p);
    fill_operands(s, p, op, shape.columns);
    fill_stores(s, p);
    fill_order(s, p);
    return true;
}
