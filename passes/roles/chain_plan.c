/* chain_plan.c: the tiles of products in a chain: rows of a task, keys of a step, slots of rings.
   Takes: a kernel that fits, with its streams. Gives: the largest tiles that registers and memory hold; or why there
   are none. */
#include "passes/roles/slice.h"

#include <math.h>

enum {
    GROUP = 128,     /* threads of a group */
    GROUP_ROWS = 64, /* that it multiplies */
    PAIR = 2,        /* groups, .. */
    MOST_GROUPS = 3, /* .. or so many where the kernel fixes its rows so */
    LEAST_KEYS = 48, /* of a step, .. */
    WIDE_KEYS = 32,  /* .. where others have the columns */
    MOST_KEYS = 128,
    MOST_WHOLE = 128,     /* columns of a result whose slot has all of them: wider ones leave no room for keys */
    KEYS_STEP = 16,       /* .. in steps of so many (tile_chain.h) */
    LEAST_STAGES = 2,     /* one is read, one is copied */
    MOST_STAGES = 4,      /* more gained nothing: copies are a tenth of the time [guess] */
    BARRIERS = 2048,      /* bytes of the rings' barriers, and up to a multiple of 1024, .. */
    LEAST_BARRIERS = 512, /* .. of which lines leave so many (lines.c) */
    OWN_WORDS = 40,       /* of a thread: addresses, counters, what rows have one of [guess]; .. */
    FEW_WORDS = 24,       /* .. where several products begin a step, and rows have none [compiled: widths 64, 128], or
                             three groups have narrow rows, or others the columns [compiled: widths 64, 512] */
    SPARE_WORDS = 16,     /* with so many more nothing spills [compiled: widths 64 to 256], .. */
    TAIL_WORDS = 25       /* .. likewise where a step may be cut short */
};

/* ---- steps of loops: those of short loops hold all that there is, such as the first keys, which all rows see ---- */

static bool is_fixed(const Slice *s, int range) { return s->k->plan.sized || range_needs_size(s->k, range); }

/* As the plan or the kernel says, or as t does. */
static int64_t step_of(const Slice *s, const Op *loop, const TilePlan *t) {
    if (s->k->plan.regs.n || (!s->any_steps && is_fixed(s, loop->range))) return s->k->range.p[loop->range].size;
    const int64_t most = chain_positions(s, loop);
    return most < t->columns ? ceil_div(most, KEYS_STEP) * KEYS_STEP : t->columns;
}

/* Of a thread: of the group with the one that copies, for which 30 values spill with 24 (compiled), or where lanes copy
   rows; of those that multiply. All groups together have 512 of each of 128 threads, or 504. */
typedef struct {
    int copy, multiply, weigh;
} Registers;

static const Registers by_boxes[MOST_GROUPS + 1] = {[1] = {40, 232, 0}, [PAIR] = {40, 232, 0}, [MOST_GROUPS] = {32, 160, 0}},
                       by_rows[MOST_GROUPS + 1] = {[1] = {56, 240, 0}, [PAIR] = {56, 224, 0}, [MOST_GROUPS] = {56, 152, 0}};

/* Of a group that has rows and keys, and of those that share columns: 128 sums and what is sent [guess]. */
static const Registers of_wide = {56, 120, 168};

static const Registers *registers_of(const Slice *s, const TilePlan *t) {
    return s->wide >= 0 ? &of_wide : slice_has_fill(s, FILL_ROWS) ? &by_rows[t->groups] : &by_boxes[t->groups];
}

static int64_t positions(const Slice *s, int range, const TilePlan *t) {
    if (range == s->row) return t->rows;
    return is_key(s, range) ? step_of(s, kernel_loop(s->k, range), t) : slice_extent(s, range);
}

/* ---- registers: results of two ranges that loops carry, those of a step, and what a product takes of them ---- */

static int words_of(const Slice *s, Type type, const TilePlan *t) {
    int64_t n = elem_bits(type.elem);
    for (int i = 0; i < type.nrange; i++) n *= type.range[i] == s->row ? GROUP_ROWS : positions(s, type.range[i], t);
    return (int)(n / 32 / GROUP);
}

