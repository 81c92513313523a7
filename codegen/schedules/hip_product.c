/* hip_product.c: what the schedule of a product of two matrices wants to know of a kernel. */
#include "codegen/schedules/hip_schedule.h"
#include "codegen/schedules/match.h"
#include "codegen/schedules/skinny.h"

#include <inttypes.h>

enum {
    STAGE_BYTES = 196608, /* of workgroup memory, for all stages */
    RUN_STEPS = 8,        /* of 8-bit types, that are written out one behind the other */
    NARROW = 64           /* columns, for which there are instructions of their own */
};

/* Results of 16 bits go through workgroup memory, in tiles where their rows are multiples of 16 bytes, others straight
   from registers. */
bool product_stores_tiles(const Param *c) { return elem_bits(c->elem) == 16 && c->dim[1].c % 8 == 0; }

/* Positions that some threads have beyond the end must not be read: `clamp(x, end)` where there are such. */
void product_fill_clamp(Schedule *s, char range, int64_t extent, int64_t tile) {
    Fn *f = &s->f;
    bool past = extent % tile != 0;
    schedule_hole(s, fn_text(f, "clamp_%c", range), past ? "tile_min_i32(" : "");
    schedule_hole(s, fn_text(f, "end_%c", range), past ? fn_text(f, ", %" PRId64 ")", extent - 1) : "");
}

/* What is stored, as one type for several results: integers that floats do not hold stay integers. */
static Elem result_elem(const Param *c) { return c->elem == ELEM_I32 ? ELEM_I32 : ELEM_F32; }

/* What is stored for each sum; of two results which one is said. */
static const char *epilogues(Schedule *s, const Product *p, EpilogueGiven of) {
    Fn *f = &s->f;
    const char *name = fn_text(f, "%s_result", s->launch->function), *call = f->hip->call;
    Elem to = result_elem(&f->k->param.p[p->c[0]]);
    if (p->stores == 1) return epilogue_text(s, p->store[0]->arg.p[0], to, of, name);
    const char *text = "";
    for (int i = 0; i < p->stores; i++)
        text = fn_text(f, "%s%s", text, epilogue_text(s, p->store[i]->arg.p[0], to, of, fn_text(f, "%s_%d", name, i)));
    const char *sum = elem_c(p->loop->res.p[0]->type.elem), *given = p->sums > 1 ? "x, y" : "x", *result = elem_c(to);
    const char *sums = p->sums > 1 ? fn_text(f, "%s x, %s y", sum, sum) : fn_text(f, "%s x", sum);
    return fn_text(f,
                   "%sTILE_FN %s %s(%s call, int c, %s, int i, int j) {\n"
                   "    return c ? %s_1(call, %s, i, j) : %s_0(call, %s, i, j);\n}\n",
                   text, result, name, call, sums, name, given, name, given);
}

/* What is common to the schedules of products: the type of the results, and what is stored for a sum. */
void product_fill_result(Schedule *s, const Product *p, EpilogueGiven of) {
    Fn *f = &s->f;
    const Param *c = &f->k->param.p[p->c[0]];
    const char *kind = p->plain ? "plain" : "result";
    schedule_hole(s, "out", elem_text(c->elem));
    schedule_hole(s, "elem", elem_c(c->elem));
    const char *narrow = fn_text(f, "tile_%s_of_f32", elem_text(c->elem));
    schedule_hole(s, "narrow", elem_bits(c->elem) == 32 ? "" : c->elem == ELEM_I8 ? "(int8_t)" : narrow);
    schedule_hole(s, "c", hip_argument(f, p->c[0])->text);
    schedule_hole(s, "sum", p->sums > 1 ? "sums x and y" : "a sum x");
    schedule_kind(s, kind);
    if (!p->plain) schedule_hole(s, "epilogue", epilogues(s, p, of));
    if (p->stores == 1) return;
    schedule_hole(s, "second", hip_argument(f, p->c[1])->text);
    schedule_kind(s, "both");
    schedule_kind(s, fn_text(f, "%s_both", kind));
}

/* As the machine's instructions call it. */
static const char *type_text(Elem e) { return e == ELEM_F8E4M3 ? "e4m3" : e == ELEM_F8E5M2 ? "e5m2" : elem_text(e); }

