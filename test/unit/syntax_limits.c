/* syntax_limits.c: every limit of the parser at N and at N + 1, and far beyond it. */
#include "check.h"
#include "frontend/syntax/ast.h"

#include <stdlib.h>
#include <string.h>

static int failures;

/* The id of the first error of a source, or "". */
static const char *error_of(const Text *source) {
    static char id[64];
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    parse_source(a, names_new(a), d, diags_file(d, "limit.tile", source->p, source->n));
    snprintf(id, sizeof id, "%s", d->diag.n ? d->diag.p[0].id : "");
    arena_free(a);
    return id;
}

static const char *error_of_repeated(const char *begin, const char *each, const char *middle, const char *after, int n,
                                     const char *end) {
    Text t = {0};
    text_add(&t, begin);
    for (int i = 0; i < n; i++) text_add(&t, each);
    text_add(&t, middle);
    for (int i = 0; i < n; i++) text_add(&t, after);
    text_add(&t, end);
    const char *id = error_of(&t);
    text_free(&t);
    return id;
}

/* n repetitions are the most that is allowed. */
static void limit_check(const char *begin, const char *each, const char *middle, const char *after, int n,
                        const char *end, const char *id) {
    CHECK(strcmp(error_of_repeated(begin, each, middle, after, n, end), "") == 0);
    CHECK(strcmp(error_of_repeated(begin, each, middle, after, n + 1, end), id) == 0);
    CHECK(strcmp(error_of_repeated(begin, each, middle, after, n + 100000, end), id) == 0);
}

static void nesting_check(void) {
    const char *k = "kernel k() -> () {";
    limit_check("dim M = ", "(", "1", ")", 256, ";", "nesting");
    limit_check("dim M = ", "[", "1", "]", 255, ";", "nesting");
    limit_check("dim M = ", "f(", "1", ")", 255, ";", "nesting");
    limit_check("dim M = ", "a[", "1", "]", 255, ";", "nesting");
    limit_check("dim M = ", "-", "1", "", 255, ";", "nesting");
    limit_check("dim M = ", "1 + ", "1", "", 255, ";", "nesting");
    limit_check("dim M = ", "1 ? 1 : ", "1", "", 255, ";", "nesting");
    limit_check("dim M = a", ".b", "", "", 255, ";", "nesting");
    limit_check(k, "if x {", "", "}", 255, "}", "nesting");
    limit_check(k, "if x { } else ", "if x { }", "", 255, "}", "nesting");
    limit_check(k, "for i in 0 .. n {", "", "}", 255, "}", "nesting");
}

static void size_check(void) {
    Text t = {0};
    text_add(&t, "dim M = 1;");
    while (t.n < SYNTAX_BYTES) text_add_n(&t, "\n          ", SYNTAX_BYTES - t.n < 11 ? SYNTAX_BYTES - t.n : 11);
    CHECK(strcmp(error_of(&t), "") == 0);
    text_add(&t, " ");
    CHECK(strcmp(error_of(&t), "source-size") == 0);
    text_free(&t);
}

static void word_check(void) {
    limit_check("dim ", "x", "", "", 255, " = 1;", "name-length");
    CHECK(strcmp(error_of_repeated("dim M = 9223372036854775807;", "", "", "", 0, ""), "") == 0);
    CHECK(strcmp(error_of_repeated("dim M = 9223372036854775808;", "", "", "", 0, ""), "number-range") == 0);
    CHECK(strcmp(error_of_repeated("dim M = 0x7fffffffffffffff;", "", "", "", 0, ""), "") == 0);
    CHECK(strcmp(error_of_repeated("dim M = 0x8000000000000000;", "", "", "", 0, ""), "number-range") == 0);
}

int main(void) {
    nesting_check();
    size_check();
    word_check();
    return failures > 0;
}
