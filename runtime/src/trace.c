/* trace.c: when each task ran and how long it waited, as Chrome/Perfetto JSON: a process a rank, a thread a worker. */
#include "gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void trace_add(Worker *w, const tile_task *t, const tile_program *p, uint64_t begin) {
    if (w->events == TRACE_EVENTS) return;
    w->event[w->events++] = (TraceEvent){.name = p->task_name ? p->task_name(t, t->ticket) : p->name,
                                         .begin = begin,
                                         .end = tile_now(),
                                         .waited = w->waited,
                                         .generation = t->generation,
                                         .ticket = t->ticket};
}

int tile_trace(tile_mesh *m, int on) {
    int error = !m->gpu ? TILE_OK : on ? gpu_trace_open(m) : (gpu_trace_close(m), TILE_OK);
    if (error) return error;
    queue_wait(m);
    for (int i = 0; i <= m->nworkers; i++) {
        Worker *w = &m->worker[i];
        free(w->event);
        w->event = NULL;
        w->events = 0;
        if (on && !(w->event = calloc(TRACE_EVENTS, sizeof *w->event)))
            return tile_fail(TILE_E_NOMEM, "out of memory for the trace");
    }
    return TILE_OK;
}

/* Names come from C identifiers: nothing to escape. */
static void event_print(FILE *f, const TraceEvent *e, int rank, int worker) {
    fprintf(f,
            ",\n{\"name\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,\"tid\":%d,\"args\":{\"generation\":%"
            "llu,\"ticket\":%lld,\"waited_us\":%.3f}}",
            e->name, (double)e->begin / 1e3, (double)(e->end - e->begin) / 1e3, rank, worker,
            (unsigned long long)e->generation, (long long)e->ticket, (double)e->waited / 1e3);
}

int tile_trace_write(tile_mesh *m, const char *path) {
    queue_wait(m);
    int error = m->gpu ? gpu_stream_wait(m, NULL) : TILE_OK;
    if (error) return error;
    if (m->gpu) gpu_trace_collect(m);
    FILE *f = fopen(path, "w");
    if (!f) return tile_fail(TILE_E_SYS, "%s: %s", path, strerror(errno));
    fprintf(f,
            "{\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}}",
            m->rank, m->rank);
    for (int i = 0; i <= m->nworkers; i++) {
        for (size_t e = 0; e < m->worker[i].events; e++) event_print(f, &m->worker[i].event[e], m->rank, i);
        m->worker[i].events = 0;
    }
    fprintf(f, "\n]}\n");
    int bad = ferror(f);
    return fclose(f) != 0 || bad ? tile_fail(TILE_E_SYS, "%s: cannot be written", path) : TILE_OK;
}
