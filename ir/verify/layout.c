/* layout.c: the form `layout`: every tile has a layout of its ranges, and those that meet element by element agree. */
#include "ir/verify/verify.h"

#include <string.h>

static bool has_range_name(const Kernel *k, Type t, const char *name) {
    for (int i = 0; i < t.nrange; i++)
        if (strcmp(k->range.p[t.range[i]].name, name) == 0) return true;
    return false;
}

static bool names_match(const Kernel *k, Type t, const Layout *l) {
    if (l->nindex != t.nrange) return false;
    for (int i = 0; i < l->nindex; i++)
        if (!has_range_name(k, t, l->index[i].name)) return false;
    return true;
}

static bool places_match(const Layout *l) {
    return l->nplace == 3 && layout_place(l, "reg", NULL) >= 0 && layout_place(l, "lane", NULL) >= 0 &&
           layout_place(l, "wave", NULL) >= 0;
}

const Layout *value_layout(const Kernel *k, const Value *x) { return x->layout ? &k->layout.p[x->layout - 1] : NULL; }

static void layout_fits(Verifier *v, Loc loc, const Value *x) {
    const Layout *l = x->layout > 0 && x->layout <= v->k->layout.n ? value_layout(v->k, x) : NULL;
    if (!l)
        violation(v, loc, "there is no layout #%d", x->layout - 1);
    else if (!places_match(l) || (v->k->form == KERNEL_LAYOUT && layout_repeats(l) != 1) ||
             !names_match(v->k, x->type, l) || !layout_surjective(l))
        violation(v, loc, "layout #%d is not one of %s", x->layout - 1, type_text(v, x->type));
}

static void value_verify(Verifier *v, Loc loc, const Value *x) {
    bool wants = v->k->form == KERNEL_LAYOUT && x->type.nrange;
    if (!wants && x->layout) violation(v, loc, "a layout where none belongs");
    if (wants && !x->layout) violation(v, loc, "a tile without a layout");
    if (wants && x->layout) layout_fits(v, loc, x);
}

/* In roles a tile of registers may have a layout; one of a slot lies there. */
static void role_layouts_verify(Verifier *v, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->res.n; i++) {
            const Value *x = op->res.p[i];
            if (x->layout && (op->kind == OP_GET || x->type.nrange == 0)) violation(v, op->loc, "a layout where none belongs");
            else if (x->layout) layout_fits(v, op->loc, x);
        }
}

/* Each lane that has an element of `large` has its counterpart of `small`, whose ranges are some of the same. */
static bool layout_serves(const Kernel *k, const Value *small, const Value *large) {
    const char *name[MAX_RANGES];
    Layout slice;
    const Layout *s = value_layout(k, small), *l = value_layout(k, large);
    if (!s || !l) return small->type.nrange == 0;
    for (int i = 0; i < small->type.nrange; i++) name[i] = k->range.p[small->type.range[i]].name;
    return layout_slice(&slice, l, name, small->type.nrange) && layout_equal(&slice, s);
}

static void serve_verify(Verifier *v, const Op *op, const Value *small, const Value *large) {
    if (!layout_serves(v->k, small, large)) violation(v, op->loc, "an operand of %s lies elsewhere than it is wanted", op_info[op->kind].text);
}

static void subscripts_serve(Verifier *v, const Op *op, const Value *x) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE) serve_verify(v, op, op->sub.p[d].lo.term[i].value, x);
}

static void yield_serves(Verifier *v, const Op *op, const Region *r) {
    const Op *yield = r ? r->last : NULL;
    for (int i = 0; i < op->res.n && yield && i < yield->arg.n; i++) serve_verify(v, yield, yield->arg.p[i], op->res.p[i]);
}

static void control_serves(Verifier *v, const Op *op) {
    for (int i = 0; i < op->res.n && op->kind == OP_FOR; i++) {
        serve_verify(v, op, op->arg.p[i + 2], op->res.p[i]);
        serve_verify(v, op, op->region[0]->arg.p[i], op->res.p[i]);
    }
    yield_serves(v, op, op->region[0]);
    if (op->kind == OP_IF) yield_serves(v, op, op->region[1]);
}

static void operands_serve(Verifier *v, const Op *op) {
    OpClass class = op_info[op->kind].class;
    const Value *x = op->res.n ? op->res.p[0] : op->arg.n ? op->arg.p[0] : NULL;
    for (int i = 0; i < op->arg.n && (op_is_elementwise(op) || class == CLASS_PREFIX); i++)
        serve_verify(v, op, op->arg.p[i], x);
    for (int i = 1; i < op->arg.n && class == CLASS_PRINT; i++) serve_verify(v, op, op->arg.p[i], x);
    if (class == CLASS_REDUCE) serve_verify(v, op, x, op->arg.p[0]);
    if (class == CLASS_DOT && op->arg.n == 3) serve_verify(v, op, op->arg.p[2], x);
    if (class == CLASS_MEMORY && op->sub.n) subscripts_serve(v, op, x);
    if (class == CLASS_CONTROL && op->kind != OP_YIELD) control_serves(v, op);
}

static bool is_inside(const Region *r, const Region *outer) {
    while (r && r != outer) r = r->parent ? r->parent->in : NULL;
    return r != NULL;
}