static int words_carried(const Slice *s, const Op *loop, const TilePlan *t) {
    int words = 0;
    for (int i = 0; i < loop->res.n; i++)
        if (loop->res.p[i]->type.nrange == 2 && !(s->wide >= 0 && type_has(loop->res.p[i]->type, s->wide)))
            words += words_of(s, loop->res.p[i]->type, t);
    return words;
}

/* A product, or what is made of one element by element: the same registers. */
static bool is_of_product(const Value *v, int depth) {
    enum { DEEP = 16 /* operations */ };
    const Op *d = v->def;
    if (!d || d->kind == OP_DOT) return true;
    for (int i = 0; i < d->arg.n && depth < DEEP && op_is_elementwise(d); i++)
        if (d->arg.p[i]->type.nrange == 2 && is_of_product(d->arg.p[i], depth + 1)) return true;
    return false;
}

/* What is loaded to begin with, as a bias, has registers as a product has. */
static bool adds_to_product(const Op *dot) { return dot->arg.n > 2 && is_of_product(dot->arg.p[2], 0); }

/* The loop sums up results of the type. */
static bool is_carried(const Op *loop, Type t) {
    for (int i = 0; i < loop->res.n; i++)
        if (type_equal(loop->res.p[i]->type, t)) return true;
    return false;
}

static int words_of_step(const Slice *s, const Op *loop, const TilePlan *t) {
    int words = 0, made = 0;
    for (int i = 0; i < s->dot.n; i++) {
        const Op *dot = s->dot.p[i];
        if (dot->in->parent != loop) continue;
        if (!is_carried(loop, dot->res.p[0]->type) && !adds_to_product(dot))
            words += words_of(s, dot->res.p[0]->type, t);
        for (int n = 0; n < 2; n++)
            if (operand_is_made(dot, n)) made = (int)fmax(made, words_of(s, dot->arg.p[n]->type, t));
    }
    return words + made;
}

/* Products of what is loaded, whose sums are not added up: as scores and the gradients of weights. */
bool chain_has_several(const Slice *s) {
    int n = 0;
    for (int i = 0; i < s->dot.n; i++) {
        const Op *dot = s->dot.p[i], *before = dot->arg.n > 2 ? dot->arg.p[2]->def : NULL;
        n += !operand_is_made(dot, 0) && !operand_is_made(dot, 1) && !(before && before->kind == OP_DOT);
    }
    return n > 1;
}

static bool carries_rows(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        for (int n = 0; n < s->op.p[i]->res.n && s->op.p[i]->kind == OP_FOR; n++)
            if (s->op.p[i]->res.p[n]->type.nrange == 1) return true;
    return false;
}

static int words_most(const Slice *s, const TilePlan *t) {
    int most = 0;
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        if (op->kind == OP_FOR) most = (int)fmax(most, words_carried(s, op, t) + words_of_step(s, op, t));
    }
    return most + (t->groups > PAIR || s->wide >= 0 || (chain_has_several(s) && !carries_rows(s)) ? FEW_WORDS : OWN_WORDS);
}

/* Operands in registers of all products of a step, while those of the next one are made: of the loop that has most. */
bool chain_holds_steps(const Slice *s) {
    const int groups = plan_row_groups(&s->k->plan);
    const TilePlan t = {.rows = (int)s->k->range.p[s->row].size, .groups = groups};
    int all = 0, most = 0;
    for (int i = 0; i < s->dot.n; i++)
        for (int n = 0; n < 2; n++) {
            const Op *dot = s->dot.p[i];
            const int words = operand_is_made(dot, n) ? words_of(s, dot->arg.p[n]->type, &t) : 0;
            all += words, most = words > most ? words : most;
        }
    return !chain_has_several(s) || words_most(s, &t) + all - most <= registers_of(s, &t)->multiply;
}

/* ---- memory ---- */

static int64_t tile_bytes(const Slice *s, Type type, int row, const TilePlan *t) {
    int64_t rows = 1;
    for (int i = 0; i < type.nrange; i++)
        if (type.range[i] != row) rows *= positions(s, type.range[i], t);
    return panel_room(PANEL_K128, elem_bits(type.elem) / 8 * positions(s, row, t), rows);
}

