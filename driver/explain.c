/* explain.c: tilec explain: what each pass decided, in order, with its reason and prediction. */
#include "driver/session.h"

#include <stdio.h>

static void print_programs(const Session *s) {
    for (int i = 0; i < s->m->program.n; i++) {
        const Program *p = s->m->program.p[i];
        printf("program %s: %d kernels", p->name, p->node.n);
        for (int k = 0; k < p->node.n; k++) printf("%s %s", k ? "," : ":", p->node.p[k]->kernel->name);
        printf("\n");
    }
}

int command_explain(Options *o) {
    Session s;
    if (!session_open(&s, o)) return EXIT_USAGE;
    bool good = session_lower(&s) && session_passes(&s);
    for (int i = 0; i < s.context.remark.n; i++) {
        const Remark *r = &s.context.remark.p[i];
        if (r->loc.file) printf("%s:%d:%d: ", loc_path(s.diags, r->loc), loc_line(s.diags, r->loc), loc_column(s.diags, r->loc));
        printf("%s: %s\n", r->pass, r->text);
    }
    if (good) print_programs(&s);
    return session_close(&s, good ? EXIT_OK : EXIT_WRONG);
}
