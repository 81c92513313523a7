/* hip_product_deferred.c: products whose sums are rounded before the larger part of what is done with them: the warps that
   do not multiply do that part, while the others multiply the next tile. */
#include "codegen/schedules/hip_schedule.h"

#include <inttypes.h>

enum { WIDE = 256, FEWEST_ROUNDS = 3 }; /* columns of a tile; tiles of a workgroup */

/* Clocks, measured: of a step of products; of a row that a warp finishes, of which it has so many in a tile, of each
   operation in it; of what those who multiply would do, an operation on all that they have of a tile, as often as there
   are operations and OTHERS. */
enum { STEP = 1024, ROW = 500, ROWS = 43, OPERATION = 25, OWN_OPERATION = 256, OTHERS = 36 };

/* ---- where the sums are rounded ---- */

static bool is_end(const EpilogueGiven *of, const Op *op) {
    return op == of->sums || op == of->rounded[0] || op == of->rounded[1];
}

/* Marks what v is made of, up to what is given. */
static void mark(bool *seen, const Value *v, const EpilogueGiven *of) {
    if (seen[v->id]) return;
    seen[v->id] = true;
    if (!v->def || is_end(of, v->def)) return;
    for (int i = 0; i < v->def->arg.n; i++) mark(seen, v->def->arg.p[i], of);
}

static bool *marks(Fn *f, const Value *v, const EpilogueGiven *of) {
    bool *seen = ARENA_ARRAY(f->arena, bool, f->k->nvalue + 1);
    mark(seen, v, of);
    return seen;
}

static bool is_seen(const bool *seen, const Op *op) { return op->res.n && seen[op->res.p[0]->id]; }

/* Loads of a matrix among them; `found`: the last one. */
static int matrices(const Kernel *k, const bool *seen, const Op **found) {
    int n = 0;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->kind != OP_LOAD || !is_seen(seen, op) || op->sub.n != 2) continue;
        *found = op;
        n++;
    }
    return n;
}

/* It rounds this sum to the type of the results; of one sum something without another matrix may come before. */
static bool rounds(Fn *f, const Product *p, const Op *op, int sum) {
    if (op->kind != OP_CAST || op->arg.p[0]->type.elem != ELEM_F32 ||
        op->res.p[0]->type.elem != f->k->param.p[p->c[0]].elem)
        return false;
    const Op *matrix = NULL;
    const bool *head = marks(f, op->arg.p[0], &(EpilogueGiven){.sums = p->loop});
    return p->sums > 1 ? op->arg.p[0] == p->loop->res.p[sum]
                       : head[p->loop->res.p[0]->id] && !matrices(f->k, head, &matrix);
}

/* First roundings, where the result depends on the sums through them alone. */
static bool find_roundings(Fn *f, const Product *p, EpilogueGiven *of) {
    for (int sum = 0; sum < p->sums; sum++) {
        const Op *op = f->k->body->first;
        while (op && !rounds(f, p, op, sum)) op = op->next;
        of->rounded[sum] = op;
        if (!op) return false;
    }
    const bool *tail = marks(f, p->store[0]->arg.p[0], of);
    for (int sum = 0; sum < p->sums; sum++)
        if (tail[p->loop->res.p[sum]->id] || !is_seen(tail, of->rounded[sum])) return false;
    return true;
}

/* ---- whether the rest takes no longer than the products of a tile ---- */

static int operations(const Op *op) {
    enum { FUNCTION = 20, QUOTIENT = 8, ELEMENT = 4 };
    if (op->kind == OP_LOAD) return op->sub.n == 1 ? ELEMENT : 0;
    if (op->kind == OP_CONST || op->kind == OP_BROADCAST || op->kind == OP_CAST) return 0;
    if (op->kind == OP_DIV || op->kind == OP_MOD) return QUOTIENT;
    return op_cost(op->kind).special > 0 ? FUNCTION : 1;
}