/* What a load's subscripts name is known before the step in which it is read. */
static bool subscripts_known_before(const Op *load) {
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++) {
            const Value *x = load->sub.p[d].lo.term[i].kind == TERM_VALUE ? load->sub.p[d].lo.term[i].value : NULL;
            if (x && is_inside(x->def ? x->def->in : x->arg_of, load->in)) return false;
        }
    return true;
}

/* Memory of this rank that no task of the launch writes: waits say nothing of it. */
bool load_can_be_pipelined(const Kernel *k, const Op *load) {
    const Op *loop = load->in->parent;
    const Param *p = &k->param.p[load->param];
    if (!loop || loop->kind != OP_FOR || k->range.p[loop->range].kind != RANGE_TILE) return false;
    if (p->out || p->inout || p->ranks >= 0 || load->res.p[0]->type.nrange == 0) return false;
    return subscripts_known_before(load);
}

static bool is_zero(const Value *v) {
    const Op *d = v->def;
    while (d && (d->kind == OP_BROADCAST || d->kind == OP_CONVERT)) d = d->arg.p[0]->def;
    return d && d->kind == OP_CONST && d->imm == 0 && d->fimm == 0;
}

/* The only operation of the region that takes the value in; NULL: there are others, or it stands in another one. */
static const Op *only_user(const Uses *u, const Region *r, const Value *v) {
    const Op *user = uses_only(u, v);
    return user && user->in == r ? user : NULL;
}

/* exp(x - max(x, ..)): it makes no share of a sum infinite. */
static bool is_at_most_one(const Value *v) {
    const Op *e = v->def, *less = e && (e->kind == OP_EXP || e->kind == OP_EXP2) ? e->arg.p[0]->def : NULL;
    const Op *most = less && less->kind == OP_SUB ? less->arg.p[1]->def : NULL;
    return most && most->kind == OP_MAX && (most->arg.p[0] == less->arg.p[0] || most->arg.p[1] == less->arg.p[0]);
}

/* The first operation that takes what the loop carries: the addition; or the multiplication in front of it. */
static const Op *scale_of(const Uses *u, const Op *add, const Value *other, const Value *carried, bool scaled) {
    const Op *by = other->def;
    if (other == carried) return add;
    if (!scaled || !by || by->kind != OP_MUL || only_user(u, add->in, other) != add) return NULL;
    const int at = by->arg.p[1] == carried;
    return by->arg.p[at] == carried && is_at_most_one(by->arg.p[!at]) ? by : NULL;
}

int sum_of_loop(const Uses *u, const Op *sum, bool scaled) {
    const Region *body = sum->in;
    const Op *loop = body->parent, *add = only_user(u, body, sum->res.p[0]);
    const Op *yield = add && add->kind == OP_ADD ? only_user(u, body, add->res.p[0]) : NULL;
    if (sum->kind != OP_SUM || !loop || loop->kind != OP_FOR || !yield || yield->kind != OP_YIELD) return -1;
    const Value *other = add->arg.p[add->arg.p[0] == sum->res.p[0]];
    for (int i = 0; i < yield->arg.n; i++) {
        const Value *carried = body->arg.p[i];
        if (yield->arg.p[i] != add->res.p[0]) continue;
        const Op *first = scale_of(u, add, other, carried, scaled);
        return first && only_user(u, body, carried) == first && is_zero(loop->arg.p[2 + i]) ? i : -1;
    }
    return -1;
}

static void deferred_verify(Verifier *v, const Op *op) {
    if (v->k->form != KERNEL_LAYOUT || sum_of_loop(&v->uses, op, false) < 0)
        violation(v, op->loc, "a sum that cannot be made behind its loop");
}

static void pipelined_verify(Verifier *v, const Op *op) {
    if (v->k->form != KERNEL_LAYOUT || !load_can_be_pipelined(v->k, op))
        violation(v, op->loc, "a load that cannot be made a step ahead");
}

static void region_layout_verify(Verifier *v, const Region *r) {
    for (int i = 0; i < r->arg.n; i++) value_verify(v, v->k->loc, r->arg.p[i]);
    for (const Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->res.n; i++) value_verify(v, op->loc, op->res.p[i]);
        if (op->pipelined) pipelined_verify(v, op);
        if (op->deferred) deferred_verify(v, op);
        for (int i = 0; i < 2; i++)
            if (op->region[i]) region_layout_verify(v, op->region[i]);
    }
}

static void region_serves(Verifier *v, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        operands_serve(v, op);
}

static void aligned_verify(Verifier *v, const Kernel *k) {
    for (int i = 0; i < k->range.n; i++) {
        const Range *r = &k->range.p[i];
        if (r->aligned && (v->k->form != KERNEL_LAYOUT || r->aligned != range_row_alignment(k, i)))
            violation(v, r->loc, "a range whose places cannot begin elsewhere");
    }
}

void kernel_layout_verify(Verifier *v, const Kernel *k) {
    int before = v->violations;
    v->k = k;
    bool layouts = k->form == KERNEL_LAYOUT || k->roles;
    if (!layouts && k->layout.n) violation(v, k->loc, "it has layouts and is in another form");
    v->uses = uses_of(k, v->scratch);
    region_layout_verify(v, k->body);
    for (int i = 1; i < kernel_regions(k); i++) role_layouts_verify(v, kernel_region(k, i));
    if (v->violations == before) aligned_verify(v, k);
    if (v->violations == before && k->form == KERNEL_LAYOUT) region_serves(v, k->body);
}
