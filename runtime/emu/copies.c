/* copies.c: copies that threads begin and others or they themselves wait for: boxes of tensors to LDS, which end phases
   of barriers there, and back; up to 16 bytes by a thread. What is copied to is poisoned at once; what is copied is
   read when the copy arrives: at any time, at the latest when nothing else goes on, or when its thread waits for it.
   PTX ISA, "cp.async.bulk.tensor", "cp.async"; CUDA driver API, cuTensorMapEncodeTiled. */
#include "cluster.h"

#include "api.h"

#include <stdlib.h>
#include <string.h>

enum {
    POISON = 0xff, /* bytes of what is not there yet: NaN in each type */
    ALIGNED = 128 /* bytes: a box begins at a multiple */,
    CHUNK = 16 /* bytes that swizzles move */,
    IMAGE = 4,     /* dimensions of images: channels, width, height, images */
    PIXEL_DIMS = 2 /* of them that pixels are counted along: width, height */
};

/* What a tensor map holds here. */
typedef struct EmuMap {
    char *base;
    uint64_t dim[TMA_DIMS];
    int64_t stride[TMA_DIMS]; /* fastest first, bytes from one to the next; [0]: of an element */
    uint32_t box[TMA_DIMS];
    uint32_t count[PIXEL_DIMS]; /* of pixels in the box that they are counted in; 0: a box of the tensor */
    int16_t lower[PIXEL_DIMS];  /* where that begins */
    uint8_t step[PIXEL_DIMS];
    uint8_t rank, swizzle; /* bits of a chunk's number that change */
} EmuMap;
_Static_assert(sizeof(EmuMap) <= 128, "a map is of the driver's size");

/* Rows of a box are as long as the swizzle says, or without one of whole chunks. */
static bool row_fits(uint64_t bytes, int swizzle) {
    return swizzle ? bytes == (uint64_t)CHUNK << swizzle : bytes % CHUNK == 0;
}

int tile_emu_map_encode(void *map, int type, unsigned rank, void *base, const uint64_t *dim, const uint64_t *stride,
                        const unsigned *box, const unsigned *step, int interleave, int swizzle, int promotion,
                        int fill) {
    /* CUDA driver API, cuTensorMapEncodeTiled. MOST: positions of a box along a dimension. */
    enum { INVALID = 1, TYPES = 3, SWIZZLES = 4, MOST = 256 };
    EmuMap m = {.base = base, .stride = {1 << type}, .rank = (uint8_t)rank, .swizzle = (uint8_t)swizzle};
    (void)promotion;
    if (type < 0 || type >= TYPES || rank < 1 || rank > TMA_DIMS || interleave || fill) return INVALID;
    if (swizzle < 0 || swizzle >= SWIZZLES || (uintptr_t)base % CHUNK || !row_fits((uint64_t)box[0] << type, swizzle))
        return INVALID;
    for (unsigned i = 0; i < rank; i++) {
        m.dim[i] = dim[i];
        m.box[i] = box[i];
        if (i) m.stride[i] = (int64_t)stride[i - 1];
        if (!dim[i] || dim[i] > 1ull << 32 || !box[i] || box[i] > MOST || step[i] != 1) return INVALID;
        if (i && (stride[i - 1] % CHUNK || stride[i - 1] >> 40)) return INVALID;
    }
    memset(map, 0, 128);
    memcpy(map, &m, sizeof m);
    return 0;
}

