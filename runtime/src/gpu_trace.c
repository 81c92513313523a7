/* gpu_trace.c: when each launch ran, between two events of its stream; launches under capture leave nothing. */
#include "gpu.h"

#include <stdlib.h>

enum { LAUNCHES = 1 << 14 }; /* kept; later ones are not */

typedef struct {
    const char *name;
    uint64_t run;
    int number; /* in its run */
    void *begin, *end;
} Launched;

struct GpuTrace {
    void *start; /* an event at `started` */
    uint64_t started;
    size_t n, made; /* launches; those that have events */
    Launched launch[LAUNCHES];
};

int gpu_trace_open(tile_mesh *m) {
    Gpu *g = m->gpu;
    gpu_trace_close(m);
    int code = gpu_enter(g);
    if (code) return code;
    if (!(g->trace = calloc(1, sizeof *g->trace))) return tile_fail(TILE_E_NOMEM, "out of memory for the trace");
    int error = g->api.event_create(&g->trace->start, 0);
    if (!error) error = g->api.event_record(g->trace->start, g->stream);
    if (!error) error = g->api.stream_sync(g->stream);
    g->trace->started = tile_now();
    return error ? gpu_fail(g, error, "starting a trace") : TILE_OK;
}

void gpu_trace_close(tile_mesh *m) {
    Gpu *g = m->gpu;
    struct GpuTrace *t = g->trace;
    if (!t || gpu_enter(g)) return;
    for (size_t i = 0; i < t->made; i++) {
        g->api.event_destroy(t->launch[i].begin);
        g->api.event_destroy(t->launch[i].end);
    }
    if (t->start) g->api.event_destroy(t->start);
    free(t);
    g->trace = NULL;
}

/* The place of the next launch; NULL: there is none. */
static Launched *place_next(const Gpu *g) {
    struct GpuTrace *t = g->trace;
    if (t->n == LAUNCHES) return NULL;
    Launched *l = &t->launch[t->n];
    if (t->n == t->made) {
        if (g->api.event_create(&l->begin, 0)) return NULL;
        if (g->api.event_create(&l->end, 0)) return g->api.event_destroy(l->begin), NULL;
        t->made++;
    }
    t->n++;
    return l;
}

void *gpu_trace_begin(const Gpu *g, const char *name, uint64_t run, int number, void *stream) {
    Launched *l = g->trace ? place_next(g) : NULL;
    if (!l) return NULL;
    l->name = name;
    l->run = run;
    l->number = number;
    g->api.event_record(l->begin, stream);
    return l->end;
}

static uint64_t time_of(const Gpu *g, void *event) {
    float ms = 0;
    g->api.event_elapsed(&ms, g->trace->start, event);
    return g->trace->started + (uint64_t)((double)ms * 1e6);
}

void gpu_trace_collect(tile_mesh *m) {
    const Gpu *g = m->gpu;
    struct GpuTrace *t = g->trace;
    Worker *w = &m->worker[0];
    if (!t || gpu_enter(g)) return;
    for (size_t i = 0; i < t->n && w->events < TRACE_EVENTS; i++)
        w->event[w->events++] = (TraceEvent){.name = t->launch[i].name,
                                             .begin = time_of(g, t->launch[i].begin),
                                             .end = time_of(g, t->launch[i].end),
                                             .generation = t->launch[i].run,
                                             .ticket = t->launch[i].number};
    t->n = 0;
}
