/* fits.c: which kernels are cut into roles: products of tiles, whose sums or what is made of them, element by element,
   is stored once. Takes: a kernel in value form. Gives: its operations, products and stores, and the ranges of the
   results; or why it stays as it is. */
#include "ir/poly/relation.h"
#include "passes/roles/slice.h"

#include <stdarg.h>

static const char *text_of(const Slice *s, const char *format, va_list ap) {
    va_list again;
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *text = arena_alloc(s->m->arena, n);
    vsnprintf(text, n, format, ap);
    return text;
}

const char *slice_text(const Slice *s, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *text = text_of(s, format, ap);
    va_end(ap);
    return text;
}

bool slice_refuse(Slice *s, const Op *at, const char *fix, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    s->why = (Reason){.words = text_of(s, format, ap), .fix = fix, .loc = at ? at->loc : (Loc){0}};
    va_end(ap);
    return false;
}

/* ---- operations ---- */

void slice_list(Slice *s) {
    for (const Op *op = walk(s->k->body); op; op = walk_next(op, s->k->body)) {
        vec_push(s->scratch, &s->op, op);
        if (op->kind == OP_DOT) vec_push(s->scratch, &s->dot, op);
        if (op->kind == OP_STORE) vec_push(s->scratch, &s->store, op);
    }
}

bool slice_access_fits(Slice *s, const Op *op) {
    const Param *p = &s->k->param.p[op->param];
    if (p->packet) return slice_refuse(s, op, NULL, "'%s' carries packets", p->name);
    if (op->kind == OP_STORE && (op->mode == STORE_ADD || op->mode == STORE_SUM))
        return slice_refuse(s, op, "store what each position adds, and sum it by a kernel behind, as experts_combine does",
                            "tasks add to the same places of '%s'", p->name);
    if (p->inout || (p->out && op->kind == OP_LOAD && !slice_takes_sent(s, op)))
        return slice_refuse(s, op, "write to another parameter", "'%s' is read and written", p->name);
    return true;
}

static bool op_fits(Slice *s, const Op *op) {
    switch (op_info[op->kind].class) {
    case CLASS_REDUCE:
    case CLASS_PREFIX:
        return slice_refuse(s, op, "end the kernel with the sums, and go on in another one", "%s goes along a tile",
                            op_phrase(op->kind));
    case CLASS_MEMORY: return slice_access_fits(s, op);
    default: return true;
    }
}

/* ---- memory of peers ---- */

bool slice_is_symmetric(const Slice *s, const Op *access) { return s->k->param.p[access->param].ranks >= 0; }

bool slice_reads_peers(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        if (s->op.p[i]->kind == OP_LOAD && slice_is_symmetric(s, s->op.p[i])) return true;
    return false;
}

bool slice_has_peers(const Slice *s) {
    for (int i = 0; i < s->k->param.n; i++)
        if (s->k->param.p[i].ranks >= 0) return true;
    return false;
}

bool slice_sends(const Slice *s) {
    for (int i = 0; i < s->store.n; i++)
        if (slice_is_symmetric(s, s->store.p[i])) return true;
    return false;
}

bool slice_takes_sent(const Slice *s, const Op *load) {
    return load->kind == OP_LOAD && slice_is_symmetric(s, load) && s->k->param.p[load->param].out && op_arms(s, load);
}

bool slice_waits_for_itself(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        if (slice_takes_sent(s, s->op.p[i])) return true;
    return false;
}

/* ---- arms: results under a condition of the task, in which nothing but results is made ---- */

static bool arm_fits(const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        const Type t = op->res.n ? op->res.p[0]->type : (Type){.nrange = 2};
        const bool plain = op_is_elementwise(op) || op->kind == OP_LOAD || op->kind == OP_STORE ||
                           op->kind == OP_WAIT || (op->kind == OP_YIELD && !op->arg.n);
        if (!plain || op->res.n > 1 || t.nrange != 2 || op->region[0]) return false;
    }
    return true;
}

bool op_has_arms(const Slice *s, const Op *op) {
    return op->kind == OP_IF && op->in == s->k->body && !op->res.n && condition_is_known(op) &&
           arm_fits(op->region[0]) && arm_fits(op->region[1]);
}

const Op *op_arms(const Slice *s, const Op *op) {
    const Op *branch = op->in->parent;
    return branch && op_has_arms(s, branch) ? branch : NULL;
}

/* ---- results ---- */

bool slice_grid_fits(Slice *s) {
    for (int i = 0; i < s->k->ngrid; i++) {
        const Range *r = &s->k->range.p[i];
        if (r->of.axis >= 0)
            return slice_refuse(s, NULL, "an extent that the ranks divide",
                                "'%s' is split over ranks in blocks of several lengths", r->name);
    }
    return true;
}

static bool range_is_tiles(const Slice *s, int range) {
    const Range *r = range < 0 ? NULL : &s->k->range.p[range];
    return r && r->grid && r->kind == RANGE_TILE && r->owner < 0;
}

static void swap_ranges(Slice *s) {
    int row = s->row;
    s->row = s->column, s->column = row;
}

/* A row of memory lies along the last dimension. */
static bool find_ranges(Slice *s) {
    const Op *store = s->store.p[0];
    Type t = s->dot.p[0]->res.p[0]->type;
    s->column = store->sub.n ? affine_position(&store->sub.p[store->sub.n - 1].lo) : -1;
    if (t.nrange != 2 || !type_has(t, s->column))
        return slice_refuse(s, store, "store each product's tile: c[i, j] = acc",
                            "the result has other ranges than a product");
    s->row = t.range[t.range[0] == s->column];
    if (s->swapped) swap_ranges(s);
    if (range_is_tiles(s, s->row) && range_is_tiles(s, s->column)) return true;
    return slice_refuse(s, store, "each i: 128 of m, j: 128 of n", "a range of the result is no tile of the grid");
}

