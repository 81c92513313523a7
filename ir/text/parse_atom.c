/* parse_atom.c: reads sizes, types and affine sums of the text form. */
#include "ir/text/parse.h"

static void parse_axis(Parser *p, int *axes) {
    Loc loc = p->tok.loc;
    int axis = need_known(p, &p->axes, "mesh axis");
    if (p->failed) return;
    if (axes_have(*axes, axis)) parse_fail(p, loc, "the axis stands here twice");
    *axes = axes_join(*axes, axis);
}

/* axes := NAME | '(' NAME (',' NAME)* ')' */
int parse_axes(Parser *p) {
    int axes = -1;
    if (!take_punct(p, '(')) {
        parse_axis(p, &axes);
        return axes;
    }
    do parse_axis(p, &axes);
    while (!p->failed && take_punct(p, ','));
    need_punct(p, ')');
    return axes;
}

/* size := (INT | NAME [('+' | '-') INT]) ['@' axes] */
Size parse_size(Parser *p) {
    Size s = size_number(0);
    if (p->tok.kind == TOK_WORD) {
        s.sym = (int16_t)need_known(p, &p->symbols, "dim");
        bool negative = at_punct(p, '-');
        if (negative)
            s.c = need_int(p, "a number");
        else if (take_punct(p, '+'))
            s.c = need_int(p, "a number");
    } else {
        s.c = need_int(p, "an extent");
    }
    if (take_punct(p, '@')) s.axis = (int16_t)parse_axes(p);
    return s;
}

int parse_sizes(Parser *p, Size dim[MAX_DIMS]) {
    int n = 0;
    do {
        if (n == MAX_DIMS) parse_fail(p, p->tok.loc, "more than %d dimensions", MAX_DIMS);
        if (p->failed) return 0;
        dim[n++] = parse_size(p);
    } while (take_punct(p, ','));
    need_punct(p, ']');
    return n;
}

Elem parse_elem(Parser *p) {
    Elem e = ELEM_F32;
    Loc loc = p->tok.loc;
    Name name = need_name(p, "an element type");
    if (!p->failed && !elem_parse(name, &e)) parse_fail(p, loc, "'%s' is not an element type", name);
    return e;
}

/* type := ELEM ['<' range (',' range)* '>'] */
Type parse_type(Parser *p) {
    Type t = type_scalar(parse_elem(p));
    if (!take_punct(p, '<')) return t;
    do {
        Loc loc = p->tok.loc;
        int r = need_known(p, &p->ranges, "range");
        if (p->failed) return t;
        if (type_has(t, r) || t.nrange == MAX_RANGES) {
            parse_fail(p, loc, "a range stands twice in the type, or there are more than %d", MAX_RANGES);
            return t;
        }
        t = type_with(t, r);
    } while (take_punct(p, ','));
    need_punct(p, '>');
    return t;
}

TileType parse_tile_type(Parser *p) {
    TileType t = {parse_type(p), 0};
    if (!take_punct(p, '#')) return t;
    Loc loc = p->tok.loc;
    int64_t number = need_int(p, "a layout's number");
    if (number < 0 || number >= p->k->layout.n) parse_fail(p, loc, "there is no layout #%lld", (long long)number);
    t.layout = p->failed ? 0 : (int)number + 1;
    return t;
}

Name parse_value_name(Parser *p, bool *numbered) {
    need_punct(p, '%');
    *numbered = p->tok.kind == TOK_INT;
    Name name = p->tok.name;
    if (*numbered)
        parse_next(p);
    else
        name = need_name(p, "a name");
    return name;
}

Value *parse_value(Parser *p) {
    Loc loc = p->tok.loc;
    bool numbered;
    Name name = parse_value_name(p, &numbered);
    int at = p->failed ? -1 : *name_map_at(numbered ? &p->numbered : &p->values, name);
    if (at < 0 || (at >= p->hidden_from && at < p->hidden_to)) parse_fail(p, loc, "value '%%%s' is not defined before its use", name);
    return p->failed ? NULL : p->value.p[at];
}

