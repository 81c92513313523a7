/* check.c: runs the threads of a scenario as fibers and searches all their interleavings and all values that loads may
   give. Depth first; a state that was seen is not entered again. Stores to words with a single writer are no steps of
   their own: whoever reads may still read what was there before, so their moment does not matter. */
#include "check.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK = 16384, MAX_DEPTH = 4096, MAX_SITES = 64 };
typedef enum { OP_START, OP_LOAD, OP_ADD, OP_SWAP, OP_STORE, OP_RELAX, OP_EXPIRE, OP_DONE } OpKind;

typedef struct {
    OpKind kind;
    int location;
    ModelOrder order;
    uint64_t operand, from;
} Op;

typedef struct {
    ucontext_t context;
    char *low; /* of the stack in use */
    Op op;     /* what it is about to do */
    uint64_t result;
    View view;
    uint64_t position; /* hash of where it is and what it knows */
    uint64_t loop;     /* position at the head of the wait loop */
    int marks;
    uint64_t base;                        /* position at the last at() */
    int polled[8], polled_at[8], npolled; /* read in this turn of the loop */
    int late;                             /* location whose reset is late; -1: none */
    bool dead;
} Fiber;

typedef struct {
    Fiber fiber[MAX_THREADS];
    MemoryMark memory;
    uint64_t plain[PLAIN_BYTES / sizeof(uint64_t)];
    char *stack[MAX_THREADS];
    size_t stack_bytes[MAX_THREADS];
    int expiries;
} Snapshot;

/* The operations of the protocol carry no context, so the search is found here. */
static struct {
    const Scenario *scenario;
    const Mutation *mutation;
    Memory memory;
    Fiber fiber[MAX_THREADS];
    char stack[MAX_THREADS][STACK] __attribute__((aligned(64)));
    uint64_t plain[PLAIN_BYTES / sizeof(uint64_t)] __attribute__((aligned(64)));
    ucontext_t scheduler;
    int running;
    int expiries; /* that may still happen before a thread has nothing else to do */
    Result result;
    struct {
        uint8_t thread, option;
        Op op;
        uint64_t value;
    } path[MAX_DEPTH];
    int site[MAX_SITES];
    ModelOrder site_order[MAX_SITES];
    int nsites;
    uint64_t *seen; /* hash set of states */
    size_t seen_cap, seen_n;
} S;

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static void fail(const char *what) {
    if (!S.result.error) S.result.error = what;
}

/* ---- what the protocol calls, in a fiber ---- */

static Fiber *self(void) { return &S.fiber[S.running]; }

static uint64_t step(Op op) {
    Fiber *f = self();
    f->op = op;
    f->low = (char *)__builtin_frame_address(0) - 1024;
    swapcontext(&f->context, &S.scheduler);
    f->position = mix(f->position, f->result);
    return f->result;
}

static ModelOrder order_at(ModelOrder order, int line) {
    int i = 0;
    while (i < S.nsites && S.site[i] != line) i++;
    if (i == S.nsites && order != MODEL_relaxed && i < MAX_SITES) {
        S.site[i] = line;
        S.site_order[i] = order;
        S.nsites++;
    }
    if (S.mutation->line != line) return order;
    return order == MODEL_acq_rel ? (S.mutation->lost == MODEL_acquire ? MODEL_release : MODEL_acquire) : MODEL_relaxed;
}

uint64_t model_load(const void *p, ModelOrder order, int line) {
    int location = memory_find(&S.memory, p);
    order = order_at(order, line);
    if (!S.scenario->faults && strcmp(memory_name(&S.memory, location), "poison") == 0) return 0; /* nobody writes it */
    return step((Op){.kind = OP_LOAD, .location = location, .order = order});
}