static int64_t stream_bytes(const Slice *s, const Stream *x, const TilePlan *t) {
    int64_t bytes = 0;
    for (int i = 0; i < x->load.n; i++) {
        const Op *load = x->load.p[i];
        const Affine *last = &load->sub.p[load->sub.n - 1].lo;
        const Type type = load->res.p[0]->type;
        if (x->panel.p[i] == PANEL_LINE) continue;
        bytes += tile_bytes(s, type, type.range[!affine_follows(last, type.range[0])], t);
    }
    return bytes;
}

/* Of a step. */
static int64_t lines_bytes(const Slice *s, const TilePlan *t) {
    int64_t bytes = 0;
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            const Type type = s->stream.p[i].load.p[n]->res.p[0]->type;
            if (s->stream.p[i].panel.p[n] != PANEL_LINE) continue;
            bytes += panel_room(PANEL_LINE, elem_bits(type.elem) / 8 * positions(s, type.range[0], t), 1);
        }
    return bytes;
}

bool chain_has_parts(const Slice *s) { return s->chained && s->wide < 0 && slice_extent(s, s->column) > MOST_WHOLE; }

static int64_t results_bytes(const Slice *s, const TilePlan *t) {
    int64_t bytes = 0;
    for (int i = 0; i < s->store.n && s->wide < 0; i++) {
        const Type type = s->store.p[i]->arg.p[0]->type;
        if (type.nrange != 2 || !type_has(type, s->column) || s->store.p[i]->in != s->k->body) continue;
        bytes += chain_has_parts(s) ? CHAIN_PARTS * panel_room(PANEL_K128, 2 * PANEL_COLUMNS, t->rows)
                                    : panel_room(PANEL_K128, 2 * slice_extent(s, s->column), t->rows);
    }
    return bytes;
}

/* Whatever sizes a run gives: variants for smaller ones have the rings of all. -1: not known. */
static int64_t bound_most(const Kernel *k, const Value *v) {
    const Op *d = v->def;
    const bool edge = d && (d->kind == OP_END || d->kind == OP_SIZE);
    if (!d || (!edge && d->kind != OP_CONST && d->kind != OP_MIN)) return -1;
    if (d->kind == OP_CONST) return d->imm;
    if (edge) {
        const Size of = d->kind == OP_SIZE ? d->size : k->range.p[d->range].of;
        return size_is_number(of) ? of.c : -1;
    }
    const int64_t a = bound_most(k, d->arg.p[0]), b = bound_most(k, d->arg.p[1]);
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static bool has_one_step(const Slice *s, const Op *loop, const TilePlan *t) {
    const int64_t end = bound_most(s->k, loop->arg.p[1]);
    int64_t first;
    return end >= 0 && value_const(loop->arg.p[0], &first) && end - first <= step_of(s, loop, t);
}

static bool has_long_loop(const Slice *s, const TilePlan *t) {
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i]) && !has_one_step(s, s->op.p[i], t)) return true;
    return false;
}

/* Tiles that are copied once a task need no second slot beside a long loop. */
static bool is_single(const Slice *s, const Stream *x, const TilePlan *t) {
    const Op *loop = x->at->parent;
    return !loop || (chain_is_step(s, loop) && loop->in == s->k->body && has_one_step(s, loop, t) && has_long_loop(s, t));
}

static int64_t sent_extent(const Slice *s, int range, const void *t) { return positions(s, range, t); }

typedef struct {
    int64_t task, single, step; /* tiles of a task, others that are copied once a task, and those of a step */
} Bytes;

static Bytes bytes_of(const Slice *s, const TilePlan *t) {
    Bytes b = {0};
    for (int i = 0; i < s->stream.n; i++) {
        const Stream *x = &s->stream.p[i];
        *(!x->at->parent ? &b.task : is_single(s, x, t) ? &b.single : &b.step) += stream_bytes(s, x, t);
    }
    return b;
}

