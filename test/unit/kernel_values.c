/* kernel_values.c: what kernels of the language compute, through the interpreter, against plain loops.
   Extents are small and ragged, so that every edge of a tile is met. */
#include "frontend/sema/instance.h"
#include "test/unit/interp_build.h"

#include <string.h>

static int failures;

enum { R = 13, C = 21, D = 5 };

static double at(const Array *a, int64_t i) { return array_get(a, i); }

typedef struct {
    const char *name, *source;
    int nin;
    const char *in[3];                          /* f32[R,C] as "f32 rc"; a scalar "i32 "; a constant "=1" */
    double (*want)(const Array *io, int64_t i); /* element i of the (first) result */
} Case;

/* ---- references ---- */

static double row_max(const Array *x, int64_t r) {
    double m = -INFINITY;
    for (int c = 0; c < C; c++) m = fmax(m, at(x, r * C + c));
    return m;
}

static double row_weight(const Array *x, int64_t r) {
    double l = 0;
    for (int c = 0; c < C; c++) l += exp(at(x, r * C + c) - row_max(x, r));
    return l;
}

static double want_softmax(const Array *io, int64_t i) {
    return exp(at(&io[0], i) - row_max(&io[0], i / C)) / row_weight(&io[0], i / C);
}

static double want_logsum(const Array *io, int64_t i) { return row_max(&io[0], i) + log(row_weight(&io[0], i)); }

/* a[R, C] b[C, D] */
static double want_matmul(const Array *io, int64_t i) {
    double s = 0;
    for (int p = 0; p < C; p++) s += at(&io[0], i / D * C + p) * at(&io[1], p * D + i % D);
    return s;
}

static double want_transposed(const Array *io, int64_t i) { return at(&io[0], i % R * C + i / R); }

static double within(const Array *a, int64_t r, int64_t c) {
    return r < 0 || r >= R || c < 0 || c >= C ? 0 : at(a, r * C + c);
}

static double want_stencil(const Array *io, int64_t i) {
    int64_t r = i / C, c = i % C;
    return within(&io[0], r - 1, c) + 2 * within(&io[0], r + 1, c) + 3 * within(&io[0], r, c - 2) +
           within(&io[0], r / 2, c / 3);
}

static double want_argmax(const Array *io, int64_t i) {
    for (int c = 0; c < C; c++)
        if (at(&io[0], i * C + c) == row_max(&io[0], i)) return c;
    return -1;
}

static double want_cumsum(const Array *io, int64_t i) {
    double s = 0;
    for (int64_t c = 0; c <= i % C; c++) s += at(&io[0], i - i % C + c);
    return s;
}

/* Scalar arguments are drawn too: the reference reads what the kernel reads. */
static double want_branch(const Array *io, int64_t i) {
    double x = at(&io[0], i), n = at(&io[1], 0);
    double y = n > 0 ? x * 2 : x - 1;
    return (n > -100 ? y + 3 : y) + n;
}

static double want_positions(const Array *io, int64_t i) {
    int64_t r = i / C, c = i % C, begin = c / 8 * 8, end = begin + 8 > C ? C : begin + 8;
    (void)io;
    return (double)(r * 1000 + begin * 100 + end * 10 + c % 3 + (c - 4) / 1);
}

static double want_causal(const Array *io, int64_t i) {
    double s = 0;
    for (int c = 0; c < C && c <= i; c++) s += at(&io[0], i * C + c) * at(&io[0], i * C + c);
    return s;
}

static double want_gather(const Array *io, int64_t i) {
    int64_t from = (int64_t)at(&io[1], i);
    return from < 0 || from >= R ? 0 : at(&io[0], from * C + 2);
}

static double want_nested(const Array *io, int64_t i) {
    double s = 0;
    for (int64_t r = 0; r < R; r++)
        for (int64_t c = 0; c < C; c++)
            if (c != 3) s += at(&io[0], r * C + c) > 0 ? (double)(r + 1) : 0;
    return s + (double)i;
}

static double want_silu(const Array *io, int64_t i) {
    double x = at(&io[0], i);
    return x / (1 + exp(-x));
}

/* ---- kernels ---- */

#define HEAD "kernel k(a: f32[m, n]) -> (o: f32[m, n]) {"

