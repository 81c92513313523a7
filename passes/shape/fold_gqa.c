/* fold_gqa.c: tasks along a range that read the same tiles, as the heads of a group read one key/value head, become one
   task. Takes: value form without flags. Gives: the same results. A range r of n that a loop reads through r / d becomes
   r: d of n, and r / d the number of its tile. Where roles take that alone, d positions are a range of their own. */
#include "passes/fuse/inline.h"
#include "passes/plan/plan.h"
#include "ir/trial.h"

typedef struct {
    Module *m;
    Kernel *k;
    int16_t range, row; /* row: the same, or the range of d that is put beside it */
    int64_t by;         /* d */
    bool failed, grown;
} Group;

/* ---- which range, and by how many ---- */

static int64_t divisor_in(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_POS && t->id == range) return t->div;
    }
    return 0;
}

/* Of a load in a loop that looks the range up through r / d alone; 0: there is none. */
static int64_t divisor_of(const Region *r, int range, bool loop) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        int64_t found = 0, plain = 0;
        for (int d = 0; d < op->sub.n && op->kind == OP_LOAD && loop; d++) {
            int64_t div = divisor_in(&op->sub.p[d].lo, range);
            *(div > 1 ? &found : &plain) |= div;
        }
        if (found && !plain) return found;
        for (int i = 0; i < 2; i++)
            if ((found = divisor_of(op->region[i], range, loop || op->kind == OP_FOR))) return found;
    }
    return 0;
}

static bool has_merge(const Kernel *k) {
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->kind == OP_FOR && op->region[1]) return true;
    return false;
}

/* So is a parameter that it does not store to. */
static bool is_stored_alike(const Kernel *k, const Op *load) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_STORE && op->param == load->param && !access_equal(op, load)) return false;
    return true;
}

/* It reads what its tasks store at other places, other rows among them, which one task would read before it stores them. */
static bool reads_others(const Kernel *k) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op->kind == OP_LOAD && !is_stored_alike(k, op)) return true;
    return false;
}

/* Rows of a task: two edges of a matrix instruction, of 16; chosen: no measurement is recorded. */
enum { MOST_ROWS = 32 };

static int64_t planned_size(const Kernel *k, int range, const Planned *p) {
    for (int i = 0; p && i < p->tiles; i++)
        if (p->tile[i].range == range) return p->tile[i].size;
    return k->range.p[range].size;
}

/* Of the grid's tiles: what else a task has is a row's width. */
static int64_t task_rows(const Kernel *k, const Planned *p) {
    int64_t rows = 1;
    for (int i = 0; i < k->ngrid; i++)
        if (k->range.p[i].kind == RANGE_TILE) rows *= planned_size(k, i, p);
    return rows;
}

/* As it stands it will be computed in tasks of many rows. */
static bool has_many_rows(PassContext *c, const Kernel *k) {
    Planned p = plan_of(c, k);
    return !p.why.words && task_rows(k, &p) > MOST_ROWS;
}

/* Fewer tasks are no loss where their loop can be cut, which gives more; tasks of many rows fill the instructions as
   they are. */
static bool range_fits(const Kernel *k, int range, int64_t by) {
    const Range *r = &k->range.p[range];
    return by > 1 && by * task_rows(k, NULL) <= MOST_ROWS && r->kind == RANGE_POSITION && r->owner < 0 &&
           k->level == LEVEL_GROUP && !plan_is_whole(&k->plan) && !region_counts_tiles(k->body, range) &&
           has_merge(k) && !reads_others(k);
}

/* ---- types with the range ---- */

static bool has(const Group *g, const Value *v) { return type_has(v->type, g->row); }

static void add(Group *g, Value *v) {
    if (has(g, v)) return;
    v->type = type_with(v->type, g->row);
    g->grown = true;
}

/* The operand over the range as well, by a broadcast in front of the operation. */
static void operand_add(Group *g, Op *op, int i) {
    if (has(g, op->arg.p[i])) return;
    Region aside = {.parent = op->in->parent};
    Builder b = {.m = g->m, .k = g->k, .at = &aside, .loc = op->loc};
    op->arg.p[i] = build_broadcast(&b, type_with(op->arg.p[i]->type, g->row), op->arg.p[i]);
    region_splice_before(op, &aside);
}

static void grow_region(Group *g, Region *r);

static void tile_number(Group *g, Affine *a) {
    for (int i = 0; i < a->nterm && g->row == g->range; i++) {
        Term *t = &a->term[i];
        if (t->kind == TERM_POS && t->id == g->range && t->div == g->by) t->kind = TERM_INDEX, t->div = 1;
    }
}