void product_fill_sizes(Schedule *s, const Product *p) {
    const Kernel *k = s->f.k;
    const char *runs = p->b_is_kn ? "columns" : "rows", *sums = p->sums > 1 ? "two" : "one";
    schedule_kind(s, runs);
    schedule_kind(s, sums);
    schedule_kind(s, fn_text(&s->f, "%s_%s", runs, sums));
    schedule_hole(s, "across", p->b_is_kn ? "1" : "0");
    schedule_number(s, "M", k->range.p[p->row].of.c);
    schedule_number(s, "N", k->range.p[p->row + 1].of.c);
    schedule_number(s, "K", p->depth);
    schedule_hole(s, "type", type_text(k->param.p[p->a].elem));
}

void product_maps_add(ProductMaps *to, Schedule *s, const int *param, int n, int box) {
    for (int i = 0; i < n; i++) {
        to->map[to->n] = schedule_map(s, param[i], 0, box);
        to->param[to->n++] = param[i];
    }
}

/* ---- tiles of both ---- */

/* Of results to memory. */
static const char *way_of(const Param *c) { return elem_bits(c->elem) == 16 ? "through" : "straight"; }

/* How results leave registers. */
static void fill_ways(Schedule *s, const Product *p, const Param *c, bool tiled) {
    Fn *f = &s->f;
    const char *how = way_of(c);
    schedule_kind(s, how);
    if (elem_bits(c->elem) == 16) schedule_kind(s, tiled ? "tiled" : "staged");
    schedule_kind(s, fn_text(f, "%s_%s", p->plain ? "plain" : "result", how));
    if (!p->plain) schedule_kind(s, fn_text(f, "%s_%s", p->sums > 1 ? "two" : "one", how));
    if (elem_bits(c->elem) != 16)
        schedule_kind(s, c->dim[1].c % 2 ? "single" : elem_bits(c->elem) == 8 ? "bytes" : "wide");
}

static void fill_stores(Schedule *s, const Product *p, int wide) {
    Fn *f = &s->f;
    const Param *c = &f->k->param.p[p->c[0]];
    bool tiled = product_stores_tiles(c), bare = tiled && p->plain, fringe = product_has_fringe(s, p);
    fill_ways(s, p, c, tiled);
    schedule_hole(s, "take", bare ? "" : fn_text(f, "%s call, ", f->hip->call));
    schedule_hole(s, "give", bare ? "" : "call, ");
    schedule_hole(s, "take_all", bare && !fringe ? "" : fn_text(f, "%s call, ", f->hip->call));
    schedule_hole(s, "give_all", bare && !fringe ? "" : "call, ");
    bool beside = product_beside(s, p);
    product_fill_clamp(s, 'i', c->dim[0].c, beside ? 128 : 256);
    product_fill_clamp(s, 'j', c->dim[1].c, wide);
}

static int pass_columns(int wide) { return wide % 128 ? 64 : 128; }

/* Its last pass begins within the one before. */
static bool is_uneven(int wide) { return wide % pass_columns(wide) != 0; }

/* Of two results which one a pass stores. */
static const char *second_of_pass(int wide) { return wide > pass_columns(wide) ? "half % 2" : "half"; }

/* Of the columns of a tile the first of a pass, and of a thread's sums. */
static void fill_start(Schedule *s, int wide, const char *part) {
    Fn *f = &s->f;
    int pass = pass_columns(wide);
    bool uneven = is_uneven(wide);
    const char *each = fn_text(f, "%d * half", pass);
    const char *start = uneven ? "start" : fn_text(f, "%d * %s", pass, part);
    const char *sums = uneven ? "start / 2" : fn_text(f, "%d * %s", pass / 2, part);
    schedule_hole(s, "begin", uneven ? fn_text(f, "tile_min_i32(%s, %d)", each, wide - pass) : each);
    schedule_hole(s, "of_pass", uneven ? sums : fn_text(f, "%d * half", pass / 2));
    schedule_hole(s, "pass", *part ? fn_text(f, " + %s", start) : "");
    schedule_hole(s, "less", *part ? fn_text(f, " - %s", start) : "");
    schedule_hole(s, "from", *part ? fn_text(f, "%s + ", sums) : "");
}

/* Passes through workgroup memory: columns of a result, then those of the other, so that few sums stay. */
static void fill_passes(Schedule *s, const Product *p, int wide) {
    Fn *f = &s->f;
    int pass = pass_columns(wide);
    bool both = p->stores > 1;
    fill_start(s, wide, !both ? "half" : wide > pass ? "(half / 2)" : "");
    if (is_uneven(wide)) schedule_kind(s, fn_text(f, "uneven_%s", way_of(&f->k->param.p[p->c[0]])));
    schedule_number(s, "PASS", pass);
    schedule_number(s, "passes", ceil_div(wide, pass) * p->stores);
    schedule_hole(s, "map", both ? fn_text(f, " + %s", second_of_pass(wide)) : "");
    schedule_hole(s, "pick", both ? "int second, " : "");
    schedule_number(s, "OUT", p->sums + 1);
}

