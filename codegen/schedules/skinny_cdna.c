/* skinny_cdna.c: tiles of products of few rows: what a wave holds in registers decides how many runs of positions
   are on their way. */
#include "codegen/schedules/skinny_cdna.h"

#include "ir/size.h"

enum {
    BLOCK = 16,          /* rows and columns of a matrix instruction */
    FEWEST_ACROSS = 64,  /* columns, where rows of b run along them: a lane has neighbours of 16 */
    PAIR_REGISTERS = 88, /* of a lane for runs and sums, where two workgroups share a processor */
    REGISTERS = 208,     /* where one has it */
    FEWEST_STAGES = 2,
    MOST_STAGES = 4
};

/* Rows are divided evenly among tiles above each other. */
static int rows_of(const MatrixSchedule *s, int64_t rows) {
    int64_t tiles = ceil_div(rows, s->rows);
    return (int)ceil_div(ceil_div(rows, tiles), BLOCK) * BLOCK;
}

SkinnyShape skinny_shape(const MatrixTarget *t, const MatrixSchedule *s, const Product *f, int64_t rows) {
    SkinnyShape shape = {.rows = rows_of(s, rows), .columns = s->columns / f->sums, .waves = s->threads / t->wave};
    int lane = t->wave * 4; /* bytes that a register holds for all lanes */
    int run = (shape.rows + s->columns) * SKINNY_RUN / lane, sums = shape.rows * s->columns * 4 / lane;
    int paired = (PAIR_REGISTERS - sums) / run, alone = (REGISTERS - sums) / run;
    shape.pair = paired >= FEWEST_STAGES && 2 * s->lds_bytes <= t->lds_bytes;
    shape.stages = shape.pair ? paired : alone;
    if (shape.stages > MOST_STAGES) shape.stages = MOST_STAGES;
    bool fits = shape.columns >= (f->b_is_kn ? FEWEST_ACROSS : BLOCK);
    if (fits && shape.stages >= FEWEST_STAGES) shape.facts = s;
    return shape;
}
