/* tile_ring.h: rings of the form roles (ir/roles.h) on sm_90a: bounded queues of slots in workgroup memory,
   with one role that writes and others that read. Included behind tile_sm_90a.h.

   A ring has two barriers a slot: `full` and `empty`. Each role walks along the ring with an end of its own, which
   lives as long as the role, across its tasks. Stage numbers and parities are in the ends alone.

   | ring          | arrivals at full          | arrivals at empty                                        |
   |---------------|---------------------------|----------------------------------------------------------|
   | of boxes      | 1                         | reading groups, by workgroups of the cluster that share; |
   |               |                           | or reading warps (tile_ring_free_warp)                   |
   | of threads    | threads that write        | reading groups, or lanes                                 |

   Slots begin at multiples of 1024 bytes. */
#ifndef TILE_DEVICE_TILE_RING_H
#define TILE_DEVICE_TILE_RING_H

typedef struct {
    uint32_t slot, full; /* addresses of the first slot and its barrier; behind the `full` of all slots their `empty` */
    int slots, bytes;    /* number of slots; bytes of one */
} tile_ring;

/* One role's place in a ring. */
typedef struct {
    int s, phase; /* next slot, and the parity that its barrier is waited for with */
    int oldest;   /* reader: the first slot that it has got and not given back */
} tile_ring_end;

/* The slot that a lane fills by boxes: where it is, and the barrier that the boxes complete. */
typedef struct {
    uint32_t at, full;
} tile_slot;

/* Bytes of a ring's barriers. */
#define TILE_RING_BARRIERS(slots) (16 * (slots))

/* By one thread, before tile_mbar_init_done and a barrier of the workgroup (of the cluster, if there is one). */
TILE_FN void tile_ring_make(const tile_ring *r, int puts, int frees) {
    for (int s = 0; s < r->slots; s++) {
        tile_mbar_init(r->full + 8 * s, puts);
        tile_mbar_init(r->full + 8 * (r->slots + s), frees);
    }
}

/* The ring of a group, of rings that lie one behind the other. */
TILE_FN tile_ring tile_ring_of(const tile_ring *r, int group) {
    const uint32_t slots = (uint32_t)(r->slots * r->bytes * group), full = (uint32_t)(TILE_RING_BARRIERS(r->slots) * group);
    return {r->slot + slots, r->full + full, r->slots, r->bytes};
}
TILE_FN void tile_rings_make(const tile_ring *r, int groups, int puts, int frees) {
    for (int g = 0; g < groups; g++) {
        const tile_ring own = tile_ring_of(r, g);
        tile_ring_make(&own, puts, frees);
    }
}

TILE_FN tile_ring_end tile_ring_writer(void) { return {0, 1, 0}; }
TILE_FN tile_ring_end tile_ring_reader(void) { return {0, 0, 0}; }

TILE_FN uint32_t tile_ring_full(const tile_ring *r, int s) { return r->full + 8 * s; }
TILE_FN uint32_t tile_ring_empty(const tile_ring *r, int s) { return r->full + 8 * (r->slots + s); }

TILE_FN void tile_ring_step(const tile_ring *r, tile_ring_end *e) {
    if (++e->s == r->slots) e->s = 0, e->phase ^= 1;
}

/* ---- the writing end ---- */

/* `put` of boxes, by one lane: waits until the slot is free in all workgroups that it is filled in, and announces the
   bytes that come into the slot of this workgroup: whole boxes, also those that reach over an edge of the tensor, also
   those that others of the cluster copy here. The copies follow. */
TILE_FN tile_slot tile_ring_put(const tile_ring *r, tile_ring_end *e, int bytes) {
    const tile_slot slot = {r->slot + (uint32_t)(e->s * r->bytes), tile_ring_full(r, e->s)};
    tile_mbar_wait(tile_ring_empty(r, e->s), e->phase);
    tile_mbar_expect(slot.full, bytes);
    tile_ring_step(r, e);
    return slot;
}

/* Before any other put: slot number s, below that of the slots, whose bytes are announced likewise. Some of its copies
   follow; the others behind tile_ring_put_behind, whose `ahead` is the number of such slots that are still to come. */
TILE_FN tile_slot tile_ring_first(const tile_ring *r, int s, int bytes) {
    const tile_slot slot = {r->slot + (uint32_t)(s * r->bytes), tile_ring_full(r, s)};
    tile_mbar_expect(slot.full, bytes);
    return slot;
}
TILE_FN tile_slot tile_ring_put_behind(const tile_ring *r, tile_ring_end *e, int bytes, int ahead) {
    const tile_slot slot = {r->slot + (uint32_t)(e->s * r->bytes), tile_ring_full(r, e->s)};
    if (ahead == 0) return tile_ring_put(r, e, bytes);
    tile_ring_step(r, e);
    return slot;
}

/* `put` of threads, by each thread that writes: waits until the slot is free; its address. When the thread has written
   its part: tile_ring_filled. */