/* Two results: which one, of a pass or by the number r of what a thread stores. */
static void fill_targets(Schedule *s, const Product *p, int wide) {
    Fn *f = &s->f;
    bool both = p->stores > 1, passes = elem_bits(f->k->param.p[p->c[0]].elem) == 16;
    const char *second = passes ? second_of_pass(wide) : fn_text(f, "r / %d", wide / 2),
               *c = hip_argument(f, p->c[0])->text;
    schedule_number(s, "EACH", p->sums > 1 ? wide / 2 : 64); /* sums of a thread and product; of a pass */
    schedule_number(s, "STORED", wide * p->stores);
    if (!passes) schedule_kind(s, both ? "straight_both" : "straight_one");
    schedule_hole(s, "in", both ? fn_text(f, "r %% %d", wide / 2) : "r");
    schedule_hole(s, "which", both ? fn_text(f, "%s, ", second) : "");
    schedule_hole(s, "target",
                  both ? fn_text(f, "%s ? %s : %s", passes ? "second" : second, hip_argument(f, p->c[1])->text, c) : c);
    schedule_hole(s, "results", p->sums == 1 ? "sums" : both ? "results of each sum" : "results");
}

/* The last tile has so few columns that it is multiplied by narrower instructions. */
static bool ends_narrow(const Schedule *s, const Product *p) {
    const Kernel *k = s->f.k;
    int64_t columns = s->facts->columns, rest = k->range.p[1].of.c % columns;
    bool sixteen = elem_bits(k->param.p[p->a].elem) == 16;
    return sixteen && p->sums == 1 && rest && rest <= NARROW && columns > NARROW && !product_has_fringe(s, p);
}

/* Two products: each workgroup of the cluster copies one matrix, and all columns of a tile are multiplied at once. */
static void fill_copies(Schedule *s, const Product *p, int wide) {
    Fn *f = &s->f;
    bool two = p->sums > 1;
    schedule_number(s, "WIDE", wide);
    schedule_hole(s, "made", (two ? cexpr_open(f, "%d of two products of one a", wide) : cexpr_number(f, wide))->text);
    schedule_hole(s, "share",
                  two                    ? "copy one B each and share both"
                  : product_beside(s, p) ? "share A"
                                         : "share B's part");
    schedule_hole(s, "alone", !ends_narrow(s, p) ? "" : ", and the last 64 columns or\n   fewer are multiplied alone");
    schedule_hole(s, "operand", two ? "&maps->map[1 + at.rank]" : "&maps->map[1]");
    schedule_hole(s, "beside", two ? "" : fn_text(f, " + %d / 2 * at.rank", wide));
}

/* Of b in a stage, 128 bytes each: its columns, or its rows in panels of 64 columns. */
static int lines_of(const Schedule *s, const Product *p) {
    int columns = s->facts->columns;
    return p->b_is_kn ? (int)ceil_div(columns, 64) * 64 : columns;
}

static void fill_maps(Schedule *s, const Product *p) {
    int columns = s->facts->columns, lines = lines_of(s, p);
    bool beside = product_beside(s, p),
         halves = p->b_is_kn && columns % 128; /* workgroups copy half of the rows of each panel */
    int rows = beside ? (p->b_is_kn ? 64 : columns) : halves ? 32 : p->b_is_kn ? 64 : columns / 2; /* of a box of b */
    ProductMaps maps = {.n = 0};
    product_maps_add(&maps, s, &p->a, 1, beside ? 64 : 128);
    product_maps_add(&maps, s, p->b, p->sums, rows);
    if (product_stores_tiles(&s->f.k->param.p[p->c[0]])) product_maps_add(&maps, s, p->c, p->stores, 64);
    product_fill_residual(s, p, &maps);
    int more = product_fill_fringe(s, p, &maps);
    schedule_number(s, "HALF", halves ? 64 : columns);
    schedule_number(s, "LINES", lines);
    schedule_number(s, "STAGES", STAGE_BYTES / ((128 + lines) * 128 + more));
    schedule_maps(s, maps.map, maps.param, maps.n);
}

/* Of both warpgroups, at the end of tiles that take long: others lose by it. With no more steps than stages the first
   could be done with two tiles before the second has come to the end of one, and their barrier would count both. */
