/* attribute.c: what operations have beside operands, results and regions.
   Takes: operations. Gives: whether their attributes are equal, and only those that their kinds have; copies. */
#include "ir/ir.h"

#include <string.h>

static bool imm_equal(const Op *a, const Op *b) {
    return a->imm == b->imm && memcmp(&a->fimm, &b->fimm, sizeof a->fimm) == 0;
}

static bool range_equal(const Op *a, const Op *b) { return a->range == b->range; }

static bool over_equal(const Op *a, const Op *b) {
    return a->nover == b->nover && memcmp(a->over, b->over, sizeof *a->over * (size_t)a->nover) == 0;
}

static bool dimension_equal(const Op *a, const Op *b) { return size_equal(a->size, b->size); }

static bool axis_equal(const Op *a, const Op *b) { return a->axis == b->axis; }

static bool param_equal(const Op *a, const Op *b) { return a->param == b->param; }

static bool span_equal(const Span *a, const Span *b) {
    return affine_equal(&a->lo, &b->lo) && affine_equal(&a->hi, &b->hi);
}

static bool sub_equal(const Op *a, const Op *b) {
    if (a->sub.n != b->sub.n) return false;
    for (int i = 0; i < a->sub.n; i++)
        if (!span_equal(&a->sub.p[i], &b->sub.p[i])) return false;
    return true;
}

static bool mode_equal(const Op *a, const Op *b) { return a->mode == b->mode; }

static bool pipelined_equal(const Op *a, const Op *b) { return a->pipelined == b->pipelined; }

static bool deferred_equal(const Op *a, const Op *b) { return a->deferred == b->deferred; }

static bool by_equal(const Op *a, const Op *b) { return a->by == b->by; }

static bool ring_equal(const Op *a, const Op *b) { return a->ring == b->ring; }

static bool slot_equal(const Op *a, const Op *b) { return a->slot == b->slot; }

static bool turns_equal(const Op *a, const Op *b) {
    if (a->turn.n != b->turn.n || a->ends != b->ends || a->runs != b->runs || a->late != b->late) return false;
    if (a->down != b->down || a->unrolled != b->unrolled) return false;
    for (int i = 0; i < a->turn.n; i++) {
        const Turn *s = &a->turn.p[i], *t = &b->turn.p[i];
        if (s->piece != t->piece || s->shift != t->shift || s->alone != t->alone) return false;
    }
    return true;
}

static bool flag_equal(const Op *a, const Op *b) {
    return a->flag == b->flag && span_equal(&a->dest, &b->dest) && a->order == b->order && a->scope == b->scope &&
           a->lag == b->lag && a->equal == b->equal;
}

static const struct {
    int has;
    const char *name;
    bool (*equal)(const Op *, const Op *);
} attributes[] = {
    {HAS_IMM, "a number", imm_equal},       {HAS_RANGE, "a range", range_equal},
    {HAS_OVER, "ranges", over_equal},       {HAS_SIZE, "a dimension", dimension_equal},
    {HAS_AXIS, "a mesh axis", axis_equal},  {HAS_PARAM, "a parameter", param_equal},
    {HAS_SUB, "subscripts", sub_equal},     {HAS_MODE, "a mode", mode_equal},
    {HAS_PIPELINED, "`pipelined`", pipelined_equal}, {HAS_DEFERRED, "`deferred`", deferred_equal},
    {HAS_BY, "an instruction", by_equal},   {HAS_FLAG, "a flag", flag_equal},
    {HAS_RING, "a ring", ring_equal},       {HAS_SLOT, "a tile of a slot", slot_equal},
    {HAS_TURNS, "turns, `down` or `unrolled`", turns_equal},
};

enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

bool op_same_attributes(const Op *a, const Op *b) {
    if (a->kind != b->kind) return false;
    for (int i = 0; i < ATTRIBUTES; i++)
        if ((op_attributes(a->kind) & attributes[i].has) && !attributes[i].equal(a, b)) return false;
    return true;
}

const char *op_stray_attribute(const Op *op) {
    const Op blank = {.order = ORDER_ACQ_REL};
    for (int i = 0; i < ATTRIBUTES; i++)
        if (!(op_attributes(op->kind) & attributes[i].has) && !attributes[i].equal(op, &blank))
            return attributes[i].name;
    return NULL;
}

Op *op_like(Module *m, const Op *op) {
    Op *fresh = arena_copy(m->arena, op, sizeof *op);
    fresh->sub.p = op->sub.n ? arena_copy(m->arena, op->sub.p, sizeof *op->sub.p * (size_t)op->sub.n) : NULL;
    fresh->sub.cap = op->sub.n;
    fresh->turn.p = op->turn.n ? arena_copy(m->arena, op->turn.p, sizeof *op->turn.p * (size_t)op->turn.n) : NULL;
    fresh->turn.cap = op->turn.n;
    fresh->arg.p = fresh->res.p = NULL;
    fresh->arg.n = fresh->arg.cap = fresh->res.n = fresh->res.cap = 0;
    fresh->region[0] = fresh->region[1] = NULL;
    fresh->prev = fresh->next = NULL;
    fresh->in = NULL;
    return fresh;
}
