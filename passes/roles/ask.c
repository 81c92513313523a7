/* ask.c: what the plan of tiles has to know of a kernel.
   Takes: a kernel with its streams. Gives: its tiles; or why there are none. */
#include "passes/roles/slice.h"
#include "target/rates.h"

#include <string.h>

enum {
    FEWEST = 2,        /* rows and columns of a result: a single one is read once, and summed by threads */
    FEW = 128,         /* rows of a result for which operands are exchanged, and that threads store from registers; .. */
    SOME = 512,        /* .. and where boxes store it; of more, tiles fit either way [guess] */
    SCALED = 64,       /* .. and where steps scale sums, by a number for each column. Measured on an H200, 8-bit floats, blocks
                          of 128, 128 x 7168 x 16384: 66 us exchanged, 47 not */
    LEAST_COLUMNS = 8, /* of a tile then: of a product instruction */
    MADE_A_WORD = 4, /* positions of a step for which a thread has a word of a first operand in registers: two elements,
                        of 64 rows by 128 threads */
    MOST_MAPS = 8 /* tensors that come and go by boxes; a launch has maps for twice as many boxes (codegen/codegen.h) */
};

/* The asynchronous one, whose operands lie in shared memory; the first one has the rows. */
static const MatrixOp *product_op(const Slice *s, const Op *dot) {
    bool swapped = !type_has(dot->arg.p[0]->type, s->row);
    const char *x = elem_text(product_operand(dot, swapped)->type.elem), *y = elem_text(product_operand(dot, !swapped)->type.elem);
    for (const MatrixOp *op = s->target->op; op < s->target->op + s->target->nops; op++)
        if (op->kind == MATRIX_WGMMA && !strcmp(op->a, x) && !strcmp(op->b, y) &&
            !strcmp(op->d, elem_text(dot->res.p[0]->type.elem)))
            return op;
    return NULL;
}

/* ---- loops ---- */

static bool loop_size_fits(Slice *s, const Op *dot) {
    int range = dot->over[0];
    bool fixed = s->k->plan.sized || range_needs_size(s->k, range);
    if (!fixed || s->k->range.p[range].size == slice_depth(s)) return true;
    return slice_refuse(s, kernel_loop(s->k, range), "leave the size open, for p: auto, or take that of 128 bytes",
                        "steps of '%s' have to be tiles of %lld", s->k->range.p[range].name,
                        (long long)s->k->range.p[range].size);
}

/* Steps of all loops, at most; positions without a bound count as few. */
static int64_t steps_of(const Slice *s) {
    int64_t steps = 0;
    for (int i = 0; i < s->stream.n; i++) {
        int64_t most = 1, end;
        const Op *inner = NULL;
        for (const Op *loop = s->stream.p[i].at->parent; loop; loop = loop->in->parent) {
            if (loop->kind != OP_FOR || (inner && loop_flat(s, loop, &end) == inner)) continue;
            inner = loop;
            int64_t n = value_most(s->m, s->k, loop->arg.p[1]);
            bool tiles = s->k->range.p[loop->range].kind == RANGE_TILE;
            if (n > 0) most *= tiles ? ceil_div(n, slice_depth(s)) : n;
        }
        steps += most;
    }
    return steps;
}

/* ---- tiles of a task ---- */

/* Of a tensor, on a rank. */
static double tensor_bytes(const Slice *s, const Param *p) {
    double bytes = elem_bits(p->elem) / 8.0;
    for (int d = 0; d < p->ndim; d++) bytes *= (double)size_most(s->m, p->dim[d]);
    return bytes;
}

/* Of all tensors that loops copy, each once: tasks may have some in common, and pixels are read for several places. */
static double operand_bytes(const Slice *s) {
    bool *seen = ARENA_ARRAY(s->scratch, bool, s->k->param.n);
    double bytes = 0;
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            const int param = s->stream.p[i].load.p[n]->param;
            if (!seen[param]) bytes += tensor_bytes(s, &s->k->param.p[param]);
            seen[param] = true;
        }
    return bytes;
}

static void count_tiles(const Slice *s, TileQuestion *q) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            bool row = type_has(s->stream.p[i].load.p[n]->res.p[0]->type, s->row);
            *(row ? &q->row_tiles : &q->column_tiles) += 1;
            *(row ? &q->row_across : &q->column_across) += panel_info[s->stream.p[i].panel.p[n]].across;
        }
}

/* It is no sum that a loop in front of this one, or around it, has begun. */
static bool begins_anew(const Value *first) { return first->def && first->def->kind != OP_FOR; }