void model_store(void *p, uint64_t value, ModelOrder order, int line, const char *function) {
    Fiber *f = self();
    int location = memory_find(&S.memory, p);
    order = order_at(order, line);
    if (S.mutation->late_reset && strcmp(function, "tile_arrive") == 0) {
        f->late = location;
        return;
    }
    if (memory_shared(&S.memory, location))
        step((Op){.kind = OP_STORE, .location = location, .order = order, .operand = value});
    else
        memory_store(&S.memory, location, value, order, &f->view);
    int late = f->late;
    f->late = -1;
    if (late >= 0) step((Op){.kind = OP_STORE, .location = late, .order = MODEL_relaxed});
}

uint64_t model_add(void *p, uint64_t value, ModelOrder order, int line) {
    return step(
        (Op){.kind = OP_ADD, .location = memory_find(&S.memory, p), .order = order_at(order, line), .operand = value});
}

bool model_swap(void *p, uint64_t from, uint64_t to, ModelOrder order, int line) {
    return step((Op){.kind = OP_SWAP,
                     .location = memory_find(&S.memory, p),
                     .order = order_at(order, line),
                     .operand = to,
                     .from = from});
}

bool model_reached(uint64_t seen, uint64_t want) {
    return S.mutation->equal ? seen == want : (int64_t)(seen - want) >= 0;
}
bool model_expired(void) { return S.scenario->faults && step((Op){.kind = OP_EXPIRE}); }

/* The head of a wait loop: what the loop read before does not matter any more. */
uint64_t model_now(void) {
    Fiber *f = self();
    f->loop = f->position = mix(f->loop, 1);
    return 0;
}

/* The next turn of a wait loop, once there is something new to read. */
void model_relax(void) {
    Fiber *f = self();
    step((Op){.kind = OP_RELAX});
    f->position = f->loop;
    f->npolled = 0;
}

/* A wait or signal begins: the waits before it all ended well, and that is all they left behind. */
void tile_test_delay(void) {
    Fiber *f = self();
    f->loop = f->position = mix(f->base, (uint64_t)++f->marks);
    f->npolled = 0;
}

void model_read(const void *p) {
    if (!memory_read(&S.memory, memory_find(&S.memory, p), S.running, &self()->view))
        fail("race: a read beside a write");
}

void model_write(const void *p) {
    if (!memory_write(&S.memory, memory_find(&S.memory, p), &self()->view)) fail("race: a write beside another access");
}

/* ---- what scenarios call ---- */

void at(int outcome) {
    Fiber *f = self();
    f->base = f->position = mix(mix(f->base, 77), (uint64_t)outcome);
    f->marks = 0;
}

void plain_write(const void *p) { model_write(p); }

void plain_read(const void *p, int version) {
    model_read(p);
    if (memory_version(&S.memory, memory_find(&S.memory, p)) != version)
        fail("a read found another version than the one it waited for");
}

void require(bool condition, const char *what) {
    if (!condition) fail(what);
}

void *plain_memory(void) { return S.plain; }
const Mutation *mutation(void) { return S.mutation; }
void location_atomic(const void *p, uint64_t initial, bool many_writers, const char *name) {
    memory_add_atomic(&S.memory, p, initial, many_writers, name);
}
void location_plain(const void *p, const char *name) { memory_add_plain(&S.memory, p, S.scenario->threads, name); }

int sites(int line[], ModelOrder order[], int max) {
    int n = S.nsites < max ? S.nsites : max;
    for (int i = 0; i < n; i++) line[i] = S.site[i], order[i] = S.site_order[i];
    return n;
}

/* ---- steps ---- */

static void fiber_main(int thread) {
    step((Op){.kind = OP_START});
    S.scenario->body(thread);
    step((Op){.kind = OP_DONE});
}

static void fiber_resume(int thread) {
    S.running = thread;
    swapcontext(&S.scheduler, &S.fiber[thread].context);
}

static void fiber_start(int thread) {
    Fiber *f = &S.fiber[thread];
    memset(f, 0, sizeof *f);
    f->late = -1;
    f->base = f->position = (uint64_t)thread + 1;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = S.stack[thread];
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = &S.scheduler;
    makecontext(&f->context, (void (*)(void))fiber_main, 1, thread);
    fiber_resume(thread);
}

