/* protocol.c: runs the kernels of protocol.hip on several emulated devices: values, faults, and that they fail when any
   fence, barrier or scope of the protocol's text is taken away. What is not missed is printed.
   usage: protocol [TILE_FLAGS_H PROTOCOL_HIP] */
#include "protocol.h"

#include "emu/api.h"
#include "tile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is taken away ---- */

typedef struct {
    char kind;
    int line;
} Site;

static Site site[256], now;
static int nsites;

bool taken(char kind, int line);
bool taken(char kind, int line) {
    int i = 0;
    while (i < nsites && (site[i].kind != kind || site[i].line != line)) i++;
    if (i == nsites) site[nsites++] = (Site){kind, line};
    return now.kind == kind && now.line == line;
}

/* ---- ranks ---- */

#define KERNELS(X)                                                                                                     \
    X(begin)                                                                                                           \
    X(end)                                                                                                             \
    X(pull_send)                                                                                                       \
    X(pull_receive) X(push_send) X(push_receive) X(packet_send) X(packet_receive) X(thanks_send) X(thanks_receive)     \
        X(chain) X(gather) X(waits_in_vain) X(onlooker)
#define DECLARE(name) void name(const void *);
#define ROW(name) {#name, name},
KERNELS(DECLARE)
static const tile_emu_symbol symbols[] = {KERNELS(ROW){NULL, NULL}};

typedef struct {
    void *context, *stream;
    char *shared;  /* symmetric tensors, packets, flag words, fault cell */
    char *private; /* generation, busy, counters, tickets, results, the task */
    tile_gpu_notice *notice;
    protocol_call call;
} Rank;

enum {
    TILE_BYTES = THREADS * 4,
    AT_PACKETS = AREAS * 2 * TILES * TILE_BYTES,
    AT_WORDS = AT_PACKETS + PACKETS * 8,
    AT_FAULT = AT_WORDS + WORDS * 64,
    SHARED = AT_FAULT + (int)sizeof(tile_gpu_fault),
    AT_OUT = 128,
    AT_TASK = AT_OUT + TILES * TILE_BYTES,
    AT_PEERS = AT_TASK + (int)sizeof(tile_gpu_task),
    PRIVATE = AT_PEERS + 3 * RANKS * 8
};

static void must(int error) {
    const char *text = "";
    if (!error) return;
    tile_emu_error_text(error, &text);
    printf("set-up: %s\n", text);
    exit(1);
}

static void rank_open(Rank *r, int device) {
    *r = (Rank){0};
    must(tile_emu_context_retain(&r->context, device));
    must(tile_emu_context_set(r->context));
    must(tile_emu_stream_create(&r->stream, 1));
    must(tile_emu_alloc((void **)&r->shared, SHARED));
    must(tile_emu_alloc((void **)&r->private, PRIVATE));
    must(tile_emu_host_alloc((void **)&r->notice, sizeof *r->notice, 0));
    must(tile_emu_fill(r->shared, 0, SHARED, r->stream));
    must(tile_emu_fill(r->private, 0, AT_TASK, r->stream));
    *r->notice = (tile_gpu_notice){0};
}

static void rank_close(Rank *r) {
    must(tile_emu_stream_destroy(r->stream));
    must(tile_emu_release(r->shared));
    must(tile_emu_release(r->private));
    must(tile_emu_host_release(r->notice));
}

/* Every rank is told where all are. */
static void rank_connect(Rank *all, int i, int nranks, uint64_t timeout_ns) {
    Rank *r = &all[i];
    char **peer = (char **)(r->private + AT_PEERS);
    tile_gpu_task t = {.rank = i,
                       .nranks = nranks,
                       .timeout_ns = timeout_ns,
                       .generation = (uint64_t *)r->private,
                       .busy = (uint64_t *)r->private + 1,
                       .count = (uint64_t *)r->private + 2,
                       .ticket = (uint64_t *)r->private + 4,
                       .symmetric = peer,
                       .word = (tile_gpu_word **)(peer + RANKS),
                       .fault = (tile_gpu_fault **)(peer + 2 * RANKS),
                       .notice = r->notice};
    must(tile_emu_context_set(r->context));
    for (int k = 0; k < nranks; k++) {
        peer[k] = all[k].shared;
        peer[RANKS + k] = all[k].shared + AT_WORDS;
        peer[2 * RANKS + k] = all[k].shared + AT_FAULT;
        r->call.packets[k] = (uint64_t *)(all[k].shared + AT_PACKETS);
        if (k != i) tile_emu_peer_enable(all[k].context, 0);
    }
    memcpy(r->private + AT_TASK, &t, sizeof t);
    r->call.task = (const tile_gpu_task *)(r->private + AT_TASK);
    r->call.out = (float *)(r->private + AT_OUT);
}

