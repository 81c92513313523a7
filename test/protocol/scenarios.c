/* scenarios.c: how programs and the runtime use the protocol, in small: one thread is a rank or a worker of one.
   Plain locations stand for the tensors; their versions tell which generation a read has found. */
#include "scenarios.h"

enum { RANKS = 4, SLOTS = 2 };

typedef struct {
    tile_fault_cell cell[RANKS];
    int named; /* 1 + the rank that the first reader of a record found in it */
} Plain;
_Static_assert(sizeof(Plain) <= PLAIN_BYTES, "the state has too little room");

static tile_word word[RANKS][RANKS], done, meeting[RANKS];
static tile_count count;
static tile_packet packet[RANKS][SLOTS];
static char inbox[RANKS][RANKS][SLOTS], part[RANKS];

static Plain *plain(void) { return plain_memory(); }
static int slots(void) { return mutation()->slots ? mutation()->slots : SLOTS; }

/* How often a slot has been written when generation g (from 1) is in it. */
static int version_of(int g) { return (g - 1) / slots() + 1; }

static tile_fault_cell *const *cells(void) {
    static tile_fault_cell *cell[RANKS];
    for (int r = 0; r < RANKS; r++) cell[r] = &plain()->cell[r];
    return cell;
}

static void faults_name(int ranks) {
    for (int r = 0; r < ranks; r++) {
        location_atomic(&cells()[r]->poison, 0, true, "poison");
        location_atomic(&cells()[r]->claim, 0, true, "claim");
        location_plain(&cells()[r]->record, "record");
    }
}

/* ---- all to all: what a rank receives in slot g mod 2 stays until all have sent g + 1 ---- */

static void exchange_name(int ranks, uint64_t base, bool shared) {
    for (int r = 0; r < ranks; r++)
        for (int s = 0; s < ranks; s++) {
            if (s == r) continue;
            location_atomic(&word[r][s], base, shared, "word");
            for (int k = 0; k < SLOTS; k++) location_plain(&inbox[r][s][k], "inbox");
        }
}

static void exchange_send(const tile_task *t, int g) {
    for (int r = 0; r < t->nranks; r++) {
        if (r == t->rank) continue;
        plain_write(&inbox[r][t->rank][g % slots()]);
        tile_publish(t, &word[r][t->rank]);
    }
    at(g);
}

/* One generation of rank t->rank; first: writes before, that other scenarios made. */
static int exchange_run(tile_task *t, int g, int first) {
    exchange_send(t, g);
    for (int s = 0; s < t->nranks; s++) {
        if (s == t->rank) continue;
        int error = tile_wait(t, &word[t->rank][s], t->generation, 0, s);
        at(error);
        if (error) return error;
        plain_read(&inbox[t->rank][s][g % slots()], first + version_of(g));
    }
    return TILE_OK;
}

static void exchange_body(int rank, int ranks, int generations, uint64_t base) {
    tile_fault_hooks fault = {.cell = cells()};
    tile_task t = {.rank = rank, .nranks = ranks, .fault = &fault};
    for (int g = 1; g <= generations; g++) {
        t.generation = base + (uint64_t)g;
        require(exchange_run(&t, g, 0) == TILE_OK, "a wait failed without a fault");
    }
}

static void exchange2_setup(void) { exchange_name(2, UINT64_MAX - 1, false), faults_name(2); }
static void exchange2_body(int thread) { exchange_body(thread, 2, 4, UINT64_MAX - 1); }
static void exchange3_setup(void) { exchange_name(3, 0, false), faults_name(3); }
static void exchange3_body(int thread) { exchange_body(thread, 3, 3, 0); }

static void exchange4_setup(void) { exchange_name(4, 0, false), faults_name(4); }
static void exchange4_body(int thread) { exchange_body(thread, 4, 1, 0); }

/* ---- arrivals at a counter, the last one publishes, a consumer reads what all of them wrote ---- */

static void counter_name(int arrivals) {
    location_atomic(&count, 0, true, "count");
    location_atomic(&word[0][0], 0, true, "word");
    location_atomic(&done, 0, false, "done");
    for (int i = 0; i < arrivals; i++) location_plain(&part[i], "part");
    faults_name(RANKS);
}

static void counter_consume(tile_task *t, int arrivals, int generations) {
    for (int g = 1; g <= generations; g++) {
        t->generation = (uint64_t)g;
        require(tile_wait(t, &word[0][0], (uint64_t)g, 0, 0) == TILE_OK, "a wait failed without a fault");
        at(g);
        for (int i = 0; i < arrivals; i++) plain_read(&part[i], g);
        tile_publish(t, &done);
    }
}

