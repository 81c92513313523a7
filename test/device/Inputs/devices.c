/* devices.c: several devices and streams of the emulator: what is ordered, what is refused, what a mistake ends. */
#include "emu/api.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { E_NOT_READY = 600, E_PEER_ENABLED = 704, E_LAUNCH = 719, BYTES = 256 };

typedef struct {
    uint64_t *word;
    float *x;
} Call;

#define KERNELS(X) X(store) X(load) X(outside) X(set_near) X(set_far) X(look_near) X(spin) X(set_both) X(see_both)
#define DECLARE(name) void name(const void *);
#define ROW(name) {#name, name},
KERNELS(DECLARE)
static const tile_emu_symbol symbols[] = {KERNELS(ROW){NULL, NULL}};

static int failures;
static void *context[2], *stream[2], *other; /* other: a second stream of device 0 */
static Call at[2];                           /* memory of each device */

#define CHECK(condition)                                                                                               \
    if (!(condition)) printf("%d: not so: %s\n", __LINE__, #condition), failures++

static void launch(const char *kernel, Call call, void *on) {
    void *f = NULL, *arguments[] = {&call};
    CHECK(!tile_emu_function_get(&f, (void *)symbols, kernel));
    CHECK(!tile_emu_launch(f, 1, 1, 1, 64, 1, 1, 0, on, arguments, NULL));
}

/* Waits for the stream; words: what must be wrong with it, or NULL. */
static void expect(void *on, const char *words, int line) {
    const char *text = "";
    int error = tile_emu_stream_sync(on);
    if (error) tile_emu_error_text(error, &text);
    if (words ? error == E_LAUNCH && strstr(text, words) : !error) return;
    printf("%d: '%s' instead of '%s'\n", line, text, words ? words : "no error");
    failures++;
}
#define EXPECT(on, words) expect(on, words, __LINE__)

static void renew(void) {
    for (int d = 0; d < 2; d++) {
        CHECK(!tile_emu_context_set(context[d]) && !tile_emu_fill(at[d].word, 0, BYTES, stream[d]));
        CHECK(!tile_emu_fill(at[d].x, 0xff, BYTES, stream[d]));
    }
}

static void set_up(void) {
    for (int d = 0; d < 2; d++) {
        CHECK(!tile_emu_context_retain(&context[d], d) && !tile_emu_context_set(context[d]));
        CHECK(!tile_emu_stream_create(&stream[d], 1));
        CHECK(!tile_emu_alloc((void **)&at[d].word, BYTES) && !tile_emu_alloc((void **)&at[d].x, BYTES));
    }
    CHECK(!tile_emu_context_set(context[0]) && !tile_emu_stream_create(&other, 1));
    renew();
}

static void check_access(void) {
    launch("store", at[1], stream[0]);
    EXPECT(stream[0], "writes memory of device 1, which device 0 has no access to");
    CHECK(!tile_emu_context_set(context[0]) && !tile_emu_peer_enable(context[1], 0));
    CHECK(tile_emu_peer_enable(context[1], 0) == E_PEER_ENABLED);
    launch("store", at[1], stream[0]);
    EXPECT(stream[0], NULL);
}

/* A stream, and a host that waits, order launches; nothing else does. */
static void check_order(void) {
    renew();
    launch("store", at[0], stream[0]);
    launch("load", at[0], stream[0]);
    EXPECT(stream[0], NULL);
    launch("load", at[0], other);
    EXPECT(other, NULL);
    CHECK(!tile_emu_fill(at[0].x, 0, BYTES, other));
    launch("spin", at[0], stream[0]);
    launch("store", at[0], stream[0]);
    launch("load", at[0], other);
    launch("set_far", at[0], other);
    EXPECT(stream[0], "with nothing between");
    renew();
    launch("set_far", at[1], stream[0]);
    launch("store", at[1], stream[0]);
    launch("spin", at[1], stream[1]);
    launch("store", at[1], stream[1]);
    EXPECT(stream[1], NULL); /* the same values */
    EXPECT(stream[0], NULL);
}

static void check_scopes(void) {
    renew();
    launch("set_near", at[1], stream[0]);
    EXPECT(stream[0], NULL);
    launch("spin", at[1], stream[1]);
    EXPECT(stream[1], "looks at a word that device 0 stored for device scope");
    renew();
    launch("set_far", at[1], stream[0]);
    EXPECT(stream[0], NULL);
    launch("look_near", at[1], stream[1]);
    EXPECT(stream[1], "looks for device scope at a word that device 0 stored");
    uint64_t *host = NULL;
    CHECK(!tile_emu_host_alloc((void **)&host, 8, 0));
    launch("set_near", (Call){.word = host}, stream[1]);
    EXPECT(stream[1], "uses a word of the host's memory for device scope");
    launch("set_far", (Call){.word = host}, stream[1]);
    EXPECT(stream[1], NULL);
    CHECK(*host == 1 && !tile_emu_host_release(host));
}

/* Events tell how far a stream is; copies on another one pass it. */
static void check_events(void) {
    void *event = NULL;
    uint64_t word = 1;
    renew();
    CHECK(!tile_emu_event_create(&event, 0));
    launch("spin", at[0], stream[0]);
    CHECK(!tile_emu_event_record(event, stream[0]));
    CHECK(tile_emu_event_query(event) == E_NOT_READY);
    CHECK(!tile_emu_copy_out(&word, at[0].word, 8, other) && word == 0);
    CHECK(tile_emu_event_query(event) == E_NOT_READY);
    launch("set_far", at[0], other);
    while (tile_emu_event_query(event) == E_NOT_READY) {
    }
    CHECK(tile_emu_event_query(event) == 0);
    EXPECT(stream[0], NULL);
    CHECK(!tile_emu_event_destroy(event));
}

/* A mistake ends what all devices do; each stream tells it once. */
static void check_mistakes(void) {
    renew();
    launch("spin", at[0], stream[0]);
    launch("outside", at[1], stream[1]);
    EXPECT(stream[1], "kernel 'outside', workgroup 0, thread");
    EXPECT(stream[0], "kernel 'outside', workgroup 0, thread");
    EXPECT(stream[0], NULL);
    EXPECT(other, NULL);
    launch("store", at[0], stream[0]);
    EXPECT(stream[0], NULL);
}

/* Sooner or later the second of two words overtakes the first. */
static void check_overtaking(void) {
    bool seen = false;
    for (int i = 0; i < 20000 && !seen; i++) {
        float x = 0;
        renew();
        launch("see_both", at[0], stream[0]);
        launch("set_both", at[0], other);
        EXPECT(other, NULL);
        CHECK(!tile_emu_copy_out(&x, at[0].x, sizeof x, stream[0]));
        seen = x != 0;
    }
    CHECK(seen);
}

int main(void) {
    set_up();
    check_access();
    check_order();
    check_scopes();
    check_events();
    check_mistakes();
    check_overtaking();
    return failures != 0;
}
