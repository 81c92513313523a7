/* body.c: the operations of a region in order; loops and conditions with the values they carry. */
#include "codegen/text/access.h"
#include "codegen/text/size.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

static const CExpr *scalar_text(Fn *f, const Value *v) {
    Nest n = nest_new(f, NULL, 0);
    const CExpr *text = nest_value(&n, v);
    nest_print(&n);
    return cexpr_bare(text);
}

/* ---- yields ---- */

/* The values that a yield gives on: arguments of the loop, or results of the condition. */
static Value *const *yield_targets(const Op *yield) {
    const Op *parent = yield->in->parent;
    return parent->kind == OP_FOR ? yield->in->arg.p : parent->res.p;
}

static bool reads_other_target(Fn *f, const Op *yield, int k) {
    for (int i = 0; i < yield->arg.n; i++)
        if (i != k && reads(f, yield->arg.p[k], yield_targets(yield)[i])) return true;
    return false;
}

static void move_aside(Fn *f, const Value *v, Held *held) {
    *held = *fn_held(f, v);
    if (v->type.nrange) {
        Tile aside = tile_of_value(f, v, v->type.elem, -1);
        tile_place(f, &aside, fn_value_name(f, v));
        emit_copy(f, &aside, v);
        held->tile = aside;
        held->hold = HOLD_TILE;
    } else {
        held->name = c_name(&f->names, fn_value_name(f, v));
        fn_line(f, "const %s %s = %s;", elem_c(v->type.elem), held->name, scalar_text(f, v)->text);
        held->hold = HOLD_SCALAR;
    }
}

static void yield_one(Fn *f, const Value *v, const Value *to) {
    Held *h = fn_held(f, to);
    if (v->type.nrange) {
        emit_copy(f, &h->tile, v);
        return;
    }
    const char *text = scalar_text(f, v)->text;
    if (strcmp(text, h->name)) fn_line(f, "%s = %s;", h->name, text);
}

/* All at once: what reads another target is copied before any target changes. */
static void emit_yield(Fn *f, const Op *op) {
    Held *aside = ARENA_ARRAY(f->arena, Held, op->arg.n + 1);
    Value *const *to = yield_targets(op);
    bool loop = op->in->parent->kind == OP_FOR;
    for (int i = 0; i < op->arg.n && loop; i++)
        if (reads_other_target(f, op, i)) move_aside(f, op->arg.p[i], &aside[i]);
    for (int i = 0; i < op->arg.n; i++) {
        Held *h = fn_held(f, op->arg.p[i]), was = *h;
        if (aside[i].hold) *h = aside[i];
        yield_one(f, op->arg.p[i], to[i]);
        if (aside[i].hold) *h = was;
    }
}

/* ---- loops ---- */

static bool operands_read(Fn *f, const Op *op, int first, int end, const Value *leaf) {
    for (int i = first; i < end && i < op->arg.n; i++)
        if (reads(f, op->arg.p[i], leaf)) return true;
    return false;
}

/* The operation may write where the carried value is: it reads no element of it after writing another's place. */
static bool may_be_made_in(Fn *f, const Op *op, const Value *carried) {
    const Held *h = fn_held(f, carried), *made = fn_held(f, op->res.p[0]);
    if (made->hold != HOLD_TILE || h->last > made->at || op->kind == OP_FOR || op->kind == OP_IF) return false;
    switch (op_info[op->kind].class) {
    case CLASS_DOT: return !operands_read(f, op, 0, 2, carried);
    case CLASS_REDUCE:
    case CLASS_CONVERT:
    case CLASS_PREFIX: return !operands_read(f, op, 0, 1, carried);
    default: return true;
    }
}

/* Yielded values are made where the loop carries them, if nothing still reads the old ones. */
static void offer_places(Fn *f, const Op *loop) {
    const Region *body = loop->region[0];
    const Op *yield = body->last;
    for (int i = 0; i < loop->res.n; i++) {
        const Value *v = yield->arg.p[i], *carried = body->arg.p[i];
        Held *h = fn_held(f, v);
        if (!v->type.nrange || !v->def || v->def->in != body || h->into || !type_equal(v->type, carried->type))
            continue;
        if (may_be_made_in(f, v->def, carried)) h->into = &fn_held(f, carried)->tile;
    }
}

