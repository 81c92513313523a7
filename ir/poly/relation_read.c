/* relation_read.c: isl's own parser simplifies a set at every comparison, which takes 20 times as long as the question
   whether the set is empty. This one makes matrices of all constraints first. Takes: "[n0] -> { [x0, x1] : .. }".
   Gives: the set, as a union of conjunctions. */
#include "ir/poly/relation_read.h"

#include "base/arena.h"
#include "base/vec.h"

#include <ctype.h>
#include <isl/mat.h>
#include <isl/space.h>
#include <isl/val.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Variables beside those of the set, and conjunctions of the union: text with more goes to isl. Chosen: no text of a
 * test has more. */
enum { MOST_INNER = 96, MOST_CASES = 64 };

typedef struct {
    const char *at;
    int length; /* 0: out of scope, or it never had a name */
} Word;

/* of[0] + of[1] * the first variable + .. = 0, or >= 0. */
typedef struct {
    int64_t *of;
    bool equal;
} Row;

/* All rows hold. */
typedef struct {
    VEC(Row) row;
} Case;

/* One case holds; without cases nothing does. */
typedef struct {
    VEC(Case) one;
} Condition;

typedef struct {
    isl_ctx *isl;
    Arena *arena;
    const char *at;
    bool known;
    VEC(Word) variable; /* run-time sizes, dimensions, then those that conditions bring */
    int params, dims, width;
} Reader;

/* ---- words ---- */

static bool take(Reader *r, const char *word) {
    size_t n = strlen(word);
    while (*r->at == ' ') r->at++;
    if (strncmp(r->at, word, n) != 0 || (isalpha((unsigned char)*word) && isalnum((unsigned char)r->at[n])))
        return false;
    r->at += n;
    return true;
}

static void expect(Reader *r, const char *word) { r->known = take(r, word) && r->known; }

static Word word_read(Reader *r) {
    while (*r->at == ' ') r->at++;
    Word w = {.at = r->at};
    while (isalnum((unsigned char)w.at[w.length])) w.length++;
    r->at += w.length;
    r->known = r->known && isalpha((unsigned char)*w.at);
    return w;
}

static void names_read(Reader *r, const char *end) {
    if (take(r, end)) return;
    do vec_push(r->arena, &r->variable, word_read(r));
    while (r->known && take(r, ","));
    expect(r, end);
}

static int64_t number_read(Reader *r) {
    int64_t n = 0;
    while (*r->at == ' ') r->at++;
    r->known = r->known && isdigit((unsigned char)*r->at);
    for (; isdigit((unsigned char)*r->at); r->at++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *r->at - '0', &n)) r->known = false;
    return n;
}

/* ---- sums ---- */

static int64_t *sum_new(Reader *r) { return ARENA_ARRAY(r->arena, int64_t, r->width); }

static int64_t *sum_number(Reader *r, int64_t n) {
    int64_t *s = sum_new(r);
    s[0] = n;
    return s;
}

/* a * times + b * by + c */
static int64_t *sum_of(Reader *r, const int64_t *a, int64_t times, const int64_t *b, int64_t by, int64_t c) {
    int64_t *s = sum_new(r), x, y;
    for (int i = 0; i < r->width; i++)
        if (__builtin_mul_overflow(a[i], times, &x) || __builtin_mul_overflow(b[i], by, &y) ||
            __builtin_add_overflow(x, y, &s[i]))
            r->known = false;
    if (__builtin_add_overflow(s[0], c, &s[0])) r->known = false;
    return s;
}

static bool sum_is_number(const Reader *r, const int64_t *s) {
    for (int i = 1; i < r->width; i++)
        if (s[i]) return false;
    return true;
}

static int64_t *sum_variable(Reader *r, int variable) {
    int64_t *s = sum_new(r);
    if (variable < 0 || variable + 1 >= r->width)
        r->known = false;
    else
        s[variable + 1] = 1;
    return s;
}

/* ---- conditions ---- */

static Condition condition_true(Reader *r) {
    Condition c = {0};
    vec_push(r->arena, &c.one, (Case){0});
    return c;
}