/* Sums that loops begin, products that no loop adds up, and one of those that are added up elsewhere. */
static int count_sums(const Slice *s) {
    int n = 0, promoted = 0;
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        if (op->kind == OP_DOT) n += op->arg.n == 2;
        if (op->kind == OP_DOT && dot_promotes(op)) promoted = 1;
        for (int v = 0; v < op->res.n && op->kind == OP_FOR; v++)
            n += op->res.p[v]->type.nrange == 2 && begins_anew(op->arg.p[2 + v]);
    }
    return n + promoted;
}

/* Products whose sums are added up elsewhere; 0: with two steps' sums of each no tile has room for all. */
static int count_parts(const Slice *s) {
    enum { MOST = 6 /* tiles of PANEL_COLUMNS that threads have registers for */ };
    int parts = 0;
    for (int i = 0; i < s->dot.n; i++) parts += dot_promotes(s->dot.p[i]);
    return count_sums(s) - 1 + 2 * parts <= MOST ? parts : 0;
}

/* Results of the arm that has the most; what goes to several places counts once. */
static int count_results(const Slice *s, bool in_slots) {
    int n = 0, most = 0;
    for (int i = 0; i < s->store.n; i++) {
        const Op *store = s->store.p[i], *before = i ? s->store.p[i - 1] : NULL;
        if (before && store->in != before->in) n = 0;
        if (before && store->in == before->in && store->arg.p[0] == before->arg.p[0]) continue;
        n += !in_slots || elem_bits(s->k->param.p[store->param].elem) == 16;
        if (n > most) most = n;
    }
    return most;
}

/* Results that go to memory through slots. */
static int count_slots(const Slice *s) { return s->swapped && !s->turned ? 0 : count_results(s, true); }

/* Tasks with the same tile of the result. */
static int64_t tasks_beside(const Slice *s) {
    int64_t n = 1;
    for (int i = 0; i < s->k->ngrid; i++) {
        const Range *r = &s->k->range.p[i];
        if (i != s->row && i != s->column && r->kind != RANGE_WHOLE) n *= ceil_div(size_most(s->m, r->of), r->size);
    }
    return n;
}

/* ---- clusters ---- */

static bool follows_tile(const Op *op, int range) {
    for (int d = 0; d < op->sub.n; d++)
        if (affine_follows(&op->sub.p[d].lo, range)) return true;
    return false;
}

/* Bounds, conditions and places of shared copies are the same for the workgroups of a cluster along the range. */
static bool may_share(const Slice *s, int range) {
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        const Value *v = op->res.n == 1 ? op->res.p[0] : NULL;
        if (!v || (!s->addresses[v->id] && !s->stream_of[v->id])) continue;
        bool index = (op_attributes(op->kind) & HAS_RANGE) && op->range == range;
        if (index || (!type_has(v->type, range) && follows_tile(op, range))) return false;
    }
    return true;
}

/* Only boxes come for all workgroups of a cluster. */
static bool shares_boxes(const Slice *s, int along) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++)
            if (s->stream.p[i].fill != FILL_BOX && !type_has(s->stream.p[i].load.p[n]->res.p[0]->type, along))
                return false;
    return true;
}

/* Few rows gain nothing, but for results that are turned, and of groups whose rows are counted at run time each may end
 * with few. */
static bool may_pair(const Slice *s) {
    bool numbers = size_is_number(s->k->range.p[s->row].of) && size_is_number(s->k->range.p[s->column].of);
    return (!s->swapped || s->turned || s->k->plan.clusters > 1) && !s->makes &&
           (!kernel_is_ragged(s->k) || numbers || s->k->plan.clusters > 1);
}

/* Boxes of rows that do not begin with lines of memory read two for each of their own; of all operands. */
static bool rows_apart(const Slice *s) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            const Param *p = &s->k->param.p[s->stream.p[i].load.p[n]->param];
            Size row = p->dim[p->ndim - 1];
            if (s->stream.p[i].fill != FILL_BOX || !size_is_number(row)) return false;
            if (row.c * elem_bits(p->elem) / 8 % LINE == 0) return false;
        }
    return true;
}

/* A file of sizes may ask for it, too, or for a result's columns in a tile. */
static int64_t only_size(const Slice *s, int range) {
    if (s->k->plan.columns && range == (s->swapped ? s->row : s->column)) return s->k->plan.columns;
    return s->k->plan.sized || kernel_needs_size(s->k, range) ? s->k->range.p[range].size : 0;
}

