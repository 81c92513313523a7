/* hip_product_cdna.c: what the schedule of products wants to know where threads load the operands. */
#include "codegen/schedules/hip_schedule.h"

#include <inttypes.h>
#include <string.h>

enum {
    ROW_BYTES = 64, /* of workgroup memory, a step: four lanes have 16 bytes each */
    STAGES = 5      /* of steps that arrive while others are multiplied */
};

static int stage_bytes(const MatrixSchedule *facts) { return (facts->rows + facts->columns) * ROW_BYTES; }

/* Of two products a tile, and each wave, has half of its columns of either. */
static void fill_tiles(Schedule *s, const Product *p) {
    int columns = s->facts->columns, span = columns / p->sums;
    schedule_number(s, "ROWS", s->facts->rows);
    schedule_number(s, "COLUMNS", columns);
    schedule_number(s, "SPAN", span);
    schedule_number(s, "TALL", s->facts->rows / 2);
    schedule_number(s, "WIDE", columns / 4);
    schedule_number(s, "PART", span / 4);
    schedule_hole(s, "made", fn_text(&s->f, p->sums > 1 ? "%d of two products of one a" : "%d", span));
    schedule_hole(s, "each_b", p->sums > 1 ? "each b" : "b");
}

static bool is_cut(const Schedule *s, const Product *p) {
    const Param *a = &s->f.k->param.p[p->a], *b = &s->f.k->param.p[p->b[0]];
    int pair = 2 * ROW_BYTES / (elem_bits(a->elem) / 8);
    return a->dim[1].c % pair || (p->b_is_kn && b->dim[0].c % pair);
}

/* Rows that end with a pair of steps, where there is room for so many. */
static bool goes_direct(const Schedule *s, const Product *p, const MatrixSchedule *facts) {
    return !is_cut(s, p) && facts->lds_bytes >= STAGES * stage_bytes(facts);
}

/* To workgroup memory: through registers, or not. */
static void fill_way(Schedule *s, const Product *p, bool direct) {
    const char *way = direct ? "direct" : "loaded";
    schedule_kind(s, way);
    if (!direct) schedule_kind(s, is_cut(s, p) ? "cut" : "loaded_even");
    if (!direct && p->b_is_kn) schedule_kind(s, is_cut(s, p) ? "columns_cut" : "columns_even");
    const char *runs = p->b_is_kn ? "columns" : "rows", *sums = p->sums > 1 ? "two" : "one";
    schedule_kind(s, fn_text(&s->f, "%s_%s", way, runs));
    schedule_kind(s, fn_text(&s->f, "%s_%s", way, sums));
    schedule_kind(s, fn_text(&s->f, "%s_%s_%s", way, runs, sums));
    bool lying = !direct || !p->b_is_kn; /* columns of b, as rows of workgroup memory */
    if (lying) schedule_kind(s, "lying");
    if (lying && p->sums > 1) schedule_kind(s, "lying_two");
    if (direct && (p->b_is_kn || p->sums > 1)) schedule_kind(s, "direct_again");
    schedule_number(s, "STAGES", direct ? STAGES : 2);
    schedule_number(s, "TURNS", s->facts->columns / 32);
    schedule_number(s, "COPIES", stage_bytes(s->facts) / (16 * s->facts->threads));
    schedule_hole(
        s, "ahead",
        direct ? "lets the two steps after the next two come\n   to workgroup memory, whole lines of the caches"
               : "stores to workgroup memory its share of the step behind that. Steps are loaded two at\n   a time, "
                 "whole lines of the caches, a step before they are stored");
}

static void fill_operands(Schedule *s, const Product *p) {
    const Param *a = &s->f.k->param.p[p->a], *b = &s->f.k->param.p[p->b[0]];
    int bytes = elem_bits(a->elem) / 8, deep = ROW_BYTES / bytes;
    bool cut = is_cut(s, p);
    schedule_hole(s, "left_in", cut ? ", int left" : "");
    schedule_hole(s, "left_above", cut ? fn_text(&s->f, ", %" PRId64 " - above", b->dim[0].c) : "");
    schedule_hole(s, "left", cut ? ", left" : "");
    schedule_number(s, "DEEP", deep);
    schedule_number(s, "CHUNK", 16 / bytes);
    schedule_number(s, "a_row", a->dim[1].c * bytes);
    schedule_number(s, "b_row", b->dim[1].c * bytes);
    schedule_number(s, "deep", b->dim[0].c);
    schedule_hole(s, "a_at", hip_argument(&s->f, p->a)->text);
    schedule_hole(s, "b_at", hip_argument(&s->f, p->b[0])->text);
    schedule_hole(s, "from_b", p->b_is_kn ? "from_b" : "from");
}

