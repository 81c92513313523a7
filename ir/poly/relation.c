/* relation.c: from subscripts to boxes: where an access of one tile starts, and how far it reaches.
   Takes: a kernel in value form. Gives: for each load and store a box per dimension, in terms of tile numbers. */
#include "ir/poly/relation.h"

enum { DEPTH = 32 };

/* A loop through positions of a range's tile: each of them, or the whole of the range's tile. */
typedef enum { LOOP_AS_TILE, LOOP_EXACT } LoopForm;

typedef struct {
    const Module *m;
    const Kernel *k;
    LoopForm form;
    const Program *p; /* of a node's accesses */
    const Node *node;
    Arena *arena;
    AccessList list;
} Walk;

/* ---- affine division ---- */

/* floor(mul * y / q) of one term, 0 <= c < mul: floor(y / (q / mul)) = floor(x / (div q / mul)). */
static bool term_div(Term t, int64_t c, int64_t q, Affine *out) {
    if (t.mul <= 0 || q % t.mul || c < 0 || c >= t.mul) return false;
    t.div *= q / t.mul;
    t.mul = 1;
    *out = (Affine){.nterm = 1, .term = {t}};
    return true;
}

bool affine_floor_div(const Affine *a, int64_t q, Affine *out) {
    Affine rest = {.c = a->c}, whole = {0};
    for (int i = 0; i < a->nterm; i++) {
        Term t = a->term[i];
        if (t.mul % q) rest.term[rest.nterm++] = t;
        else t.mul /= q, whole.term[whole.nterm++] = t;
    }
    if (rest.nterm > 1) return false;
    if (rest.nterm == 0) whole.c = int_floor_div(rest.c, q);
    Affine part = {0};
    if (rest.nterm == 1) {
        int64_t turns = int_floor_div(rest.c, q);
        whole.c = turns;
        if (!term_div(rest.term[0], rest.c - turns * q, q, &part)) return false;
    }
    *out = whole;
    return affine_add(out, &part, 1);
}

/* ---- loops ---- */

static bool has_group(const Region *r, int range) {
    for (const Op *op = r->first; op; op = op->next) {
        if (op->kind == OP_GROUP && op->range == range) return true;
        if (op->kind == OP_IF && has_group(op->region[0], range)) return true;
    }
    return false;
}

/* Positions of a ragged range are data, which its GROUP finds. */
static bool is_ragged(const Op *op) {
    const Region *r = op->in;
    if (!(op_attributes(op->kind) & HAS_RANGE)) return false;
    while (r->parent) r = r->parent->in;
    return has_group(r, op->range);
}

static bool value_is_known(const Value *v, int depth) {
    const Op *op = v->def;
    if (!op || depth == 0 || op->kind == OP_LOAD || elem_is_float(v->type.elem) || is_ragged(op)) return false;
    OpClass c = op_info[op->kind].class;
    if (c != CLASS_CONST && c != CLASS_INDEX && c != CLASS_BINARY && c != CLASS_COMPARE && c != CLASS_SELECT && c != CLASS_CAST &&
        op->kind != OP_NOT)
        return false;
    for (int i = 0; i < op->arg.n; i++)
        if (!value_is_known(op->arg.p[i], depth - 1)) return false;
    return true;
}

/* Is a loop's trip count decided by sizes, ranks and enclosing tiles alone? */
static bool loop_is_known(const Op *loop) {
    return value_is_known(loop->arg.p[0], DEPTH) && value_is_known(loop->arg.p[1], DEPTH);
}

bool condition_is_known(const Op *branch) { return value_is_known(branch->arg.p[0], DEPTH); }

const Op *range_loop(const Op *at, int range) {
    for (const Op *up = at->in->parent; up; up = up->in->parent)
        if (up->kind == OP_FOR && up->range == range) return up;
    return NULL;
}

/* The range's tile number times its size is its first position. */
static bool range_from_zero(const Kernel *k, int range, const Op *at) {
    if (k->range.p[range].grid) return !range_is_ragged(k, range);
    const Op *loop = range_loop(at, range);
    return loop && value_is(loop->arg.p[0], 0) && loop_is_known(loop);
}