/* Tiles of a divisor have one of each of the elements that steps load along the range; 0: any tiles do. */
static int64_t even_size(const Slice *s, int range) {
    enum { NARROWEST = 64 /* positions: narrower tiles cost more than their loads */ };
    int64_t size = 0;
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        if (op->kind != OP_LOAD || s->stream_of[op->res.p[0]->id] || op->in == s->k->body) continue;
        int64_t n = load_even(op, range);
        if (n >= NARROWEST && (!size || n < size)) size = n;
    }
    return size;
}

static int64_t groups_of(const Slice *s, int range) {
    return range_is_ragged(s->k, range) ? size_most(s->m, range_groups(s->k, range)) : 1;
}

/* Of tiles of few rows, with exchanged operands; groups that have some have room for as many again, as others have none.
   Measured on an H200, 64 rows in 8 groups by 4096 x 4096: three groups that have all take 37 us in tiles of 16 rows,
   50 in tiles of 8; equal ones 68 and 67. */
static int least_rows(const Slice *s) {
    enum { STEP = 16 /* rows */ };
    const int64_t groups = groups_of(s, s->column), rows = size_most(s->m, s->k->range.p[s->column].of);
    if (s->turned) return FEW + STEP;
    if (groups == 1 || only_size(s, s->column)) return LEAST_COLUMNS;
    const int64_t room = STEP * ceil_div(2 * rows, STEP * groups);
    return room < PANEL_COLUMNS ? (int)(room < STEP ? STEP : room) : PANEL_COLUMNS;
}

/* Tiles over an edge may come last where their number is known, and steps are products alone. Not of pixels: measured
   on an H200, 32 images of 28 x 28 x 256, 3 x 3, 49.7 us so in tiles of 192 x 144, 39.8 in those of 192 x 128. */
static bool may_split_edges(const Slice *s) {
    const Kernel *k = s->k;
    if (s->swapped || s->kept.n || kernel_is_ragged(k) || slice_has_peers(s) || s->stream.n != 1) return false;
    if (s->stream.p[0].fill != FILL_BOX || slice_tasks(s) != TASKS_STATIC || tasks_beside(s) != 1) return false;
    for (int n = 0; n < s->stream.p[0].load.n; n++)
        if (stream_fill(&s->stream.p[0], n) == FILL_PIXELS) return false;
    for (int i = 0; i < s->dot.n; i++)
        if (dot_promotes(s->dot.p[i])) return false;
    return size_is_number(k->range.p[s->row].of) && size_is_number(k->range.p[s->column].of);
}

/* Workgroups that share a tile are no cluster of tiles: who asks for clusters alone asks for no slices. */
static int only_slices(const Slice *s) {
    const Plan *p = &s->k->plan;
    return p->slices || p->clusters < 2 ? p->slices : 1;
}

/* Boxes alone are copied by a lane: threads that copy rows want registers. */
static int only_resident(const Slice *s) { return slice_has_fill(s, FILL_ROWS) ? 0 : s->k->plan.resident; }

/* To rows of an odd length. */
static bool stores_bytes(const Slice *s) {
    for (int i = 0; i < s->store.n; i++) {
        const Param *to = &s->k->param.p[s->store.p[i]->param];
        const Size row = to->ndim ? to->dim[to->ndim - 1] : size_number(0);
        if (elem_bits(to->elem) == 8 && size_is_number(row) && row.c % 2) return true;
    }
    return false;
}

/* Of plain products; groups of rows, gathered ones and those of other ranks are counted as others. */
static bool is_few(const Slice *s) {
    return slice_has_few(s, s->k->range.p[s->swapped ? s->column : s->row].of) && !s->makes &&
           !kernel_is_ragged(s->k) && !slice_has_peers(s) && !slice_has_fill(s, FILL_ROWS) && s->stream.n == 1;
}

