/* layout.h: what the parts of the pass layout share: one kernel on its way to the form `layout`. */
#ifndef TILEC_PASSES_LAYOUT_LAYOUT_H
#define TILEC_PASSES_LAYOUT_LAYOUT_H

#include "passes/pass.h"
#include "target/matrix.h"

enum {
    /* 2^6 waves: more than the 32 of a workgroup. */
    LAY_WAVE_BITS = 6,
    LAY_ODD_BITS = 64, /* of the shortest vectors that runs at odd places are loaded by */
};

/* Tiles that elementwise operations, loops and conditions tie together: they share one layout. */
typedef struct {
    Type type;       /* its ranges; the widest element type */
    int fastest;     /* range along which its loads and stores are contiguous; -1: none */
    Elem memory;     /* element type of that access */
    int run;         /* elements that each of its accesses may take at once, a power of two; at least 1 */
    int plain_run;   /* the same without loads of the vectors around, as also where it is stored */
    bool stored;
    int layout;      /* as in Value.layout; 0: not chosen yet */
    int inner;       /* range that an instruction wants in neighbouring registers; -1: none */
    int inner_bits;  /* of how many positions of it */
} LayClass;

/* Elements of the smaller tile are wanted beside those of the larger. */
typedef struct {
    int small, large; /* values */
} LayPair;

typedef struct {
    PassContext *c;
    Module *m;
    Kernel *k;
    const MatrixTarget *target;
    Arena *scratch;
    int64_t *extent;            /* by range: a power of two */
    int *parent;                /* by value: union-find; the roots are classes */
    LayClass *class;            /* by root */
    int nvalue;                 /* values that have classes */
    VEC(LayPair) pair;
    VEC(Value *) value;         /* by id */
    int wave_bits;
    struct {
        int16_t range[2];       /* the range that waves divide by this bit, and another one for products that lack it; -1: none yet */
        int16_t whole;          /* the other range of the product that range[0] is of: its results need all of it */
        int bit[2];
    } wave[LAY_WAVE_BITS];
    struct {
        const Value *from;
        Value *to;
    } *made;                    /* conversions, so that each is made once */
    int nmade, cap;
    int facts;                  /* LAY_ bits that hold */
    bool failed;
} Lay;

/* What steps of the pass rely on, in the order of the list in check.c. */
enum {
    LAY_SUPPORTED = 1 << 0, LAY_NAMES = 1 << 1, LAY_EXTENTS = 1 << 2, LAY_BYTES = 1 << 3, LAY_SIZES = 1 << 4,
    LAY_WAVES = 1 << 5, LAY_STORES = 1 << 6, LAY_PRODUCTS = 1 << 7, LAY_ALIGNED = 1 << 8, LAY_CLASSES = 1 << 9,
    LAY_CHOSEN = 1 << 10, LAY_LAYOUTS = 1 << 11, LAY_COMPACT = 1 << 12,
};

const PassFact *lay_fact(size_t); /* check.c */
bool lay_check(const Lay *, const PassStep *); /* the kernel is valid and the facts hold behind the step, or it is reported */

typedef void LayVisit(Lay *, Op *);
void lay_each(Lay *, Region *, LayVisit *); /* every operation, outer before inner; the visitor may insert */
Layout lay_slice(const Lay *, const Layout *, Type); /* of the type's ranges */
int lay_number(Lay *, const Layout *);               /* in the kernel's list, as Value.layout counts */
void lay_names(Lay *);                               /* layout.c: ranges get names that differ, and are words of letters */
void lay_measure(Lay *);                             /* the extents, after a range has changed */
void lay_halve(Lay *, int range, const char *why);   /* fit.c: its tiles */
int64_t lay_elements(const Lay *, Type);             /* with the extents */
bool lay_adds_atomically(Elem);                      /* a GPU has an instruction for that */
int lay_words(Elem);                                 /* registers of an element */
int lay_registers_of_tile(const MatrixTarget *, int threads); /* a tile leaves a quarter of a thread's for all else */
Value *lay_ignored_by(Builder *, OpKind reduction, Elem);     /* the element that changes no result */
Value *lay_masked(Builder *, OpKind reduction, Value *, int range); /* such elements past the range's end */
void lay_refuse(Lay *, Loc, const char *format, ...) __attribute__((format(printf, 3, 4)));

void lay_unpack(Lay *);   /* mask.c: packed elements become bytes */
void lay_pad(Lay *);      /* dot.c: few rows take places for as many as a matrix instruction has */
void lay_expand(Lay *);   /* dot.c: dots without many results become products and sums */
void lay_load_cse(Lay *); /* load_cse.c: a tile that is loaded twice is loaded once */
void lay_hoist(Lay *);    /* hoist.c: loads that a loop does not change, before it */
void lay_insert_behind(Op *fresh, const Value *); /* the definition of the value */
void lay_prepare(Lay *);  /* mask.c: masks where positions past the end would count, stores of whole tiles */
void lay_matrix(Lay *);   /* dot.c: picks matrix instructions, converts their operands */
bool lay_dot_layouts(Lay *, const Op *dot, Layout *a, Layout *b, Layout *d);
int64_t lay_tasks(const Lay *, int64_t most); /* of the grid, as far as that many count */
bool lay_step_fits(const Lay *, const Region *); /* fit.c: operands of its products, in the workgroup's memory twice */
void lay_shrink_tiles(Lay *); /* fit.c: tiles that registers and memory hold */
void lay_choose_waves(Lay *); /* fit.c: of a workgroup */
void lay_tile_size(Lay *); /* tile_size.c: larger tiles where odd rows are transposed */
void lay_occupancy(Lay *); /* occupancy.c: smaller tiles where a grid has fewer tasks than the machine has processors */
void lay_align_rows(Lay *);     /* align_rows.c: rows at odd addresses from their first multiple of a vector on */
void lay_classes(Lay *);  /* class.c */
int lay_class(const Lay *, const Value *);
int lay_fastest(const Kernel *, const Op *access); /* the range whose neighbours are neighbours in memory; -1: none */
void lay_transpose(Lay *); /* transpose.c: tiles that are stored in another order than they are loaded in */
void lay_choose(Lay *);   /* choose.c: a layout for every class */
void lay_pipeline_loads(Lay *); /* pipeline_loads.c: loads that are made a step ahead */
void lay_defer_sums(Lay *); /* defer_sums.c: sums that are put together behind their loop */
void lay_insert(Lay *);   /* insert.c: conversions where a layout is not the one that is wanted */
void lay_schedule_loads(Lay *); /* schedule_loads.c: loads before what does not need them */

#endif
