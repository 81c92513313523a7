/* chain.c: products in a chain: some take what is made of the results of others, row by row, in the same step of a
   loop, as attention does: scores, then what weighs values by them. Takes: a kernel in value form. Gives: whether it is
   one that groups of 64 rows can compute, and its ranges; or why it stays as it is. */
#include "passes/roles/slice.h"

enum {
    LEAST_COLUMNS = 8, /* of a product, in steps of 8: products with an operand in registers (tile_chain.h) */
    MOST_COLUMNS = 256,
    WIDE_STEP = WIDE_GROUPS * PANEL_COLUMNS, /* of columns that groups share: each has whole panels */
    NARROW = 128,                            /* columns, up to which steps are smaller */
    NARROW_STEP = 8,
    COLUMNS_STEP = 16,
    DEPTH_STEP = 16, /* positions that an instruction sums */
    MOST_DEPTH = 576
};

static bool is_made_of(const bool *made, const Op *op) {
    bool any = false;
    for (int i = 0; i < op->arg.n; i++) any = any || made[op->arg.p[i]->id];
    return any;
}

bool slice_chains(const Slice *s) {
    bool *made = ARENA_ARRAY(s->scratch, bool, s->values + 1), found = false; /* by value: of results of products */
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        const Op *to = op->kind == OP_YIELD ? op->in->parent : op;
        const bool of_products = is_made_of(made, op) || op->kind == OP_DOT;
        for (int n = 0; n < to->res.n; n++) made[to->res.p[n]->id] |= of_products;
        found = found || (op->kind == OP_DOT && (made[op->arg.p[0]->id] || made[op->arg.p[1]->id]));
    }
    return found;
}

bool loop_multiplies(const Op *loop) {
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_DOT) return true;
    return false;
}

/* ---- ranges ---- */

static bool is_width(const Slice *s, int range) {
    const Range *r = &s->k->range.p[range];
    return r->grid && r->kind == RANGE_WHOLE && size_is_number(r->of);
}

/* Rows of keys may be a range of the grid that each task has whole: a tile of it does. */
static const char *rows_fix(const Slice *s, Type t) {
    for (int i = 0; i < t.nrange && t.nrange == 2; i++) {
        const Range *rows = &s->k->range.p[t.range[!i]];
        if (s->k->range.p[t.range[i]].grid || !is_width(s, t.range[!i])) continue;
        return slice_text(s, "a tile of '%s', not all of it: %s: %lld of ..", rows->name, rows->name, (long long)rows->of.c);
    }
    return "each i: 128 of m";
}

static bool find_rows(Slice *s) {
    const Type t = s->dot.p[0]->res.p[0]->type;
    s->row = -1;
    for (int i = 0; i < t.nrange && t.nrange == 2; i++) {
        const Range *r = &s->k->range.p[t.range[i]];
        if (r->grid && r->kind == RANGE_TILE && r->owner < 0 && !r->starts) s->row = t.range[i];
    }
    return s->row >= 0 ||
           slice_refuse(s, s->dot.p[0], rows_fix(s, t), "rows of the products are no tile of the grid");
}

int kernel_wide(const Kernel *k) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        for (int i = 0; op->kind == OP_DOT && i < op->res.p[0]->type.nrange; i++) {
            const Range *r = &k->range.p[op->res.p[0]->type.range[i]];
            if (r->grid && r->kind == RANGE_WHOLE && size_is_number(r->of) && r->of.c > MOST_COLUMNS)
                return op->res.p[0]->type.range[i];
        }
    return -1;
}

static int columns_step(int64_t n) { return n <= NARROW ? NARROW_STEP : COLUMNS_STEP; }

static bool columns_fit(Slice *s, const Op *dot) {
    const int64_t n = slice_extent(s, dot_column(s, dot));
    if (dot_column(s, dot) == s->wide && n <= WIDE_GROUPS * MOST_COLUMNS && n % WIDE_STEP == 0) return true;
    if (!is_width(s, dot_column(s, dot)) || (n >= LEAST_COLUMNS && n <= MOST_COLUMNS && n % columns_step(n) == 0))
        return true;
    return slice_refuse(s, dot, NULL,
                        "a result has %lld columns: products in a chain have 8 to 256, in steps of 8, above 128 of 16, "
                        "above 256 up to 512 of 128",
                        (long long)n);
}

