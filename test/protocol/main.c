/* main.c: every scenario must hold in all executions; every way to break the protocol must be noticed by one of them.
   usage: protocol [SCENARIO]: with a number only that scenario, and the path to its error */
#include "scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int scenario_run(int i, bool show_path) {
    clock_t begin = clock();
    Result r = check_scenario(&scenarios[i], &(Mutation){0}, show_path);
    printf("%-36s %8ld states %9ld steps %6ld ends %6.2f s  %s\n", scenarios[i].name, r.states, r.steps, r.ends,
           (double)(clock() - begin) / CLOCKS_PER_SEC, r.error ? r.error : "holds");
    return r.error != NULL;
}

/* True if some scenario fails with the mutation. */
static bool mutation_noticed(const Mutation *m, const char *name) {
    for (int i = 0; i < nscenarios; i++) {
        Result r = check_scenario(&scenarios[i], m, false);
        if (!r.error) continue;
        printf("%-36s noticed: %s (%s)\n", name, r.error, scenarios[i].name);
        return true;
    }
    printf("%-36s NOT NOTICED\n", name);
    return false;
}

static int order_lost(int line, ModelOrder lost) {
    char name[64];
    snprintf(name, sizeof name, "host.h:%d loses its %s", line, lost == MODEL_acquire ? "acquire" : "release");
    return !mutation_noticed(&(Mutation){.line = line, .lost = lost}, name);
}

static int orders_lost(void) {
    int line[64], missed = 0;
    ModelOrder order[64];
    int n = sites(line, order, 64);
    for (int i = 0; i < n; i++) {
        if (order[i] != MODEL_release) missed += order_lost(line[i], MODEL_acquire);
        if (order[i] != MODEL_acquire) missed += order_lost(line[i], MODEL_release);
    }
    return missed;
}

int main(int argc, char **argv) {
    int bad = 0;
    if (argc > 1) return scenario_run(atoi(argv[1]) % nscenarios, true);
    for (int i = 0; i < nscenarios; i++) bad += scenario_run(i, false);
    bad += orders_lost();
    bad += !mutation_noticed(&(Mutation){.late_reset = true}, "counter reset after the publication");
    bad += !mutation_noticed(&(Mutation){.equal = true}, "waits compare ==");
    bad += !mutation_noticed(&(Mutation){.slots = 1}, "one slot");
    bad += !mutation_noticed(&(Mutation){.no_clear = true}, "recovery clears nothing");
    printf("%d wrong\n", bad);
    return bad != 0;
}
