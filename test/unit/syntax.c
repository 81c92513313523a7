/* syntax.c: the parser alone, for tests: syntax check | fmt | json | sarif FILE. */
#include "frontend/syntax/ast.h"

#include <string.h>

static DiagStyle style_of(const char *mode) {
    return strcmp(mode, "json") == 0 ? DIAG_JSON : strcmp(mode, "sarif") == 0 ? DIAG_SARIF : DIAG_TEXT;
}

static int file_check(const char *mode, const char *path) {
    Text source = {0}, out = {0};
    const char *failed = text_read(&source, path, 2 * SYNTAX_BYTES);
    if (failed) {
        fprintf(stderr, "%s: %s\n", path, failed);
        return 2;
    }
    Arena *a = arena_new();
    Diags *d = diags_new(a);
    const Unit *unit = parse_source(a, names_new(a), d, diags_file(d, path, text_str(&source), source.n));
    diags_print(d, stdout, style_of(mode), false);
    int errors = d->errors;
    if (errors == 0 && strcmp(mode, "fmt") == 0) unit_print(&out, unit, d);
    fputs(text_str(&out), stdout);
    text_free(&source);
    text_free(&out);
    arena_free(a);
    return errors > 0;
}

int main(int argc, char **argv) {
    if (argc == 3) return file_check(argv[1], argv[2]);
    fputs("usage: syntax check | fmt | json | sarif FILE\n", stderr);
    return 2;
}
