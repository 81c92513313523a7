/* program.c: the program itself, and assignments: what names, outputs, states and parts of them stand for from here on.
   Takes a declaration; gives a Program of nodes over placed tensors, or errors. */
#include "frontend/program/callee.h"
#include "frontend/program/program.h"

#include <string.h>

/* ---- assignments ---- */

static bool target_check(Prog *c, const Expr *t) {
    if (t->kind != EXPR_NAME) return part_target_check(c, t);
    const Variable *v = variable_find(c->scope, t->name);
    if (!v) return !name_taken(c->scope, t->name, t->loc);
    if (v->fixed) {
        bool number = v->value.kind == PROG_NUMBER;
        diag_error(c->diags, t->loc, "not-assignable", "'%s' is %s", t->name,
                   number ? "counted by repeat" : v->record ? "a record" : "an input");
        diag_note(c->diags, v->loc, number || v->record ? "declared here" : "declared here; make it state to update it");
    } else if (v->output && v->made) {
        if (v->value.kind == PROG_ERROR) return false;
        diag_error(c->diags, t->loc, "assigned-twice", "the output '%s' is assigned a second time", t->name);
        diag_note(c->diags, v->loc, "declared here; use another name for what comes before");
    } else
        return true;
    return false;
}

/* `_, y = f(x)`: the result has a name that nothing can read. */
static bool is_discarded(Name name) { return name[0] == '_' && name[1] == ':'; }

/* What is declared about a target before its value is known. `typed`: room for an annotation. */
static bool target_expected(Prog *c, const Stmt *s, const Expr *t, Tensor *typed, Expected *want) {
    const Variable *v = variable_find(c->scope, t->name);
    if (v && v->result && !s->has_type) return *want = *v->result, true;
    bool declared = v && (v->output || v->state) && v->value.kind == PROG_TENSOR;
    *want = (Expected){.into = declared && v->output ? v->value.tensor : -1,
                        .name = is_discarded(t->name) ? name_of(c->m->names, "unused") : t->name};
    if (declared) *typed = value_tensor(c->graph, &v->value);
    if (s->has_type && (declared || (v && v->result))) {
        diag_error(c->diags, s->type.loc, "redefined", "'%s' has its type already", t->name);
        return false;
    }
    DimName name[MAX_DIMS] = {0};
    if (s->has_type && (typed->name = t->name, !type_lower(c->scope, &s->type, typed, name))) return false;
    want->has_elem = declared || s->has_type;
    want->elem = typed->elem;
    want->stated = s->has_type;
    if (declared || (s->has_type && s->type.has_shape)) want->like = arena_copy(c->arena, typed, sizeof *typed);
    return true;
}

static const char *placement_advice(Size have, Size want) {
    if (want.axis < 0) return "a declaration moves nothing: gather it first, all_gather(..)";
    if (have.axis < 0) return "a declaration moves nothing: reduce_scatter(..) of a partial sum gives a split tensor";
    return "a declaration moves nothing: all_to_all(..) moves a split to another dimension";
}

/* An annotation says what is so; it does not move or round anything. In a called program only what it splits is said. */
static bool annotation_fits(Prog *c, const ProgValue *v, const Expected *want, Loc loc) {
    const Tensor seen = value_tensor(c->graph, v), *t = &seen;
    if (want->like && !shape_fits(c->graph, v, want->like, loc)) return false;
    for (int d = 0; want->like && d < t->ndim; d++)
        if (!size_equal(t->dim[d], want->like->dim[d]) && !(body_is_called(c->scope) && want->like->dim[d].axis < 0)) {
            diag_error(c->diags, v->loc, "placement-mismatch", "dimension %d of this is %s, and '%s' is declared as %s",
                       d, extent_text(c->f, t->dim[d]), want->name, extent_text(c->f, want->like->dim[d]));
            diag_note(c->diags, loc, "%s", placement_advice(t->dim[d], want->like->dim[d]));
            return false;
        }
    if (places_have_partial(c->m, v->place) || t->elem == want->elem) return true;
    diag_error(c->diags, v->loc, "type-mismatch", "this is %s, and '%s' is declared as %s", elem_text(t->elem),
               want->name, elem_text(want->elem));
    return false;
}

/* The next version of a view of the target. */
static bool is_viewed(const ProgValue *v, const ProgValue *target, const ProgValue *updated) {
    ProgValue plain = *v;
    plain.view = NULL;
    return value_equal(&plain, target) && value_equal(v, updated);
}