/* rank(axis) | block(range, size) | size(size), where the word is not a range */
static bool parse_call_term(Parser *p, Term *t) {
    if (take_word(p, "rank")) {
        t->kind = TERM_RANK;
        need_punct(p, '(');
        t->id = (int16_t)need_known(p, &p->axes, "mesh axis");
    } else if (take_word(p, "block")) {
        t->kind = TERM_BLOCK;
        need_punct(p, '(');
        t->id = (int16_t)need_known(p, &p->ranges, "range");
        need_punct(p, ',');
        t->size = parse_size(p);
    } else if (take_word(p, "size")) {
        t->kind = TERM_SIZE;
        need_punct(p, '(');
        t->size = parse_size(p);
    } else {
        return false;
    }
    need_punct(p, ')');
    return true;
}

static bool at_call(const Parser *p) { return p->tok.kind == TOK_WORD && p->at < p->end && *p->at == '('; }

static void parse_variable(Parser *p, Term *t) {
    if (at_punct(p, '%')) {
        t->kind = TERM_VALUE;
        t->value = parse_value(p);
    } else if (take_punct(p, '#')) {
        t->kind = TERM_INDEX;
        t->id = (int16_t)need_known(p, &p->ranges, "range");
    } else if (!at_call(p) || !parse_call_term(p, t)) {
        t->kind = TERM_POS;
        t->id = (int16_t)need_known(p, &p->ranges, "range");
    }
}

static void parse_quotient(Parser *p, Term *t) {
    parse_variable(p, t);
    if (take_punct(p, '/')) t->div = need_int(p, "a divisor");
}

/* factor := variable | '(' variable '/' INT ')' */
static void parse_factor(Parser *p, Term *t) {
    if (!take_punct(p, '(')) {
        parse_variable(p, t);
        return;
    }
    parse_quotient(p, t);
    need_punct(p, ')');
}

static void add_number(Parser *p, Affine *a, uint64_t magnitude, bool negative, Loc loc) {
    int64_t n;
    if (!signed_value(magnitude, negative, &n) || __builtin_add_overflow(a->c, n, &a->c))
        parse_fail(p, loc, "the sum does not fit in 64 bits");
}

static void add_term(Parser *p, Affine *a, Term t, Loc loc) {
    if (a->nterm == MAX_TERMS)
        parse_fail(p, loc, "more than %d terms", MAX_TERMS);
    else if (!p->failed)
        a->term[a->nterm++] = t;
}

/* term := INT | INT '*' factor | variable ['/' INT] | '(' variable '/' INT ')' */
static void parse_term(Parser *p, Affine *a, bool negative) {
    Loc loc = p->tok.loc;
    Term t = {.id = -1, .size = size_number(0), .mul = negative ? -1 : 1, .div = 1};
    uint64_t n = p->tok.number;
    if (take_kind(p, TOK_INT)) {
        if (!take_punct(p, '*')) {
            add_number(p, a, n, negative, loc);
            return;
        }
        if (!signed_value(n, negative, &t.mul)) parse_fail(p, loc, "the number does not fit in 64 bits");
        parse_factor(p, &t);
    } else if (at_punct(p, '(')) {
        parse_factor(p, &t);
    } else {
        parse_quotient(p, &t);
    }
    add_term(p, a, t, loc);
}

/* affine := ['-'] term (('+' | '-') term)* */
Affine parse_affine(Parser *p) {
    Affine a = affine_const(0);
    parse_term(p, &a, take_punct(p, '-'));
    for (;;) {
        bool negative = at_punct(p, '-');
        if (p->failed || (!take_punct(p, '+') && !take_punct(p, '-'))) return a;
        parse_term(p, &a, negative);
    }
}

/* span := affine ['..' affine] */
Span parse_span(Parser *p) {
    Span s = span_of(parse_affine(p));
    if (take_kind(p, TOK_DOTS)) s.hi = parse_affine(p);
    return s;
}
