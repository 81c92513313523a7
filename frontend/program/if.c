/* if.c: if. Where the condition is known at compile time, the branch that is taken counts, and the other is not
   judged. Otherwise both count, their nodes each under a condition.
   Takes: statements. Gives: nodes, and names as both branches leave them. */
#include "frontend/program/program.h"

/* ---- the condition ---- */

static bool is_split(const Prog *c, const ProgValue *v) {
    for (int a = 0; a < c->m->axis.n; a++)
        if (v->place[a].kind != PLACE_R) return true;
    return false;
}

static bool condition_of_expr(Prog *c, const Expr *e, ProgValue *v) {
    Expected want = {.has_elem = true, .elem = ELEM_BOOL, .into = -1, .name = name_of(c->m->names, "test")};
    *v = tensor_lower(c, e, &want);
    if (v->kind != PROG_TENSOR || !value_is_whole(c->graph, v, "a condition")) return false;
    Tensor t = value_tensor(c->graph, v);
    if (t.ndim == 0 && t.elem == ELEM_BOOL && !is_split(c, v)) {
        if (!value_is_scalar(c->graph, v) && c->graph->p->tensor.p[v->tensor].ndim)
            *v = value_whole(c->graph, *v); /* an element */
        return v->kind == PROG_TENSOR;
    }
    diag_error(c->diags, e->loc, "condition-type", "a condition is one bool, this is %s%s", elem_text(t.elem),
               t.ndim ? shape_text(c->f, &t) : "");
    diag_note(c->diags, e->loc, t.ndim ? "name an element: x[0]" : "compare it: x != 0");
    return false;
}

/* ---- branches ---- */

/* Names that both branches give a value live on: they are behind the mark. */
static void branch_end(Prog *c, int mark, const Stmts *other) {
    Variables kept = {0};
    for (int i = mark; i < variable_count(c->scope); i++) {
        Variable *v = variable_at(c->scope, i);
        if (!stmts_assign(other, v->name)) continue;
        vec_push(c->arena, &kept, *v);
        v->read = true;
    }
    block_end(c->scope, mark);
    for (int i = 0; i < kept.n; i++) variable_new(c->scope, kept.p[i]);
}

static void if_known(Prog *c, const Stmt *s, bool holds) {
    const Stmts *taken = holds ? &s->body : &s->other, *left = holds ? &s->other : &s->body;
    int mark = block_begin(c->scope);
    names_touch_all(c->scope, left);
    flow_lower(c, taken);
    branch_end(c, mark, left);
}

static Arm branch_lower(Prog *c, const Stmts *branch, const Stmts *other, int when) {
    int mark = block_begin(c->scope);
    Arm before = arm_begin(c, when), arm;
    for (int i = 0; i < mark; i++) /* the other branch may go on with what this one has overwritten */
        if (stmts_name(branch, variable_at(c->scope, i)->name)) variable_at(c->scope, i)->read = true;
    flow_lower(c, branch);
    branch_end(c, mark, other);
    arm_end(c, &before, &arm);
    return arm;
}

static void if_run(Prog *c, const Stmt *s) {
    ProgValue test;
    int mark = block_begin(c->scope), before = c->diags->errors;
    if (!condition_of_expr(c, s->value, &test)) return;
    int then = condition_new(c, &test, true), otherwise = condition_new(c, &test, false);
    Arm a = branch_lower(c, &s->body, &s->other, then), b = branch_lower(c, &s->other, &s->body, otherwise);
    if (c->diags->errors == before) arms_join(c, &a, &b, mark, s->loc);
}

void branches_lower(Prog *c, const Stmt *s) {
    ProgValue test;
    if (number_of_expr(c->scope, s->value, &test))
        if_known(c, s, number_holds(test.number));
    else
        if_run(c, s);
}
