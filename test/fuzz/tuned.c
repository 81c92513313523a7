/* tuned.c: libFuzzer target: no bytes crash the parser of files of sizes, what it refuses has an error, and what it
   takes is printed as the same entries. */
#include "frontend/sema/tuned.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static bool parse(Arena *a, const char *text, size_t n, Tuned *to) {
    Diags *diags = diags_new(a);
    bool good = tuned_parse(a, diags, diags_file(diags, "fuzz.tuned", text, n), to);
    if (good != (diags->errors == 0)) abort();
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    Arena *a = arena_new();
    Tuned first = {0}, again = {0};
    Text once = {0}, twice = {0};
    if (parse(a, arena_text(a, (const char *)data, n), n, &first)) {
        tuned_print(&once, &first);
        if (!parse(a, text_str(&once), once.n, &again)) abort();
        tuned_print(&twice, &again);
        if (strcmp(text_str(&once), text_str(&twice))) abort();
    }
    text_free(&once);
    text_free(&twice);
    arena_free(a);
    return 0;
}