int tile_emu_map_encode_pixels(void *map, int type, unsigned rank, void *base, const uint64_t *dim,
                               const uint64_t *stride, const int *lower, const int *upper, unsigned channels,
                               unsigned pixels, const unsigned *step, int interleave, int swizzle, int promotion,
                               int fill) {
    /* CUDA driver API, cuTensorMapEncodeIm2col, of 4 dimensions. */
    enum { INVALID = 1, MOST = 256, MOST_PIXELS = 1024, MOST_STEP = 8, LEAST_CORNER = -128, MOST_CORNER = 127 };
    const unsigned box[TMA_DIMS] = {channels, 1, 1, 1}, one[TMA_DIMS] = {1, 1, 1, 1};
    EmuMap m;
    if (rank != IMAGE || channels > MOST || !pixels || pixels > MOST_PIXELS || step[0] != 1 || step[IMAGE - 1] != 1)
        return INVALID;
    if (tile_emu_map_encode(map, type, rank, base, dim, stride, box, one, interleave, swizzle, promotion, fill))
        return INVALID;
    memcpy(&m, map, sizeof m);
    m.box[1] = pixels;
    for (int i = 0; i < PIXEL_DIMS; i++) {
        const int64_t size = (int64_t)dim[1 + i] - 1 + upper[i] - lower[i];
        if (lower[i] < LEAST_CORNER || lower[i] > MOST_CORNER || upper[i] < LEAST_CORNER || upper[i] > MOST_CORNER)
            return INVALID;
        if (size < 0 || !step[1 + i] || step[1 + i] > MOST_STEP) return INVALID;
        m.lower[i] = (int16_t)lower[i], m.step[i] = (uint8_t)step[1 + i];
        m.count[i] = (uint32_t)(size / step[1 + i]) + 1;
    }
    memcpy(map, &m, sizeof m);
    return 0;
}

/* ---- boxes ---- */

static uint32_t box_rows(const EmuMap *m) {
    uint32_t rows = 1;
    for (int i = 1; i < m->rank; i++) rows *= m->box[i];
    return rows;
}

static uint32_t row_bytes(const EmuMap *m) { return m->box[0] * (uint32_t)m->stride[0]; }

static uint32_t box_bytes(const EmuMap *m) { return box_rows(m) * row_bytes(m); }

/* The bytes of row r of the box that are in the tensor: where they are, how many, and how far into the row. */
typedef struct {
    char *at;
    size_t bytes, in;
} BoxRow;

/* Where row r of the box is along a dimension; *r: what is left of it for the next ones. */
static int64_t row_place(const Copy *c, int i, int64_t *r) {
    const EmuMap *m = c->map;
    const int d = i - 1;
    const int64_t n = *r;
    if (!m->count[0]) {
        *r /= m->box[i];
        return c->at[i] + n % m->box[i];
    }
    if (d == PIXEL_DIMS) return c->at[i] + n;
    const int64_t number = (c->at[i] - m->lower[d]) / m->step[d] + n;
    *r = number / m->count[d];
    return m->lower[d] + number % m->count[d] * m->step[d] + c->away[i];
}

static BoxRow box_row(const Copy *c, uint32_t r) {
    const EmuMap *m = c->map;
    char *row = m->base;
    int64_t left = r;
    for (int i = 1; i < m->rank; i++) {
        const int64_t at = row_place(c, i, &left);
        if (at < 0 || at >= (int64_t)m->dim[i]) return (BoxRow){0};
        row += at * m->stride[i];
    }
    int64_t from = c->at[0], to = from + m->box[0], each = m->stride[0];
    int64_t first = from > 0 ? from : 0, last = to < (int64_t)m->dim[0] ? to : (int64_t)m->dim[0];
    if (first >= last) return (BoxRow){0};
    return (BoxRow){row + first * each, (size_t)((last - first) * each), (size_t)((first - from) * each)};
}

/* Where byte `in` of row r of a box is: chunks change places within a row by the address above 128 bytes. */
static size_t swizzled(const Group *g, const Copy *c, uint32_t r, size_t in) {
    uint32_t at = c->lds + r * row_bytes(c->map) + (uint32_t)in, change = (1u << c->map->swizzle) - 1;
    return shared_at(g, at ^ (at >> 7 & change) << 4, 1, false);
}

static void box_touch(const Copy *c, TouchKind kind) {
    for (uint32_t r = 0; r < box_rows(c->map); r++) {
        BoxRow row = box_row(c, r);
        if (row.bytes) global_touch(row.at, row.bytes, kind, NULL);
    }
}

enum { LINE = 1024 /* bytes of the longest row of a box */ };

static void load_arrives(const Copy *c) {
    Group *g = c->bar->group;
    for (uint32_t r = 0; r < box_rows(c->map); r++) {
        char line[LINE] = {0};
        BoxRow row = box_row(c, r);
        if (row.bytes) memcpy(line + row.in, row.at, row.bytes);
        for (size_t i = 0; i < row_bytes(c->map); i += CHUNK)
            memcpy(g->lds.base + swizzled(g, c, r, i), line + i, CHUNK);
    }
    mbar_come(c->bar, 0, box_bytes(c->map));
}

