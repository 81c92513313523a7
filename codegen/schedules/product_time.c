/* product_time.c: how long the schedule `product` takes in its tiles, in the unit of MatrixSchedule.cost, and how the
   two workgroups of its clusters lie: one above the other, or beside each other where that takes less. */
#include "codegen/schedules/match.h"

enum {
    PANEL = 64,   /* positions of a sum in a step, and columns of b in workgroup memory beside each other */
    LINE = 128,   /* bytes that come from memory together */
    STORING = 16, /* of a tile */
    OUTSIDE = 12, /* of a step, at least, where copies lie outside */
    ROUND = 20,   /* parts of the time of a tile: */
    BESIDE = 256  /* of what lies beyond it on one side, by its columns */
};

int64_t product_columns(const MatrixSchedule *s, const Product *f) { return s->columns / f->sums; }

/* Clusters at work at once. */
static int64_t clusters_of(const MatrixSchedule *s) { return s->resident_groups / s->cluster; }

static bool is_apart(const Param *p) { return p->dim[1].c * elem_bits(p->elem) / 8 % LINE != 0; }

/* Measured: of a panel of b that a tile does not use up, half of the copies take time of their own; lines that two rows
   have in common take it where a tile uses them less often. */
static double step_of(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    double wide = s->columns, panels = (double)(ceil_div(s->columns, PANEL) * PANEL);
    double copies = f->b_is_kn ? (wide + panels) / (2 * wide) : 1;
    bool apart = is_apart(&k->param.p[f->a]) || is_apart(&k->param.p[f->b[0]]);
    return s->cost * copies * (apart ? 1.16 - 0.16 / 256 * wide : 1);
}

/* The last of so many is the first of a pair. */
static bool is_odd(int64_t extent, int64_t tile) { return ceil_div(extent, tile) % 2 != 0; }

/* Of a round of tiles. Measured: the copies of a tile that lies outside, zeros, take longer than those of a narrow one.
 */
static double round_of(const Kernel *k, const Product *f, const MatrixSchedule *s, bool outside) {
    double step = step_of(k, f, s);
    return (outside && step < OUTSIDE ? OUTSIDE : step) * (double)ceil_div(f->depth, PANEL) + STORING;
}

static bool is_folded(ProductFringe f) { return f.below || f.right; }

/* Tiles that make what lies beyond them too go first to clusters that get one less than others: of those there are
 * `spare`. */
static int time_beyond(ProductFringe f, const MatrixSchedule *s, int64_t rows, int64_t columns, int64_t spare) {
    int64_t tiles = (f.below ? columns : 0) + (f.right ? rows : 0);
    return tiles > spare ? BESIDE / s->columns * (!!f.below + !!f.right) : 0;
}

/* Clusters of workgroups take pairs of tiles in rounds. */
static double time_above(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    int64_t m = k->range.p[0].of.c, n = k->range.p[1].of.c, tall = (int64_t)s->rows * s->cluster,
            wide = product_columns(s, f), once = clusters_of(s);
    ProductFringe beyond = product_fringe(k, f, s);
    bool folded = is_folded(beyond);
    int64_t tiles = folded ? m / tall * (n / wide) : ceil_div(m, tall) * ceil_div(n, wide);
    int64_t rounds = ceil_div(tiles, once), spare = tiles / once * (rounds * once - tiles);
    int64_t time = ROUND * rounds + time_beyond(beyond, s, m / tall, n / wide, spare);
    if (folded) time += time * (BESIDE - s->columns) / (5 * BESIDE); /* measured: narrow tiles lose a tenth */
    return round_of(k, f, s, !folded && is_odd(m, s->rows)) / ROUND * (double)time;
}

static double time_beside(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    int64_t m = k->range.p[0].of.c, n = k->range.p[1].of.c;
    int64_t tiles = ceil_div(m, s->rows) * ceil_div(n, s->columns * s->cluster);
    return round_of(k, f, s, is_odd(n, s->columns)) * (double)ceil_div(tiles, clusters_of(s));
}

bool product_lies_beside(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    return f->sums == 1 && time_beside(k, f, s) < time_above(k, f, s);
}

double product_time(const Kernel *k, const Product *f, const MatrixSchedule *s) {
    return product_lies_beside(k, f, s) ? time_beside(k, f, s) : time_above(k, f, s);
}
