/* tile_emu_calls.h: functions of the emulator (runtime/emu) that GPU text calls on the CPU. */
#ifndef TILE_DEVICE_TILE_EMU_CALLS_H
#define TILE_DEVICE_TILE_EMU_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TILE_DEVICE, TILE_SYSTEM }; /* who takes part: workgroups of this device, all devices and the host */
/* How memory is touched; `covers`: whole vectors are read for some of their bytes; `looks`: maybe before the launches
   before have ended. */
enum {
    TILE_LOADS,
    TILE_STORES,
    TILE_LDS_LOADS,
    TILE_LDS_STORES,
    TILE_ATOMICS,
    TILE_SHARED_ATOMICS,
    TILE_COVERS,
    TILE_LOOKS
};

typedef enum {
    TILE_EMU_F64,
    TILE_EMU_F32,
    TILE_EMU_F16,
    TILE_EMU_BF16,
    TILE_EMU_F8E4M3,
    TILE_EMU_F8E5M2,
    TILE_EMU_F8E4M3FNUZ,
    TILE_EMU_F8E5M2FNUZ,
    TILE_EMU_I32,
    TILE_EMU_I8,
    TILE_EMU_U8
} tile_emu_elem;

typedef enum { TILE_EMU_MFMA, TILE_EMU_MFMA_SCALED, TILE_EMU_MMA } tile_emu_kind;

typedef struct {
    tile_emu_kind kind;
    tile_emu_elem a, b, d;
    int m, n, k;
} tile_emu_matrix;

/* What the memory of a machine promises. */
typedef struct {
    int lanes;    /* of a wave */
    int chiplets; /* with an L2 of their own */
    bool holds;   /* loads and stores of waves may go on behind a barrier */
} tile_emu_machine;

typedef struct {
    size_t bytes, maps_bytes; /* of the arguments: the second one lies behind the first */
    int threads, cluster;
    tile_emu_machine machine;
} tile_emu_kernel;

int tile_emu_thread(void);
int64_t tile_emu_group(void);
void tile_emu_sync(void);
void tile_emu_follow(void);
void tile_emu_end_behind(void);
void tile_emu_beside(void);
uint32_t tile_emu_shuffle(uint32_t x, int lane);
void tile_emu_multiply(const tile_emu_matrix *, void *d, const void *a, const void *b);
void tile_emu_check(const void *p, size_t bytes, int how, const void *value);
char *tile_emu_lds(size_t bytes); /* the workgroup's; an error where the launch gave another size; 0: any */

/* Stands before a kernel's body. Without an argument the kernel only describes itself and does not run (false). Another
   number of threads than the launch's is an error. */
bool tile_emu_begin(const void *argument, const tile_emu_kernel *);

/* Between workgroups and devices. */
int64_t tile_emu_groups(void);
void tile_emu_drain(void);
void tile_emu_fence_release(int scope);
void tile_emu_fence_acquire(int scope);
uint64_t tile_emu_word_load(const uint64_t *, int scope);
void tile_emu_word_store(uint64_t *, uint64_t, int scope);
uint64_t tile_emu_word_add(uint64_t *, uint64_t, int scope);
uint64_t tile_emu_word_swap(uint64_t *, uint64_t from, uint64_t to, int scope);
uint64_t tile_emu_clock_ns(void);
void tile_emu_pause(void);

#ifdef __cplusplus
}
#endif

#endif
