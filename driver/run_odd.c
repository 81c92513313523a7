/* run_odd.c: where NaN and infinities come from: the interpreter runs the program as it is written, and the first
   kernel that stores one is named. */
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

void print_values(const Array *a) {
    double least = INFINITY, most = -INFINITY;
    int64_t count, first = first_odd(a, &count);
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        double x = array_get(a, i);
        if (isfinite(x)) least = fmin(least, x), most = fmax(most, x);
    }
    if (!array_count(a)) printf("no elements");
    if (least <= most) printf("%.6g .. %.6g", least, most);
    if (first < 0) return;
    printf("%s%" PRId64 " NaN or infinite, first ", least <= most ? "; " : "", count);
    array_place_print(stdout, a, first);
}

/* What is not finite in the part of a tensor that a kernel sees: how often, and the first place in the tensor; -1:
 * none. */
typedef struct {
    int64_t count, first;
} Odd;

static Odd odd_of(const InterpArg *a, int ndim) {
    Odd odd = {.first = -1};
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= a->dim[d];
    for (int64_t i = 0; i < n && elem_is_float(a->tensor.elem); i++) {
        int64_t place = a->offset;
        for (int64_t d = ndim - 1, rest = i; d >= 0; rest /= a->dim[d--]) place += rest % a->dim[d] * a->stride[d];
        if (isfinite(array_get(&a->tensor, place))) continue;
        if (!odd.count++) odd.first = place;
    }
    return odd;
}

typedef struct {
    const Program *p;
    bool *given; /* by tensor: it had some from the beginning */
} Search;

static const char *tensor_name(const Search *s, const Node *n, int arg) {
    return s->p->tensor.p[n->arg.p[arg].tensor].name;
}

static void report(const Search *s, const Node *n, const InterpArg *arg, int to, Odd odd) {
    double x = array_get(&arg[to].tensor, odd.first);
    fprintf(stderr, "tilec: note: '%s' is the first that stores such values: %" PRId64 " to '%s', %g at ",
            n->kernel->name, odd.count, tensor_name(s, n, to), isnan(x) ? (double)NAN : x); /* without a sign */
    array_place_print(stderr, &arg[to].tensor, odd.first);
    for (int i = 0; i < n->arg.n; i++) {
        const Param *p = &n->kernel->param.p[i];
        if (p->out || p->inout || !odd_of(&arg[i], p->ndim).count) continue;
        fprintf(stderr, "; its argument '%s' has some, too", tensor_name(s, n, i));
        break;
    }
    fprintf(stderr, "\ntilec: note: --stop-at=%s shows the tiles of its first task\n", n->kernel->name);
}

static bool node_look(void *context, const Node *n, const InterpArg *arg) {
    const Search *s = context;
    for (int i = 0; i < n->arg.n; i++) {
        const Param *p = &n->kernel->param.p[i];
        Odd odd = {0};
        if (p->out || (p->inout && !s->given[n->arg.p[i].tensor])) odd = odd_of(&arg[i], p->ndim);
        if (odd.count) return report(s, n, arg, i, odd), false;
    }
    return true;
}

void run_locate_odd(const Run *r, const Array *before) {
    Run reference;
    InterpReport told = {0};
    if (!reference_open(r, 1, &reference) || !same_extents(r, &reference)) return;
    const Program *p = reference.p;
    Search s = {.p = p, .given = ARENA_ARRAY(reference.s.arena, bool, p->tensor.n)};
    Array *io = inputs_copy(&reference, before);
    int64_t count;
    for (int i = 0; i < p->io.n; i++)
        s.given[p->io.p[i]] = run_tensor(&reference, i)->role != ROLE_OUTPUT && first_odd(&io[i], &count) >= 0;
    InterpWatch watch = {.ended = node_look, .context = &s};
    interp_run(reference.s.arena, reference.s.m, p, &(InterpOptions){.sym = r->sym, .watch = &watch}, io, &told);
}