static void case_add(Reader *r, Case *one, int64_t *sum, bool equal) {
    vec_push(r->arena, &one->row, ((Row){sum, equal}));
}

/* sum >= 0, or sum = 0 */
static Condition condition_row(Reader *r, int64_t *sum, bool equal) {
    Condition c = condition_true(r);
    if (!sum_is_number(r, sum))
        case_add(r, &c.one.p[0], sum, equal);
    else if (equal ? sum[0] != 0 : sum[0] < 0)
        c.one.n = 0;
    return c;
}

static Condition condition_or(Reader *r, Condition a, Condition b) {
    for (int i = 0; i < b.one.n; i++) vec_push(r->arena, &a.one, b.one.p[i]);
    r->known = r->known && a.one.n <= MOST_CASES;
    return a;
}

static void case_append(Reader *r, Case *to, const Case *from) {
    for (int i = 0; i < from->row.n; i++) vec_push(r->arena, &to->row, from->row.p[i]);
}

static Condition condition_and(Reader *r, Condition a, Condition b) {
    Condition both = {0};
    if (a.one.n == 1 && b.one.n == 1) {
        case_append(r, &a.one.p[0], &b.one.p[0]);
        return a;
    }
    r->known = r->known && a.one.n * b.one.n <= MOST_CASES;
    for (int i = 0; i < a.one.n && r->known; i++)
        for (int j = 0; j < b.one.n; j++) {
            Case one = {0};
            case_append(r, &one, &a.one.p[i]);
            case_append(r, &one, &b.one.p[j]);
            vec_push(r->arena, &both.one, one);
        }
    return both;
}

/* ---- expressions: what is no sum becomes a variable, and a condition that says which ---- */

static int64_t *sum_read(Reader *, Condition *);

static int64_t *variable_new(Reader *r) {
    vec_push(r->arena, &r->variable, (Word){0});
    return sum_variable(r, r->variable.n - 1);
}

/* floor(x / by) = q: 0 <= x - by * q < by */
static int64_t *quotient(Reader *r, const int64_t *x, int64_t by, Condition *where) {
    int64_t *q = variable_new(r);
    if (by < 1) r->known = false;
    *where = condition_and(r, *where, condition_row(r, sum_of(r, x, 1, q, -by, 0), false));
    *where = condition_and(r, *where, condition_row(r, sum_of(r, x, -1, q, by, by - 1), false));
    return q;
}

static int64_t *floor_read(Reader *r, Condition *where) {
    expect(r, "(");
    int64_t *x = sum_read(r, where);
    expect(r, "/");
    int64_t by = number_read(r);
    expect(r, ")");
    return by == 1 ? x : quotient(r, x, by, where);
}

/* The larger of two, or with sign -1 the smaller. */
static int64_t *larger_read(Reader *r, int sign, Condition *where) {
    expect(r, "(");
    int64_t *a = sum_read(r, where);
    expect(r, ",");
    int64_t *b = sum_read(r, where), *x = variable_new(r);
    expect(r, ")");
    Condition first = condition_row(r, sum_of(r, a, sign, b, -sign, 0), false);
    Condition second = condition_row(r, sum_of(r, a, -sign, b, sign, -1), false);
    first = condition_and(r, first, condition_row(r, sum_of(r, x, 1, a, -1, 0), true));
    second = condition_and(r, second, condition_row(r, sum_of(r, x, 1, b, -1, 0), true));
    *where = condition_and(r, *where, condition_or(r, first, second));
    return x;
}

static int64_t *name_read(Reader *r) {
    Word w = word_read(r);
    int i = r->variable.n - 1;
    while (i >= 0 && (r->variable.p[i].length != w.length || memcmp(r->variable.p[i].at, w.at, (size_t)w.length) != 0))
        i--;
    return sum_variable(r, i);
}