static void store_arrives(const Copy *c) {
    const Group *g = c->from;
    for (uint32_t r = 0; r < box_rows(c->map); r++) {
        char line[LINE];
        BoxRow row = box_row(c, r);
        for (size_t i = 0; i < row_bytes(c->map); i += CHUNK)
            memcpy(line + i, g->lds.base + swizzled(g, c, r, i), CHUNK);
        if (row.bytes) memcpy(row.at, line + row.in, row.bytes);
    }
}

static void copy_free(Copy *c) {
    free(c->map);
    free(c->bytes);
    free(c);
}

static void bytes_arrive(const Copy *);

static void copy_arrive(Copy **link) {
    Copy *c = *link;
    *link = c->next;
    if (!c->map)
        bytes_arrive(c);
    else if (c->store)
        store_arrives(c);
    else
        load_arrives(c);
    copy_free(c);
}

bool copies_arrive(Cluster *c) {
    uint64_t n = 0;
    Copy **link = &c->copies;
    for (const Copy *i = c->copies; i; i = i->next) n++;
    if (!n) return false;
    for (n = engine_random() % n; n; n--) link = &(*link)->next;
    copy_arrive(link);
    return true;
}

void copies_drift(Cluster *c) {
    while (c->copies && engine_random() % 4 == 0) copies_arrive(c);
}

static bool is_of(const Copy *c, const Group *g) { return c->store ? c->from == g : c->bar->group == g; }

bool copies_are_left(const Cluster *c, const Group *g) {
    for (const Copy *i = c->copies; i; i = i->next)
        if (is_of(i, g)) return true;
    return false;
}

void copies_drop(Group *g) {
    for (Copy **link = &g->cluster->copies; *link;) {
        Copy *c = *link;
        if (!is_of(c, g)) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        copy_free(c);
    }
}

/* ---- what begins them ---- */

static void lds_take(Group *g, uint32_t lds, size_t bytes, const Touch *by) {
    size_t at = shared_at(g, lds, bytes, by->kind != TOUCH_ASYNC_READ);
    lds_touch(&g->lds, at, bytes, by, NULL);
    if (by->kind != TOUCH_ASYNC_READ) memset(g->lds.base + at, POISON, bytes);
}

static void copy_begin(const Copy *given) {
    Copy *c = malloc(sizeof *c);
    EmuMap *map = malloc(sizeof *map);
    if (!c || !map) emu_fail("finds no memory in the emulator");
    *c = *given;
    *map = *given->map;
    c->map = map;
    c->next = emu->cluster->copies;
    emu->cluster->copies = c;
}

static void box_check(const EmuMap *m, int n, uint32_t lds, bool pixels) {
    if (pixels != (m->count[0] > 0))
        emu_fail("copies a box %s by a map %s", pixels ? "of pixels" : "of a tensor", pixels ? "of none" : "of pixels");
    if (m->rank != n) emu_fail("copies by %d coordinates of %d", n, m->rank);
    if (lds % ALIGNED) emu_fail("copies to or from address %u of LDS: no multiple of %d", lds, ALIGNED);
}

static void load_begin(Copy c, Group *to, uint32_t bar, TouchKind uses) {
    c.bar = mbar_at(to, bar, uses);
    Touch by = order_touch_by(c.bar->actor, c.bar->phases + 1, TOUCH_ASYNC_STORE);
    lds_take(to, c.lds, box_bytes(c.map), &by);
    copy_begin(&c);
}

static void load_all(const Copy *given, uint32_t bar, int mask) {
    Copy c = *given;
    if (talk_now()->unfenced) emu_fail("copies a box behind an acquire, with no fence between (tile_async_fence_all)");
    box_touch(&c, TOUCH_READ);
    if (!mask) load_begin(c, emu, bar, TOUCH_ASYNC_READ);
    for (int r = 0; mask >> r; r++)
        if (mask >> r & 1) load_begin(c, cluster_group(r), bar, TOUCH_ASYNC_READ);
}