static bool news(const Fiber *f) {
    for (int i = 0; i < f->npolled; i++)
        if (memory_newest(&S.memory, f->polled[i]) > f->polled_at[i]) return true;
    return false;
}

/* In how many ways the thread can go on; the last one of a mortal thread is its end. */
static int ways(int thread) {
    const Fiber *f = &S.fiber[thread];
    if (f->dead || f->op.kind == OP_DONE) return 0;
    int n = 1;
    if (f->op.kind == OP_LOAD)
        n = memory_newest(&S.memory, f->op.location) - memory_oldest(&S.memory, f->op.location, &f->view) + 1;
    if (f->op.kind == OP_EXPIRE) n = S.expiries > 0 || !news(f) ? 2 : 1;
    if (f->op.kind == OP_RELAX) n = news(f) || S.scenario->faults;
    return n + (S.scenario->kills && thread == 0);
}

static void load(Fiber *f, int option) {
    int time = memory_newest(&S.memory, f->op.location) - option;
    f->result = memory_load(&S.memory, f->op.location, time, f->op.order, &f->view);
    if (f->npolled == 8)
        fail("a wait loop reads too many words");
    else
        f->polled[f->npolled] = f->op.location, f->polled_at[f->npolled++] = time;
}

static void expire(Fiber *f, int option) {
    f->result = (uint64_t)option;
    if (option && S.expiries > 0) S.expiries--;
}

static void perform(int thread, int option) {
    Fiber *f = &S.fiber[thread];
    const Op *op = &f->op;
    f->result = 0;
    if (S.scenario->kills && thread == 0 && option == ways(0) - 1) {
        f->dead = true;
        return;
    }
    if (op->kind == OP_LOAD)
        load(f, option);
    else if (op->kind == OP_ADD)
        f->result = memory_add(&S.memory, op->location, op->operand, op->order, &f->view);
    else if (op->kind == OP_SWAP)
        f->result = memory_swap(&S.memory, op->location, op->from, op->operand, op->order, &f->view);
    else if (op->kind == OP_STORE)
        memory_store(&S.memory, op->location, op->operand, op->order, &f->view);
    else if (op->kind == OP_EXPIRE)
        expire(f, option);
    fiber_resume(thread);
}

/* ---- states ---- */

static uint64_t state_hash(void) {
    uint64_t h = mix(7, (uint64_t)S.expiries);
    const View *view[MAX_THREADS];
    for (int t = 0; t < S.scenario->threads; t++) {
        const Fiber *f = &S.fiber[t];
        h = mix(mix(mix(h, f->position), (uint64_t)f->op.kind),
                (uint64_t)(f->op.location * 4 + f->dead) ^ f->op.operand << 16);
        h = mix(h, (uint64_t)f->late);
        for (int i = 0; f->op.kind == OP_RELAX && i < f->npolled; i++)
            h = mix(h, (uint64_t)(f->polled[i] << 8 | f->polled_at[i]));
        view[t] = &f->view;
    }
    h = memory_hash(&S.memory, view, S.scenario->threads, h);
    for (size_t i = 0; i < sizeof S.plain / sizeof *S.plain; i++) h = mix(h, S.plain[i]);
    return h ? h : 1;
}

static void seen_grow(void) {
    size_t old = S.seen_cap;
    uint64_t *from = S.seen;
    S.seen_cap = old ? old * 2 : 1 << 16;
    S.seen = calloc(S.seen_cap, sizeof *S.seen);
    if (!S.seen) abort();
    for (size_t i = 0; i < old; i++) {
        size_t at_ = from[i] & (S.seen_cap - 1);
        while (from[i] && S.seen[at_]) at_ = (at_ + 1) & (S.seen_cap - 1);
        if (from[i]) S.seen[at_] = from[i];
    }
    free(from);
}

