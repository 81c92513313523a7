/* api.h: the emulator's functions, as runtime/src/gpu.h calls them, and its form of code. */
#ifndef TILE_EMU_API_H
#define TILE_EMU_API_H

#include "device/tile_image.h"
#include "src/gpu_launch.h"

#include <stddef.h>
#include <stdint.h>

int tile_emu_init(unsigned flags);
int tile_emu_device_count(int *);
int tile_emu_device_name(char *, int bytes, int device);
int tile_emu_device_attribute(int *, int attribute, int device);
int tile_emu_device_bus(char *, int bytes, int device);
int tile_emu_device_by_bus(int *device, const char *);
int tile_emu_peer_can(int *, int device, int peer);
int tile_emu_peer_attribute(int *, int attribute, int device, int peer);
int tile_emu_peer_enable(void *context, unsigned flags);
int tile_emu_context_retain(void **, int device);
int tile_emu_context_release(int device);
int tile_emu_context_set(void *);
int tile_emu_alloc(void **, size_t);
int tile_emu_release(void *);
int tile_emu_alloc_fine(void **, size_t, unsigned flags);
int tile_emu_host_alloc(void **, size_t, unsigned flags);
int tile_emu_host_release(void *);
int tile_emu_block(void **base, size_t *bytes, void *);
int tile_emu_pointer_attribute(void *, int attribute, void *);
int tile_emu_copy_in(void *, const void *, size_t, void *stream);
int tile_emu_copy_out(void *, const void *, size_t, void *stream);
int tile_emu_fill(void *, unsigned char, size_t, void *stream);
int tile_emu_module_load(void **, const void *image);
int tile_emu_module_unload(void *);
int tile_emu_function_get(void **, void *module, const char *);
int tile_emu_function_set(void *, int attribute, int value);
int tile_emu_driver_version(int *);
int tile_emu_map_encode(void *map, int type, unsigned rank, void *base, const uint64_t *dim, const uint64_t *stride,
                        const unsigned *box, const unsigned *step, int interleave, int swizzle, int promotion,
                        int fill);
int tile_emu_map_encode_pixels(void *map, int type, unsigned rank, void *base, const uint64_t *dim,
                               const uint64_t *stride, const int *lower, const int *upper, unsigned channels,
                               unsigned pixels, const unsigned *step, int interleave, int swizzle, int promotion,
                               int fill);
int tile_emu_launch(void *, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z, unsigned lds,
                    void *stream, void **arguments, void **extra);
int tile_emu_launch_ex(const GpuLaunchConfig *, void *, void **arguments, void **extra);
int tile_emu_stream_create(void **, unsigned flags);
int tile_emu_stream_destroy(void *);
int tile_emu_stream_sync(void *);
int tile_emu_stream_capturing(void *, int *);
int tile_emu_stream_follow(void *, void *event, unsigned flags);
int tile_emu_event_create(void **, unsigned flags);
int tile_emu_event_destroy(void *);
int tile_emu_event_record(void *, void *stream);
int tile_emu_event_query(void *);
int tile_emu_event_elapsed(float *ms, void *from, void *to);
int tile_emu_error_text(int, const char **);

#endif
