/* pipeline.c: checks one file on 1 .. 4 ranks, in every form of its collectives, with and without flags; on one rank also
   the passes of every GPU.
   usage: pipeline FILE.tile [--ranks=N] [--seeds=N] [--split=N] [-D NAME=N].. [--size NAME=N].. */
#include "target/matrix.h"
#include "test/pipeline/check.h"

static const char *value_of(const char *arg, const char *option) {
    size_t n = strlen(option);
    return strncmp(arg, option, n) == 0 ? arg + n : NULL;
}

static void take_define(Test *t, Define *to, int *n, const char *text) {
    const char *eq = strchr(text, '=');
    if (!eq) exit(2);
    to[(*n)++] = (Define){arena_text(t->arena, text, (size_t)(eq - text)), strtoll(eq + 1, NULL, 10)};
}

int main(int argc, char **argv) {
    Test t = {.arena = arena_new(), .seeds = 4};
    int64_t most = 4;
    int single = 0;
    for (int i = 1; i < argc; i++) {
        const char *v;
        if ((v = value_of(argv[i], "--ranks="))) most = atoll(v), single = 1;
        else if ((v = value_of(argv[i], "--seeds="))) t.seeds = atoi(v);
        else if ((v = value_of(argv[i], "--split="))) t.split = atoi(v);
        else if (strcmp(argv[i], "-D") == 0 && i + 1 < argc) take_define(&t, t.define, &t.lower.ndefine, argv[++i]);
        else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) take_define(&t, t.size, &t.nsize, argv[++i]);
        else t.file = argv[i];
    }
    t.lower.define = t.define;
    make_inputs(&t, 1);
    if (!t.axes) most = single = 1;
    int nforms = t.axes ? 6 : 1; /* without a mesh there are no collectives */
    for (int64_t ranks = single ? most : 1; ranks <= most; ranks++)
        for (int form = 0; form < nforms; form++) {
            check_pipeline(&t, ranks, (CommForm)form, NULL);
            if (form < 2) check_pipeline(&t, ranks, (CommForm)form, "flags");
        }
    for (int i = 0; i < matrix_target_count; i++) {
        t.target = matrix_targets[i].name;
        check_pipeline(&t, 1, COMM_AUTO, NULL);
    }
    printf("%s: %d runs, %d differences\n", t.file, t.runs, t.failures);
    arena_free(t.arena);
    return t.failures != 0;
}
