/* proof_speed.c [SECONDS]: an elementwise kernel and a product that reads it, on four ranks: over 100,000 tasks are
   checked, and fewer than SECONDS pass (default 1). */
#include "passes/proof/proof.h"
#include "test/mutate/generate.h"

#include <stdlib.h>
#include <time.h>

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    double limit = argc > 1 ? atof(argv[1]) : 1.0;
    Arena *arena = arena_new();
    Gen g = {.seed = 7, .m = module_new(arena, names_new(arena), diags_new(arena)), .ranks = 4, .tile = 32};
    vec_push(arena, &g.m->axis, ((Axis){.name = name_of(g.m->names, "tp"), .ranks = 4}));
    g.p = program_new(g.m, name_of(g.m->names, "main"), (Loc){0});
    int a = gen_tensor(&g, ROLE_INPUT, 10240, 320, -1), b = gen_tensor(&g, ROLE_INPUT, 320, 2560, -1);
    int c = gen_matmul(&g, gen_elementwise(&g, a, a, ROLE_TEMP), b);
    g.p->tensor.p[c].role = ROLE_OUTPUT;
    vec_push(arena, &g.p->io, c);
    if (!gen_lower(g.m, 0, true, stderr)) {
        diags_print(g.m->diags, stderr, DIAG_TEXT, false);
        return 1;
    }
    double start = seconds_now();
    Proof proof = proof_program(g.m, g.p, NULL, arena);
    double took = seconds_now() - start;
    printf("%lld tasks, %lld waits, %lld pairs: %s in %.3f s, %.0f tasks/s\n", (long long)proof.tasks, (long long)proof.waits,
           (long long)proof.pairs, proof.proved ? "proved" : proof.why, took, (double)proof.tasks / took);
    return !proof.proved || proof.tasks < 100000 || took > limit;
}