/* The range of whose current tile v is a position, or where it ends; -1: not known. */
static int value_inside(const Value *v, OpKind edge) {
    const Op *op = v->def;
    if (!op) return -1;
    if (op->kind == edge) return op->range;
    if (op->kind == OP_POS && range_loop(op, op->range)) return loop_positions_of(range_loop(op, op->range));
    bool later = edge == OP_BEGIN && op->kind == OP_ADD && op->arg.p[1]->def && op->arg.p[1]->def->kind == OP_CONST;
    return later && op->arg.p[1]->def->imm >= 0 ? value_inside(op->arg.p[0], edge) : -1;
}

int loop_positions_of(const Op *loop) {
    int lo = value_inside(loop->arg.p[0], OP_BEGIN), hi = value_inside(loop->arg.p[1], OP_END);
    return lo == hi ? lo : -1;
}

static Affine index_of(int range, int64_t mul) { return affine_term(TERM_INDEX, range, mul, 1); }

bool range_begin(const Module *m, const Kernel *k, int range, const Op *at, Affine *out) {
    const Range *r = &k->range.p[range];
    const Op *loop = r->grid ? NULL : range_loop(at, range);
    *out = affine_const(0);
    if (r->starts || (!r->grid && !(loop && loop_is_known(loop) && value_affine(m, k, loop->arg.p[0], out)))) return false;
    Affine tile = index_of(range, r->size);
    return r->kind == RANGE_WHOLE || affine_add(out, &tile, 1);
}

/* ---- scalars ---- */

static bool value_sum(const Module *m, const Kernel *k, const Op *op, Affine *out) {
    Affine a, b;
    if (!value_affine(m, k, op->arg.p[0], &a) || !value_affine(m, k, op->arg.p[1], &b)) return false;
    if (op->kind == OP_MUL) {
        if (!affine_is_const(&a) && !affine_is_const(&b)) return false;
        *out = affine_const(0);
        return affine_is_const(&a) ? affine_add(out, &b, a.c) : affine_add(out, &a, b.c);
    }
    *out = a;
    return affine_add(out, &b, op->kind == OP_ADD ? 1 : -1);
}

static bool size_affine(const Module *m, OpKind kind, Size s, Affine *out) {
    if (kind == OP_SIZE) {
        *out = affine_size(s);
        return true;
    }
    *out = affine_const(0);
    for (; s.axis >= 0; s = size_gathered(s)) {
        Affine own = affine_term(TERM_RANK, axes_last(s.axis), s.sym < 0 ? size_block(m, s, NULL) : 0, 1);
        if (s.sym >= 0 || !affine_add(out, &own, 1)) return false;
    }
    return true;
}

bool value_affine(const Module *m, const Kernel *k, const Value *v, Affine *out) {
    const Op *op = v->def;
    if (!op || v->type.nrange || !elem_is_int(v->type.elem)) return false;
    switch (op->kind) {
    case OP_CONST: *out = affine_const(op->imm); return true;
    case OP_RANK: *out = affine_term(TERM_RANK, op->axis, 1, 1); return true;
    case OP_SIZE:
    case OP_ORIGIN: return size_affine(m, op->kind, op->size, out);
    case OP_POS:
    case OP_BEGIN: return range_begin(m, k, op->range, op, out);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: return value_sum(m, k, op, out);
    default: return false;
    }
}

/* ---- boxes ---- */

static const Box anywhere = {.known = false};

/* A range's own positions: from where its tile begins, size of them; all of `of` for a whole one. */
static bool range_box(const Walk *w, int range, const Op *at, Box *out) {
    const Kernel *k = w->k;
    const Range *r = &k->range.p[range];
    int through = r->grid || !range_loop(at, range) ? -1 : loop_positions_of(range_loop(at, range));
    if (through >= 0 && w->form == LOOP_AS_TILE) return range_box(w, through, at, out);
    Affine start;
    if (!range_begin(w->m, k, range, at, &start) || (r->kind == RANGE_WHOLE && !range_from_zero(k, range, at))) return false;
    bool number = r->grid && r->of.sym < 0;
    int64_t length = number ? size_bound(w->m, r->of) : INT64_MAX;
    if (!r->grid) {
        const Op *hi = range_loop(at, range)->arg.p[1]->def;
        if (hi->kind == OP_CONST) length = hi->imm;
        else if (hi->kind == OP_SIZE && hi->size.sym < 0) length = size_bound(w->m, hi->size);
    }
    if (r->kind == RANGE_WHOLE && length == INT64_MAX) return false;
    *out = (Box){.known = true, .start = start, .extent = r->kind == RANGE_WHOLE ? length : r->size, .limit = length};
    return true;
}