/* True if the state is new. */
static bool state_enter(uint64_t h) {
    if (S.seen_n * 2 >= S.seen_cap) seen_grow();
    size_t i = h & (S.seen_cap - 1);
    while (S.seen[i] && S.seen[i] != h) i = (i + 1) & (S.seen_cap - 1);
    if (S.seen[i]) return false;
    S.seen[i] = h;
    S.seen_n++;
    S.result.states++;
    return true;
}

static Snapshot *state_save(void) {
    Snapshot *s = malloc(sizeof *s);
    if (!s) abort();
    memcpy(s->fiber, S.fiber, sizeof s->fiber);
    memcpy(s->plain, S.plain, sizeof s->plain);
    s->memory = memory_mark(&S.memory);
    s->expiries = S.expiries;
    for (int t = 0; t < S.scenario->threads; t++) {
        s->stack_bytes[t] = (size_t)(S.stack[t] + STACK - S.fiber[t].low);
        s->stack[t] = malloc(s->stack_bytes[t]);
        if (!s->stack[t]) abort();
        memcpy(s->stack[t], S.fiber[t].low, s->stack_bytes[t]);
    }
    return s;
}

static void state_restore(const Snapshot *s) {
    memcpy(S.fiber, s->fiber, sizeof s->fiber);
    memcpy(S.plain, s->plain, sizeof s->plain);
    memory_back(&S.memory, &s->memory);
    S.expiries = s->expiries;
    for (int t = 0; t < S.scenario->threads; t++) memcpy(S.fiber[t].low, s->stack[t], s->stack_bytes[t]);
}

static void state_free(Snapshot *s) {
    for (int t = 0; t < S.scenario->threads; t++) free(s->stack[t]);
    free(s);
}

/* ---- search ---- */

static void path_print(int depth) {
    static const char *const name[] = {
        "starts", "loads", "adds to", "swaps", "stores", "waits on", "looks at the clock", "ends"};
    for (int i = 0; i < depth; i++)
        printf("  thread %d %s %s (way %d): %lld\n", S.path[i].thread, name[S.path[i].op.kind],
               S.path[i].op.kind >= OP_LOAD && S.path[i].op.kind <= OP_STORE
                   ? memory_name(&S.memory, S.path[i].op.location)
                   : "",
               S.path[i].option, (long long)S.path[i].value);
}

static bool all_done(void) {
    for (int t = 0; t < S.scenario->threads; t++)
        if (!S.fiber[t].dead && S.fiber[t].op.kind != OP_DONE) return false;
    return true;
}

static void take(int thread, int option, int depth) {
    S.path[depth].thread = (uint8_t)thread;
    S.path[depth].option = (uint8_t)option;
    S.path[depth].op = S.fiber[thread].op;
    S.result.steps++;
    perform(thread, option);
    S.path[depth].value = S.fiber[thread].result;
}

static void explore(int depth, bool show_path) {
    if (depth == MAX_DEPTH) fail("an execution is too long");
    if (S.result.error) {
        if (show_path) path_print(depth);
        return;
    }
    if (!state_enter(state_hash())) return;
    Snapshot *here = state_save();
    int total = 0;
    for (int t = 0; t < S.scenario->threads && !S.result.error; t++) {
        int n = ways(t);
        total += n;
        for (int option = 0; option < n && !S.result.error; option++) {
            take(t, option, depth);
            explore(depth + 1, show_path);
            state_restore(here);
        }
    }
    if (!total && !S.result.error) {
        if (all_done())
            S.result.ends++;
        else
            fail("threads wait for ever");
        if (S.result.error && show_path) path_print(depth);
    }
    state_free(here);
}

Result check_scenario(const Scenario *scenario, const Mutation *m, bool show_path) {
    S.scenario = scenario;
    S.mutation = m;
    S.result = (Result){0};
    S.expiries = 1;
    memset(S.plain, 0, sizeof S.plain);
    memory_reset(&S.memory);
    scenario->setup();
    for (int t = 0; t < scenario->threads; t++) fiber_start(t);
    explore(0, show_path);
    free(S.seen);
    S.seen = NULL;
    S.seen_cap = S.seen_n = 0;
    return S.result;
}