static void launch(Rank *r, const char *kernel, int groups, int threads) {
    void *f = NULL, *arguments[] = {&r->call};
    must(tile_emu_function_get(&f, (void *)symbols, kernel));
    must(tile_emu_context_set(r->context));
    must(tile_emu_launch(f, (unsigned)groups, 1, 1, (unsigned)threads, 1, 1, threads == THREADS ? 8 : 0, r->stream,
                         arguments, NULL));
}

/* ---- scenarios ---- */

typedef struct {
    const char *name;
    int nranks, generations;
    const char *kernel[RANKS][2]; /* of each rank; only of the first: of all */
    int groups;
    float (*want)(const Rank *, int nranks, int rank, int tile, int thread); /* NULL: no result */
} Scenario;

enum { GENERATIONS = 5 };

/* What all runs have brought from a rank. */
static float value(int rank, int tile, int thread) {
    enum { SUM = GENERATIONS * (GENERATIONS + 1) / 2 };
    return (float)(SUM * 1000 + GENERATIONS * (rank * 100 + tile * 10 + thread % 7));
}

static float want_sum(const Rank *all, int nranks, int rank, int tile, int thread) {
    float sum = 0;
    (void)all, (void)rank;
    for (int r = 0; r < nranks; r++) sum += value(r, tile, (thread + 65) % THREADS);
    return sum;
}

static float want_copy(const Rank *all, int nranks, int rank, int tile, int thread) {
    (void)nranks;
    return rank ? value(0, tile, (thread + 65) % THREADS) : all[0].call.out[thread];
}

static float want_chain(const Rank *all, int nranks, int rank, int tile, int thread) {
    (void)all, (void)nranks, (void)rank, (void)thread;
    return (float)(GENERATIONS + tile);
}

static float want_gather(const Rank *all, int nranks, int rank, int tile, int thread) {
    (void)all, (void)nranks, (void)rank, (void)thread;
    int last = TILES - 1;
    return (float)(tile < last ? GENERATIONS + tile : last * GENERATIONS + last * (last - 1) / 2);
}

static const Scenario scenarios[] = {
    {"pull", RANKS, GENERATIONS, {{"pull_send", "pull_receive"}}, TILES, want_sum},
    {"push", RANKS, GENERATIONS, {{"push_send", "push_receive"}}, TILES, want_sum},
    {"packets", RANKS, GENERATIONS, {{"packet_send", "packet_receive"}}, 1, want_sum},
    {"thanks", 2, GENERATIONS, {{"thanks_send"}, {"thanks_receive"}}, 1, want_copy},
    {"chain", 1, GENERATIONS, {{"chain"}}, TILES, want_chain},
    {"gather", 1, GENERATIONS, {{"gather"}}, TILES, want_gather},
};

static void enqueue(const Scenario *s, Rank *r, int rank) {
    const char *const *kernel = s->kernel[s->kernel[rank][0] ? rank : 0];
    for (int g = 0; g < s->generations; g++) {
        launch(r, "begin", 1, 64);
        for (int k = 0; k < 2 && kernel[k]; k++) launch(r, kernel[k], s->groups, THREADS);
        launch(r, "end", 1, 64);
    }
}

/* What went wrong; "" if nothing did. */
static const char *ranks_wait(Rank *all, int nranks) {
    const char *text = "";
    for (int i = 0; i < nranks; i++) {
        int error = tile_emu_stream_sync(all[i].stream);
        if (error) tile_emu_error_text(error, &text);
    }
    return text;
}

static const tile_gpu_fault *fault_of(const Rank *r) { return (const tile_gpu_fault *)(r->shared + AT_FAULT); }

