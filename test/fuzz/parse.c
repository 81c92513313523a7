/* parse.c: libFuzzer target: no bytes crash the parser or the printing of its errors, and what it understands prints to
   text that it understands again and prints the same. */
#include "frontend/syntax/ast.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static FILE *nowhere;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    nowhere = fopen("/dev/null", "w");
    return nowhere ? 0 : 1;
}

/* The canonical text of a source, or false if it has errors. */
static bool source_print(Arena *a, const char *text, size_t n, Text *out) {
    Diags *d = diags_new(a);
    int file = diags_file(d, "fuzz.tile", text, n);
    Unit *unit = parse_source(a, names_new(a), d, file);
    for (DiagStyle style = DIAG_TEXT; style <= DIAG_SARIF; style++) diags_print(d, nowhere, style, true);
    if (d->errors == 0) unit_print(out, unit, d);
    return d->errors == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    Arena *a = arena_new();
    Text once = {0}, twice = {0};
    if (source_print(a, (const char *)data, n, &once)) {
        if (!source_print(a, text_str(&once), once.n, &twice)) abort();
        if (once.n != twice.n || (once.n && memcmp(once.p, twice.p, once.n) != 0)) abort();
    }
    text_free(&once);
    text_free(&twice);
    arena_free(a);
    return 0;
}
