/* team.h: what the files about kernels in the form `roles` share; not for others.
   A team of workgroups runs a kernel's tasks on a rank. A workgroup has a member for each role, or for each group of a split
   role. A workgroup has a queue for each ring, or for each group of the role that the ring is `per`. */
#ifndef TILEC_IR_INTERP_TEAM_H
#define TILEC_IR_INTERP_TEAM_H

#include "ir/interp/agent.h"
#include "ir/roles.h"

/* Of a tile: in each of .outer blocks of .whole rows, .count rows from .first on. A row has .inner elements. */
typedef struct {
    int64_t outer, whole, first, count, inner;
} Share;

/* ---- queues ---- */

/* A copy into a tile of a slot: the elements are read when it comes. */
typedef struct {
    bool set;
    const Part *part;
    const Copy *copy;
    Share share;
    int64_t *offset;
    int64_t n, cap;
    Clock *past; /* of the copy */
} Flight;

/* What one writer puts into a slot, until it has come. */
typedef struct {
    bool under_way;
    Flight *flight; /* of each tile */
    Clock *past;    /* of the whole put */
} Filling;

typedef struct {
    int64_t number;    /* of the put, from 0; -1: none yet */
    int64_t task;      /* of the put: its task .. */
    RangeState *range; /* .. and where it stood */
    int come;          /* writers whose part has come */
    Tile *tile;        /* of the whole task, also where groups share it */
    Filling *filling;  /* of each writer */
    Clock *full, *back; /* released by those who filled it; by those who freed it */
    int64_t freed;      /* number of the put that .back is of */
} Slot;

struct Queue {
    Team *team;
    const Ring *ring;
    int number, workgroup, group;
    VEC(Member *) writer;
    VEC(Member *) reader;
    Slot *slot;
    uint64_t full; /* slots that have come, in order */
    int under_way;
    Worker worker; /* brings what is copied */
    Task task;     /* its name */
};

/* ---- members ---- */

/* A member's end of a ring. */
typedef struct {
    uint64_t puts, gets, frees;
    uint64_t met;  /* puts that the member has come to, of what its cluster sums */
    int64_t *read; /* of each slot: the last product that reads it */
} End;

/* A loop that is run in turns. A value has a tile of its own in each iteration that is under way. */
typedef struct {
    const Op *loop;
    int64_t n, turn;     /* iterations; the turn's number */
    int64_t first, end;  /* iterations of the run */
    int at;              /* in the line of the turn */
    int64_t now, newest; /* iteration whose values are at hand; the last that has begun */
    VEC(const Value *) value;
    int *index;       /* of a value, by its number: in .value; -1: made outside */
    int64_t *made;    /* of each value: iteration that made it last */
    int banks;
    Tile **bank; /* bank[iteration % banks][index] */
} Turning;

struct Member {
    Worker worker;
    Team *team;
    const Role *role;
    int number, workgroup, group;
    bool running, finished; /* a task; all tasks */
    int64_t nth;            /* tasks begun */
    int64_t issued, done;   /* products: issued, and how many of those are done */
    uint64_t filled;        /* tiles of the slot that is being put, a bit each */
    End *end;               /* of each ring */
    RangeState whole;       /* the range that the groups share */
    VEC(Turning *) turning;
    Tile part; /* of the operation in hand */
    uint64_t brackets; /* that the group has left */
    bool in_bracket;
    Blocked gate, handing; /* .seen NULL: none; the bracket to be entered; a put that a role on these threads has to get */
    Blocked follow;        /* likewise: the last iterations of a loop that groups end in turn .. */
    uint64_t passed;       /* .. and how many such loops the group has ended */
};

struct Team {
    World *w;
    const Node *node;
    const Kernel *k;
    const Roles *roles;
    int rank;
    int64_t generation;
    int workgroups, groups; /* groups: of the role that has most */
    int64_t units;          /* tasks of a cluster that are taken together */
    int64_t next;           /* unit, by a counter */
    Member **member;        /* member[(workgroup * roles + role) * groups + group] */
    Queue **queue;          /* queue[(workgroup * rings + ring) * groups + group] */
    VEC(int64_t) *taken;    /* by a counter, of each cluster */
    int left;               /* members that have tasks to do */
    VEC(Worker *) worker;   /* of its members and queues */
    Schedule own;           /* of a sequential run */
};

