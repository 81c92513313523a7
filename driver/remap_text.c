/* remap_text.c: the text of a HIP file with orders: before a kernel and its helpers a function that says which
   workgroup stands in whose place, and in them a variable `blockIdx` of its result. Every other byte stays. */
#include "driver/remap.h"

#include "codegen/text/order_alone.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint32_t at;
    const char *text;
} Insertion;

static int by_place(const void *a, const void *b) {
    const uint32_t x = ((const Insertion *)a)->at, y = ((const Insertion *)b)->at;
    return (x > y) - (x < y);
}

static void name_add(Text *to, const void *kernel, int range) {
    text_add(to, ((const Kernel *)kernel)->range.p[range].name);
}

static bool is_taken(Remap *r, const char *name, const char *const *given, int n) {
    bool taken = strstr(text_str(&r->source), arena_format(r->arena, "%s_order", name)) ||
                 strstr(text_str(&r->source), arena_format(r->arena, "%s_block", name));
    for (int i = 0; i < n; i++) taken |= given[i] && strcmp(given[i], name) == 0;
    return taken;
}

/* The kernel's name, or with a number where the file, or another kernel, has such functions. */
static const char *free_name(Remap *r, const char *plain, const char *const *given, int n) {
    const char *name = plain;
    for (int i = 2; is_taken(r, name, given, n); i++) name = arena_format(r->arena, "%s_%d", plain, i);
    return name;
}

static const char *function_text(Remap *r, const Remapped *k, const char *name) {
    const HipTasks *t = &k->tasks;
    OrderAxes axes = {.n = t->k->ngrid - (t->columns ? 2 : 0), .columns = t->columns};
    Text order = {0}, to = {0};
    for (int i = 0; i < axes.n; i++) axes.axis[i] = t->axis[i];
    order_text(&order, &k->choice.order, name_add, t->k);
    order_alone_write(&to, name,
                      arena_format(r->arena, "// Workgroups of %s in the order %s, by tilec remap for %s.\n",
                                   k->hip->plain, text_str(&order), r->in.arch),
                      &k->choice.order, &axes);
    text_add(&to, "\n");
    const char *text = arena_text(r->arena, text_str(&to), to.n);
    text_free(&order);
    text_free(&to);
    return text;
}

/* On a line of its own where the brace ends its line. */
static const char *line_text(Remap *r, const char *name, uint32_t at) {
    const char *behind = text_str(&r->source) + at;
    behind += strspn(behind, " \t\r");
    return arena_format(r->arena,
                        *behind == '\n' ? "\n    const %s_block blockIdx = %s_order();"
                                        : " const %s_block blockIdx = %s_order();",
                        name, name);
}

void remap_write(Remap *r) {
    VEC(Insertion) insertion = {0};
    const char **given = ARENA_ARRAY(r->arena, const char *, r->kernel.n + 1);
    uint32_t at = 0;
    for (int i = 0; i < r->kernel.n; i++) {
        const Remapped *k = &r->kernel.p[i];
        if (k->why) continue;
        const char *name = given[i] = free_name(r, k->hip->plain, given, i);
        vec_push(r->arena, &insertion, ((Insertion){k->hip->before, function_text(r, k, name)}));
        for (int u = 0; u < k->hip->nuse; u++)
            vec_push(r->arena, &insertion, ((Insertion){k->hip->use[u].body, line_text(r, name, k->hip->use[u].body)}));
    }
    if (insertion.n) qsort(insertion.p, (size_t)insertion.n, sizeof *insertion.p, by_place);
    for (int i = 0; i < insertion.n; i++) {
        text_add_n(&r->result, text_str(&r->source) + at, insertion.p[i].at - at);
        text_add(&r->result, insertion.p[i].text);
        at = insertion.p[i].at;
    }
    text_add_n(&r->result, text_str(&r->source) + at, r->source.n - at);
}
