/* weights.c: products with weights in many formats, in turns with OpenBLAS, a plain loop, and a sparse matrix of as
   many parameters: weights B N K LIBRARY.. (bench/cpu/weights.sh makes the libraries). One line an arm. */
#include "bench.h"
#include "plain_weights.h"
#include "tile_program.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>

enum { MOST_ARMS = 64, MOST_ARGS = 16 };
static const double copies_bytes = 512e6; /* of weights in memory: more than a core's share of any cache */
static const double turn_seconds = 2e-3;  /* of a turn of an arm, at least */

typedef struct {
    int64_t batch, n, k;
    int copies; /* of the weights, in turn: 1 if they are to be in the cache */
    const float *x;
    float *y;
} Shape;

typedef struct Arm {
    char name[64];
    const Shape *shape;
    void (*run)(struct Arm *, int copy);
    double bytes, parameters;
    /* ours */
    tile_mesh *mesh;
    tile_instance *instance;
    void *arg[MOST_ARGS];
    char *weights[MOST_ARGS]; /* of a program's arguments between the first and the last */
    size_t size[MOST_ARGS];
    int args, copies;
    /* peers */
    Csr csr;
    int repeats;
    double seconds[MOST_TURNS];
} Arm;

static size_t round_up(size_t n) { return (n + 63) / 64 * 64; }

/* Bytes that every type takes for small numbers: no infinities among them. */
static void fill(char *p, size_t bytes, const char *elem) {
    unsigned seed = 1;
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (char)(seed >> 24);
    }
    for (size_t i = 0; strcmp(elem, "f32") == 0 && i < bytes / 4; i++) ((float *)p)[i] = (float)((char)p[4 * i]) / 128;
    for (size_t i = 0; strcmp(elem, "bf16") == 0 && i < bytes / 2; i++)
        p[2 * i + 1] = (char)((p[2 * i + 1] & 0x80) | 0x3e);
    for (size_t i = 0; strcmp(elem, "f16") == 0 && i < bytes / 2; i++)
        p[2 * i + 1] = (char)((p[2 * i + 1] & 0x80) | 0x34);
}

static int bits_of(const char *elem) {
    static const struct {
        const char *name;
        int bits;
    } known[] = {{"f32", 32}, {"bf16", 16}, {"f16", 16}, {"i8", 8}, {"i4", 4}, {"t2", 2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, elem) == 0) return known[i].bits;
    fprintf(stderr, "weights: elements of type %s\n", elem);
    exit(2);
}

static void *memory(size_t bytes) {
    void *p = aligned_alloc(64, round_up(bytes + 1));
    if (!p) abort();
    return p;
}

static void run_ours(Arm *a, int copy) {
    for (int i = 1; i + 1 < a->args; i++) a->arg[i] = a->weights[i] + (size_t)(copy % a->copies) * round_up(a->size[i]);
    bench_check(tile_instance_run(a->instance, a->arg, NULL, NULL), a->name);
    bench_check(tile_stream_sync(a->mesh, NULL), a->name);
}

static int copies_of(const Shape *s, double bytes) { return s->copies > 1 ? (int)(copies_bytes / bytes) + 1 : 1; }

static size_t bytes_of(const tile_arg *a) {
    double n = bits_of(a->elem) / 8.0;
    for (int d = 0; d < a->ndim; d++) n *= (double)a->dim[d];
    return (size_t)ceil(n);
}

static void open_ours(Arm *a, const Shape *s, tile_mesh *mesh, const char *library) {
    void *lib = dlopen(library, RTLD_NOW);
    const char *base = strrchr(library, '/') ? strrchr(library, '/') + 1 : library;
    snprintf(a->name, sizeof a->name, "%.*s", (int)strcspn(base, "."), base);
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s_program", a->name);
    const tile_program *p = lib ? dlsym(lib, symbol) : NULL;
    if (!p || p->nargs > MOST_ARGS) {
        fprintf(stderr, "weights: %s: %s\n", library, lib ? symbol : dlerror());
        exit(2);
    }
    a->mesh = mesh, a->shape = s, a->run = run_ours, a->args = p->nargs;
    bench_check(tile_instance_open(mesh, p, &a->instance), a->name);
    for (int i = 1; i + 1 < p->nargs; i++) a->bytes += (double)(a->size[i] = bytes_of(&p->arg[i]));
    a->copies = copies_of(s, a->bytes);
    for (int i = 1; i + 1 < p->nargs; i++) {
        a->weights[i] = memory(round_up(a->size[i]) * (size_t)a->copies);
        fill(a->weights[i], round_up(a->size[i]) * (size_t)a->copies, p->arg[i].elem);
    }
    a->arg[0] = (void *)s->x, a->arg[p->nargs - 1] = s->y;
    a->parameters = a->bytes / 4;
}

