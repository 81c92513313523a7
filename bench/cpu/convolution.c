/* convolution.c: a layer of a network by several algorithms, in turns with im2col and OpenBLAS, or with a plain loop
   where the weights are depthwise: convolution H W C O R S STEP ABOVE BESIDE LIBRARY.. (bench/cpu/convolution.py makes
   the libraries). O = 0: depthwise. One line an arm: processor time, and the largest error over the root of the mean
   square of the result, against sums in f64. */
#include "bench.h"
#include "plain_convolution.h"
#include "tile_program.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>

enum { MOST_ARMS = 16, SAMPLES = 20000 };
static const double turn_seconds = 4e-3; /* of a turn of an arm, at least */

typedef struct {
    Layer layer;
    const float *x, *k, *bias; /* channels last; weights [rows][columns][channels][outputs] */
    float *x_front, *k_front;  /* of the peer: channels in front; weights [outputs][channels][rows][columns] */
    float *columns;            /* of the peer: patches */
    int64_t inputs, weights, results;
} Work;

typedef struct Arm {
    char name[64];
    const Work *work;
    void (*run)(struct Arm *);
    float *y;
    bool front; /* channels of y in front */
    tile_mesh *mesh;
    tile_instance *instance;
    void *arg[4];
    int repeats;
    double seconds[MOST_TURNS], error;
} Arm;

static float *floats(int64_t n) {
    float *p = bench_floats((size_t)n);
    for (int64_t i = 0; i < n; i++) p[i] *= 0.5f;
    return p;
}

/* ---- the peer ---- */

static void turn_image(const Layer *l, const float *from, float *to) {
    for (int64_t c = 0; c < l->channels; c++)
        for (int64_t p = 0; p < l->height * l->width; p++) to[c * l->height * l->width + p] = from[p * l->channels + c];
}

static void turn_weights(const Layer *l, const float *from, float *to) {
    const int64_t places = l->rows * l->columns;
    for (int64_t o = 0; o < l->outputs; o++)
        for (int64_t c = 0; c < l->channels; c++)
            for (int64_t p = 0; p < places; p++)
                to[(o * l->channels + c) * places + p] = from[(p * l->channels + c) * l->outputs + o];
}

static void run_openblas(Arm *a) {
    const Work *w = a->work;
    const Layer *l = &w->layer;
    const int pixels = (int)(l->high * l->wide), depth = (int)(l->channels * l->rows * l->columns);
    const bool points = l->rows * l->columns == 1 && l->step == 1;
    if (!points) plain_im2col(l, w->x_front, w->columns);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)l->outputs, pixels, depth, 1, w->k_front, depth,
                points ? w->x_front : w->columns, pixels, 0, a->y, pixels);
    plain_bias_relu(l->outputs, pixels, w->bias, a->y);
}

static void run_plain(Arm *a) { plain_depthwise(&a->work->layer, a->work->x, a->work->k, a->work->bias, a->y); }

/* ---- ours ---- */

static const tile_program *program_of(void *library, const char *name) {
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s_program", name);
    return library ? dlsym(library, symbol) : NULL;
}

static void run_ours(Arm *a) {
    bench_check(tile_instance_run(a->instance, a->arg, NULL, NULL), a->name);
    bench_check(tile_stream_sync(a->mesh, NULL), a->name);
}

static int64_t elements_of(const tile_arg *a) {
    int64_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= a->dim[d];
    return n;
}

/* The program NAME_weights beside a program makes its weights, once. */
static float *weights_for(const Work *w, tile_mesh *mesh, const char *library) {
    char other[512];
    const size_t stem = strlen(library) - strlen(".so");
    snprintf(other, sizeof other, "%.*s_weights.so", (int)stem, library);
    void *lib = dlopen(other, RTLD_NOW);
    if (!lib) return NULL;
    const char *base = strrchr(other, '/') + 1;
    char name[96];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    const tile_program *p = program_of(lib, name);
    tile_instance *instance;
    bench_check(tile_instance_open(mesh, p, &instance), name);
    float *u = floats(elements_of(&p->arg[1]));
    void *arg[] = {(void *)w->k, u, NULL};
    bench_check(tile_instance_run(instance, arg, NULL, NULL), name);
    bench_check(tile_stream_sync(mesh, NULL), name);
    tile_instance_close(instance);
    return u;
}

static void open_ours(Arm *a, const Work *w, tile_mesh *mesh, const char *library) {
    const char *base = strrchr(library, '/') ? strrchr(library, '/') + 1 : library;
    snprintf(a->name, sizeof a->name, "%.*s", (int)strcspn(base, "."), base);
    const tile_program *p = program_of(dlopen(library, RTLD_NOW), a->name);
    if (!p || p->nargs != 4) {
        fprintf(stderr, "convolution: %s: %s\n", library, p ? "arguments" : dlerror());
        exit(2);
    }
    a->work = w, a->run = run_ours, a->mesh = mesh;
    bench_check(tile_instance_open(mesh, p, &a->instance), a->name);
    float *u = weights_for(w, mesh, library);
    a->y = floats(elements_of(&p->arg[3]));
    a->arg[0] = (void *)w->x, a->arg[1] = u ? u : (void *)w->k, a->arg[2] = (void *)w->bias, a->arg[3] = a->y;
}

/* ---- errors ---- */

