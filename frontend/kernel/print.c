/* print.c: print(x, c) and assertions about values: records of elements, of which a run tells.
   Takes: a statement of a task. Gives: an operation with the tile, its condition, the places of each element, and the
   text that a run fills in. */
#include "frontend/kernel/kernel.h"
#include "frontend/sema/assertion.h"
#include "frontend/syntax/ast_print.h"
#include "runtime/device/tile_print.h"

#include <inttypes.h>
#include <string.h>

_Static_assert((int)PRINT_PLACES == (int)TILE_PRINT_PLACES, "records have the places that operations have");

typedef struct {
    Kern *c;
    OpKind kind;
    const Expr *shown; /* the tile, as it is written; NULL: the condition itself is */
    Value *x, *when;
    Value *place[PRINT_PLACES];
    int n;
    const char *at; /* "i = \001, j = \001" */
} Record;

/* ---- what a record is of ---- */

/* Conditions are shown as they are, numbers as f32, f64 or i64. */
static Value *shown_value(Kern *c, Val v) {
    Value *x = val_value(c, v);
    if (!x) return NULL;
    const Elem e = x->type.elem, as = e == ELEM_BOOL ? e : elem_is_int(e) ? ELEM_I64 : elem_arith(e);
    return build_cast(&c->b, as, x);
}

static Value *condition_value(Kern *c, const Expr *e) {
    Val v = expr_lower(c, e);
    Value *x = val_value(c, v);
    if (!x || x->type.elem == ELEM_BOOL) return x;
    diag_error(c->diags, e->loc, "condition-type", "a condition is bool, this is %s", tile_text(c, x->type));
    return NULL;
}

/* ---- places ---- */

static bool place_add(Record *r, Value *at, const char *what) {
    Kern *c = r->c;
    if (r->n == PRINT_PLACES) {
        diag_error(c->diags, c->b.loc, "unsupported", "not supported yet: %s within more than %d ranges", op_phrase(r->kind), PRINT_PLACES);
        return false;
    }
    r->at = arena_format(c->arena, "%s%s%s = %c", r->at, r->n ? ", " : "", what, TILE_PRINT_PLACE);
    r->place[r->n++] = at;
    return true;
}

/* Counted in the whole dimension. */
static Value *from_origin(Kern *c, Value *at, int range) {
    const Size of = c->range_of.p[range];
    return of.axis < 0 ? at : build_binary(&c->b, OP_ADD, at, build_size(&c->b, OP_ORIGIN, of));
}

/* A range that the tile does not have counts from where the range's own tile begins. */
static bool range_place(Record *r, int range) {
    Kern *c = r->c;
    const Range *of = &c->b.k->range.p[range];
    const bool own = type_has(r->x->type, range) || of->kind == RANGE_POSITION;
    if (!own && of->kind == RANGE_WHOLE) return true;
    Value *at = build_index(&c->b, own ? OP_POS : OP_BEGIN, range);
    return place_add(r, from_origin(c, at, range), own ? of->name : arena_format(c->arena, "begin(%s)", of->name));
}

static bool places_add(Record *r) {
    for (int i = 0; i < r->c->b.k->ngrid; i++)
        if (!range_place(r, i)) return false;
    for (int i = 0; i < r->c->loop.n; i++)
        if (!range_place(r, r->c->loop.p[i])) return false;
    return true;
}

/* ---- tasks without positions: of a dimension of 0, or a rank's block that is short ---- */

static Value *range_exists(Kern *c, int range) {
    const Range *of = &c->b.k->range.p[range];
    Value *at = build_index(&c->b, of->kind == RANGE_POSITION ? OP_POS : OP_BEGIN, range);
    Value *past = of->kind == RANGE_POSITION ? build_size(&c->b, OP_SIZE, of->of) : build_index(&c->b, OP_END, range);
    return build_binary(&c->b, OP_LT, at, past);
}

static bool may_be_empty(const Record *r, int range) {
    const Range *of = &r->c->b.k->range.p[range];
    if (type_has(r->x->type, range)) return false;
    return of->starts || !size_is_number(of->of) || of->of.c < 1;
}

static Value *task_exists(Record *r) {
    Kern *c = r->c;
    Value *all = NULL;
    for (int i = 0; i < c->b.k->ngrid; i++) {
        if (!may_be_empty(r, i)) continue;
        Value *one = range_exists(c, i);
        all = all ? build_binary(&c->b, OP_AND, all, one) : one;
    }
    return all;
}

/* ---- the text ---- */

static const char *written_text(Kern *c, const Expr *e) {
    Text text = {0};
    ast_print_expr((Writer){&text, &c->diags->file.p[e->loc.file - 1]}, e);
    const char *kept = arena_text(c->arena, text_str(&text), text.n);
    text_free(&text);
    return kept;
}

static char value_mark(Elem e) {
    return e == ELEM_F32 ? TILE_PRINT_F32 : e == ELEM_F64 ? TILE_PRINT_F64 : e == ELEM_I64 ? TILE_PRINT_I64 : TILE_PRINT_BOOL;
}

static const char *source_place(Kern *c, Loc loc) {
    const char *path = loc_path(c->diags, loc), *slash = strrchr(path, '/');
    return arena_format(c->arena, "%s:%d", slash ? slash + 1 : path, loc_line(c->diags, loc));
}