/* mul * floor(positions / div) */
static bool box_scaled(const Box *b, int64_t mul, int64_t div, Box *out) {
    *out = *b;
    if (!affine_floor_div(&b->start, div, &out->start)) return false;
    if (div > 1) {
        Affine last = b->start, end;
        last.c += b->extent - 1;
        if (!affine_floor_div(&last, div, &end) || !affine_add(&end, &out->start, -1) || !affine_is_const(&end)) return false;
        out->extent = end.c + 1;
        if (b->limit < INT64_MAX) out->limit = int_floor_div(b->limit - 1, div) + 1;
    }
    Affine scaled = affine_const(mul < 0 ? mul * (out->extent - 1) : 0);
    if (!affine_add(&scaled, &out->start, mul)) return false;
    out->start = scaled;
    int64_t step = mul < 0 ? -mul : mul;
    out->extent = step * (out->extent - 1) + 1;
    out->limit = mul == 1 ? out->limit : INT64_MAX;
    return true;
}

/* The term's variable alone. */
static bool term_scalar(const Walk *w, const Term *t, const Op *at, Affine *out) {
    Term variable = *t;
    variable.mul = variable.div = 1;
    *out = (Affine){.nterm = 1, .term = {variable}};
    const Kernel *k = w->k;
    switch (t->kind) {
    case TERM_VALUE:
        if (t->value->type.nrange) return false;
        if (!value_affine(w->m, k, t->value, out)) *out = affine_value(t->value);
        return true;
    case TERM_BLOCK:
        if (t->size.sym >= 0 || !range_from_zero(k, t->id, at)) return false;
        *out = index_of(t->id, size_block(w->m, t->size, NULL));
        return true;
    case TERM_INDEX: return k->range.p[t->id].grid || (range_loop(at, t->id) && loop_is_known(range_loop(at, t->id)));
    default: return true;
    }
}

static bool term_box(const Walk *w, const Term *t, const Op *at, Box *out) {
    Box b = {.known = true, .extent = 1, .limit = INT64_MAX};
    if (t->kind == TERM_POS) {
        if (!range_box(w, t->id, at, &b)) return false;
    } else if (!term_scalar(w, t, at, &b.start)) return false;
    return box_scaled(&b, t->mul, t->div, out);
}

/* The range of more than one position that steps by 1, as .unit has it: one of the grid for a loop through its tile. */
static void box_unit(const Walk *w, const Term *t, const Op *at, const Box *b, Box *sum) {
    const Op *loop = w->k->range.p[t->id].grid ? NULL : range_loop(at, t->id);
    int through = loop && w->form == LOOP_AS_TILE ? loop_positions_of(loop) : -1, range = through < 0 ? t->id : through;
    const Op *hi = loop && range == t->id ? loop->arg.p[1]->def : NULL;
    Size of = hi && hi->kind == OP_SIZE ? hi->size : w->k->range.p[range].of;
    bool alike = (hi && hi->kind == OP_CONST) || of.axis < 0;
    sum->unit = t->div == 1 ? 1 + range : 0;
    sum->length = alike ? b->limit : INT64_MAX;
}

static Box sub_box(const Walk *w, const Affine *sub, const Op *at) {
    Box sum = {.known = true, .start = affine_const(sub->c), .extent = 1, .limit = INT64_MAX, .base = affine_const(sub->c)};
    int varying = 0, wide = 0;
    sum.length = INT64_MAX;
    for (int i = 0; i < sub->nterm; i++) {
        const Term *t = &sub->term[i];
        bool one = t->kind == TERM_POS && t->mul == 1;
        Box b;
        if (!term_box(w, t, at, &b) || !affine_add(&sum.start, &b.start, 1)) return anywhere;
        sum.extent += b.extent - 1;
        if (one && ++varying == 1) sum.limit = b.limit;
        if (b.extent > 1 && ++wide == 1 && one) box_unit(w, t, at, &b, &sum);
        else if (!affine_add(&sum.base, &b.start, 1)) return anywhere;
    }
    if (wide > 1) sum.unit = 0, sum.length = INT64_MAX;
    if (varying != 1 || sub->c) sum.limit = INT64_MAX;
    return sum;
}