static bool store_fits(Slice *s, const Op *store) {
    Type t = store->arg.p[0]->type;
    if (store->mode != STORE_SET)
        return slice_refuse(s, store, "store the result, and add it up in a kernel of its own",
                            "it adds or scatters to memory");
    if (store->in != s->k->body && !op_arms(s, store))
        return slice_refuse(s, store, "store behind the loop, for all tiles",
                            "it stores in a loop or under a condition");
    if (t.nrange != 2 || !type_has(t, s->row) || !type_has(t, s->column))
        return slice_refuse(s, store, "results of other shapes by a kernel of their own", "results of several shapes");
    if (affine_follows(&store->sub.p[store->sub.n - 1].lo, s->swapped ? s->column : s->row))
        return slice_refuse(s, store, "store one of them by a kernel of its own",
                            "rows of one result are columns of another");
    return true;
}

/* ---- sums: registers that products add to, one after the other ---- */

/* One arm of a condition passes on what the other one adds to. */
static bool is_arm_end(const Op *op) { return op->kind == OP_YIELD && op->in->parent && op->in->parent->kind == OP_IF; }

static void count_uses(Slice *s) {
    s->uses = ARENA_ARRAY(s->scratch, int, s->values + 1);
    for (int i = 0; i < s->op.n; i++)
        for (int n = 0; n < s->op.p[i]->arg.n && !is_arm_end(s->op.p[i]); n++) s->uses[s->op.p[i]->arg.p[n]->id]++;
}

/* What products, and loops of them, have added to; NULL: they begin anew. */
static const Value *sum_before(const Value *v) {
    const Op *op = v->def;
    if (op && op->kind == OP_DOT) return op->arg.n == 3 ? op->arg.p[2] : NULL;
    return op && op->kind == OP_FOR ? op->arg.p[2 + v->index] : NULL;
}

static bool is_sum(const Value *v) { return !v->def || v->def->kind == OP_DOT || v->def->kind == OP_FOR; }

static bool sum_goes_on(Slice *s, const Op *dot) {
    const Value *acc = dot->arg.n == 3 ? dot->arg.p[2] : NULL;
    return !acc || !is_sum(acc) || s->uses[acc->id] == 1 ||
           slice_refuse(s, dot, "a sum of its own for each use: a += x @ y; b += x @ y",
                        "a product adds to a sum that is used elsewhere, too");
}

/* A loop carries a sum in one place, and nowhere else. */
static bool sum_stays(Slice *s, const Op *yield, int i) {
    const Value *v = yield->arg.p[i], *from = v;
    if (!v->def || v->def->kind != OP_DOT || !sum_before(v)) return true;
    while (from && from->def) from = sum_before(from);
    bool own = from && from->arg_of == yield->in && from->index == i;
    return (own && s->uses[v->id] == 1) || slice_refuse(s, v->def, "a sum of its own for each product",
                                                        "a loop carries a sum of products in two places, or in turn");
}

static bool sums_fit(Slice *s) {
    count_uses(s);
    for (int i = 0; i < s->dot.n; i++)
        if (!sum_goes_on(s, s->dot.p[i])) return false;
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        if (op->kind != OP_YIELD || !op->in->parent || op->in->parent->kind != OP_FOR) continue;
        for (int n = 0; n < op->arg.n; n++)
            if (!sum_stays(s, op, n)) return false;
    }
    return true;
}

/* ---- products ---- */

static bool over_fits(Slice *s, const Op *dot) {
    const Range *r = &s->k->range.p[dot->over[0]];
    if (dot->nover == 1 && !r->grid && r->kind == RANGE_TILE) return true;
    return slice_refuse(s, dot, "for p: 64 of k { acc += a[i, p] @ b[p, j]; }",
                        "a product is summed over more than the tile of a loop");
}

static bool dot_fits(Slice *s, const Op *dot) {
    Type t = dot->res.p[0]->type;
    if (t.nrange != 2 || !type_has(t, s->row) || !type_has(t, s->column))
        return slice_refuse(s, dot, "products of other shapes by a kernel of their own", "products of several shapes");
    return over_fits(s, dot);
}

/* Groups share rows: each tells of its own elements, once, when they are whole. */
static bool print_fits(Slice *s, const Op *op) {
    const Type t = op->arg.p[0]->type;
    for (const Op *up = op; up; up = up->in->parent)
        if (up->kind == OP_FOR) return slice_refuse(s, op, "print behind the loop", "%s stands in a loop", op_phrase(op->kind));
    return (t.nrange == 2 && type_has(t, s->row) && type_has(t, s->column)) ||
           slice_refuse(s, op, "print elements of a result", "%s tells of other elements than a result has", op_phrase(op->kind));
}

static bool prints_fit(Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        if (op_info[s->op.p[i]->kind].class == CLASS_PRINT && !print_fits(s, s->op.p[i])) return false;
    return true;
}

bool slice_fits(Slice *s) {
    if (!s->dot.n || !s->store.n || s->k->level != LEVEL_GROUP) return false;
    for (int i = 0; i < s->op.n; i++)
        if (!op_fits(s, s->op.p[i])) return false;
    if (!slice_grid_fits(s) || !find_ranges(s) || !prints_fit(s)) return false;
    for (int i = 0; i < s->dot.n; i++)
        if (!dot_fits(s, s->dot.p[i])) return false;
    for (int i = 0; i < s->store.n; i++)
        if (!store_fits(s, s->store.p[i])) return false;
    return sums_fit(s);
}
