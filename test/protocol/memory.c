/* memory.c: see memory.h. Release sequences are those of C11: a read-modify-write passes on the view of what it read.
   A plain location has a time of its last write and, per thread, of its last read; an access that has not seen them
   races. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 31;
}

void memory_reset(Memory *m) {
    m->nlocations = m->nmessages = 0;
    memset(m->newest, 0, sizeof m->newest);
}

static Location *location_add(Memory *m, const void *p, const char *name) {
    if (m->nlocations == MAX_LOCATIONS) {
        fprintf(stderr, "too many locations\n");
        exit(2);
    }
    Location *l = &m->location[m->nlocations++];
    *l = (Location){.address = p, .name = name};
    return l;
}

void memory_add_atomic(Memory *m, const void *p, uint64_t initial, bool shared, const char *name) {
    Location *l = location_add(m, p, name);
    l->shared = shared;
    l->message[0] = m->nmessages;
    m->message[m->nmessages++] = (Message){.value = initial};
}

void memory_add_plain(Memory *m, const void *p, int threads, const char *name) {
    Location *l = location_add(m, p, name);
    l->plain = true;
    l->reads = m->nlocations;
    m->nthreads = threads;
    for (int t = 0; t < threads; t++) location_add(m, NULL, name);
}

int memory_find(const Memory *m, const void *p) {
    for (int i = 0; i < m->nlocations; i++)
        if (m->location[i].address == p) return i;
    fprintf(stderr, "the protocol uses memory that the scenario does not name\n");
    exit(2);
}

const char *memory_name(const Memory *m, int location) { return m->location[location].name; }
bool memory_shared(const Memory *m, int location) { return m->location[location].shared; }
int memory_newest(const Memory *m, int location) { return m->newest[location]; }
int memory_oldest(const Memory *m, int location, const View *v) {
    (void)m;
    return v->time[location];
}
int memory_version(const Memory *m, int location) { return m->newest[location]; }

static void view_join(View *v, const View *other) {
    for (int i = 0; i < MAX_LOCATIONS; i++)
        if (other->time[i] > v->time[i]) v->time[i] = other->time[i];
}

static bool acquires(ModelOrder o) { return o == MODEL_acquire || o == MODEL_acq_rel; }
static bool releases(ModelOrder o) { return o == MODEL_release || o == MODEL_acq_rel; }

static Message *message_add(Memory *m, int location, uint64_t value) {
    if (m->nmessages == MAX_MESSAGES || m->newest[location] == MAX_PER_LOCATION - 1) {
        fprintf(stderr, "too many stores\n");
        exit(2);
    }
    m->location[location].message[++m->newest[location]] = m->nmessages;
    Message *g = &m->message[m->nmessages++];
    *g = (Message){.value = value};
    return g;
}

uint64_t memory_load(const Memory *m, int location, int time, ModelOrder order, View *v) {
    const Message *g = &m->message[m->location[location].message[time]];
    v->time[location] = (uint8_t)time;
    if (acquires(order)) view_join(v, &g->view);
    return g->value;
}

void memory_store(Memory *m, int location, uint64_t value, ModelOrder order, View *v) {
    Message *g = message_add(m, location, value);
    v->time[location] = m->newest[location];
    if (releases(order)) g->view = *v;
}

static void modify(Memory *m, int location, uint64_t value, ModelOrder order, View *v) {
    const Message *before = &m->message[m->location[location].message[m->newest[location]]];
    if (acquires(order)) view_join(v, &before->view);
    Message *g = message_add(m, location, value);
    v->time[location] = m->newest[location];
    if (releases(order)) g->view = *v;
    view_join(&g->view, &before->view);
}

static uint64_t newest_value(const Memory *m, int location) {
    return m->message[m->location[location].message[m->newest[location]]].value;
}

uint64_t memory_add(Memory *m, int location, uint64_t operand, ModelOrder order, View *v) {
    uint64_t value = newest_value(m, location);
    modify(m, location, value + operand, order, v);
    return value;
}

bool memory_swap(Memory *m, int location, uint64_t from, uint64_t to, ModelOrder order, View *v) {
    if (newest_value(m, location) != from) {
        v->time[location] = m->newest[location];
        return false;
    }
    modify(m, location, to, order, v);
    return true;
}

bool memory_read(Memory *m, int location, int thread, View *v) {
    int reads = m->location[location].reads + thread;
    v->time[reads] = ++m->newest[reads];
    return v->time[location] == m->newest[location];
}

bool memory_write(Memory *m, int location, View *v) {
    bool good = v->time[location] == m->newest[location];
    for (int t = 0; t < m->nthreads; t++) {
        int reads = m->location[location].reads + t;
        good = good && v->time[reads] == m->newest[reads];
    }
    v->time[location] = ++m->newest[location];
    return good;
}

MemoryMark memory_mark(const Memory *m) {
    MemoryMark mark = {.nmessages = m->nmessages};
    memcpy(mark.newest, m->newest, sizeof mark.newest);
    return mark;
}

void memory_back(Memory *m, const MemoryMark *mark) {
    m->nmessages = mark->nmessages;
    memcpy(m->newest, mark->newest, sizeof mark->newest);
}

/* Eight times at once: most of the search goes by here. */
static uint64_t view_hash(const Memory *m, const View *v, uint64_t h) {
    for (int i = 0; i < m->nlocations; i += 8) {
        uint64_t times = 0;
        memcpy(&times, &v->time[i], m->nlocations - i < 8 ? (size_t)(m->nlocations - i) : sizeof times);
        h = mix(h, times);
    }
    return h;
}

/* Of what threads may still read: older messages do not matter. */
uint64_t memory_hash(const Memory *m, const View *const view[], int n, uint64_t h) {
    for (int t = 0; t < n; t++) h = view_hash(m, view[t], h);
    for (int i = 0; i < m->nlocations; i++) {
        h = mix(h, m->newest[i]);
        if (m->location[i].plain || !m->location[i].address) continue;
        int oldest = m->newest[i];
        for (int t = 0; t < n; t++)
            if (view[t]->time[i] < oldest) oldest = view[t]->time[i];
        for (int time = oldest; time <= m->newest[i]; time++) {
            const Message *g = &m->message[m->location[i].message[time]];
            h = view_hash(m, &g->view, mix(h, g->value));
        }
    }
    return h;
}
