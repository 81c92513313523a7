/* flags_random.c [COUNT [FIRST]]: generated programs through comm and flags, and through comm and barriers: all proved. */
#include "passes/proof/proof.h"
#include "test/mutate/generate.h"

#include <stdlib.h>

static int check_seed(uint64_t seed, bool flags, bool sizes) {
    Arena *arena = arena_new();
    Module *m = gen_sized(arena, seed, sizes);
    bool good = gen_lower(m, seed, flags, stderr);
    int boundaries = 0;
    for (int i = 0; i < m->diags->diag.n; i++) {
        const Diag *d = &m->diags->diag.p[i];
        if (!good || (d->id && !strcmp(d->id, "kernel-boundary") && getenv("SHOW"))) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, d->message);
        boundaries += d->id && !strcmp(d->id, "kernel-boundary");
    }
    if (!good && getenv("SHOW")) module_print(m, stderr);
    arena_free(arena);
    return good ? boundaries : -1;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 200, first = argc > 2 ? atoi(argv[2]) : 1, failed = 0, coarse = 0;
    for (int i = 0; i < count; i++)
        for (int form = 0; form < 4; form++) {
            int flags = form & 1, got = check_seed((uint64_t)(first + i), flags, form >> 1);
            failed += got < 0;
            if (flags && got > 0) coarse += got;
        }
    printf("%d programs, %d not proved, %d kernel boundaries kept\n", count, failed, coarse);
    return failed != 0;
}