/* The value that the region's own loop carries in this place, if there is one: its number; -1: none does. */
static int carried_in(Fn *f, const Region *r, const Tile *t) {
    const bool loop = r->parent && r->parent->kind == OP_FOR;
    for (int i = 0; loop && i < r->arg.n; i++)
        if (r->arg.p[i]->type.nrange && fn_held(f, r->arg.p[i])->tile.name == t->name) return i;
    return -1;
}

static bool is_of_region(const Region *r, const Value *v) {
    for (int i = 0; i < r->arg.n; i++)
        if (r->arg.p[i] == v) return true;
    return v->def && v->def->in == r;
}

/* A loop goes on where its first value lies, which nothing else reads. A place in which the loop around carries a value
   then has that value's next one. */
static bool goes_on(Fn *f, const Op *loop, int i, int16_t fastest) {
    const Value *init = loop->arg.p[i + 2];
    const Held *h = fn_held(f, init);
    if (f->back->loads_apart || h->hold != HOLD_TILE || !h->tile.name || !is_of_region(loop->in, init)) return false;
    if (h->last > fn_held(f, loop->res.p[i])->at || !type_equal(init->type, loop->res.p[i]->type)) return false;
    if (fastest >= 0 && h->tile.range[h->tile.n - 1] != fastest) return false;
    for (int j = 2; j < loop->arg.n; j++)
        if (j != i + 2 && loop->arg.p[j] == init) return false;
    const int home = carried_in(f, loop->in, &h->tile);
    return home < 0 || loop->in->last->arg.p[home] == loop->res.p[i];
}

static void carry(Fn *f, const Op *loop, int i) {
    const Value *init = loop->arg.p[i + 2], *arg = loop->region[0]->arg.p[i];
    Held *result = fn_held(f, loop->res.p[i]), *carried = fn_held(f, arg);
    const char *name = arg->name ? arg->name : fn_value_name(f, loop->res.p[i]);
    int16_t fastest = carried->fastest >= 0 ? carried->fastest : result->fastest;
    if (arg->type.nrange && goes_on(f, loop, i, fastest))
        carried->tile = fn_held(f, init)->tile;
    else if (arg->type.nrange) {
        carried->tile = tile_of_value(f, arg, arg->type.elem, fastest);
        tile_place(f, &carried->tile, name);
        emit_copy(f, &carried->tile, init);
    } else {
        carried->name = c_name(&f->names, name);
        fn_line(f, "%s %s = %s;", elem_c(arg->type.elem), carried->name, scalar_text(f, init)->text);
    }
    result->tile = carried->tile;
    result->name = carried->name;
}

static const CExpr *bound_text(Fn *f, const Value *v, const char *wanted) {
    const CExpr *text = scalar_text(f, v);
    if (cexpr_is_named(text)) return text;
    const char *name = c_name(&f->names, wanted);
    fn_line(f, "const int64_t %s = %s;", name, text->text);
    return cexpr_name(f, name);
}

static void loop_open(Fn *f, const Op *op, const CExpr *lo, const CExpr *hi) {
    const Range *r = &f->k->range.p[op->range];
    const char *var = f->range[op->range].begin->text;
    if (r->kind == RANGE_WHOLE)
        fn_line(f, "{");
    else if (r->kind == RANGE_POSITION)
        fn_line(f, "for (int64_t %s = %s; %s < %s; %s++) {", var, lo->text, var, hi->text, var);
    else
        fn_line(f, "for (int64_t %s = %s; %s < %s; %s += %" PRId64 ") {", var, lo->text, var, hi->text, var, r->size);
}

/* The extent of the current tile gets a name where the body uses it and it is no number. */
static const CExpr *count_line(Fn *f, int range) {
    RangeText *r = &f->range[range];
    int64_t n;
    if (cexpr_const(r->count, &n)) return NULL;
    const CExpr *value = r->count;
    r->count = cexpr_name(f, c_name(&f->names, fn_text(f, "n%s", f->k->range.p[range].name)));
    return value;
}

static void settle(Fn *f) {
    if (f->back->settle) f->back->settle(f);
}

void emit_for_head(Fn *f, const Op *op, const CExpr **lo, const CExpr **hi) {
    const char *range = f->k->range.p[op->range].name;
    *lo = bound_text(f, op->arg.p[0], fn_text(f, "%s_begin", range));
    *hi = bound_text(f, op->arg.p[1], fn_text(f, "%s_end", range));
    for (int i = 0; i < op->res.n; i++) carry(f, op, i);
    offer_places(f, op);
    range_text_for(f, op, *lo, *hi);
    settle(f);
}

