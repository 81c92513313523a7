/* cluster.h: workgroups that run together and reach each other's LDS; barriers of other threads than a workgroup's;
   copies and products that go on by themselves. A workgroup that meets no others is a cluster alone. PTX ISA, "Memory
   consistency model", "Async proxy". */
#ifndef TILE_EMU_CLUSTER_H
#define TILE_EMU_CLUSTER_H

#include "emu.h"

#include "device/tile_emu_sm_90a.h"

#include <stdio.h>

#pragma GCC visibility push(hidden)

enum {
    CLUSTER_GROUPS = EMU_PLACES,
    CLUSTER_ACTORS = 512, /* of all workgroups; chosen: no kernel of the tests has more */
    GROUP_MBARS = 128,    /* barriers in memory that a workgroup initialises: the 1024 bytes that plans leave for them */
    GROUP_BARS = 16,      /* named barriers of a workgroup: PTX ISA, barrier */
    TEAM = 128,           /* threads of a product */
    GROUP_TEAMS = EMU_THREADS / TEAM,
    TEAM_PRODUCTS = 64, /* under way at once; chosen: no kernel of the tests has more */
    TEAM_SUMS = 8,      /* accumulators in use at once; likewise */
    TMA_DIMS = 5        /* of a tensor that is copied by boxes */
};

/* ---- order.c: who knows of which accesses to LDS ---- */

/* What accesses LDS: threads of a wave; copies by tiles, and by threads, that complete a barrier; a team's products; a
   wave's stores by tiles and copies by threads. */
typedef enum { ACTOR_WAVE, ACTOR_LOADS, ACTOR_ROWS, ACTOR_PRODUCTS, ACTOR_STORES, ACTOR_COPIES } ActorKind;

typedef struct {
    uint8_t kind, wave;
} Actor;

/* Of each actor, up to which time its accesses are over: for threads; for copies and products too, which a fence does
   (the async proxy). */
typedef struct {
    uint32_t seen[CLUSTER_ACTORS], fenced[CLUSTER_ACTORS];
} View;

typedef struct {
    View view;
    uint32_t time, joined; /* its lanes have met after all accesses of earlier times */
    int stores, copies;    /* its other actors; 0: none yet */
} WaveView;

int order_actor(ActorKind);
const char *order_name(ActorKind);
Touch order_touch(TouchKind); /* by the thread that runs */
Touch order_touch_by(int actor, uint32_t time, TouchKind);
bool order_knows(const Touch *, const Touch *by);
WaveView *order_wave(void); /* of the thread that runs */
/* The thread's wave knows of copies only what all these waves know; what it knew itself comes into `kept`. */
void order_least(int first, int waves, View *kept);
void order_release(View *to);
void order_acquire(const View *);
void order_fence(void);
void order_learn(int wave, int actor, uint32_t time); /* a wave of this workgroup: the accesses of an actor are over */
void order_meet(Group *, int wave, const View *);     /* lanes of a wave have met, and others before them */
void order_sync(void);                                /* the workgroup has */

/* ---- barriers.c ---- */

/* Of LDS: a phase ends when `count` arrivals and all expected bytes have come. */
typedef struct {
    Group *group;
    uint32_t at;
    int count, missing; /* arrivals */
    int64_t bytes;      /* that are still to come */
    uint32_t phases;    /* that have ended */
    int actor;          /* the copies by boxes that it waits for */
    int copies;         /* those by threads; 0: none yet */
    Touch made;
    View open, done;
} Mbar;

/* Of some threads of a workgroup. */
typedef struct {
    int come, of;
    View open, done;
} Bar;

Mbar *mbar_at(Group *, uint32_t at, TouchKind by); /* by: a thread of the workgroup, or another or a copy */
void mbar_come(Mbar *, int arrivals, int64_t bytes);
void mbar_arrive(Mbar *);                                   /* of what a thread has left behind */
bool cluster_waits(const Group *, char *text, size_t size); /* for what may still come; else why it does not */

/* ---- copies.c ---- */

typedef struct Copy {
    struct Copy *next;
    struct EmuMap *map; /* of boxes; NULL: what a thread copies */
    struct ThreadCopy *bytes;
    int nbytes;
    int at[TMA_DIMS], away[TMA_DIMS]; /* away: of pixels, from there */
    bool store;
    Group *from; /* a store's workgroup and thread, and how many of the thread's came before */
    int thread, number;
    Mbar *bar; /* of a load */
    uint32_t lds;
} Copy;

void copies_drift(Cluster *);  /* some arrive */
bool copies_arrive(Cluster *); /* one does; false: there is none */
void copies_drop(Group *);
bool copies_are_left(const Cluster *, const Group *);
void lane_copies_drop(Lane *);

/* ---- wgmma.c ---- */

/* whole: d are int32_t. */
typedef struct {
    void *d[TEAM];
    double x[64][256];
    int n, users;
    bool whole;
} Sums;

typedef struct {
    const tile_emu_wgmma *op;
    uint64_t a, b;
    const uint32_t *regs[TEAM];
    bool add;
    Sums *sums;
    uint32_t number;
} Product;

/* Threads that multiply together, and what they have under way, in order. */
typedef struct {
    Product product[TEAM_PRODUCTS];
    int n, actor;
    uint32_t committed; /* groups */
    Sums *sums[TEAM_SUMS];
} Team;

/* ---- cluster.c ---- */

/* A workgroup of a cluster: more than a megabyte, of which most workgroups touch little. */
typedef struct {
    Group *group; /* NULL: it has ended */
    int nmbars;
    WaveView wave[EMU_WAVES];
    Bar bar[GROUP_BARS];
    Mbar mbar[GROUP_MBARS];
    Team team[GROUP_TEAMS];
} Member;

struct Cluster {
    int size, alive;
    int nactors;
    Actor actor[CLUSTER_ACTORS];
    Copy *copies;    /* under way */
    int come;        /* threads at the cluster's barrier */
    uint64_t phases; /* of it that have ended */
    View open, done;
    Member member[]; /* of each rank */
};

bool cluster_begin(Launch *, Group *const place[], int64_t first); /* false: no memory */
void cluster_leave(Group *);                                       /* the workgroup has ended */
void cluster_end_check(void);                                      /* the last thread of a workgroup ends */
Group *cluster_group(int rank);                                    /* an error where it is none or has ended */
/* Bytes of a workgroup's LDS by their address there. */
size_t shared_at(const Group *, uint32_t at, size_t bytes, bool store);

#pragma GCC visibility pop
#endif
