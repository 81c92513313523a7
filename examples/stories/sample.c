#include "sample.h"

#include <math.h>

/* In [0, 1). splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static double uniform_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

int sample_draw(const float *logits, int n, float temperature, uint64_t *state) {
    double most = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) most = fmax(most, logits[i]);
    for (int i = 0; i < n; i++) sum += exp((logits[i] - most) / temperature);
    double left = uniform_next(state) * sum;
    for (int i = 0; i < n; i++) {
        left -= exp((logits[i] - most) / temperature);
        if (left < 0) return i;
    }
    return n - 1;
}
