/* gpu_map.c: descriptions of the tensors that a program's kernels copy by boxes, for CUDA's cuTensorMapEncodeTiled and
   cuTensorMapEncodeIm2col. A map is made anew where its tensor's address or extents are others than in the run before.
   CUDA driver API, "Tensor Map Object Management", has the limits. */
#include "gpu.h"

enum { STEP = 16 /* bytes: addresses, and where rows begin, are multiples */ };

int gpu_maps_count(const tile_image *image) {
    int n = 0;
    for (int i = 0; i < image->nlaunches; i++) n += image->launch[i].nmaps;
    return n;
}

static int map_type(int bytes) { return bytes == 1 ? GPU_MAP_UINT8 : bytes == 2 ? GPU_MAP_UINT16 : GPU_MAP_UINT32; }

static int map_swizzle(int bytes) {
    return bytes == 128  ? GPU_MAP_SWIZZLE_128B
           : bytes == 64 ? GPU_MAP_SWIZZLE_64B
           : bytes == 32 ? GPU_MAP_SWIZZLE_32B
                         : GPU_MAP_SWIZZLE_NONE;
}

static char *map_workspace(const tile_instance *p, const tile_map *m) {
    const GpuInstance *x = p->gpu;
    if (!m->symmetric) return x->local;
    return x->shared.base[m->symmetric < 0 ? p->mesh->rank : m->symmetric - 1];
}

/* Where the tensor is, and its extents. */
static GpuMapped map_place(const tile_instance *p, const tile_map *m, void *const *arg, const int64_t *dim) {
    GpuMapped to = {.made = true};
    int64_t elements = 1;
    for (int d = 0; d < m->ndim; d++) elements *= to.dim[d] = tile_extent(p, m->dim[d], m->sym[d], m->split[d], dim);
    char *memory = m->arg < 0 ? map_workspace(p, m) + m->first : arg[m->arg];
    to.base = memory + m->before * elements * m->bytes;
    return to;
}

static bool is_empty(const tile_map *m, const GpuMapped *at) {
    for (int d = 0; d < m->ndim; d++)
        if (at->dim[d] <= 0) return true;
    return false;
}

/* Bytes from an element to the next along each dimension; false: a map cannot say that. */
static bool map_strides(const tile_map *m, const GpuMapped *at, uint64_t stride[TILE_MAP_DIMS]) {
    uint64_t bytes = (uint64_t)m->bytes;
    bool fits = (uintptr_t)at->base % STEP == 0;
    for (int d = m->ndim - 1; d >= 0; d--) {
        stride[d] = bytes;
        fits = fits && at->dim[d] <= INT32_MAX && /* coordinates have 32 bits */
               (d == m->ndim - 1 || (bytes % STEP == 0 && bytes < (uint64_t)1 << 40));
        if (fits) bytes *= (uint64_t)at->dim[d];
    }
    return fits;
}

static unsigned map_box(const tile_map *m, const GpuMapped *at, int d) {
    const int most = m->few > 1 ? m->few : m->few ? m->box[d] : 0;
    return d == m->ndim - 2 && at->dim[d] <= most ? (unsigned)at->dim[d] : (unsigned)m->box[d];
}

/* The driver counts from the fastest dimension. */
static int map_encode(const Gpu *gpu, const tile_map *m, const GpuMapped *at, const uint64_t *strides, GpuMap *to) {
    uint64_t dim[TILE_MAP_DIMS], stride[TILE_MAP_DIMS];
    unsigned box[TILE_MAP_DIMS], step[TILE_MAP_DIMS];
    for (int d = 0; d < m->ndim; d++) {
        int from = m->ndim - 1 - d;
        dim[d] = (uint64_t)at->dim[from], box[d] = map_box(m, at, from), step[d] = 1;
        if (d) stride[d - 1] = strides[from];
    }
    return gpu->api.map_encode(to, map_type(m->bytes), (unsigned)m->ndim, (void *)at->base, dim, stride, box, step, 0,
                               map_swizzle(m->swizzle), GPU_MAP_PROMOTE_128B, 0);
}

static uint64_t map_bytes(const tile_map *m, const GpuMapped *at) {
    uint64_t bytes = (uint64_t)m->bytes;
    for (int d = 0; d < m->ndim; d++) bytes *= (uint64_t)at->dim[d];
    return bytes;
}

/* Drivers up to 13.1 set a bit of such maps of small tensors that does not belong there (CUTLASS,
   copy_traits_sm90_im2col.hpp). */
static void map_mend(const Gpu *gpu, uint64_t bytes, GpuMap *to) {
    enum {
        LAST = 13010,   /* version of the driver that does so */
        SMALL = 131072, /* bytes of a tensor, or more: the bit is right */
        WORD = 1,       /* of the map, of 64 bits */
        BIT = 21        /* of the word: that source has all four numbers */
    };
    int version = 0;
    uint64_t word;
    if (bytes >= SMALL || gpu->api.driver_version(&version) || version > LAST) return;
    memcpy(&word, to->bytes + WORD * sizeof word, sizeof word);
    word &= ~((uint64_t)1 << BIT);
    memcpy(to->bytes + WORD * sizeof word, &word, sizeof word);
}

