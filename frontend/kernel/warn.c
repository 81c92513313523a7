/* warn.c: warnings about the body of an instance: values of iterations that are lost, subscripts that are never inside.
   Takes a lowered kernel without dead code; changes nothing. */
#include "frontend/kernel/kernel.h"

#include "ir/uses.h"

/* ---- a value that every iteration overwrites ---- */

typedef struct {
    const Op *loop;
    bool *seen;   /* by value id */
    bool carried; /* the value depends on what an iteration before left */
    bool varies;  /* it depends on the loop's range */
} Origin;

static void origin_of(Origin *, const Value *);

static bool affine_names(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind <= TERM_INDEX && a->term[i].id == range) return true;
    return false;
}

static void origin_of_affine(Origin *o, const Affine *a) {
    o->varies = o->varies || affine_names(a, o->loop->range);
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE) origin_of(o, a->term[i].value);
}

static void origin_of_yield(Origin *o, const Region *r) {
    const Op *end = r ? r->last : NULL;
    for (int i = 0; end && i < end->arg.n; i++) origin_of(o, end->arg.p[i]);
}

static void origin_of_op(Origin *o, const Op *op) {
    o->varies = o->varies || (op_info[op->kind].class == CLASS_INDEX && op->range == o->loop->range);
    for (int i = 0; i < op->arg.n; i++) origin_of(o, op->arg.p[i]);
    for (int i = 0; i < op->sub.n; i++) origin_of_affine(o, &op->sub.p[i].lo);
    for (int i = 0; i < 2; i++) origin_of_yield(o, op->region[i]);
}

static void origin_of(Origin *o, const Value *v) {
    if (o->seen[v->id]) return;
    o->seen[v->id] = true;
    o->varies = o->varies || type_has(v->type, o->loop->range);
    o->carried = o->carried || v->arg_of == o->loop->region[0];
    if (v->def) origin_of_op(o, v->def);
}

static bool is_overwritten(Kern *c, const Uses *uses, const Op *loop, const Value *arg, const Value *next) {
    Origin o = {.loop = loop, .seen = ARENA_ARRAY(c->arena, bool, c->b.k->nvalue + 1)};
    if (uses->count[arg->id]) return false;
    origin_of(&o, next);
    return o.varies && !o.carried;
}

static void overwritten_report(Kern *c, const Op *loop, const Value *arg, const Value *next) {
    Loc loc = next->def && next->def->loc.file ? next->def->loc : loop->loc;
    diag_warning(c->diags, loc, "overwritten-in-loop", "every iteration over '%s' overwrites '%s': the last one alone counts",
                 c->b.k->range.p[loop->range].name, arg->name);
    diag_note(c->diags, loc, "to add up what they give, write '%s += ..'", arg->name);
}

static void loop_warn(Kern *c, const Uses *uses, const Op *loop) {
    const Region *body = loop->region[0];
    for (int i = 0; i < body->arg.n; i++) {
        const Value *arg = body->arg.p[i], *next = body->last->arg.p[i];
        if (arg->name && is_overwritten(c, uses, loop, arg, next)) overwritten_report(c, loop, arg, next);
    }
}

/* ---- a constant place that no extent of the tensor reaches ---- */

static void outside_warn(Kern *c, const Op *op) {
    const Param *p = &c->b.k->param.p[op->param];
    for (int d = 0; d < op->sub.n && d < p->ndim; d++) {
        const Affine *a = &op->sub.p[d].lo;
        bool known = affine_is_const(a) && size_is_number(p->dim[d]);
        if (!known || (a->c >= 0 && a->c < p->dim[d].c)) continue;
        diag_warning(c->diags, op->loc, "always-outside", "place %lld is outside of '%s', which has %lld along dimension %d",
                     (long long)a->c, p->name, (long long)p->dim[d].c, d);
        diag_note(c->diags, op->loc, op->kind == OP_LOAD ? "what is read there is 0" : "what is stored there is dropped");
    }
}

void kernel_warn(Kern *c) {
    const Region *body = c->b.k->body;
    const Uses uses = uses_of(c->b.k, c->arena);
    for (const Op *op = walk(body); op; op = walk_next(op, body)) {
        if (op->kind == OP_FOR) loop_warn(c, &uses, op);
        if ((op->kind == OP_LOAD || op->kind == OP_STORE) && !c->checking) outside_warn(c, op);
    }
}
