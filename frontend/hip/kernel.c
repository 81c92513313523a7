/* kernel.c: accesses of a HIP kernel, in bytes of flat memory, as loads and stores of tensors with rows.
   Takes: expressions over workgroup, thread and loops. Gives: a kernel whose places passes/remap can follow. */
#include "frontend/hip/kernel.h"
#include "frontend/hip/linear.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128 }; /* bytes: rows are no shorter (AMD CDNA 3 ISA: a cache line) */

typedef struct {
    int n;
    int64_t pitch[MAX_DIMS]; /* bytes from row to row, the largest first; the last dimension counts bytes */
    int64_t extent[MAX_DIMS + 1];
} Rows;

typedef struct {
    Module *m;
    Arena *arena;
    const HipKernel *hip;
    HipSizes sizes;
    HipTasks *to;
    Builder at;
    Linear *place; /* of each access */
    Rows *rows;    /* of each parameter */
    int *range_of; /* a loop's range; -1: not begun */
    int block[5];  /* ranges of HIP_BLOCK 0 to 4 */
    bool *done;    /* accesses that are written */
} Tasks;

/* ---- one axis as two ---- */

/* What blockIdx.x is divided by. */
static int64_t divisor_in(const HipExpr *e) {
    if (!e) return 0;
    const bool divides = (e->kind == HIP_DIV || e->kind == HIP_MOD) && e->b->kind == HIP_NUMBER;
    if (divides && e->a->kind == HIP_BLOCK && e->a->number == 0) return e->b->number;
    const int64_t a = divisor_in(e->a);
    return a ? a : divisor_in(e->b);
}

static int64_t columns_of(const HipKernel *k) {
    for (int i = 0; i < k->naccess; i++) {
        const int64_t n = divisor_in(k->access[i].at);
        if (n > 1 && n < k->grid[0]) return n;
    }
    return 0;
}

/* The expression, with blockIdx.x as row * columns + column. */
static const HipExpr *cut(const Tasks *t, const HipExpr *e) {
    Arena *a = t->arena;
    if (!e || !t->to->columns) return e;
    if (e->kind == HIP_BLOCK && e->number == 0) {
        const HipExpr *row =
            hip_made(a, HIP_MUL, hip_symbol(a, HIP_BLOCK, 3), hip_symbol(a, HIP_NUMBER, t->to->columns));
        return hip_made(a, HIP_ADD, row, hip_symbol(a, HIP_BLOCK, 4));
    }
    return e->a ? hip_made(a, e->kind, cut(t, e->a), cut(t, e->b)) : e;
}

/* ---- the grid ---- */

static int range_add(Tasks *t, const char *name, int64_t n) {
    const Range r = {.name = name_of(t->m->names, name),
                     .kind = RANGE_POSITION,
                     .size = 1,
                     .of = size_number(n),
                     .owner = -1,
                     .grid = true};
    return kernel_range(t->m, t->to->k, r);
}

static void grid_make(Tasks *t) {
    static const char *const name[] = {"x", "y", "z"};
    int n = 0;
    t->to->columns = columns_of(t->hip);
    for (int axis = 2; axis >= 0; axis--) {
        t->sizes.blocks[axis] = t->hip->grid[axis];
        if (axis == 0 && t->to->columns) break;
        if (t->hip->grid[axis] < 2 && (axis || n)) continue;
        t->to->axis[n++] = axis;
        t->block[axis] = range_add(t, name[axis], t->hip->grid[axis]);
    }
    if (!t->to->columns) return;
    t->sizes.blocks[3] = t->hip->grid[0] / t->to->columns, t->sizes.blocks[4] = t->to->columns;
    t->block[3] = range_add(t, "x_row", t->sizes.blocks[3]);
    t->block[4] = range_add(t, "x_column", t->sizes.blocks[4]);
}

/* ---- rows ---- */

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

static int64_t width_of(const Tasks *t, const LinearTerm *term) {
    const HipInterval at = hip_interval(&t->sizes, term->atom);
    return magnitude(term->mul) * (at.hi - at.lo);
}

/* A task, or one step of it, touches parts of what lies between two multiples of `pitch`. below: the pitch of the
   dimension behind; 0: there is none. */