static void counter_arrive(tile_task *t, int arrivals, int generations) {
    for (int g = 1; g <= generations; g++) {
        t->generation = (uint64_t)g;
        require(tile_wait(t, &done, (uint64_t)g - 1, 0, 0) == TILE_OK, "a wait failed without a fault");
        at(g);
        plain_write(&part[t->rank]);
        bool last = tile_arrive(t, &count, (uint64_t)arrivals);
        at(last);
        if (last) tile_publish(t, &word[0][0]);
        at(0);
    }
}

static void counter_body(int thread, int arrivals, int generations) {
    tile_fault_hooks fault = {.cell = cells()};
    tile_task t = {.rank = thread, .nranks = 1, .fault = &fault};
    if (thread == arrivals)
        counter_consume(&t, arrivals, generations);
    else
        counter_arrive(&t, arrivals, generations);
}

static void counter2_setup(void) { counter_name(2); }
static void counter2_body(int thread) { counter_body(thread, 2, 3); }
static void counter3_setup(void) { counter_name(3); }
static void counter3_body(int thread) { counter_body(thread, 3, 2); }

/* ---- packets both ways around the end of 32 bits, and a tensor that each of them announces ---- */

static const uint64_t packet_base = 0xfffffffe;

static void packets_setup(void) {
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < SLOTS; k++) {
            location_atomic(&packet[r][k], (packet_base - (uint64_t)((int)packet_base % SLOTS != k)) << 32, false,
                            "packet");
            location_plain(&inbox[r][1 - r][k], "inbox");
        }
    faults_name(2);
}

static void packets_body(int rank) {
    tile_fault_hooks fault = {.cell = cells()};
    tile_task t = {.rank = rank, .nranks = 2, .fault = &fault};
    for (int g = 1; g <= 3; g++) {
        uint32_t data;
        int slot = g % slots();
        t.generation = packet_base + (uint64_t)g;
        plain_write(&inbox[1 - rank][rank][slot]);
        tile_packet_put(&t, &packet[1 - rank][slot], (uint32_t)(10 * g));
        at(g);
        require(tile_packet_get(&t, &packet[rank][slot], &data, 0, 1 - rank) == TILE_OK,
                "a wait failed without a fault");
        require(data == (uint32_t)(10 * g), "a packet of another generation");
        at(g);
        plain_read(&inbox[rank][1 - rank][slot], version_of(g));
    }
}

/* ---- meetings ---- */

static void meeting_name(int ranks) {
    for (int r = 0; r < ranks; r++) location_atomic(&meeting[r], 0, false, "meeting");
}

static tile_word *const *meetings(void) {
    static tile_word *at_rank[RANKS];
    for (int r = 0; r < RANKS; r++) at_rank[r] = &meeting[r];
    return at_rank;
}

static void meet_setup(void) {
    meeting_name(3);
    for (int r = 0; r < 3; r++) location_plain(&part[r], "part");
    faults_name(3);
}

static void meet_body(int rank) {
    tile_fault_hooks fault = {.cell = cells()};
    tile_task t = {.rank = rank, .nranks = 3, .fault = &fault, .word = meetings()};
    for (int g = 1; g <= 3; g++) {
        if ((g + rank) % 3 == 0) plain_write(&part[0]);
        t.generation = (uint64_t)g;
        require(tile_meet(&t) == TILE_OK, "a wait failed without a fault");
        at(g);
    }
    plain_read(&part[0], 3);
}

/* ---- faults: whoever sees poison finds a whole record, and all find the same ---- */

static void record_check(const tile_fault_hooks *fault, int rank, int ranks, bool must) {
    tile_record why;
    bool poisoned = tile_fault_read(fault, rank, ranks, &why);
    at(poisoned);
    require(poisoned || !must, "a wait gave up and left no record");
    if (!poisoned) return;
    require(why.expected == 1 && strcmp(why.name, "flag") == 0, "half a record");
    if (!plain()->named) plain()->named = why.rank + 1;
    require(plain()->named == why.rank + 1, "two records of one fault");
}

static void wait_and_check(int rank, int ranks, int from) {
    tile_fault_hooks fault = {.cell = cells(), .what = "flag"};
    tile_task t = {.rank = rank, .nranks = ranks, .fault = &fault, .generation = 1};
    int error = tile_wait(&t, &word[0][from], 1, -1, from);
    at(error);
    if (error) record_check(&fault, rank, ranks, error == TILE_E_POISONED || ranks == 3);
}

