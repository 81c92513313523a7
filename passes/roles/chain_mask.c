/* chain_mask.c: masks by positions, as causal ones: a tile that the mask shows as a whole is not masked.
   Takes: selects of a step whose condition compares sums of positions. Gives: a condition of the whole tile around
   each. */
#include "passes/roles/slice.h"

#include <math.h>

typedef struct {
    Value *least, *most; /* of an integer tile, scalars; NULL: not known */
} Bounds;

static Bounds bounds_of(Cut *c, const Value *v);

/* Where the task's tile of the grid begins and ends is a scalar of all roles: a group of its own has a share of it. */
static Value *edge(Cut *c, OpKind kind, int range) {
    Builder b = c->b;
    if (c->s->k->range.p[range].grid) b.at = c->s->k->roles->scalars;
    return build_index(&b, kind, range);
}

static Bounds bounds_of_positions(Cut *c, int range) {
    Value *past = edge(c, OP_END, range);
    return (Bounds){edge(c, OP_BEGIN, range), build_binary(&c->b, OP_SUB, past, build_const_i(&c->b, ELEM_I64, 1))};
}

static double reach_of(const Kernel *k, const Value *v);

static double reach_of_positions(const Kernel *k, int range) {
    const Op *loop = kernel_loop(k, range);
    return loop ? fmax(reach_of(k, loop->arg.p[0]), reach_of(k, loop->arg.p[1])) : (double)MAX_EXTENT;
}

/* How far from 0 an integer can be; INFINITY: it is not known, or sums wrap. */
static double reach_of(const Kernel *k, const Value *v) {
    const Op *op = v->def;
    if (elem_bits(v->type.elem) <= 32) return (double)UINT32_MAX;
    double reach = INFINITY;
    switch (op ? op->kind : OP_COUNT) {
    case OP_CONST: reach = fabs((double)op->imm); break;
    case OP_SIZE:
    case OP_ORIGIN: reach = (double)MAX_EXTENT; break;
    case OP_BEGIN:
    case OP_END:
    case OP_POS: reach = reach_of_positions(k, op->range); break;
    case OP_CAST:
        if (elem_is_float(op->arg.p[0]->type.elem)) break; /* fall through */
    case OP_BROADCAST: reach = reach_of(k, op->arg.p[0]); break;
    case OP_ADD:
    case OP_SUB: reach = reach_of(k, op->arg.p[0]) + reach_of(k, op->arg.p[1]); break;
    case OP_MUL: reach = reach_of(k, op->arg.p[0]) * reach_of(k, op->arg.p[1]); break;
    case OP_MIN:
    case OP_MAX: reach = fmax(reach_of(k, op->arg.p[0]), reach_of(k, op->arg.p[1])); break;
    default: break;
    }
    return reach < 0x1p62 ? reach : INFINITY;
}

/* Bounds of a sum are sums of bounds where nothing wraps. */
static Bounds bounds_of_sum(Cut *c, const Op *op) {
    if (reach_of(c->s->k, op->res.p[0]) == INFINITY) return (Bounds){0};
    Bounds x = bounds_of(c, op->arg.p[0]), y = bounds_of(c, op->arg.p[1]);
    if (!x.least || !y.least) return (Bounds){0};
    const bool less = op->kind == OP_SUB;
    return (Bounds){build_binary(&c->b, op->kind, x.least, less ? y.most : y.least),
                    build_binary(&c->b, op->kind, x.most, less ? y.least : y.most)};
}

static Bounds bounds_of(Cut *c, const Value *v) {
    const Op *op = v->def;
    if (v->type.nrange == 0) return (Bounds){cut_value(c, v), cut_value(c, v)};
    if (op && op->kind == OP_POS) return bounds_of_positions(c, op->range);
    if (op && op->kind == OP_BROADCAST) return bounds_of(c, op->arg.p[0]);
    if (op && v->type.elem == ELEM_I64 && (op->kind == OP_ADD || op->kind == OP_SUB)) return bounds_of_sum(c, op);
    return (Bounds){0};
}

