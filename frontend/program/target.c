/* target.c: parts as targets: x[l] = .. A part of a state is updated in place (program.c). A part of another tensor
   becomes that part of the tensor's next version, in place where nothing else has a name for the tensor. A part of an
   output becomes one of the parts that make up the output. */
#include "frontend/program/program.h"

bool part_target_check(Prog *c, const Expr *t) {
    const Variable *v =
        t->kind == EXPR_INDEX && t->base->kind == EXPR_NAME ? variable_find(c->scope, t->base->name) : NULL;
    if (!v && t->kind == EXPR_INDEX) return tensor_lower(c, t->base, &expected_nothing).kind == PROG_ERROR && false;
    if (!v) return diag_refuse(c->diags, t->loc, "not-assignable", "this cannot be assigned");
    if (v->fixed)
        diag_error(c->diags, t->loc, "not-assignable", "'%s' is an input", v->name);
    else if (v->output && v->made && v->value.kind != PROG_ERROR)
        diag_error(c->diags, t->loc, "assigned-twice", "the output '%s' is assigned a second time", v->name);
    return !v->fixed && !(v->output && v->made);
}

/* A called program's result that is made of parts is a tensor of its own. */
static void result_make(Prog *c, Variable *v) {
    const Expected *want = v->result;
    Tensor t = *want->like;
    TensorInfo info = {.whole_elem = want->elem};
    t.role = ROLE_TEMP;
    t.elem = want->elem;
    dims_place(&t);
    v->value = prog_tensor(c->graph, tensor_new(c->graph, t, &info), t.loc);
}

/* The part, also of an output of which nothing can be read yet. */
static ProgValue part_of(Prog *c, const Expr *t, Variable *v) {
    bool made = v->made;
    if (v->result && v->part.n == 0) result_make(c, v);
    v->made = true;
    ProgValue part = part_lower(c, t);
    v->made = made;
    return part;
}

bool part_target_expected(Prog *c, const Expr *t, ProgValue *to, Expected *want) {
    *to = part_of(c, t, variable_change(c->scope, t->base->name));
    if (to->kind != PROG_TENSOR) return false;
    Tensor part = value_tensor(c->graph, to);
    *want = (Expected){.into = -1, .name = t->base->name, .has_elem = true, .elem = part.elem};
    want->like = arena_copy(c->arena, &part, sizeof part);
    return true;
}

/* ---- outputs, part by part ---- */

/* Tensors of the first `lead` dimensions. */
static bool parts_of(const Tensor *t, int from, int lead, int64_t *n) {
    *n = 1;
    for (int d = from; d < lead; d++)
        if (!size_is_number(t->dim[d]) || __builtin_mul_overflow(*n, t->dim[d].c, n)) return false;
    return true;
}

static bool parts_complete(const Prog *c, const Variable *v) {
    const Tensor *t = &c->graph->p->tensor.p[v->value.tensor];
    int64_t all, n, have = 0;
    int lead = 0;
    for (int i = 0; i < v->part.n; i++) lead = value_lead(&v->part.p[i]) > lead ? value_lead(&v->part.p[i]) : lead;
    if (!parts_of(t, 0, lead, &all)) return false;
    for (int i = 0; i < v->part.n; i++) {
        if (!parts_of(t, value_lead(&v->part.p[i]), lead, &n)) return false;
        have += n;
    }
    return have == all;
}

static bool is_known(const ProgValue *v) {
    for (int d = 0; d < v->nspot; d++)
        if (!affine_is_const(&v->spot[d])) return false;
    return true;
}

static bool output_part(Prog *c, Variable *v, const ProgValue *to) {
    if (!is_known(to))
        return diag_refuse(c->diags, to->loc, "not-constant",
                           "a part of an output is assigned at a place known at compile time");
    for (int i = 0; i < v->part.n; i++) {
        if (!value_overlaps(&v->part.p[i], to)) continue;
        diag_error(c->diags, to->loc, "assigned-twice", "this part of the output '%s' is assigned a second time",
                   v->name);
        diag_note(c->diags, v->part.p[i].loc, "assigned here");
        return false;
    }
    vec_push(c->arena, &v->part, *to);
    v->made = parts_complete(c, v);
    return true;
}

/* ---- names ---- */

/* Something else is, or may become, a name of it. */
static bool is_shared(const Prog *c, Variable *v) {
    if (c->graph->p->tensor.p[v->value.tensor].role != ROLE_TEMP || value_is_part(&v->value)) return true;
    for (int i = 0; i < variable_count(c->scope); i++) {
        const Variable *w = variable_at(c->scope, i);
        if (w != v && w->gone.kind != PROG_TENSOR && value_overlaps(&w->value, &v->value)) return true;
    }
    return false;
}

static ProgValue name_part(Prog *c, const Expr *t, Variable *v) {
    if (is_shared(c, v)) v->value = value_whole(c->graph, v->value);
    ProgValue part = part_lower(c, t);
    v->made = true;
    v->read = false;
    return part;
}

void part_bind(Prog *c, const Expr *t, Variable *held, ProgValue v, const ProgValue *to, const Expected *want) {
    if (v.kind != PROG_TENSOR) return;
    if (held->output && !output_part(c, held, to)) return;
    ProgValue part = held->output ? *to : name_part(c, t, held);
    if (part.kind != PROG_TENSOR || !shape_fits(c->graph, &v, want->like, held->loc) ||
        !place_fits(c->graph, &v, &part, held->loc))
        return;
    part.born = update_count(c->graph);
    value_copy(c->graph, v, &part, v.loc);
}
