/* atom.c: the report of a violation; sizes, types and affine sums: everything they name exists and is in scope. */
#include "ir/verify/verify.h"
#include "base/text.h"

void violation(Verifier *v, Loc loc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Text message = {0};
    text_vprintf(&message, format, args);
    va_end(args);
    if (v->name)
        diag_error(v->m->diags, loc, "invalid-ir", "%s '%s': %s", v->what, v->name, text_str(&message));
    else
        diag_error(v->m->diags, loc, "invalid-ir", "%s", text_str(&message));
    text_free(&message);
    v->violations++;
}

bool axis_verify(Verifier *v, Loc loc, int axis) {
    if (axis >= 0 && axis < v->m->axis.n) return true;
    violation(v, loc, "there is no mesh axis %d", axis);
    return false;
}

bool axis_list_verify(Verifier *v, Loc loc, int axes) {
    for (int a = axes; a >= 0; a = axes_rest(a)) {
        if (!axis_verify(v, loc, axes_first(a))) return false;
        if (!axes_have(axes_rest(a), axes_first(a))) continue;
        violation(v, loc, "a dimension is split twice over one mesh axis");
        return false;
    }
    return true;
}

bool size_verify(Verifier *v, Loc loc, Size s) {
    int before = v->violations;
    if (s.sym < -1 || s.sym >= v->m->symbol.n) violation(v, loc, "there is no dim %d", s.sym);
    if (s.c < -MAX_EXTENT || s.c > MAX_EXTENT)
        violation(v, loc, "the number %lld of an extent is beyond 2^40", (long long)s.c);
    axis_list_verify(v, loc, s.axis);
    return v->violations == before;
}

bool extent_verify(Verifier *v, Loc loc, Size s) {
    if (!size_verify(v, loc, s)) return false;
    if (size_bound(v->m, size_whole(s)) >= 0 && size_bound(v->m, size_whole(s)) <= MAX_EXTENT) return true;
    violation(v, loc, "an extent is negative or beyond 2^40");
    return false;
}

void shape_verify(Verifier *v, Loc loc, const Size *dim, int ndim, Elem e) {
    int64_t bytes = (elem_bits(e) + 7) / 8;
    bool over = false;
    for (int i = 0; i < ndim; i++) {
        if (!extent_verify(v, loc, dim[i])) return;
        int64_t n = size_bound(v->m, size_whole(dim[i]));
        over |= __builtin_mul_overflow(bytes, n ? n : 1, &bytes);
    }
    if (over || bytes > MAX_BYTES) violation(v, loc, "the extents multiply to 2^51 bytes or more");
}

bool range_verify(Verifier *v, Loc loc, int range) {
    if (range < 0 || range >= v->k->range.n)
        violation(v, loc, "there is no range %d", range);
    else if (!v->range_open[range])
        violation(v, loc, "range '%s' is used outside its loop", v->k->range.p[range].name);
    else
        return true;
    return false;
}

static bool term_names(Verifier *v, Loc loc, const Term *t) {
    switch (t->kind) {
    case TERM_INDEX: return (t->id >= 0 && t->id < v->k->ngrid) || range_verify(v, loc, t->id); /* the task's: always known */
    case TERM_POS: return range_verify(v, loc, t->id);
    case TERM_RANK: return axis_verify(v, loc, t->id);
    case TERM_SIZE: return size_verify(v, loc, t->size);
    case TERM_BLOCK:
        if (!range_verify(v, loc, t->id) || !size_verify(v, loc, t->size)) return false;
        if (v->k->range.p[t->id].kind == RANGE_POSITION) return true;
        violation(v, loc, "block() needs a position range");
        return false;
    case TERM_VALUE: break;
    }
    const Value *x = t->value;
    if (x && x->id >= 0 && x->id < v->k->nvalue && v->value[x->id] == x && v->visible[x->id]) {
        if (elem_is_int(x->type.elem)) return true;
        violation(v, loc, "a value of type %s is part of a subscript", elem_text(x->type.elem));
    } else {
        violation(v, loc, "a subscript has a value that is not defined there");
    }
    return false;
}

static bool term_verify(Verifier *v, Loc loc, const Term *t) {
    if (!term_names(v, loc, t)) return false;
    if (t->div >= 1 && t->div <= VERIFY_FACTOR && t->mul >= -VERIFY_FACTOR && t->mul <= VERIFY_FACTOR) return true;
    violation(v, loc, "a divisor is below 1, or a factor or divisor beyond 2^31");
    return false;
}

bool affine_verify(Verifier *v, Loc loc, const Affine *a) {
    if (a->nterm < 0 || a->nterm > MAX_TERMS) {
        violation(v, loc, "a sum has %d terms, more than %d", a->nterm, MAX_TERMS);
        return false;
    }
    Type t = type_scalar(ELEM_I64);
    for (int i = 0; i < a->nterm; i++) {
        Affine one = {.nterm = 1, .term = {a->term[i]}};
        if (!term_verify(v, loc, &a->term[i]) || !type_unite(v, loc, &t, affine_type(v->k, &one))) return false;
    }
    if (a->c >= -MAX_EXTENT && a->c <= MAX_EXTENT) return true;
    violation(v, loc, "the constant of a sum is beyond 2^40");
    return false;
}

bool type_verify(Verifier *v, Loc loc, Type t) {
    if (t.elem >= ELEM_COUNT || t.nrange < 0 || t.nrange > MAX_RANGES) {
        violation(v, loc, "a type is malformed");
        return false;
    }
    for (int i = 0; i < t.nrange; i++) {
        if (!range_verify(v, loc, t.range[i])) return false;
        const Range *r = &v->k->range.p[t.range[i]];
        if (r->kind == RANGE_POSITION) {
            violation(v, loc, "position range '%s' stands in a type", r->name);
            return false;
        }
        if (i == 0 || t.range[i - 1] < t.range[i]) continue;
        violation(v, loc, "the ranges of a type are not in ascending order");
        return false;
    }
    return true;
}

bool type_unite(Verifier *v, Loc loc, Type *t, Type other) {
    for (int i = 0; i < other.nrange; i++) {
        if (type_has(*t, other.range[i])) continue;
        if (t->nrange == MAX_RANGES) {
            violation(v, loc, "more than %d ranges", MAX_RANGES);
            return false;
        }
        *t = type_with(*t, other.range[i]);
    }
    return true;
}

const char *type_text(Verifier *v, Type t) {
    Text text = {0};
    text_add(&text, elem_text(t.elem));
    for (int i = 0; i < t.nrange; i++) {
        bool known = t.range[i] >= 0 && t.range[i] < v->k->range.n;
        text_printf(&text, "%s%s", i ? ", " : "<", known ? v->k->range.p[t.range[i]].name : "?");
    }
    if (t.nrange) text_add(&text, ">");
    const char *s = arena_text(v->scratch, text_str(&text), text.n);
    text_free(&text);
    return s;
}

void result_expect(Verifier *v, const Op *op, Type t) {
    if (op->res.n != 1)
        violation(v, op->loc, "%s has %d results, not 1", op_info[op->kind].text, op->res.n);
    else if (!type_equal(op->res.p[0]->type, t))
        violation(v, op->loc, "%s gives %s, not %s", op_info[op->kind].text, type_text(v, t), type_text(v, op->res.p[0]->type));
}