static const char *results_check(const Scenario *s, const Rank *all) {
    for (int r = 0; r < s->nranks; r++) {
        if (fault_of(&all[r])->poison) return "a wait gave up";
        for (int i = 0; i < s->groups * THREADS; i++)
            if (all[r].call.out[i] != s->want(all, s->nranks, r, i / THREADS, i % THREADS)) return "a value differs";
    }
    return "";
}

static const char *scenario_run(const Scenario *s) {
    Rank all[RANKS];
    for (int i = 0; i < s->nranks; i++) rank_open(&all[i], i);
    for (int i = 0; i < s->nranks; i++) rank_connect(all, i, s->nranks, 20000000000u);
    for (int i = 0; i < s->nranks; i++) enqueue(s, &all[i], i);
    const char *text = ranks_wait(all, s->nranks);
    if (!*text) text = results_check(s, all);
    for (int i = 0; i < s->nranks; i++) rank_close(&all[i]);
    return text;
}

/* ---- faults ---- */

static const char *fault_check(const Rank *all) {
    const tile_gpu_fault *f = fault_of(&all[0]);
    for (int i = 0; i < 2; i++)
        if (fault_of(&all[i])->poison != 1) return "not all are poisoned";
    if (all[0].notice->fault != 1 || all[1].notice->fault != 1) return "the host has no notice";
    if (f->record.code != TILE_E_TIMEOUT || f->record.flag != WORD_VAIN || f->record.expected != 1 || f->record.seen)
        return "the record is wrong";
    return all[1].call.out[0] == WORD_VAIN ? "" : "the onlooker sees another record";
}

/* Rank 0 waits for what nobody publishes; rank 1 looks at the record. */
static const char *timeout_run(void) {
    Rank all[2];
    for (int i = 0; i < 2; i++) rank_open(&all[i], i);
    for (int i = 0; i < 2; i++) rank_connect(all, i, 2, 1000000);
    launch(&all[1], "onlooker", 1, 64);
    launch(&all[0], "waits_in_vain", 1, THREADS);
    const char *text = ranks_wait(all, 2);
    if (!*text) text = fault_check(all);
    for (int i = 0; i < 2; i++) rank_close(&all[i]);
    return text;
}

/* A run begins before the one before has ended. */
static const char *busy_run(void) {
    Rank r;
    rank_open(&r, 0);
    rank_connect(&r, 0, 1, 1000000000);
    launch(&r, "begin", 1, 64);
    launch(&r, "begin", 1, 64);
    const char *text = ranks_wait(&r, 1);
    if (!*text && (fault_of(&r)->poison != 1 || fault_of(&r)->record.code != TILE_E_BUSY))
        text = "not found to be busy";
    rank_close(&r);
    return text;
}

/* ---- all of it ---- */

enum { NSCENARIOS = sizeof scenarios / sizeof *scenarios };

static const char *run(int i) {
    return i < NSCENARIOS ? scenario_run(&scenarios[i]) : i == NSCENARIOS ? timeout_run() : busy_run();
}

static bool is_missed(void) {
    for (int i = 0; i < NSCENARIOS + 2; i++)
        if (*run(i)) return true;
    return false;
}

static const char *what(char kind) {
    return strchr("nN", kind) ? "the scope" : strchr("PR", kind) ? "the call" : "the order";
}

/* The line of the text, and the function that it is in. */
static void print_site(char **path, Site s) {
    char line[256], function[128] = "";
    FILE *f = fopen(path[strchr("NPR", s.kind) ? 1 : 0], "r");
    for (int n = 1; f && n <= s.line && fgets(line, sizeof line, f); n++)
        if (line[0] != ' ')
            sscanf(line, "TILE_FN %*s %127[^(]", function), sscanf(line, "TILE_KERNEL(%127[^,]", function);
    if (f) fclose(f);
    printf("not missed: %s, %s: %s", what(s.kind), function, line + strspn(line, " "));
}

int main(int argc, char **argv) {
    int failures = 0, missed = 0;
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < NSCENARIOS + 2; i++) {
            const char *text = run(i);
            if (*text) printf("%s: %s\n", i < NSCENARIOS ? scenarios[i].name : "faults", text), failures++;
        }
    if (argc < 3 || failures) return failures != 0;
    for (int i = 0, n = nsites; i < n; i++) {
        now = site[i];
        if (is_missed())
            missed++;
        else
            print_site(argv + 1, now);
    }
    printf("%d missed\n", missed);
    return 0;
}