/* `part`: an output, a state or a part of one. */
static void bind_declared(Prog *c, Variable *to, ProgValue v, const ProgValue *part, const Expected *want) {
    ProgValue fresh = *part, *target = &fresh;
    Loc loc = to->loc;
    bool stays = value_equal(&v, target) || is_viewed(&v, target, &to->gone);
    to->made = true;
    if (!stays && (v.tensor == target->tensor || places_use(c->graph, &v, target))) v = value_whole(c->graph, v);
    ProgValue was = to->gone;
    if (!places_live(c->graph, target)) return;
    if (to->state && !stays) value_consume(c->graph, c->scope, target, v.loc);
    bool whole = stays || (target->lead <= was.lead && target->nspot == 0);
    to->gone = value_equal(&was, target) || (whole && value_overlaps(&was, target)) ? (ProgValue){0} : was;
    target->born = update_count(c->graph);
    if (v.kind != PROG_TENSOR) return;
    if (stays || !shape_fits(c->graph, &v, want->like, loc) || !place_fits(c->graph, &v, target, loc)) return;
    value_copy(c->graph, v, target, v.loc);
}

static void bind_name(Prog *c, const Stmt *s, const Expr *t, ProgValue v, const Expected *want) {
    Variable *held = variable_change(c->scope, t->name);
    if (v.kind == PROG_TENSOR && s->has_type && !annotation_fits(c, &v, want, s->type.loc)) v = prog_error(v.loc);
    bool field_again = s->value->kind == EXPR_NAME && strchr(t->name, '.');
    Variable fresh = {.name = t->name, .loc = t->loc, .value = v, .made = !field_again && !is_discarded(t->name)};
    if (!held) {
        variable_new(c->scope, fresh);
        return;
    }
    if (held->fixed) return;
    variable_unread(c->scope, held);
    *held = fresh;
}

/* A result of a called program: a name for the value, converted where another type is declared. */
static void bind_result(Prog *c, Variable *to, ProgValue v) {
    const Expected *want = to->result;
    to->made = true;
    if (v.kind != PROG_TENSOR || !shape_fits(c->graph, &v, want->like, to->loc)) return;
    Tensor t = value_tensor(c->graph, &v);
    if (t.elem != want->elem && !places_have_partial(c->m, v.place)) v = value_cast(c->graph, v, want->elem);
    to->value = v;
}

static void bind(Prog *c, const Stmt *s, const Expr *t, ProgValue v, const ProgValue *part, const Expected *want) {
    Variable *held = variable_change(c->scope, t->kind == EXPR_INDEX ? t->base->name : t->name);
    if (t->kind == EXPR_INDEX && !held->state)
        part_bind(c, t, held, v, part, want);
    else if (held && held->result)
        bind_result(c, held, v);
    else if (!held || !(held->output || held->state))
        bind_name(c, s, t, v, want);
    else if (v.kind == PROG_TENSOR && held->value.kind == PROG_TENSOR)
        bind_declared(c, held, v, part->kind == PROG_TENSOR ? part : &held->value, want);
    else if (t->kind == EXPR_NAME)
        held->made = true, held->value = prog_error(t->loc);
}

/* An update in place has happened: only the state itself can go on with it. `good`: its value came about. */
static void states_check(Prog *c, bool good) {
    for (int i = variable_base(c->scope); i < variable_count(c->scope); i++) {
        Variable *v = variable_at(c->scope, i);
        if (!v->state || v->gone.kind != PROG_TENSOR) continue;
        if (good) diag_error(c->diags, v->gone.loc, "state-not-assigned", "this updates the state '%s', and does not assign it", v->name);
        if (good) diag_note(c->diags, v->gone.loc, "assign what the call gives: %s = ..", v->name);
        v->gone = (ProgValue){0};
    }
}

/* Fields of records are variables of their own. */
static bool target_field(Prog *c, Expr **t) {
    Expr *e = *t = arena_copy(c->arena, *t, sizeof **t);
    if (e->kind == EXPR_INDEX) return target_field(c, &e->base);
    if (e->kind == EXPR_FIELD) *t = field_named(c->scope, e);
    return *t != NULL;
}

/* Each place of a `_` has a name of its own, so that values of branches do not meet. */
static void target_discard(Prog *c, Expr *t) {
    if (t->kind != EXPR_NAME || strcmp(t->name, "_") || variable_find(c->scope, t->name)) return;
    t->name = name_of(c->m->names, arena_format(c->arena, "_:%d:%u", t->loc.file, t->loc.begin));
}

