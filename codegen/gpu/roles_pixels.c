/* roles_pixels.c: copies of tiles of pixels (ir/pixels.h) to slots, by maps of images. */
#include "codegen/gpu/roles.h"
#include "codegen/text/nest.h"
#include "ir/pixels.h"

#include <inttypes.h>

enum {
    PANEL_BITS = 8 * 128, /* of a row of a panel (tile_box.h) */
    EIGHT = 8,            /* rows after which a panel's swizzle repeats */
    MOST_PIXELS = 1024    /* of a box (CUDA driver API, cuTensorMapEncodeIm2col) */
};

/* The place of the tile's position number `from` along the range. */
static const char *place_text(Fn *f, const Affine *a, int range, const CExpr *from) {
    Nest n = nest_new(f, NULL, 0);
    const CExpr *pos = f->range[range].pos;
    f->range[range].pos = from;
    const CExpr *text = cexpr_bare(nest_affine(&n, a));
    f->range[range].pos = pos;
    nest_print(&n);
    return fn_text(f, "(int)%s", cexpr_operand(f, text)->text);
}

static GpuMap map_of(Fn *f, const Op *op, const Pixels *p, int channels, int64_t pixels) {
    GpuMap m = hip_map(f, op->param, PIXEL_DIMS, 0);
    m.swizzle = PANEL_BITS / 8;
    m.box[PIXEL_DIMS - 1] = channels;
    m.pixels = (int)pixels;
    for (int d = 1; d < PIXEL_DIMS - 1; d++)
        m.begin[d] = (int)p->begin[d], m.step[d] = (int)p->step[d], m.count[d] = (int)p->count[d];
    return m;
}

static bool find_pixels(Fn *f, const Op *op, const SlotTile *t, Pixels *p) {
    for (int i = 0; i < t->type.nrange; i++) {
        const int channel = t->type.range[i];
        if (t->type.nrange == 2 && access_pixels(f->k, op, t->type.range[!i], channel, f->k->range.p[channel].size, p))
            return true;
    }
    return false;
}

bool hip_role_pixels(Fn *f, const Op *op, const Ring *ring, const SlotTile *t, int sharers) {
    const int channels = PANEL_BITS / elem_bits(t->type.elem), number = f->hip->role->filling->ring;
    Pixels p;
    if (!find_pixels(f, op, t, &p) || f->k->range.p[p.channel].size != channels) return false;
    const int64_t rows = hip_role_extent(f->m, f->k, ring->per, p.row), part = rows / sharers;
    if (rows % (sharers * EIGHT) || part > MOST_PIXELS) return false;
    GpuMap m = map_of(f, op, &p, channels, part);
    const CExpr *zero = cexpr_number(f, 0), *from = sharers > 1 ? cexpr_open(f, "%" PRId64 " * all->rank", part) : zero;
    fn_line(f, "%stile_box_pixels(%s, %s,", hip_role_copy_when(f, op), f->hip->role->slot,
            f->hip->role->facts->ring[number].tile_name[op->slot]);
    fn_line(f, "    (tile_pixels){&maps->map[%s], %s, %s, %s, %s,", hip_role_map(f, op, &m),
            place_text(f, &p.at[PIXEL_DIMS - 1], p.channel, zero), place_text(f, &p.at[0], p.row, from),
            place_text(f, &p.at[1], p.row, from), place_text(f, &p.at[2], p.row, from));
    fn_line(f, "    %s, %s}, %" PRId64 ", all->rank, %d);", place_text(f, &p.away[1], p.channel, zero),
            place_text(f, &p.away[2], p.channel, zero), rows, sharers);
    return true;
}
