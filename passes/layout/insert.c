/* insert.c: gives every value the layout of its class, and conversions where an operation wants or makes another.
   A conversion stands behind the definition of what it converts; what costs nothing is computed again instead. */
#include "passes/fuse/inline.h"
#include "passes/layout/layout.h"

/* Operations behind each other that are computed again in another layout; chosen: no measurement is recorded. */
enum { REMAKE_DEPTH = 6 };

static void give_layout(Lay *l, Value *v) {
    int class = lay_class(l, v);
    if (v->type.nrange && !v->layout && class >= 0) v->layout = l->class[class].layout;
}

static void give_layouts(Lay *l, Region *r) {
    for (int i = 0; r && i < r->arg.n; i++) give_layout(l, r->arg.p[i]);
    for (Op *op = r ? r->first : NULL; op; op = op->next) {
        for (int i = 0; i < op->res.n; i++) give_layout(l, op->res.p[i]);
        give_layouts(l, op->region[0]);
        give_layouts(l, op->region[1]);
    }
}

/* ---- values again, in another layout ---- */

/* Positions, constants, and what is elementwise made of them and of scalars. */
static bool can_remake(const Value *v, int depth) {
    if (v->type.nrange == 0) return true;
    if (!v->def || depth == 0) return false;
    bool good = v->def->kind == OP_POS || op_is_elementwise(v->def);
    for (int i = 0; i < v->def->arg.n && good; i++) good = can_remake(v->def->arg.p[i], depth - 1);
    return good;
}

static Value *remake(Lay *l, Value *v, const Layout *layout, Op *before) {
    if (v->type.nrange == 0) return v;
    Layout own = lay_slice(l, layout, v->type);
    Op *copy = op_like(l->m, v->def);
    for (int i = 0; i < v->def->arg.n; i++) {
        Value *x = remake(l, v->def->arg.p[i], &own, before);
        vec_push(l->m->arena, &copy->arg, x);
    }
    op_insert_before(before, copy);
    Value *made = op_result(l->m, l->k, copy, v->type);
    made->name = v->name;
    made->layout = lay_number(l, &own);
    return made;
}

static Value *known_conversion(const Lay *l, const Value *v, int layout) {
    for (int i = 0; i < l->nmade; i++)
        if (l->made[i].from == v && l->made[i].to->layout == layout) return l->made[i].to;
    return NULL;
}

static void remember(Lay *l, const Value *from, Value *to) {
    if (l->nmade == l->cap) vec_grow(l->scratch, &l->made, l->nmade, &l->cap, sizeof *l->made);
    l->made[l->nmade].from = from;
    l->made[l->nmade++].to = to;
}

static Value *convert_behind(Lay *l, Value *v, int layout, Loc loc) {
    Op *convert = op_new(l->m, OP_CONVERT, loc);
    vec_push(l->m->arena, &convert->arg, v);
    lay_insert_behind(convert, v);
    Value *made = op_result(l->m, l->k, convert, v->type);
    made->name = v->name ? name_of(l->m->names, arena_format(l->m->arena, "%s_moved", v->name)) : NULL;
    made->layout = layout;
    remember(l, v, made);
    return made;
}

static Value *value_in(Lay *l, Value *v, const Layout *wanted, Op *user) {
    if (v->type.nrange == 0) return v;
    int layout = lay_number(l, wanted);
    if (v->layout == layout) return v;
    if (can_remake(v, REMAKE_DEPTH)) return remake(l, v, wanted, user);
    Value *known = known_conversion(l, v, layout);
    return known ? known : convert_behind(l, v, layout, user->loc);
}

/* In the place of an operand of op, or of a term of a subscript: beside the elements of `at`. */
static void want_beside(Lay *l, Value **v, const Value *at, Op *op) {
    if ((*v)->type.nrange == 0) return;
    Layout all = l->k->layout.p[at->layout - 1], wanted = lay_slice(l, &all, (*v)->type);
    *v = value_in(l, *v, &wanted, op);
}

static void want_subscripts(Lay *l, Op *op, const Value *at) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE) {
                want_beside(l, &op->sub.p[d].lo.term[i].value, at, op);
                op->sub.p[d].hi = op->sub.p[d].lo;
            }
}

/* ---- results that an operation makes in a layout of its own ---- */

static void makes_in(Lay *l, Value *v, const Layout *natural, Loc loc) {
    int wanted = v->layout, made = lay_number(l, natural);
    if (v->type.nrange == 0 || wanted == made) return;
    v->layout = made;
    Value *by = convert_behind(l, v, wanted, loc);
    region_replace(l->k->body, v, by);
    by->def->arg.p[0] = v;
}

static void fit_reduce(Lay *l, Op *op) {
    Layout all = l->k->layout.p[op->arg.p[0]->layout - 1], natural = lay_slice(l, &all, op->res.p[0]->type);
    if (op->res.p[0]->type.nrange) makes_in(l, op->res.p[0], &natural, op->loc);
}

static void fit_dot(Lay *l, Op *op) {
    Layout a, b, d;
    if (lay_dot_layouts(l, op, &a, &b, &d)) makes_in(l, op->res.p[0], &d, op->loc);
    if (op->arg.n == 3) want_beside(l, &op->arg.p[2], op->res.p[0], op);
}

/* ---- what operations want ---- */

static void fit_yield(Lay *l, Op *op) {
    Op *parent = op->in->parent;
    for (int i = 0; i < op->arg.n; i++) want_beside(l, &op->arg.p[i], parent->res.p[i], op);
}

static void fit_op(Lay *l, Op *op) {
    OpClass class = op_info[op->kind].class;
    bool element = op_is_elementwise(op) || class == CLASS_PREFIX;
    for (int i = 0; i < op->arg.n && element && op->res.p[0]->type.nrange; i++)
        want_beside(l, &op->arg.p[i], op->res.p[0], op);
    for (int i = 1; i < op->arg.n && class == CLASS_PRINT; i++) want_beside(l, &op->arg.p[i], op->arg.p[0], op);
    if (class == CLASS_REDUCE) fit_reduce(l, op);
    if (op->kind == OP_DOT) fit_dot(l, op);
    if (op->kind == OP_LOAD) want_subscripts(l, op, op->res.p[0]);
    if (op->kind == OP_STORE) want_subscripts(l, op, op->arg.p[0]);
    for (int i = 0; i < op->res.n && op->kind == OP_FOR; i++) want_beside(l, &op->arg.p[i + 2], op->res.p[i], op);
    if (op->kind == OP_YIELD) fit_yield(l, op);
}

void lay_insert(Lay *l) {
    give_layouts(l, l->k->body);
    lay_each(l, l->k->body, fit_op);
    l->k->form = KERNEL_LAYOUT;
}
