/* print_atom.c: the small parts of the text form: names, sizes, types, affine sums. */
#include "ir/text/print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const text_level[] = {"wave", "group", "chiplet", "device"};
const char *const text_role[] = {"input", "state", "output", "temp"};
const char *const text_coll[] = {
#define COLL(kind, name, ...) name,
#include "ir/coll.def"
#undef COLL
};
const char *const text_form[] = {"auto", "unfused", "pull", "staged", "push", "packet"};
const char *const text_scope[] = {"device", "system"};

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }

bool text_is_word(const char *s) {
    if (!is_letter(s[0])) return false;
    for (; *s; s++)
        if (!is_letter(*s) && !isdigit((unsigned char)*s) && !(*s == '.' && isalnum((unsigned char)s[1]))) return false;
    return true;
}

static void print_quoted(Printer *p, const char *s) {
    text_add(&p->out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_printf(&p->out, "\\%c", *s);
        else if (isprint((unsigned char)*s))
            text_add_n(&p->out, s, 1);
        else
            text_printf(&p->out, "\\x%02x", (unsigned char)*s);
    }
    text_add(&p->out, "\"");
}

void print_name(Printer *p, const char *s) {
    if (!s) s = "_";
    if (text_is_word(s))
        text_add(&p->out, s);
    else
        print_quoted(p, s);
}

void print_line(Printer *p) { text_printf(&p->out, "\n%*s", 2 * p->depth, ""); }

void print_symbol(Printer *p, int i, bool axis) {
    const Module *m = p->m;
    if (i < 0 || i >= (axis ? m->axis.n : m->symbol.n))
        print_name(p, NULL);
    else
        print_name(p, axis ? m->axis.p[i].name : m->symbol.p[i].name);
}

static uint64_t magnitude(int64_t n) { return n < 0 ? -(uint64_t)n : (uint64_t)n; }

/* The constant of a sum that has other parts. */
static void print_offset(Printer *p, int64_t c) {
    if (c) text_printf(&p->out, " %c %llu", c < 0 ? '-' : '+', (unsigned long long)magnitude(c));
}

void print_axes(Printer *p, int axes) {
    bool several = axes_rest(axes) >= 0;
    if (several) text_add(&p->out, "(");
    for (int a = axes; a >= 0; a = axes_rest(a)) {
        if (a != axes) text_add(&p->out, ", ");
        print_symbol(p, axes_first(a), true);
    }
    if (several) text_add(&p->out, ")");
}

void print_size(Printer *p, Size s) {
    if (s.sym < 0) {
        text_printf(&p->out, "%lld", (long long)s.c);
    } else {
        print_symbol(p, s.sym, false);
        print_offset(p, s.c);
    }
    if (s.axis < 0) return;
    text_add(&p->out, " @ ");
    print_axes(p, s.axis);
}

void print_sizes(Printer *p, const Size *s, int n) {
    for (int i = 0; i < n; i++) {
        if (i) text_add(&p->out, ", ");
        print_size(p, s[i]);
    }
}

void print_range_name(Printer *p, int r) {
    if (r < 0 || r >= p->nrange) {
        print_name(p, NULL);
        return;
    }
    if (!p->range[r]) {
        Name name = p->k->range.p[r].name;
        p->range[r] = name_claim(&p->ranges, p->m->names, name ? name : name_of(p->m->names, "_"));
        p->order[r] = p->ranges.n;
    }
    print_name(p, p->range[r]);
}

void print_range_form(Printer *p, const Range *r) {
    if (r->kind == RANGE_POSITION) return;
    text_printf(&p->out, ": %s", r->tunable ? "auto " : "");
    if (r->kind == RANGE_WHOLE)
        text_add(&p->out, "*");
    else
        text_printf(&p->out, "%lld", (long long)r->size);
    if (!r->part_of) return;
    text_add(&p->out, " of ");
    print_range_name(p, r->part_of - 1);
}

void print_param_name(Printer *p, int i) {
    text_add(&p->out, "%");
    print_name(p, i < 0 || i >= p->k->param.n ? NULL : p->param[i]);
}