static void grow_access(Group *g, Op *op) {
    bool along = false;
    for (int d = 0; d < op->sub.n; d++) {
        tile_number(g, &op->sub.p[d].lo);
        tile_number(g, &op->sub.p[d].hi);
        along |= type_has(affine_type(g->k, &op->sub.p[d].lo), g->row);
    }
    if (along && op->kind == OP_LOAD) add(g, op->res.p[0]);
    if (!along && op->kind == OP_STORE && has(g, op->arg.p[0])) g->failed = true;
}

static void grow_dot(Group *g, Op *op) {
    bool along = has(g, op->arg.p[0]) || has(g, op->arg.p[1]);
    if (along) add(g, op->res.p[0]);
    if (along && op->arg.n == 3) operand_add(g, op, 2);
    if (!along && op->arg.n == 3 && has(g, op->arg.p[2])) g->failed = true;
}

/* What one of them has, all have: results, carried values, what a region yields. */
static void tie(Group *g, Op *op, int i, Op *yield, int merged) {
    Region *body = op->region[0];
    bool loop = op->kind == OP_FOR;
    if (!has(g, op->res.p[i]) && !has(g, yield->arg.p[i]) && !(loop && has(g, op->arg.p[2 + i]))) return;
    add(g, op->res.p[i]);
    operand_add(g, yield, i);
    if (!loop) return;
    operand_add(g, op, 2 + i);
    add(g, body->arg.p[i]);
    for (int k = 0; k < merged; k++) add(g, op->region[1]->arg.p[i + k * op->res.n]);
}

static void grow_control(Group *g, Op *op) {
    int scalars = op->kind == OP_FOR ? 2 : 1;
    for (int i = 0; i < scalars; i++) g->failed |= has(g, op->arg.p[i]);
    for (int r = 0; r < 2; r++) {
        if (!op->region[r]) continue;
        grow_region(g, op->region[r]);
        for (int i = 0; i < op->res.n; i++)
            tie(g, op, i, op->region[r]->last, op->kind == OP_FOR && op->region[1] ? 2 : 0);
    }
}

static void grow_op(Group *g, Op *op) {
    OpClass class = op_info[op->kind].class;
    bool along = op->kind == OP_POS && op->range == g->row;
    if ((op->kind == OP_BEGIN || op->kind == OP_END) && op->range == g->range) g->failed = true;
    if (class == CLASS_SYNC || class == CLASS_PRINT) g->failed = true;
    if (class == CLASS_MEMORY) grow_access(g, op);
    if (class == CLASS_DOT) grow_dot(g, op);
    if (op->region[0]) grow_control(g, op);
    bool combines = op_is_elementwise(op) || class == CLASS_REDUCE || class == CLASS_PREFIX;
    for (int i = 0; combines && i < op->arg.n; i++) along |= has(g, op->arg.p[i]);
    if (along) add(g, op->res.p[0]);
}

static void grow_region(Group *g, Region *r) {
    for (Op *op = r->first; op; op = op->next) grow_op(g, op);
}

static bool grow(Group *g) {
    for (g->grown = true; g->grown && !g->failed;) {
        g->grown = false;
        grow_region(g, g->k->body);
    }
    return !g->failed;
}

/* ---- rows that are a range of their own: r of n becomes r of n / d, and row of d; r is d r + row, and r / d is r ---- */

static void term_split(Group *g, Affine *a) {
    for (int i = 0, n = a->nterm; i < n; i++) {
        Term *t = &a->term[i];
        if (t->kind != TERM_POS || t->id != g->range) continue;
        if (t->div == g->by && g->by > 1)
            t->div = 1;
        else {
            const Affine row = affine_term(TERM_POS, g->row, t->mul, 1);
            g->failed |= t->div != 1 || !affine_add(a, &row, 1);
            t->mul *= g->by;
        }
    }
}

static bool is_of_grid(const Kernel *k, const Op *op) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            if (t->value || (t->kind == TERM_POS && t->id >= k->ngrid)) return false;
        }
    return true;
}

/* What loops go along, as keys, belongs to the task where that has one row. */
static void accesses_split(Group *g) {
    for (Op *op = walk(g->k->body); op; op = walk_next(op, g->k->body)) {
        const bool alone = is_of_grid(g->k, op);
        if (op->kind == OP_POS && op->range == g->range) g->failed = true;
        for (int d = 0; d < op->sub.n && (g->by > 1 || alone); d++) {
            term_split(g, &op->sub.p[d].lo);
            term_split(g, &op->sub.p[d].hi);
        }
    }
}

