/* spmv.c: compiled programs of bench/cpu/spmv.tile beside a plain loop over CSR, on Matrix Market files and matrices
   that are made here: spmv LIBRARY.. MATRIX.mtx.. One JSON line a matrix. Every element is compared with f64. */
#include "bench.h"
#include "market.h"
#include "plain_weights.h"
#include "sliced.h"
#include "tile_program.h"

#include <dlfcn.h>
#include <math.h>

enum { MOST_ARMS = 16, MOST_ARGS = 12, REPEATED = 15 };
static const double turn_seconds = 1e-3; /* of a turn of an arm, at least */

/* Tensors and sizes by the names that programs give them. */
typedef struct {
    const char *name;
    const void *p;
} Named;

typedef struct {
    Matrix m;
    Sliced s;
    float *val, *x, *y;
    Named tensor[16];
    struct {
        const char *name;
        int64_t n;
    } size[9];
} Work;

typedef struct {
    char name[64];
    const tile_program *program; /* NULL: the plain loop */
    tile_instance *instance;
    void *arg[MOST_ARGS];
    int64_t dim[MOST_ARGS];
    int repeats;
    double seconds[REPEATED];
} Arm;

static tile_mesh *mesh;

static void *memory(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p) abort();
    return p;
}

static void work_make(Work *w) {
    const Matrix *m = &w->m;
    Sliced *s = &w->s;
    if (!sliced_make(s, m, sliced_longest(m))) abort();
    w->val = memory(4 * (size_t)m->entries), w->x = bench_floats((size_t)m->columns),
    w->y = memory(4 * (size_t)m->rows);
    for (int e = 0; e < m->entries; e++) w->val[e] = (float)m->val[e];
    const Named tensor[] = {{"ptr", m->ptr},       {"col", m->col},       {"val", w->val},       {"x", w->x},
                            {"y", w->y},           {"start", s->start},   {"srow", s->row},      {"scol", s->col},
                            {"sval", s->val},      {"lfirst", s->first},  {"lrow", s->long_row}, {"lptr", s->piece},
                            {"lcol", s->long_col}, {"lval", s->long_val}, {NULL, NULL}};
    memcpy(w->tensor, tensor, sizeof tensor);
    const struct {
        const char *name;
        int64_t n;
    } size[] = {{"R", m->rows},     {"C", m->columns},   {"Z", m->entries}, {"S", s->slices},       {"M", s->rows},
                {"SZ", s->entries}, {"L", s->long_rows}, {"P", s->pieces},  {"LZ", s->long_entries}};
    memcpy(w->size, size, sizeof size);
}

static void work_free(Work *w) {
    matrix_free(&w->m), sliced_free(&w->s);
    free(w->val), free(w->x), free(w->y);
}

static void run(Arm *a, const Work *w) {
    if (!a->program) {
        plain_csr(1, w->m.rows, w->m.columns, &(Csr){w->m.ptr, w->m.col, w->val}, w->x, w->y);
        return;
    }
    bench_check(tile_instance_run(a->instance, a->arg, a->dim, NULL), a->name);
    bench_check(tile_stream_sync(mesh, NULL), a->name);
}

static void arm_open(Arm *a, const char *library) {
    void *lib = dlopen(library, RTLD_NOW);
    const char *base = strrchr(library, '/') ? strrchr(library, '/') + 1 : library;
    snprintf(a->name, sizeof a->name, "%.*s", (int)strcspn(base, "."), base);
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s_program", a->name);
    a->program = lib ? dlsym(lib, symbol) : NULL;
    if (!a->program || a->program->nargs > MOST_ARGS)
        fprintf(stderr, "spmv: %s: %s\n", library, lib ? symbol : dlerror()), exit(2);
    bench_check(tile_instance_open(mesh, a->program, &a->instance), a->name);
}

static void arm_fill(Arm *a, const Work *w) {
    for (int i = 0; a->program && i < a->program->nargs; i++)
        for (const Named *t = w->tensor; t->name; t++)
            if (strcmp(t->name, a->program->arg[i].name) == 0) a->arg[i] = (void *)t->p;
    for (int i = 0; a->program && i < a->program->ndims; i++)
        for (int k = 0; k < 9; k++)
            if (strcmp(w->size[k].name, a->program->dim[i].name) == 0) a->dim[i] = w->size[k].n;
}

