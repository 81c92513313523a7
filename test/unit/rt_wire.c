/* rt_wire.c: both ends of the messages between processes against made-up ranks (wire_talk.h): right conversations, each
   message changed in each way that must be refused, and random changes, the same for the same seed.
   usage: rt_wire CONVERSATIONS|SECONDSs [first seed] [gpu] */
#include "wire_talk.h"

#include "device/tile_image.h"

#include <dlfcn.h>

enum { PATIENT_MS = 20000, SHORT_MS = 40 };

static Talk talk;
static TalkScript scripts[TALK_RANKS + 1];
static tile_program programs[TALK_RANKS + 1];

/* A program on GPUs needs code; the driver of these tests takes a table of no kernels for it. */
static void programs_make(bool gpu) {
    static const char none[64];
    static const size_t at[3];
    static tile_image image[2];
    for (int i = 0; i < 2; i++)
        image[i] = (tile_image){.target = "sm_90a", .code = none, .symmetric_bytes = 4096, .words = 8};
    for (int n = 2; n <= TALK_RANKS; n++) {
        programs[n] = rt_program(n);
        if (!gpu) continue;
        programs[n].nimages = 2;
        programs[n].image = image;
        programs[n].call_bytes = programs[n].task_at = 8;
        programs[n].arg_at = programs[n].dim_at = at;
    }
}

/* A block on a device, by the driver of these tests. */
static void *block_make(size_t bytes) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *block = NULL, *context = NULL;
    int (*retain)(void **, int), (*set)(void *), (*alloc)(void **, size_t);
    CHECK(library);
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(library, "cuCtxSetCurrent");
    *(void **)&alloc = dlsym(library, "cuMemAlloc_v2");
    CHECK(!retain(&context, 0) && !set(context) && !alloc(&block, bytes));
    return block;
}

/* rank: of the real end. */
static int converse(int rank, int nranks, const uint8_t *bytes, size_t n, int timeout_ms) {
    talk.nranks = nranks;
    talk.bytes = (TalkBytes){bytes, n, 0};
    talk.script = &scripts[nranks];
    if (rank) scripts[nranks].n = 0;
    int code = talk_run(&talk, rank, &programs[nranks], timeout_ms);
    if (code > TILE_OK || code < TILE_E_RANGE || (code && !*tile_last_error())) {
        fprintf(stderr, "rank %d of %d: code %d, '%s'\n", rank, nranks, code, tile_last_error());
        exit(1);
    }
    return code;
}

static void right_ones(void) {
    for (int n = 2; n <= TALK_RANKS; n++) {
        for (int r = 1; r < n; r++) CHECK(converse(r, n, NULL, 0, PATIENT_MS) == TILE_OK);
        CHECK(scripts[n].n > 4 && scripts[n].n < TALK_STEPS);
        CHECK(converse(0, n, NULL, 0, PATIENT_MS) == TILE_OK);
    }
}

/* ---- each message, changed ---- */

/* Changes of one message that no rank may accept. */
static const struct {
    uint8_t n, bytes[8];
} refused[] = {
    {6, {WORD, 0, 1, 2, 3, 4}},          /* magic */
    {6, {WORD, 1, 0xff, 0xff, 0, 0}},    /* version */
    {6, {WORD, 2, 9, 0, 0, 0}},          /* kind */
    {6, {WORD, 3, 77, 0, 0, 0}},         /* rank */
    {6, {WORD, 3, 255, 255, 255, 255}},  /* rank -1 */
    {6, {WORD, 4, 100, 0, 0, 0}},        /* step */
    {6, {WORD, 5, 1, 0, 0, 0}},          /* status: a code that is none */
    {6, {WORD, 5, 0xfd, 255, 255, 255}}, /* status: an error, with a body */
    {6, {WORD, 6, 200, 0, 0, 0}},        /* missing */
    {6, {WORD, 7, 255, 255, 255, 255}},  /* bytes */
    {3, {CUT, 5, 0}},
    {3, {CUT, 31, 0}},
    {2, {EXTEND, 0}},
    {2, {EXTEND, 200}},
    {3, {RESIZE, 1, 0}},
    {1, {DROP}},
    {6, {RAW, 4, 0, 't', 'i', 'l'}},
};

