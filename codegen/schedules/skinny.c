/* skinny.c: the plan of a product by the schedule `skinny`: time is that of what a workgroup copies. */
#include "codegen/schedules/skinny.h"

#include "ir/size.h"

#include <string.h>

enum {
    PANEL = 64,        /* positions of a sum, side by side in workgroup memory */
    FEWEST_PANELS = 4, /* of a part */
    FEWEST_STAGES = 6, /* of two panels each, which are waited for half as often */
    FEWEST_ROWS = 8,   /* of a copy, and of a product */
    FEW_ROWS = 16,     /* that clusters share in half of the memory */
    MANY_ROWS = 64,    /* enough for a tile of several */
    MOST_ROWS = 128,   /* of a tile */
    MOST_SHARED = 96,  /* that four share */
    FEWEST_TALL = 64,
    SOME_BESIDE = 4,
    MANY_BESIDE = 8,
    MOST_PARTS_OF_TWO = 3, /* sums */
    FULL = 5,              /* of FULL_OF workgroups that the machine holds */
    FULL_OF = 6,
    COPIED = 20, /* rows of `a` or `b`, PANEL positions, in a unit of time: 50 bytes a cycle */
    MEETING = 30 /* units of time until parts are one sum */
};

/* Each workgroup of `beside` copies whole blocks of FEWEST_ROWS. */
static int rows_of(const MatrixSchedule *s, int64_t rows, int beside) {
    int64_t block = FEWEST_ROWS * beside, n = ceil_div(rows, block) * block;
    return n < s->rows ? (int)n : s->rows;
}

/* It leaves room for the workgroups of the next launch beside those of this one. */
static bool is_half(const MatrixTarget *t, const MatrixSchedule *s) { return 2 * s->lds_bytes <= t->lds_bytes; }

/* Measured: more than 32 rows come slower than parts of a tile do where these fit, and more than 64 faster to four than
   to two or to one in a single round, 128 slower; up to 32 come faster to each workgroup alone where tiles are wide
   and, in half of the memory, 32 do, or 16 in several rounds. Up to 32 pay, and eight workgroups do, where they fill
   the machine, whose parts have 16 or 18 processors. */
static bool beside_pays(const MatrixTarget *t, const SkinnyPlan *p, int64_t rows, int64_t groups, int sums) {
    const MatrixSchedule *s = p->facts;
    if (p->beside == 1) return true;
    bool many = 2 * p->rows > MANY_ROWS, half = is_half(t, s),
         parts_fit = rows <= p->rows && 2 * groups <= t->processors;
    if (p->rows % (FEWEST_ROWS * p->beside) || (many && parts_fit)) return false;
    if (p->rows > MANY_ROWS && (p->beside != SOME_BESIDE || p->rows > MOST_SHARED || groups > s->resident_groups)) return false;
    if (half && (p->rows > FEW_ROWS || groups > s->resident_groups)) return false;
    if (!many && s->columns > FEWEST_TALL * sums) return false;
    bool full = FULL_OF * groups >= FULL * ceil_div(groups, s->resident_groups) * s->resident_groups;
    return full || (many && p->beside < MANY_BESIDE);
}

/* Measured: wide tiles, and more than three parts of two sums, meet later than they save. */
static bool parts_pay(const SkinnyPlan *p, int64_t groups, int64_t depth, int sums) {
    if (p->parts == 1) return true;
    bool narrow = p->facts->columns == FEWEST_TALL * sums && (sums == 1 || p->parts <= MOST_PARTS_OF_TWO);
    return narrow && groups <= p->facts->resident_groups && depth >= (int64_t)FEWEST_PANELS * PANEL * p->parts;
}

int skinny_deep(const SkinnyPlan *p, int lds_bytes) {
    const int wide = 2 * (p->facts->columns + p->rows) * PANEL * 2; /* bytes of a stage of two panels */
    return lds_bytes / wide >= FEWEST_STAGES ? 2 * PANEL : PANEL;
}

/* One of a schedule's rows, its clusters used so. */
static SkinnyPlan tile_of(const MatrixTarget *t, const MatrixSchedule *s, int64_t rows, int64_t columns, int64_t depth,
                          int sums, int parts, int beside) {
    SkinnyPlan p = {.facts = s,
                    .rows = rows_of(s, rows, beside),
                    .columns = s->columns,
                    .parts = parts,
                    .beside = beside};
    p.deep = skinny_deep(&p, s->lds_bytes);
    int64_t across = ceil_div(columns * sums, (int64_t)s->columns * beside) * beside;
    int64_t groups = across * ceil_div(rows, p.rows) * parts, steps = ceil_div(ceil_div(depth, p.deep), parts);
    double step = (s->columns + (double)p.rows / beside) / COPIED * p.deep / PANEL;
    p.time = (double)ceil_div(groups, s->resident_groups) * (double)steps * step + (parts > 1 ? MEETING : 0);
    bool many = rows > MOST_ROWS || sums > 1;                    /* of two sums no tile has more than MANY_ROWS */
    bool tall = rows <= p.rows || (many && p.rows >= MANY_ROWS); /* lower tiles would read b more often */
    bool half = is_half(t, s), needless = half && 2 * groups <= s->resident_groups; /* two launches fit beside each other */
    if (!tall || needless || !parts_pay(&p, groups, depth, sums) || !beside_pays(t, &p, rows, groups, sums))
        p.facts = NULL;
    return p;
}

static void take_faster(SkinnyPlan *best, SkinnyPlan p) {
    if (p.facts && (!best->facts || p.time < best->time)) *best = p;
}

/* A warpgroup multiplies FEWEST_TALL rows of b, or of each b. */
static bool tiles_fit(const MatrixSchedule *s, int sums, int64_t wide) {
    return s->columns >= FEWEST_TALL * sums && (!wide || s->columns == wide * sums);
}

SkinnyPlan skinny_plan(const MatrixTarget *t, int64_t rows, int64_t columns, int64_t depth, int sums, int64_t wide) {
    SkinnyPlan best = {0};
    for (const MatrixSchedule *s = t->schedule; s->name; s++) {
        if (strcmp(s->name, "skinny") || !tiles_fit(s, sums, wide)) continue;
        take_faster(&best, tile_of(t, s, rows, columns, depth, sums, 1, 1));
        take_faster(&best, tile_of(t, s, rows, columns, depth, sums, s->cluster, 1));
        take_faster(&best, tile_of(t, s, rows, columns, depth, sums, 1, s->cluster));
    }
    return best;
}
