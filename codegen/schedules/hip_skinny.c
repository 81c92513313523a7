/* hip_skinny.c: what the schedule of products of few rows or few tiles wants to know: b is streamed, and takes the left
   side of the products. */
#include "codegen/schedules/hip_schedule.h"
#include "codegen/schedules/match.h"
#include "codegen/schedules/skinny.h"

#include <inttypes.h>

enum {
    FEW_ROWS = 16, /* of a tile, whose results leave one by one: blocks of them would take the place of a stage */
    BESIDE = 9216  /* bytes of workgroup memory, chosen: a kernel of rows finds room beside */
};

int product_fill_cluster(Schedule *s, const SkinnyPlan *p) {
    int together = p->parts * p->beside; /* one of them is 1 */
    schedule_kind(s, p->parts > 1 ? "split" : "whole");
    schedule_kind(s, p->beside > 1 ? "beside" : "single");
    schedule_number(s, "CLUSTER", together);
    schedule_number(s, "BESIDE", p->beside);
    schedule_number(s, "PIECE", p->rows / p->beside);
    s->launch->cluster = together;
    s->launch->parts = p->parts;
    return together;
}

bool product_is_early(const Schedule *s, const int *b, int n) {
    bool early = true;
    for (int i = 0; i < n; i++) early &= gpu_reads_early(s->launch, s->f.p, b[i]);
    return early;
}

void product_fill_early(Schedule *s, bool early) {
    schedule_kind(s, early ? "early" : "late");
    if (early) schedule_kind(s, s->launch->parts > 1 ? "early_split" : "early_whole");
    schedule_hole(s, "begun", early ? ", 0" : "");
    s->launch->early = early;
}

/* With half of the memory, two workgroups of the next launch may begin beside one that goes on, and others have none
   (measured: docs/design/schedules.md). */
static int lds_of(const Schedule *s, const SkinnyPlan *p, bool early) {
    const int all = s->f.hip->target->lds_bytes - BESIDE;
    return early && p->facts->lds_bytes < all ? all : p->facts->lds_bytes;
}

static void fill_cluster(Schedule *s, const SkinnyPlan *p) {
    int together = product_fill_cluster(s, p);
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
}

/* A warpgroup has the sums of both products, where there are two. */
static void fill_sums(Schedule *s, const Product *p, int tall) {
    Fn *f = &s->f;
    const char *function = s->launch->function;
    bool two = p->sums > 1;
    int wide = tall / p->sums;
    if (s->launch->parts > 1 && two) schedule_kind(s, "split_two");
    schedule_number(s, "WIDE", wide);
    schedule_number(s, "TALL", tall);
    schedule_hole(s, "tall",
                  fn_text(f, two ? "%d rows (or columns) of each of two b" : "%d rows (or columns) of b", wide));
    schedule_hole(s, "b", two ? "each b" : "b");
    schedule_hole(s, "each", two ? " and product" : "");
    schedule_hole(s, "sums", fn_text(f, "%s%s_SUMS", two ? "2 * " : "", function));
    schedule_hole(s, "args", two ? "x, y" : "x");
    const char *total = fn_text(f, "%s_total(sent, r)", function);
    schedule_hole(s, "totals", two ? fn_text(f, "%s, %s_total(sent + %s_SENT, r)", total, function, function) : total);
}

/* The stores of the sums x and y, or of those numbered q, at [i, j]; of one result where there are two. */
static const char *stored_text(Schedule *s, const Product *p, int which, bool blocks) {
    Fn *f = &s->f;
    const char *q = blocks ? "[q]" : "", *pick = p->stores > 1 ? fn_text(f, "%d, ", which) : "";
    if (p->plain) return fn_text(f, "%s%s", which ? "y" : "x", q);
    const char *sums = fn_text(f, p->sums > 1 ? "x%s, y%s" : "x%s", q, q);
    const char *place = blocks ? "i[q & 1], j[q >> 1]" : "i, j";
    return fn_text(f, "%s_result(call, %s%s, %s)", s->launch->function, pick, sums, place);
}