static TileQuestion question_of(const Slice *s, const MatrixOp *op) {
    TileQuestion q = {.row_groups = groups_of(s, s->row),
                      .column_groups = groups_of(s, s->column),
                      .rows = size_most(s->m, s->k->range.p[s->row].of),
                      .columns = size_most(s->m, s->k->range.p[s->column].of),
                      .tasks = tasks_beside(s),
                      .steps = steps_of(s),
                      .rings = s->stream.n,
                      .depth = slice_depth(s),
                      .width = matrix_width(op->a) / 8,
                      .row_bits = s->makes ? made_bits(s) : matrix_width(op->a),
                      .made_words = s->makes ? slice_depth(s) / MADE_A_WORD : 0,
                      .sums = count_sums(s),
                      .parts = count_parts(s),
                      .products = s->dot.n,
                      .gathers = slice_has_fill(s, FILL_ROWS),
                      .bytes = operand_bytes(s),
                      .apart = rows_apart(s),
                      .results = count_results(s, false),
                      .oblong = s->turned,
                      .exchanged = s->swapped,
                      .few = is_few(s), 
                      .early = is_few(s) && slice_is_early(s),
                      .least_columns = s->swapped ? least_rows(s) : PANEL_COLUMNS,
                      .slots = count_slots(s),
                      .sends = slice_sends(s),
                      .nears = s->near.n,
                      .kept = s->kept.n,
                      .edges = may_split_edges(s),
                      .singles = stores_bytes(s),
                      .only_rows = only_size(s, s->row),
                      .only_columns = only_size(s, s->column),
                      .even_rows = even_size(s, s->row),
                      .even_columns = even_size(s, s->column),
                      .only_cluster = s->k->plan.clusters,
                      .only_slices = only_slices(s),
                      .only_resident = only_resident(s),
                      .sliced = slices_fit(s),
                      .clusters_rows = may_pair(s) && may_share(s, s->row) && shares_boxes(s, s->row),
                      .clusters_columns = may_pair(s) && may_share(s, s->column) && shares_boxes(s, s->column)};
    count_tiles(s, &q);
    return q;
}

/* ---- limits ---- */

static bool maps_fit(Slice *s) {
    int param[MOST_MAPS + 1], n = 0, slots = count_slots(s) + s->near.n;
    for (int i = 0; i < s->stream.n; i++)
        for (int k = 0; k < s->stream.p[i].load.n && s->stream.p[i].fill == FILL_BOX; k++) {
            int at = 0;
            while (at < n && param[at] != s->stream.p[i].load.p[k]->param) at++;
            if (at == n && n + slots < MOST_MAPS + 1) param[n++] = s->stream.p[i].load.p[k]->param;
        }
    return n + slots <= MOST_MAPS ||
           slice_refuse(s, NULL, "two kernels: the second one takes what the first one has stored",
                        "more than %d tensors come and go by boxes", MOST_MAPS);
}

/* Sums of many 8-bit floats: as parts, or for one row, threads would convert them one by one. */
static bool is_long_eight(const Slice *s, const TileQuestion *q) {
    enum { STEPS = 16 /* of the sum; chosen: no measurement is recorded */ };
    return q->width == 1 && q->steps >= STEPS && elem_is_float(product_operand(s->dot.p[0], 0)->type.elem);
}

/* Fewer tasks leave most of the machine idle: `split` may cut their loop, if it knows how many they are. It has no flags
   for what the parts read of other ranks. */
static bool tasks_suffice(Slice *s, const TileQuestion *q, const TilePlan *t) {
    if (slice_has_peers(s)) return true;
    if (!size_is_number(s->k->range.p[s->row].of) || !size_is_number(s->k->range.p[s->column].of)) return true;
    int columns = t->columns < PANEL_COLUMNS ? PANEL_COLUMNS : t->columns;
    int64_t tasks =
        q->tasks * tiles_of(q->rows, q->row_groups, t->rows) * tiles_of(q->columns, q->column_groups, columns);
    const int least = s->makes || q->few ? 8 : is_long_eight(s, q) ? 4 : 2;
    if (s->k->plan.slices > 1 || s->k->plan.resident) return true;
    return least * tasks * t->slices >= s->target->processors ||
           slice_refuse(s, NULL, NULL, "the result is small");
}

/* A square tile does not tell whether operands are exchanged (slice_is_swapped). */
static bool tells_exchange(Slice *s, const TilePlan *t) {
    return !s->swapped || s->makes || t->columns != t->rows || slice_refuse(s, NULL, NULL, "the result has many rows");
}

/* Operands of one size, and sums of one type: a step has as many positions for all products. */
bool slice_operation(Slice *s) {
    for (int i = 0; i < s->dot.n; i++) {
        const Op *dot = s->dot.p[i];
        const MatrixOp *op = product_op(s, dot);
        if (!op)
            return slice_refuse(s, dot, "two operands of bf16, of f16 or of 8 bits: convert them before, bf16(x)",
                                "products of %s and %s", elem_text(product_operand(dot, 0)->type.elem),
                                elem_text(product_operand(dot, 1)->type.elem));
        if (i && (op->ad != s->op_matrix->ad || strcmp(op->d, s->op_matrix->d)))
            return slice_refuse(s, dot, "products of other types by a kernel of their own",
                                "products of several types");
        s->op_matrix = op;
    }
    return true;
}