static int64_t room_of(const Slice *s, const TilePlan *t) {
    return s->target->lds_bytes - BARRIERS - results_bytes(s, t) - wide_bytes(s, t->rows, sent_extent, t);
}

static int stages_of(const Slice *s, const TilePlan *t) {
    const Bytes b = bytes_of(s, t);
    const int64_t room = room_of(s, t) - b.task - b.single;
    if (!b.step) return room < 0 ? 0 : LEAST_STAGES; /* all that a task reads stands in front of its loops */
    int64_t n = room < b.step ? 0 : (int64_t)fmin(MOST_STAGES, (double)(room / b.step));
    while (n * (b.step + lines_bytes(s, t)) > room + BARRIERS - LEAST_BARRIERS) n--;
    return (int)n;
}

/* ---- the choice ---- */

/* Which sizes the kernel's own text decides: none where only advice is wanted. */
typedef enum { FIXED_NONE, FIXED_ROWS, FIXED_ALL } Fixed;

/* The longest steps have t's size. */
static bool steps_fit(const Slice *s, const TilePlan *t) {
    int64_t longest = 0;
    for (int i = 0; i < s->op.n; i++) {
        if (!chain_is_step(s, s->op.p[i])) continue;
        const int64_t size = step_of(s, s->op.p[i], t);
        if (size % KEYS_STEP || size < KEYS_STEP) return false;
        if (size > longest) longest = size;
    }
    return !longest || longest == t->columns;
}

static bool sizes_fit(const Slice *s, const TilePlan *t, Fixed fixed) {
    if (fixed >= FIXED_ROWS && is_fixed(s, s->row) && s->k->range.p[s->row].size != t->rows) return false;
    return steps_fit(s, t);
}

/* Some step of so many keys may be cut short. */
static bool has_tail(const Slice *s, const TilePlan *t) {
    Kernel k = *s->k;
    k.range.p = arena_copy(s->scratch, k.range.p, sizeof *k.range.p * (size_t)k.range.n);
    k.range.p[s->row].size = t->rows;
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i])) k.range.p[s->op.p[i]->range].size = step_of(s, s->op.p[i], t);
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i]) && chain_has_tail(s, &k, s->op.p[i]->range)) return true;
    return false;
}

/* spare: registers are left over, so that nothing spills. whole: no step is cut short. */
typedef struct {
    bool spare, whole;
} Wish;

static bool plan_try(const Slice *s, TilePlan *t, Fixed fixed, Wish wish) {
    const bool tail = (wish.spare || wish.whole) && has_tail(s, t);
    const int left = !wish.spare ? 0 : t->groups > PAIR ? SPARE_WORDS / 2 : tail ? TAIL_WORDS : SPARE_WORDS;
    if (!sizes_fit(s, t, fixed) || words_most(s, t) + left > registers_of(s, t)->multiply || (wish.whole && tail)) return false;
    t->stages = stages_of(s, t);
    return t->stages >= LEAST_STAGES;
}

/* Tiles of t->groups, the largest that fit. */
static bool find_up_to(Slice *s, TilePlan *t, Fixed fixed, int keys) {
    static const Wish wishes[] = {{true, true}, {false, true}, {true, false}, {false, false}};
    const int first = chain_has_several(s) ? 0 : 2;
    t->rows = GROUP_ROWS * t->groups;
    for (int i = first; i < (int)(sizeof wishes / sizeof *wishes); i++)
        for (t->columns = keys; t->columns >= (s->wide >= 0 ? WIDE_KEYS : LEAST_KEYS); t->columns -= KEYS_STEP)
            if (plan_try(s, t, fixed, wishes[i])) return true;
    return false;
}

static bool find_of_groups(Slice *s, TilePlan *t, Fixed fixed) {
    return find_up_to(s, t, fixed, chain_keys_most(s, t->groups)) || find_up_to(s, t, fixed, MOST_KEYS);
}

