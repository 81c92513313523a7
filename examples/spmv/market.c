#include "market.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct {
    const char *p, *end; /* what is left of the text */
    const char *word[6]; /* of the line that was read */
    size_t length[6];
    int words, line;
    Reason *why;
} Reader;

typedef enum { GENERAL, SYMMETRIC, SKEW } Symmetry;

typedef struct {
    bool pattern, integer;
    Symmetry symmetry;
    int64_t rows, columns, count; /* of lines with entries */
    int32_t *row, *col;           /* [count] */
    double *val;
} Entries;

/* ---- lines of words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void line_split(Reader *r, const char *p, const char *end) {
    for (r->words = 0; p < end && r->words < 6; r->words++) {
        while (p < end && is_blank(*p)) p++;
        const char *from = p;
        while (p < end && !is_blank(*p)) p++;
        if (p == from) return;
        r->word[r->words] = from;
        r->length[r->words] = (size_t)(p - from);
    }
}

/* The next line; behind the first, those that are empty or a comment are passed over. */
static bool line_next(Reader *r) {
    while (r->p < r->end) {
        const char *from = r->p, *end = memchr(from, '\n', (size_t)(r->end - from));
        if (!end) end = r->end;
        r->p = end < r->end ? end + 1 : end;
        r->line++;
        line_split(r, from, end);
        if (r->line == 1 || (r->words && *r->word[0] != '%')) return true;
    }
    return false;
}

static bool word_is(const Reader *r, int i, const char *what) {
    return i < r->words && r->length[i] == strlen(what) && strncasecmp(r->word[i], what, r->length[i]) == 0;
}

static bool word_integer(const Reader *r, int i, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(r->word[i], &end, 10);
    return end == r->word[i] + r->length[i] && errno == 0;
}

static bool word_real(const Reader *r, int i, double *value) {
    char *end;
    *value = strtod(r->word[i], &end);
    return end == r->word[i] + r->length[i] && isfinite(*value);
}

static bool word_refuse(const Reader *r, int i, const char *wanted) {
    int length = (int)(r->length[i] < 40 ? r->length[i] : 40);
    return reason_set(r->why, "line %d: '%.*s' is no %s", r->line, length, r->word[i], wanted);
}

/* ---- the head ---- */

static bool word_among(const Reader *r, int i, const char *const *list, int n, int *found, const char *what) {
    for (*found = 0; *found < n; ++*found)
        if (word_is(r, i, list[*found])) return true;
    return word_refuse(r, i, what);
}

static bool banner_parse(Reader *r, Entries *e) {
    static const char *const field[] = {"real", "integer", "pattern"};
    static const char *const half[] = {"general", "symmetric", "skew-symmetric"};
    int which, symmetry;
    if (!line_next(r) || r->words != 5 || !word_is(r, 0, "%%MatrixMarket"))
        return reason_set(r->why, "line 1: '%%%%MatrixMarket matrix coordinate FIELD SYMMETRY' is missing");
    if (!word_is(r, 1, "matrix")) return word_refuse(r, 1, "matrix");
    if (!word_is(r, 2, "coordinate")) return word_refuse(r, 2, "coordinate format");
    if (!word_among(r, 3, field, 3, &which, "field that is read: real, integer, pattern")) return false;
    if (!word_among(r, 4, half, 3, &symmetry, "symmetry that is read: general, symmetric, skew-symmetric"))
        return false;
    e->integer = which == 1;
    e->pattern = which == 2;
    e->symmetry = (Symmetry)symmetry;
    return true;
}

static bool sizes_parse(Reader *r, Entries *e) {
    int64_t *const size[] = {&e->rows, &e->columns, &e->count};
    static const int64_t most[] = {MARKET_EXTENT, MARKET_EXTENT, MARKET_ENTRIES};
    if (!line_next(r)) return reason_set(r->why, "line %d: the file ends before the line of sizes", r->line);
    if (r->words != 3)
        return reason_set(r->why, "line %d: rows, columns and entries are expected, there are %d words", r->line,
                          r->words);
    for (int i = 0; i < 3; i++) {
        if (!word_integer(r, i, size[i])) return word_refuse(r, i, "size");
        if (*size[i] < 0 || *size[i] > most[i])
            return reason_set(r->why, "line %d: %lld is not in 0 .. %lld", r->line, (long long)*size[i],
                              (long long)most[i]);
    }
    if (e->symmetry != GENERAL && e->rows != e->columns)
        return reason_set(r->why, "line %d: a symmetric matrix of %lld rows and %lld columns", r->line,
                          (long long)e->rows, (long long)e->columns);
    if (e->count > (r->end - r->p + 1) / 4) /* "1 1" and the end of its line */
        return reason_set(r->why, "line %d: %lld entries do not fit the %lld bytes that are left", r->line,
                          (long long)e->count, (long long)(r->end - r->p));
    return true;
}

/* ---- entries ---- */