/* A scalar that says that the condition holds everywhere in the tile; NULL: none is known. */
static Value *holds_all(Cut *c, const Value *v) {
    const Op *op = v->def;
    if (v->type.nrange == 0) return cut_value(c, v);
    if (!op || op->arg.n != 2) return NULL;
    if (op->kind == OP_AND || op->kind == OP_OR) {
        Value *x = holds_all(c, op->arg.p[0]), *y = holds_all(c, op->arg.p[1]);
        if (x && y) return build_binary(&c->b, op->kind, x, y);
        return op->kind == OP_OR ? (x ? x : y) : NULL;
    }
    const bool below = op->kind == OP_LE || op->kind == OP_LT, above = op->kind == OP_GE || op->kind == OP_GT;
    if ((!below && !above) || op->arg.p[0]->type.elem != ELEM_I64) return NULL;
    Bounds x = bounds_of(c, op->arg.p[0]), y = bounds_of(c, op->arg.p[1]);
    if (!x.least || !y.least) return NULL;
    return build_binary(&c->b, op->kind, below ? x.most : x.least, below ? y.least : y.most);
}

/* The condition anew, where it is needed: elsewhere nothing is left of it. */
static Value *made_here(Cut *c, const Value *v) {
    const Op *op = v->def;
    Value *narrow = op ? chain_narrow(c, op) : NULL;
    if (narrow) return narrow;
    if (v->type.nrange == 0 || !op || !(op_is_elementwise(op) || op->kind == OP_POS)) return cut_value(c, v);
    Op *fresh = op_like(c->b.m, op);
    for (int i = 0; i < op->arg.n; i++) vec_push(c->b.m->arena, &fresh->arg, made_here(c, op->arg.p[i]));
    op_append_to(c->b.at, fresh);
    return op_result(c->b.m, c->b.k, fresh, v->type);
}

/* Numbers of positions alone are compared. */
static bool is_of_positions(const Value *v) {
    const Op *op = v->def;
    if (v->type.nrange == 0 || (op && op->kind == OP_POS)) return true;
    bool all = op && (op_is_elementwise(op) || op->kind == OP_BROADCAST) && !elem_is_float(v->type.elem);
    for (int i = 0; all && i < op->arg.n; i++) all = is_of_positions(op->arg.p[i]);
    return all;
}

static bool is_least(const Value *v) {
    while (v->def && v->def->kind == OP_BROADCAST) v = v->def->arg.p[0];
    return v->def && v->def->kind == OP_CONST && elem_is_float(v->type.elem) && v->def->fimm == -INFINITY;
}

/* Numbers that are loaded are compared, too: which tiles show all of themselves waves find out. */
static bool select_unscaled(Cut *c, const Op *op) {
    Value *factor = NULL, *other = cut_value(c, op->arg.p[2]);
    Value *bare = is_least(other) ? chain_unscaled(c, cut_value(c, op->arg.p[1]), &factor) : NULL; /* -inf stays so */
    if (!bare || !type_equal(bare->type, op->res.p[0]->type)) return false;
    Value *masked = build_select(&c->b, cut_value(c, op->arg.p[0]), bare, other);
    cut_name(c, op->res.p[0], build_binary(&c->b, OP_MUL, masked, factor));
    return true;
}

bool chain_select(Cut *c, const Op *op) {
    const Value *seen = op->arg.p[0], *made = op->res.p[0];
    Value *factor = NULL;
    if (made->type.nrange != 2 || seen->type.nrange != 2) return false;
    c->b.loc = op->loc;
    if (!is_of_positions(seen)) return select_unscaled(c, op);
    Value *all = holds_all(c, seen), *x = cut_value(c, op->arg.p[1]), *other = cut_value(c, op->arg.p[2]);
    if (!all || !type_equal(x->type, made->type)) return false;
    Value *bare = is_least(other) ? chain_unscaled(c, x, &factor) : NULL; /* -inf stays so */
    if (bare) x = bare;
    Op *whole = build_if(&c->b, all, &made->type, 1);
    Region *at = c->b.at;
    c->b.at = whole->region[0];
    build_yield(&c->b, &x, 1);
    c->b.at = whole->region[1];
    Value *masked = build_select(&c->b, made_here(c, seen), x, other);
    build_yield(&c->b, &masked, 1);
    c->b.at = at;
    cut_name(c, made, bare ? build_binary(&c->b, OP_MUL, whole->res.p[0], factor) : whole->res.p[0]);
    return true;
}
