/* hip_product.c: what the schedule of a product of two matrices wants to know of a kernel. */
#include "codegen/hip_schedule.h"
#include "target/match.h"

#include <inttypes.h>

enum { STAGE_BYTES = 196608 }; /* of workgroup memory, for all stages */

/* Results go through workgroup memory in 16-bit elements and rows of a multiple of 16 bytes, else straight from
 * registers. */
static bool stores_by_tiles(const Param *c) { return elem_bits(c->elem) == 16 && c->dim[1].c % 8 == 0; }

/* Positions that some threads have beyond the end must not be read: `clamp(x, end)` where there are such. */
static void fill_clamp(Schedule *s, char range, int64_t extent, int64_t tile) {
    Fn *f = &s->f;
    bool past = extent % tile != 0;
    schedule_hole(s, fn_text(f, "clamp_%c", range), past ? "tile_min_i32(" : "");
    schedule_hole(s, fn_text(f, "end_%c", range), past ? fn_text(f, ", %" PRId64 ")", extent - 1) : "");
}

static void fill_result(Schedule *s, const Product *p) {
    Fn *f = &s->f;
    const Param *c = &f->k->param.p[p->c];
    bool tiled = stores_by_tiles(c), wide = elem_bits(c->elem) == 32;
    const char *how = tiled ? "tiled" : "straight", *what = p->plain ? "plain" : "result";
    schedule_kind(s, how);
    schedule_kind(s, what);
    schedule_kind(s, fn_text(f, "%s_%s", what, how));
    if (!tiled) schedule_kind(s, c->dim[1].c % 2 ? "single" : wide ? "wide" : "pair");
    schedule_hole(s, "out", elem_text(c->elem));
    schedule_hole(s, "elem", elem_c(c->elem));
    schedule_hole(s, "narrow", wide ? "" : fn_text(f, "tile_%s_of_f32", elem_text(c->elem)));
    schedule_hole(s, "c", hip_argument(f, p->c));
    schedule_hole(s, "take", tiled && p->plain ? "" : fn_text(f, "%s_call call, ", f->p->name));
    schedule_hole(s, "give", tiled && p->plain ? "" : "call, ");
    fill_clamp(s, 'i', c->dim[0].c, 256);
    fill_clamp(s, 'j', c->dim[1].c, s->facts->columns);
    if (!p->plain)
        schedule_hole(s, "epilogue",
                      epilogue_text(s, p->store, p->loop->res.p[0], fn_text(f, "%s_result", s->launch->function)));
}

static void fill_maps(Schedule *s, const Product *p) {
    int columns = s->facts->columns, rows = p->across && columns > 64 ? 64 : columns / 2; /* of a box of b */
    int n = stores_by_tiles(&s->f.k->param.p[p->c]) ? 3 : 2;
    const GpuMap map[3] = {schedule_map(s, p->a, 0, 128), schedule_map(s, p->b, 0, rows), schedule_map(s, p->c, 0, 64)};
    schedule_maps(s, map, (int[]){p->a, p->b, p->c}, n);
}

bool product_prepare(Schedule *s) {
    Product p;
    const Kernel *k = s->f.k;
    if (product_match(k, &p)) return false;
    s->facts = matrix_schedule(s->f.hip->target, "product", k->range.p[1].size);
    if (!s->facts) return false;
    int columns = s->facts->columns;
    fill_maps(s, &p);
    schedule_kind(s, p.across ? "columns" : "rows");
    if (p.across) schedule_kind(s, columns > 64 ? "panels" : "panel");
    schedule_kind(s, columns > 64 ? "broad" : "small");
    schedule_hole(s, "widths", columns > 64 ? fn_text(&s->f, "%d, 64", columns) : "64");
    schedule_number(s, "PASS", columns > 64 ? 128 : 64);
    schedule_number(s, "M", k->range.p[0].of.c);
    schedule_number(s, "N", k->range.p[1].of.c);
    schedule_number(s, "K", p.depth);
    schedule_number(s, "COLUMNS", columns);
    schedule_number(s, "STAGES", STAGE_BYTES / ((128 + columns) * 128));
    schedule_hole(s, "type", elem_text(k->param.p[p.a].elem));
    schedule_hole(s, "across", p.across ? "1" : "0");
    fill_result(s, &p);
    return true;
}
