/* pass_table.c: prints a line for each pass of passes/pass.c: its name, what it does, its place in the pipeline of the
   host and in that of GPUs, and the forms that it must come before. docs/passes/fill.py makes an index of them. */
#include "passes/pass.h"

#include <stdio.h>
#include <string.h>

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
    printf("%s%s\n", pass->breaks & FORM_FLAGS ? "flags" : "", pass->values ? ", layout" : "");
}

static void facts_print(const Pass *pass, int facts) {
    for (int i = 0, n = 0; facts >> i; i++)
        if (facts >> i & 1) printf("%s%s", n++ ? ", " : "", pass->fact((size_t)i)->name);
    printf("\t");
}

/* `pass_table steps`: a line for each step of a pass: pass, step, what it does, facts that it needs, gives and ends; then
   one for each fact: pass, fact, what it means. */
static void steps_print(const Pass *pass) {
    for (size_t i = 0; pass->step && pass->step(i); i++) {
        const PassStep *s = pass->step(i);
        printf("%s\t%s\t%s\t", pass->name, s->name, s->help);
        facts_print(pass, s->needs);
        facts_print(pass, s->gives);
        facts_print(pass, s->ends);
        printf("\n");
    }
    for (size_t i = 0; pass->fact && pass->fact(i); i++)
        printf("%s\t%s\t%s\n", pass->name, pass->fact(i)->name, pass->fact(i)->means);
}

int main(int argc, char **argv) {
    bool steps = argc == 2 && strcmp(argv[1], "steps") == 0;
    for (size_t i = 0; pass_at(i); i++) (steps ? steps_print : pass_print)(pass_at(i));
    return 0;
}