/* The argument is this rank's block of the tensor. */
static Box box_sliced(const Walk *w, Box b, Size extent, int axes) {
    Affine own, held;
    bool known = b.known && size_affine(w->m, OP_ORIGIN, size_split(extent, axes), &own) &&
                 size_affine(w->m, OP_ORIGIN, extent, &held);
    if (!known || !affine_add(&b.start, &own, 1) || !affine_add(&b.start, &held, -1)) return anywhere;
    if (!affine_add(&b.base, &own, 1) || !affine_add(&b.base, &held, -1)) return anywhere;
    return b;
}

static void access_add(Walk *w, Op *op) {
    const Arg *arg = &w->node->arg.p[op->param];
    const Tensor *t = &w->p->tensor.p[arg->tensor];
    Access a = {.op = op, .node = w->node->id, .tensor = arg->tensor, .number = w->list.n, .write = op->kind == OP_STORE};
    a.remote = t->symmetric >= 0;
    a.ndim = t->ndim;
    if (a.remote) a.rank = sub_box(w, &op->sub.p[0].lo, op);
    for (int d = 0; d < arg->lead; d++)
        a.dim[d] = (Box){.known = true, .start = affine_const(arg->at[d]), .extent = 1, .limit = arg->at[d] + 1};
    int same = arg->lead + arg_same_dims(t, arg, &w->node->kernel->param.p[op->param]);
    for (int d = same; d < a.ndim; d++)
        a.dim[d] = (Box){.known = true, .start = affine_const(0), .extent = t->dim[d].c, .limit = t->dim[d].c};
    for (int d = arg->lead; d < same && op->kind != OP_GROUP; d++) {
        a.dim[d] = sub_box(w, &op->sub.p[d - arg->lead + a.remote].lo, op);
        if (arg->slice[d] >= 0) a.dim[d] = box_sliced(w, a.dim[d], t->dim[d], arg->slice[d]);
    }
    vec_push(w->arena, &w->list, a);
}

static void walk_region(Walk *w, const Region *r) {
    for (Op *op = r->first; op; op = op->next) {
        if (op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_GROUP) access_add(w, op);
        if (op->region[0]) walk_region(w, op->region[0]);
        if (op->kind == OP_IF && op->region[1]) walk_region(w, op->region[1]);
    }
}

AccessList node_accesses(const Module *m, const Program *p, int node, Arena *arena) {
    Walk w = {.m = m, .p = p, .node = p->node.p[node], .arena = arena};
    w.k = w.node->kernel;
    if (w.node->kind == NODE_CALL) walk_region(&w, w.k->body);
    return w.list;
}

Box subscript_box(const Module *m, const Kernel *k, const Op *access, int d) {
    Walk w = {.m = m, .k = k, .form = LOOP_EXACT};
    return sub_box(&w, &access->sub.p[d].lo, access);
}

bool accesses_apart(const Access *a, const Access *b) {
    for (int d = 0; d < a->ndim; d++) {
        const Box *x = &a->dim[d], *y = &b->dim[d];
        if (!x->known || !y->known || !affine_is_const(&x->start) || !affine_is_const(&y->start)) continue;
        if (x->start.c + x->extent <= y->start.c || y->start.c + y->extent <= x->start.c) return true;
    }
    return false;
}

bool kernel_reads_result(const Kernel *k, int param) { return k->param.p[param].out && region_has_access(k->body, param, OP_LOAD); }

bool siblings_need_order(const Kernel *k, const Access *from, const Access *to) {
    if (!from->write || from->tensor != to->tensor || from->op->param != to->op->param) return false;
    bool sums = to->write && from->op->mode == STORE_SUM && to->op->mode == STORE_SUM;
    return sums || (!to->write && k->param.p[from->op->param].out);
}

static bool region_sums(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_STORE && op->mode == STORE_SUM) return true;
    return false;
}

bool kernel_orders_tasks(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++)
        if (kernel_reads_result(k, i)) return true;
    return region_sums(k->body);
}