Name slice_instruction(const Slice *s, const Op *dot) {
    const MatrixShape *shape = s->op_matrix->ad;
    const int columns = (int)slice_share(s, dot_column(s, dot));
    return name_of(s->m->names, slice_text(s, "wgmma.m%dn%dk%d", shape->m, columns, shape->k));
}

/* Results are made of whole tiles, which come by boxes where operands are not exchanged. */
static bool reads_tiles(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        if (s->op.p[i]->kind == OP_LOAD && s->op.p[i]->in == s->k->body && s->op.p[i]->res.p[0]->type.nrange == 2)
            return true;
    return false;
}

/* A loop adds up elsewhere what it multiplies, as it scales each step's sum. */
static bool scales_sums(const Slice *s) {
    for (int i = 0; i < s->dot.n; i++)
        if (s->dot.p[i]->arg.n == 2 && s->dot.p[i]->in != s->k->body) return true;
    return false;
}

/* Threads write results to slots across, and boxes store them. */
static bool boxes_turn(Slice *s) {
    if (!s->swapped || s->makes || s->chained || kernel_is_ragged(s->k) || slice_has_peers(s)) return false;
    s->turned = true;
    for (int i = 0; i < s->store.n; i++) {
        const Param *p = &s->k->param.p[s->store.p[i]->param];
        if (!size_is_number(p->dim[p->ndim - 1]) || store_why_no_box(s, s->store.p[i])) return false;
    }
    return true;
}

/* Results of more than FEW rows are turned, and their tiles have more rows, too: so the tile of a plan tells. Only a file
   of sizes, or a kernel, may ask for narrower ones of such results: these are not turned. */
void slice_turns(Slice *s) {
    const bool turns = boxes_turn(s);
    const int64_t only = s->k->plan.regs.n ? s->k->range.p[s->column].size : only_size(s, s->column),
                  rows = only ? only : size_most(s->m, s->k->range.p[s->column].of);
    s->turned = turns && rows > FEW;
    s->most_rows = scales_sums(s) ? SCALED : turns && !reads_tiles(s) ? SOME : FEW;
}

bool slice_tiles(Slice *s, TilePlan *to) {
    for (int i = 0; i < s->dot.n; i++)
        if (!loop_size_fits(s, s->dot.p[i])) return false;
    TileQuestion q = question_of(s, s->op_matrix);
    const bool single =
        ((s->swapped ? q.rows : q.columns) < FEWEST || (!q.few && q.rows < FEWEST)) && !plan_asks_roles(&s->k->plan);
    if (single && !is_long_eight(s, &q) && !s->makes) return slice_refuse(s, NULL, NULL, "the result has few rows");
    if (s->swapped && !s->makes && q.columns > s->most_rows)
        return slice_refuse(s, NULL, NULL, "the result has many rows");
    if (!maps_fit(s)) return false;
    bool found = tiles_plan(s->target, s->op_matrix, &q, to);
    q.only_cluster = q.only_slices = q.only_resident = 0; /* where none fits as it is asked for */
    if (found || tiles_plan(s->target, s->op_matrix, &q, to)) return tells_exchange(s, to) && tasks_suffice(s, &q, to);
    return slice_refuse(s, NULL, "fewer sums in one kernel", "no tile fits: %d tiles of operands, %d of sums",
                        q.row_tiles + q.column_tiles, q.sums);
}

/* What follows from the plan. */
bool slice_planned(Slice *s) {
    const Plan *p = &s->k->plan;
    if (s->chained) return chain_planned(s);
    TileQuestion q = question_of(s, s->op_matrix);
    TilePlan t = {.rows = (int)s->k->range.p[s->row].size,
                  .columns = (int)s->k->range.p[s->column].size,
                  .stages = p->stages,
                  .groups = p->regs.n - 1,
                  .edges = p->order && p->order->edges};
    t.slices = plan_slices(p);
    t.resident = p->resident ? p->resident : 1;
    s->slices = t.slices;
    t.cluster = p->cluster && t.slices == 1 ? p->cluster : 1;
    t.beside = p->cluster && p->cluster_range == s->column;
    s->sums_apart = tiles_sums_apart(s->target, &q, &t);
    tiles_rings(s->target, &q, &t);
    s->outs = t.outs, s->nears = t.nears;
    t.registers = p->regs.n ? p->regs.p[p->regs.n - 1] : 0;
    t.late = s->late = tiles_late(s->target, &q, &t);
    s->times = tiles_times(s->target, s->op_matrix, &q, &t);
    s->sum_words = q.sums * t.columns / 2;
    return s->outs > 0 && matrix_n(s->op_matrix, t.columns) && t.groups * s->op_matrix->ad->m == t.rows;
}
