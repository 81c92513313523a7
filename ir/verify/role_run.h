/* role_run.h: runs of roles in which only slots are counted: what each group of a role does with rings, and the run. */
#ifndef TILEC_IR_VERIFY_ROLE_RUN_H
#define TILEC_IR_VERIFY_ROLE_RUN_H

#include "ir/verify/roles.h"

/* ENTER, LEAVE: pieces of a turn that the groups of the role run one after the other. FOLLOW, PASS: the begin of the
   last iterations of a loop that groups end in turn, and their end. ROOM: a slot is free. LATE: here parts of what the
   task before left run, up to the number .part. MEET: the group comes to a put of what its cluster sums. */
typedef enum {
    EVENT_PUT,
    EVENT_GET,
    EVENT_FREE,
    EVENT_ENTER,
    EVENT_LEAVE,
    EVENT_FOLLOW,
    EVENT_PASS,
    EVENT_WAIT,
    EVENT_SIGNAL,
    EVENT_ROOM,
    EVENT_LATE,
    EVENT_MEET,
} EventKind;

enum { AT_ONCE = -1, ALL_PARTS = 1 << 30 };

typedef struct {
    EventKind kind;
    int ring, copy; /* copy: which of a ring that each group has; else 0 */
    int task, part; /* part: of a late loop; AT_ONCE elsewhere */
    const Op *op;
} Event;

typedef VEC(Event) Events;

/* Loops and conditions around operations on rings, and which of them are the same in all roles. */
typedef struct {
    const Op *op;
    int same; /* number of the first that is the same */
} RoleChoice;

typedef struct {
    const Kernel *k;
    Arena *arena;
    VEC(RoleChoice) choice;
    VEC(int) trips; /* of loops whose number of iterations is not known */
    int most;       /* slots of a ring, up to a limit */
} RoleCourse;

enum { ROLE_MOST = 64 }; /* trip counts are drawn about numbers of slots, and of iterations in turn, up to this one */
enum { ROLE_TASKS = 3 }; /* of a run: what a task leaves is what the next one finds, and once more */

RoleCourse role_course(const Kernel *, Arena *);
/* What a group does in all tasks, with what roles on its threads do; the same draw is the same for all. */
Events role_events(const RoleCourse *, const Role *, int group, unsigned draw);
int ring_copies(const Kernel *, int ring);

#endif
