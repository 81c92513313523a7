/* plan_of.c TARGET PASS FILE.tir: what plan_of answers of each kernel while PASS runs ("": none does): its plan, tiles
   and time, or why it has none. The module is the same behind the question. */
#include "base/text.h"
#include "passes/plan/plan.h"

#include <stdio.h>
#include <string.h>

static Module *module_of(Arena *a, const char *path) {
    Diags *diags = diags_new(a);
    Text text = {0};
    if (text_read(&text, path, 1 << 24)) return NULL;
    Module *m = module_parse(a, names_new(a), diags, diags_file(diags, path, text_str(&text), text.n));
    if (!m) diags_print(diags, stderr, DIAG_TEXT, false);
    return m;
}

static void planned_print(const Kernel *k, const Planned *p) {
    printf("%s: ", k->name);
    if (p->why.words) printf("%s", *p->why.words ? p->why.words : "nothing");
    if (p->align) printf(", of %d operands to rows of %d bytes", p->operands, p->align);
    if (!p->why.words)
        printf("%s, parts %d, %s", p->plan.schedule, p->plan.parts, p->seconds > 0 ? "timed" : "not timed");
    for (int i = 0; i < p->tiles; i++)
        printf(", %s %lld", k->range.p[p->tile[i].range].name, (long long)p->tile[i].size);
    printf("\n");
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    Arena *a = arena_new();
    Module *m = module_of(a, argv[3]);
    if (!m) return 1;
    const PassOptions options = {.target = argv[1]};
    PassContext c = {.m = m, .options = &options, .pass = pass_find(argv[2])};
    const char *before = module_text(m, a);
    for (int i = 0, n = m->kernel.n; i < n; i++) {
        Planned p = plan_of(&c, m->kernel.p[i]);
        planned_print(m->kernel.p[i], &p);
    }
    bool same = strcmp(before, module_text(m, a)) == 0 && !c.remark.n && !m->diags->diag.n;
    arena_free(a);
    return !same;
}