/* Within the rounding errors of a sum of the row's length in f32. */
static void check(const Arm *a, const Work *w, const char *matrix) {
    const Matrix *m = &w->m;
    for (int i = 0; i < m->rows; i++) {
        double sum = 0, size = 0;
        for (int e = m->ptr[i]; e < m->ptr[i + 1]; e++)
            sum += (double)w->val[e] * w->x[m->col[e]], size += fabs((double)w->val[e] * w->x[m->col[e]]);
        if (fabs(w->y[i] - sum) <= (m->ptr[i + 1] - m->ptr[i] + 2) * 0x1p-24 * size) continue;
        fprintf(stderr, "spmv: %s: %s: row %d is %.9g, expected %.9g\n", matrix, a->name, i, w->y[i], sum);
        exit(1);
    }
}

/* Processor time of all threads where there is one worker: the time that passes, less what others take of the core. */
static double turn(Arm *a, const Work *w, clockid_t clock) {
    const double start = bench_clock(clock);
    for (int r = 0; r < a->repeats; r++) run(a, w);
    return (bench_clock(clock) - start) / a->repeats;
}

static double median(double *x) {
    qsort(x, REPEATED, sizeof *x, bench_compare);
    return x[REPEATED / 2];
}

static void measure(Arm *arm, int arms, Work *w, const char *matrix, int workers) {
    const clockid_t clock = workers == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    for (int i = 0; i < arms; i++) {
        arm_fill(&arm[i], w);
        memset(w->y, 0xff, 4 * (size_t)w->m.rows);
        arm[i].repeats = 1;
        turn(&arm[i], w, clock);
        check(&arm[i], w, matrix);
        const double once = turn(&arm[i], w, clock);
        arm[i].repeats = once < turn_seconds ? (int)(turn_seconds / once) + 1 : 1;
    }
    for (int t = 0; t < REPEATED; t++)
        for (int k = 0; k < arms; k++) {
            Arm *a = &arm[t % 2 ? arms - 1 - k : k];
            a->seconds[t] = turn(a, w, clock);
        }
}

static void print(Arm *arm, int arms, const Work *w, const char *matrix, int workers) {
    int longest = 0;
    for (int i = 0; i < w->m.rows; i++)
        longest = w->m.ptr[i + 1] - w->m.ptr[i] > longest ? w->m.ptr[i + 1] - w->m.ptr[i] : longest;
    printf("{\"bench\": \"spmv\", \"workers\": %d, \"matrix\": \"%s\", \"rows\": %d, \"columns\": %d, \"entries\": %d, "
           "\"longest\": %d, \"filled\": %d, \"us\": {",
           workers, matrix, w->m.rows, w->m.columns, w->m.entries, longest, w->s.entries + w->s.long_entries);
    for (int i = 0; i < arms; i++) printf("%s\"%s\": %.2f", i ? ", " : "", arm[i].name, 1e6 * median(arm[i].seconds));
    printf("}}\n");
    fflush(stdout);
}

static void run_matrix(Arm *arm, int arms, Matrix m, const char *name, int workers) {
    Work w = {.m = m};
    work_make(&w);
    measure(arm, arms, &w, name, workers);
    print(arm, arms, &w, name, workers);
    work_free(&w);
}

static void run_file(Arm *arm, int arms, const char *path, int workers) {
    Matrix m;
    Reason why;
    char *text;
    size_t n;
    if (!file_read(path, &text, &n, &why) || !market_parse(&m, text, n, &why))
        fprintf(stderr, "spmv: %s: %s\n", path, why.text), exit(1);
    free(text);
    char name[64];
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    run_matrix(arm, arms, m, name, workers);
}

/* ---- matrices that are made ---- */

static unsigned drawn(unsigned *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }

typedef enum { ANYWHERE, BAND } Columns;