void tile_emu_tma_load(uint32_t to, const void *map, const int *at, int n, uint32_t bar, int mask) {
    EmuMap m;
    memcpy(&m, map, sizeof m);
    Copy c = {.map = &m, .lds = to};
    box_check(&m, n, to, false);
    memcpy(c.at, at, sizeof *at * (size_t)n);
    load_all(&c, bar, mask);
}

/* From one of the pixels that the map counts on. */
static void pixels_check(const EmuMap *m, const int *at, const int *away) {
    enum { MOST_AWAY = 255 /* PTX ISA, im2col offsets of 4 dimensions */ };
    for (int d = 0; d < PIXEL_DIMS; d++) {
        const int64_t from = (int64_t)at[1 + d] - m->lower[d];
        if (from < 0 || from % m->step[d] || from / m->step[d] >= m->count[d])
            emu_fail("copies pixels from %d on, which is none that the map counts", at[1 + d]);
        if (away[d] < 0 || away[d] > MOST_AWAY) emu_fail("copies pixels %d away: no more than %d", away[d], MOST_AWAY);
    }
}

void tile_emu_tma_load_pixels(uint32_t to, const void *map, const int *at, const int *away, uint32_t bar, int mask) {
    EmuMap m;
    memcpy(&m, map, sizeof m);
    Copy c = {.map = &m, .lds = to};
    box_check(&m, IMAGE, to, true);
    pixels_check(&m, at, away);
    memcpy(c.at, at, sizeof *at * IMAGE);
    memcpy(c.away + 1, away, sizeof *away * PIXEL_DIMS);
    load_all(&c, bar, mask);
}

void tile_emu_tma_store(const void *map, const int *at, int n, uint32_t from) {
    EmuMap m;
    WaveView *w = order_wave();
    memcpy(&m, map, sizeof m);
    Copy c = {.map = &m, .lds = from, .store = true, .from = emu, .thread = emu->thread};
    box_check(&m, n, from, false);
    memcpy(c.at, at, sizeof *at * (size_t)n);
    if (!w->stores) w->stores = order_actor(ACTOR_STORES);
    c.number = ++lane_now()->stores;
    lane_now()->unwritten = true;
    Touch by = order_touch_by(w->stores, w->time, TOUCH_ASYNC_READ);
    lds_take(emu, from, box_bytes(&m), &by);
    box_touch(&c, TOUCH_STORE);
    copy_begin(&c);
}

void tile_emu_tma_commit(void) {
    Lane *l = lane_now();
    for (int i = EMU_STORE_GROUPS - 1; i > 0; i--) l->group[i] = l->group[i - 1];
    l->group[0].stores = l->stores;
    l->group[0].time = order_wave()->time++;
}

/* This thread's stores of all groups, or of all but the last ones. */
void tile_emu_tma_wait(int but) {
    Lane *l = lane_now();
    WaveView *w = order_wave();
    if (but >= EMU_STORE_GROUPS) emu_fail("waits for all but %d groups of stores: no more than %d", but, EMU_STORE_GROUPS - 1);
    const int over = l->group[but].stores;
    for (Copy **link = &emu->cluster->copies; *link;)
        if ((*link)->store && (*link)->from == emu && (*link)->thread == emu->thread && (*link)->number <= over)
            copy_arrive(link);
        else
            link = &(*link)->next;
    if (!w->stores) return;
    order_learn(emu->wave, w->stores, l->group[but].time);
    if (over != l->stores) return;
    l->stores = 0;
    for (int i = 0; i < EMU_STORE_GROUPS; i++) l->group[i].stores = 0;
}

void tile_emu_tma_wait_written(void) {
    tile_emu_tma_wait(0);
    lane_now()->unwritten = false;
}

void tile_emu_async_fence(void) { order_fence(); }

void tile_emu_async_fence_all(void) {
    order_fence();
    talk_now()->unfenced = false;
}

/* ---- up to 16 bytes by a thread ---- */

typedef struct ThreadCopy {
    const char *from;
    uint32_t to;
    int size, bytes, group;
} ThreadCopy;

/* Of a thread, in order. */
typedef struct LaneCopies {
    ThreadCopy *copy;
    int n, room, groups; /* groups: committed */
} LaneCopies;

