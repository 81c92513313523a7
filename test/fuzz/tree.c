/* tree.c: libFuzzer target: no bytes crash the parser of decision trees, and what it refuses has an error. */
#include "frontend/sema/tree.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int leaves(const Tree *t) {
    int count = 1;
    for (; !t->arm; t = t->no) {
        if (!t->test || !t->yes || !t->no) abort();
        count += leaves(t->yes);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    Arena *a = arena_new();
    Diags *diags = diags_new(a);
    const char *text = arena_text(a, (const char *)data, n);
    const Tree *tree = tree_parse(a, names_new(a), diags, diags_file(diags, "fuzz.tree", text, n));
    if ((tree != NULL) != (diags->errors == 0)) abort();
    if (tree && leaves(tree) > TREE_NODES) abort();
    arena_free(a);
    return 0;
}