TILE_FN uint32_t tile_ring_open(const tile_ring *r, const tile_ring_end *e) {
    tile_mbar_wait(tile_ring_empty(r, e->s), e->phase);
    return r->slot + (uint32_t)(e->s * r->bytes);
}
/* The fence: a product or a box store reads what was written. */
TILE_FN void tile_ring_filled(const tile_ring *r, tile_ring_end *e) {
    tile_async_fence();
    tile_mbar_arrive(tile_ring_full(r, e->s));
    tile_ring_step(r, e);
}

/* `put` of a ring without tiles, a token, by thread 0 of a group's threads; the reader knows no more by it than by a
   free. (A named barrier in its place loses count where the writer comes twice before the reader.) */
TILE_FN void tile_ring_pass(const tile_ring *r, tile_ring_end *e, int thread) {
    if (thread == 0) {
        tile_mbar_wait(tile_ring_empty(r, e->s), e->phase);
        tile_mbar_arrive(tile_ring_full(r, e->s));
    }
    tile_ring_step(r, e);
}

/* Behind a role's last task, by who waits in its puts: all slots have been given back. No workgroup may end before
   that, as others of the cluster still copy to it or arrive at its barriers. */
TILE_FN void tile_ring_drain(const tile_ring *r, tile_ring_end *e) {
    for (int i = 0; i < r->slots; i++) {
        tile_mbar_wait(tile_ring_empty(r, e->s), e->phase);
        tile_ring_step(r, e);
    }
}

/* ---- the reading end ---- */

/* `get`, by each thread that reads: waits until the next slot is full; its address. */
TILE_FN uint32_t tile_ring_get(const tile_ring *r, tile_ring_end *e) {
    const uint32_t at = r->slot + (uint32_t)(e->s * r->bytes);
    tile_mbar_wait(tile_ring_full(r, e->s), e->phase);
    tile_ring_step(r, e);
    return at;
}

/* `free`: gives back the oldest slot that this role has got. By the threads of a group, `thread` of them, behind the
   wait for the products that read the slot; or by one lane as thread 0, behind the wait for its stores. Between get and
   free lies a product or a barrier of the group: a warp that has not come out of its get when the slot is filled once
   more waits for ever. sharers: the workgroups of the cluster that fill the slot, 1 without. */
TILE_FN void tile_ring_free(const tile_ring *r, tile_ring_end *e, int sharers, int thread) {
    const uint32_t empty = tile_ring_empty(r, e->oldest);
    if (sharers > 1 && thread < sharers) tile_mbar_arrive_at(empty, thread);
    if (sharers == 1 && thread == 0) tile_mbar_arrive(empty);
    if (++e->oldest == r->slots) e->oldest = 0;
}

/* Both, n times, for slots that the group does not read. Threads that give nothing back do not wait for each slot, but
   at the barrier `bar` of the group's 128 threads: a thread two rounds ahead of the ring would take an old phase for
   its own. */
TILE_FN void tile_ring_skip(const tile_ring *r, tile_ring_end *e, int n, int sharers, int bar, int thread) {
    for (int i = 0; i < n; i++) {
        if (thread < sharers) tile_mbar_wait(tile_ring_full(r, e->s), e->phase);
        tile_ring_step(r, e);
        tile_ring_free(r, e, sharers, thread);
    }
    tile_bar_sync(bar, 128);
}

/* `free` of a slot that the group's threads themselves have read, not products: the fence and the barrier `bar` of its
   128 threads keep the next copy behind their reads. */
TILE_FN void tile_ring_free_read(const tile_ring *r, tile_ring_end *e, int sharers, int bar, int thread) {
    tile_async_fence();
    tile_bar_sync(bar, 128);
    tile_ring_free(r, e, sharers, thread);
}

/* The same by each warp for itself, of rings that count warps. */
TILE_FN void tile_ring_free_warp(const tile_ring *r, tile_ring_end *e, int thread) {
    tile_async_fence();
    tile_wave_sync();
    if ((thread & 31) == 0) tile_mbar_arrive(tile_ring_empty(r, e->oldest));
    if (++e->oldest == r->slots) e->oldest = 0;
}

/* ---- a ring of a group's own whose reader is the group's thread 0, right behind each put (`role .. in R`) ----
   It needs no barriers in memory: stores by boxes are waited for by the thread that began them. */

/* Waits until the next slot's stores have read it; its address. but: groups of stores that the thread has committed
   since; bar: a barrier of the group's 128 threads. */
TILE_FN uint32_t tile_own_open(const tile_ring *r, const tile_ring_end *e, int but, int bar, int thread) {
    if (thread == 0) tile_tma_wait_reads(but);
    tile_bar_sync(bar, 128);
    return r->slot + (uint32_t)(e->s * r->bytes);
}
/* The group has written the slot: behind this thread 0 begins its stores, and commits them as one group. */
TILE_FN void tile_own_filled(const tile_ring *r, tile_ring_end *e, int bar) {
    tile_async_fence();
    tile_bar_sync(bar, 128);
    tile_ring_step(r, e);
}
/* The slot that was written before the last one, of two or more. It is as it was until the next tile_own_open. */
TILE_FN uint32_t tile_own_before(const tile_ring *r, const tile_ring_end *e) {
    return r->slot + (uint32_t)((e->s + r->slots - 2) % r->slots * r->bytes);
}

#endif