static bool index_parse(const Reader *r, int i, int64_t extent, int32_t *index) {
    int64_t value;
    if (!word_integer(r, i, &value)) return word_refuse(r, i, i ? "column" : "row");
    if (value < 1 || value > extent)
        return reason_set(r->why, "line %d: %s %lld is not in 1 .. %lld", r->line, i ? "column" : "row",
                          (long long)value, (long long)extent);
    *index = (int32_t)(value - 1);
    return true;
}

static bool value_parse(const Reader *r, const Entries *e, double *value) {
    int64_t whole;
    if (e->pattern) return *value = 1, true;
    if (!e->integer) return word_real(r, 2, value) || word_refuse(r, 2, "finite number");
    if (!word_integer(r, 2, &whole)) return word_refuse(r, 2, "integer");
    *value = (double)whole;
    return true;
}

static bool entry_parse(Reader *r, Entries *e, int64_t k) {
    int want = e->pattern ? 2 : 3;
    if (!line_next(r))
        return reason_set(r->why, "line %d: the file ends after %lld of %lld entries", r->line, (long long)k,
                          (long long)e->count);
    if (r->words != want)
        return reason_set(r->why, "line %d: an entry has %d words, here are %d", r->line, want, r->words);
    if (!index_parse(r, 0, e->rows, &e->row[k]) || !index_parse(r, 1, e->columns, &e->col[k])) return false;
    if (e->symmetry == SKEW && e->row[k] == e->col[k])
        return reason_set(r->why, "line %d: a skew-symmetric matrix has no entries on the diagonal", r->line);
    return value_parse(r, e, &e->val[k]);
}

static bool entries_parse(Reader *r, Entries *e) {
    size_t n = (size_t)e->count + 1;
    e->row = malloc(n * sizeof *e->row);
    e->col = malloc(n * sizeof *e->col);
    e->val = malloc(n * sizeof *e->val);
    if (!e->row || !e->col || !e->val) return reason_set(r->why, "out of memory");
    for (int64_t k = 0; k < e->count; k++)
        if (!entry_parse(r, e, k)) return false;
    return !line_next(r) ||
           reason_set(r->why, "line %d: more than the %lld entries of the line of sizes", r->line, (long long)e->count);
}

/* ---- CSR ---- */

static bool is_mirrored(const Entries *e, int64_t k) { return e->symmetry != GENERAL && e->row[k] != e->col[k]; }

static void entry_put(Matrix *m, int32_t row, int32_t col, double val) {
    int32_t at = m->ptr[row]++;
    m->col[at] = col;
    m->val[at] = val;
}

/* ptr counts, then says where a row begins, and while it is filled where its next entry goes. */
static void matrix_fill(Matrix *m, const Entries *e) {
    for (int64_t k = 0; k < e->count; k++) {
        m->ptr[e->row[k]]++;
        if (is_mirrored(e, k)) m->ptr[e->col[k]]++;
    }
    for (int32_t i = 0, at = 0; i <= m->rows; i++) {
        int32_t length = m->ptr[i];
        m->ptr[i] = at;
        at += length;
    }
    for (int64_t k = 0; k < e->count; k++) {
        entry_put(m, e->row[k], e->col[k], e->val[k]);
        if (is_mirrored(e, k)) entry_put(m, e->col[k], e->row[k], e->symmetry == SKEW ? -e->val[k] : e->val[k]);
    }
    memmove(m->ptr + 1, m->ptr, sizeof *m->ptr * (size_t)m->rows);
    m->ptr[0] = 0;
}

static bool matrix_make(Matrix *m, const Entries *e, Reason *why) {
    int64_t entries = e->count;
    for (int64_t k = 0; k < e->count; k++) entries += is_mirrored(e, k);
    if (entries > MARKET_ENTRIES)
        return reason_set(why, "%lld entries in both halves, at most %d", (long long)entries, MARKET_ENTRIES);
    *m = (Matrix){.rows = (int)e->rows, .columns = (int)e->columns, .entries = (int)entries};
    m->ptr = calloc((size_t)e->rows + 1, sizeof *m->ptr);
    m->col = malloc(((size_t)entries + 1) * sizeof *m->col);
    m->val = malloc(((size_t)entries + 1) * sizeof *m->val);
    if (!m->ptr || !m->col || !m->val) return matrix_free(m), reason_set(why, "out of memory");
    matrix_fill(m, e);
    return true;
}

bool market_parse(Matrix *m, const char *text, size_t n, Reason *why) {
    Reader r = {.p = text, .end = text + n, .why = why};
    Entries e = {0};
    bool good = banner_parse(&r, &e) && sizes_parse(&r, &e) && entries_parse(&r, &e) && matrix_make(m, &e, why);
    free(e.row);
    free(e.col);
    free(e.val);
    return good;
}

void matrix_free(Matrix *m) {
    free(m->ptr);
    free(m->col);
    free(m->val);
    *m = (Matrix){0};
}
