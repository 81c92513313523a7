/* decode.c: examples/stories/stories.tile, 256 tokens from token 1, against plain C loops (-Ofast, one thread).
   usage: decode [CHECKPOINT]; without one the weights are drawn. Twice: on all cores, and on one worker.
   The best time is the sum over the tokens of each one's best: a token is short enough to run undisturbed. */
#include "bench.h"
#include "plain_decode.h"
#include "step.h"

#include <math.h>

enum { D = 64, F = 172, L = 5, H = 8, G = 4, E = 8, V = 512, S = 512, TOKENS = 256 };

typedef struct {
    tile_mesh *mesh;
    step *step;
    step_args args;
    int32_t ids[1], at[1], next[1];
    float *logits;
    int own[TOKENS], other[TOKENS];
    double own_best[TOKENS], other_best[TOKENS]; /* seconds */
    PlainModel plain;
} Decode;

static long weight_count(void) { return (long)V * D + L * (2L * D + 2L * D * D + 2L * G * E * D + 3L * F * D) + D; }

static int checkpoint_read(const char *path, float *w) {
    PlainSizes s;
    FILE *file = path ? fopen(path, "rb") : NULL;
    size_t n = (size_t)weight_count();
    int good = file && fread(&s, sizeof s, 1, file) == 1 && s.dim == D && s.hidden == F && s.layers == L &&
               s.heads == H && s.groups == G && abs(s.vocab) == V && fread(w, sizeof *w, n, file) == n;
    if (file) fclose(file);
    return good;
}

/* Lies at p; p moves behind it. */
static const float *take(const float **p, long n) {
    const float *at = *p;
    *p += n;
    return at;
}

static PlainWeights weights_divide(const float *p) {
    PlainWeights w;
    w.emb = take(&p, (long)V * D);
    w.norm1 = take(&p, (long)L * D);
    w.wq = take(&p, (long)L * D * D);
    w.wk = take(&p, (long)L * G * E * D);
    w.wv = take(&p, (long)L * G * E * D);
    w.wo = take(&p, (long)L * D * D);
    w.norm2 = take(&p, (long)L * D);
    w.w1 = take(&p, (long)L * F * D);
    w.w2 = take(&p, (long)L * D * F);
    w.w3 = take(&p, (long)L * F * D);
    w.norm = take(&p, D);
    return w;
}

static float *cache_new(void) {
    float *p = calloc((size_t)L * S * G * E, sizeof *p);
    if (!p) abort();
    return p;
}

static void decode_open(Decode *d, PlainWeights w, int workers) {
    tile_mesh_config config = {.size = sizeof config, .nranks = 1, .workers = workers};
    bench_check(tile_mesh_open(&config, &d->mesh), "mesh");
    bench_check(step_open(d->mesh, NULL, &d->step), "open");
    d->logits = bench_floats(V);
    d->plain = plain_model((PlainSizes){D, F, L, H, G, V, S}, w);
    d->args = (step_args){.ids = d->ids,
                          .at = d->at,
                          .emb = w.emb,
                          .w_norm1 = w.norm1,
                          .w_wq = w.wq,
                          .w_wk = w.wk,
                          .w_wv = w.wv,
                          .w_wo = w.wo,
                          .w_norm2 = w.norm2,
                          .w_w1 = w.w1,
                          .w_w2 = w.w2,
                          .w_w3 = w.w3,
                          .w_norm = w.norm,
                          .kc = cache_new(),
                          .vc = cache_new(),
                          .logits = d->logits,
                          .next = d->next};
}

static void decode_close(Decode *d) {
    step_close(d->step);
    tile_mesh_close(d->mesh);
    plain_model_free(&d->plain);
    free(d->args.kc), free(d->args.vc), free(d->logits);
}

static void decode_ours(void *p) {
    Decode *d = p;
    d->ids[0] = 1;
    for (int i = 0; i < TOKENS; i++) {
        double start = bench_now();
        d->at[0] = i;
        bench_check(step_run(d->step, &d->args, NULL), "run");
        bench_check(tile_stream_sync(d->mesh, NULL), "sync");
        d->ids[0] = d->own[i] = d->next[0];
        d->own_best[i] = fmin(d->own_best[i], bench_now() - start);
    }
}

static void decode_plain(void *p) {
    Decode *d = p;
    for (int i = 0; i < TOKENS; i++) {
        double start = bench_now();
        d->other[i] = plain_step(&d->plain, i ? d->other[i - 1] : 1, i);
        d->other_best[i] = fmin(d->other_best[i], bench_now() - start);
    }
}

static void decode_compare(const char *name, PlainWeights w, int workers) {
    Decode d = {0};
    BenchTime a, b;
    double difference = 0, flops = 2.0 * (double)weight_count() * TOKENS;
    decode_open(&d, w, workers);
    for (int i = 0; i < TOKENS; i++) d.own_best[i] = d.other_best[i] = INFINITY;
    bench_pair(decode_ours, decode_plain, &d, &a, &b);
    a.best = b.best = 0;
    for (int i = 0; i < TOKENS; i++) a.best += d.own_best[i], b.best += d.other_best[i];
    for (int i = 0; i < V; i++) difference = fmax(difference, fabs((double)d.logits[i] - d.plain.logits[i]));
    bench_print(name, "plain -Ofast", a, b, flops, difference);
    if (memcmp(d.own, d.other, sizeof d.own)) fprintf(stderr, "%s: the tokens differ\n", name);
    decode_close(&d);
}

int main(int argc, char **argv) {
    float *w = bench_floats((size_t)weight_count());
    if (!checkpoint_read(argc > 1 ? argv[1] : NULL, w)) {
        fprintf(stderr, "no checkpoint: the weights are drawn\n");
        for (long i = 0; i < weight_count(); i++) w[i] *= 0.1f;
    }
    decode_compare("decode_stories260K_256", weights_divide(w), 0);
    decode_compare("decode_stories260K_256_one_worker", weights_divide(w), 1);
    free(w);
    return 0;
}
