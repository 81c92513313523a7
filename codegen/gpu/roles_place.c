/* roles_place.c: the order of tasks of a kernel in the form roles: from a task's number to the number of its tile along
   each range, and back. */
#include "codegen/gpu/roles.h"
#include "codegen/text/program.h"

#include <string.h>

bool hip_role_edges_last(const Roles *r) { return r->order && r->order->edges; }

static OwnOrder own_order(const Roles *r) { return r->order ? r->order->own : OWN_AS_THEY_LIE; }

bool hip_role_has_first(const Roles *r) { return own_order(r) != OWN_AS_THEY_LIE; }

/* The mesh axis along which the kernel addresses memory of peers; -1: none. */
static int peers_axis(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].ranks >= 0) return k->param.p[i].ranks;
    return -1;
}

bool hip_role_leaves_own(const RolesWriter *w) {
    for (int a = 0; a < w->node->arg.n; a++)
        if (hip_own_rows(w->p, w->node->arg.p[a].tensor).sender == w->node->id) return true;
    return false;
}

/* The ranges that tasks count: the last two are rows and columns, those before count whole rasters. */
typedef struct {
    int range[MAX_RANGES], n, row;
    const char *columns; /* text of their number */
} Raster;

static Raster raster_of(const RolesWriter *w) {
    Raster r = {.columns = "1"};
    for (int i = 0; i < w->k->ngrid; i++)
        if (hip_role_counts(w, i)) r.range[r.n++] = i;
    if (r.n > 1) r.row = r.n - 2, r.columns = arena_format(w->arena, "all->%s", w->tiles[r.range[r.n - 1]]);
    return r;
}

/* Ranks have rows in the order of their numbers. */
void hip_role_first(RolesWriter *w, Fn *f) {
    const Raster r = raster_of(w);
    const OwnOrder own = own_order(w->roles);
    const int axis = peers_axis(w->k);
    if (!own || !r.n) return;
    const char *rank = axis < 0 ? "0" : fn_text(f, "call.task->coord[%d]", axis);
    fn_line(f, "all.first = (int)%s%s;", rank, hip_role_leaves_own(w) ? " + 1" : "");
}

/* ---- from a task's number to its tiles, and back ---- */

static void outer_lines(RolesWriter *w, const Raster *r, const char *raster) {
    Text *to = &w->g->text;
    if (r->row > 1) text_printf(to, "    int outer = number / (%s);\n", raster);
    for (int i = r->row - 1; i > 0; i--)
        text_printf(to, "    task.%s = outer %% all->%s, outer /= all->%s;\n", w->task[r->range[i]],
                    w->tiles[r->range[i]], w->tiles[r->range[i]]);
    if (r->row > 1) text_printf(to, "    task.%s = outer;\n", w->task[r->range[0]]);
    if (r->row == 1 && own_order(w->roles) == OWN_RANK)
        text_printf(to, "    task.%s = (number / (%s) + all->first) %% all->%s;\n", w->task[r->range[0]], raster,
                    w->tiles[r->range[0]]);
    else if (r->row == 1)
        text_printf(to, "    task.%s = number / (%s);\n", w->task[r->range[0]], raster);
    for (int i = 0; i < r->row; i++)
        if (w->roles->cluster > 1 && r->range[i] == w->roles->cluster_range)
            text_printf(to, "    task.%s = %d * task.%s + all->rank;\n", w->task[r->range[i]], w->roles->cluster,
                        w->task[r->range[i]]);
}

static int ranks_of(const RolesWriter *w) {
    const int axis = peers_axis(w->k);
    return axis < 0 ? 1 : (int)w->g->m->axis.p[axis].ranks;
}

/* Whole tiles along a range, those of a cluster side by side as one; -1: a run knows. */
static int64_t whole_tiles(const RolesWriter *w, int range) {
    const Range *r = &w->k->range.p[range];
    const bool pair = w->roles->cluster > 1 && range == w->roles->cluster_range;
    return size_is_number(r->of) ? r->of.c / (r->size * (pair ? w->roles->cluster : 1)) : -1;
}

