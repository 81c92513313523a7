/* kernel.c: one kernel instance from its declaration and binding.
   Takes a parsed kernel, its extents, types and constants; gives a kernel in value form, or errors. */
#include "frontend/sema/assertion.h"
#include "frontend/kernel/kernel.h"

#include <inttypes.h>
#include <string.h>

/* ---- parameters ---- */

static Val const_value(const BoundParam *p) {
    return p->constant == BOUND_BOOL ? val_bool(p->i) : p->constant == BOUND_INT ? val_int(p->i) : val_float(p->f);
}

static NameKind param_kind(const BoundParam *p, bool out) {
    if (p->constant != BOUND_NOTHING) return NAME_CONST;
    if (p->decl->mode == PARAM_INOUT) return NAME_INOUT;
    return out ? NAME_RESULT : p->ndim ? NAME_TENSOR : NAME_SCALAR;
}

static void param_declare(Kern *c, const BoundParam *p, bool out) {
    NameKind kind = param_kind(p, out);
    if (p->constant == BOUND_SIZE) {
        scope_declare(c->scope, p->decl->name, NAME_DIM, p->decl->loc)->size = p->size;
        return;
    }
    Entry *e = scope_declare(c->scope, p->decl->name, kind, p->decl->loc);
    if (e->kind == NAME_BROKEN) return;
    if (kind == NAME_CONST) {
        e->val = const_value(p);
        return;
    }
    Param q = {.name = p->decl->name,
               .elem = p->elem,
               .ndim = p->ndim,
               .out = out,
               .inout = kind == NAME_INOUT,
               .ranks = -1,
               .loc = p->decl->loc};
    memcpy(q.dim, p->dim, sizeof q.dim);
    e->global = p->global;
    e->scalar = out && !p->decl->type.has_shape;
    e->index = kernel_param(c->m, c->b.k, q);
}

static void params_declare(Kern *c) {
    const Binding *b = c->bound;
    for (int i = 0; i < b->elem.n; i++)
        scope_declare(c->scope, b->elem.p[i].name, NAME_ELEM, b->decl->loc)->elem = b->elem.p[i].elem;
    for (int i = 0; i < b->dim.n; i++)
        scope_declare(c->scope, b->dim.p[i].name, NAME_DIM, b->dim.p[i].loc)->size = b->dim.p[i].size;
    for (int i = 0; i < b->param.n; i++) param_declare(c, &b->param.p[i], i >= b->decl->params.n);
    c->stored = ARENA_ARRAY(c->arena, bool, b->param.n + 1);
}

/* ---- statements ---- */

static const char *const level_name[] = {
    [LEVEL_WAVE] = "wave", [LEVEL_GROUP] = "group", [LEVEL_CHIPLET] = "chiplet", [LEVEL_DEVICE] = "device"};

static Level level_lower(Kern *c, const Stmt *s) {
    for (int i = LEVEL_WAVE; s->level && i <= LEVEL_DEVICE; i++)
        if (strcmp(s->level, level_name[i]) == 0) return (Level)i;
    if (s->level) {
        diag_error(c->diags, s->loc, "unknown-level", "'%s' is not a level of the machine", s->level);
        diag_note(c->diags, s->loc, "the levels are wave, group, chiplet and device");
    }
    return LEVEL_GROUP;
}

static bool each_range(Kern *c, const Stmt *s, int i) {
    const RangeDecl *d = &s->ranges.p[i];
    Ragged g = {.param = -1};
    bool good = !d->lo || !d->of || ragged_find(c, s, i, &g);
    int range = range_declare(c, d, true, i == s->ranges.n - 1, 1 + g.param);
    if (good && range >= 0 && g.group) ragged_open(c, &g, range);
    return good && range >= 0;
}

static void each_lower(Kern *c, const Stmt *s) {
    int mark = scope_mark(c->scope);
    bool good = true;
    for (int i = 0; i < s->ranges.n; i++)
        if (!ragged_has_group(s, i)) good = each_range(c, s, i) && good;
    c->b.k->level = level_lower(c, s);
    c->in_task = true;
    if (good)
        stmts_lower(c, &s->body);
    else
        scope_touch_all(c->scope, &s->body);
    c->in_task = false;
    scope_close(c->scope, mark);
}

/* ---- the kernel ---- */

static void body_lower(Kern *c, const Decl *d) {
    int each = 0;
    for (int i = 0; i < d->body.n; i++) {
        const Stmt *s = d->body.p[i];
        if (s->kind == STMT_EACH && each++ == 0)
            each_lower(c, s);
        else if (each && s->kind != STMT_EACH)
            diag_error(c->diags, s->loc, "after-each", "nothing follows the tasks of a kernel");
        else
            stmt_lower(c, s);
    }
    if (each == 0) diag_error(c->diags, d->loc, "one-each", "kernel '%s' has no each: what are its tasks?", d->name);
}

static void results_check(Kern *c) {
    for (int i = 0; i < c->b.k->param.n; i++) {
        const Param *p = &c->b.k->param.p[i];
        if ((p->out || p->inout) && !c->stored[i])
            diag_error(c->diags, p->loc, "result-not-written", "the %s '%s' is never written",
                       p->out ? "result" : "inout parameter", p->name);
    }
}

Kernel *kernel_lower(Lower *lw, const Binding *bound, Name name, bool checking) {
    Module *m = lw->m;
    int before = m->diags->errors;
    Kern c = {.lw = lw,
              .m = m,
              .arena = m->arena,
              .diags = m->diags,
              .scope = scope_begin(lw, m->arena, m->diags),
              .bound = bound,
              .checking = checking};
    Kernel *k = kernel_alone(m, name, bound->decl->loc);
    c.b = (Builder){.m = m, .k = k, .at = k->body, .loc = bound->decl->loc};
    c.tuned = tuned_entry(&c);
    params_declare(&c);
    body_lower(&c, bound->decl);
    scope_close(c.scope, 0);
    if (m->diags->errors == before) scope_report_unread(c.scope);
    if (m->diags->errors == before) results_check(&c);
    bool complete = m->diags->errors == before;
    if (m->diags->errors == before) sizes_check(&c);
    if (m->diags->errors == before) covers_check(&c);
    if (m->diags->errors == before) sums_check(&c);
    if (m->diags->errors == before) inouts_check(&c);
    if (m->diags->errors == before && !checking) tiles_check(&c);
    if (m->diags->errors == before) self_check(&c);
    if (m->diags->errors == before && !checking) tuned_check(&c);
    if (m->diags->errors == before && !checking) tuned_site(&c);
    bool good = m->diags->errors == before;
    if (complete) kernel_remove_dead(k), kernel_warn(&c);
    if (!good) return NULL;
    kernel_add(m, k);
    return k;
}