/* Results leave in blocks of 8 rows through workgroup memory, or apart from registers. */
static void fill_blocks(Schedule *s, const Product *p, const SkinnyPlan *plan, bool blocks) {
    Fn *f = &s->f;
    const char *how = blocks ? "tiled" : "apart", *function = s->launch->function;
    bool bare = blocks && p->plain, two = p->sums > 1;
    int wide = plan->facts->columns / p->sums;
    const char *words[] = {plan->parts > 1 ? "split" : "whole", p->plain ? "plain" : "result"};
    schedule_kind(s, how);
    for (int i = 0; i < 2; i++) schedule_kind(s, fn_text(f, "%s_%s", words[i], how));
    if (p->stores > 1) schedule_kind(s, fn_text(f, "%s_both", how));
    if (plan->parts > 1 && two) schedule_kind(s, fn_text(f, "split_%s_two", how));
    schedule_number(s, "TOGETHER", blocks ? 4 : 1);
    schedule_number(s, "STORES", p->stores);
    schedule_number(s, "FIRST", 1 + p->sums);
    schedule_hole(s, "take", bare ? "" : fn_text(f, "%s call, ", f->hip->call));
    schedule_hole(s, "give", bare ? "" : "call, ");
    schedule_hole(s, "mapped", blocks ? fn_text(f, "const %s_maps *maps, ", function) : "");
    schedule_hole(s, "maps", blocks ? "&maps, " : "");
    schedule_hole(s, "value", stored_text(s, p, 0, blocks));
    schedule_hole(s, "other", stored_text(s, p, 1, blocks));
    const char *given = blocks ? "const float x[4]" : "float x", *more = blocks ? ", const float y[4]" : ", float y";
    schedule_hole(s, "given", fn_text(f, "%s%s", given, two ? more : ""));
    const char *held = blocks ? "acc + r" : "acc[r]", *second = blocks ? "acc + %s_SUMS + r" : "acc[%s_SUMS + r]";
    schedule_hole(s, "held", two ? fn_text(f, "%s, %s", held, fn_text(f, second, function)) : held);
    product_fill_clamp(s, 'i', f->k->param.p[p->c[0]].dim[0].c, plan->rows);
    product_fill_clamp(s, 'j', f->k->param.p[p->c[0]].dim[1].c, (int64_t)wide * plan->beside);
}

/* Rows of a in a tile. A copy fills those beyond the end with zeros, which takes longer than to copy others. */
static int rows_copied(const SkinnyPlan *p, int64_t rows) {
    return p->beside == 1 && rows < p->rows ? (int)rows : p->rows;
}

bool skinny_prepare(Schedule *s) {
    Product p;
    const Kernel *k = s->f.k;
    if (product_match(k, &p).words) return false;
    if (!matrix_schedule(s->f.hip->target, "skinny", 0)->cluster) return skinny_prepare_cdna(s, &p);
    SkinnyPlan plan =
        skinny_plan(s->f.hip->target, k->range.p[0].of.c, k->range.p[1].of.c, p.depth, p.sums, k->range.p[1].size);
    if (!plan.facts) return false;
    const bool early = product_is_early(s, p.b, p.sums);
    const int lds = lds_of(s, &plan, early);
    plan.deep = skinny_deep(&plan, lds);
    int tall = plan.facts->columns, stage = (tall + plan.rows) * plan.deep * 2;
    bool blocks = plan.rows > FEW_ROWS && product_stores_tiles(&k->param.p[p.c[0]]);
    int out = blocks ? p.stores * tall / p.sums * plan.rows * 2 : 0;
    ProductMaps maps = {.n = 0};
    MatrixSchedule facts = *plan.facts;
    facts.threads = 128 * (tall / 64 / p.sums + 1); /* a warpgroup copies */
    facts.lds_bytes = lds;
    schedule_begin(s, &facts);
    s->facts = plan.facts;
    fill_cluster(s, &plan);
    int rows = rows_copied(&plan, k->range.p[0].of.c);
    product_maps_add(&maps, s, &p.a, 1, rows / plan.beside);
    product_maps_add(&maps, s, p.b, p.sums, p.b_is_kn || p.sums > 1 ? 64 : tall);
    if (blocks) product_maps_add(&maps, s, p.c, p.stores, 8);
    schedule_maps(s, maps.map, maps.param, maps.n);
    product_fill_sizes(s, &p);
    product_fill_early(s, early);
    product_fill_result(s, &p);
    fill_sums(s, &p, tall);
    fill_blocks(s, &p, &plan, blocks);
    schedule_hole(s, "once", k->range.p[0].of.c <= plan.rows ? "_once" : "");
    schedule_number(s, "ROWS", plan.rows);
    schedule_number(s, "COPIED", rows);
    schedule_number(s, "DEEP", plan.deep);
    schedule_number(s, "STAGES", (lds - 2048 - out) / stage);
    return true;
}
