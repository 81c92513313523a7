/* run_odd.c: where NaN and infinities come from: the interpreter runs the program as it is written, every tensor between kernels
   kept, and the first node that stores one is named. */
#include "driver/run_odd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int64_t first_odd(const Array *a, int64_t *count) {
    int64_t first = -1;
    *count = 0;
    for (int64_t i = 0, n = elem_is_float(a->elem) ? array_count(a) : 0; i < n; i++) {
        if (isfinite(array_get(a, i))) continue;
        if (first < 0) first = i;
        ++*count;
    }
    return first;
}

static void print_place(FILE *to, const Array *a, int64_t i) {
    int64_t at[MAX_DIMS];
    for (int d = a->ndim - 1; d >= 0; d--) at[d] = i % a->dim[d], i /= a->dim[d];
    for (int d = 0; d < a->ndim; d++) fprintf(to, "%s%" PRId64, d ? ", " : "[", at[d]);
    if (a->ndim) fputs("]", to);
}

void print_values(const Array *a) {
    double least = INFINITY, most = -INFINITY;
    int64_t count, first = first_odd(a, &count);
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        double x = array_get(a, i);
        if (isfinite(x)) least = fmin(least, x), most = fmax(most, x);
    }
    if (least <= most) printf("%.6g .. %.6g", least, most);
    if (first < 0) return;
    printf("%s%" PRId64 " NaN or infinite, first ", least <= most ? "; " : "", count);
    print_place(stdout, a, first);
}

/* The program with its temporaries as results, and an array for each argument and result. */
static Array *keep_all(Run *reference, const Array *before) {
    Program *p = reference->s.m->program.p[0];
    int given = p->io.n;
    Array *own = inputs_copy(reference, before), *io = ARENA_ARRAY(reference->s.arena, Array, p->tensor.n + given);
    for (int i = 0; i < given; i++) io[i] = own[i];
    for (int i = 0; i < p->tensor.n; i++) {
        Tensor *t = &p->tensor.p[i];
        if (t->role != ROLE_TEMP) continue;
        if (!array_for_tensor(reference->s.arena, reference->s.m, t, reference->sym, &io[p->io.n])) return NULL;
        t->role = ROLE_OUTPUT;
        vec_push(reference->s.m->arena, &p->io, i);
    }
    return io;
}

static const Array *array_of(const Program *p, const Array *io, int tensor) {
    int i = 0;
    while (p->io.p[i] != tensor) i++;
    return &io[i];
}

/* Of a node's arguments; out: of its results. NULL: none. */
static const Array *odd_argument(const Program *p, const Node *n, const Array *io, bool out, int *tensor) {
    int64_t count;
    for (int i = 0; i < n->arg.n; i++) {
        const Param *param = &n->kernel->param.p[i];
        *tensor = n->arg.p[i].tensor;
        if (param->out == out && first_odd(array_of(p, io, *tensor), &count) >= 0) return array_of(p, io, *tensor);
    }
    return NULL;
}

static bool report(const Run *reference, const Array *io, const Node *n) {
    int to, from;
    int64_t count;
    const Program *p = reference->p;
    const Array *stored = n->kind == NODE_CALL ? odd_argument(p, n, io, true, &to) : NULL;
    if (!stored) return false;
    const Array *taken = odd_argument(p, n, io, false, &from);
    int64_t first = first_odd(stored, &count);
    double x = array_get(stored, first);
    fprintf(stderr, "tilec: note: '%s' is the first that stores such values: %" PRId64 " to '%s', %g at ", n->kernel->name, count,
            p->tensor.p[to].name, isnan(x) ? (double)NAN : x); /* without a sign */
    print_place(stderr, stored, first);
    if (taken) fprintf(stderr, "; its argument '%s' has some, too", p->tensor.p[from].name);
    fprintf(stderr, "\ntilec: note: --stop-at=%s shows the tiles of its first task\n", n->kernel->name);
    return true;
}

void run_locate_odd(const Run *r, const Array *before) {
    Run reference;
    InterpReport told = {0};
    if (!reference_open(r, 1, &reference) || !same_extents(r, &reference)) return;
    Array *io = keep_all(&reference, before);
    if (!io || !interp_run(reference.s.arena, reference.s.m, reference.p, &(InterpOptions){.sym = r->sym}, io, &told)) return;
    for (int i = 0; i < reference.p->node.n && !report(&reference, io, reference.p->node.p[i]); i++) continue;
}