static bool is_scattered(const Tasks *t, const Linear *l, int bytes, int64_t below, int64_t pitch, int by) {
    int64_t inside = below ? below : bytes;
    bool outside = false;
    for (int i = 0; i < l->n; i++) {
        const int64_t width = width_of(t, &l->term[i]), mul = magnitude(l->term[i].mul);
        if (!(hip_follows(l->term[i].atom) & by) || width == 0) continue;
        if (mul < pitch)
            inside += mul >= below ? width : 0;
        else
            outside = true;
    }
    return outside && inside < pitch;
}

/* Every place is so many pitches, and what is left is shorter than two. */
static bool divides(const Tasks *t, const Linear *l, int bytes, int64_t pitch) {
    int64_t inside = bytes;
    for (int i = 0; i < l->n; i++) {
        if (magnitude(l->term[i].mul) < pitch)
            inside += width_of(t, &l->term[i]);
        else if (l->term[i].mul % pitch)
            return false;
    }
    return inside < 2 * pitch;
}

/* Some access has gaps there, and all accesses have such rows. */
static bool is_pitch(const Tasks *t, int param, int64_t pitch, int64_t below) {
    bool scattered = false;
    if (pitch < LINE || (below && pitch % below)) return false;
    for (int i = 0; i < t->hip->naccess; i++) {
        const HipAccess *a = &t->hip->access[i];
        const Linear *l = &t->place[i];
        if (a->param != param || !a->at || l->failed) continue;
        if (!divides(t, l, a->bytes, pitch)) return false;
        scattered |= is_scattered(t, l, a->bytes, below, pitch, FOLLOWS_THREAD) ||
                     is_scattered(t, l, a->bytes, below, pitch, FOLLOWS_THREAD | FOLLOWS_LOOP);
    }
    return scattered;
}

/* The least multiplier above `above`, of all accesses; 0: none. */
static int64_t next_mul(const Tasks *t, int param, int64_t above) {
    int64_t next = 0;
    for (int i = 0; i < t->hip->naccess; i++)
        for (int j = 0; j < t->place[i].n && t->hip->access[i].param == param && t->hip->access[i].at; j++) {
            const int64_t mul = magnitude(t->place[i].term[j].mul);
            if (mul > above && (!next || mul < next)) next = mul;
        }
    return next;
}

static void rows_find(Tasks *t, int param) {
    Rows *r = &t->rows[param];
    int64_t below = 0;
    for (int64_t mul = next_mul(t, param, 0); mul && r->n < MAX_DIMS - 1; mul = next_mul(t, param, mul)) {
        if (!is_pitch(t, param, mul, below)) continue;
        memmove(r->pitch + 1, r->pitch, sizeof *r->pitch * (size_t)r->n++);
        r->pitch[0] = below = mul;
    }
}

/* Terms of one dimension, in units of its pitch; they leave the place. */
static Linear dim_take(Linear *place, int64_t pitch) {
    Linear d = {.c = int_floor_div(place->c + pitch / 2, pitch)}, rest = {.c = place->c - d.c * pitch};
    for (int i = 0; i < place->n; i++) {
        const LinearTerm *term = &place->term[i];
        Linear *to = magnitude(term->mul) >= pitch ? &d : &rest;
        to->term[to->n++] = (LinearTerm){term->atom, to == &d ? term->mul / pitch : term->mul};
    }
    *place = rest;
    return d;
}

static void extent_grow(Tasks *t, int param, int d, const Linear *l, int bytes) {
    int64_t most = l->c + bytes;
    for (int i = 0; i < l->n; i++) {
        const HipInterval at = hip_interval(&t->sizes, l->term[i].atom);
        most += l->term[i].mul * (l->term[i].mul > 0 ? at.hi : at.lo);
    }
    if (most > t->rows[param].extent[d]) t->rows[param].extent[d] = most;
}

