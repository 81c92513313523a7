/* verify.c: the rules that every module satisfies.
   Takes: any module. Gives: every violation as an error with id "invalid-ir". */
#include "ir/verify/verify.h"
#include "base/text.h"

static void symbols_verify(Verifier *v) {
    const Module *m = v->m;
    for (int i = 0; i < m->symbol.n; i++) {
        const Symbol *s = &m->symbol.p[i];
        if (!s->name) violation(v, s->loc, "dim %d has no name", i);
        if (s->bound < 0 || s->bound > MAX_EXTENT)
            violation(v, s->loc, "the bound of dim '%s' is not between 0 and 2^40", s->name);
    }
}

static void axes_verify(Verifier *v) {
    const Module *m = v->m;
    int64_t ranks = 1;
    if (m->axis.n > MAX_AXES) violation(v, (Loc){0}, "there are %d mesh axes, more than %d", m->axis.n, MAX_AXES);
    for (int i = 0; i < m->axis.n; i++) {
        const Axis *a = &m->axis.p[i];
        if (!a->name) violation(v, a->loc, "mesh axis %d has no name", i);
        bool good = a->ranks >= 1 && a->ranks <= MAX_RANKS && ranks * a->ranks <= MAX_RANKS;
        if (good)
            ranks *= a->ranks;
        else
            violation(v, a->loc, "mesh axis '%s' makes the ranks fewer than 1 or more than %d", a->name, MAX_RANKS);
    }
}

static void kernel_begin(Verifier *v, const Kernel *k) {
    v->what = "kernel";
    v->name = k->name ? k->name : "_";
}

static void kernels_verify(Verifier *v) {
    for (int i = 0; i < v->m->kernel.n; i++) {
        const Kernel *k = v->m->kernel.p[i];
        kernel_begin(v, k);
        if (!k->name) violation(v, k->loc, "it has no name");
        if (k->id != i) violation(v, k->loc, "it is number %d of the module and has id %d", i, k->id);
        int before = v->violations;
        kernel_verify(v, k);
        if (v->violations == before) kernel_layout_verify(v, k);
    }
}

static void programs_verify(Verifier *v) {
    for (int i = 0; i < v->m->program.n; i++) {
        const Program *g = v->m->program.p[i];
        v->what = "program";
        v->name = g->name ? g->name : "_";
        if (!g->name) violation(v, g->loc, "it has no name");
        program_verify(v, g);
    }
}

bool kernel_is_valid(const Module *m, const Kernel *k) {
    Verifier v = {.m = m, .scratch = arena_new()};
    kernel_begin(&v, k);
    kernel_verify(&v, k);
    if (k->form == KERNEL_LAYOUT && v.violations == 0) kernel_layout_verify(&v, k);
    arena_free(v.scratch);
    return v.violations == 0;
}

bool module_verify(const Module *m) {
    Verifier v = {.m = m, .scratch = arena_new()};
    symbols_verify(&v);
    axes_verify(&v);
    if (v.violations == 0) kernels_verify(&v);
    if (v.violations == 0) programs_verify(&v);
    arena_free(v.scratch);
    return v.violations == 0;
}