/* Results are [rows, columns]; the columns are keys of the loop around, or the width of the tensors. */
static bool result_fits(Slice *s, const Op *dot) {
    const Type t = dot->res.p[0]->type;
    const Op *loop = dot->in->parent;
    if (t.nrange != 2 || !type_has(t, s->row))
        return slice_refuse(s, dot, "products of other rows by a kernel of their own", "products of several rows");
    const int column = dot_column(s, dot);
    const bool key = loop && loop->kind == OP_FOR && loop->range == column;
    if (!key && !is_width(s, column))
        return slice_refuse(s, dot, "each .., c: * of d, and d a number",
                            "columns of a result are neither those of the loop nor a whole width that is a number");
    return columns_fit(s, dot);
}

/* Tiles whose rows end with those of their tensors: boxes bring zeros from there on. */
static bool ends_with_zeros(const Slice *s, const Op *dot) {
    for (int i = 0; i < 2; i++) {
        const Op *load = dot->arg.p[i]->def;
        if (!load || load->kind != OP_LOAD) return false;
        const Affine *last = &load->sub.p[load->sub.n - 1].lo;
        const Param *p = &s->k->param.p[load->param];
        if (affine_position(last) != dot->over[0] || !size_equal(p->dim[p->ndim - 1], s->k->range.p[dot->over[0]].of))
            return false;
    }
    return true;
}

static bool depth_fits(Slice *s, const Op *dot) {
    const Op *loop = dot->in->parent;
    const int over = dot->nover == 1 ? dot->over[0] : -1;
    const int64_t n = over < 0 ? 0 : slice_extent(s, over);
    if (over >= 0 && is_width(s, over) && n <= MOST_DEPTH && (n % DEPTH_STEP == 0 || ends_with_zeros(s, dot))) return true;
    if (over >= 0 && loop && loop->kind == OP_FOR && loop->range == over) return true;
    return slice_refuse(s, dot, "a width of a multiple of 16, at most 256, or the loop's own range",
                        "a product is summed over what is neither a whole width nor the range of the loop");
}

/* ---- operations ---- */

/* Loops around that of the products only count, as over heads that share keys. */
static bool loop_fits(Slice *s, const Op *loop) {
    const Op *around = loop->in->parent;
    const bool inner = loop_multiplies(loop);
    if (!around || (around->kind == OP_FOR && !loop_multiplies(around) && inner)) return true;
    return slice_refuse(s, loop, "one loop of products, in others that have none", "a loop stands in another one");
}

static bool condition_fits(Slice *s, const Op *op) {
    for (int r = 0; r < 2; r++)
        for (const Op *in = walk(op->region[r]); in; in = walk_next(in, op->region[r]))
            if (in->kind == OP_DOT || in->kind == OP_FOR || in->kind == OP_STORE)
                return slice_refuse(s, op, "bounds of the loop that leave the step out",
                                    "a product, a loop or a store is under a condition");
    return true;
}

/* Along columns, which the four lanes of a row have; each group has rows of its own. */
static bool reduction_fits(Slice *s, const Op *op) {
    const bool along = op->nover == 1 && op->over[0] != s->row && !op_info[op->kind].position;
    return along || slice_refuse(s, op, "reduce over keys, or over the width",
                                 "%s goes along rows, or gives a position", op_phrase(op->kind));
}

static bool is_loaded_operand(const Slice *s, const Value *v) {
    bool loaded = v->def && v->def->kind == OP_LOAD;
    for (int i = 0; i < s->op.n; i++)
        for (int n = 0; n < s->op.p[i]->arg.n; n++)
            if (s->op.p[i]->arg.p[n] == v && s->op.p[i]->kind != OP_DOT) loaded = false;
    return loaded;
}

/* A tile in registers has rows, columns, or both. */
static bool value_fits(Slice *s, const Op *op, const Value *v) {
    const Type t = v->type;
    bool rows = t.nrange < 2 || (t.nrange == 2 && type_has(t, s->row)), columns = true;
    for (int i = 0; i < t.nrange; i++) columns = columns && (t.range[i] == s->row || is_column(s, t.range[i]));
    if ((rows && columns) || is_loaded_operand(s, v)) return true;
    return slice_refuse(s, op, "do that in a kernel of its own, before this one",
                        "a tile that is neither rows nor columns of a product is computed with");
}

