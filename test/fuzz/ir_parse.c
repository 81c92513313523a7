/* ir_parse.c: any bytes through parse, verify, print, parse, print: no crash, and the two texts are equal.
   Built with -fsanitize=fuzzer,address,undefined. */
#include "ir/ir.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Module *parse(Arena *a, Names *names, Diags *diags, const char *text, size_t len) {
    return module_parse(a, names, diags, diags_file(diags, "input.tir", text, len));
}

static void check_round_trip(Arena *a, Names *names, Diags *diags, const Module *m) {
    char *first = module_text(m, a);
    Module *again = parse(a, names, diags, first, strlen(first));
    if (!again) {
        diags_print(diags, stderr, DIAG_TEXT, false);
        abort();
    }
    if (strcmp(first, module_text(again, a)) != 0) abort();
    if (strcmp(first, module_text(module_clone(again, a), a)) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *a = arena_new();
    Names *names = names_new(a);
    Diags *diags = diags_new(a);
    Module *m = parse(a, names, diags, arena_text(a, (const char *)data, size), size);
    if (m) check_round_trip(a, names, diags, m);
    arena_free(a);
    return 0;
}
