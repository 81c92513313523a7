/* tile_task.h: `tasks ticket` of the form roles: tasks by a counter, for those that differ in length. A lane of each
   cluster takes numbers, and each workgroup has a copy of the ring of words from which its roles read them. All roles of
   the cluster walk along the same tasks. Arrivals at `full`: 1. Arrivals at `empty`, of the first workgroup alone: the
   warps and single lanes that read, of all workgroups. */
#ifndef TILE_DEVICE_TILE_TASK_H
#define TILE_DEVICE_TILE_TASK_H

/* By a lane of the cluster's first workgroup, of `sharers`: waits until a number may be passed on; takes one, -1 behind
   the last; passes it on. counter: 0 between launches; whoever takes the last number of all clusters leaves it so. */
TILE_FN void tile_ticket_open(const tile_ring *r, const tile_ring_end *e) {
    tile_mbar_wait(tile_ring_empty(r, e->s), e->phase);
}
TILE_FN int tile_ticket_number(uint64_t *counter, int tasks, int clusters) {
    const int64_t task = (int64_t)tile_word_add(counter, 1, TILE_DEVICE);
    if (task == (int64_t)tasks + clusters - 1) tile_word_store(counter, 0, TILE_DEVICE);
    return task < tasks ? (int)task : -1;
}
TILE_FN void tile_ticket_pass(const tile_ring *r, tile_ring_end *e, int task, int sharers) {
    for (int rank = 0; rank < sharers; rank++)
        tile_cluster_pass(r->slot + (uint32_t)(r->bytes * e->s), tile_ring_full(r, e->s), rank, task);
    tile_ring_step(r, e);
}

/* Both by a warp; all lanes get the number. */
TILE_FN int tile_ticket_number_all(uint64_t *counter, int tasks, int clusters) {
    return (int)tile_shuffle(tile_lane() == 0 ? (uint32_t)tile_ticket_number(counter, tasks, clusters) : 0, 0);
}
TILE_FN void tile_ticket_pass_all(const tile_ring *r, tile_ring_end *e, int task, int sharers) {
    tile_ring_end first = *e;
    if (tile_lane() == 0) tile_ticket_pass(r, &first, task, sharers);
    tile_ring_step(r, e);
}

/* By a warp of a cluster that does nothing: takes what the others leave, and its own number behind the last. */
TILE_FN void tile_ticket_leave(uint64_t *counter, int tasks, int clusters) {
    while (tile_ticket_number_all(counter, tasks, clusters) >= 0) continue;
}

/* All numbers, and behind the last task -1. */
TILE_FN void tile_ticket_take(const tile_ring *r, uint64_t *counter, int tasks, int clusters, int sharers) {
    tile_ring_end e = tile_ring_writer();
    for (int task = 0; task >= 0;) {
        tile_ticket_open(r, &e);
        task = tile_ticket_number(counter, tasks, clusters);
        tile_ticket_pass(r, &e, task, sharers);
    }
    tile_ring_drain(r, &e);
}

/* The next task, or -1; by one lane, or by all lanes of each warp that reads (`warp`). Roles that copy look, and are done
   with a number behind their last copy: with one slot the cluster then takes the next number, and no earlier, so that
   slow clusters take fewer. Behind the last task nobody keeps the slot. */
TILE_FN void tile_ticket_done(const tile_ring *r, tile_ring_end *e, bool warp) {
    if (!warp || tile_lane() == 0) tile_mbar_arrive_at(tile_ring_empty(r, e->oldest), 0);
    if (++e->oldest == r->slots) e->oldest = 0;
}
TILE_FN int tile_ticket_look(const tile_ring *r, tile_ring_end *e, bool warp) {
    tile_mbar_wait(tile_ring_full(r, e->s), e->phase);
    uint32_t task = tile_shared_load4(r->slot + (uint32_t)(r->bytes * e->s));
    if (warp) task = tile_shuffle(task, 0); /* all lanes have read it */
    tile_ring_step(r, e);
    if ((int)task < 0) tile_ticket_done(r, e, warp);
    return (int)task;
}
TILE_FN int tile_ticket_next(const tile_ring *r, tile_ring_end *e, bool warp) {
    const int task = tile_ticket_look(r, e, warp);
    if (task >= 0) tile_ticket_done(r, e, warp);
    return task;
}

#endif
