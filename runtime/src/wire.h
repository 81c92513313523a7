/* wire.h: messages between the processes of a group. A message is one datagram: a head that says what it is, then a
   body of the size that the receiver expects. Every other datagram is refused with a reason.
   The processes are of one user: both ends look at each other's credentials first. */
#ifndef TILE_SRC_WIRE_H
#define TILE_SRC_WIRE_H

#include "runtime.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#pragma GCC visibility push(hidden)

typedef enum { WIRE_HELLO = 1, WIRE_WELCOME, WIRE_MET, WIRE_PART, WIRE_WHOLE, WIRE_ROOM, WIRE_MEMORY } WireKind;

/* Magic and version stay where they are in all versions. */
typedef struct {
    uint32_t magic, version;
    int32_t kind, rank; /* rank: of the sender */
    uint32_t step;      /* exchanges of the group before this one */
    int32_t status;     /* TILE_OK, or the error that ends the step for all: then there is no body */
    int32_t missing;    /* the rank that did not come; -1: not known */
    uint32_t bytes;     /* of the body */
} WireHead;

/* "tile", read as a little-endian word. */
enum { WIRE_MAGIC = 0x656c6974, WIRE_VERSION = TILE_ABI << 8 | 1, WIRE_ANY_RANK = -1 };

typedef enum {
    WIRE_GOT,
    WIRE_GONE,    /* the peer has closed */
    WIRE_LATE,    /* the deadline has passed */
    WIRE_WRONG,   /* not the message that was expected: `wrong` says in what */
    WIRE_STRANGE, /* no message of this protocol at all */
    WIRE_OTHER    /* of another version of the runtime */
} WireReceived;

/* What is expected. */
typedef struct {
    WireKind kind;
    int rank; /* WIRE_ANY_RANK: the head tells */
    int nranks;
    uint32_t step;
    uint64_t deadline;
} WireWant;

typedef struct {
    WireHead head;
    int passed;        /* WIRE_MEMORY: the descriptor that came along, the caller's; -1: none */
    const char *wrong; /* NULL: nothing */
} WireMessage;

socklen_t wire_address(const char *name, struct sockaddr_un *);
bool wire_owner(int fd, uid_t *); /* who connected, or who listens, at the other end of a socket */

/* Fills body with n bytes if the message is the one that is expected and has no error status. */
WireReceived wire_receive(int fd, const WireWant *, void *body, size_t n, WireMessage *);
/* passed: a descriptor that goes along, or -1. false with errno: it was not sent; a peer that is gone is noticed by
   the next receive. */
bool wire_send(int fd, WireHead, const void *body, size_t n, int passed, uint64_t deadline);

#pragma GCC visibility pop
#endif
