/* codegen.c: any module that verifies comes out as C text, twice the same, or is refused with an error.
   Built with -fsanitize=fuzzer,address,undefined. */
#include "codegen/codegen.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool emit(const Module *m, const Program *p, Text *source) {
    Text header = {0}, manifest = {0};
    bool good = c_emit(m, p, &(Targets){.host = true}, source, &header, &manifest);
    text_free(&header);
    text_free(&manifest);
    return good;
}

static void check_program(const Module *m, const Program *p) {
    Text first = {0}, second = {0};
    bool good = emit(m, p, &first);
    if (good != emit(m, p, &second) || (good && strcmp(first.p, second.p))) abort();
    if (!good && m->diags->errors == 0) abort();
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *a = arena_new();
    Diags *diags = diags_new(a);
    const char *text = arena_text(a, (const char *)data, size);
    Module *m = module_parse(a, names_new(a), diags, diags_file(diags, "input.tir", text, size));
    bool good = m && diags->errors == 0 && module_verify(m);
    for (int i = 0; good && i < m->program.n; i++) check_program(m, m->program.p[i]);
    arena_free(a);
    return 0;
}