static void extents_find(Tasks *t) {
    for (int i = 0; i < t->hip->naccess; i++) {
        const HipAccess *a = &t->hip->access[i];
        Linear place = t->place[i];
        if (!a->at || t->place[i].failed) continue;
        const Rows *r = &t->rows[a->param];
        for (int d = 0; d < r->n; d++) {
            const Linear one = dim_take(&place, r->pitch[d]);
            if (d == 0) extent_grow(t, a->param, 0, &one, 1);
        }
        if (r->n == 0) extent_grow(t, a->param, 0, &place, a->bytes);
    }
    for (int p = 0; p < t->hip->nparam; p++) {
        Rows *r = &t->rows[p];
        if (r->extent[0] < 1) r->extent[0] = 1;
        for (int d = 1; d <= r->n; d++) r->extent[d] = d < r->n ? r->pitch[d - 1] / r->pitch[d] : r->pitch[r->n - 1];
    }
}

static void params_add(Tasks *t) {
    for (int p = 0; p < t->hip->nparam; p++) {
        Param param = {.name = name_of(t->m->names, t->hip->param[p].name),
                       .elem = ELEM_U8,
                       .ndim = t->rows[p].n + 1,
                       .ranks = -1};
        for (int d = 0; d < param.ndim; d++) param.dim[d] = size_number(t->rows[p].extent[d]);
        for (int i = 0; i < t->hip->naccess; i++) param.out |= t->hip->access[i].param == p && t->hip->access[i].write;
        kernel_param(t->m, t->to->k, param);
    }
}

/* ---- values ---- */

static Value *number(Tasks *t, int64_t x) { return build_const_i(&t->at, ELEM_I64, x); }

/* Of the first thread. */
static Value *value_of(Tasks *t, const HipExpr *e) {
    static const OpKind kind[] = {[HIP_ADD] = OP_ADD, [HIP_MUL] = OP_MUL, [HIP_DIV] = OP_DIV,
                                  [HIP_MOD] = OP_MOD, [HIP_MIN] = OP_MIN, [HIP_MAX] = OP_MAX};
    if (e->kind == HIP_NUMBER) return number(t, e->number);
    if (e->kind == HIP_THREAD) return number(t, 0);
    if (e->kind == HIP_BLOCK && t->sizes.blocks[e->number] < 2) return number(t, 0);
    if (e->kind == HIP_BLOCK) return build_index(&t->at, OP_POS, t->block[e->number]);
    if (e->kind == HIP_LOOP) return build_index(&t->at, OP_POS, t->range_of[e->number]);
    Value *a = value_of(t, e->a);
    return build_binary(&t->at, kind[e->kind], a, value_of(t, e->b));
}

/* A loop; what comes next stands in it. */
static Op *loop_open(Tasks *t, const char *name, RangeKind kind, Value *past, int *range) {
    const Range r = {.name = name_of(t->m->names, arena_format(t->arena, "%s%d", name, t->to->k->range.n)),
                     .kind = kind,
                     .size = kind == RANGE_POSITION,
                     .owner = -1};
    *range = kernel_range(t->m, t->to->k, r);
    Op *op = build_for(&t->at, *range, number(t, 0), past, NULL, 0);
    t->at.at = op->region[0];
    return op;
}

static void loop_close(Tasks *t, const Op *op) {
    build_yield(&t->at, NULL, 0);
    t->at.at = op->in;
}

/* ---- accesses ---- */

static bool term_write(Tasks *t, const LinearTerm *term, Affine *to) {
    const HipExpr *e = term->atom;
    const bool block = e->kind == HIP_BLOCK, alone = block && t->sizes.blocks[e->number] < 2;
    Affine a = alone                 ? affine_const(0)
               : block               ? affine_term(TERM_POS, t->block[e->number], 1, 1)
               : e->kind == HIP_LOOP ? affine_term(TERM_POS, t->range_of[e->number], 1, 1)
                                     : affine_value(value_of(t, e));
    return affine_add(to, &a, term->mul);
}

/* Threads of a workgroup touch places beside each other: a tile. */
static bool dim_write(Tasks *t, const Linear *l, int bytes, Affine *to, const Op **tile) {
    int64_t lo = 0, hi = bytes;
    for (int i = 0; i < l->n; i++) {
        if (!(hip_follows(l->term[i].atom) & FOLLOWS_THREAD)) continue;
        const HipInterval at = hip_interval(&t->sizes, l->term[i].atom);
        const int64_t a = l->term[i].mul * at.lo, b = l->term[i].mul * at.hi;
        lo += a < b ? a : b, hi += a < b ? b : a;
    }
    int range;
    *tile = loop_open(t, "t", RANGE_WHOLE, number(t, hi - lo), &range);
    *to = affine_term(TERM_POS, range, 1, 1);
    to->c = l->c + lo;
    for (int i = 0; i < l->n; i++)
        if (!(hip_follows(l->term[i].atom) & FOLLOWS_THREAD) && !term_write(t, &l->term[i], to)) return false;
    return true;
}