/* What an order is told beside the numbers of tiles. */
static const char *order_more(const RolesWriter *w, const Raster *r, const char *how, int band) {
    if (strcmp(how, "raster") == 0) return arena_format(w->arena, "%d", band);
    if (strcmp(how, "edges_last") != 0)
        return arena_format(w->arena, "%d, %d, all->first%s", band, ranks_of(w),
                            strcmp(how, "own_behind") ? "" : ", all->clusters");
    return arena_format(w->arena, "%d, %d, %d", (int)whole_tiles(w, r->range[0]), (int)whole_tiles(w, r->range[1]),
                        band);
}

/* Workgroups of a cluster have tiles side by side. */
static void raster_lines(RolesWriter *w, const Raster *r, const char *raster, int band) {
    Text *to = &w->g->text;
    const char *in = r->row == 0 ? "number" : arena_format(w->arena, "number %% (%s)", raster);
    const OwnOrder own = own_order(w->roles);
    static const char *const text[OWN_ORDERS] = {
        [OWN_AS_THEY_LIE] = "raster", [OWN_FIRST] = "own_first", [OWN_LATE] = "own_late",
        [OWN_BEHIND] = "own_behind",  [OWN_RANK] = "raster"};
    const char *how = hip_role_edges_last(w->roles) ? "edges_last" : text[own];
    text_printf(to, "    const tile_place at = tile_order_%s(%s, all->%s, %s, %s);\n", how, in,
                w->tiles[r->range[r->row]], r->columns, order_more(w, r, how, band));
    for (int i = r->row; i < r->n; i++) {
        const char *place = i == r->row ? "at.i" : "at.j", *name = w->task[r->range[i]];
        if (w->roles->cluster > 1 && r->range[i] == w->roles->cluster_range)
            text_printf(to, "    task.%s = %d * %s + all->rank;\n", name, w->roles->cluster, place);
        else
            text_printf(to, "    task.%s = %s;\n", name, place);
    }
}

/* Orders that put edges last know two ranges, of lengths that are numbers. */
static bool order_fits(const RolesWriter *w, const Raster *r) {
    if (!hip_role_edges_last(w->roles)) return true;
    return r->n == 2 && whole_tiles(w, r->range[0]) >= 0 && whole_tiles(w, r->range[1]) >= 0;
}

/* Rows that tasks go through together; 0: the order says something else. */
static int band_of(const RolesWriter *w, const Raster *r) {
    const Order *o = w->roles->order;
    if (!o || !r->n) return 1;
    return order_band(o, r->range[r->row], r->n > 1 ? r->range[r->n - 1] : -1);
}

/* The grid in parts, each in bands. */
static bool parts_place(RolesWriter *w, const Raster *r) {
    const char *raster = arena_format(w->arena, "all->%s * %s", r->n ? w->tiles[r->range[r->row]] : "", r->columns);
    const int band = band_of(w, r);
    if (!order_fits(w, r) || !band) return false;
    outer_lines(w, r, raster);
    if (r->n) raster_lines(w, r, raster, band);
    return true;
}

/* Number of tiles as the struct of all roles has them, unless it is a number; those of a cluster are one. */
static const CExpr *tiles_text(RolesWriter *w, Fn *f, int range) {
    const CExpr *n = range_tasks(f, w->k, range);
    int64_t number;
    if (range == w->roles->cluster_range && w->roles->cluster > 1) n = cexpr_ceil_div(f, n, w->roles->cluster);
    return cexpr_const(n, &number) ? n : cexpr_name(f, fn_text(f, "all->%s", w->tiles[range]));
}

static Order order_or_row_major(const RolesWriter *w, const Raster *r) {
    int16_t range[MAX_RANGES];
    if (w->roles->order) return *w->roles->order;
    for (int i = 0; i < r->n; i++) range[i] = (int16_t)r->range[i];
    return order_of_ranges(range, r->n);
}

