/* relation_guard.c: loops and conditions around an access, and values that are no plain sums, as isl reads them: quotients, remainders,
   minima and maxima. Takes: scalars of a kernel in value form. Gives: constraints that hold where the access is executed. */
#include "ir/poly/relation_text.h"

static bool write_value(RelationText *w, const Value *v);

static bool write_operands(RelationText *w, const Op *op, const char *before, const char *between, const char *after) {
    text_add(w->text, before);
    bool good = write_value(w, op->arg.p[0]);
    text_add(w->text, between);
    good = good && write_value(w, op->arg.p[1]);
    text_add(w->text, after);
    return good;
}

static bool is_number(const Value *v) { return v->def && v->def->kind == OP_CONST; }

/* a / q, a % q for a number q > 0: floor, as isl has it. */
static bool write_quotient(RelationText *w, const Op *op) {
    const Value *q = op->arg.p[1];
    if (!is_number(q) || q->def->imm < 1) return false;
    text_add(w->text, op->kind == OP_DIV ? "floor((" : "((");
    bool good = write_value(w, op->arg.p[0]);
    text_printf(w->text, op->kind == OP_DIV ? ")/%lld)" : ") mod %lld)", (long long)q->def->imm);
    return good;
}

static bool write_product(RelationText *w, const Op *op) {
    int number = is_number(op->arg.p[0]) ? 0 : is_number(op->arg.p[1]) ? 1 : -1;
    if (number < 0) return false;
    text_printf(w->text, "%lld*(", (long long)op->arg.p[number]->def->imm);
    bool good = write_value(w, op->arg.p[1 - number]);
    text_add(w->text, ")");
    return good;
}

static bool write_value(RelationText *w, const Value *v) {
    const Op *op = v->def;
    Affine a;
    if (!op || v->type.nrange || !elem_is_int(v->type.elem)) return false;
    if (value_affine(w->m, w->k, v, &a)) return relation_can_write(w, &a) && (relation_affine(w, &a), true);
    switch (op->kind) {
    case OP_CAST: return elem_bits(v->type.elem) == 64 && write_value(w, op->arg.p[0]);
    case OP_ADD: return write_operands(w, op, "(", ") + (", ")");
    case OP_SUB: return write_operands(w, op, "(", ") - (", ")");
    case OP_MIN: return write_operands(w, op, "min(", ", ", ")");
    case OP_MAX: return write_operands(w, op, "max(", ", ", ")");
    case OP_MUL: return write_product(w, op);
    case OP_DIV:
    case OP_MOD: return write_quotient(w, op);
    default: return false;
    }
}

bool relation_value(RelationText *w, const Value *v) { return relation_fits(w->m, w->k, v) && write_value(w, v); }

/* ---- conditions ---- */

static const struct {
    OpKind kind;
    const char *holds, *fails;
} relations[] = {{OP_EQ, "=", "!="}, {OP_NE, "!=", "="}, {OP_LT, "<", ">="}, {OP_LE, "<=", ">"}, {OP_GT, ">", "<="}, {OP_GE, ">=", "<"}};

static const char *relation_of(OpKind kind, bool holds) {
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (relations[i].kind == kind) return holds ? relations[i].holds : relations[i].fails;
    return NULL;
}

/* What cannot be written is true: the constraint then holds where the condition does, and elsewhere too. */
static bool write_always(RelationText *w, size_t mark) {
    w->text->n = mark;
    text_add(w->text, "1 > 0");
    return false;
}

static bool write_comparison(RelationText *w, const Op *op, bool holds) {
    size_t mark = w->text->n;
    const char *relation = relation_of(op->kind, holds);
    text_add(w->text, "(");
    if (!relation || !relation_value(w, op->arg.p[0])) return write_always(w, mark);
    text_printf(w->text, ") %s (", relation);
    if (!relation_value(w, op->arg.p[1])) return write_always(w, mark);
    text_add(w->text, ")");
    return true;
}

/* A scalar condition, or that it fails; false where it is not all of it: then more than it holds. */
static bool relation_condition(RelationText *, const Value *, bool holds);

static bool write_both(RelationText *w, const Op *op, bool holds) {
    bool all = (op->kind == OP_AND) == holds;
    text_add(w->text, "(");
    bool exact = relation_condition(w, op->arg.p[0], holds);
    text_add(w->text, all ? " and " : " or ");
    exact = relation_condition(w, op->arg.p[1], holds) && exact;
    text_add(w->text, ")");
    return exact;
}

static bool relation_condition(RelationText *w, const Value *v, bool holds) {
    const Op *op = v->def;
    if (!op || v->type.nrange) return write_always(w, w->text->n);
    switch (op->kind) {
    case OP_CONST: text_add(w->text, (op->imm != 0) == holds ? "1 > 0" : "1 < 0"); return true;
    case OP_NOT: return relation_condition(w, op->arg.p[0], !holds);
    case OP_AND:
    case OP_OR: return write_both(w, op, holds);
    default: return write_comparison(w, op, holds);
    }
}

bool relation_guards(RelationText *w, const Op *access) {
    bool exact = true;
    for (const Region *r = access->in; r->parent; r = r->parent->in) {
        if (r->parent->kind != OP_IF) continue;
        text_add(w->text, " and ");
        exact = relation_condition(w, r->parent->arg.p[0], r == r->parent->region[0]) && exact;
    }
    return exact;
}

static void write_less(RelationText *w, const Affine *x, const Affine *bound) {
    if (!relation_can_write(w, bound)) return;
    text_add(w->text, " and ");
    relation_affine(w, x);
    text_add(w->text, " < ");
    relation_affine(w, bound);
}

static void write_below(RelationText *, const Affine *x, const Value *bound);

/* x < end of the range's tile: what a tile has, and what there is. */
static void write_below_end(RelationText *w, const Affine *x, const Op *end) {
    const Range *r = &w->k->range.p[end->range];
    Affine last = affine_const(0), size = affine_const(r->size);
    if (r->kind != RANGE_WHOLE && range_begin(w->m, w->k, end->range, end, &last) && affine_add(&last, &size, 1))
        write_less(w, x, &last);
    Affine of = affine_size(r->of);
    const Op *loop = range_loop(end, end->range);
    if (r->grid) write_less(w, x, &of);
    else if (loop) write_below(w, x, loop->arg.p[1]);
}

/* x < bound, or each bound of a minimum, where that is affine. */
static void write_below(RelationText *w, const Affine *x, const Value *bound) {
    const Op *op = bound->def;
    Affine a;
    if (op && op->kind == OP_END) write_below_end(w, x, op);
    else if (op && op->kind == OP_MIN)
        for (int i = 0; i < 2; i++) write_below(w, x, op->arg.p[i]);
    else if (relation_fits(w->m, w->k, bound) && value_affine(w->m, w->k, bound, &a)) write_less(w, x, &a);
}

void relation_loops(RelationText *w, const Op *access) {
    for (const Op *up = access->in->parent; up; up = up->in->parent) {
        Affine first;
        bool known = up->kind == OP_FOR && up->in && range_begin(w->m, w->k, up->range, access, &first);
        if (known && relation_can_write(w, &first)) write_below(w, &first, up->arg.p[1]);
    }
    relation_guards(w, access);
}
