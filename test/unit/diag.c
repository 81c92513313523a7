/* diag.c: rendering of diagnostics byte for byte, positions, and the nearest word. */
#include "check.h"
#include "base/diag.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static int failures;

static char *rendering_of(const Diags *d, bool colour) {
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    diags_print(d, f, DIAG_TEXT, colour);
    fclose(f);
    return text;
}

/* The same error at the same place is said once, and counts each time: "an error since?" must not miss it. */
static void repeated_check(void) {
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    Loc place = {diags_file(d, "x.tile", "a", 1), 0, 1};
    for (int i = 0; i < 200; i++) diag_error(d, place, "some-id", "bad");
    CHECK(d->diag.n == 1 && d->errors == 200 && diags_unshown(d) == 0);
    for (int i = 0; i < 101; i++) diag_error(d, place, "some-id", "bad %d", i);
    CHECK(d->diag.n == 100 && diags_unshown(d) == 2);
    arena_free(a);
}

/* One error at [begin, end) of a source, as it is printed. */
static void rendering_check(const char *source, uint32_t begin, uint32_t end, const char *want) {
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    diag_error(d, (Loc){diags_file(d, "x.tile", source, strlen(source)), begin, end}, "some-id", "bad '%s'", "thing");
    char *got = rendering_of(d, false);
    if (CHECK(strcmp(got, want) == 0)) fprintf(stderr, "%s", got);
    free(got);
    arena_free(a);
}

static void renderings_check(void) {
    rendering_check("a = b;\nc = d;", 11, 12, "x.tile:2:5: error: bad 'thing' [some-id]\nc = d;\n    ^\n");
    rendering_check("foo bar", 4, 7, "x.tile:1:5: error: bad 'thing' [some-id]\nfoo bar\n    ^~~\n");
    rendering_check("\tx = y", 1, 2, "x.tile:1:2: error: bad 'thing' [some-id]\n        x = y\n        ^\n");
    rendering_check("ab\tx", 3, 4, "x.tile:1:4: error: bad 'thing' [some-id]\nab      x\n        ^\n");
    rendering_check("\xc3\xa4\xe6\x9b\xb4 b", 6, 7,
                    "x.tile:1:7: error: bad 'thing' [some-id]\n\xc3\xa4\xe6\x9b\xb4 b\n   ^\n");
    rendering_check("a\xff\x01 b", 1, 2, "x.tile:1:2: error: bad 'thing' [some-id]\na<FF><01> b\n ^~~~\n");
    rendering_check("ab\r\ncd", 1, 4, "x.tile:1:2: error: bad 'thing' [some-id]\nab\n ^\n");
    rendering_check("ab", 2, 2, "x.tile:1:3: error: bad 'thing' [some-id]\nab\n  ^\n");
    rendering_check("", 0, 0, "x.tile:1:1: error: bad 'thing' [some-id]\n\n^\n");
}

static void kinds_check(void) {
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    diag_warning(d, (Loc){0}, "w", "one");
    diag_perf(d, (Loc){0}, "p", "two");
    diag_note(d, (Loc){0}, "three");
    char *plain = rendering_of(d, false), *coloured = rendering_of(d, true);
    CHECK(strcmp(plain, "tilec: warning: one [w]\ntilec: performance warning: two [p]\nnote: three\n") == 0);
    CHECK(strstr(coloured, "\033[1;35mwarning:\033[0m") != NULL);
    CHECK(d->errors == 0 && d->warnings == 2);
    free(plain);
    free(coloured);
    arena_free(a);
}

static bool nearest_is(const char *word, const char *want) {
    static const char *const known[] = {"matmul", "softmax", "rmsnorm", "x", "sum", "cumsum"};
    const char *got = spelling_nearest(word, known, 6);
    return want ? got && strcmp(got, want) == 0 : !got;
}

static void spelling_check(void) {
    CHECK(nearest_is("matmull", "matmul"));
    CHECK(nearest_is("sfotmax", "softmax"));
    CHECK(nearest_is("smu", "sum"));
    CHECK(nearest_is("cumsm", "cumsum"));
    CHECK(nearest_is("attention", NULL));
    CHECK(nearest_is("smum", "sum"));
    CHECK(nearest_is("smux", NULL));
    CHECK(nearest_is("y", NULL));
    CHECK(nearest_is("", NULL));
}

int main(void) {
    repeated_check();
    renderings_check();
    kinds_check();
    spelling_check();
    return failures > 0;
}
