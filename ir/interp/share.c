/* share.c: parts of tiles: positions of one range, as groups share them and as `part` takes them. */
#include "ir/interp/team.h"

#include <string.h>

Share share_along(const Task *t, Type type, int range, int64_t whole, int64_t first, int64_t count) {
    Share s = {.outer = 1, .whole = whole, .first = first, .count = count, .inner = 1};
    bool behind = false;
    for (int i = 0; i < type.nrange; i++) {
        if (type.range[i] == range) {
            behind = true;
            continue;
        }
        *(behind ? &s.inner : &s.outer) *= range_extent(t, type.range[i]);
    }
    return s;
}

Share share_of(const Member *m, Type type) {
    const Task *t = m->worker.task;
    int split = m->role->split;
    int64_t n = ranges_count(t, type.range, type.nrange);
    if (split < 0 || !type_has(type, split)) return (Share){.outer = 1, .whole = n, .count = n, .inner = 1};
    int64_t whole = m->whole.end - m->whole.begin;
    return share_along(t, type, split, whole < 0 ? 0 : whole, t->range[split].begin - m->whole.begin,
                       range_extent(t, split));
}

Share share_of_group(const Task *t, Type type, int range, int groups, int group) {
    if (!type_has(type, range)) return share_along(t, type, -1, 1, 0, group == 0);
    int64_t whole = range_extent(t, range), each = ceil_div(role_extent(t, range), groups), first = group * each;
    if (first > whole) first = whole;
    return share_along(t, type, range, whole, first, whole - first < each ? whole - first : each);
}

int64_t share_tile(const Share *s) { return s->outer * s->whole * s->inner; }

/* In units of `each` bytes. */
static void share_copy(const Share *s, size_t each, char *whole, char *part, bool give) {
    size_t bytes = (size_t)(s->count * s->inner) * each;
    for (int64_t i = 0; bytes && i < s->outer; i++) {
        char *at = whole + (size_t)((i * s->whole + s->first) * s->inner) * each, *own = part + (size_t)i * bytes;
        memcpy(give ? at : own, give ? own : at, bytes);
    }
}

void share_take(const World *w, Lane l, const Share *s, const Tile *whole, Tile *part) {
    tile_reserve(w, part, s->outer * s->count * s->inner);
    share_copy(s, lane_bytes(l), whole->data, part->data, false);
    if (part->bound) share_copy(s, sizeof(double), (char *)whole->bound, (char *)part->bound, false);
}

void share_give(const World *w, Lane l, const Share *s, const Tile *part, Tile *whole) {
    tile_reserve(w, whole, share_tile(s));
    share_copy(s, lane_bytes(l), whole->data, part->data, true);
    if (whole->bound) share_copy(s, sizeof(double), (char *)whole->bound, (char *)part->bound, true);
}