static const float *dense_copy(const Arm *a, int copy) {
    return (const float *)a->weights[1] + (size_t)(copy % a->copies) * (size_t)(a->shape->n * a->shape->k);
}

static void run_openblas(Arm *a, int copy) {
    const Shape *s = a->shape;
    const int n = (int)s->n, k = (int)s->k;
    if (s->batch == 1)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1, dense_copy(a, copy), k, s->x, 1, 0, s->y, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s->batch, n, k, 1, s->x, k, dense_copy(a, copy), k, 0,
                    s->y, n);
}

static void run_openblas_rows(Arm *a, int copy) {
    const Shape *s = a->shape;
    const int n = (int)s->n, k = (int)s->k;
    if (s->batch == 1)
        cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, dense_copy(a, copy), n, s->x, 1, 0, s->y, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->batch, n, k, 1, s->x, k, dense_copy(a, copy), n,
                    0, s->y, n);
}

static void run_plain(Arm *a, int copy) {
    const Shape *s = a->shape;
    plain_dense(s->batch, s->n, s->k, s->x, dense_copy(a, copy), s->y);
}

static void run_csr(Arm *a, int copy) {
    const Shape *s = a->shape;
    const int64_t entries = a->csr.ptr[s->n];
    const Csr c = {a->csr.ptr, a->csr.col + (copy % a->copies) * entries, a->csr.val + (copy % a->copies) * entries};
    plain_csr(s->batch, s->n, s->k, &c, s->x, s->y);
}

static void open_peer(Arm *a, const Shape *s, const char *name, void (*run)(Arm *, int)) {
    snprintf(a->name, sizeof a->name, "%s", name);
    a->shape = s, a->run = run, a->bytes = 4.0 * (double)s->n * (double)s->k, a->parameters = a->bytes / 4;
    a->copies = copies_of(s, a->bytes);
    a->weights[1] = memory((size_t)a->bytes * (size_t)a->copies);
    fill(a->weights[1], (size_t)a->bytes * (size_t)a->copies, "f32");
}

/* Entries at random columns of rows of equal length, as a pruned matrix has them. */
static void open_csr(Arm *a, const Shape *s, const Arm *like) {
    const int64_t row = (int64_t)fmax(1, like->parameters / (double)s->n), entries = row * s->n;
    snprintf(a->name, sizeof a->name, "csr like %.40s", like->name);
    a->shape = s, a->run = run_csr, a->parameters = (double)entries, a->bytes = 8.0 * (double)entries;
    a->copies = copies_of(s, a->bytes);
    int32_t *ptr = memory(4 * (size_t)(s->n + 1)), *col = memory(4 * (size_t)entries * (size_t)a->copies);
    float *val = memory(4 * (size_t)entries * (size_t)a->copies);
    for (int64_t i = 0; i <= s->n; i++) ptr[i] = (int32_t)(i * row);
    unsigned seed = 1;
    for (int64_t i = 0; i < entries * a->copies; i++) {
        seed = seed * 1664525u + 1013904223u;
        const int64_t at = i % row;
        col[i] = (int32_t)((at * s->k + (int64_t)(seed >> 8) % s->k) / row), val[i] = 1;
    }
    a->csr = (Csr){ptr, col, val};
}

/* Processor time of all threads: on one core it is the time that passes, less what others take of the core. */
static double turn(Arm *a, int number) {
    double start = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (int r = 0; r < a->repeats; r++) a->run(a, number * a->repeats + r);
    return (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - start) / a->repeats;
}

