/* hoist.c: tiles that a loop does not change are loaded, and converted, once before it.
   Takes: value form. Gives: the same operations, loads of such tiles and their casts in front of the loop. */
#include "passes/layout/layout.h"

static bool affine_changes(const Affine *a, const Op *loop) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        bool ranged = t->kind == TERM_POS || t->kind == TERM_INDEX || t->kind == TERM_BLOCK;
        if (ranged && t->id == loop->range) return true;
        if (t->kind == TERM_VALUE && (t->value->def ? t->value->def->in : t->value->arg_of) == loop->region[0])
            return true;
    }
    return false;
}

/* A load of memory that the kernel does not write, whose place no step changes. */
static bool load_is_same(const Lay *l, const Op *op, const Op *loop) {
    const Param *p = &l->k->param.p[op->param];
    if (p->out || p->inout || p->ranks >= 0) return false;
    for (int d = 0; d < op->sub.n; d++)
        if (affine_changes(&op->sub.p[d].lo, loop)) return false;
    return true;
}

/* Not so large that it would take the registers of what the loop carries. */
static bool is_small(const Lay *l, Type t) {
    return lay_elements(l, t) * elem_value_bits(t.elem) / 32 <= l->target->registers / 8;
}

static bool can_move(const Lay *l, const Op *op, const Op *loop) {
    if (op->res.n != 1 || op->res.p[0]->type.nrange == 0 || !is_small(l, op->res.p[0]->type)) return false;
    if (op->kind == OP_LOAD) return load_is_same(l, op, loop);
    const Op *from = op->kind == OP_CAST ? op->arg.p[0]->def : NULL;
    return from && from->kind == OP_LOAD && from->in == loop->in;
}

static void hoist(Lay *l, Region *r);

static void hoist_from(Lay *l, Op *loop) {
    if (region_synchronises(loop->region[0])) return;
    for (Op *op = loop->region[0]->first, *next; op; op = next) {
        next = op->next;
        if (!can_move(l, op, loop)) continue;
        op_remove(op);
        op_insert_before(loop, op);
    }
}

/* Inner loops first: what leaves them may leave the outer ones too. */
static void hoist(Lay *l, Region *r) {
    for (Op *op = r ? r->first : NULL; op; op = op->next) {
        hoist(l, op->region[0]);
        hoist(l, op->region[1]);
        if (op->kind == OP_FOR) hoist_from(l, op);
    }
}

void lay_hoist(Lay *l) { hoist(l, l->k->body); }
