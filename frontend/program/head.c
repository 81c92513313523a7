/* head.c: a program's parameters and results, as tensors and names.
   Takes a head; gives the interface, records as one parameter for each field. */
#include "frontend/program/program.h"

#include <math.h>
#include <string.h>

static bool range_refuse(Prog *c, const ParamDecl *p) {
    diag_error(c->diags, p->loc, "value-range", "'%s' is no input of numbers: its values have no range", p->name);
    return false;
}

/* ---- parameters and results ---- */

/* `var: f32[N] in 0 .. 1`: where values are drawn from. */
static bool floats_range(Prog *c, const ParamDecl *p, Tensor *t) {
    ProgValue above, below;
    const char *what = t->role == ROLE_OUTPUT ? "is a result"
                       : !number_of_expr(c->scope, p->lo, &above) || !number_of_expr(c->scope, p->hi, &below)
                           ? "has bounds that are not known at compile time"
                       : !isfinite(number_real(above.number)) || !isfinite(number_real(below.number))
                           ? "has no finite bounds"
                       : number_real(above.number) >= number_real(below.number) ? "has no value between its bounds"
                                                                                : NULL;
    if (what) return diag_error(c->diags, p->loc, "value-range", "'%s' %s", p->name, what), false;
    t->above = number_real(above.number), t->below = number_real(below.number);
    return true;
}

/* `ids: i32[B] in 0 .. V`: each run looks at the values before anything else. */
static bool values_range(Prog *c, const ParamDecl *p, Tensor *t) {
    if (elem_is_float(t->elem)) return floats_range(c, p, t);
    if (t->role != ROLE_INPUT || !elem_is_int(t->elem) || elem_bits(t->elem) < 8) return range_refuse(c, p);
    t->checked = true;
    return extent_of(c->scope, p->lo, &t->least) && extent_of(c->scope, p->hi, &t->past);
}

static void param_lower(Prog *c, const ParamDecl *p, TensorRole role) {
    TensorInfo info = {0};
    Tensor t = {.name = p->name, .role = role, .loc = p->loc};
    Variable v = {.name = p->name,
                  .loc = p->loc,
                  .value = prog_error(p->loc),
                  .read = true,
                  .output = role == ROLE_OUTPUT,
                  .state = role == ROLE_STATE,
                  .fixed = role == ROLE_INPUT};
    if (head_name_taken(c->scope, p->name, p->loc)) return;
    bool good = type_lower(c->scope, &p->type, &t, info.dim) && (!p->lo || values_range(c, p, &t));
    info.whole_elem = t.elem;
    if (p->is_const)
        diag_error(c->diags, p->loc, "parameter-mode", "'%s' is a constant, and only a call gives it a value", p->name);
    if (good && !p->is_const) {
        v.value = t.ndim || role == ROLE_INPUT ? prog_tensor(c->graph, tensor_new(c->graph, t, &info), p->loc)
                                               : scalar_new(c->graph, t, &info, p->loc);
        interface_add(c->graph, v.value.tensor);
    } else
        v.made = true;
    variable_new(c->scope, v);
}

static void format_lower(Prog *c, const ParamDecl *w, TensorRole role) {
    Tensor *whole = ARENA_NEW(c->arena, Tensor);
    int before = c->diags->errors;
    const Decl *d = format_named(c->f, &w->type);
    if (role != ROLE_INPUT)
        diag_error(c->diags, w->loc, "format-place", "only an input of a program is stored in a format");
    if (!d || role != ROLE_INPUT || head_name_taken(c->scope, w->name, w->loc)) return;
    whole->name = w->name;
    bool good = format_whole(c, w, whole) && shapes_count(c->f, w, d);
    ActualArg *actual = ARENA_ARRAY(c->arena, ActualArg, d->params.n + 1);
    for (int i = 0; good && i < d->params.n; i++) {
        ParamDecl part = format_part(c->f, w, d, i);
        param_lower(c, &part, ROLE_INPUT);
        good = c->diags->errors == before;
        if (good) actual[i] = format_actual(c, part.name, part.type.loc);
    }
    if (good) format_fits(c, w, d, actual, whole);
    format_name(c, w, d, whole);
}

static void head_lower(Prog *, const ParamDecl *, TensorRole);

/* Flattened: one parameter for each field. */
static void record_lower(Prog *c, const ParamDecl *p, const Decl *d, TensorRole role) {
    if (head_name_taken(c->scope, p->name, p->loc)) return;
    variable_new(
        c->scope,
        (Variable){
            .name = p->name, .loc = p->loc, .value = prog_error(p->loc), .read = true, .fixed = true, .record = d});
    for (int i = 0; i < d->params.n; i++) {
        ParamDecl field = d->params.p[i];
        field.name = name_inside(c->f, p->name, field.name);
        head_lower(c, &field, role);
    }
}

static void head_lower(Prog *c, const ParamDecl *p, TensorRole role) {
    const Decl *record = record_of(c->f, &p->type);
    if (record)
        record_lower(c, p, record, role);
    else if (p->type.format && p->lo)
        range_refuse(c, p);
    else if (p->type.format)
        format_lower(c, p, role);
    else
        param_lower(c, p, role);
}

/* What a program that is run updates in place lives across its runs. */
void interface_lower(Prog *c, const Decl *d) {
    if (!head_is_sound(c->f, d)) return;
    for (int i = 0; i < d->params.n; i++)
        head_lower(c, &d->params.p[i], d->params.p[i].mode == PARAM_IN ? ROLE_INPUT : ROLE_STATE);
    for (int i = 0; i < d->results.n; i++) head_lower(c, &d->results.p[i], ROLE_OUTPUT);
}

/* ---- what a head's records are called in its body ---- */

void group_declare(Prog *c, const ParamDecl *p) {
    const Decl *record = record_of(c->f, &p->type);
    if (p->type.format &&
        variable_find(c->scope, name_inside(c->f, p->name, format_named(c->f, &p->type)->params.p[0].name)))
        format_declare(c, p);
    if (!record) return;
    variable_new(c->scope, (Variable){.name = p->name,
                                      .loc = p->loc,
                                      .value = prog_error(p->loc),
                                      .read = true,
                                      .fixed = true,
                                      .record = record});
    for (int i = 0; i < record->params.n; i++) {
        ParamDecl field = field_of(c->f, p, &record->params.p[i]);
        group_declare(c, &field);
    }
}

/* ---- what nothing reads ---- */

static bool tensor_is_read(const Program *p, int tensor) {
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        if (n->kind == NODE_COLLECTIVE && n->src == tensor) return true;
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
            if (n->arg.p[a].tensor == tensor) return true;
    }
    return false;
}

/* Fields of records are left out: a record may hold more than one program needs. */
void inputs_check(Prog *c) {
    for (int i = 0; i < c->graph->p->io.n; i++) {
        const Tensor *t = &c->graph->p->tensor.p[c->graph->p->io.p[i]];
        if (t->role != ROLE_INPUT || strchr(t->name, '.') || tensor_is_read(c->graph->p, t->id)) continue;
        diag_warning(c->diags, t->loc, "unread-input", "nothing reads the input '%s'", t->name);
    }
}