static bool find_tiles(Slice *s, TilePlan *t, Fixed fixed) {
    s->any_steps = fixed < FIXED_ALL;
    const Range *rows = &s->k->range.p[s->row];
    const bool chosen = rows->tunable && !s->k->plan.sized;
    const bool three = chosen ? fixed == FIXED_ALL : rows->size == GROUP_ROWS * MOST_GROUPS;
    const bool narrow = size_most(s->m, rows->of) <= GROUP_ROWS || (chosen && chain_tasks_are_few(s)),
               one = s->wide >= 0 || chain_chunks_are_few(s) || (!is_fixed(s, s->row) && narrow);
    t->groups = MOST_GROUPS;
    if (!one && three && find_of_groups(s, t, fixed) && (!chosen || chain_three_are_better(s, t))) return true;
    for (t->groups = one ? 1 : PAIR; t->groups > 0; t->groups--)
        if (find_of_groups(s, t, fixed)) return true;
    return false;
}

/* ---- the record ---- */

static double steps_of(const Slice *s, const Op *loop, const TilePlan *t) {
    double steps = 1;
    for (; loop && loop->kind == OP_FOR; loop = loop->in->parent)
        steps *= (double)ceil_div(value_most(s->m, s->k, loop->arg.p[1]), chain_is_step(s, loop) ? step_of(s, loop, t) : 1);
    return steps;
}

static double clocks_of(const Slice *s, const TilePlan *t) {
    double clocks = 0;
    for (int i = 0; i < s->dot.n; i++) {
        const Op *dot = s->dot.p[i], *loop = dot->in->parent;
        const int64_t columns = positions(s, dot_column(s, dot), t), depth = positions(s, dot->over[0], t);
        clocks += steps_of(s, loop, t) * (double)ceil_div(depth, s->op_matrix->ad->k) * t->groups *
                  matrix_cycles(s->op_matrix, (int)columns);
    }
    return clocks;
}

/* Tiles that come once a task, for one group: a second workgroup of the processor multiplies while this one waits for its
   next task's. Registers of a thread, which are those of a workgroup's begin; 0: there is no room for two. */
static int registers_of_two(const Slice *s, const TilePlan *t) {
    enum { RESIDENT = 2, BEGIN = 128 /* 2^16 registers by two workgroups of 256 threads */ };
    const Bytes b = bytes_of(s, t);
    const int64_t room = (s->target->lds_bytes - BARRIERS) / RESIDENT - BARRIERS - results_bytes(s, t);
    const bool once = s->dot.n && !b.step && !b.single && t->groups == 1 && s->wide < 0 && !slice_has_fill(s, FILL_ROWS);
    return once && isfinite(chain_tasks(s, t->rows)) && chain_tasks(s, t->rows) > s->target->processors &&
                   words_most(s, t) <= BEGIN && 2 * b.task <= room
               ? BEGIN
               : 0;
}

static bool has_steps(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i])) return true;
    return false;
}

static void plan_record(Slice *s, const TilePlan *t, Planned *p) {
    const bool differ = chain_tasks_differ(s, 0) || chain_tasks_differ(s, 1);
    p->plan = (Plan){.lowering = LOWER_ROLES, .stages = t->stages, .tasks = differ ? TASKS_TICKET : TASKS_STATIC};
    p->plan.cut = s->k->plan.cut;
    p->plan.unaligned = s->k->plan.unaligned;
    p->cost = (int)fmin(1 + clocks_of(s, t), INT32_MAX);
    const Registers *regs = registers_of(s, t);
    const int two = registers_of_two(s, t);
    p->plan.resident = two ? 2 : 0;
    vec_push(s->m->arena, &p->plan.regs, two ? two : regs->copy);
    for (int i = 0; i < t->groups; i++) vec_push(s->m->arena, &p->plan.regs, two ? two : regs->multiply);
    for (int i = 0; i < WIDE_GROUPS && s->wide >= 0; i++) vec_push(s->m->arena, &p->plan.regs, regs->weigh);
    planned_tile(p, s->row, t->rows);
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i])) planned_tile(p, s->op.p[i]->range, step_of(s, s->op.p[i], t));
    const char *steps = has_steps(s) ? slice_text(s, " and steps of %d", t->columns) : "";
    p->how = slice_text(s, "roles, %d rows%s, %d stages, %d group%s%s%s", t->rows, steps, t->stages, t->groups, t->groups > 1 ? "s that multiply" : " that multiplies",
                        s->wide >= 0 ? ", 2 share columns" : "", differ ? ", tasks by a counter" : "");
    if (two) p->how = slice_text(s, "%s, 2 workgroups a processor", p->how);
}

