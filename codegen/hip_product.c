/* hip_product.c: what the schedule of a product of two matrices wants to know of a kernel. */
#include "codegen/hip_schedule.h"
#include "target/match.h"
#include "target/skinny.h"

#include <inttypes.h>

enum {
    STAGE_BYTES = 196608, /* of workgroup memory, for all stages */
    RUN_STEPS = 8         /* of 8-bit types, that are written out one behind the other */
};

/* Results of 16 bits go through workgroup memory, in tiles where their rows are multiples of 16 bytes, others straight
   from registers. */
static bool stores_by_tiles(const Param *c) { return elem_bits(c->elem) == 16 && c->dim[1].c % 8 == 0; }

/* Positions that some threads have beyond the end must not be read: `clamp(x, end)` where there are such. */
static void fill_clamp(Schedule *s, char range, int64_t extent, int64_t tile) {
    Fn *f = &s->f;
    bool past = extent % tile != 0;
    schedule_hole(s, fn_text(f, "clamp_%c", range), past ? "tile_min_i32(" : "");
    schedule_hole(s, fn_text(f, "end_%c", range), past ? fn_text(f, ", %" PRId64 ")", extent - 1) : "");
}

/* What is common to the schedules of products: the type of the result, and what is stored for a sum. */
static void fill_result(Schedule *s, const Product *p) {
    Fn *f = &s->f;
    const Param *c = &f->k->param.p[p->c];
    schedule_hole(s, "out", elem_text(c->elem));
    schedule_hole(s, "elem", elem_c(c->elem));
    schedule_hole(s, "narrow", c->elem == ELEM_F32 ? "" : fn_text(f, "tile_%s_of_f32", elem_text(c->elem)));
    schedule_hole(s, "c", hip_argument(f, p->c));
    schedule_kind(s, p->plain ? "plain" : "result");
    if (p->plain) return;
    const char *name = fn_text(f, "%s_result", s->launch->function);
    schedule_hole(s, "epilogue", epilogue_text(s, p->store, p->loop->res.p[0], name));
}

/* As the machine's instructions call it. */
static const char *type_text(Elem e) { return e == ELEM_F8E4M3 ? "e4m3" : e == ELEM_F8E5M2 ? "e5m2" : elem_text(e); }

static void fill_sizes(Schedule *s, const Product *p) {
    const Kernel *k = s->f.k;
    schedule_kind(s, p->across ? "columns" : "rows");
    schedule_number(s, "M", k->range.p[0].of.c);
    schedule_number(s, "N", k->range.p[1].of.c);
    schedule_number(s, "K", p->depth);
    schedule_hole(s, "type", type_text(k->param.p[p->a].elem));
}

/* ---- tiles of both ---- */

static void fill_stores(Schedule *s, const Product *p) {
    Fn *f = &s->f;
    const Param *c = &f->k->param.p[p->c];
    bool tiled = stores_by_tiles(c), bare = tiled && p->plain;
    const char *how = elem_bits(c->elem) == 16 ? "through" : "straight";
    schedule_kind(s, how);
    if (elem_bits(c->elem) == 16) schedule_kind(s, tiled ? "tiled" : "staged");
    schedule_kind(s, fn_text(f, "%s_%s", p->plain ? "plain" : "result", how));
    if (elem_bits(c->elem) != 16) schedule_kind(s, c->dim[1].c % 2 ? "single" : "wide");
    schedule_hole(s, "take", bare ? "" : fn_text(f, "%s_call call, ", f->p->name));
    schedule_hole(s, "give", bare ? "" : "call, ");
    fill_clamp(s, 'i', c->dim[0].c, 256);
    fill_clamp(s, 'j', c->dim[1].c, s->facts->columns);
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
    const MatrixSchedule *facts = matrix_schedule(s->f.hip->target, "product", k->range.p[1].size);
    if (!facts) return false;
    int columns = facts->columns, bytes = elem_bits(k->param.p[p.a].elem) / 8;
    schedule_begin(s, facts);
    fill_maps(s, &p);
    fill_sizes(s, &p);
    fill_result(s, &p);
    fill_stores(s, &p);
    if (p.across) schedule_kind(s, columns > 64 ? "panels" : "panel");
    const char *breadth = columns > 64 ? "broad" : "small", *sums = bytes == 1 ? "parts" : "whole";
    schedule_kind(s, breadth);
    schedule_kind(s, sums);
    schedule_kind(s, fn_text(&s->f, "%s_%s", breadth, sums));
    schedule_kind(s, fn_text(&s->f, "%s_%s", p.across ? "columns" : "rows", sums));
    schedule_kind(s, fn_text(&s->f, "%s_%s", p.plain ? "plain" : "result", sums));
    schedule_number(s, "DEEP", 128 / bytes);
    schedule_number(s, "RUN", RUN_STEPS);
    schedule_hole(s, "widths",
                  columns > 64 && bytes > 1 ? fn_text(&s->f, "%d or 64", columns) : fn_text(&s->f, "%d", columns));
    schedule_number(s, "PASS", columns > 64 ? 128 : 64);
    schedule_number(s, "COLUMNS", columns);
    schedule_number(s, "STAGES", STAGE_BYTES / ((128 + columns) * 128));
    schedule_hole(s, "across", p.across ? "1" : "0");
    return true;
}

/* ---- few rows or few tiles: b is streamed, and takes the left side of the products ---- */

static void fill_cluster(Schedule *s, const SkinnyPlan *p) {
    int together = p->parts * p->beside; /* one of them is 1 */
    schedule_kind(s, p->parts > 1 ? "split" : "whole");
    schedule_kind(s, p->beside > 1 ? "beside" : "single");
    schedule_number(s, "CLUSTER", together);
    schedule_number(s, "BESIDE", p->beside);
    schedule_number(s, "PIECE", p->rows / p->beside);
    const char *text = "";
    if (p->parts > 1)
        text = fn_text(&s->f,
                       " %d workgroups of a\n   cluster share a tile, each a part of k; their sums meet in each "
                       "other's memory, each makes a part of the result.",
                       together);
    if (p->beside > 1)
        text = fn_text(&s->f,
                       " %d workgroups of a\n   cluster have tiles beside each other; each copies a part of a's rows "
                       "to all of them.",
                       together);
    schedule_hole(s, "together", text);
    s->launch->cluster = together;
    s->launch->parts = p->parts;
}

bool skinny_prepare(Schedule *s) {
    Product p;
    const Kernel *k = s->f.k;
    if (product_match(k, &p)) return false;
    SkinnyPlan plan =
        skinny_plan(s->f.hip->target, k->range.p[0].of.c, k->range.p[1].of.c, p.depth, k->range.p[1].size);
    if (!plan.facts) return false;
    int tall = plan.facts->columns, stage = (tall + plan.rows) * plan.deep * 2;
    schedule_begin(s, plan.facts);
    fill_cluster(s, &plan);
    schedule_maps(
        s, (GpuMap[]){schedule_map(s, p.a, 0, plan.rows / plan.beside), schedule_map(s, p.b, 0, p.across ? 64 : tall)},
        (int[]){p.a, p.b}, 2);
    fill_sizes(s, &p);
    fill_result(s, &p);
    schedule_number(s, "ROWS", plan.rows);
    schedule_number(s, "TALL", tall);
    schedule_number(s, "DEEP", plan.deep);
    schedule_number(s, "STAGES", (plan.facts->lds_bytes - 2048) / stage);
    return true;
}
