/* hip_decode.c: what the schedule of attention of a few rows wants to know of a kernel. */
#include "codegen/hip_schedule.h"
#include "target/match.h"

#include <inttypes.h>

/* The element of k and v where a task's first key is. */
static const char *place_text(Nest *n, const Param *p, const Attention *a) {
    const char *place = "0";
    for (int d = 0; d < p->ndim; d++) {
        const char *outer = text_mul(n->f, place, text_atom(n->f, size_text(n->f, p->dim[d])));
        bool counts = d != a->keys_dim && d < p->ndim - 1;
        place = text_add_terms(n->f, outer, counts ? nest_affine(n, &a->keys_at->sub.p[d].lo) : "0");
    }
    return text_bare(n->f, place);
}

/* What a task knows before its loop. */
static const char *scalar_text(Nest *n, const Value *v) {
    const Op *op = v->def;
    const char *arg[3];
    if (op->kind == OP_CONST) return literal_text(n->f, v->type.elem, op);
    if (op->kind == OP_SIZE) return size_text(n->f, op->size);
    if (op->kind == OP_LOAD) return nest_definition(n, v);
    for (int i = 0; i < op->arg.n; i++) arg[i] = scalar_text(n, op->arg.p[i]);
    return op_text(n->f, op, arg);
}

static const char *end_text(Nest *n, const Value *v) {
    while (match_op(v, OP_CAST)) v = v->def->arg.p[0];
    bool narrow = v->type.elem == ELEM_I32 || match_op(v, OP_CONST);
    return fn_text(n->f, narrow ? "%s" : "(int)%s", text_atom(n->f, scalar_text(n, v)));
}

/* The body of a function of a task's number: where its keys are, and which of them. */
static void fill_task(Schedule *s, const Attention *a) {
    Fn *f = &s->f;
    const Param *k = &f->k->param.p[a->k];
    Text head = {0};
    c_name(&f->names, "task");
    range_text_grid(f);
    for (int i = 0; i < f->k->ngrid - 1; i++) fn_constant(f, f->range[i].index, grid_index(f, f->k, i, "task"));
    Nest nest = nest_new(f, NULL, 0);
    f->indent = 1;
    fn_line(f, "return (%s_task){%s, %s, %s, %s};", s->launch->function, place_text(&nest, k, a),
            end_text(&nest, a->loop->arg.p[0]), end_text(&nest, a->loop->arg.p[1]),
            fn_text(f, size_is_number(a->keys) ? "%s" : "(int)%s", size_text(f, a->keys)));
    hip_arguments(f);
    fn_head_print(f, &head);
    schedule_hole(s, "find", fn_text(f, "%s%s", text_str(&head), text_str(&f->body)));
    text_free(&head);
    text_free(&f->body);
}

/* Time of so many workgroups, each of the same part of the work: in a last round fewer than 9 of 20 processors do not
   read as fast as the memory gives (measured). */
static double time_of(int64_t groups, int64_t at_once) {
    int64_t rest = groups % at_once, least = at_once * 9 / 20;
    return (double)(groups - rest + (rest && rest < least ? least : rest)) / (double)groups;
}

/* Workgroups that share a task's keys, in a round and a half at most: clusters wait until so many processors beside
   each other are free. */
static int parts_of(const Kernel *k, const MatrixSchedule *facts) {
    int64_t tasks = decode_tasks(k), once = facts->at_once;
    int best = 1;
    for (int parts = 2; parts <= facts->cluster && 2 * tasks * parts <= 3 * once; parts *= 2)
        if (time_of(tasks * parts, once) <= time_of(tasks * best, once)) best = parts;
    return best;
}

/* What workgroup memory has room for beside the sums. */
static int64_t stages_of(const MatrixSchedule *facts, int64_t rows, int64_t width, int64_t parts, int64_t stage) {
    int64_t warps = facts->columns / 16, share = (rows * width + parts - 1) / parts;
    return (facts->lds_bytes - 4 * share * parts - 8 * rows * (warps + parts)) / (warps * stage);
}

static void fill_sizes(Schedule *s, const Attention *a) {
    int64_t rows = s->f.k->range.p[a->row].size, width = a->width.c, panels = (width + 63) / 64, stride = 1;
    const Param *k = &s->f.k->param.p[a->k];
    for (int d = a->keys_dim + 1; d < k->ndim; d++) stride *= k->dim[d].c;
    schedule_number(s, "PARTS", s->launch->parts);
    schedule_number(s, "ROWS", rows);
    schedule_number(s, "BLOCKS", (rows + 7) / 8);
    schedule_number(s, "KEYS", s->facts->columns);
    schedule_number(s, "D", width);
    schedule_number(s, "PANELS", panels);
    schedule_number(s, "STRIDE", stride);
    schedule_number(s, "STAGES", stages_of(s->facts, rows, width, s->launch->parts, 2 * panels * 16 * 128));
}

enum { BLOCK = 16 }; /* rows and columns of a wave's matrix instruction */

/* Keys and values loaded as operands. */
static void fill_operands(Schedule *s, const Attention *a) {
    const MatrixTarget *t = s->f.hip->target;
    const MatrixOp *op = matrix_deepest(t, BLOCK, elem_text(s->f.k->param.p[a->q].elem), "f32");
    schedule_hole(s, "mfma", op->name);
    schedule_number(s, "each", op->ad->k * op->ad->m / t->wave);
    schedule_number(s, "piece", a->width.c / 8);
    schedule_number(s, "WAVES", s->facts->threads / t->wave);
}

/* Wider clusters that begin early find no room for all of them: 12 us became 15 (measured). */
enum { DEPENDENT_PARTS = 2 };

bool decode_prepare(Schedule *s) {
    Attention a;
    Fn *f = &s->f;
    if (decode_match(f->k, &a)) return false;
    const MatrixSchedule *facts = matrix_schedule_wide(f->hip->target, "decode", a.width.c);
    if (!facts) return false;
    s->launch->parts = parts_of(f->k, facts);
    s->launch->dependent &= s->launch->parts <= DEPENDENT_PARTS;
    schedule_begin(s, facts);
    s->launch->cluster = 0; /* none stays for another task */
    schedule_kind(s, s->launch->parts > 1 ? "parts" : "whole");
    schedule_softmax(s, &a);
    schedule_hole(s, "elem", elem_c(f->k->param.p[a.q].elem));
    schedule_hole(s, "q_at", hip_argument(f, a.q));
    schedule_hole(s, "k_at", hip_argument(f, a.k));
    schedule_hole(s, "v_at", hip_argument(f, a.v));
    schedule_hole(s, "o_at", hip_argument(f, a.o));
    fill_sizes(s, &a);
    if (!facts->at_once) fill_operands(s, &a);
    fill_task(s, &a);
    return true;
}