static int64_t *factor_read(Reader *r, Condition *where) {
    if (take(r, "-")) {
        int64_t *x = factor_read(r, where);
        return sum_of(r, x, -1, x, 0, 0);
    }
    if (take(r, "floor")) return floor_read(r, where);
    if (take(r, "max")) return larger_read(r, 1, where);
    if (take(r, "min")) return larger_read(r, -1, where);
    if (take(r, "(")) {
        int64_t *x = sum_read(r, where);
        expect(r, ")");
        return x;
    }
    return isdigit((unsigned char)*r->at) ? sum_number(r, number_read(r)) : name_read(r);
}

static int64_t *product_of(Reader *r, const int64_t *a, const int64_t *b) {
    const int64_t *number = sum_is_number(r, a) ? a : b, *other = number == a ? b : a;
    r->known = r->known && sum_is_number(r, number);
    return sum_of(r, other, number[0], number, 0, 0);
}

static int64_t *term_read(Reader *r, Condition *where) {
    int64_t *x = factor_read(r, where);
    while (r->known) {
        if (take(r, "*"))
            x = product_of(r, x, factor_read(r, where));
        else if (take(r, "mod")) {
            int64_t by = number_read(r);
            x = sum_of(r, x, 1, quotient(r, x, by, where), -by, 0);
        } else
            break;
    }
    return x;
}

static int64_t *sum_read(Reader *r, Condition *where) {
    int64_t *x = term_read(r, where);
    while (r->known) {
        if (take(r, "+"))
            x = sum_of(r, x, 1, term_read(r, where), 1, 0);
        else if (take(r, "-"))
            x = sum_of(r, x, 1, term_read(r, where), -1, 0);
        else
            break;
    }
    return x;
}

/* ---- formulas ---- */

/* Where it is read, the longer sign stands before the one it begins with: sign * (x - y) + more >= 0, or = 0. */
static const struct {
    const char *text;
    int sign, more;
    bool equal;
} relations[] = {
    {"<=", -1, 0, false}, {">=", 1, 0, false}, {"<", -1, -1, false}, {">", 1, -1, false}, {"=", 1, 0, true}};

static Condition compared(Reader *r, const int64_t *x, const int64_t *y, int sign, int more, bool equal) {
    return condition_row(r, sum_of(r, x, sign, y, -sign, more), equal);
}

static bool relation_take(Reader *r, const int64_t *x, int64_t **y, Condition *where) {
    if (take(r, "!=")) {
        *y = sum_read(r, where);
        *where = condition_and(r, *where,
                               condition_or(r, compared(r, x, *y, 1, -1, false), compared(r, x, *y, -1, -1, false)));
        return true;
    }
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (take(r, relations[i].text)) {
            *y = sum_read(r, where);
            *where =
                condition_and(r, *where, compared(r, x, *y, relations[i].sign, relations[i].more, relations[i].equal));
            return true;
        }
    return false;
}

/* x < y, or 0 <= x < y */
static Condition comparison_read(Reader *r) {
    Condition where = condition_true(r);
    int64_t *x = sum_read(r, &where), *y = NULL;
    r->known = r->known && relation_take(r, x, &y, &where);
    while (r->known && relation_take(r, y, &y, &where)) continue;
    return where;
}

static Condition formula_read(Reader *);

static Condition exists_read(Reader *r) {
    expect(r, "(");
    int first = r->variable.n;
    names_read(r, ":");
    int end = r->variable.n;
    Condition c = formula_read(r);
    expect(r, ")");
    for (int i = first; i < end; i++) r->variable.p[i].length = 0;
    return c;
}

/* A bracket may begin a sum or a formula. */
static Condition atom_read(Reader *r) {
    const char *start = r->at;
    int variables = r->variable.n;
    if (take(r, "exists")) return exists_read(r);
    Condition c = comparison_read(r);
    if (r->known) return c;
    r->at = start, r->variable.n = variables;
    r->known = take(r, "(");
    c = r->known ? formula_read(r) : condition_true(r);
    expect(r, ")");
    return c;
}

static Condition atoms_read(Reader *r) {
    Condition c = atom_read(r);
    while (r->known && take(r, "and")) c = condition_and(r, c, atom_read(r));
    return c;
}

