/* hip_decode.c: what the schedule of attention of a few rows wants to know of a kernel. */
#include "codegen/schedules/hip_schedule.h"
#include "codegen/schedules/decode.h"

#include <inttypes.h>

/* The element of a parameter where a load's is whose positions are 0 but in the dimensions `own`. */
static const CExpr *place_text(Nest *n, const Kernel *k, const Op *load, unsigned own) {
    const CExpr *place = cexpr_number(n->f, 0);
    for (int d = 0; d < load->sub.n; d++) {
        const CExpr *outer =
            cexpr_mul(n->f, place, cexpr_operand(n->f, size_text(n->f, k->param.p[load->param].dim[d])));
        place = cexpr_add(n->f, outer, own >> d & 1 ? nest_affine(n, &load->sub.p[d].lo) : cexpr_number(n->f, 0));
    }
    return cexpr_bare(place);
}

/* The dimensions of keys, their pages and columns tell no task's keys from another's. */
static const char *keys_place(Nest *n, const Kernel *k, const Attention *a) {
    int last = a->keys_at->sub.n - 1;
    unsigned own = (1U << last) - 1;
    own &= ~(1U << a->keys_dim);
    if (a->pages_at) own &= ~(1U << a->pages_dim);
    return place_text(n, k, a->keys_at, own)->text;
}

static const char *row_place(Nest *n, const Kernel *k, const Attention *a) {
    return place_text(n, k, a->pages_at, (1U << (a->pages_at->sub.n - 1)) - 1)->text;
}

/* What a task knows before its loop; what is used several times has a name. */
typedef struct {
    Nest *nest;
    const CExpr **text; /* by value id */
    int *uses;
} Scalars;

static void count_uses(Scalars *s, const Value *v) {
    if (s->uses[v->id]++) return;
    for (int i = 0; i < v->def->arg.n; i++) count_uses(s, v->def->arg.p[i]);
}

static const CExpr *scalar_text(Scalars *s, const Value *v);

static const CExpr *operation_text(Scalars *s, const Value *v) {
    const Op *op = v->def;
    Fn *f = s->nest->f;
    const CExpr *arg[3];
    if (op->kind == OP_SIZE) return size_text(f, op->size);
    if (op->kind == OP_LOAD || op->kind == OP_POS) return nest_definition(s->nest, v);
    for (int i = 0; i < op->arg.n; i++) arg[i] = scalar_text(s, op->arg.p[i]);
    return op_text(f, op, arg);
}

static const CExpr *scalar_text(Scalars *s, const Value *v) {
    Fn *f = s->nest->f;
    if (v->def->kind == OP_CONST) return literal_text(f, v->type.elem, v->def);
    if (s->text[v->id]) return s->text[v->id];
    const CExpr *text = operation_text(s, v);
    if (s->uses[v->id] > 1 && v->def->arg.n) {
        const char *name = c_name(&f->names, fn_value_name(f, v));
        fn_line(f, "const %s %s = %s;", elem_c(v->type.elem), name, cexpr_bare(text)->text);
        text = cexpr_name(f, name);
    }
    return s->text[v->id] = text;
}

static const char *end_text(Scalars *s, const Value *v) {
    while (match_op(v, OP_CAST)) v = v->def->arg.p[0];
    bool narrow = v->type.elem == ELEM_I32 || match_op(v, OP_CONST);
    Fn *f = s->nest->f;
    return fn_text(f, narrow ? "%s" : "(int)%s", cexpr_operand(f, scalar_text(s, v))->text);
}

static const char *size_int(Fn *f, Size n) {
    return fn_text(f, size_is_number(n) ? "%s" : "(int)%s", size_text(f, n)->text);
}

/* How many keys there are; with pages, how many a row of the table can tell. */
static const char *all_text(Fn *f, const Attention *a) {
    const char *all = size_int(f, a->keys);
    return a->pages_at ? fn_text(f, "%s * %" PRId64, all, decode_page(f->k, a)) : all;
}

