/* hip_attention.c: what the schedule of attention wants to know of a kernel. */
#include "codegen/schedules/hip_schedule.h"
#include "codegen/schedules/match.h"

#include <inttypes.h>

static int64_t matrices(const Param *p) {
    int64_t n = 1;
    for (int d = 0; d < p->ndim - 2; d++) n *= p->dim[d].c;
    return n;
}

/* A position of the grid, of the number of q's matrix. */
static const CExpr *position_text(Fn *f, int range, const char *head) {
    int64_t inner = 1, outer = 1;
    if (f->k->range.p[range].of.c == 1) return cexpr_number(f, 0);
    for (int r = 0; r < f->k->ngrid - 2; r++) {
        if (r > range) inner *= f->k->range.p[r].of.c;
        if (r < range) outer *= f->k->range.p[r].of.c;
    }
    const CExpr *at = inner == 1 ? cexpr_name(f, head) : cexpr_open(f, "%s / %" PRId64, head, inner);
    return outer == 1 ? at : cexpr_open(f, "%s %% %" PRId64, at->text, f->k->range.p[range].of.c);
}

static const CExpr *subscript_text(Fn *f, const Affine *a, const char *head) {
    const CExpr *sum = cexpr_number(f, a->c);
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        const CExpr *at = position_text(f, t->id, head);
        if (t->div > 1) at = cexpr_open(f, "%s / %" PRId64, cexpr_operand(f, at)->text, t->div);
        sum = cexpr_add(f, sum, cexpr_mul(f, cexpr_operand(f, at), cexpr_number(f, t->mul)));
    }
    return sum;
}

/* The number of k's matrix that belongs to q's. */
static const CExpr *keys_text(Fn *f, const Attention *a, const char *head) {
    const Param *p = &f->k->param.p[a->k];
    const CExpr *number = cexpr_number(f, 0);
    for (int d = 0; d < p->ndim - 2; d++) {
        const CExpr *outer = cexpr_mul(f, cexpr_operand(f, number), cexpr_number(f, p->dim[d].c));
        number = cexpr_add(f, outer, subscript_text(f, &a->keys_at->sub.p[d].lo, head));
    }
    return cexpr_bare(number);
}

static const char *row_text(Fn *f, int64_t by) { return cexpr_add(f, cexpr_name(f, "row"), cexpr_number(f, by))->text; }

static const CExpr *size_of(Fn *f, Size s) {
    if (s.sym < 0) return cexpr_number(f, s.c);
    return cexpr_add(f, cexpr_open(f, "(int)%s", hip_backend.symbol(f, s.sym)->text), cexpr_number(f, s.c));
}

static void fill_holes(Schedule *s, const Attention *a) {
    Fn *f = &s->f;
    schedule_softmax(s, a);
    schedule_number(s, "KEYS", s->facts->columns);
    schedule_number(s, "heads", matrices(&f->k->param.p[a->q]));
    schedule_hole(s, "rows", size_of(f, a->rows)->text);
    schedule_hole(s, "keys", size_of(f, a->keys)->text);
    schedule_hole(s, "matrix", keys_text(f, a, "head")->text);
    schedule_kind(s, a->from ? "from" : "no_from");
    schedule_kind(s, a->to ? "to" : "no_to");
    schedule_hole(s, "from", a->from ? fn_text(f, "tile_max_i32(0, %s)", row_text(f, a->first)) : "0");
    schedule_hole(s, "to", a->to ? fn_text(f, "tile_min_i32(at.T, %s)", row_text(f, a->last + 1)) : "at.T");
}

enum { BLOCK = 32 }; /* rows and columns of a wave's matrix instruction */

/* Where the tensors are, and constants for the sizes in these texts. */
static void fill_arguments(Schedule *s, const Attention *a) {
    const char *const name[] = {"q_at", "k_at", "v_at", "o_at"};
    const int param[] = {a->q, a->k, a->v, a->o};
    Text sizes = {0};
    for (int i = 0; i < 4; i++) {
        const CExpr *at = hip_argument(&s->f, param[i]);
        schedule_hole(s, name[i], at->text);
        text_printf(&s->f.body, "%s\n", at->text);
    }
    fn_head_print(&s->f, &sizes);
    schedule_hole(s, "sizes", fn_text(&s->f, "%s", text_str(&sizes)));
    text_free(&sizes);
    text_free(&s->f.body);
}

/* Waves of a SIMD that registers are kept for: as many as workgroup memory leaves room for, up to 3. */
static int64_t waves_of(const Schedule *s) {
    int64_t groups = s->f.hip->target->lds_bytes / s->facts->lds_bytes;
    return groups < 3 ? groups : 3;
}

/* Heads and matrices of a batch are numbers; of rows only the function knows how many there are. */
static void fill_order(Schedule *s) {
    Fn *f = &s->f;
    const int row = f->k->ngrid - 2;
    OrderTiles t = schedule_tiles(s);
    const CExpr *head = cexpr_number(f, 0);
    for (int r = 0; r < row; r++) {
        const CExpr *outer = cexpr_mul(f, cexpr_operand(f, head), t.tiles[r]);
        head = cexpr_add(f, outer, cexpr_is(t.tiles[r], 1) ? cexpr_number(f, 0) : cexpr_name(f, t.name[r]));
    }
    int64_t n;
    if (!cexpr_const(t.tiles[row], &n)) {
        t.tiles[row] = cexpr_name(f, "blocks");
        fn_constant(f, "blocks", "(rows + 127) / 128");
    }
    schedule_hole(s, "row_tile", t.name[row]);
    schedule_hole(s, "head_tile", head->text);
    schedule_order(s, &t);
}

/* Tensors loaded by threads; the stages of keys and values that workgroup memory has room for. */
static void prepare_threads(Schedule *s, const Attention *a) {
    Fn *f = &s->f;
    const MatrixOp *op = matrix_deepest(f->hip->target, BLOCK, elem_text(f->k->param.p[a->q].elem), "f32");
    int width = s->facts->width, stage = 4 * width * s->facts->columns;
    bool single = s->facts->lds_bytes < 2 * stage;
    schedule_hole(s, "mfma", op->name);
    schedule_number(s, "each", op->ad->k * op->ad->m / f->hip->target->wave);
    schedule_number(s, "WAVES", waves_of(s));
    schedule_number(s, "D", width);
    schedule_number(s, "width", a->width.c);
    schedule_number(s, "piece", width / 8);
    schedule_hole(s, "stage", single ? "0" : fn_text(f, "(n & 1) * %s_STAGE", s->launch->function));
    schedule_kind(s, single ? "single" : "double");
    schedule_kind(s, width > 64 ? "wide" : "narrow");
    schedule_kind(s, a->width.c == width ? "whole" : "padded");
    fill_arguments(s, a);
    fill_order(s);
}

bool attention_prepare(Schedule *s) {
    Attention a;
    if (attention_match(s->f.k, &a)) return false;
    const MatrixSchedule *facts = matrix_schedule_wide(s->f.hip->target, "attention", a.width.c);
    if (!facts) return false;
    schedule_begin(s, facts);
    prepare_threads(s, &a);
    fill_holes(s, &a);
    return true;
}
