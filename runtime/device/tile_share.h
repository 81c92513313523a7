/* tile_share.h: sums that the workgroups of a cluster add up, on sm_90a: each workgroup has sums of a whole tile
   (tile_piece.h) and gets those of its share of the columns. Part r of a slot has what workgroup r sends: 16 bytes of
   each of the group's 128 threads, then the next 16.

   A ring of one slot for each group (tile_ring.h). `empty`: warps of all groups of the cluster have read what lay in
   the slots' bytes before. Slots with bytes of their own wait for warps of the same group alone. `full`: the group's
   warps have written their part, and all bytes that the other workgroups send have come. */
#ifndef TILE_DEVICE_TILE_SHARE_H
#define TILE_DEVICE_TILE_SHARE_H

/* By each warp, behind the wait for its products. all: the rings of all groups; of: workgroups of the cluster. */
TILE_FN void tile_share_meet(const tile_ring *all, const tile_ring *own, const tile_ring_end *e, int groups, int of,
                             int thread) {
    tile_wave_sync();
    for (int i = thread & 31; i < groups * of; i += 32)
        tile_mbar_arrive_at(all->full + TILE_RING_BARRIERS(1) * (i / of) + 8, i % of);
    tile_mbar_wait_after(tile_ring_empty(own, e->s), e->phase);
}

/* The same of slots with bytes of their own, which all workgroups have read (tile_share_free). */
TILE_FN void tile_share_open(const tile_ring *own, const tile_ring_end *e) {
    tile_mbar_wait_after(tile_ring_empty(own, e->s), e->phase ^ 1);
}

/* By each warp, when it has sent its part of all tiles. bytes: that come from the other workgroups. */
TILE_FN void tile_share_sent(const tile_ring *own, const tile_ring_end *e, int bytes, int thread) {
    tile_wave_sync();
    if (thread == 0) tile_mbar_expect(tile_ring_full(own, e->s), bytes);
    if (thread > 0 && (thread & 31) == 0) tile_mbar_arrive(tile_ring_full(own, e->s));
}

TILE_FN uint32_t tile_share_get(const tile_ring *own, const tile_ring_end *e) {
    tile_mbar_wait_after(tile_ring_full(own, e->s), e->phase);
    return own->slot;
}

/* By each warp, when it has read its slot, which has bytes of its own. more: tasks follow; else nobody waits, and
   workgroups may have ended. */
TILE_FN void tile_share_free(const tile_ring *own, tile_ring_end *e, int of, bool more, int thread) {
    tile_wave_sync();
    if (more && (thread & 31) < of) tile_mbar_arrive_at(tile_ring_empty(own, e->s), thread & 31);
    tile_ring_step(own, e);
}

/* tile_share_send_TYPE: n sums a thread for each of `of` workgroups, a multiple of 4, from x on, to the place `to` of
   their slots; no fence waits for stores of the thread, as st.async counts at the barrier itself. tile_share_add_TYPE:
   the sum of the parts, in the order of the workgroups. */
#define TILE_SHARE(name, type, bits_of, of_bits)                                                                       \
    TILE_FN void tile_share_send_##name(const tile_ring *own, uint32_t to, const type *x, int n, int rank, int of,     \
                                        int thread) {                                                                  \
        const uint32_t at = to + (uint32_t)(rank * n * 512 + thread * 16);                                             \
        _Pragma("unroll") for (int i = 0; i < n; i += 4) _Pragma("unroll") for (int u = 0; u < of; u++) {              \
            const type *y = x + u * n + i;                                                                             \
            const uint32_t z[4] = {bits_of(y[0]), bits_of(y[1]), bits_of(y[2]), bits_of(y[3])};                        \
            if (u == rank)                                                                                             \
                tile_shared_store16(at + 512 * i, z);                                                                  \
            else                                                                                                       \
                tile_cluster_send16(at + 512 * i, own->full, u, z);                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    TILE_FN void tile_share_add_##name(type *x, uint32_t from, int n, int of, int thread) {                            \
        _Pragma("unroll") for (int i = 0; i < n; i += 4) _Pragma("unroll") for (int u = 0; u < of; u++) {              \
            uint32_t y[4];                                                                                             \
            tile_shared_load16(from + (uint32_t)(512 * (u * n + i) + thread * 16), y);                                 \
            _Pragma("unroll") for (int k = 0; k < 4; k++) x[i + k] = u ? x[i + k] + of_bits(y[k]) : of_bits(y[k]);     \
        }                                                                                                              \
    }
#define TILE_SHARE_BITS(x) ((uint32_t)(x))
#define TILE_SHARE_WHOLE(x) ((int32_t)(x))
TILE_SHARE(f32, float, tile_bits_of_f32, tile_f32_of_bits)
TILE_SHARE(i32, int32_t, TILE_SHARE_BITS, TILE_SHARE_WHOLE)

#endif