/* The body of a function of a task's number: where its keys are, and which of them. */
static void fill_task(Schedule *s, const Attention *a) {
    Fn *f = &s->f;
    const Kernel *k = f->k;
    Text head = {0};
    c_name(&f->names, "task");
    range_text_grid(f);
    for (int i = 0; i < k->ngrid - 1; i++) fn_constant(f, f->range[i].index->text, grid_index(f, k, i, "task")->text);
    Nest nest = nest_new(f, NULL, 0);
    const char *pages = a->pages_at ? fn_text(f, ", %s, %s", size_text(f, k->param.p[a->k].dim[a->pages_dim])->text,
                                              row_place(&nest, k, a))
                                    : "";
    f->indent = 1;
    f->hip->bypasses_l1 = s->launch->dependent;
    const Value *first = a->loop->arg.p[0], *last = a->loop->arg.p[1];
    Scalars scalars = {&nest, ARENA_ARRAY(f->arena, const CExpr *, k->nvalue + 1),
                       ARENA_ARRAY(f->arena, int, k->nvalue + 1)};
    count_uses(&scalars, first);
    count_uses(&scalars, last);
    const char *from = end_text(&scalars, first), *to = end_text(&scalars, last);
    fn_line(f, "return (%s_task){%s, %s, %s, %s%s};", s->launch->function, keys_place(&nest, k, a), from, to,
            all_text(f, a), pages);
    hip_arguments(f);
    fn_head_print(f, &head);
    schedule_hole(s, "find", fn_text(f, "%s%s", text_str(&head), text_str(&f->body)));
    text_free(&head);
    text_free(&f->body);
}

/* What workgroup memory has room for beside largest scores, sums of weights and sums from the cluster. */
static int64_t stages_of(const MatrixSchedule *facts, int64_t rows, int64_t width, int64_t parts, int64_t stage) {
    int64_t warps = facts->columns / 16, share = (rows * width / 2 + parts - 1) / parts * 2;
    return (facts->lds_bytes - 4 * share * parts - 8 * rows * (warps + parts)) / (warps * stage);
}

/* Elements from one position of a dimension to the next. */
static int64_t stride_of(const Param *p, int dim) {
    int64_t stride = 1;
    for (int d = dim + 1; d < p->ndim; d++) stride *= p->dim[d].c;
    return stride;
}

enum { STEPS_AHEAD = 3 }; /* whose keys come to the L2 before the launch before has ended */

static void fill_sizes(Schedule *s, const Attention *a) {
    const Kernel *k = s->f.k;
    int64_t rows = k->range.p[a->row].size, width = a->width.c, panels = (width + 63) / 64;
    schedule_number(s, "PARTS", s->launch->parts);
    schedule_number(s, "ROWS", rows);
    schedule_number(s, "BLOCKS", (rows + 7) / 8);
    schedule_number(s, "KEYS", s->facts->columns);
    schedule_number(s, "D", width);
    schedule_number(s, "PANELS", panels);
    schedule_number(s, "STRIDE", stride_of(&k->param.p[a->k], a->keys_dim));
    schedule_number(s, "AHEAD", STEPS_AHEAD * s->facts->columns);
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

static void fill_pages(Schedule *s, const Attention *a) {
    const Kernel *k = s->f.k;
    schedule_kind(s, a->pages_at ? "paged" : "dense");
    if (!a->pages_at) return;
    if (schedule_follows(s)) schedule_kind(s, "paged_dependent");
    schedule_hole(s, "table", hip_argument(&s->f, a->pages_at->param)->text);
    schedule_number(s, "PAGE", decode_page(k, a));
    schedule_number(s, "PAGE_STRIDE", stride_of(&k->param.p[a->k], a->pages_dim));
}

/* A task's rows, or what a part of its keys has come to, for the kernel that puts parts together. */
static void fill_results(Schedule *s, const Attention *a) {
    Fn *f = &s->f;
    bool part = a->parts > 1;
    schedule_kind(s, part ? "share" : "entire");
    schedule_number(s, "TASKS", decode_tasks(f->m, f->k) / a->parts);
    schedule_hole(s, "o_at", hip_argument(f, a->o)->text);
    if (!part) return;
    schedule_hole(s, "bases_at", hip_argument(f, a->bases)->text);
    schedule_hole(s, "sums_at", hip_argument(f, a->sums)->text);
}

bool decode_prepare(Schedule *s) {
    Attention a;
    Fn *f = &s->f;
    if (decode_match(f->k, &a)) return false;
    bool overlaps;
    const MatrixSchedule *facts = decode_schedule(f->hip->target, f->m, f->k, &a, &overlaps);
    if (!facts) return false;
    s->launch->dependent &= overlaps;
    schedule_begin(s, facts);
    s->launch->cluster = 0; /* none stays for another task */
    s->launch->parts = facts->cluster > 1 ? facts->cluster : 1;
    schedule_kind(s, s->launch->parts > 1 ? "parts" : "whole");
    schedule_softmax(s, &a);
    schedule_hole(s, "elem", elem_c(f->k->param.p[a.q].elem));
    schedule_hole(s, "q_at", hip_argument(f, a.q)->text);
    schedule_hole(s, "k_at", hip_argument(f, a.k)->text);
    schedule_hole(s, "v_at", hip_argument(f, a.v)->text);
    fill_results(s, &a);
    fill_sizes(s, &a);
    fill_pages(s, &a);
    if (!facts->resident_groups) fill_operands(s, &a);
    fill_task(s, &a);
    return true;
}
