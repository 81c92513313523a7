/* mutate_roles.c: roles with one step changed: what the verifier refuses, and what the interpreter finds under many
   schedules. usage: mutate_roles FILE.tir [schedules=N] [generations=N] [every=N] [list] [NAME=VALUE of run-time
   dimensions ..] Prints a table by kind. An error is a change of a strict kind that nobody notices. `list`: each mutant
   that the verifier does not refuse. */
#include "test/mutate/roles.h"
#include "test/unit/roles_case.h"

typedef struct {
    int made, refused, found, unnoticed;
} Tally;

typedef struct {
    Case c;
    Array *want;
    Tally of[ROLE_KINDS];
    int every, at;
    bool list, both;
} Campaign;

/* What the first schedule that shows it shows; NULL: the body's results, under all. */
static const char *interpret(const Case *c, Arena *a, const Array *want) {
    for (int i = 1; i <= c->schedules; i++) {
        InterpReport report;
        Array *io = inputs(c, a);
        if (!run(c, a, (InterpOptions){.roles = true, .seed = (uint64_t)i}, io, &report))
            return report.fault.n && report.fault.p[0].text ? report.fault.p[0].text : "a fault";
        if (compare(c, io, want, i, NULL) == DIFFERENT) return "other results";
    }
    return NULL;
}

/* What nobody notices but should; with `both`, what the verifier refuses and the interpreter runs well; with `list`,
 * the rest. */
static void tell(const Campaign *g, const Kernel *k, RoleMutation kind, int at, bool refused, const char *why) {
    const char *verdict = refused ? "refused alone" : why ? "found" : kind < ROLE_STRICT ? "missed" : "right";
    bool told = refused ? g->both && !why && kind != ROLE_WHOLE : g->list || (!why && kind < ROLE_STRICT);
    if (told)
        printf("%s: %s, %s, place %d: %s\n", verdict, k->name, role_mutation[kind], at, why ? why : "the same results");
}

static void judge(Campaign *g, int node, RoleMutation kind, int at) {
    Arena *a = arena_new();
    Case c = g->c;
    Module *m = module_clone(g->c.m, a);
    m->diags = diags_new(a);
    int program = 0;
    while (g->c.m->program.p[program] != g->c.p) program++;
    c.m = m, c.p = m->program.p[program];
    Kernel *k = c.p->node.p[node]->kernel;
    Tally *t = &g->of[kind];
    if (role_mutate(m, k, kind, at)) {
        bool refused = !module_verify(m);
        const char *why = refused && (!g->both || kind == ROLE_WHOLE) ? NULL : interpret(&c, a, g->want);
        t->made++, t->refused += refused, t->found += why && !refused, t->unnoticed += !refused && !why;
        tell(g, k, kind, at, refused, why);
    }
    arena_free(a);
}

static void kernel_judge(Campaign *g, int node) {
    const Kernel *k = g->c.p->node.p[node]->kernel;
    for (int kind = 0; k && k->roles && kind < ROLE_KINDS; kind++)
        for (int at = 0; at < role_places(k, (RoleMutation)kind); at++)
            if (g->at++ % g->every == 0) judge(g, node, (RoleMutation)kind, at);
}

static void program_judge(Campaign *g) {
    Arena *a = arena_new();
    InterpReport report;
    g->want = inputs(&g->c, a);
    if (!run(&g->c, a, (InterpOptions){.bounds = true}, g->want, &report)) die("the body has faults: ", g->c.p->name);
    for (int i = 0; i < g->c.p->node.n; i++) kernel_judge(g, i);
    arena_free(a);
}

static int table(const Campaign *g) {
    Tally all = {0};
    int missed = 0;
    for (int kind = 0; kind < ROLE_KINDS; kind++) {
        const Tally *t = &g->of[kind];
        all.made += t->made, all.refused += t->refused, all.found += t->found, all.unnoticed += t->unnoticed;
        missed += kind < ROLE_STRICT ? t->unnoticed : 0;
        if (t->made)
            printf("%-36s %4d made, %4d refused, %4d found, %4d right\n", role_mutation[kind], t->made, t->refused,
                   t->found, t->unnoticed);
    }
    printf("%-36s %4d made, %4d refused, %4d found, %4d right, %d missed\n", "all", all.made, all.refused, all.found,
           all.unnoticed, missed);
    return missed;
}

int main(int argc, char **argv) {
    if (argc < 2)
        die("usage: mutate_roles FILE.tir [schedules=N] [generations=N] [every=N] [list] [NAME=VALUE ..]", "");
    Arena *a = arena_new();
    const char *schedules = argument_of(argv + 2, argc - 2, "schedules"),
               *every = argument_of(argv + 2, argc - 2, "every");
    const char *generations = argument_of(argv + 2, argc - 2, "generations");
    Campaign g = {.c = {.m = read_module(a, argv[1], false),
                        .schedules = schedules ? atoi(schedules) : 10,
                        .generations = generations ? atoi(generations) : 1},
                  .every = every ? atoi(every) : 1,
                  .list = has_word(argv + 2, argc - 2, "list"),
                  .both = has_word(argv + 2, argc - 2, "both")};
    for (int i = 0; i < g.c.m->symbol.n; i++) {
        const char *value = argument_of(argv + 2, argc - 2, g.c.m->symbol.p[i].name);
        g.c.sym[i] = value ? atoll(value) : g.c.m->symbol.p[i].bound;
    }
    for (int i = 0; i < g.c.m->program.n; i++) {
        g.c.p = g.c.m->program.p[i];
        program_judge(&g);
    }
    int missed = table(&g);
    arena_free(a);
    return missed > 0;
}