static OrderTiles order_tiles(RolesWriter *w, Fn *f) {
    static const char *const taken[] = {"all", "task", "number", "group"};
    OrderTiles t = {.n = w->k->ngrid, .type = "int", .alone = true, .counted_late = true};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) c_name(&f->names, taken[i]);
    for (int i = 0; i < t.n; i++) {
        t.tiles[i] = hip_role_counts(w, i) ? tiles_text(w, f, i) : cexpr_number(f, 1);
        if (hip_role_counts(w, i)) t.name[i] = c_name(&f->names, w->k->range.p[i].name);
    }
    return t;
}

static void digits_place(RolesWriter *w, const Raster *r) {
    const Order o = order_or_row_major(w, r);
    Hip hip;
    Fn f = hip_role_fn(w, &hip);
    const OrderTiles t = order_tiles(w, &f);
    fn_constant_of(&f, "int", "group", "number");
    order_write(&f, &o, &t, "group");
    for (int i = 0; i < r->n; i++) {
        const int range = r->range[i];
        const bool pair = w->roles->cluster > 1 && range == w->roles->cluster_range;
        if (pair) fn_line(&f, "task.%s = %d * %s + all->rank;", w->task[range], w->roles->cluster, t.name[range]);
        else fn_line(&f, "task.%s = %s;", w->task[range], t.name[range]);
    }
    fn_head_print(&f, &w->g->text);
    text_add(&w->g->text, text_str(&f.body));
    text_free(&f.body);
    w->failed |= f.failed;
}

void hip_role_place(RolesWriter *w) {
    Text *to = &w->g->text;
    const Raster r = raster_of(w);
    text_printf(to, "TILE_FN %s %s(const %s *all, int number) {\n", hip_role_name(w, "task"), hip_role_name(w, "place"),
                hip_role_name(w, "all"));
    text_printf(to, "    %s task = {};\n    task.number = number;\n", hip_role_name(w, "task"));
    const bool parts = hip_role_has_first(w->roles) || hip_role_edges_last(w->roles), written = !parts || parts_place(w, &r);
    if (!parts) digits_place(w, &r);
    text_add(to, "    return task;\n}\n\n");
    if (written) return;
    w->failed = true;
    diag_error(w->g->m->diags, w->k->loc, "unsupported", "not supported yet by %s: this order of tasks", w->back.who);
}

/* The way back from a task's tiles to its number, for orders in which ranks and edges have no part. */
void hip_role_number(RolesWriter *w) {
    const Raster r = raster_of(w);
    const Order o = order_or_row_major(w, &r);
    Hip hip;
    Fn f = hip_role_fn(w, &hip);
    const OrderTiles t = order_tiles(w, &f);
    const CExpr *number = order_number(&f, &o, &t);
    text_printf(&w->g->text, "TILE_FN int %s(const %s *all, %s task) {\n", hip_role_name(w, "number"),
                hip_role_name(w, "all"), hip_role_name(w, "task"));
    Text lines = {0};
    fn_line(&f, "return %s;", cexpr_bare(number)->text);
    fn_head_print(&f, &lines);
    text_add(&lines, text_str(&f.body));
    for (int i = 0; i < r.n; i++)
        if (text_has_word(text_str(&lines), t.name[r.range[i]])) {
            const int range = r.range[i];
            const bool pair = w->roles->cluster > 1 && range == w->roles->cluster_range;
            text_printf(&w->g->text, pair ? "    const unsigned %s = task.%s / %d;\n" : "    const unsigned %s = task.%s;\n",
                        t.name[range], w->task[range], w->roles->cluster);
        }
    text_printf(&w->g->text, "%s}\n\n", text_str(&lines));
    text_free(&lines);
    text_free(&f.body);
    w->failed |= f.failed;
}
