/* sample.h: draws a token from scores. The same seed draws the same tokens on every rank. */
#ifndef STORIES_SAMPLE_H
#define STORIES_SAMPLE_H

#include <stdint.h>

/* From softmax(logits / temperature), temperature > 0; *state is any number, and moves on. */
int sample_draw(const float *logits, int n, float temperature, uint64_t *state);

#endif
