/* narrow.c: the plan of a product by the schedule `narrow`, where it is faster than `skinny`'s: by the bytes that
   memory, L2 and each workgroup move. */
#include "codegen/schedules/skinny.h"

#include "ir/size.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 8,         /* rows of a copy; columns of a product */
    PANEL = 64,        /* positions of a sum, side by side in workgroup memory */
    LEAST_ROWS = 33,   /* fewer come as fast by the other schedule, which leaves room for the next launch */
    MOST_SHARED = 96,  /* rows that four workgroups copy for each other */
    FEWEST_STAGES = 5, /* of two panels each */
    FEWEST_PANELS = 4, /* of a part */
    NARROWER = 3,      /* of NARROWER_OF columns that the other schedule has: copies by 64 columns overlap */
    NARROWER_OF = 4,
    /* Bytes a nanosecond, fitted to 69 products of 48 to 128 rows on an H200: choices by them take 0.5 % longer than
       the best of each, on average, those of the other schedule 8 %. */
    MEMORY = 4200,
    L2 = 19500,
    STREAM = 100,  /* of b, to a workgroup */
    COPIES = 140,  /* of both */
    EXCHANGE = 21, /* of sums, between two workgroups */
    MEETING = 100  /* nanoseconds */
};

/* The times of what goes on at once, together: a little longer than the longest. */
static double together(const double *time, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += pow(time[i], 6);
    return pow(sum, 1.0 / 6);
}

static int64_t tiles_of(const SkinnyPlan *p, int64_t columns) {
    return ceil_div(columns, (int64_t)p->columns * p->beside) * p->beside;
}

/* In nanoseconds. */
static double time_of(const SkinnyPlan *p, int64_t rows, int64_t columns, int64_t depth) {
    int64_t tiles = tiles_of(p, columns), rounds = ceil_div(tiles * p->parts, p->facts->resident_groups);
    double row = 2 * (double)depth, part = row * (double)rounds / p->parts; /* bytes */
    double l2 = row * (double)tiles * (p->columns + (double)rows / p->beside);
    const double time[] = {row * (double)columns / MEMORY, l2 / L2, part * p->columns / STREAM,
                           part * (p->columns + p->rows) / COPIES};
    double sent = 4.0 * p->rows * p->columns * (p->parts - 1) / p->parts;
    return together(time, 4) + (p->parts > 1 ? MEETING + sent / EXCHANGE : 0);
}

/* As many columns a tile as give each workgroup that runs at once one tile, or its part of one. Two share a tile's
   sums, more copy rows for each other. */
static SkinnyPlan tile_of(const MatrixSchedule *s, int64_t rows, int64_t columns, int64_t depth, bool across) {
    int parts = s->cluster == 2 ? 2 : 1, beside = s->cluster / parts;
    int64_t tiles = s->resident_groups / parts, wide = ceil_div(ceil_div(columns, tiles), BLOCK) * BLOCK;
    int64_t block = BLOCK * beside, high = ceil_div(rows, block) * block;
    SkinnyPlan p = {.facts = s, .rows = (int)high, .deep = PANEL, .parts = parts, .beside = beside};
    bool shared = beside == 1 || high <= MOST_SHARED; /* measured: more rows come slower to four */
    bool fits = shared && wide <= s->columns && high <= s->rows && depth >= (int64_t)FEWEST_PANELS * PANEL * parts;
    if (!fits) return (SkinnyPlan){0};
    p.columns = (int)wide;
    int64_t held = across ? ceil_div(wide, PANEL) * PANEL : wide,
            sent = parts > 1 ? 4 * wide * ceil_div(rows, PANEL) * PANEL : 0; /* bytes of all parts */
    if ((s->lds_bytes - sent) / (2 * (high + held) * PANEL * 2) >= FEWEST_STAGES) p.deep = 2 * PANEL;
    p.time = time_of(&p, rows, columns, depth);
    return p;
}

/* Rows of b along j are copied by 64: neighbours' columns too, which must be in L2 then, so that workgroups beside each
   other read them at the same time. With more than 64 rows the other schedule is faster. */
static bool across_pays(const SkinnyPlan *p, const SkinnyPlan *few) {
    return p->rows <= PANEL && p->beside > 1 && few->parts == 1 && NARROWER_OF * p->columns <= NARROWER * few->columns;
}

SkinnyPlan narrow_plan(const MatrixTarget *t, const SkinnyPlan *few, int64_t rows, int64_t columns, int64_t depth,
                       bool across, int64_t wide) {
    SkinnyPlan best = {0};
    if (!few->facts || rows < LEAST_ROWS || rows > few->rows) return best;
    double least = across ? INFINITY : time_of(few, rows, columns, depth);
    for (const MatrixSchedule *s = t->schedule; s->name; s++) {
        if (strcmp(s->name, "narrow")) continue;
        SkinnyPlan p = tile_of(s, rows, columns, depth, across);
        if (!p.facts || p.time >= least || (wide && p.columns != wide) || (across && !across_pays(&p, few))) continue;
        best = p;
        least = p.time;
    }
    return best;
}