static void measure(Arm **arm, int arms, int turns) {
    for (int i = 0; i < arms; i++) {
        arm[i]->repeats = 1;
        turn(arm[i], 0);
        const double once = turn(arm[i], 1);
        arm[i]->repeats = once < turn_seconds ? (int)(turn_seconds / once) + 1 : 1;
    }
    for (int t = 0; t < turns; t++)
        for (int i = 0; i < arms; i++) {
            Arm *a = arm[t % 2 ? arms - 1 - i : i];
            a->seconds[t] = turn(a, t);
        }
}

static double median(const double *x, int n) {
    double sorted[MOST_TURNS];
    memcpy(sorted, x, sizeof *x * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, bench_compare);
    return sorted[n / 2];
}

/* The median of the ratios of each turn. */
static double times_faster(const Arm *a, const Arm *than, int turns) {
    double ratio[MOST_TURNS];
    if (!than) return 0;
    for (int t = 0; t < turns; t++) ratio[t] = than->seconds[t] / a->seconds[t];
    return median(ratio, turns);
}

static const Arm *arm_named(Arm **arm, int arms, const char *name) {
    for (int i = 0; i < arms; i++)
        if (strcmp(arm[i]->name, name) == 0) return arm[i];
    return NULL;
}

static void print(Arm **arm, int arms, int turns, const Shape *s) {
    const Arm *dense = arm_named(arm, arms, "dense_f32"), *blas = arm_named(arm, arms, "openblas");
    const Arm *plain = arm_named(arm, arms, "plain");
    for (int i = 0; i < arms; i++) {
        char like[64];
        snprintf(like, sizeof like, "csr like %.40s", arm[i]->name);
        printf("{\"bench\": \"weights\", \"arm\": \"%s\", \"batch\": %d, \"n\": %d, \"k\": %d, \"place\": \"%s\", "
               "\"us\": %.2f, "
               "\"of_dense\": %.3f, \"vs_dense\": %.2f, \"vs_openblas\": %.2f, \"vs_plain\": %.2f, \"vs_csr\": %.2f}\n",
               arm[i]->name, (int)s->batch, (int)s->n, (int)s->k, s->copies > 1 ? "memory" : "cache",
               1e6 * median(arm[i]->seconds, turns), arm[i]->bytes / (4.0 * (double)s->n * (double)s->k),
               times_faster(arm[i], dense, turns), times_faster(arm[i], blas, turns),
               times_faster(arm[i], plain, turns), times_faster(arm[i], arm_named(arm, arms, like), turns));
    }
}

int main(int argc, char **argv) {
    if (argc < 6) return fprintf(stderr, "usage: weights B N K cache|memory LIBRARY..\n"), 2;
    Shape s = {
        .batch = atoi(argv[1]), .n = atoi(argv[2]), .k = atoi(argv[3]), .copies = strcmp(argv[4], "memory") ? 1 : 2};
    s.x = bench_floats((size_t)(s.batch * s.k)), s.y = bench_floats((size_t)(s.batch * s.n));
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .workers = 1};
    tile_mesh *mesh;
    bench_check(tile_mesh_open(&config, &mesh), "mesh");
    Arm *arm[MOST_ARMS];
    int arms = 0;
    for (int i = 0; i < MOST_ARMS; i++)
        if (!(arm[i] = calloc(1, sizeof **arm))) abort();
    open_peer(arm[arms++], &s, "openblas", run_openblas);
    open_peer(arm[arms++], &s, "openblas_rows", run_openblas_rows);
    open_peer(arm[arms++], &s, "plain", run_plain);
    for (int i = 5; i < argc && arms + 2 < MOST_ARMS; i++) {
        Arm *ours = arm[arms++];
        open_ours(ours, &s, mesh, argv[i]);
        if (strncmp(ours->name, "dense", 5) && ours->bytes < 3.9 * (double)s.n * (double)s.k)
            open_csr(arm[arms++], &s, ours);
    }
    const int turns = getenv("TURNS") ? atoi(getenv("TURNS")) : 15;
    measure(arm, arms, turns < MOST_TURNS ? turns : MOST_TURNS);
    print(arm, arms, turns, &s);
    return 0;
}