static const Case cases[] = {
    {"softmax",
     HEAD "each r of m, c: * of n { e = exp(a[r, c] - max(a[r, c], c)); o[r, c] = e / sum(e, c); } }",
     1,
     {"f32 rc"},
     want_softmax},
    {"online logsum",
     "kernel k(a: f32[m, n]) -> (o: f32[m]) { each i: 4 of m { x: f32[i] = -inf; l: f32[i] = 0;"
     " for j: 8 of n { y = max(x, max(a[i, j], j)); l = l * exp(x - y) + sum(exp(a[i, j] - y), j); x = y; }"
     " merge (x2, l2) { y = max(x, x2); l = l * exp(x - y) + l2 * exp(x2 - y); x = y; }"
     " o[i] = x + log(l); } }",
     1,
     {"f32 rc"},
     want_logsum},
    {"matmul",
     "kernel k(a: f32[m, k], b: f32[k, n]) -> (o: f32[m, n]) { each i: 4 of m, j: 3 of n { acc: f32[i, j] = 0;"
     " for p: 8 of k { acc += a[i, p] @ b[p, j]; } o[i, j] = acc; } }",
     2,
     {"f32 rc", "f32 cd"},
     want_matmul},
    {"sum of products",
     "kernel k(a: f32[m, k], b: f32[k, n]) -> (o: f32[m, n]) { each i: 4 of m, j: auto of n, p: * of k {"
     " o[i, j] = sum(b[p, j] * a[i, p], p); } }",
     2,
     {"f32 rc", "f32 cd"},
     want_matmul},
    {"by positions",
     "kernel k(a: f32[m, k], b: f32[k, n]) -> (o: f32[m, n]) { each i of m, j of n { s = 0.0;"
     " for p of k { s += a[i, p] * b[p, j]; } o[i, j] = s; } }",
     2,
     {"f32 rc", "f32 cd"},
     want_matmul},
    {"transpose",
     "kernel k(a: f32[m, n]) -> (o: f32[n, m]) { each i: 4 of m, j: 8 of n { o[j, i] = a[i, j]; } }",
     1,
     {"f32 rc"},
     want_transposed},
    {"stencil",
     HEAD
     "each i: 4 of m, j: 8 of n { o[i, j] = a[i - 1, j] + 2 * a[i + 1, j] + 3 * a[i, j - 2] + a[i / 2, j / 3]; } }",
     1,
     {"f32 rc"},
     want_stencil},
    {"argmax",
     "kernel k(a: f32[m, n]) -> (o: i64[m]) { each i: 4 of m, c: * of n { o[i] = argmax(a[i, c], c); } }",
     1,
     {"f32 rc"},
     want_argmax},
    {"cumsum", HEAD "each i: 4 of m, c: * of n { o[i, c] = cumsum(a[i, c], c); } }", 1, {"f32 rc"}, want_cumsum},
    {"branches",
     "kernel k(a: f32[m, n], t: i32) -> (o: f32[m, n]) { each i: 4 of m, j: 8 of n {"
     " if t > 0 { y = a[i, j] * 2; } else { y = a[i, j] - 1; } if t > -100 { y += 3; } o[i, j] = y + f32(t); } }",
     2,
     {"f32 rc", "i32 "},
     want_branch},
    {"positions",
     "kernel k(a: f32[m, n]) -> (o: i64[m, n]) { each i: 4 of m, j: fixed 8 of n {"
     " o[i, j] = pos(i) * 1000 + begin(j) * 100 + end(j) * 10 + pos(j) % 3 + (pos(j) - 4); } }",
     1,
     {"f32 rc"},
     want_positions},
    {"causal",
     "kernel k(a: f32[m, n]) -> (o: f32[m]) { each i: 4 of m { acc: f32[i] = 0; for j: 8 in 0 .. min(n, end(i)) {"
     " x = where(pos(j) <= pos(i), a[i, j], 0); acc += sum(x * x, j); } o[i] = acc; } }",
     1,
     {"f32 rc"},
     want_causal},
    {"gather",
     "kernel k(a: f32[m, n], at: i32[m]) -> (o: f32[m]) { each i: 4 of m { o[i] = a[at[i], 2]; } }",
     2,
     {"f32 rc", "i32 r"},
     want_gather},
    {"nested",
     "kernel k(a: f32[m, n]) -> (o: i64[m]) { each i of m { s = 0; for r of m { for c of n {"
     " if c != 3 { if a[r, c] > 0 { s += r + 1; } } } } o[i] = s + i; } }",
     1,
     {"f32 rc"},
     want_nested},
    {"silu", HEAD "each i: 4 of m, j: 8 of n { o[i, j] = silu(a[i, j]); } }", 1, {"f32 rc"}, want_silu},
};

/* ---- running ---- */

static ActualArg argument_of(const char *spec) {
    ActualArg a = {0};
    char elem[8] = {0};
    memcpy(elem, spec, 3);
    elem_parse(elem, &a.elem);
    for (const char *d = spec + 4; *d; d++) a.dim[a.ndim++] = size_number(*d == 'r' ? R : *d == 'c' ? C : D);
    return a;
}

static Kernel *kernel_of(Bench *t, const Case *x, ActualArg *arg) {
    static const LowerOptions options;
    Diags *d = t->m->diags;
    Unit *unit = parse_source(t->a, t->m->names, d, diags_file(d, x->name, x->source, strlen(x->source)));
    Lower lw = {.m = t->m, .options = &options};
    for (int i = 0; i < unit->decls.n; i++) vec_push(t->a, &lw.decl, unit->decls.p[i]);
    for (int i = 0; i < x->nin; i++) arg[i] = argument_of(x->in[i]);
    return d->errors ? NULL : kernel_instantiate(&lw, unit->decls.p[0], arg, x->nin, NULL, 0, (Loc){0});
}

static void call_build(Bench *t, int nin) {
    int tensor[8];
    for (int i = 0; i < t->k->param.n; i++) {
        const Param *p = &t->k->param.p[i];
        tensor[i] = bench_tensor(t, p->name, p->elem, i < nin ? ROLE_INPUT : ROLE_OUTPUT, p->ndim, p->dim);
    }
    bench_call(t, tensor, t->k->param.n);
}

static void results_check(const Case *x, const Array *io) {
    const Array *o = &io[x->nin];
    for (int64_t i = 0; i < array_count(o); i++) {
        double is = at(o, i), want = x->want(io, i);
        if (CHECK(fabs(is - want) <= 1e-5 * (1 + fabs(want)))) {
            fprintf(stderr, "%s: element %lld is %g, not %g\n", x->name, (long long)i, is, want);
            return;
        }
    }
}

static void case_run(const Case *x) {
    Bench t = bench_new(0);
    ActualArg arg[3];
    InterpReport report;
    t.k = kernel_of(&t, x, arg);
    if (t.k) call_build(&t, x->nin);
    bool good = t.k && module_verify(t.m);
    diags_print(t.m->diags, stderr, DIAG_TEXT, false);
    if (!CHECK(good)) {
        Array *io = bench_arrays(&t, NULL);
        CHECK(bench_run(&t, (InterpOptions){0}, io, &report));
        results_check(x, io);
    }
    arena_free(t.a);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) case_run(&cases[i]);
    return failures != 0;
}