/* Pixels are counted in a box whose corners count from those of the image. */
static int map_encode_pixels(const Gpu *gpu, const tile_map *m, const GpuMapped *at, const uint64_t *strides,
                             GpuMap *to) {
    enum { IMAGE = 4 /* dimensions */, CHANNELS = IMAGE - 1 };
    uint64_t dim[IMAGE], stride[IMAGE];
    int lower[IMAGE] = {0}, upper[IMAGE] = {0};
    unsigned step[IMAGE];
    for (int d = 0; d < IMAGE; d++) {
        int from = IMAGE - 1 - d;
        dim[d] = (uint64_t)at->dim[from], step[d] = 1;
        if (d) stride[d - 1] = strides[from];
        if (from == 0 || from == CHANNELS) continue;
        step[d] = (unsigned)m->step[from];
        lower[d - 1] = m->begin[from];
        upper[d - 1] = m->begin[from] + m->step[from] * (m->count[from] - 1) - (int)(at->dim[from] - 1);
    }
    int error = gpu->api.map_encode_pixels(to, map_type(m->bytes), IMAGE, (void *)at->base, dim, stride, lower, upper,
                                           (unsigned)m->box[CHANNELS], (unsigned)m->pixels, step, 0,
                                           map_swizzle(m->swizzle), GPU_MAP_PROMOTE_128B, 0);
    if (!error) map_mend(gpu, map_bytes(m, at), to);
    return error;
}

/* In place of a tensor without elements: one of a single element, with boxes as large as that tensor's. What is copied
   from there is zero, what is stored there nobody reads. */
static int map_encode_none(const tile_instance *p, const tile_map *m, const GpuMapped *at, GpuMap *to) {
    GpuMapped none = {.base = p->gpu->none + (m->stores ? GPU_NONE_BYTES : 0)};
    uint64_t stride[TILE_MAP_DIMS];
    tile_map like = *m;
    for (int d = 0; d < m->ndim; d++) {
        none.dim[d] = 1, stride[d] = STEP;
        if (at->dim[d] > 0) like.box[d] = (int)map_box(m, at, d);
    }
    like.few = 0;
    return map_encode(p->mesh->gpu, &like, &none, stride, to);
}

/* Pixels of images that are not there are zero, which no map says. */
static int map_fill(const tile_instance *p, const tile_map *m, GpuMapped *at, GpuMap *to) {
    const Gpu *gpu = p->mesh->gpu;
    uint64_t stride[TILE_MAP_DIMS];
    memset(to, 0, sizeof *to);
    if (is_empty(m, at)) {
        at->refused = m->pixels != 0;
        const int code = at->refused ? 0 : map_encode_none(p, m, at, to);
        at->made = !code;
        return code ? gpu_fail(gpu, code, "describing a tensor without elements") : TILE_OK;
    }
    at->refused = !map_strides(m, at, stride);
    int error = at->refused ? 0 : (m->pixels ? map_encode_pixels : map_encode)(gpu, m, at, stride, to);
    at->made = !error;
    return error ? gpu_fail(gpu, error, m->arg < 0 ? "describing the workspace" : p->program->arg[m->arg].name)
                 : TILE_OK;
}

static bool same_place(const GpuMapped *a, const GpuMapped *b) {
    return a->made && a->base == b->base && memcmp(a->dim, b->dim, sizeof a->dim) == 0;
}

/* Those of a launch; *refused: the first that cannot be made. */
static int launch_fill(const tile_instance *p, const tile_launch *l, void *const *arg, const int64_t *dim, int first,
                       const tile_map **refused) {
    int code = TILE_OK;
    *refused = NULL;
    for (int i = l->nmaps - 1; i >= 0 && !code; i--) {
        GpuMapped *known = &p->gpu->mapped[first + i], at = map_place(p, &l->map[i], arg, dim);
        if (!same_place(known, &at)) {
            code = map_fill(p, &l->map[i], &at, &p->gpu->map[first + i]);
            *known = at;
        }
        if (known->refused) *refused = &l->map[i];
    }
    return code;
}

int gpu_maps_fill(const tile_instance *p, void *const *arg, const int64_t *dim) {
    const tile_image *image = p->gpu->image;
    int code = TILE_OK, first = 0;
    for (int i = 0; i < image->nlaunches && !code; first += image->launch[i++].nmaps)
        code = launch_fill(p, &image->launch[i], arg, dim, first, &p->gpu->refused[i]);
    return code;
}

int gpu_map_refused(const tile_program *g, const tile_launch *l, const tile_map *m) {
    return tile_fail(TILE_E_ARG, "program '%s': '%s' copies %s%s%s by boxes: its rows must be multiples of %d bytes",
                     g->name, l->node ? l->node : l->kernel, m->arg < 0 ? "a temporary" : "'",
                     m->arg < 0 ? "" : g->arg[m->arg].name, m->arg < 0 ? "" : "'", STEP);
}
