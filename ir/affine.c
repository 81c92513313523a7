/* affine.c: sums of terms mul * floor(var / div), plus a constant. */
#include "ir/ir.h"

Affine affine_const(int64_t c) { return (Affine){.c = c}; }

static Term term_of(TermKind kind, int id, int64_t mul, int64_t div) {
    return (Term){.kind = kind, .id = (int16_t)id, .size = {0, -1, -1}, .mul = mul, .div = div};
}

Affine affine_term(TermKind kind, int id, int64_t mul, int64_t div) {
    return (Affine){.nterm = 1, .term = {term_of(kind, id, mul, div)}};
}

Affine affine_value(Value *v) {
    Affine a = affine_term(TERM_VALUE, -1, 1, 1);
    a.term[0].value = v;
    return a;
}

Affine affine_size(Size s) {
    if (size_is_number(s)) return affine_const(s.c);
    Affine a = affine_term(TERM_SIZE, -1, 1, 1);
    a.term[0].size = s;
    return a;
}

static bool term_same_variable(const Term *a, const Term *b) {
    if (a->kind != b->kind || a->div != b->div) return false;
    switch (a->kind) {
    case TERM_VALUE: return a->value == b->value;
    case TERM_SIZE: return size_equal(a->size, b->size);
    case TERM_BLOCK: return a->id == b->id && size_equal(a->size, b->size);
    default: return a->id == b->id;
    }
}

static Term *term_find(Affine *a, const Term *t) {
    for (int i = 0; i < a->nterm; i++)
        if (term_same_variable(&a->term[i], t)) return &a->term[i];
    return NULL;
}

static void terms_drop_zero(Affine *a) {
    int n = 0;
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].mul != 0) a->term[n++] = a->term[i];
    a->nterm = n;
}

static bool add_term(Affine *to, Term t, int64_t mul) {
    if (__builtin_mul_overflow(t.mul, mul, &t.mul)) return false;
    Term *held = term_find(to, &t);
    if (held) return !__builtin_add_overflow(held->mul, t.mul, &held->mul);
    if (to->nterm == MAX_TERMS) return false;
    to->term[to->nterm++] = t;
    return true;
}

bool affine_add(Affine *to, const Affine *from, int64_t mul) {
    Affine sum = *to;
    int64_t c;
    if (__builtin_mul_overflow(from->c, mul, &c) || __builtin_add_overflow(sum.c, c, &sum.c)) return false;
    for (int i = 0; i < from->nterm; i++)
        if (!add_term(&sum, from->term[i], mul)) return false;
    terms_drop_zero(&sum);
    *to = sum;
    return true;
}

int64_t int_floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }

/* floor((d * x + c) / d) = x + floor(c / d); floor(floor(v / a) / b) = floor(v / (a b)), a, b > 0. */
bool affine_divide(Affine *a, int64_t d) {
    if (d <= 0) return false;
    bool whole = true;
    for (int i = 0; i < a->nterm; i++) whole &= a->term[i].mul % d == 0;
    if (whole) {
        for (int i = 0; i < a->nterm; i++) a->term[i].mul /= d;
        a->c = int_floor_div(a->c, d);
        return true;
    }
    Term *t = &a->term[0];
    return a->nterm == 1 && a->c == 0 && t->mul == 1 && !__builtin_mul_overflow(t->div, d, &t->div);
}

/* x mod d = x - d floor(x / d) */
bool affine_modulo(Affine *a, int64_t d) {
    Affine q = *a;
    return affine_divide(&q, d) && affine_add(a, &q, -d);
}

int affine_position(const Affine *a) {
    const Term *t = &a->term[0];
    return a->nterm == 1 && a->c == 0 && t->kind == TERM_POS && t->mul == 1 && t->div == 1 ? t->id : -1;
}

bool affine_scale(Affine *a, int64_t by) {
    Affine r = affine_const(0);
    return affine_add(&r, a, by) ? (*a = r, true) : false;
}

bool affine_equal(const Affine *a, const Affine *b) {
    Affine difference = *a;
    for (int i = 0; i < b->nterm; i++) {
        Term *held = term_find(&difference, &b->term[i]);
        if (!held || held->mul != b->term[i].mul) return false;
    }
    return a->c == b->c && a->nterm == b->nterm;
}

bool affine_runs_along(const Affine *a, int range, int64_t of) {
    bool found = false;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        const bool here = t->kind == TERM_POS && t->id == range;
        if (here && (t->mul != 1 || t->div != 1 || found)) return false;
        if (!here && (t->kind == TERM_VALUE || t->kind == TERM_SIZE || t->div != 1 || t->mul % of)) return false;
        found |= here;
    }
    return found && a->c % of == 0;
}

bool affine_follows(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if ((t->kind == TERM_POS || t->kind == TERM_INDEX) && t->id == range) return true;
        if (t->kind == TERM_VALUE && type_has(t->value->type, range)) return true;
    }
    return false;
}

bool affine_is_const(const Affine *a) { return a->nterm == 0; }

Span span_of(Affine a) { return (Span){.lo = a, .hi = a}; }

Type term_type(const Kernel *k, const Term *t) {
    if (t->kind == TERM_VALUE) return t->value->type;
    Type r = type_scalar(ELEM_I64);
    return t->kind == TERM_POS && k->range.p[t->id].kind != RANGE_POSITION ? type_with(r, t->id) : r;
}

Type affine_type(const Kernel *k, const Affine *a) {
    Type r = type_scalar(ELEM_I64);
    for (int i = 0; i < a->nterm; i++) r = type_union(r, term_type(k, &a->term[i]));
    return r;
}