static int range_of_rows(Group *g) {
    enum { ROWS = 64 /* of a group's product instruction */ };
    Range *r = &g->k->range.p[g->range], row = *r;
    row.name = name_of(g->m->names, arena_format(g->m->arena, "%s_row", r->name));
    row.kind = RANGE_TILE, row.size = ROWS, row.tunable = true, row.grid = false;
    row.of = size_number(g->by);
    r->of.c /= g->by;
    return kernel_range(g->m, g->k, row);
}

/* Copied, with the rows behind the range that they are of. */
static Kernel *settled(Group *g) {
    Kernel *fresh = kernel_new(g->m, g->k->name, g->k->loc);
    fresh->site = g->k->site, fresh->plan = g->k->plan;
    Inline in = inline_begin(g->m, g->k, fresh, fresh->body);
    for (int i = 0; i < g->k->param.n; i++) in.param[i] = kernel_param(g->m, fresh, g->k->param.p[i]);
    for (int i = 0; i < g->k->ngrid; i++) {
        Range row = g->k->range.p[g->row];
        in.range[i] = (int16_t)kernel_range(g->m, fresh, g->k->range.p[i]);
        row.grid = true;
        if (i == g->range) in.range[g->row] = (int16_t)kernel_range(g->m, fresh, row);
    }
    inline_region(&in, g->k->body);
    return fresh;
}

static void fold_apart(PassContext *c, const Kernel *from, Kernel *k, int range, int64_t by) {
    PassContext t = pass_trial(c);
    Group g = {.m = t.m, .k = kernel_clone(t.m, from), .range = (int16_t)range, .by = by};
    g.row = (int16_t)range_of_rows(&g);
    accesses_split(&g);
    if (g.failed || !grow(&g)) return;
    Kernel *fresh = settled(&g);
    const Planned p = plan_of(&t, fresh);
    if (p.why.words || p.plan.lowering != LOWER_ROLES) return;
    const int id = k->id;
    *k = *fresh;
    k->id = id;
    remark(c, "fold_gqa", k->range.p[range].loc, "'%s': %lld positions of %s a task, a range of their own", k->name, (long long)by,
           k->range.p[range].name);
}

/* ---- the pass ---- */

static void fold_range(PassContext *c, Kernel *k, int range, int64_t by) {
    Module *m = trial_module(c->m);
    Group g = {.m = m, .k = kernel_clone(m, k), .range = (int16_t)range, .row = (int16_t)range, .by = by};
    g.k->range.p[range].kind = RANGE_TILE;
    g.k->range.p[range].size = by;
    g.k->range.p[range].tunable = false;
    if (!grow(&g)) return;
    int id = k->id;
    *k = *g.k;
    k->id = id;
    remark(c, "fold_gqa", k->range.p[range].loc, "'%s': %lld positions of %s a task: they read the same", k->name,
           (long long)by, k->range.p[range].name);
}

static bool has_plan(PassContext *c, const Kernel *k) { return !plan_of(c, k).why.words; }

/* Its products have one row: the last position of the grid then counts rows. */
static bool is_row(const Kernel *k, int range) {
    for (int i = 0; i < k->ngrid; i++)
        if (k->range.p[i].kind == RANGE_TILE || (i > range && k->range.p[i].kind == RANGE_POSITION)) return false;
    return k->range.p[range].kind == RANGE_POSITION && region_has_dot(k->body);
}

static bool rows_fit(const Kernel *k, int range, int64_t by) {
    const Range *r = &k->range.p[range];
    if (by > 1) return range_fits(k, range, by) && size_is_number(r->of);
    return is_row(k, range) && !r->starts && r->owner < 0 && !plan_is_whole(&k->plan) && has_merge(k) && !reads_others(k);
}

static void fold_gqa_kernel(PassContext *c, Kernel *k) {
    const Kernel before = *k;
    for (int r = 0; r < k->ngrid; r++) {
        int64_t by = divisor_of(k->body, r, false);
        if (range_fits(k, r, by) && !has_many_rows(c, k)) fold_range(c, k, r, by);
    }
    if (!has_merge(k) || !region_has_dot(k->body) || has_plan(c, k)) return;
    for (int r = 0; r < before.ngrid; r++) {
        const int64_t by = divisor_of(before.body, r, false);
        if (rows_fit(&before, r, by ? by : 1)) fold_apart(c, &before, k, r, by ? by : 1);
    }
}

static bool fold_gqa_run(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n; i++) fold_gqa_kernel(c, c->m->kernel.p[i]);
    return true;
}

const Pass pass_fold_gqa = {
    .name = "fold_gqa",
    .help = "make one task of tasks that read the same keys",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = fold_gqa_run,
    .kernel = fold_gqa_kernel,
};