/* Rows of these lengths, with distinct ascending columns. */
static Matrix matrix_of(int rows, const int *length, Columns where) {
    Matrix m = {.rows = rows, .columns = rows};
    unsigned seed = 1;
    for (int i = 0; i < rows; i++) m.entries += length[i];
    m.ptr = memory(4 * ((size_t)rows + 1)), m.col = memory(4 * (size_t)m.entries),
    m.val = memory(8 * (size_t)m.entries);
    m.ptr[0] = 0;
    for (int i = 0; i < rows; i++) {
        const int n = length[i], first = i - n / 2 < 0 ? 0 : i - n / 2 + n > rows ? rows - n : i - n / 2;
        for (int k = 0; k < n; k++) {
            const int from = (int)((int64_t)rows * k / n), past = (int)((int64_t)rows * (k + 1) / n);
            m.col[m.ptr[i] + k] = where == BAND ? first + k : from + (int)(drawn(&seed) % (unsigned)(past - from));
            m.val[m.ptr[i] + k] = (double)drawn(&seed) / 8388608 - 1;
        }
        m.ptr[i + 1] = m.ptr[i] + n;
    }
    return m;
}

typedef struct {
    const char *name;
    int rows, mean,
        longest; /* longest: of a power law; 0: all rows have the mean, or up to half as many more or less */
    bool differ;
    Columns where;
} Made;

static const Made made[] = {
    {"banded 200k x 9", 200000, 9, 0, false, BAND},       {"random 50k x 5", 50000, 5, 0, true, ANYWHERE},
    {"random 100k x 32", 100000, 32, 0, true, ANYWHERE},  {"random 4k x 400", 4000, 400, 0, true, ANYWHERE},
    {"power law 100k", 100000, 6, 2000, false, ANYWHERE}, {"power law 20k", 20000, 12, 8000, false, ANYWHERE},
    {"banded 3k x 5", 3000, 5, 0, false, BAND},           {"banded 20k x 3", 20000, 3, 0, false, BAND},
    {"banded 2k x 40", 2000, 40, 0, false, BAND},         {"banded 4k x 100", 4000, 100, 0, false, BAND},
    {"banded 1k x 64", 1000, 64, 0, false, BAND},         {"random 2k x 6", 2000, 6, 0, true, ANYWHERE},
    {"random 10k x 8", 10000, 8, 0, true, ANYWHERE},      {"random 3k x 30", 3000, 30, 0, true, ANYWHERE},
    {"random 1k x 200", 1000, 200, 0, true, ANYWHERE},    {"random 5k x 60", 5000, 60, 0, true, ANYWHERE},
    {"power law 3k", 3000, 5, 800, false, ANYWHERE},      {"power law 8k", 8000, 20, 4000, false, ANYWHERE},
    {"power law 2k", 2000, 8, 1500, false, ANYWHERE},     {"power law 30k", 30000, 4, 10000, false, ANYWHERE},
};

static int length_of(const Made *d, unsigned *seed) {
    if (!d->longest) return d->differ ? d->mean / 2 + (int)(drawn(seed) % (unsigned)(d->mean + 1)) : d->mean;
    const double length = 0.4 * d->mean * pow((drawn(seed) + 1.0) / 16777216, -0.6);
    return length < d->longest ? (int)length : d->longest;
}

static void run_made(Arm *arm, int arms, const Made *d, int workers) {
    int *length = memory(4 * (size_t)d->rows);
    unsigned seed = 1;
    for (int i = 0; i < d->rows; i++) length[i] = length_of(d, &seed);
    run_matrix(arm, arms, matrix_of(d->rows, length, d->where), d->name, workers);
    free(length);
}

int main(int argc, char **argv) {
    static Arm arm[MOST_ARMS];
    const int workers = getenv("WORKERS") ? atoi(getenv("WORKERS")) : 1;
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .workers = workers};
    bench_check(tile_mesh_open(&config, &mesh), "mesh");
    int arms = 1, at = 1;
    snprintf(arm[0].name, sizeof arm[0].name, "plain");
    for (; at < argc && strstr(argv[at], ".so") && arms < MOST_ARMS; at++) arm_open(&arm[arms++], argv[at]);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) run_made(arm, arms, &made[i], workers);
    for (; at < argc; at++) run_file(arm, arms, argv[at], workers);
    return 0;
}