/* Change number k of message number `at`, of a conversation of real rank `rank`: so many messages that are kept. */
static int changed(int rank, int nranks, int at, int k) {
    uint8_t bytes[TALK_STEPS * TALK_RANKS + 8] = {0};
    memcpy(bytes + at, refused[k].bytes, refused[k].n);
    return converse(rank, nranks, bytes, (size_t)at + refused[k].n, SHORT_MS);
}

/* A rank that was not welcomed knocks again, and is then. */
static bool knocks_again(int rank, int at, int k) { return rank && at == 0 && refused[k].bytes[0] == DROP; }

static void each_refused(int rank, int nranks, int messages) {
    for (int at = 0; at < messages; at++)
        for (int k = 0; k < (int)(sizeof refused / sizeof *refused); k++)
            if (changed(rank, nranks, at, k) == TILE_OK && !knocks_again(rank, at, k)) {
                fprintf(stderr, "real rank %d of %d takes message %d with change %d\n", rank, nranks, at, k);
                exit(1);
            }
}

/* Only a sealed file of the right size is taken, and it alone. */
static void memory_refused(void) {
    int memory = 0;
    for (int s = 0; s < scripts[2].n && !memory; s++) {
        WireHead head;
        memcpy(&head, scripts[2].step[s].bytes, sizeof head);
        if (head.kind == WIRE_ROOM) memory = s + 2; /* after the welcome */
    }
    CHECK(memory);
    for (int kind = MEMORY_NONE; kind < MEMORY_KINDS; kind++) {
        uint8_t bytes[TALK_STEPS] = {0};
        bytes[memory] = PASS;
        bytes[memory + 1] = (uint8_t)kind;
        CHECK(converse(1, 2, bytes, sizeof bytes, SHORT_MS) != TILE_OK);
    }
}

/* Memory of a peer's device that is shorter than its part. */
static void block_refused(void) {
    void *right = talk_block;
    talk_block = block_make(4096);
    for (int rank = 0; rank < 2; rank++) CHECK(converse(rank, 2, NULL, 0, PATIENT_MS) == TILE_E_MISMATCH);
    talk_block = right;
}

/* ---- random changes ---- */

static uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Most messages are kept, so that the later ones are reached. */
static size_t bytes_draw(uint64_t *state, uint8_t *bytes, size_t most) {
    size_t n = random_next(state) % most;
    unsigned rare = 1 + random_next(state) % 12;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = random_next(state);
        bytes[i] = x % rare ? 0 : (uint8_t)(x >> 32) % (x >> 60 & 1 ? 255 : CHANGES);
    }
    return n;
}

static bool one_random(uint64_t seed) {
    uint8_t bytes[160];
    uint64_t state = seed;
    int nranks = 2 + (int)(random_next(&state) % (TALK_RANKS - 1)), rank = (int)(random_next(&state) % 2);
    size_t n = bytes_draw(&state, bytes, sizeof bytes);
    static TalkScript kept;
    kept = scripts[nranks]; /* a joining rank's own sessions do not change what made-up ones say */
    bool good = converse(rank, nranks, bytes, n, SHORT_MS) == TILE_OK;
    scripts[nranks] = kept;
    return good;
}

int main(int argc, char **argv) {
    char group[32], *end;
    double limit = argc > 1 ? strtod(argv[1], &end) : 100;
    bool timed = argc > 1 && *end == 's', gpu = argc > 3 && strcmp(argv[3], "gpu") == 0;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, begin = tile_now(), good = 0, n = 0;
    snprintf(group, sizeof group, "wire-%d", (int)getpid());
    talk.group = group;
    talk.target = gpu ? "gpu" : "host";
    talk_ended();
    programs_make(gpu);
    if (gpu) talk_block = block_make(2 << 20);
    right_ones();
    if (gpu) block_refused();
    if (!timed) {
        each_refused(1, 2, scripts[2].n + 2);
        each_refused(0, 2, scripts[2].n + 1);
        memory_refused();
    }
    for (; timed ? (double)(tile_now() - begin) < limit * 1e9 : (double)n < limit; n++) good += one_random(first + n);
    printf("%llu conversations from seed %llu: %llu ended well\n", (unsigned long long)n, (unsigned long long)first,
           (unsigned long long)good);
    return 0;
}
