/* load_cse.c: a tile that a region loads twice is loaded once. Takes: value form. Gives: the same results. */
#include "passes/fuse/inline.h"
#include "passes/layout/layout.h"

static bool is_fixed(const Lay *l, const Op *op) {
    const Param *p = &l->k->param.p[op->param];
    return op->kind == OP_LOAD && op->res.p[0]->type.nrange && !p->out && !p->inout && p->ranks < 0;
}

static bool loads_agree(const Op *a, const Op *b) {
    return a->param == b->param && access_equal(a, b) && type_equal(a->res.p[0]->type, b->res.p[0]->type);
}

static void load_once(Lay *l, Op *op) {
    if (op->kind != OP_LOAD || !is_fixed(l, op)) return;
    for (Op *before = op->prev; before; before = before->prev) {
        if (before->kind != OP_LOAD || !is_fixed(l, before) || !loads_agree(before, op)) continue;
        region_replace(l->k->body, op->res.p[0], before->res.p[0]);
        op_remove(op);
        return;
    }
}

void lay_load_cse(Lay *l) { lay_each(l, l->k->body, load_once); }