void emit_for_steps(Fn *f, const Op *op, const CExpr *lo, const CExpr *hi) {
    loop_open(f, op, lo, hi);
    const CExpr *count = count_line(f, op->range);
    Text before = f->body;
    int64_t mark = f->scratch;
    f->body = (Text){0};
    f->indent++;
    emit_region(f, op->region[0]);
    settle(f);
    Text inside = f->body;
    f->body = before;
    const char *name = f->range[op->range].count->text;
    if (count && text_has_word(text_str(&inside), name)) fn_line(f, "const int64_t %s = %s;", name, count->text);
    text_add(&f->body, text_str(&inside));
    text_free(&inside);
    f->indent--;
    fn_line(f, "}");
    f->scratch = mark;
}

static void emit_for(Fn *f, const Op *op) {
    const CExpr *lo, *hi;
    emit_for_head(f, op, &lo, &hi);
    if (f->back->before_loop) f->back->before_loop(f, op);
    emit_for_steps(f, op, lo, hi);
    if (f->back->after_loop) f->back->after_loop(f, op);
}

/* ---- conditions ---- */

static void result_place(Fn *f, const Value *v) {
    Held *h = fn_held(f, v);
    if (v->type.nrange) {
        h->tile = tile_of_value(f, v, v->type.elem, h->fastest);
        tile_place(f, &h->tile, fn_value_name(f, v));
    } else {
        h->name = c_name(&f->names, fn_value_name(f, v));
        fn_line(f, "%s %s;", elem_c(v->type.elem), h->name);
    }
}

static void emit_branch(Fn *f, const Region *r) {
    int64_t mark = f->scratch;
    f->indent++;
    emit_region(f, r);
    settle(f);
    f->indent--;
    f->scratch = mark;
}

static void emit_if(Fn *f, const Op *op) {
    for (int i = 0; i < op->res.n; i++) result_place(f, op->res.p[i]);
    settle(f);
    fn_line(f, "if (%s) {", scalar_text(f, op->arg.p[0])->text);
    emit_branch(f, op->region[0]);
    if (op->region[1] && op->region[1]->first && (op->res.n || op->region[1]->first->kind != OP_YIELD)) {
        fn_line(f, "} else {");
        emit_branch(f, op->region[1]);
    }
    fn_line(f, "}");
}

/* ---- regions ---- */

static void emit_op(Fn *f, const Op *op) {
    bool tile = op->res.n && op->res.p[0]->type.nrange;
    if (f->back->make && f->back->make(f, op)) return;
    switch (op->kind) {
    case OP_FOR:
        if (!f->back->loop || !f->back->loop(f, op)) emit_for(f, op);
        break;
    case OP_IF: emit_if(f, op); break;
    case OP_YIELD: emit_yield(f, op); break;
    case OP_GROUP: range_text_group(f, op); break;
    default:
        if (op_is_expression(op) || (op->kind == OP_LOAD && !(tile && f->back->loads_apart)))
            emit_compute(f, op->res.p[0]);
        else
            f->back->step(f, op);
    }
}

bool is_step(Fn *f, const Op *op) {
    if (op->kind == OP_YIELD) return op->arg.n > 0;
    if (op_info[op->kind].class == CLASS_ROLE || op->kind == OP_GROUP) return true;
    if (op->res.n == 0 || op->kind == OP_FOR || op->kind == OP_IF) return true;
    const Held *h = fn_held(f, op->res.p[0]);
    return h->reader.op && h->hold != HOLD_INLINE && h->hold != HOLD_UNUSED && !h->ahead;
}

void emit_ahead(Fn *f, const Op *op) {
    fn_source_line(f, op->loc);
    emit_op(f, op);
    fn_held(f, op->res.p[0])->ahead = true;
}

static void emit_ops(Fn *f, const Region *r, int piece) {
    for (const Op *op = r->first; op && !f->failed; op = op->next) {
        if (piece >= 0 && op->piece != piece) continue;
        if (f->back->before) f->back->before(f, op);
        if (!is_step(f, op)) continue;
        if (op->kind != OP_YIELD) fn_source_line(f, op->loc);
        emit_op(f, op);
    }
}

void emit_region(Fn *f, const Region *r) { emit_ops(f, r, -1); }

void emit_piece(Fn *f, const Region *r, int piece) { emit_ops(f, r, piece); }