/* Of two matrices, which one a wave brings, and where the second one's part of a wave lies. */
static void fill_second(Schedule *s, const Product *p) {
    Fn *f = &s->f;
    int span = s->facts->columns / p->sums, blocks = span / 64; /* of 16 columns, a wave's */
    bool two = p->sums > 1;
    schedule_hole(s, "wave_in", two ? "int wave, " : "");
    schedule_hole(s, "wave", two ? "wave, " : "");
    schedule_hole(s, "of_span", two ? fn_text(f, " & %d", span - 1) : "");
    schedule_hole(s, "of_part", two ? fn_text(f, " %% %d", blocks) : "");
    schedule_hole(s, "second_panel", two ? fn_text(f, " + n / %d * %d", 2 * blocks, span * 64) : "");
    schedule_hole(s, "apart", span > 64 ? "(row & 3) | (row >> 1 & 4)" : "(row >> 1 & 1) | (row >> 2 & 2)");
    if (two) schedule_hole(s, "b2_at", hip_argument(f, p->b[1])->text);
}

/* Of two results which one; what is stored for the sums x and y of four places each. */
static void fill_results(Schedule *s, const Product *p) {
    Fn *f = &s->f;
    bool two = p->sums > 1, both = p->stores > 1;
    const char *total = elem_c(p->loop->res.p[0]->type.elem), *c = hip_argument(f, p->c[0])->text;
    schedule_hole(s, "pick", both ? "int second, " : "");
    schedule_hole(s, "which", both ? "second, " : "");
    schedule_hole(s, "first", both ? "0, " : "");
    schedule_hole(s, "more_in", two ? fn_text(f, "const %s y[4], ", total) : "");
    schedule_hole(s, "sums_in", two ? "x, y" : "x");
    schedule_hole(s, "given", two ? "x[r], y[r]" : "x[r]");
    schedule_hole(s, "chosen", two ? "second ? y[r] : x[r]" : "x[r]");
    schedule_hole(s, "target", both ? fn_text(f, "second ? %s : %s", hip_argument(f, p->c[1])->text, c) : c);
}

/* Of the products, of their sums and of the result; `wide`: four of its elements are stored together. */
static void fill_types(Schedule *s, const Product *p, const MatrixOp *op) {
    const Kernel *k = s->f.k;
    const Param *c = &k->param.p[p->c[0]];
    bool wide = c->dim[1].c % 4 == 0;
    schedule_hole(s, "operand", elem_c(k->param.p[p->a].elem));
    schedule_hole(s, "total", elem_c(p->loop->res.p[0]->type.elem));
    const char *a = op->a, *name = op->name;
    schedule_hole(s, "mfma", matrix_is_scaled(op) ? fn_text(&s->f, "%s_%s_%s", name, a, a) : name);
    schedule_kind(s, op->ad->m == 16 ? "of16" : "of32");
    if (strcmp(a, elem_text(k->param.p[p->a].elem)) != 0) schedule_kind(s, "recoded");
    schedule_number(s, "SIDE", op->ad->m);
    schedule_number(s, "SUMS", op->ad->m * op->ad->m / s->f.hip->target->wave);
    schedule_number(s, "HELD", op->ad->m * 8 / matrix_width(a)); /* of its row, a lane's */
    schedule_number(s, "each", op->ad->k * op->ad->m / s->f.hip->target->wave);
    schedule_number(s, "bytes", elem_bits(c->elem) / 2);
    schedule_kind(s, wide ? "wide" : "single");
    schedule_hole(s, "clamp_j", wide ? "" : "tile_min_i32(");
    schedule_hole(s, "end_j", wide ? "" : fn_text(&s->f, ", %s_N - 1)", s->launch->function));
}

static void fill_order(Schedule *s, const Product *p) {
    const OrderTiles t = schedule_tiles(s);
    schedule_hole(s, "i_tile", t.name[p->row]);
    schedule_hole(s, "j_tile", t.name[p->row + 1]);
    schedule_order(s, &t);
}

static bool fill_all(Schedule *s, const Product *p, const MatrixSchedule *facts) {
    const MatrixOp *op = product_op(s->f.hip->target, facts, s->f.k, p);
    if (!op) return false;
    MatrixSchedule own = *facts;
    bool direct = goes_direct(s, p, facts);
    own.lds_bytes = (direct ? STAGES : 2) * stage_bytes(facts);
    schedule_begin(s, &own);
    s->facts = facts;
    product_fill_sizes(s, p);
    fill_tiles(s, p);
    fill_way(s, p, direct);
    product_fill_result(s, p);
    fill_operands(s, p);
    fill_second(s, p);
    fill_types(s, p, op);
    fill_results(s, p);
    fill_order(s, p);
    return true;
}

bool product_prepare(Schedule *s) {
    Product p;
    const Kernel *k = s->f.k;
    if (product_match(k, &p).words) return false;
    const MatrixSchedule *facts = matrix_schedule(s->f.hip->target, "product", k->range.p[1].size * p.sums);
    return facts && fill_all(s, &p, facts);
}