static bool targets_name(Prog *c, Stmt *s) {
    s->targets.p = arena_copy(c->arena, s->targets.p, sizeof *s->targets.p * (size_t)s->targets.n);
    for (int i = 0; i < s->targets.n; i++) {
        if (!target_field(c, &s->targets.p[i])) return false;
        target_discard(c, s->targets.p[i]);
    }
    return true;
}

static bool targets_check(Prog *c, const Stmt *s, ProgValue *part, Expected *want) {
    bool good = true;
    for (int i = 0; i < s->targets.n; i++) {
        const Expr *t = s->targets.p[i];
        Tensor typed = {0};
        bool known = target_check(c, t);
        if (t->kind == EXPR_NAME) known = known && target_expected(c, s, t, &typed, &want[i]);
        else known = known && part_target_expected(c, t, &part[i], &want[i]);
        good = good && known;
        for (int k = 0; k < i && known; k++)
            if (t->kind == EXPR_NAME ? s->targets.p[k]->name == t->name : value_overlaps(&part[k], &part[i])) {
                diag_error(c->diags, t->loc, "assigned-twice", "'%s' is named twice", want[i].name);
                good = false;
            }
    }
    return good;
}

/* x += y as x = x + y */
static Expr *updated_value(Prog *c, const Stmt *s) {
    static const AstOp op[] = {
        [ASSIGN_ADD] = AST_ADD, [ASSIGN_SUB] = AST_SUB, [ASSIGN_MUL] = AST_MUL, [ASSIGN_DIV] = AST_DIV};
    Expr *e = ARENA_NEW(c->arena, Expr);
    *e = (Expr){.kind = EXPR_BINARY, .loc = s->loc, .op = op[s->op], .lhs = s->targets.p[0], .rhs = s->value};
    return e;
}

/* `y, h = k(x, h)`: next versions come before results. */
static void swapped_check(Prog *c, const Stmt *s, int i, const Variable *state) {
    const Decl *d = callee_decl(c->scope, s->value);
    if (!d || i >= decl_inouts(decl_flat(c->f, d))) return;
    diag_warning(c->diags, s->targets.p[i]->loc, "swapped-state", "this takes the next version of '%s', and '%s' takes a result of %s",
                 state->name, state->name, d->name);
    diag_note(c->diags, s->value->loc, "a call gives the next versions of what it updates in place first, then its results");
}

/* A value that another target of the statement stores over is copied first. */
static void value_separate(Prog *c, const Stmt *s, ProgValue *v, const ProgValue *part, int i) {
    for (int k = 0; k < s->targets.n; k++) {
        const Variable *held = part[k].kind ? NULL : variable_find(c->scope, s->targets.p[k]->name);
        const ProgValue *to = part[k].kind ? &part[k] : held && held->state ? &held->value : NULL;
        if (!to || k == i || value_equal(&v[k], to) || !value_overlaps(&v[i], to)) continue;
        if (held) swapped_check(c, s, i, held);
        v[i] = value_whole(c->graph, v[i]);
    }
}

void assignment_lower(Prog *c, const Stmt *from) {
    Stmt copy = *from, *s = &copy;
    if (record_assign(c, s)) return;
    targets_flatten(c, s);
    int n = s->targets.n;
    Expected *want = ARENA_ARRAY(c->arena, Expected, n);
    ProgValue *v = ARENA_ARRAY(c->arena, ProgValue, n), *part = ARENA_ARRAY(c->arena, ProgValue, n);
    if (s->op != ASSIGN_SET) s->value = updated_value(c, s);
    if (!targets_name(c, s)) return;
    bool good = targets_check(c, s, part, want) && values_lower(c, s->value, want, n, v);
    for (int i = 0; good && n > 1 && i < n; i++) value_separate(c, s, v, part, i);
    for (int i = 0; i < n; i++)
        if (s->targets.p[i]->kind == EXPR_NAME || part[i].kind == PROG_TENSOR)
            bind(c, s, s->targets.p[i], good ? v[i] : prog_error(s->loc), &part[i], &want[i]);
    states_check(c, good);
}

void program_lower(Front *f, const Decl *d) {
    Prog c = {.f = f,
              .m = f->lower.m,
              .arena = f->arena,
              .diags = f->diags,
              .scope = scope_new(f, d),
              .graph = graph_new(f, d)};
    int before = f->diags->errors;
    interface_lower(&c, d);
    if (f->diags->errors != before) return;
    statements_lower(&c, &d->body);
    if (f->diags->errors == before) inputs_check(&c);
}
