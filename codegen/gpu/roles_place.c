/* roles_place.c: the order of tasks of a kernel in the form roles: from a task's number to the number of its tile along
   each range, and back. */
#include "codegen/gpu/roles.h"

#include <stdlib.h>
#include <string.h>

/* This rank's rows come first, then those of the ranks behind it; or between those of other ranks, and alone at the
   end; or behind those of other ranks; or what is for this rank, then what is for the ranks behind it, where a range of
   the grid counts ranks. */
typedef enum { OWN_AS_THEY_LIE, OWN_FIRST, OWN_LATE, OWN_BEHIND, OWN_RANK, OWN_UNKNOWN } OwnOrder;

/* The last columns come first, as where they are the longer tasks. */
static const char down[] = "_down";

/* Tiles over an edge come last: they are the shorter ones. */
static const char edges[] = "_edges";

bool hip_role_edges_last(const Roles *r) { return r->order && strcmp(r->order + strcspn(r->order, "_"), edges) == 0; }

static bool order_down(const Roles *r) { return r->order && strcmp(r->order + strcspn(r->order, "_"), down) == 0; }

/* What follows the number of rows. */
static OwnOrder order_own(const char *order) {
    static const char *const text[] = {"", "_own_first", "_own_late", "_own_behind", "_own_rank"};
    size_t n = strcspn(order, "_"), i = 0;
    if (strcmp(order + n, down) == 0 || strcmp(order + n, edges) == 0) return OWN_AS_THEY_LIE;
    while (i < OWN_UNKNOWN && strcmp(order + n, text[i]) != 0) i++;
    return (OwnOrder)i;
}

static OwnOrder own_order(const Roles *r) { return r->order ? order_own(r->order) : OWN_AS_THEY_LIE; }

bool hip_role_has_first(const Roles *r) { return own_order(r) != OWN_AS_THEY_LIE; }

/* Rows of tiles that tasks go through together; 0: the order is unknown. */
static int order_band(const Roles *r) {
    static const char raster[] = "raster";
    if (!r->order) return 1;
    if (strncmp(r->order, raster, sizeof raster - 1) != 0 || own_order(r) == OWN_UNKNOWN) return 0;
    return atoi(r->order + sizeof raster - 1);
}

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
    static const char *const text[] = {
        [OWN_AS_THEY_LIE] = "raster", [OWN_FIRST] = "own_first", [OWN_LATE] = "own_late",
        [OWN_BEHIND] = "own_behind",  [OWN_RANK] = "raster",     [OWN_UNKNOWN] = "raster"};
    const char *how = hip_role_edges_last(w->roles) ? "edges_last" : text[own];
    text_printf(to, "    const tile_place at = tile_order_%s(%s, all->%s, %s, %s);\n", how, in,
                w->tiles[r->range[r->row]], r->columns, order_more(w, r, how, band));
    for (int i = r->row; i < r->n; i++) {
        const char *place = i == r->row ? "at.i" : "at.j", *name = w->task[r->range[i]];
        if (i == r->n - 1 && order_down(w->roles))
            place = arena_format(w->arena, "all->%s - 1 - %s", w->tiles[r->range[i]], place);
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

void hip_role_place(RolesWriter *w) {
    Text *to = &w->g->text;
    const Raster r = raster_of(w);
    const int band = order_fits(w, &r) ? order_band(w->roles) : 0;
    const char *raster = arena_format(w->arena, "all->%s * %s", r.n ? w->tiles[r.range[r.row]] : "", r.columns);
    text_printf(to, "TILE_FN %s %s(const %s *all, int number) {\n", hip_role_name(w, "task"), hip_role_name(w, "place"),
                hip_role_name(w, "all"));
    text_printf(to, "    %s task = {};\n    task.number = number;\n", hip_role_name(w, "task"));
    outer_lines(w, &r, raster);
    if (r.n) raster_lines(w, &r, raster, band);
    text_add(to, "    return task;\n}\n\n");
    if (band > 0) return;
    w->failed = true;
    diag_error(w->g->m->diags, w->k->loc, "unsupported", "not supported yet by %s: the order '%s' of tasks",
               w->back.who, w->roles->order);
}

/* A tile along a range; of a cluster's side by side the cluster's. */
static const char *tile_text(const RolesWriter *w, int range) {
    const bool pair = w->roles->cluster > 1 && range == w->roles->cluster_range;
    return arena_format(w->arena, pair ? "task.%s / %d" : "task.%s", w->task[range], w->roles->cluster);
}

/* Of orders in which ranks have no part. */
void hip_role_number(RolesWriter *w) {
    const Raster r = raster_of(w);
    const int last = r.n ? r.range[r.n - 1] : 0;
    const char *row = r.n ? tile_text(w, r.range[r.row]) : "0", *column = r.n > 1 ? tile_text(w, last) : "0";
    const char *rows = r.n ? arena_format(w->arena, "all->%s", w->tiles[r.range[r.row]]) : "1";
    const char *outer = r.row ? tile_text(w, r.range[0]) : NULL;
    if (order_down(w->roles) && r.n)
        *(r.n > 1 ? &column : &row) =
            arena_format(w->arena, "all->%s - 1 - %s", w->tiles[last], r.n > 1 ? column : row);
    const char *raster = arena_format(w->arena, "tile_order_raster_task({%s, %s}, %s, %s, %d)", row, column, rows,
                                      r.columns, order_band(w->roles));
    for (int i = 1; i < r.row; i++)
        outer = arena_format(w->arena, "(%s) * all->%s + %s", outer, w->tiles[r.range[i]], tile_text(w, r.range[i]));
    if (outer) raster = arena_format(w->arena, "(%s) * (%s * %s) + %s", outer, rows, r.columns, raster);
    text_printf(&w->g->text, "TILE_FN int %s(const %s *all, %s task) {\n    return %s;\n}\n\n",
                hip_role_name(w, "number"), hip_role_name(w, "all"), hip_role_name(w, "task"), raster);
}
