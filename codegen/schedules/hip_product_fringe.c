/* hip_product_fringe.c: rows and columns of a product beyond its last tiles, which the tiles beside them make as well:
   they are copied to each stage behind the tile's own, and have products and sums of their own. */
#include "codegen/schedules/hip_schedule.h"

#include <inttypes.h>

enum {
    ROW_BYTES = 128,   /* of a panel, in workgroup memory */
    PANEL_BYTES = 8192 /* of 64 rows */
};

/* What lies below and to the right, in positions of a product instruction, and bytes of a stage; 0: nothing does. */
typedef struct {
    int below, right, below_bytes, right_bytes;
} Fringe;

bool product_beside(const Schedule *s, const Product *p) { return product_lies_beside(s->f.k, p, s->facts); }

static Fringe fringe_of(const Schedule *s, const Product *p) {
    if (product_beside(s, p)) return (Fringe){0};
    ProductFringe of = product_fringe(s->f.k, p, s->facts);
    return (Fringe){of.below, of.right, of.below * ROW_BYTES,
                    p->b_is_kn && of.right ? PANEL_BYTES : of.right * ROW_BYTES};
}

bool product_has_fringe(const Schedule *s, const Product *p) {
    Fringe f = fringe_of(s, p);
    return f.below || f.right;
}

/* Where tiles end: at the last whole one, or at the last over the edge. */
static int64_t inner(int64_t extent, int64_t tile, int fringe) { return fringe ? extent / tile * tile : extent; }

static void fill_sizes(Schedule *s, Fringe fringe) {
    const Kernel *k = s->f.k;
    int wide = (int)k->range.p[1].size, tall = s->facts->rows * s->facts->cluster;
    schedule_number(s, "INNER_M", inner(k->range.p[0].of.c, tall, fringe.below));
    schedule_number(s, "INNER_N", inner(k->range.p[1].of.c, wide, fringe.right));
    schedule_number(s, "BELOW", fringe.below);
    schedule_number(s, "RIGHT", fringe.right);
    schedule_number(s, "RIGHT_BYTES", fringe.right_bytes);
    schedule_number(s, "BLOCKS", wide / 128); /* of 64 columns, for a workgroup of two */
}

static void fill_kinds(Schedule *s, const Product *p, Fringe fringe) {
    Fn *f = &s->f;
    bool corner = fringe.below && fringe.right;
    const char *runs = p->b_is_kn ? "columns" : "rows";
    schedule_kind(s, "fringe");
    schedule_kind(s, p->plain ? "fringe_plain" : "fringe_result");
    if (fringe.below) schedule_kind(s, "below");
    if (fringe.right) schedule_kind(s, "right");
    schedule_kind(s, corner ? "corner" : fringe.below ? "below_alone" : "right_alone");
    if (fringe.below) schedule_kind(s, fn_text(f, "below_%s", runs));
    if (fringe.right) schedule_kind(s, fn_text(f, "right_%s", runs));
}

/* Tiles that have some of it beside them. */
static void fill_tests(Schedule *s) {
    Fn *f = &s->f;
    const char *name = s->launch->function;
    schedule_hole(s, "is_below", fn_text(f, "i0 >= 256 * (%s_ROWS - 1)", name));
    schedule_hole(s, "is_right", fn_text(f, "j0 == %d * (%s_COLUMNS - 1)", (int)f->k->range.p[1].size, name));
}

static void fill_maps(Schedule *s, const Product *p, Fringe fringe, ProductMaps *maps) {
    schedule_number(s, "BELOW_MAP", maps->n);
    if (fringe.below) product_maps_add(maps, s, &p->a, 1, fringe.below);
    schedule_number(s, "RIGHT_MAP", maps->n);
    if (fringe.right && !p->b_is_kn) product_maps_add(maps, s, p->b, 1, fringe.right);
}

/* Tiles beside something come last in the list, but where there is one row or column of them. */
static void fill_order(Schedule *s, Fringe fringe) {
    const Kernel *k = s->f.k;
    bool below = fringe.below && k->range.p[0].of.c >= 2 * s->facts->rows * s->facts->cluster,
         right = fringe.right && k->range.p[1].of.c >= 2 * k->range.p[1].size;
    schedule_hole(s, "but_below", below ? " - 1" : "");
    schedule_hole(s, "but_right", right ? " - 1" : "");
    schedule_hole(s, "but_fringe", below || right ? ", and have nothing beyond them" : "");
}

static void fill_texts(Schedule *s, Fringe fringe) {
    Fn *f = &s->f;
    bool any = fringe.below || fringe.right, both = fringe.below && fringe.right;
    const char *what = both           ? "rows below the last tiles and columns beside them"
                       : fringe.below ? "rows below the last tiles"
                                      : "columns beside the last tiles";
    const char *below = fringe.below ? fn_text(f, " + (below ? %d : 0)", fringe.below_bytes) : "";
    const char *right = fringe.right ? fn_text(f, " + (right ? %d : 0)", fringe.right_bytes) : "";
    schedule_hole(s, "fringe", any ? fn_text(f, " The few\n   %s are made by those.", what) : "");
    const char *name = s->launch->function;
    schedule_hole(s, "listed", fn_text(f, any ? "%s_WHOLE_ROWS * %s_WHOLE_COLUMNS" : "%s_WHOLE", name, name));
    schedule_hole(s, "copied", fn_text(f, any ? "%s_TILE%s%s" : "%s_STAGE%s%s", name, below, right));
    schedule_hole(s, "fringe_bytes", any ? fn_text(f, " + %d", fringe.below_bytes + fringe.right_bytes) : "");
    schedule_hole(s, "fringe_take", any ? fn_text(f, "%s_fringe *f, bool below, bool right, ", name) : "");
}

int product_fill_fringe(Schedule *s, const Product *p, ProductMaps *maps) {
    Fringe fringe = fringe_of(s, p);
    fill_sizes(s, fringe);
    fill_order(s, fringe);
    fill_texts(s, fringe);
    fill_maps(s, p, fringe, maps);
    if (!fringe.below && !fringe.right)
        schedule_kind(s, "inside");
    else
        fill_kinds(s, p, fringe);
    fill_tests(s);
    return fringe.below_bytes + fringe.right_bytes;
}