static void print_ranges(Printer *p, Type t) {
    for (int i = 1; i < t.nrange; i++)
        for (int j = i; j > 0 && p->order[t.range[j]] < p->order[t.range[j - 1]]; j--) {
            int16_t swap = t.range[j];
            t.range[j] = t.range[j - 1];
            t.range[j - 1] = swap;
        }
    for (int i = 0; i < t.nrange; i++) {
        text_add(&p->out, i ? ", " : "<");
        print_range_name(p, t.range[i]);
    }
    if (t.nrange) text_add(&p->out, ">");
}

void print_type(Printer *p, Type t) {
    text_add(&p->out, elem_text(t.elem));
    for (int i = 0; i < t.nrange; i++)
        if (t.range[i] < 0 || t.range[i] >= p->nrange) t = type_without(t, t.range[i--]);
    print_ranges(p, t);
}

void print_value(Printer *p, const Value *v) {
    text_add(&p->out, "%");
    if (!v || v->id < 0 || v->id >= p->nvalue) {
        print_name(p, NULL);
        return;
    }
    if (!p->value[v->id]) {
        p->value[v->id] =
            v->name ? name_claim(&p->taken, p->m->names, v->name) : arena_format(p->scratch, "%d", p->unnamed++);
    }
    if (v->name)
        print_name(p, p->value[v->id]);
    else
        text_add(&p->out, p->value[v->id]);
}

static void print_atom(Printer *p, const Term *t) {
    switch (t->kind) {
    case TERM_POS: print_range_name(p, t->id); return;
    case TERM_INDEX:
        text_add(&p->out, "#");
        print_range_name(p, t->id);
        return;
    case TERM_RANK:
        text_add(&p->out, "rank(");
        print_symbol(p, t->id, true);
        break;
    case TERM_BLOCK:
        text_add(&p->out, "block(");
        print_range_name(p, t->id);
        text_add(&p->out, ", ");
        print_size(p, t->size);
        break;
    case TERM_VALUE: print_value(p, t->value); return;
    case TERM_SIZE:
        text_add(&p->out, "size(");
        print_size(p, t->size);
        break;
    }
    text_add(&p->out, ")");
}

/* 3 * (i / 4): a quotient that is multiplied or negated stands in parentheses. */
static void print_term(Printer *p, const Term *t, bool first) {
    uint64_t factor = magnitude(t->mul);
    bool negated = first && t->mul < 0, quotient = t->div != 1;
    bool wrap = quotient && (factor != 1 || negated);
    if (negated) text_add(&p->out, "-");
    if (!first) text_add(&p->out, t->mul < 0 ? " - " : " + ");
    if (factor != 1) text_printf(&p->out, "%llu * ", (unsigned long long)factor);
    if (wrap) text_add(&p->out, "(");
    print_atom(p, t);
    if (quotient) text_printf(&p->out, " / %lld", (long long)t->div);
    if (wrap) text_add(&p->out, ")");
}

void print_affine(Printer *p, const Affine *a) {
    if (a->nterm == 0) text_printf(&p->out, "%lld", (long long)a->c);
    for (int i = 0; i < a->nterm; i++) print_term(p, &a->term[i], i == 0);
    if (a->nterm) print_offset(p, a->c);
}

void print_span(Printer *p, const Span *s) {
    print_affine(p, &s->lo);
    if (affine_equal(&s->lo, &s->hi)) return;
    text_add(&p->out, " .. ");
    print_affine(p, &s->hi);
}

/* The shortest decimal that reads back as the same number. */
void print_float(Printer *p, double x) {
    char s[40];
    int digits = 1;
    do snprintf(s, sizeof s, "%.*g", digits, x);
    while (strtod(s, NULL) != x && x == x && ++digits <= 17);
    if (x != x) strcpy(s, "nan");
    text_add(&p->out, s);
    if (strspn(s, "-0123456789") == strlen(s)) text_add(&p->out, ".0");
}
