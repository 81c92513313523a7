/* group_processes.h: a group whose ranks are processes of one host: rank 0 has a socket to each of the others. */
#ifndef TILE_SRC_GROUP_PROCESSES_H
#define TILE_SRC_GROUP_PROCESSES_H

#include "wire.h"

#pragma GCC visibility push(hidden)

/* Chosen: no measurement is recorded. */
enum { MAX_PROCESSES = 1024, RETRY_NS = 5000000, HELLO_NS = 1000000000 };
/* In the place of a socket, which is 0 or more. */
enum { NOT_YET = -1, LEFT = -2 };

typedef struct {
    Group group;
    uint32_t step; /* exchanges so far */
    int *peer;     /* rank 0: the socket to each rank; others: peer[0]; NOT_YET or LEFT: none */
    int *pidfd;    /* [nranks]; -1: not known */
} ProcessGroup;

/* ---- group_meet.c ---- */

/* Fills peer[]; the group's ranks are all there. */
int group_meet(ProcessGroup *, const char *name, uint64_t deadline);

/* ---- group_processes.c ---- */

/* Rank 0 to all others: the step has ended with this status. */
void group_tell_all(const ProcessGroup *, WireKind, int status, uint64_t deadline);
/* The error of a message that rank `from` was to send, with the sentence; TILE_OK when it came and says so. */
int group_received(Group *, WireReceived, const WireMessage *, int from, const char *doing);

#pragma GCC visibility pop
#endif
