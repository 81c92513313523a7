/* pixels.c: which accesses are tiles of pixels. Limits are those of maps of images of 4 dimensions: CUDA driver API,
   cuTensorMapEncodeIm2col; PTX ISA, "im2col mode". */
#include "ir/pixels.h"

enum {
    MOST_AWAY = 255, /* positions, of an offset of a copy */
    LEAST_CORNER = -128,
    MOST_CORNER = 127, /* of the box that pixels are counted in, from the image's corners */
    MOST_STEP = 8
};

static bool is_of(const Term *t, int range) { return t->kind == TERM_POS && t->id == range; }

/* Splits a subscript: what follows the row, and the rest. */
static void split(const Affine *a, int row, Affine *of_row, Affine *rest) {
    *of_row = affine_const(0), *rest = affine_const(0);
    for (int i = 0; i < a->nterm; i++) {
        Affine *to = is_of(&a->term[i], row) ? of_row : rest;
        to->term[to->nterm++] = a->term[i];
    }
}

/* mul * (pos / div % count): one term, or two; of one, count is 0. */
typedef struct {
    int64_t mul, div, count;
} Digit;

static bool digit_of(const Affine *a, int range, Digit *d) {
    const Term *low = NULL, *high = NULL;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (!is_of(t, range)) continue;
        const Term **to = t->mul > 0 ? &low : &high;
        if (*to) return false;
        *to = t;
    }
    if (!low) return false;
    *d = (Digit){.mul = low->mul, .div = low->div};
    if (!high) return true;
    if (high->div % low->div || high->mul % low->mul) return false;
    d->count = high->div / low->div;
    return d->count > 1 && -(high->mul / low->mul) == d->count;
}

/* Positions of a range, from 0 on; -1: not known. */
static int64_t extent_of(const Kernel *k, int range) {
    const Op *loop = kernel_loop(k, range);
    int64_t n, least;
    if (!loop) return k->range.p[range].grid && size_is_number(k->range.p[range].of) ? k->range.p[range].of.c : -1;
    return value_const(loop->arg.p[0], &least) && least >= 0 && value_const(loop->arg.p[1], &n) ? n : -1;
}

/* ---- how far behind its place a pixel is read: as far for all of a tile ---- */

static int64_t digit_most(const Digit *d, int64_t extent) {
    int64_t most = extent > 0 ? (extent - 1) / d->div : 0;
    if (d->count && d->count - 1 < most) most = d->count - 1;
    return most > MOST_AWAY || d->mul > MOST_AWAY ? MOST_AWAY + 1 : d->mul * most;
}

static bool away_fits(const Kernel *k, const Affine *away, int channel, int64_t depth) {
    int64_t most = 0;
    for (int i = 0; i < away->nterm; i++) {
        const Term *t = &away->term[i];
        Digit d;
        if (t->kind != TERM_POS || (k->range.p[t->id].kind != RANGE_POSITION && t->id != channel)) return false;
        if (t->id == channel && t->div % depth) return false;
        const int64_t extent = extent_of(k, t->id);
        if (extent < 0 || !digit_of(away, t->id, &d)) return false;
        if (t->mul > 0) most += digit_most(&d, extent);
    }
    return most <= MOST_AWAY;
}

/* ---- height and width ---- */

/* Pixels in order: those of a row of results, then the next row. div: of positions that the dimension counts. The last
   dimension that a range counts has what is left of its positions. */
static bool places_fit(const Kernel *k, const Affine *a, int row, int64_t *div, int64_t *step, int64_t *count) {
    Digit d;
    *step = *count = 1;
    if (!a->nterm) return true;
    if (!digit_of(a, row, &d) || d.div != *div || d.mul > MOST_STEP) return false;
    const int64_t all = d.count ? 0 : extent_of(k, row);
    if (!d.count) d.count = all > 0 ? (all + d.div - 1) / d.div : 0;
    if (!d.count) return false;
    *step = d.mul, *count = d.count;
    *div *= d.count;
    return true;
}

/* Places from the first pixel to the last one, from the image's corners. */
static bool corners_fit(const Pixels *p, int d, Size size) {
    if (!size_is_number(size)) return false;
    const int64_t last = p->begin[d] + p->step[d] * (p->count[d] - 1) - (size.c - 1);
    return p->begin[d] >= LEAST_CORNER && p->begin[d] <= MOST_CORNER && last >= LEAST_CORNER && last <= MOST_CORNER;
}

static bool dimension_fits(const Kernel *k, const Op *op, int d, int64_t depth, int64_t *div, Pixels *p) {
    const Affine *a = &op->sub.p[d].lo;
    split(a, p->row, &p->at[d], &p->away[d]);
    p->at[d].c = p->begin[d] = a->c;
    return places_fit(k, &p->at[d], p->row, div, &p->step[d], &p->count[d]) &&
           away_fits(k, &p->away[d], p->channel, depth) && corners_fit(p, d, k->param.p[op->param].dim[d]);
}

/* ---- images and channels ---- */

/* Positions of others are the same for a whole tile. */
static bool others_are_scalars(const Kernel *k, const Affine *a, int but) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind != TERM_POS || (t->id != but && k->range.p[t->id].kind != RANGE_POSITION)) return false;
    }
    return true;
}

static bool images_fit(const Kernel *k, const Op *op, int64_t div, Pixels *p) {
    Affine rest;
    Digit d;
    p->at[0] = op->sub.p[0].lo;
    split(&p->at[0], p->row, &(Affine){0}, &rest);
    if (!others_are_scalars(k, &rest, -1)) return false;
    if (digit_of(&p->at[0], p->row, &d)) return d.mul == 1 && d.div == div && !d.count;
    const int64_t all = extent_of(k, p->row); /* else what follows the last pixel is of the next image */
    return rest.nterm == p->at[0].nterm && all >= 0 && all <= div;
}

/* One after the other; a tile has no end of a pixel's channels within, but the last. */
static bool channels_fit(const Kernel *k, const Op *op, int64_t depth, Pixels *p) {
    const Affine *a = &op->sub.p[3].lo;
    bool found = false;
    p->at[3] = *a;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (!is_of(t, p->channel)) continue;
        if (t->div == 1 ? t->mul != 1 : t->div % depth) return false;
        found |= t->div == 1;
    }
    return found && others_are_scalars(k, a, p->channel);
}

/* It may have pixels: no map describes a tensor without elements. */
static bool may_be_filled(const Param *x) {
    for (int d = 0; d < x->ndim; d++)
        if (size_is_number(x->dim[d]) && x->dim[d].c <= 0) return false;
    return true;
}

bool access_pixels(const Kernel *k, const Op *op, int row, int channel, int64_t depth, Pixels *p) {
    const Param *x = &k->param.p[op->param];
    int64_t div = 1;
    *p = (Pixels){.row = row, .channel = channel};
    if (x->ndim != PIXEL_DIMS || op->sub.n != PIXEL_DIMS || row == channel || !may_be_filled(x)) return false;
    if (!range_begins_at(k, op, channel, depth) || !channels_fit(k, op, depth, p)) return false;
    for (int d = 2; d > 0; d--)
        if (!dimension_fits(k, op, d, depth, &div, p)) return false;
    return images_fit(k, op, div, p);
}