/* Of the only loop with products. */
static int64_t parts_of(const Slice *s, const TilePlan *t) {
    const Op *loop = NULL;
    double clocks = 0, bytes = 0;
    for (int i = 0; i < s->op.n; i++) {
        if (!chain_is_step(s, s->op.p[i])) continue;
        if (loop || s->op.p[i]->in != s->k->body) return 1;
        loop = s->op.p[i];
    }
    if (!loop) return 1;
    clocks = clocks_of(s, t) / steps_of(s, loop, t);
    for (int i = 0; i < s->stream.n; i++)
        if (s->stream.p[i].at->parent == loop) bytes += (double)stream_bytes(s, &s->stream.p[i], t);
    return chain_parts(s, t, loop, clocks, bytes);
}

static int count_loops(const Slice *s) {
    int n = 0;
    for (int i = 0; i < s->op.n; i++) n += s->op.p[i]->kind == OP_FOR;
    return n;
}

/* What would fit; a loop of few steps may have others than the rest. */
static const char *tiles_text(const Slice *s, const TilePlan *t) {
    const char *text = slice_text(s, "tiles of %d rows, and steps of %d", t->rows, t->columns);
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i]) && step_of(s, s->op.p[i], t) != t->columns)
            return slice_text(s, "%s, of %d in the loop of few steps", text, (int)step_of(s, s->op.p[i], t));
    return text;
}

static bool refuse_tiles(Slice *s) {
    TilePlan t = {.cluster = 1};
    const bool other = find_tiles(s, &t, FIXED_ROWS) || find_tiles(s, &t, FIXED_NONE);
    return slice_refuse(
        s, NULL, other ? tiles_text(s, &t) : "fewer results in one kernel",
        "no tile fits: what its loops carry and a step makes takes too many registers, or too much memory");
}

bool chain_plan(Slice *s, Planned *p) {
    TilePlan t = {.cluster = 1};
    if (count_loops(s) >= PLANNED_TILES) return slice_refuse(s, NULL, NULL, "it has many loops");
    if (!find_tiles(s, &t, FIXED_ALL)) return refuse_tiles(s);
    *p = (Planned){0};
    const int64_t parts = parts_of(s, &t);
    plan_record(s, &t, p);
    p->plan.parts = parts > 1 ? (int)parts : 0;
    return true;
}

static TilePlan tiles_planned(const Slice *s) {
    const int groups = plan_row_groups(&s->k->plan);
    TilePlan t = {.rows = (int)s->k->range.p[s->row].size, .groups = groups};
    for (int i = 0; i < s->op.n; i++)
        if (chain_is_step(s, s->op.p[i])) t.columns = (int)fmax(t.columns, step_of(s, s->op.p[i], &t));
    return t;
}

/* Where there is room, the next task's tiles are copied beside the last steps of this one. */
static int slots_of_task(const Slice *s) {
    const TilePlan t = tiles_planned(s);
    const Bytes b = bytes_of(s, &t);
    const int64_t all = 2 * b.task + b.single + s->k->plan.stages * (b.step + lines_bytes(s, &t));
    return room_of(s, &t) >= all ? 2 : 1;
}

int chain_slots(const Slice *s, const Stream *x) {
    if (!x->at->parent) return s->chained ? slots_of_task(s) : 1;
    return s->chained && is_single(s, x, NULL) ? 1 : s->k->plan.stages;
}

bool chain_planned(Slice *s) {
    const TilePlan t = tiles_planned(s);
    const bool good = t.rows == GROUP_ROWS * t.groups && t.columns <= MOST_KEYS && steps_fit(s, &t);
    return good && s->k->plan.stages >= LEAST_STAGES && s->k->plan.stages <= stages_of(s, &t);
}
