/* place.c: who is where in a team: members, queues, tasks, and the part of a tile that a group has.
 */
#include "ir/interp/team.h"

int team_groups(const Team *t, int role) {
    const Role *r = &t->roles->role.p[role];
    return r->split < 0 ? 1 : r->last - r->first + 1;
}

int ring_groups(const Team *t, const Ring *r) { return r->per < 0 ? 1 : team_groups(t, r->per); }

Member *team_member(const Team *t, int workgroup, int role, int group) {
    return t->member[(workgroup * t->roles->role.n + role) * t->groups + group];
}

Queue *team_queue(const Team *t, int workgroup, int ring, int group) {
    return t->queue[(workgroup * t->roles->ring.n + ring) * t->groups + group];
}

/* Tasks by a counter are taken for all members of a cluster, by the first that asks. */
static int64_t unit_counted(Team *t, int cluster, int64_t nth) {
    while (t->taken[cluster].n <= nth) vec_push(t->w->arena, &t->taken[cluster], t->next++);
    return t->taken[cluster].p[nth];
}

int64_t team_unit(Team *t, int workgroup, int64_t nth) {
    int cluster = workgroup / t->roles->cluster, clusters = t->workgroups / t->roles->cluster;
    int64_t unit = t->roles->tasks == TASKS_TICKET ? unit_counted(t, cluster, nth) : cluster + nth * clusters;
    return unit < t->units ? unit : -1;
}

void member_fault(const Member *m, const char *text) {
    m->team->w->stopped = true;
    world_fault(m->team->w, (InterpFault){.kind = FAULT_ROLE,
                                          .at = task_id(m->worker.task),
                                          .other.rank = -1,
                                          .tensor = -1,
                                          .element = -1,
                                          .flag = -1,
                                          .text = text});
}

/* ---- places ---- */

bool role_shares(const Task *t, int range) { return range == t->member->role->split; }

RangeState role_range(const Task *t, int range) {
    return role_shares(t, range) ? t->member->whole : t->range[range];
}

int64_t role_extent(const Task *t, int range) {
    const Range *r = &t->k->range.p[range];
    RangeState s = role_range(t, range);
    return r->kind == RANGE_TILE ? r->size : s.end - s.begin;
}

void role_share(Task *t, int range, int64_t size) {
    Member *m = t->member;
    if (m->role->split != range) return;
    RangeState *s = &t->range[range];
    int64_t each = ceil_div(size, team_groups(m->team, m->number));
    m->whole = *s;
    s->begin += m->group * each;
    s->end = s->begin + each < m->whole.end ? s->begin + each : m->whole.end;
}