static bool op_fits(Slice *s, const Op *op) {
    for (int i = 0; i < op->res.n; i++)
        if (!value_fits(s, op, op->res.p[i])) return false;
    switch (op_info[op->kind].class) {
    case CLASS_REDUCE: return reduction_fits(s, op);
    case CLASS_PREFIX: return slice_refuse(s, op, NULL, "%s goes along a tile", op_phrase(op->kind));
    case CLASS_MEMORY: return slice_access_fits(s, op);
    case CLASS_SYNC: return slice_refuse(s, op, NULL, "it waits for other tasks, or signals");
    case CLASS_PRINT: return slice_refuse(s, op, "print in a kernel behind it", "%s stands in a chain of products", op_phrase(op->kind));
    default: break;
    }
    if (op->kind == OP_FOR) return loop_fits(s, op);
    return op->kind != OP_IF || condition_fits(s, op);
}

static bool loops_fit(Slice *s, const Op *dot) {
    const Op *loop = dot->in->parent, *around = loop ? loop->in->parent : NULL;
    return !around || around->kind != OP_FOR || !loop_multiplies(around) ||
           slice_refuse(s, dot, "sum over a whole width: c: * of d in 'each', then q[i, c] @ k[j, c]",
                        "a product in a chain stands in a loop within that of others");
}

/* A tile of rows whose memory runs along these: instructions read 64 positions of what is summed at once. */
static bool across_fits(Slice *s, const Op *dot, int i) {
    const Op *load = product_operand(dot, i)->def;
    const bool across = subscript_range(s, &load->sub.p[load->sub.n - 1].lo) == s->row;
    return !across || !is_width(s, dot->over[0]) || slice_extent(s, dot->over[0]) == PANEL_COLUMNS ||
           slice_refuse(s, load, "store it the other way round by a kernel in front",
                        "rows of '%s' lie across what is summed, which has not %d positions",
                        s->k->param.p[load->param].name, PANEL_COLUMNS);
}

static bool dot_fits(Slice *s, const Op *dot) {
    if (!loops_fit(s, dot)) return false;
    if (!result_fits(s, dot) || !depth_fits(s, dot)) return false;
    for (int i = 0; i < 2; i++) {
        const Value *v = dot->arg.p[i];
        const bool row = type_has(v->type, s->row);
        if (v->type.nrange != 2 || elem_bits(v->type.elem) != 16)
            return slice_refuse(s, dot, "operands of bf16 or of f16, of two ranges", "an operand has not 16 bits");
        if (row && !operand_is_made(dot, i) && !across_fits(s, dot, i)) return false;
        if (!row && operand_is_made(dot, i))
            return slice_refuse(s, dot, "store it first, by a kernel of its own",
                                "an operand that all rows have in common is computed");
        if (row && operand_is_made(dot, i) && !is_column(s, dot->over[0]))
            return slice_refuse(s, dot, "store it first, by a kernel of its own",
                                "an operand of the product is computed");
    }
    return true;
}

static bool store_fits(Slice *s, const Op *store) {
    const Type t = store->arg.p[0]->type;
    if (store->mode != STORE_SET)
        return slice_refuse(s, store, "store what is added up", "it adds to memory");
    return type_has(t, s->row) || slice_refuse(s, store, "store that by a kernel of its own", "a result has no rows");
}

/* The first result of rows and columns. */
static void find_column(Slice *s) {
    s->column = dot_column(s, vec_last(&s->dot));
    for (int i = 0; i < s->store.n; i++) {
        const Type t = s->store.p[i]->arg.p[0]->type;
        if (t.nrange == 2 && is_column(s, t.range[t.range[0] == s->row])) {
            s->column = t.range[t.range[0] == s->row];
            return;
        }
    }
}

bool chain_fits(Slice *s) {
    if (s->swapped || slice_has_peers(s)) return false;
    if (!s->store.n || s->k->level != LEVEL_GROUP || !slice_grid_fits(s) || !find_rows(s)) return false;
    for (int i = 0; i < s->dot.n; i++)
        if (!dot_fits(s, s->dot.p[i])) return false;
    for (int i = 0; i < s->op.n; i++)
        if (!op_fits(s, s->op.p[i])) return false;
    for (int i = 0; i < s->store.n; i++)
        if (!store_fits(s, s->store.p[i])) return false;
    find_column(s);
    return true;
}