static double exact(const Work *w, int64_t i, int64_t j, int64_t o) {
    const Layer *l = &w->layer;
    const bool deep = l->outputs != 0;
    const int64_t outputs = deep ? l->outputs : 1;
    double sum = w->bias[o];
    for (int64_t r = 0; r < l->rows; r++)
        for (int64_t s = 0; s < l->columns; s++) {
            const int64_t row = i * l->step + r - l->above, column = j * l->step + s - l->beside;
            if (row < 0 || row >= l->height || column < 0 || column >= l->width) continue;
            const float *x = w->x + (row * l->width + column) * l->channels, *k = w->k + (r * l->columns + s) * l->channels * outputs;
            if (!deep) sum += (double)x[o] * k[o];
            for (int64_t c = 0; deep && c < l->channels; c++) sum += (double)x[c] * k[c * outputs + o];
        }
    return fmax(sum, 0);
}

/* Elements spread over the whole result, an equal number of steps apart. */
static void find_errors(const Work *w, Arm **arm, int arms) {
    const Layer *l = &w->layer;
    const int64_t outputs = l->outputs ? l->outputs : l->channels, n = l->high * l->wide * outputs;
    const int64_t depth = l->rows * l->columns * l->channels, most = SAMPLES < 40000000 / depth ? SAMPLES : 40000000 / depth;
    const int64_t step = n > most ? (n / most) | 1 : 1;
    double squares = 0, count = 0;
    for (int64_t e = 0; e < n; e += step, count++) {
        const int64_t o = e % outputs, j = e / outputs % l->wide, i = e / outputs / l->wide;
        const double want = exact(w, i, j, o);
        squares += want * want;
        for (int a = 0; a < arms; a++) {
            const int64_t at = arm[a]->front ? (o * l->high + i) * l->wide + j : e;
            arm[a]->error = fmax(arm[a]->error, fabs(arm[a]->y[at] - want));
        }
    }
    for (int a = 0; a < arms; a++) arm[a]->error /= sqrt(squares / count);
}

/* ---- turns ---- */

/* Processor time of all threads: on one core the time that passes, less what others take of the core. */
static double turn(Arm *a) {
    const double start = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (int r = 0; r < a->repeats; r++) a->run(a);
    return (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - start) / a->repeats;
}

static void measure(Arm **arm, int arms, int turns) {
    for (int i = 0; i < arms; i++) {
        arm[i]->repeats = 1;
        turn(arm[i]);
        arm[i]->repeats = (int)(turn_seconds / turn(arm[i])) + 1;
    }
    for (int t = 0; t < turns; t++)
        for (int i = 0; i < arms; i++) {
            Arm *a = arm[t % 2 ? arms - 1 - i : i];
            a->seconds[t] = turn(a);
        }
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, bench_compare);
    return x[n / 2];
}

static void print(Arm **arm, int arms, int turns) {
    double ratio[MOST_ARMS][MOST_TURNS];
    for (int i = 0; i < arms; i++)
        for (int t = 0; t < turns; t++) ratio[i][t] = arm[0]->seconds[t] / arm[i]->seconds[t];
    for (int i = 0; i < arms; i++)
        printf("{\"arm\": \"%s\", \"us\": %.2f, \"ratio\": %.3f, \"error\": %.3g}\n", arm[i]->name,
               1e6 * median(arm[i]->seconds, turns), median(ratio[i], turns), arm[i]->error);
}

static void read_layer(char **argv, Layer *l) {
    int64_t *field[] = {&l->height, &l->width, &l->channels, &l->outputs, &l->rows, &l->columns, &l->step, &l->above, &l->beside};
    for (int i = 0; i < 9; i++) *field[i] = atoll(argv[1 + i]);
    l->images = 1;
    l->high = (l->height + 2 * l->above - l->rows) / l->step + 1;
    l->wide = (l->width + 2 * l->beside - l->columns) / l->step + 1;
}

int main(int argc, char **argv) {
    if (argc < 11) return fprintf(stderr, "usage: convolution H W C O R S STEP ABOVE BESIDE LIBRARY..\n"), 2;
    Work w = {0};
    read_layer(argv, &w.layer);
    const Layer *l = &w.layer;
    const int64_t outputs = l->outputs ? l->outputs : l->channels, depth = l->rows * l->columns * l->channels;
    w.inputs = l->height * l->width * l->channels, w.results = l->high * l->wide * outputs;
    w.weights = l->outputs ? depth * outputs : depth;
    w.x = floats(w.inputs), w.k = floats(w.weights), w.bias = floats(outputs);
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .workers = 1};
    tile_mesh *mesh;
    bench_check(tile_mesh_open(&config, &mesh), "mesh");
    Arm *arm[MOST_ARMS];
    int arms = 0;
    for (int i = 0; i < MOST_ARMS; i++)
        if (!(arm[i] = calloc(1, sizeof **arm))) abort();
    *arm[arms++] = (Arm){.name = "peer", .work = &w, .run = l->outputs ? run_openblas : run_plain, .y = floats(w.results), .front = l->outputs != 0};
    if (l->outputs) {
        w.x_front = floats(w.inputs), w.k_front = floats(w.weights), w.columns = floats(depth * l->high * l->wide);
        turn_image(l, w.x, w.x_front), turn_weights(l, w.k, w.k_front);
    }
    for (int i = 10; i < argc && arms < MOST_ARMS; i++) open_ours(arm[arms++], &w, mesh, argv[i]);
    int turns = getenv("TURNS") ? atoi(getenv("TURNS")) : 9;
    if (turns > MOST_TURNS) turns = MOST_TURNS;
    measure(arm, arms, turns);
    find_errors(&w, arm, arms);
    print(arm, arms, turns);
    return 0;
}