static void poison2_setup(void) {
    location_atomic(&word[0][0], 0, false, "word");
    location_atomic(&word[0][1], 0, false, "word");
    faults_name(2);
}

/* Threads 0 and 1: two workers of rank 0; 2: the worker of rank 1; 3: a caller that looks at rank 1's state. */
static void poison2_body(int thread) {
    tile_fault_hooks fault = {.cell = cells()};
    tile_task t = {.rank = 1, .nranks = 2, .fault = &fault, .generation = 1};
    if (thread == 3)
        record_check(&fault, 1, 2, false);
    else if (thread == 2)
        tile_publish(&t, &word[0][1]), at(0), wait_and_check(1, 2, 0);
    else
        wait_and_check(0, 2, 1);
}

static void poison3_setup(void) {
    for (int r = 0; r < 3; r++) location_atomic(&word[0][r], 0, false, "word");
    faults_name(3);
}

/* A ring of three ranks of which nobody signals; thread 3: a caller that looks at rank 2's state. */
static void poison3_body(int thread) {
    tile_fault_hooks fault = {.cell = cells()};
    if (thread == 3)
        record_check(&fault, 2, 3, false);
    else
        wait_and_check(thread, 3, (thread + 1) % 3);
}

/* Rank 0 may die at any step. */
static void kill_body(int rank) {
    tile_fault_hooks fault = {.cell = cells(), .what = "flag"};
    tile_task t = {.rank = rank, .nranks = 3, .fault = &fault, .generation = 1};
    tile_publish(&t, &word[0][rank]);
    at(0);
    for (int s = 0; s < 3; s++) {
        int error = s == rank ? TILE_OK : tile_wait(&t, &word[0][s], 1, -1, s);
        at(error);
        if (error) {
            record_check(&fault, rank, 3, true);
            return;
        }
    }
}

/* ---- recovery: an exchange that may fail, the recovery, an exchange that starts again at generation 1 ---- */

static void recover_clear(void *arg) {
    tile_task *t = arg;
    if (mutation()->no_clear) return;
    plain_write(&t->fault->cell[t->rank]->record);
    TILE_STORE(&t->fault->cell[t->rank]->claim, 0, relaxed);
    TILE_STORE(&t->fault->cell[t->rank]->poison, 0, relaxed);
    for (int s = 0; s < t->nranks; s++)
        if (s != t->rank) TILE_STORE(&word[t->rank][s].value, 0, relaxed);
    at(0);
}

static void recover_name(int ranks) {
    exchange_name(ranks, 0, true);
    meeting_name(ranks);
    faults_name(ranks);
}

static void recover_rank(int rank, int ranks) {
    tile_fault_hooks fault = {.cell = cells()};
    tile_task t = {.rank = rank, .nranks = ranks, .fault = &fault, .word = meetings(), .generation = 1};
    if (ranks == 2)
        exchange_run(&t, 1, 0);
    else
        exchange_send(&t, 1);
    fault.recovering = true;
    int error = tile_recover(&t, recover_clear, &t);
    at(error);
    fault.recovering = false;
    t.generation = 1;
    if (!error) exchange_run(&t, 1, 1);
}

static void recover2_setup(void) { recover_name(2); }
static void recover2_body(int thread) { recover_rank(thread, 2); }
static void recover3_setup(void) { recover_name(3); }
static void recover3_body(int thread) { recover_rank(thread, 3); }

const Scenario scenarios[] = {
    {"exchange, 2 ranks, 4 generations", 2, false, false, exchange2_setup, exchange2_body},
    {"counter, 2 arrivals, 3 generations", 3, false, false, counter2_setup, counter2_body},
    {"packets, 2 ranks, 3 generations", 2, false, false, packets_setup, packets_body},
    {"counter, 3 arrivals, 2 generations", 4, false, false, counter3_setup, counter3_body},
    {"recovery, 2 ranks", 2, true, false, recover2_setup, recover2_body},
    {"poison, 2 ranks, 2 workers", 4, true, false, poison2_setup, poison2_body},
    {"poison, 3 ranks", 4, true, false, poison3_setup, poison3_body},
    {"kill, 3 ranks", 3, true, true, poison3_setup, kill_body},
    {"meetings, 3 ranks", 3, false, false, meet_setup, meet_body},
    {"exchange, 4 ranks", 4, false, false, exchange4_setup, exchange4_body},
    {"recovery, 3 ranks, all gave up", 3, false, false, recover3_setup, recover3_body},
    {"exchange, 3 ranks, 3 generations", 3, false, false, exchange3_setup, exchange3_body},
};
const int nscenarios = sizeof scenarios / sizeof *scenarios;