static bool keeps_pace(const Schedule *s, const Product *p, const bool *tail) {
    const Kernel *k = s->f.k;
    int n = 0, cluster = s->facts->cluster;
    int64_t tall = (int64_t)s->facts->rows * cluster, once = s->facts->resident_groups / cluster;
    for (const Op *op = k->body->first; op; op = op->next) n += is_seen(tail, op) ? operations(op) : 0;
    int64_t pairs = ceil_div(k->range.p[0].of.c, tall) * ceil_div(k->range.p[1].of.c * p->sums, WIDE);
    int longer = ROWS * (ROW + OPERATION * n) - OWN_OPERATION * (n + OTHERS);
    return ceil_div(pairs, once) >= FEWEST_ROUNDS && longer <= p->sums * STEP * ceil_div(p->depth, 64);
}

static bool tiles_fit(const Schedule *s, const Product *p) {
    const Kernel *k = s->f.k;
    return s->facts->cluster && s->facts->columns == WIDE && p->stores == 1 && !p->plain &&
           elem_bits(k->param.p[p->a].elem) == 16 && product_stores_tiles(&k->param.p[p->c[0]]) &&
           !product_has_fringe(s, p) && !product_beside(s, p);
}

bool product_deferred(Schedule *s, const Product *p, EpilogueGiven *of) {
    *of = (EpilogueGiven){.sums = p->loop};
    if (!tiles_fit(s, p) || !find_roundings(&s->f, p, of)) return false;
    const bool *tail = marks(&s->f, p->store[0]->arg.p[0], of);
    int n = matrices(s->f.k, tail, &of->residual);
    bool near = n == 1 && product_loads_residual(s, of->residual);
    return n == (near ? 1 : 0) && keeps_pace(s, p, tail);
}

bool product_defers(const Kernel *k, const Product *p, const MatrixSchedule *facts, Arena *a) {
    Schedule s = {.f = {.k = k, .arena = a}, .facts = facts};
    EpilogueGiven of;
    return product_deferred(&s, p, &of);
}

/* ---- the text ---- */

static void fill_near(Schedule *s, const Op *near) {
    Fn *f = &s->f;
    const char *elem = near ? elem_c(near->res.p[0]->type.elem) : "";
    if (near) schedule_kind(s, "late_near");
    if (near) schedule_hole(s, "beside_it", cexpr_operand(f, hip_argument(f, near->param))->text);
    schedule_hole(s, "near_low", near ? fn_text(f, "(%s)near[q], ", elem) : "");
    schedule_hole(s, "near_high", near ? fn_text(f, "(%s)(near[q] >> 16), ", elem) : "");
    schedule_hole(s, "late_take", near ? "const uint32_t near[4], " : "");
    schedule_hole(s, "late_give", near ? "near, " : "");
    schedule_hole(s, "late_row", near ? "near[u], " : "");
}

/* A warp has all columns of a result: a row, or two of two sums each. */
static void fill_rows(Schedule *s, const Product *p, const char *half) {
    Fn *f = &s->f;
    bool two = p->sums > 1;
    schedule_number(s, "PER", p->sums);
    schedule_number(s, "LANES", 32 / p->sums);
    schedule_hole(s, "half", half);
    schedule_hole(s, "other_low", two ? fn_text(f, "(%s)z[q], ", half) : "");
    schedule_hole(s, "other_high", two ? fn_text(f, "(%s)(z[q] >> 16), ", half) : "");
    if (two) schedule_kind(s, "late_two");
}

bool product_fill_deferred(Schedule *s, const Product *p, EpilogueGiven *of) {
    Fn *f = &s->f;
    bool late = product_deferred(s, p, of);
    schedule_number(s, "copying", late ? 56 : 40); /* registers */
    schedule_number(s, "multiplying", late ? 224 : 232);
    const char *most = of->residual ? "128 * 256 * 2 + 3 * 4 * 512" : "128 * 256 * 2";
    schedule_hole(s, "room", late ? most : "2 * 64 * 128 * 2");
    if (!late) return false;
    schedule_kind(s, "late");
    const Value *sum = of->rounded[0]->arg.p[0];
    bool bare = sum->def == p->loop;
    const char *name = fn_text(f, "%s_sum", s->launch->function);
    schedule_kind(s, bare ? "late_bare" : "late_sum");
    if (!bare) schedule_hole(s, "rounded", epilogue_text(s, sum, ELEM_F32, (EpilogueGiven){.sums = p->loop}, name));
    fill_rows(s, p, elem_c(of->rounded[0]->res.p[0]->type.elem));
    fill_near(s, of->residual);
    return true;
}
