/* model.h: the memory in which the protocol of runtime/device/host.h is checked, in place of C11 atomics.
   Included by host.h (TILE_MODEL). Every operation that other threads can notice is a step that the scheduler chooses.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { MODEL_relaxed, MODEL_acquire, MODEL_release, MODEL_acq_rel } ModelOrder;

uint64_t model_load(const void *p, ModelOrder, int line);
void model_store(void *p, uint64_t value, ModelOrder, int line, const char *function);
uint64_t model_add(void *p, uint64_t value, ModelOrder, int line);
bool model_swap(void *p, uint64_t from, uint64_t to, ModelOrder, int line);
bool model_reached(uint64_t seen, uint64_t want);
void model_relax(void);
bool model_expired(void);
uint64_t model_now(void);
void model_read(const void *p);
void model_write(const void *p);

#define TILE_LOAD(p, order) model_load((p), MODEL_##order, __LINE__)
#define TILE_STORE(p, v, order) model_store((p), (v), MODEL_##order, __LINE__, __func__)
#define TILE_ADD(p, v, order) model_add((p), (v), MODEL_##order, __LINE__)
#define TILE_SWAP(p, from, to, order) model_swap((p), (from), (to), MODEL_##order, __LINE__)
#define TILE_REACHED(seen, want) model_reached((seen), (want))
#define TILE_POLL 1
#define TILE_PLAIN_READ(p) model_read(p)
#define TILE_PLAIN_WRITE(p) model_write(p)
#define TILE_TEST_DELAY

static inline uint64_t tile_now(void) { return model_now(); }
static inline void tile_relax(unsigned spin, uint64_t start) { (void)spin, (void)start, model_relax(); }
static inline bool tile_sleeps(unsigned spin, uint64_t start) { return (void)spin, (void)start, false; }
#define tile_expired(t, start, from) ((void)(t), (void)(start), (void)(from), model_expired())

#endif
