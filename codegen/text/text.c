/* text.c: small texts of C expressions, folded where they are numbers. */
#include "codegen/text/size.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool text_is_number(const char *s, int64_t *n) {
    char *end;
    errno = 0;
    *n = strtoll(s, &end, 10);
    return !errno && *s && !*end && !isspace((unsigned char)*s);
}

/* A name or a number, which may have an exponent. */
static bool is_word(const char *s) {
    bool number = isdigit((unsigned char)*s);
    for (const char *p = s; *p; p++) {
        bool exponent = number && (*p == '-' || *p == '+') && p > s && p[-1] == 'e';
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.' && !exponent) return false;
    }
    return true;
}

/* The first character opens a bracket that the last one closes. */
static bool is_enclosed(const char *s) {
    int depth = 0;
    for (const char *p = s; *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0) return *s == '(' && !p[1];
    }
    return false;
}

/* A call or subscript: a word, then brackets up to the end. */
static bool is_postfix(const char *s) {
    const char *p = s;
    while (isalnum((unsigned char)*p) || *p == '_' || (*p == '-' && p[1] == '>') ||
           (*p == '>' && p > s && p[-1] == '-'))
        p++;
    if (p == s || (*p != '(' && *p != '[')) return false;
    int depth = 0;
    for (; *p; p++) {
        depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
        if (depth == 0 && p[1] && p[1] != '[') return false;
    }
    return depth == 0;
}

const char *conjoin(Fn *f, const char *a, const char *b) {
    return !a ? b : !b ? a : fn_text(f, "%s && %s", a, b);
}

const char *text_atom(Fn *f, const char *s) {
    return is_word(s) || is_enclosed(s) || is_postfix(s) ? s : fn_text(f, "(%s)", s);
}

const char *text_bare(Fn *f, const char *s) { return is_enclosed(s) ? arena_text(f->arena, s + 1, strlen(s) - 2) : s; }

/* The sum in text that ends in " + 7" is open to further folding; others are not touched. */
const char *text_add_terms(Fn *f, const char *a, const char *b) {
    int64_t x, y;
    bool nx = text_is_number(a, &x), ny = text_is_number(b, &y);
    if (nx && ny) return fn_text(f, "%" PRId64, x + y);
    if (nx && x == 0) return b;
    if (ny && y == 0) return a;
    if (ny && y < 0) return fn_text(f, "%s - %" PRId64, a, -y);
    return fn_text(f, "%s + %s", a, b);
}

static bool is_product(const char *s) { return is_word(s) || is_enclosed(s) || is_postfix(s); }

const char *text_mul(Fn *f, const char *a, const char *b) {
    int64_t x, y;
    bool nx = text_is_number(a, &x), ny = text_is_number(b, &y);
    if (nx && ny) return fn_text(f, "%" PRId64, x * y);
    if ((nx && x == 0) || (ny && y == 0)) return "0";
    if (nx && x == 1) return b;
    if (ny && y == 1) return a;
    return fn_text(f, "%s * %s", is_product(a) ? a : fn_text(f, "(%s)", a), is_product(b) ? b : fn_text(f, "(%s)", b));
}

const char *text_min(Fn *f, const char *a, const char *b) {
    int64_t x, y;
    if (strcmp(a, b) == 0) return a;
    if (text_is_number(a, &x) && text_is_number(b, &y)) return x < y ? a : b;
    return fn_text(f, "tile_least(%s, %s)", a, text_bare(f, b));
}

const char *text_ceil_div(Fn *f, const char *n, int64_t d) {
    int64_t x;
    if (d == 1) return n;
    if (text_is_number(n, &x)) return fn_text(f, "%" PRId64, x <= 0 ? 0 : (x - 1) / d + 1);
    return fn_text(f, "tile_ceil_div(%s, %" PRId64 ")", n, d);
}