static void access_write(Tasks *t, int i) {
    const HipAccess *a = &t->hip->access[i];
    const Rows *r = &t->rows[a->param];
    Linear place = t->place[i];
    Span sub[MAX_DIMS];
    const Op *tile[MAX_DIMS];
    bool good = true;
    int n = 0;
    for (int d = 0; d <= r->n; d++, n++) {
        const Linear one = d < r->n ? dim_take(&place, r->pitch[d]) : place;
        Affine at = affine_const(0);
        good &= dim_write(t, &one, d < r->n ? 1 : a->bytes, &at, &tile[d]);
        sub[d] = span_of(at);
    }
    if (!good)
        t->to->lost++, t->to->lost_one = a;
    else if (a->write)
        build_store(&t->at, a->param, sub, n, number(t, 0), STORE_SET);
    else
        build_load(&t->at, a->param, sub, n);
    while (n--) loop_close(t, tile[n]);
}

static bool stands_in(const HipKernel *k, int loop, int outer) {
    while (loop >= 0 && loop != outer) loop = k->loop[loop].around;
    return loop == outer;
}

/* The loop below `outer` that `loop` stands in, or is. */
static int loop_below(const HipKernel *k, int loop, int outer) {
    while (k->loop[loop].around != outer) loop = k->loop[loop].around;
    return loop;
}

static void accesses_write(Tasks *t, int outer) {
    for (int i = 0; i < t->hip->naccess; i++) {
        const HipAccess *a = &t->hip->access[i];
        if (t->done[i] || !a->at || t->place[i].failed || !stands_in(t->hip, a->loop, outer)) continue;
        if (a->loop == outer) {
            t->done[i] = true;
            access_write(t, i);
            continue;
        }
        const int inner = loop_below(t->hip, a->loop, outer);
        int range;
        const Op *loop = loop_open(t, "k", RANGE_POSITION, value_of(t, t->sizes.trips[inner]), &range);
        t->range_of[inner] = range;
        accesses_write(t, inner);
        loop_close(t, loop);
    }
}

/* ---- the kernel ---- */

static void places_find(Tasks *t) {
    t->sizes.trips = ARENA_ARRAY(t->arena, const HipExpr *, t->hip->nloop + 1);
    for (int i = 0; i < t->hip->nloop; i++) t->sizes.trips[i] = hip_simpler(&t->sizes, cut(t, t->hip->loop[i].trips));
    for (int i = 0; i < t->hip->naccess; i++) {
        const HipAccess *a = &t->hip->access[i];
        if (a->at) t->place[i] = linear_of(&t->sizes, cut(t, a->at));
        if (a->at && !t->place[i].failed) continue;
        t->to->lost++;
        if (!t->to->lost_one || a->at) t->to->lost_one = a;
    }
}

HipTasks hip_tasks(Module *m, const HipKernel *hip) {
    HipTasks to = {.k = kernel_new(m, name_of(m->names, hip->plain), (Loc){0})};
    Tasks t = {.m = m, .arena = m->arena, .hip = hip, .to = &to, .sizes = {.arena = m->arena, .k = hip}};
    t.place = ARENA_ARRAY(m->arena, Linear, hip->naccess + 1);
    t.rows = ARENA_ARRAY(m->arena, Rows, hip->nparam + 1);
    t.range_of = ARENA_ARRAY(m->arena, int, hip->nloop + 1);
    t.done = ARENA_ARRAY(m->arena, bool, hip->naccess + 1);
    t.at = (Builder){.m = m, .k = to.k, .at = to.k->body};
    grid_make(&t);
    places_find(&t);
    for (int p = 0; p < hip->nparam; p++) rows_find(&t, p);
    extents_find(&t);
    params_add(&t);
    accesses_write(&t, -1);
    return to;
}
