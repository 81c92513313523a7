/* plain.h: the same computations as a C programmer's first version, for comparison; compiled with -O3 -march=native. */
#ifndef BENCH_CPU_PLAIN_H
#define BENCH_CPU_PLAIN_H

void plain_softmax(int rows, int columns, const float *x, float *y);
void plain_rmsnorm(int rows, int columns, const float *x, const float *w, float eps, float *y);
/* q, o: [heads][s][d]; k, v: [groups][s][d]; causal */
void plain_attention(int heads, int groups, int s, int d, const float *q, const float *k, const float *v, float scale,
                     float *o);

#endif