static Condition formula_read(Reader *r) {
    Condition c = atoms_read(r);
    while (r->known && take(r, "or")) c = condition_or(r, c, atoms_read(r));
    return c;
}

/* ---- sets ---- */

static isl_mat *element_set(isl_mat *m, int row, int column, int64_t n) {
    if (n >= INT_MIN && n <= INT_MAX) return isl_mat_set_element_si(m, row, column, (int)n);
    return isl_mat_set_element_val(m, row, column, isl_val_int_from_si(isl_mat_get_ctx(m), n));
}

/* The columns of the variables of the set, and of those others that the case has: -1 for the rest. Returns how many. */
static int columns_of(const Reader *r, const Case *one, int *column) {
    int n = 1 + r->params + r->dims;
    for (int i = 0; i < r->width; i++) {
        bool used = i < n;
        for (int j = 0; j < one->row.n && !used; j++) used = one->row.p[j].of[i] != 0;
        column[i] = used ? i : -1;
    }
    for (int i = n; i < r->width; i++)
        if (column[i] >= 0) column[i] = n++;
    return n;
}

static isl_mat *matrix_of(const Reader *r, const Case *one, bool equal, const int *column, int columns) {
    int n = 0, row = 0;
    for (int i = 0; i < one->row.n; i++) n += one->row.p[i].equal == equal;
    isl_mat *m = isl_mat_alloc(r->isl, (unsigned)n, (unsigned)columns);
    for (int i = 0; i < one->row.n; i++) {
        if (one->row.p[i].equal != equal) continue;
        for (int c = 0; c < r->width; c++)
            if (column[c] >= 0) m = element_set(m, row, column[c], one->row.p[i].of[c]);
        row++;
    }
    return m;
}

static isl_set *case_set(const Reader *r, isl_space *space, const Case *one) {
    int *column = ARENA_ARRAY(r->arena, int, r->width), columns = columns_of(r, one, column);
    isl_mat *equal = matrix_of(r, one, true, column, columns), *least = matrix_of(r, one, false, column, columns);
    return isl_set_from_basic_set(isl_basic_set_from_constraint_matrices(
        isl_space_copy(space), equal, least, isl_dim_cst, isl_dim_param, isl_dim_set, isl_dim_div));
}

static isl_space *space_of(const Reader *r) {
    isl_space *space = isl_space_set_alloc(r->isl, (unsigned)r->params, (unsigned)r->dims);
    for (int i = 0; i < r->params; i++) {
        const Word *w = &r->variable.p[i];
        space =
            isl_space_set_dim_name(space, isl_dim_param, (unsigned)i, arena_text(r->arena, w->at, (size_t)w->length));
    }
    return space;
}

static isl_set *set_of(const Reader *r, const Condition *c) {
    isl_space *space = space_of(r);
    isl_set *set = isl_set_empty(isl_space_copy(space));
    for (int i = 0; i < c->one.n; i++) {
        isl_set *one = case_set(r, space, &c->one.p[i]);
        if (c->one.n > 1)
            set = isl_set_union(set, one);
        else
            isl_set_free(set), set = one;
    }
    isl_space_free(space);
    return set;
}

static isl_set *set_read(Reader *r) {
    expect(r, "[");
    names_read(r, "]");
    r->params = r->variable.n;
    expect(r, "->");
    expect(r, "{");
    expect(r, "[");
    names_read(r, "]");
    r->dims = r->variable.n - r->params;
    r->width = 1 + r->variable.n + MOST_INNER;
    expect(r, ":");
    if (!r->known) return NULL;
    Condition c = formula_read(r);
    expect(r, "}");
    return r->known ? set_of(r, &c) : NULL;
}

bool relation_read_affine(isl_ctx *isl, const char *text, isl_set **set) {
    Reader r = {.isl = isl, .arena = arena_new(), .at = text, .known = true};
    *set = set_read(&r);
    arena_free(r.arena);
    return r.known;
}

isl_set *relation_read(isl_ctx *isl, const char *text) {
    isl_set *set;
    return relation_read_affine(isl, text, &set) ? set : isl_set_read_from_str(isl, text);
}