/* "x.tile:7: scale: x at i = , j = : " */
static Name record_text(const Record *r, const Stmt *s, const Expr *condition) {
    Kern *c = r->c;
    const char *head = arena_format(c->arena, "%s: %s: ", source_place(c, s->loc), c->bound->decl->name);
    const char *at = r->n ? arena_format(c->arena, " at %s", r->at) : "";
    const char *shown = r->shown ? written_text(c, r->shown) : NULL;
    const char value = value_mark(r->x->type.elem);
    if (r->kind == OP_PRINT) return name_of(c->m->names, arena_format(c->arena, "%s%s%s: %c", head, shown, at, value));
    const char *failed = arena_format(c->arena, "%c%sassert %s fails%s", TILE_PRINT_FAILS, head, written_text(c, condition), at);
    if (shown) failed = arena_format(c->arena, "%s: %s is %c", failed, shown, value);
    return name_of(c->m->names, failed);
}

/* ---- statements ---- */

static void record_build(Record *r, const Stmt *s, const Expr *condition) {
    Kern *c = r->c;
    const Type all = type_union(r->x->type, r->when->type);
    if (!types_fit(c, r->x->type, r->when->type, s->loc)) return;
    Type when = all;
    when.elem = ELEM_BOOL;
    r->x = build_broadcast(&c->b, all, r->x);
    Value *exists = task_exists(r);
    if (exists && r->kind == OP_PRINT) r->when = build_binary(&c->b, OP_AND, r->when, exists);
    if (exists && r->kind == OP_ASSERT) r->when = build_binary(&c->b, OP_OR, r->when, build_unary(&c->b, OP_NOT, exists));
    r->when = build_broadcast(&c->b, when, r->when);
    if (places_add(r)) build_print(&c->b, r->kind, r->x, r->when, r->place, r->n, record_text(r, s, condition));
}

static bool refused_here(Kern *c, const Stmt *s, OpKind kind) {
    if (c->in_task && !c->in_merge) return false;
    diag_error(c->diags, s->loc, "print-place", "%s stands in a kernel's tasks, and in no merge block", op_phrase(kind));
    return true;
}

void print_lower(Kern *c, const Stmt *s) {
    const Exprs *args = &s->value->args;
    Record r = {.c = c, .kind = OP_PRINT, .at = ""};
    if (args->n < 1 || args->n > 2) {
        diag_error(c->diags, s->loc, "wrong-arguments", "print takes a value, and a condition of which elements to show: print(x, i < 4)");
        return;
    }
    if (refused_here(c, s, OP_PRINT)) return scope_touch(c->scope, s->value);
    r.shown = args->p[0];
    r.x = shown_value(c, expr_lower(c, args->p[0]));
    r.when = args->n > 1 ? condition_value(c, args->p[1]) : val_value(c, val_bool(true));
    c->b.loc = s->loc;
    if (r.x && r.when) record_build(&r, s, NULL);
}

static const char *value_text(void *ctx, const Expr *name) {
    Kern *c = ctx;
    Val v = expr_lower(c, name);
    if (v.kind == VAL_INT) return arena_format(c->arena, "%" PRId64, v.i);
    if (v.kind == VAL_FLOAT) return arena_format(c->arena, "%g", v.f);
    return v.kind == VAL_BOOL ? v.i ? "true" : "false" : NULL;
}

static void assert_constant(Kern *c, const Stmt *s) {
    assertion_failed(c->diags, s, c->bound->decl, c->bound->call, value_text, c);
}

/* assert c; assert(c, x): what is known at once needs no run. */
static void assert_value_lower(Kern *c, const Stmt *s) {
    const bool pair = s->value->kind == EXPR_TUPLE;
    const Expr *condition = pair ? s->value->args.p[0] : s->value;
    Record r = {.c = c, .kind = OP_ASSERT, .at = ""};
    if (pair && s->value->args.n != 2) {
        diag_error(c->diags, s->loc, "wrong-arguments", "assert takes a condition, and a value to show where it fails: assert(x < 4, x)");
        return;
    }
    if (refused_here(c, s, OP_ASSERT)) return scope_touch(c->scope, s->value);
    Val known = expr_lower(c, condition);
    if (known.kind == VAL_BOOL && (known.i || c->checking)) return;
    if (known.kind == VAL_BOOL) return assert_constant(c, s);
    r.when = condition_value(c, condition);
    r.shown = pair ? s->value->args.p[1] : NULL;
    r.x = pair ? shown_value(c, expr_lower(c, r.shown)) : r.when;
    c->b.loc = s->loc;
    if (r.x && r.when) record_build(&r, s, condition);
}

/* Sizes and constants of a kernel that nothing calls are guesses: they are not judged. */
void assert_lower(Kern *c, const Stmt *s) {
    if (c->in_task) return assert_value_lower(c, s);
    Val v = condition_lower(c, s->value);
    if (c->checking || v.kind == VAL_ERROR) return;
    if (v.kind != VAL_BOOL)
        assertion_unknown(c->diags, s, c->bound->decl, c->bound->call);
    else if (!v.i)
        assert_constant(c, s);
}
