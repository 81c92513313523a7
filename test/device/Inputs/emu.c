/* Launches the kernels of emu.hip: values against plain loops, mistakes against the words they are to be met with.
   usage: emu LANES */
#include "emu/api.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 128 * 5 };

typedef struct {
    const float *in;
    float *out;
    int64_t n;
} Call;

#define KERNELS(X)                                                                                                     \
    X(rotate)                                                                                                          \
    X(rotate_without_barrier) X(reuse_without_barrier) X(followed) X(followed_late) X(followed_too_late) X(stored_before_it_follows) X(followed_by_one) X(empty) X(empty_but_follows) X(store_outside) X(load_outside) X(load_misaligned)             \
        X(load_unwritten) X(groups_collide) X(groups_add) X(groups_add_and_read) X(barrier_divergent) X(shuffle_divergent) X(lds_outside) X(shuffles)
#define DECLARE(name) void name(const void *);
#define ROW(name) {#name, name},
KERNELS(DECLARE)
static const tile_emu_symbol symbols[] = {KERNELS(ROW){NULL, NULL}};

static int failures;
static float *in, *out;

/* May begin before the launch before it has ended. */
static int launch_dependent(const char *name) {
    void *f = NULL;
    Call call = {in, out, N};
    void *arguments[] = {&call};
    GpuLaunchAttribute early = {.id = GPU_LAUNCH_DEPENDENT, .value = 1};
    GpuLaunchConfig config = {
        .groups = {2, 1, 1}, .threads = {128, 1, 1}, .attribute = &early, .nattributes = 1};
    if (tile_emu_function_get(&f, (void *)symbols, name)) exit(1);
    int error = tile_emu_launch_ex(&config, f, arguments, NULL);
    return error ? error : tile_emu_stream_sync(NULL);
}

static int enqueue(const char *name, int groups, int threads, size_t lds) {
    void *f = NULL;
    Call call = {in, out, N};
    void *arguments[] = {&call};
    if (tile_emu_function_get(&f, (void *)symbols, name)) exit(1);
    return tile_emu_launch(f, (unsigned)groups, 1, 1, (unsigned)threads, 1, 1, (unsigned)lds, NULL, arguments, NULL);
}

static int launch(const char *name, int groups, int threads, size_t lds) {
    int error = enqueue(name, groups, threads, lds);
    return error ? error : tile_emu_stream_sync(NULL);
}

static void judge(const char *name, int error, const char *words) {
    const char *text = "";
    if (error) tile_emu_error_text(error, &text);
    if (words ? error && strstr(text, words) : !error) return;
    printf("%s: '%s' instead of '%s'\n", name, text, words ? words : "no error");
    failures++;
}

static void expect(const char *name, int groups, int threads, size_t lds, const char *words) {
    judge(name, launch(name, groups, threads, lds), words);
}

/* Of two launches, between which the host does not wait. */
static void expect_behind(const char *first, const char *name, const char *words) {
    int error = enqueue(first, 1, 128, 0);
    judge(name, error ? error : launch(name, 1, 128, 0), words);
}

static void memory_renew(size_t floats) {
    float host[N];
    if (in) tile_emu_release(in), tile_emu_release(out);
    if (tile_emu_alloc((void **)&in, sizeof host) || tile_emu_alloc((void **)&out, floats * sizeof *out)) exit(1);
    for (int i = 0; i < N; i++) host[i] = (float)(i * 7 % 101);
    tile_emu_copy_in(in, host, sizeof host, NULL);
}

static void check(int i, float want) {
    if (out[i] == want) return;
    printf("out[%d] is %g, not %g\n", i, (double)out[i], (double)want);
    failures++;
}

static void check_values(int lanes) {
    memory_renew(N);
    expect("rotate", 5, 128, 512, NULL);
    for (int i = 0; i < N; i++) check(i, in[i / 128 * 128 + (i + 1) % 128]);
    expect("shuffles", 1, 128, 0, NULL);
    for (int t = 0; t < 128; t++) {
        int wave = t / lanes * lanes, lane = t % lanes;
        float y = 0;
        for (int m = 1; m < lanes; m *= 2) y += in[wave + (lane ^ m)];
        check(t, y + in[wave + (lane + 3) % lanes]);
    }
}

static void check_mistakes(void) {
    memory_renew(N);
    expect("rotate", 6, 128, 512, "of a block of 2560 bytes");
    expect("rotate", 1, 64, 512, "belongs to a workgroup of 128, the launch has 64");
    expect("rotate", 1, 128, 256, "wants 512 bytes of LDS, the launch gives 256");
    expect("rotate_without_barrier", 1, 128, 512, "with nothing between");
    expect("reuse_without_barrier", 1, 128, 512, "with nothing between");
    expect("load_misaligned", 1, 64, 0, "no multiple of 16");
    expect("load_outside", 1, 128, 0, "reads 4 bytes");
    expect("groups_collide", 2, 64, 0, "with nothing between");
    expect("groups_collide", 1, 64, 0, NULL);
    expect("groups_add", 3, 64, 0, NULL);
    for (int t = 0; t < 64; t++) check(t, 3);
    expect("groups_add_and_read", 2, 64, 0, "with nothing between");
    expect("barrier_divergent", 1, 128, 0, "100 of 128 threads wait at a barrier");
    expect("shuffle_divergent", 1, 64, 0, "for lanes of their waves that do not come");
    expect("lds_outside", 1, 64, 512, "of LDS of 512 bytes");
    expect("followed", 1, 128, 0, NULL);
    expect("followed_late", 1, 128, 0, NULL); /* reads what the host wrote */
    expect("followed_too_late", 1, 128, 0, NULL); /* the host has waited for the launch before */
    expect_behind("followed", "followed_late", NULL);
    expect_behind("followed", "followed_too_late", "has touched memory before it follows");
    expect("stored_before_it_follows", 1, 128, 0, "has touched memory before it follows");
    expect("followed_by_one", 1, 128, 0, "and has not followed the launches before");
    judge("empty", launch_dependent("empty"), "ends, and has not followed the launches before");
    judge("empty_but_follows", launch_dependent("empty_but_follows"), NULL);
    expect("empty", 1, 128, 0, NULL);
    memory_renew(128);
    expect("store_outside", 1, 128, 0, "writes 4 bytes at byte 512 of a block of 512 bytes");
    memory_renew(N);
    expect("load_unwritten", 1, 64, 0, "which nothing wrote");
}

int main(int argc, char **argv) {
    check_values(argc > 1 ? atoi(argv[1]) : 64);
    check_mistakes();
    return failures != 0;
}