static void fill_turns(Schedule *s, const Product *p, int columns, int bytes) {
    int stages = STAGE_BYTES / ((128 + lines_of(s, p)) * 128);
    bool turns = bytes > 1 && columns > 128 && ceil_div(p->depth, 128 / bytes) > stages;
    if (turns) schedule_kind(s, "turns");
    schedule_hole(
        s, "turns",
        turns ? " The second warpgroup ends a tile behind the first: one stores while\n   the other multiplies." : "");
}

/* A loop of few steps stays one: written out, its products would wait for each other. */
static const char *steps_text(Schedule *s, const Product *p, int bytes) {
    enum { FEW = 4 };
    bool few = ceil_div(p->depth, 128 / bytes) <= FEW;
    return fn_text(&s->f, few ? "tile_unknown(%s_STEPS)" : "%s_STEPS", s->launch->function);
}

/* Tiles of whole pairs: where their number is odd in one direction, a workgroup of each last pair has none. */
static int64_t paired_groups(const Kernel *k, bool beside) {
    const Range *i = &k->range.p[0], *j = &k->range.p[1];
    int64_t rows = beside ? i->size : 2 * i->size, columns = beside ? 2 * j->size : j->size;
    return 2 * ceil_div(i->of.c, rows) * ceil_div(j->of.c, columns);
}

/* How the two workgroups of a cluster lie, and who copies what. */
static void fill_lie(Schedule *s, const Product *p, int columns) {
    Fn *f = &s->f;
    bool beside = product_beside(s, p);
    const char *lie = beside ? "beside" : "above", *function = s->launch->function;
    s->launch->groups = paired_groups(f->k, beside);
    schedule_kind(s, lie);
    schedule_kind(s, fn_text(f, "%s_%s", p->b_is_kn ? "columns" : "rows", lie));
    if (p->b_is_kn && !beside) schedule_kind(s, columns % 128 ? "panel" : "panels");
    schedule_hole(s, "lie", beside ? "side by side" : "one above the other");
    schedule_hole(s, "own", beside ? "" : fn_text(f, " + at.rank * %s_B_BYTES", function));
    schedule_hole(s, "outside", fn_text(f, beside ? "i0 >= %s_M || j0 >= %s_N" : "i0 >= %s_M", function, function));
    schedule_hole(s, "inside", beside ? fn_text(f, " && j0 < %s_N", function) : "");
}

/* How tiles are multiplied. */
static void fill_products(Schedule *s, const Product *p, int columns, int bytes) {
    Fn *f = &s->f;
    bool narrow = ends_narrow(s, p);
    const char *breadth = narrow ? "broad" : "even", *sums = bytes == 1 ? "parts" : "whole";
    fill_lie(s, p, columns);
    fill_turns(s, p, columns, bytes);
    schedule_kind(s, breadth);
    schedule_kind(s, sums);
    schedule_kind(s, fn_text(f, "%s_%s", breadth, sums));
    schedule_kind(s, fn_text(f, "%s_%s", p->b_is_kn ? "columns" : "rows", sums));
    schedule_kind(s, fn_text(f, "%s_%s", p->plain ? "plain" : "result", sums));
    schedule_number(s, "DEEP", 128 / bytes);
    schedule_hole(s, "steps", steps_text(s, p, bytes));
    schedule_number(s, "RUN", RUN_STEPS);
    schedule_hole(s, "widths", fn_text(f, narrow ? "%d or 64" : "%d", columns));
    schedule_number(s, "COLUMNS", columns);
    if (!narrow && !product_has_fringe(s, p)) schedule_kind(s, fn_text(f, "even_%s_alone", sums));
}

bool product_prepare(Schedule *s) {
    Product p;
    const Kernel *k = s->f.k;
    if (product_match(k, &p).words) return false;
    int wide = (int)k->range.p[1].size; /* columns of a result in a tile */
    const MatrixSchedule *facts = matrix_schedule(s->f.hip->target, "product", wide * p.sums);
    if (!facts) return false;
    if (!facts->cluster) return product_prepare_cdna(s, &p, facts);
    schedule_begin(s, facts);
    fill_maps(s, &p);
    product_fill_sizes(s, &p);
    product_fill_result(s, &p, (EpilogueGiven){.sums = p.loop, .residual = product_residual(s, &p)});
    fill_stores(s, &p, wide);
    fill_passes(s, &p, wide);
    fill_targets(s, &p, wide);
    fill_copies(s, &p, wide);
    fill_products(s, &p, facts->columns, elem_bits(k->param.p[p.a].elem) / 8);
    return true;
}