static LaneCopies *lane_copies(void) {
    Lane *l = lane_now();
    LaneCopies *c = l->copies;
    if (!c) c = l->copies = calloc(1, sizeof *c);
    if (c && c->n == c->room) {
        c->room = c->room * 2 + 64;
        c->copy = realloc(c->copy, (size_t)c->room * sizeof *c->copy);
    }
    if (!c || !c->copy) emu_fail("finds no memory in the emulator");
    return c;
}

void lane_copies_drop(Lane *l) {
    if (!l->copies) return;
    free(l->copies->copy);
    free(l->copies);
    l->copies = NULL;
}

/* Nobody knows the bytes until who goes on with the copy says so. */
static void bytes_take(const ThreadCopy *c, int actor, uint32_t time) {
    size_t at = shared_at(emu, c->to, (size_t)c->size, true);
    Touch goes = order_touch_by(actor, time, TOUCH_LDS_STORE);
    lds_touch(&emu->lds, at, (size_t)c->size, &goes, emu->lds.base + at);
}

void tile_emu_copy(uint32_t to, const void *from, int size, int bytes) {
    LaneCopies *c = lane_copies();
    WaveView *w = order_wave();
    const ThreadCopy fresh = {from, to, size, bytes, c->groups};
    if (!w->copies) w->copies = order_actor(ACTOR_COPIES);
    Touch by = order_touch(TOUCH_LDS_STORE);
    if (size != 16 && size != 8 && size != 4) emu_fail("copies %d bytes at once: not 16, 8 or 4", size);
    if (bytes < 0 || bytes > size) emu_fail("copies %d of %d bytes", bytes, size);
    if (to % (unsigned)size || (uintptr_t)from % (unsigned)size)
        emu_fail("copies %d bytes to or from an address that is no multiple of them", size);
    if (bytes) global_touch(from, (size_t)bytes, TOUCH_READ, NULL);
    size_t at = shared_at(emu, to, (size_t)size, true);
    lds_touch(&emu->lds, at, (size_t)size, &by, NULL);
    bytes_take(&fresh, w->copies, 1);
    memset(emu->lds.base + at, POISON, (size_t)size);
    c->copy[c->n++] = fresh;
}

static void bytes_store(const Group *g, const ThreadCopy *c) {
    char *to = g->lds.base + shared_at(g, c->to, (size_t)c->size, true);
    memset(to, 0, (size_t)c->size);
    memcpy(to, c->from, (size_t)c->bytes);
}

/* They come, and then the arrival. Threads know of them behind the barrier's phase, copies and products behind a fence.
 */
void tile_emu_copy_arrive(uint32_t bar) {
    LaneCopies *l = lane_copies();
    Copy *c = calloc(1, sizeof *c);
    if (!c) emu_fail("finds no memory in the emulator");
    c->bar = mbar_at(emu, bar, TOUCH_LDS_READ);
    if (!c->bar->copies) c->bar->copies = order_actor(ACTOR_ROWS);
    for (int i = 0; i < l->n; i++) bytes_take(&l->copy[i], c->bar->copies, c->bar->phases + 1);
    c->bytes = l->copy, c->nbytes = l->n;
    *l = (LaneCopies){.groups = l->groups};
    c->next = emu->cluster->copies;
    emu->cluster->copies = c;
}

static void bytes_arrive(const Copy *c) {
    for (int i = 0; i < c->nbytes; i++) bytes_store(c->bar->group, &c->bytes[i]);
    mbar_arrive(c->bar);
}

void tile_emu_copy_commit(void) { lane_copies()->groups++; }

/* It is as if the thread stored them now. */
static void thread_copy_arrive(const ThreadCopy *c) {
    size_t at = shared_at(emu, c->to, (size_t)c->size, true);
    Touch by = order_touch(TOUCH_LDS_STORE);
    bytes_store(emu, c);
    lds_touch(&emu->lds, at, (size_t)c->size, &by, emu->lds.base + at);
}

void tile_emu_copy_wait(int but) {
    LaneCopies *c = lane_copies();
    int left = 0;
    for (int i = 0; i < c->n; i++)
        if (c->copy[i].group < c->groups - but)
            thread_copy_arrive(&c->copy[i]);
        else
            c->copy[left++] = c->copy[i];
    c->n = left;
}
