/* flow.c: statements; for, merge and if. Variables of the outside that a block updates are carried through it:
   as arguments and results of a loop, as results of an if. */
#include "frontend/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(int) EntryList; /* places in the scope, ascending */

/* ---- what a block updates ---- */

static void collect(Kern *c, const Stmts *list, EntryList *found) {
    for (int i = 0; i < list->n; i++) {
        const Stmt *s = list->p[i];
        for (int t = 0; s->kind == STMT_ASSIGN && t < s->targets.n; t++) {
            Entry *e = s->targets.p[t]->kind == EXPR_NAME ? scope_find(c->scope, s->targets.p[t]->name) : NULL;
            if (!e || e->kind != NAME_VAR || e->fixed || e->stamp == c->stamp) continue;
            e->stamp = c->stamp;
            vec_push(c->arena, found, scope_place(c->scope, e));
        }
        collect(c, &s->body, found);
        collect(c, &s->other, found);
    }
}

static int compare_int(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static EntryList updated_by(Kern *c, const Stmts *a, const Stmts *b) {
    EntryList found = {0};
    c->stamp++;
    collect(c, a, &found);
    if (b) collect(c, b, &found);
    if (found.n) qsort(found.p, (size_t)found.n, sizeof(int), compare_int);
    return found;
}

static Value **values_of(Kern *c, const EntryList *list) {
    Value **v = ARENA_ARRAY(c->arena, Value *, list->n + 1);
    for (int i = 0; i < list->n; i++) v[i] = variable_value(c, scope_entry(c->scope, list->p[i]));
    return v;
}

static void entries_set(Kern *c, const EntryList *list, Value *const *v) {
    for (int i = 0; i < list->n; i++) scope_entry(c->scope, list->p[i])->val = val_tile(v[i]);
}

static void yield_entries(Kern *c, const EntryList *list) { build_yield(&c->b, values_of(c, list), list->n); }

/* ---- for ---- */

static Value *bound_lower(Kern *c, const Expr *e, Size *dim) {
    c->local_dims = true;
    c->bound_dim = size_number(0);
    Val v = expr_lower(c, e);
    c->local_dims = false;
    *dim = c->bound_dim;
    if (v.kind == VAL_ERROR) return NULL;
    Type t = val_type(c, v);
    if (t.nrange == 0 && elem_is_int(t.elem)) return val_as(c, v, ELEM_I64);
    diag_error(c->diags, e->loc, "bound-type", "a loop's bound is an integer, this is %s", tile_text(c, t));
    return NULL;
}

/* [lo, hi): the whole of a dimension on this rank, or what is written; *dim: the split dimension it runs over. */
static bool bounds_lower(Kern *c, const RangeDecl *d, Value **lo, Value **hi, Size *dim) {
    Size none;
    *dim = size_number(0);
    c->b.loc = d->loc;
    if (d->of) {
        *lo = val_as(c, val_int(0), ELEM_I64);
        *hi = bound_lower(c, d->of, dim);
    } else if (d->lo && d->hi) {
        *lo = bound_lower(c, d->lo, &none);
        *hi = bound_lower(c, d->hi, dim);
    }
    return *lo && *hi;
}

/* The range whose positions a loop goes through in order; -1: none, reported where it should be one. */
static int inside_lower(Kern *c, const RangeDecl *d, Value **lo, Value **hi) {
    if (!d->lo || d->hi) return -1;
    Entry *e = range_named(c, d->lo);
    if (e && c->b.k->range.p[e->index].kind != RANGE_POSITION) {
        e->read = true;
        c->b.loc = d->loc;
        *lo = build_index(&c->b, OP_BEGIN, e->index);
        *hi = build_index(&c->b, OP_END, e->index);
        return e->index;
    }
    bool broken = d->lo->kind == EXPR_NAME && scope_use(c->scope, d->lo->name, d->lo->loc)->kind == NAME_BROKEN;
    if (!broken) diag_error(c->diags, d->lo->loc, "not-a-range", "only a range of tiles has positions to go through");
    return -1;
}

static void merge_names(Kern *c, const Stmt *s, Region *r, const EntryList *carried) {
    for (int i = 0; i < s->merge.n; i++) {
        const Entry *of = scope_entry(c->scope, carried->p[i]);
        Value *v = region_arg(c->m, c->b.k, r, of->type, s->merge.p[i]);
        Entry *e = scope_declare(c->scope, s->merge.p[i], NAME_VAR, s->merge_loc.p[i]);
        if (e->kind == NAME_BROKEN) continue;
        e->val = val_tile(v);
        e->fixed = true;
    }
}

static bool merge_count(Kern *c, const Stmt *s, const EntryList *carried) {
    if (s->merge.n == carried->n) return true;
    diag_error(c->diags, s->loc, "merge-count", "the loop carries %d variable%s, merge names %d", carried->n,
               carried->n == 1 ? "" : "s", s->merge.n);
    for (int i = 0; i < carried->n; i++) {
        const Entry *e = scope_entry(c->scope, carried->p[i]);
        diag_note(c->diags, e->loc, "'%s' is carried", e->name);
    }
    return false;
}

/* Region 1: the carried values of one part, then those of the other; it yields those of both. */
static void merge_lower(Kern *c, const Stmt *s, Op *op, const EntryList *carried) {
    if (!s->has_merge || !merge_count(c, s, carried)) return scope_touch_all(c->scope, &s->merge_body);
    Region *r = op->region[1] = region_new(c->m, op);
    int mark = scope_mark(c->scope);
    bool outer = c->in_merge;
    for (int i = 0; i < carried->n; i++) {
        Entry *e = scope_entry(c->scope, carried->p[i]);
        e->val = val_tile(region_arg(c->m, c->b.k, r, e->type, e->name));
    }
    merge_names(c, s, r, carried);
    c->b.at = r;
    c->in_merge = true;
    stmts_lower(c, &s->merge_body);
    yield_entries(c, carried);
    c->in_merge = outer;
    scope_close(c->scope, mark);
}

static void loop_lower(Kern *c, const Stmt *s, int range, Value *lo, Value *hi) {
    Region *outer = c->b.at;
    EntryList carried = updated_by(c, &s->body, NULL);
    Value **init = values_of(c, &carried);
    for (int i = 0; i < carried.n; i++)
        if (!init[i]->name) init[i]->name = scope_entry(c->scope, carried.p[i])->name;
    c->b.loc = s->loc;
    Op *op = build_for(&c->b, range, lo, hi, init, carried.n);
    for (int i = 0; i < carried.n; i++)
        op->region[0]->arg.p[i]->name = op->res.p[i]->name = scope_entry(c->scope, carried.p[i])->name;
    c->b.at = op->region[0];
    entries_set(c, &carried, op->region[0]->arg.p);
    vec_push(c->arena, &c->loop, range);
    int mark = scope_mark(c->scope);
    stmts_lower(c, &s->body);
    yield_entries(c, &carried);
    scope_close(c->scope, mark);
    c->loop.n--;
    merge_lower(c, s, op, &carried);
    c->b.at = outer;
    entries_set(c, &carried, op->res.p);
}

static void for_lower(Kern *c, const Stmt *s) {
    const RangeDecl *d = &s->ranges.p[0];
    Value *lo = NULL, *hi = NULL;
    Size dim;
    int mark = scope_mark(c->scope);
    int inside = inside_lower(c, d, &lo, &hi);
    bool good = inside >= 0 || bounds_lower(c, d, &lo, &hi, &dim);
    int range = range_declare(c, d, false, true, 0);
    if (range >= 0 && good) {
        if (!d->of) c->range_of.p[range] = inside >= 0 ? c->range_of.p[inside] : dim;
        c->inside.p[range] = inside;
        loop_lower(c, s, range, lo, hi);
    } else {
        scope_touch_all(c->scope, &s->body);
        scope_touch_all(c->scope, &s->merge_body);
    }
    scope_close(c->scope, mark);
}

/* ---- if ---- */

/* A variable that a branch declares, to live on after the if when both do. */
typedef struct {
    Name name;
    Loc loc;
    Type type;
    Val val; /* where the condition is constant */
} Fresh;
typedef VEC(Fresh) FreshList;

static FreshList fresh_since(Kern *c, int mark, const Stmts *other) {
    FreshList list = {0};
    for (int i = mark; i < scope_mark(c->scope); i++) {
        Entry *e = scope_entry(c->scope, i);
        if (e->kind != NAME_VAR || e->fixed || !stmts_assign(other, e->name)) continue;
        e->read = true;
        vec_push(c->arena, &list, ((Fresh){e->name, e->loc, variable_type(c, e), e->val}));
    }
    return list;
}

static void fresh_declare(Kern *c, const Fresh *f, Val v) {
    Entry *e = scope_declare(c->scope, f->name, NAME_VAR, f->loc);
    if (e->kind == NAME_BROKEN) return;
    e->val = v;
    e->type = f->type;
    e->typed = true;
}

static void constant_if(Kern *c, const Stmt *s, bool test) {
    const Stmts *taken = test ? &s->body : &s->other, *left = test ? &s->other : &s->body;
    int mark = scope_mark(c->scope);
    scope_touch_all(c->scope, left);
    stmts_lower(c, taken);
    FreshList fresh = fresh_since(c, mark, left);
    scope_close(c->scope, mark);
    for (int i = 0; i < fresh.n; i++) fresh_declare(c, &fresh.p[i], fresh.p[i].val);
}

/* Values of the fresh variables at the end of a branch; the first branch fixes their types. */
static Value *fresh_value(Kern *c, const Fresh *f) {
    Entry *e = scope_find(c->scope, f->name);
    if (!e || e->kind != NAME_VAR) return NULL;
    e->read = true;
    variable_update(c, e, e->val, e->loc);
    if (type_covers(f->type, e->type)) {
        Value *x = val_assign(c, e->val, f->type.elem, e->loc, arena_format(c->arena, "'%s'", f->name));
        return x ? build_broadcast(&c->b, f->type, x) : NULL;
    }
    diag_error(c->diags, e->loc, "widened-update", "'%s' is %s in the other branch, %s here", f->name,
               tile_text(c, f->type), tile_text(c, e->type));
    return NULL;
}

static void branch_end(Kern *c, const EntryList *updated, const FreshList *fresh) {
    Value **v = values_of(c, updated), *x;
    Value **all = ARENA_ARRAY(c->arena, Value *, updated->n + fresh->n + 1);
    int n = 0;
    for (int i = 0; i < updated->n; i++) all[n++] = v[i];
    for (int i = 0; i < fresh->n; i++)
        if ((x = fresh_value(c, &fresh->p[i]))) all[n++] = x;
    build_yield(&c->b, all, n);
}

static void results_declare(Kern *c, Op *op, const EntryList *updated, const FreshList *fresh) {
    for (int i = 0; i < updated->n; i++) {
        op->res.p[i]->name = scope_entry(c->scope, updated->p[i])->name;
        scope_entry(c->scope, updated->p[i])->val = val_tile(op->res.p[i]);
    }
    for (int i = 0; i < fresh->n; i++) {
        Value *v = op_result(c->m, c->b.k, op, fresh->p[i].type);
        v->name = fresh->p[i].name;
        fresh_declare(c, &fresh->p[i], val_tile(v));
    }
}

static void stored_check(Kern *c, const Stmt *s, const bool *before, const bool *first) {
    for (int i = 0; i < c->b.k->param.n; i++) {
        if (first[i] == c->stored[i] || before[i]) continue;
        c->stored[i] = true;
        if (c->b.k->param.p[i].inout) continue; /* keeps what is not written */
        diag_error(c->diags, s->loc, "result-not-written", "'%s' is written in one branch only",
                   c->b.k->param.p[i].name);
        diag_note(c->diags, s->loc, "every element of a result is written exactly once: write it in both, or after");
    }
}

static void dynamic_if(Kern *c, const Stmt *s, Value *test) {
    Region *outer = c->b.at;
    EntryList updated = updated_by(c, &s->body, &s->other);
    size_t nstored = (size_t)c->b.k->param.n + 1;
    bool *before = arena_copy(c->arena, c->stored, nstored);
    Value **held = ARENA_ARRAY(c->arena, Value *, updated.n + 1);
    Type *type = ARENA_ARRAY(c->arena, Type, updated.n + 1);
    for (int i = 0; i < updated.n; i++) {
        held[i] = variable_value(c, scope_entry(c->scope, updated.p[i]));
        type[i] = scope_entry(c->scope, updated.p[i])->type;
    }
    c->b.loc = s->loc;
    Op *op = build_if(&c->b, test, type, updated.n);
    entries_set(c, &updated, held);
    c->b.at = op->region[0];
    int mark = scope_mark(c->scope);
    stmts_lower(c, &s->body);
    FreshList fresh = fresh_since(c, mark, &s->other);
    branch_end(c, &updated, &fresh);
    scope_close(c->scope, mark);
    bool *first = arena_copy(c->arena, c->stored, nstored);
    memcpy(c->stored, before, nstored);
    entries_set(c, &updated, held);
    c->b.at = op->region[1];
    stmts_lower(c, &s->other);
    branch_end(c, &updated, &fresh);
    scope_close(c->scope, mark);
    c->b.at = outer;
    results_declare(c, op, &updated, &fresh);
    stored_check(c, s, before, first);
}

static void if_lower(Kern *c, const Stmt *s) {
    Val test = condition_lower(c, s->value);
    if (test.kind == VAL_BOOL) return constant_if(c, s, test.i != 0);
    c->b.loc = s->loc;
    Value *v = val_value(c, test);
    if (v) return dynamic_if(c, s, v);
    scope_touch_all(c->scope, &s->body);
    scope_touch_all(c->scope, &s->other);
}

/* ---- statements ---- */

void stmt_lower(Kern *c, const Stmt *s) {
    switch (s->kind) {
    case STMT_ASSIGN: assign_lower(c, s); return;
    case STMT_LET: let_lower(c, s); return;
    case STMT_ASSERT: assert_lower(c, s); return;
    case STMT_PRINT: print_lower(c, s); return;
    case STMT_FOR: for_lower(c, s); return;
    case STMT_IF: if_lower(c, s); return;
    case STMT_EACH:
        diag_error(c->diags, s->loc, "one-each", "each stands at the top of a kernel, once");
        diag_note(c->diags, s->loc, "inside a task, iterate with for");
        return;
    case STMT_REPEAT:
        diag_error(c->diags, s->loc, "repeat-in-kernel", "repeat belongs to programs");
        diag_note(c->diags, s->loc, "inside a task, iterate with for");
        return;
    case STMT_ERROR: return;
    }
}

void stmts_lower(Kern *c, const Stmts *list) {
    for (int i = 0; i < list->n; i++) stmt_lower(c, list->p[i]);
}