/* team.c */
Team *team_of(World *, int rank, const Node *); /* NULL: the kernel has no roles, or runs without them */
void team_begin(Team *, int64_t generation);
void team_run(World *, int rank, const Node *, int64_t generation); /* sequential */
bool team_can_run(const Worker *);
void team_turn(Schedule *, Worker *);
void team_blocked(const Worker *); /* at the end of a run: a fault if it is left */

/* place.c */
int64_t team_unit(Team *, int workgroup, int64_t nth); /* -1: no more */
int team_groups(const Team *, int role);
int ring_groups(const Team *, const Ring *);
Member *team_member(const Team *, int workgroup, int role, int group);
Queue *team_queue(const Team *, int workgroup, int ring, int group);
bool role_shares(const Task *, int range);
RangeState role_range(const Task *, int range); /* of the whole task, also where groups share it */
int64_t role_extent(const Task *, int range);   /* of a tile that is not ragged */
void role_share(Task *, int range, int64_t size);
void member_fault(const Member *, const char *text); /* stops the run */

/* member.c */
extern const TeamCalls member_calls;
void member_begin(Member *);
void member_turn(Member *);

/* hold.c */
bool hold_check(Task *, const Op *); /* false after a fault: it reads what is not there */
void hold_made(Task *, const Value *);
void hold_issued(Task *, const Op *mma);
void hold_ready(Task *, const Op *);
void eval_part(Task *, const Op *);
void hold_free(Member *, int ring, uint64_t slot); /* the products that read it are done */

/* turns.c */
void turns_begin(Task *, const Op *loop);
void turns_next(Task *, const Op *loop, const Op *done);
bool turns_overwritten(const Member *, const Value *); /* a later iteration has made it already */
const Tile *turns_value(Member *, const Value *);      /* also of what the iteration before yields */
const Tile *turns_made(const Member *, const Value *); /* it is made anew: the tile that it had before */

/* ring.c */
Step ring_put(Task *, const Op *);
Step ring_copy(Task *, const Op *);
void ring_write(Task *, const Op *);
Step ring_get(Task *, const Op *);
void ring_free(Task *, const Op *);
void ring_filled(Task *, const Op *put);

/* queue.c */
Queue *queue_make(Team *, int workgroup, int ring, int group);
void queue_begin(Queue *);
void queue_bring(Queue *, uint64_t draw); /* one of the puts that are under way */
void queue_check(const Queue *);          /* at the end of a run */
Slot *queue_slot(const Queue *, uint64_t number);
const Member *slot_holder(const Queue *, uint64_t number); /* who still has what is to be overwritten; NULL: nobody */
bool queue_is_shared(const Queue *);    /* some of its tiles are, by the workgroups of a cluster */
Stamp queue_stamp(const Queue *, uint64_t number); /* of what is copied for that put */
Queue *queue_peer(const Queue *, int i); /* of the cluster's workgroup i */
void queue_arrive(Queue *, Slot *, Clock *); /* what one of its writers puts has come */

/* overlap.c */
bool ring_has_room(const Member *, const Queue *, uint64_t number); /* false after a fault: another ring has the bytes */

/* share.c */
Share share_along(const Task *, Type, int range, int64_t whole, int64_t first, int64_t count);
Share share_of(const Member *, Type); /* the member's part of a slot's tile */
Share share_of_group(const Task *, Type, int range, int groups, int group); /* what one of the groups has of it */
int64_t share_tile(const Share *);    /* elements of the whole */
void share_take(const World *, Lane, const Share *, const Tile *whole, Tile *part);
void share_give(const World *, Lane, const Share *, const Tile *part, Tile *whole);

#endif
