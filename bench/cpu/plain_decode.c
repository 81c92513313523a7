/* plain_decode.c: see plain_decode.h. */
#include "plain_decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float *floats(long n) {
    float *p = calloc((size_t)n, sizeof *p);
    if (!p) abort();
    return p;
}

PlainModel plain_model(PlainSizes s, PlainWeights w) {
    long cache = (long)s.layers * s.places * s.groups * (s.dim / s.heads);
    return (PlainModel){.s = s,
                        .w = w,
                        .kc = floats(cache),
                        .vc = floats(cache),
                        .x = floats(s.dim),
                        .n = floats(s.dim),
                        .q = floats(s.dim),
                        .p = floats(s.places),
                        .o = floats(s.dim),
                        .h = floats(s.hidden),
                        .g = floats(s.hidden),
                        .logits = floats(s.vocab)};
}

void plain_model_free(PlainModel *m) {
    float *all[] = {m->kc, m->vc, m->x, m->n, m->q, m->p, m->o, m->h, m->g, m->logits};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void norm(int n, const float *x, const float *w, float *y) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    float scale = 1 / sqrtf(sum / (float)n + 1e-5f);
    for (int i = 0; i < n; i++) y[i] = x[i] * scale * w[i];
}

/* y = w x, or y += w x */
static void product(int rows, int columns, const float *w, const float *x, float *y, int add) {
    for (int i = 0; i < rows; i++) {
        float sum = 0;
        for (int j = 0; j < columns; j++) sum += w[(long)i * columns + j] * x[j];
        y[i] = add ? y[i] + sum : sum;
    }
}

static void rotate(int n, int width, int at, float *x) {
    for (int i = 0; i < n; i += 2) {
        float turn = (float)at / powf(10000, (float)(i % width) / (float)width), c = cosf(turn), s = sinf(turn);
        float even = x[i], odd = x[i + 1];
        x[i] = even * c - odd * s;
        x[i + 1] = even * s + odd * c;
    }
}

static void attend_head(int width, int row, int at, const float *q, const float *k, const float *v, float *p,
                        float *o) {
    float most = -INFINITY, sum = 0;
    for (int j = 0; j <= at; j++) {
        float x = 0;
        for (int c = 0; c < width; c++) x += q[c] * k[(long)j * row + c];
        p[j] = x / sqrtf((float)width);
        most = p[j] > most ? p[j] : most;
    }
    for (int j = 0; j <= at; j++) sum += p[j] = expf(p[j] - most);
    memset(o, 0, sizeof *o * (unsigned)width);
    for (int j = 0; j <= at; j++)
        for (int c = 0; c < width; c++) o[c] += p[j] / sum * v[(long)j * row + c];
}

static void attention(PlainModel *m, int layer, int at) {
    int d = m->s.dim, width = d / m->s.heads, row = m->s.groups * width;
    long cache = (long)layer * m->s.places * row, square = (long)layer * d * d, narrow = (long)layer * row * d;
    float *k = m->kc + cache + (long)at * row, *v = m->vc + cache + (long)at * row;
    norm(d, m->x, m->w.norm1 + (long)layer * d, m->n);
    product(d, d, m->w.wq + square, m->n, m->q, 0);
    product(row, d, m->w.wk + narrow, m->n, k, 0);
    product(row, d, m->w.wv + narrow, m->n, v, 0);
    rotate(d, width, at, m->q);
    rotate(row, width, at, k);
    for (int h = 0; h < m->s.heads; h++) {
        long group = cache + (long)(h / (m->s.heads / m->s.groups)) * width;
        attend_head(width, row, at, m->q + h * width, m->kc + group, m->vc + group, m->p, m->o + h * width);
    }
    product(d, d, m->w.wo + square, m->o, m->x, 1);
}

static void feed_forward(PlainModel *m, int layer) {
    int d = m->s.dim, f = m->s.hidden;
    long block = (long)layer * d * f;
    norm(d, m->x, m->w.norm2 + (long)layer * d, m->n);
    product(f, d, m->w.w1 + block, m->n, m->h, 0);
    product(f, d, m->w.w3 + block, m->n, m->g, 0);
    for (int i = 0; i < f; i++) m->h[i] = m->h[i] / (1 + expf(-m->h[i])) * m->g[i];
    product(d, f, m->w.w2 + block, m->h, m->x, 1);
}

int plain_step(PlainModel *m, int token, int at) {
    int best = 0, d = m->s.dim;
    memcpy(m->x, m->w.emb + (long)token * d, sizeof *m->x * (unsigned)d);
    for (int layer = 0; layer < m->s.layers; layer++) {
        attention(m, layer, at);
        feed_forward(m, layer);
    }
    norm(d, m->x, m->w.norm, m->n);
    product(m->s.vocab, d, m->w.emb, m->n, m->logits, 0);
    for (int i = 1; i < m->s.vocab; i++)
        if (m->logits[i] > m->logits[best]) best = i;
    return best;
}
