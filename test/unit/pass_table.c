/* pass_table.c: prints a line for each pass of passes/pass.c: its name, what it does, its place in the pipeline of the
   host and in that of GPUs, and the forms that it must come before. docs/passes/fill.py makes an index of them. */
#include "passes/pass.h"

#include <stdio.h>

/* Its place in the pipeline, from 1 on; 0: it has none. */
static int place_of(const Pass *pass, const char *target) {
    int n;
    const Pass *const *list = pipeline_of(target, &n);
    for (int i = 0; i < n; i++)
        if (list[i] == pass) return i + 1;
    return 0;
}

static void place_print(const Pass *pass, const char *target) {
    int place = place_of(pass, target);
    if (place) printf("%d", place);
    printf("\t");
}

static void pass_print(const Pass *pass) {
    printf("%s\t%s\t", pass->name, pass->help);
    place_print(pass, "host");
    place_print(pass, "gfx942");
    printf("%s%s\n", pass->breaks & FORM_FLAGS ? "flags" : "", pass->breaks & FORM_LAYOUT ? ", layout" : "");
}

int main(void) {
    for (size_t i = 0; pass_at(i); i++) pass_print(pass_at(i));
    return 0;
}
