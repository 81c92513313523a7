/* lds.c: memory of a workgroup: what an access may touch, and whether it is ordered after what others did there
   (order.c). */
#include "cluster.h"

#include <stdlib.h>
#include <string.h>

enum { POISON = 0xff, MANY = 1 << 18 /* histories */ };

/* Room grows with what launches want. */
bool lds_open(Lds *l, size_t bytes) {
    if (!l->all && !(l->all = calloc(1, sizeof *l->all))) return false;
    if (!l->all->first) l->all->first = HISTORY_FIRST;
    if (bytes > l->room || !l->base) {
        free(l->base);
        free(l->history);
        l->room = bytes;
        l->base = aligned_alloc(256, (bytes + 256) / 256 * 256);
        l->history = calloc(bytes + 1, sizeof *l->history);
    }
    if (!l->base || !l->history) return l->room = 0, false;
    l->bytes = bytes;
    lds_forget(l);
    if (bytes) memset(l->base, POISON, bytes);
    return true;
}

void lds_forget(Lds *l) { history_forget(l->all); }

static const char *who(const Touch *t) {
    static _Thread_local char text[48];
    const Actor *a = &emu->cluster->actor[t->actor];
    if (a->kind != ACTOR_WAVE) return order_name(a->kind);
    if (t->lane == LANE_SEVERAL) return "which several threads";
    snprintf(text, sizeof text, "which thread %d", a->wave * group_lanes() + t->lane);
    return text;
}

static void lds_report(const Touch *by, const Touch *other, size_t at) {
    static const char *const now[] = {[TOUCH_LDS_READ] = "reads",
                                      [TOUCH_LDS_STORE] = "writes",
                                      [TOUCH_ASYNC_READ] = "begins what reads",
                                      [TOUCH_ASYNC_STORE] = "begins what writes"};
    bool stored = other->kind == TOUCH_LDS_STORE || other->kind == TOUCH_ASYNC_STORE;
    emu_fail("%s byte %zu of LDS, %s %s before, with nothing between", now[by->kind], at, who(other),
             stored ? "wrote" : "read");
}

/* The first bytes of n, all of one history; their number. Storing what is there already harms nobody. */
static size_t touch_alike(Lds *l, size_t at, size_t n, const Touch *by, const char *value) {
    Touch other;
    History *h = &l->history[at], from = *h, to = history_next(l->all, from, by, &other);
    size_t i = 0;
    for (; i < n && h[i] == from; i++) {
        h[i] = to;
        if (other.kind != UINT8_MAX && !(value && value[i] == l->base[at + i])) lds_report(by, &other, at + i);
    }
    return i;
}

void lds_touch(Lds *l, size_t at, size_t bytes, const Touch *by, const char *value) {
    if (l->all->n > MANY) lds_forget(l);
    for (size_t i = 0; i < bytes;) i += touch_alike(l, at + i, bytes - i, by, value ? value + i : NULL);
}

void lds_check(const char *p, size_t bytes, bool store, const char *value) {
    Lds *l = &emu->lds;
    Touch by = order_touch(store ? TOUCH_LDS_STORE : TOUCH_LDS_READ);
    check_place(p, bytes, l->base, l->bytes, "LDS", store);
    lds_touch(l, (size_t)(p - l->base), bytes, &by, value);
}
