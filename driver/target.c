/* target.c: the names that --target takes, and which command takes which. */
#include "driver/target.h"
#include "target/matrix.h"

#include <stdio.h>
#include <string.h>

static bool target_find(const char *name, Target *t) {
    *t = (Target){.name = name, .machine = name};
    if (strcmp(name, "host") == 0) return true;
    if (strcmp(name, "interp") == 0) return t->interp = true, t->machine = "host", true;
    t->gpu = true;
    t->emulated = strncmp(name, "emu:", 4) == 0;
    t->machine += t->emulated ? 4 : 0;
    return matrix_target(t->machine) != NULL;
}

bool target_known(const char *name) {
    Target t;
    return target_find(name, &t) && !t.emulated;
}

static bool refused(const char *format, const char *name) {
    fputs("tilec: error: ", stderr);
    fprintf(stderr, format, name);
    fputs("\n", stderr);
    return false;
}

/* An emulated one is near to an emulated one. */
void target_unknown(Arena *a, const char *name) {
    const char **list = ARENA_ARRAY(a, const char *, 2 + 2 * matrix_target_count), *near;
    int n = 0;
    list[n++] = "host", list[n++] = "interp";
    for (int i = 0; i < matrix_target_count; i++) list[n++] = matrix_targets[i].name;
    for (int i = 0; i < matrix_target_count; i++) list[n++] = arena_format(a, "emu:%s", matrix_targets[i].name);
    near = spelling_nearest(name, list, n);
    fprintf(stderr, "tilec: error: there is no target '%s'", name);
    if (near) fprintf(stderr, "; did you mean '%s'?", near);
    fputs("; see tilec targets\n", stderr);
}

static bool target_fits(const Options *o, const Target *t) {
    bool run = strcmp(o->command, "run") == 0, tune = strcmp(o->command, "tune") == 0;
    if (t->interp && !run) return refused("only 'tilec run' takes the target '%s'", t->name);
    if (t->emulated && !run && !tune) return refused("only 'tilec run' and 'tilec tune' take the target '%s'", t->name);
    return true;
}

static bool target_add(const Options *o, TargetList *list, const char *name) {
    Target t;
    if (strncmp(name, "emu", 3) == 0 && name[3] != ':')
        return refused("'%s' names no GPU; an emulated one is emu:NAME, see tilec targets", name);
    if (!target_find(name, &t)) return target_unknown(o->arena, name), false;
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->p[i].name, name) == 0) return refused("--target names '%s' twice", name);
    vec_push(o->arena, list, t);
    return target_fits(o, &t);
}

static void host_first(TargetList *list) {
    for (int i = list->n - 1; i > 0; i--) {
        if (list->p[i].gpu) continue;
        Target before = list->p[i - 1];
        list->p[i - 1] = list->p[i];
        list->p[i] = before;
    }
}

bool targets_read(const Options *o, TargetList *list) {
    const char *s = o->target ? o->target : "host";
    *list = (TargetList){0};
    for (;; s++) {
        size_t n = strcspn(s, ",");
        if (!target_add(o, list, arena_text(o->arena, s, n))) return false;
        if (!*(s += n)) break;
    }
    host_first(list);
    if (list->n == 1 || strcmp(o->command, "compile") == 0) return true;
    return refused("only 'tilec compile' takes several targets, not '%s'", o->target);
}

void targets_print(const char *only) {
    if (!only || !strcmp(only, "host"))
        printf("host      C11 for this machine's processors, ranks as threads or processes\n");
    for (int i = 0; i < matrix_target_count; i++)
        if (!only || !strcmp(only, matrix_targets[i].name))
            printf("%-9s GPU with waves of %d lanes; emu:%s runs its code on the CPU (tilec run and tune only)\n",
                   matrix_targets[i].name, matrix_targets[i].wave, matrix_targets[i].name);
    if (!only || !strcmp(only, "interp")) printf("interp    the interpreter (tilec run only)\n");
}
