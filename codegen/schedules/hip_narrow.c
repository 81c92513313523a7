/* hip_narrow.c: what the schedule `narrow` of products with few rows wants to know of a kernel. */
#include "codegen/schedules/hip_schedule.h"
#include "codegen/schedules/match.h"

#include <inttypes.h>

enum {
    ROW = 128,    /* bytes of a panel's */
    GROUP = 64,   /* rows that a warpgroup multiplies */
    THREADS = 128 /* of a warpgroup */
};

static int groups_of(const SkinnyPlan *p) { return (p->rows + GROUP - 1) / GROUP; }

static void fill_cluster(Schedule *s, const SkinnyPlan *p) {
    int together = product_fill_cluster(s, p);
    schedule_kind(s, together > 1 ? "meeting" : "alone");
    schedule_number(s, "PARTS", p->parts);
    const char *text = "";
    if (p->parts > 1) text = "\n   share a tile, each a part of k; their sums meet in each other's memory.";
    if (p->beside > 1) text = "\n   have tiles beside each other; each copies a part of a's rows to all of them.";
    if (together > 1) text = fn_text(&s->f, " %d workgroups of a cluster%s", together, text);
    schedule_hole(s, "together", text);
}

/* Results leave as vectors through workgroup memory, or one by one from registers. */
static void fill_results(Schedule *s, const Product *p, const SkinnyPlan *plan, bool tiled) {
    Fn *f = &s->f;
    const char *how = tiled ? "tiled" : "apart", *place = tiled ? "i[q >> 1], j[q & 1]" : "i, j";
    schedule_kind(s, how);
    schedule_kind(s, fn_text(f, "%s_%s", p->plain ? "plain" : "result", how));
    bool bare = p->plain;
    schedule_hole(s, "take", bare ? "" : fn_text(f, "%s call, ", f->hip->call));
    schedule_hole(s, "give", bare ? "" : "call, ");
    schedule_hole(s, "value", bare ? "x[q]" : fn_text(f, "%s_result(call, x[q], %s)", s->launch->function, place));
    schedule_hole(s, "results", plan->beside > 1 ? fn_text(f, " + %s_OUT", s->launch->function) : "");
    product_fill_clamp(s, 'i', f->k->param.p[p->c[0]].dim[0].c, (int64_t)GROUP * groups_of(plan));
    product_fill_clamp(s, 'j', f->k->param.p[p->c[0]].dim[1].c, (int64_t)plan->columns * plan->beside);
}

/* The ring takes what results and sums of other parts leave of workgroup memory. */
static void fill_ring(Schedule *s, const SkinnyPlan *p, int held, int rows) {
    int groups = groups_of(p), blocks = p->columns / 8, share = (blocks + p->parts - 1) / p->parts;
    int sent = p->parts > 1 ? p->parts * share * THREADS * groups * 16 : 0,
        out = p->beside > 1 ? groups * GROUP * 16 * ((blocks + 1) | 1) : 0;
    int lines = p->rows + held > groups * GROUP ? p->rows + held : groups * GROUP; /* of a panel */
    schedule_number(s, "HELD", held);
    schedule_number(s, "LINES", lines);
    schedule_number(s, "BYTES", (int64_t)(rows + held) * ROW);
    schedule_number(s, "DEEP", p->deep);
    schedule_number(s, "STAGES", (p->facts->lds_bytes - 2048 - sent - out) / (p->deep / 64 * lines * ROW));
}

bool narrow_prepare(Schedule *s) {
    Product p;
    const Kernel *k = s->f.k;
    if (product_match(k, &p).words) return false;
    int64_t m = k->range.p[0].of.c, n = k->range.p[1].of.c;
    SkinnyPlan few = skinny_plan(s->f.hip->target, m, n, p.depth, 1, 0),
               plan = narrow_plan(s->f.hip->target, &few, m, n, p.depth, p.b_is_kn, k->range.p[1].size);
    if (!plan.facts) return false;
    int held = p.b_is_kn ? (plan.columns + 63) / 64 * 64 : plan.columns; /* columns that are copied */
    int rows = plan.beside > 1 ? plan.rows : (int)m;                    /* of a, that are copied */
    MatrixSchedule facts = *plan.facts;
    ProductMaps maps = {.n = 0};
    facts.threads = THREADS * (groups_of(&plan) + 1); /* a warpgroup copies */
    schedule_begin(s, &facts);
    s->facts = plan.facts;
    fill_cluster(s, &plan);
    product_maps_add(&maps, s, &p.a, 1, rows / plan.beside);
    product_maps_add(&maps, s, p.b, 1, p.b_is_kn ? 64 : plan.columns);
    schedule_maps(s, maps.map, maps.param, maps.n);
    product_fill_sizes(s, &p);
    product_fill_early(s, product_is_early(s, p.b, 1));
    product_fill_result(s, &p);
    fill_results(s, &p, &plan, product_stores_tiles(&k->param.p[p.c[0]]));
    fill_ring(s, &plan, held, rows);
    schedule_hole(s, "once", held == plan.columns ? "_once" : "");
    schedule_number(s, "WIDE", plan.columns);
    schedule_number(s, "ROWS", plan.rows);
    return true;
}
