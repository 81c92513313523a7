/* plain_decode.h: one step of a Llama model in plain C loops, as llama2.c does it: float32, one sequence, one thread.
 */
#ifndef BENCH_CPU_PLAIN_DECODE_H
#define BENCH_CPU_PLAIN_DECODE_H

typedef struct {
    int dim, hidden, layers, heads, groups, vocab, places;
} PlainSizes;

/* Weights in the order of a llama2.c checkpoint, layers stacked; the caller's. */
typedef struct {
    const float *emb, *norm1, *wq, *wk, *wv, *wo, *norm2, *w1, *w2, *w3, *norm;
} PlainWeights;

typedef struct {
    PlainSizes s;
    PlainWeights w;
    float *kc, *vc; /* [layers][places][groups][width] */
    float *x, *n, *q, *p, *o, *h, *g, *logits;
} PlainModel;

PlainModel plain_model(PlainSizes, PlainWeights);
int plain_step(PlainModel *, int token, int at); /* the next token; m->logits */
void plain_model_free(PlainModel *);

#endif
