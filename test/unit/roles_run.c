/* roles_run.c: runs the programs of an IR file by the bodies of their kernels, and by their roles under many schedules,
   and compares the results: equal bits, or within the bounds of the interpreter. usage: roles_run FILE.tir
   [schedules=N] [generations=N] [NAME=VALUE,VALUE.. of run-time dimensions ..] Prints a line for each program and
   sizes, and the faults of the first schedule that has some. */
#include "test/unit/roles_case.h"

static void print_sizes(const Case *c) {
    printf("%s:", c->p->name);
    for (int i = 0; i < c->m->symbol.n; i++) printf(" %s %lld", c->m->symbol.p[i].name, (long long)c->sym[i]);
    if (c->m->symbol.n) putchar(':');
}

static void case_run(Case *c) {
    static const char *const text[] = {"the same bits", "within bounds", "different"};
    Arena *all = arena_new();
    Array *want = inputs(c, all);
    InterpReport report;
    Verdict worst = SAME_BITS;
    int faulty = 0;
    if (!run(c, all, (InterpOptions){.bounds = true}, want, &report)) {
        interp_report_print(c->p, &report, stdout);
        die("the body has faults: ", c->p->name);
    }
    for (int i = 1; i <= c->schedules && worst != DIFFERENT; i++) {
        Arena *a = arena_new();
        Array *io = inputs(c, a);
        if (!run(c, a, (InterpOptions){.roles = true, .seed = (uint64_t)i}, io, &report)) {
            if (!faulty++) interp_report_print(c->p, &report, stdout);
        } else {
            Verdict v = compare(c, io, want, i, stdout);
            if (v > worst) worst = v;
        }
        arena_free(a);
    }
    print_sizes(c);
    if (faulty)
        printf(" faults under %d of %d schedules\n", faulty, c->schedules);
    else
        printf(" %s under %d schedules\n", text[worst], c->schedules);
    c->bad |= faulty || worst == DIFFERENT;
    arena_free(all);
}

static bool has_roles(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_CALL && p->node.p[i]->kernel->roles) return true;
    return false;
}

/* Of each dimension from the number `from` on, with each of its values. */
static void sizes_run(Case *c, char **argument, int n, int from) {
    if (from == c->m->symbol.n) {
        case_run(c);
        return;
    }
    const char *value = argument_of(argument, n, c->m->symbol.p[from].name);
    c->sym[from] = c->m->symbol.p[from].bound;
    if (!value) sizes_run(c, argument, n, from + 1);
    while (value) {
        c->sym[from] = atoll(value);
        sizes_run(c, argument, n, from + 1);
        value = strchr(value, ',');
        if (value) value++;
    }
}

int main(int argc, char **argv) {
    if (argc < 2)
        die("usage: roles_run FILE.tir [unverified] [schedules=N] [generations=N] [NAME=VALUE,VALUE.. ..]", "");
    Arena *a = arena_new();
    Case c = {
        .m = read_module(a, argv[1], has_word(argv + 2, argc - 2, "unverified")), .schedules = 100, .generations = 1};
    const char *schedules = argument_of(argv + 2, argc - 2, "schedules");
    const char *generations = argument_of(argv + 2, argc - 2, "generations");
    if (schedules) c.schedules = atoi(schedules);
    if (generations) c.generations = atoi(generations);
    if (c.m->symbol.n > SYMBOLS) die("too many dimensions: ", argv[1]);
    for (int i = 0; i < c.m->program.n; i++) {
        c.p = c.m->program.p[i];
        if (has_roles(c.p))
            sizes_run(&c, argv + 2, argc - 2, 0);
        else
            printf("%s: no kernel has roles\n", c.p->name);
    }
    arena_free(a);
    return c.bad;
}
