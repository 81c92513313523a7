/* pass.c: the table of passes, the pipeline of each target, and running a list of them. */
#include "passes/pass.h"
#include "ir/trial.h"
#include "target/matrix.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

static const Pass *const passes[] = {
    &pass_fuse, &pass_comm, &pass_predicate, &pass_static_block, &pass_linearize, &pass_stream_order, &pass_flags, &pass_barriers, &pass_trim, &pass_fold_gqa,
    &pass_pad, &pass_pipe, &pass_steps, &pass_split, &pass_layout, &pass_roles, &pass_remap};
static const Pass *const host_pipeline[] = {&pass_fuse, &pass_comm, &pass_predicate, &pass_split, &pass_flags, &pass_barriers};
/* Flags come late: they count tiles, whose sizes the passes before them choose. Roles are cut from what has them. */
static const Pass *const gpu_pipeline[] = {
    &pass_fuse, &pass_comm, &pass_predicate, &pass_static_block, &pass_linearize, &pass_stream_order, &pass_trim, &pass_fold_gqa, &pass_pad, &pass_pipe,
    &pass_steps, &pass_split, &pass_layout, &pass_flags, &pass_barriers, &pass_roles, &pass_remap};

const Pass *pass_find(const char *name) {
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (strcmp(passes[i]->name, name) == 0) return passes[i];
    return NULL;
}

const char *pass_renamed(const char *old) {
    static const char *const name[][2] = {
        {"even", "static_block"}, {"flat", "linearize"}, {"group", "fold_gqa"}, {"when", "predicate"}, {"launches", "stream_order"}};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(name[i][0], old) == 0) return name[i][1];
    return NULL;
}

const Pass *pass_at(size_t i) { return i < sizeof passes / sizeof *passes ? passes[i] : NULL; }

const Pass *const *pipeline_of(const char *target, int *n) {
    bool gpu = matrix_target(target) != NULL;
    if (!gpu && strcmp(target, "host")) return NULL;
    *n = (int)(gpu ? sizeof gpu_pipeline / sizeof *gpu_pipeline : sizeof host_pipeline / sizeof *host_pipeline);
    return gpu ? gpu_pipeline : host_pipeline;
}

void remark(PassContext *c, const char *pass, Loc loc, const char *format, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    Remark r = {pass, loc, arena_text(c->m->arena, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1)};
    vec_push(c->m->arena, &c->remark, r);
}

PassContext pass_trial(const PassContext *c) { return (PassContext){.m = trial_module(c->m), .options = c->options, .pass = c->pass}; }

bool collectives_gone(PassContext *c, const Program *p, const char *pass) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind != NODE_CALL) {
            diag_error(c->m->diags, p->node.p[i]->loc, "wrong-form", "a collective is left: comm must run before %s", pass);
            return false;
        }
    return true;
}

bool pass_is_off(const PassOptions *o, const Pass *p) {
    for (int i = 0; i < o->noff; i++)
        if (strcmp(o->off[i], p->name) == 0) return true;
    return false;
}

static bool are_values(const Module *m) {
    for (int i = 0; i < m->kernel.n; i++)
        if (m->kernel.p[i]->form != KERNEL_VALUE) return false;
    return true;
}

static bool form_fits(PassContext *c, const Pass *p) {
    int form = c->m->form;
    if ((form & p->needs) == p->needs && !(form & p->breaks) && (!p->values || are_values(c->m))) return true;
    diag_error(c->m->diags, (Loc){0}, "wrong-form", "the pass '%s' cannot run on a module in this form", p->name);
    return false;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_after(PassContext *c, const Pass *p, double seconds) {
    const PassOptions *o = c->options;
    if (o->time_passes) fprintf(o->out, "%10.3f ms  %s\n", seconds * 1e3, p->name);
    if (!o->print_after_all && (!o->print_after || strcmp(o->print_after, p->name))) return;
    fprintf(o->out, "// after %s\n", p->name);
    module_print(c->m, o->out);
}

/* What follows "PASS." in a name; NULL: it begins otherwise. */
static const char *step_of(const char *name, const Pass *p) {
    size_t n = strlen(p->name);
    return name && p->step && strncmp(name, p->name, n) == 0 && name[n] == '.' ? name + n + 1 : NULL;
}

bool pass_has_step(const char *name) {
    for (size_t i = 0; pass_at(i); i++) {
        const char *step = step_of(name, pass_at(i));
        for (size_t n = 0; step && pass_at(i)->step(n); n++)
            if (strcmp(pass_at(i)->step(n)->name, step) == 0) return true;
    }
    return false;
}

void step_print(PassContext *c, const Pass *p, const PassStep *s, const Kernel *k) {
    const char *wanted = step_of(c->options->print_after, p);
    if (!wanted || strcmp(wanted, s->name)) return;
    fprintf(c->options->out, "// after %s.%s\n", p->name, s->name);
    kernel_print(c->m, k, c->options->out);
}

/* Roles that wait for each other, or take more than a processor has, would stop a machine: no run is without this. */
static bool roles_hold(const Module *m) {
    bool good = true;
    for (int i = 0; i < m->kernel.n; i++)
        if (m->kernel.p[i]->roles) good &= kernel_is_valid(m, m->kernel.p[i]);
    return good;
}

bool pipeline_run(PassContext *c, const Pass *const *list, int n) {
    for (int i = 0; i < n; i++) {
        const Pass *p = list[i];
        /* Collectives always become kernels: without comm, unfused ones. `barriers` stands in for `flags`. Whether and
           how nodes run is no choice. */
        if (pass_is_off(c->options, p) && p != &pass_comm && p != &pass_predicate && p != &pass_stream_order) continue;
        if (p == &pass_barriers && c->m->form & FORM_FLAGS) continue;
        if (!form_fits(c, p)) return false;
        c->pass = p;
        double start = seconds_now();
        bool good = p->run(c) && c->m->diags->errors == 0;
        print_after(c, p, seconds_now() - start);
        if (!good || (c->options->verify_each && !module_verify(c->m))) return false;
    }
    return c->options->verify_each || roles_hold(c->m);
}
