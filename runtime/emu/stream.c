/* stream.c: devices, and the commands of their streams, in order: launches, records of events, waits for them. A
   launch may rely on everything that came before on its stream, or was over when its host thread gave the launch. */
#include "emu.h"

#include <stdlib.h>

_Thread_local Clock host_clock;
static Device devices[EMU_DEVICES];
static Stream *streams;

Device *device_of(int number) { return &devices[number]; }

Stream *stream_open(int device) {
    Stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->device = device;
    s->next = streams;
    return streams = s;
}

void stream_close(Stream *s) {
    Stream **link = &streams;
    stream_wait(s);
    while (*link != s) link = &(*link)->next;
    *link = s->next;
    free(s);
}

bool stream_put(Stream *s, const Command *given) {
    Command *c = malloc(sizeof *c);
    if (!c) return false;
    *c = *given;
    c->next = NULL;
    c->host = host_clock;
    if (s->first)
        s->last->next = c;
    else
        s->first = c;
    s->last = c;
    return engine_wake();
}

bool stream_wait(Stream *s) {
    while (s->first) engine_wait();
    bool good = !s->failed;
    s->failed = false;
    known_join(&host_clock, &s->clock);
    return good;
}

/* ---- for the emulator's thread ---- */

static void event_leave(const Stream *s, Event *e, bool follows) {
    if (follows) {
        e->followers--;
    } else {
        e->pending--;
        e->done++;
        e->failed = s->failed;
    }
}

static void command_drop(Stream *s) {
    Command *c = s->first;
    s->first = c->next;
    if (c->event) event_leave(s, c->event, c->after);
    free(c->launch.call);
    free(c);
    engine_happened();
}

/* Before it follows, it knows what the launch before knew, which has followed. */
static void launch_start(Launch *l, const Command *c, Stream *s) {
    enum { THREADS = 2048 /* that a device holds */ };
    int most = THREADS / l->threads < EMU_PLACES ? THREADS / l->threads : EMU_PLACES, together = l->facts->cluster;
    l->begin = s->clock;
    known_join(&l->begin, &c->host);
    l->before = s->before;
    known_join(&l->before, &c->host);
    s->before = l->begin;
    l->end = l->begin;
    l->step = engine_random() | 1;
    l->shift = engine_random();
    l->resident = together;
    if (most > together) l->resident *= 1 + (int)(engine_random() % (uint64_t)(most / together));
}

static void event_record(Event *e, const Stream *s) {
    e->clock = s->clock;
    e->ns = engine_ns();
}

static bool event_follow(const Command *c, Stream *s) {
    if (c->event->done < c->after) return false;
    known_join(&s->clock, &c->event->clock);
    return true;
}

/* Is the first command still at work? */
static bool command_works(Command *c, Stream *s) {
    if (c->after) return !event_follow(c, s);
    if (c->event) return event_record(c->event, s), false;
    if (!c->launch.resident) launch_start(&c->launch, c, s);
    if (c->launch.ended < c->launch.ngroups) return true;
    if (c->launch.beside) s->before = c->launch.before; /* it, and who runs beside it, may begin with what it ran beside */
    s->clock = c->launch.end;
    return false;
}

bool streams_advance(void) {
    bool works = false;
    for (Stream *s = streams; s; s = s->next) {
        while (s->first && !command_works(s->first, s)) command_drop(s);
        works |= s->first != NULL;
    }
    return works;
}

int streams_launches(Launch *to[], int room) {
    int n = 0;
    for (Stream *s = streams; s && n < room; s = s->next) {
        Launch *l = s->first ? &s->first->launch : NULL;
        if (l && l->begun < l->ngroups && l->begun - l->ended + l->facts->cluster <= l->resident) to[n++] = l;
    }
    return n;
}

/* A stream without a launch gets room for a cluster of the size of l's: most often one program runs on all of them. */
int streams_claim(const Launch *l) {
    int places = 0;
    for (Stream *s = streams; s; s = s->next) {
        const Launch *other = s->first && !s->first->event ? &s->first->launch : NULL;
        if (s->device != l->device || other == l || (other && other->begun > other->ended)) continue;
        places += other ? other->facts->cluster : l->facts->cluster;
    }
    return places;
}

void streams_drop(void) {
    for (Stream *s = streams; s; s = s->next) {
        s->failed |= s->first != NULL;
        while (s->first) command_drop(s);
    }
}
