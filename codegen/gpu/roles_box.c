/* roles_box.c: copies from tensors to slots and stores from slots to tensors, by boxes, and stores by rows. */
#include "codegen/gpu/roles.h"
#include "codegen/text/nest.h"
#include "codegen/text/size.h"

#include <inttypes.h>
#include <string.h>

/* Of the device library (tile_box.h, tile_sums.h): bits of a row of a panel; positions of the contracted range in a
   panel that runs across it; rows of a group's sums. */
enum {
    PANEL_BITS = 8 * 128,
    DEPTH = 64,
    SUM_ROWS = 64,
    GROUP_ROWS = 64,
    EIGHT = 8,       /* rows after which a panel's swizzle repeats */
    VECTOR = 8,      /* elements of 16 bytes: rows of tensors that boxes go to end with such */
    LEAST_BYTES = 16 /* of a row of a box, which has no swizzle then */
};

/* The range whose positions the subscript counts along; -1: a scalar. */
static int range_along(const Type *tile, const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_POS && type_has(*tile, a->term[i].id))
            return a->term[i].mul == 1 && a->term[i].div == 1 ? a->term[i].id : -1;
    return -1;
}

/* Where the tile begins along a subscript. */
static const CExpr *begin_text(Fn *f, const Affine *a, int range) {
    Nest n = nest_new(f, NULL, 0);
    const CExpr *pos = range >= 0 ? f->range[range].pos : NULL;
    if (pos) f->range[range].pos = cexpr_number(f, 0);
    const CExpr *text = cexpr_bare(nest_affine(&n, a));
    if (pos) f->range[range].pos = pos;
    nest_print(&n);
    return text;
}

/* As it is for the machine: places that data give may be too far for it. */
static const CExpr *coordinate(Fn *f, const Affine *a, int range) {
    const CExpr *text = begin_text(f, a, range);
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE) return cexpr_call(f, "tile_coordinate(%s)", text->text);
    return text;
}

/* ---- maps ---- */

/* The last two dimensions are those of the tile, one in front of them has a coordinate for the whole tile. */
typedef struct {
    int row, column; /* ranges */
    int dims;
    const char *map;
    const CExpr *at_row, *at_column;
} Boxes;

/* Dimensions in front of the last two, as one. */
static bool planes_of(Fn *f, const Op *op, const Type *tile, const Span *sub, const char **plane, int64_t *planes) {
    const Param *p = &f->k->param.p[op->param];
    *planes = 0;
    for (int d = 0; d < p->ndim - 2; d++) {
        if (range_along(tile, &sub[d].lo) >= 0 || (p->ndim > 3 && !size_is_number(p->dim[d]))) return false;
        const char *at = fn_text(f, "(int)%s", cexpr_operand(f, coordinate(f, &sub[d].lo, -1))->text);
        *plane = d ? fn_text(f, "(%s) * %" PRId64 " + %s", *plane, p->dim[d].c, at) : at;
        if (p->ndim > 3) *planes = (d ? *planes : 1) * p->dim[d].c;
    }
    return true;
}

static bool follows(const Op *op, int range) {
    for (int d = 0; d < op->sub.n; d++)
        if (affine_follows(&op->sub.p[d].lo, range)) return true;
    return false;
}

/* One task alone reads the tile, as results have few rows: such tensors are larger than the rest of what is copied.
   Other tasks differ in positions that the tile has. */
static bool is_read_once(const Fn *f, const Op *op, const Type *tile) {
    enum { FEW = 128 /* rows of results */ };
    bool few = false;
    for (int r = 0; r < f->k->ngrid; r++) {
        const Range *x = &f->k->range.p[r];
        const bool own = type_has(*tile, r) || follows(op, r),
                   one = x->kind == RANGE_TILE && size_is_number(x->of) && x->of.c <= x->size;
        if (!own && !one) return false;
        few |= !own && x->size <= FEW;
    }
    return few;
}

/* rows: of a box; few: or of the tensor, where a run says that it has at most as many as a tile. */
static bool boxes_of(Fn *f, const Op *op, const Type *tile, int rows, int few, int columns, Boxes *b) {
    const Param *p = &f->k->param.p[op->param];
    const char *plane = "0";
    int64_t planes;
    if (p->ndim < 2) return false;
    const Span *sub = &op->sub.p[p->ranks >= 0]; /* behind the rank */
    const Affine *at_row = &sub[p->ndim - 2].lo, *at_column = &sub[p->ndim - 1].lo;
    b->dims = p->ndim > 2 ? 3 : 2;
    b->row = range_along(tile, at_row), b->column = range_along(tile, at_column);
    if (b->row < 0 || b->column < 0 || !planes_of(f, op, tile, sub, &plane, &planes)) return false;
    b->at_row = coordinate(f, at_row, b->row);
    b->at_column = coordinate(f, at_column, b->column);
    GpuMap m = hip_map(f, op->param, planes ? 2 : p->ndim, planes);
    const int bits = elem_bits(p->elem), bytes = columns * bits / 8;
    m.swizzle = bytes > LEAST_BYTES ? bytes : 0;
    m.box[m.ndim - 1] = columns;
    m.box[m.ndim - 2] = rows;
    m.few = few;
    if (bits < 8) {
        m.elem = ELEM_U8;
        m.dim[m.ndim - 1].c = m.dim[m.ndim - 1].c * bits / 8;
        m.box[m.ndim - 1] = bytes;
        b->at_column = cexpr_open(f, "%s / %d", cexpr_operand(f, b->at_column)->text, 8 / bits);
    }
    b->map = fn_text(f, "{&maps->map[%s], %d, %s%s}", hip_role_map(f, op, &m), b->dims, plane,
                     op->kind == OP_COPY && is_read_once(f, op, tile) ? ", true" : "");
    return true;
}

/* ---- copies ---- */

/* Rows of a box that is left out where it lies behind a tensor's end: a part of those that one copies. */
static int64_t piece_rows(int64_t rows) {
    enum { MOST = 64, LEAST = 32 /* rows: of a group's product; fewer make many boxes [guess] */ };
    for (int64_t n = MOST; n >= LEAST; n -= EIGHT)
        if (rows % n == 0) return n;
    return rows;
}

/* Boxes of so many positions are left out where they lie behind the end of the dimension, or of a group: what is made
   of them is stored nowhere, as the results end there, too. None does where tiles end with the tensor in all runs, or
   have a single box. */
static bool leaves_out(const Fn *f, const Op *op, int dim, const Affine *a, int range, int64_t box) {
    const Size n = f->k->param.p[op->param].dim[dim];
    const Range *r = &f->k->range.p[range];
    if (!r->grid || a->nterm != 1 || a->c || !size_equal(r->of, n)) return false;
    if (box >= r->size && f->k->roles->cluster == 1) return false;
    if (r->starts) return box < r->size;
    return !size_is_number(n) || n.c % (r->size * range_cluster(f->k, range));
}

/* Where what a task needs of the dimension ends: rows behind a group's last are of the next one. */
static const char *end_text(Fn *f, const Op *op, int dim, int range) {
    if (!range_is_ragged(f->k, range)) return param_extent(f, op->param, dim)->text;
    return cexpr_add(f, f->range[range].begin, f->range[range].count)->text;
}

/* GpuMap.few of boxes of so many rows of a tile. few: of hip_copied_rows. */
static int tile_few(int64_t few, int64_t rows, int64_t box) {
    return few != ROLE_ROWS_OF_RUN ? 0 : box < rows ? (int)rows : 1;
}

static const char *behind(Fn *f, const char *at, int64_t n) { return n ? fn_text(f, "%s + %" PRId64, at, n) : at; }

static bool copy_box(Fn *f, const Op *op, const Ring *ring, const SlotTile *t, int sharers) {
    const bool across = t->panel == PANEL_MN128;
    const int columns = PANEL_BITS / elem_bits(t->type.elem), number = f->hip->role->filling->ring;
    const int row = range_along(&t->type, &op->sub.p[op->sub.n - 2].lo),
              column = range_along(&t->type, &op->sub.p[op->sub.n - 1].lo);
    Boxes b;
    if (row < 0 || column < 0) return false;
    const int deep = hip_role_panels(f, across ? row : column);
    const int64_t m = hip_role_extent(f->m, f->k, ring->per, row) / (across ? deep : 1),
                  n = hip_role_extent(f->m, f->k, ring->per, column) / (across ? 1 : deep);
    const int64_t panels = (n + columns - 1) / columns;
    const bool fits = across ? m == DEPTH && columns == DEPTH : n == columns && m <= 256 * sharers;
    const int parts = across && panels % sharers == 0 ? 1 : sharers;
    if (!fits || m % (parts * (across ? 1 : EIGHT))) return false;
    const int dim = f->k->param.p[op->param].ndim - (across ? 1 : 2), kept = across ? column : row;
    const int64_t rows = m / parts, piece_of = across ? columns : piece_rows(rows);
    const int64_t few = hip_copied_rows(f->k, number, op->slot);
    const bool to = few <= 0 && leaves_out(f, op, dim, &op->sub.p[op->sub.n - (across ? 1 : 2)].lo, kept, piece_of);
    const int64_t box = few > 0 ? few : across || !to ? rows : piece_of;
    if (!boxes_of(f, op, &t->type, (int)box, tile_few(few, rows, box), columns, &b)) return false;
    b.at_row = hip_role_row(f, op, b.at_row);
    const char *when = hip_role_copy_when(f, op), *piece = across || !to ? "" : fn_text(f, ", %" PRId64, box),
               *end = !to ? "" : fn_text(f, ", %s", end_text(f, op, dim, kept));
    const CExpr *step = across ? b.at_row : b.at_column;
    for (int i = 0; i < deep; i++)
        fn_line(f, "%stile_box_%s%s(%s, %s, %s, %s, %s, %" PRId64 "%s%s, all->rank, %d);", when, across ? "mn" : "k",
                to && few ? "_few" : to ? "_to" : "", f->hip->role->slot,
                behind(f, f->hip->role->facts->ring[number].tile_name[op->slot],
                       i * PANEL_BITS / 8 * (across ? panels * DEPTH : m)),
                b.map, behind(f, step->text, i * columns), (across ? b.at_column : b.at_row)->text, across ? n : m,
                piece, end, sharers);
    return true;
}

/* A tile of other than one panel of 128 bytes, by one workgroup alone. */
static bool copy_panels(Fn *f, const Op *op, const Ring *ring, const SlotTile *t, int sharers) {
    enum { MOST = 256 /* rows of a box (PTX ISA, tensor maps) */ };
    const int columns = PANEL_BITS / elem_bits(t->type.elem), number = f->hip->role->filling->ring;
    const int row = range_along(&t->type, &op->sub.p[op->sub.n - 2].lo),
              column = range_along(&t->type, &op->sub.p[op->sub.n - 1].lo);
    Boxes b;
    if (row < 0 || column < 0 || sharers > 1) return false;
    const int64_t m = hip_role_extent(f->m, f->k, ring->per, row), n = hip_role_extent(f->m, f->k, ring->per, column);
    const int64_t few = hip_copied_rows(f->k, number, op->slot);
    if (m > MOST || m % EIGHT || !boxes_of(f, op, &t->type, (int)(few > 0 ? few : m), tile_few(few, m, m), columns, &b))
        return false;
    fn_line(f, "%stile_box_panels(%s, %s, %s, %s, %s, %" PRId64 ", %" PRId64 ");", hip_role_copy_when(f, op),
            f->hip->role->slot, f->hip->role->facts->ring[number].tile_name[op->slot], b.map, b.at_column->text,
            b.at_row->text, n, m);
    return true;
}

/* A tile of one panel whose rows may have fewer bytes, which threads read. */
static bool copy_narrow(Fn *f, const Op *op, const Ring *ring, const SlotTile *t, int sharers) {
    enum { MOST = 256 /* rows of a box (PTX ISA, tensor maps) */ };
    const int number = f->hip->role->filling->ring;
    const int row = range_along(&t->type, &op->sub.p[op->sub.n - 2].lo),
              column = range_along(&t->type, &op->sub.p[op->sub.n - 1].lo);
    Boxes b;
    if (row < 0 || column < 0 || sharers > 1) return false;
    const int64_t m = hip_role_extent(f->m, f->k, ring->per, row), n = hip_role_extent(f->m, f->k, ring->per, column);
    const int64_t bytes = n * elem_bits(t->type.elem) / 8;
    const bool whole = panel_info[t->panel].bytes ? bytes == panel_info[t->panel].bytes : bytes == LEAST_BYTES;
    if (!whole || m > MOST || m % GROUP_ROWS || !boxes_of(f, op, &t->type, (int)m, 0, (int)n, &b)) return false;
    fn_line(f, "%stile_box_load(%s, %s, %s, %s, %s, 1);", hip_role_copy_when(f, op), f->hip->role->slot,
            f->hip->role->facts->ring[number].tile_name[op->slot], b.map, b.at_column->text, b.at_row->text);
    return true;
}

/* A tile of one range, part of a row. */
static bool copy_line(Fn *f, const Op *op, const SlotTile *t, int sharers) {
    const Param *p = &f->k->param.p[op->param];
    const int number = f->hip->role->filling->ring, column = t->type.range[0];
    const int64_t n = hip_role_extent(f->m, f->k, -1, column), bytes = n * elem_bits(t->type.elem) / 8;
    const char *plane = "0";
    int64_t planes;
    if (t->panel != PANEL_LINE || sharers > 1 || p->ranks >= 0 || p->ndim < 2 || bytes % LEAST_BYTES) return false;
    if (range_along(&t->type, &op->sub.p[p->ndim - 1].lo) != column ||
        !planes_of(f, op, &t->type, op->sub.p, &plane, &planes))
        return false;
    const CExpr *row = coordinate(f, &op->sub.p[p->ndim - 2].lo, -1),
                *at = coordinate(f, &op->sub.p[p->ndim - 1].lo, column);
    GpuMap m = hip_map(f, op->param, planes ? 2 : p->ndim, planes);
    m.box[m.ndim - 1] = (int)n;
    m.box[m.ndim - 2] = 1;
    fn_line(f, "%stile_box_load(%s, %s, {&maps->map[%s], %d, %s}, %s, %s, 1);", hip_role_copy_when(f, op),
            f->hip->role->slot, f->hip->role->facts->ring[number].tile_name[op->slot], hip_role_map(f, op, &m),
            p->ndim > 2 ? 3 : 2, plane, at->text, row->text);
    return true;
}

/* Where the tile of the slot begins that threads fill. */
static const char *slot_tile(Fn *f, const Op *op) {
    const RingFacts *r = &f->hip->role->facts->ring[f->hip->role->filling->ring];
    const char *slot = f->hip->role->slot;
    return r->tile[op->slot] ? fn_text(f, "%s + %s", slot, r->tile_name[op->slot]) : slot;
}

void hip_role_copy(Fn *f, const Op *op) {
    if (f->hip->role->before && !hip_role_is_ahead(f, op)) return;
    const Ring *ring = &f->k->roles->ring.p[f->hip->role->filling->ring];
    const SlotTile *t = &ring->tile.p[op->slot];
    const int sharers = t->share >= 0 ? f->k->roles->cluster : 1;
    const bool panels = (t->panel == PANEL_K128 || t->panel == PANEL_MN128) && op->sub.n >= 2;
    bool good = panels && t->fill == FILL_BOX && elem_bits(t->type.elem) >= 8 &&
                (copy_box(f, op, ring, t, sharers) || copy_panels(f, op, ring, t, sharers));
    if (t->type.nrange == 1 && t->fill == FILL_BOX) good = copy_line(f, op, t, sharers);
    if (!good && op->sub.n >= 2 && t->type.nrange == 2 && t->fill == FILL_BOX && !panel_info[t->panel].across)
        good = copy_narrow(f, op, ring, t, sharers);
    if (panels && t->fill == FILL_PIXELS) good = hip_role_pixels(f, op, ring, t, sharers);
    if (panels && t->fill == FILL_ROWS) good = hip_role_rows(f, op, t, slot_tile(f, op));
    if (!good)
        fn_unsupported(f, op->loc,
                       fn_text(f, "a copy of '%s' to a slot, other than boxes of panels of 128 bytes by two subscripts",
                               f->k->param.p[op->param].name));
}

/* ---- stores ---- */

/* Where the share of the tile begins that this group has. */
static const CExpr *share_begin(Fn *f, int range) {
    return f->hip->split - 1 == range ? cexpr_open(f, "%" PRId64 " * group", f->hip->share) : cexpr_number(f, 0);
}

/* By one thread; a workgroup without a tile stores nothing, where the place is not that of the tile. */
static const char *store_when(Fn *f, const Op *op) {
    const char *exists = f->k->param.p[op->param].ranks >= 0 ? hip_role_exists(f) : NULL;
    const bool one = f->k->roles->role.p[f->hip->role->number].lanes == 1;
    if (one) return exists ? fn_text(f, "if (%s) ", exists) : "";
    return exists ? fn_text(f, "if (thread == 0 && %s) ", exists) : "if (thread == 0) ";
}

/* Rows that exist, behind the first of this group. */
static const char *rows_left(Fn *f, int range) {
    const CExpr *count = cexpr_operand(f, f->range[range].count);
    if (f->hip->split - 1 != range) return count->text;
    return fn_text(f, "%s - %" PRId64 " * group", count->text, f->hip->share);
}

static bool store_rows(Fn *, const Op *, const SlotTile *, int ring, const char *from);

/* Behind the last row of a group of a ragged range begins the next one: there by rows. */
static bool store_ragged(Fn *f, const Op *op, const SlotTile *t, int ring, const char *from, const Boxes *b,
                         const char *box) {
    fn_line(f, "if (%s >= %" PRId64 ") {", cexpr_operand(f, f->range[b->row].count)->text, f->k->range.p[b->row].size);
    f->indent++;
    fn_line(f, "%s", box);
    f->indent--;
    fn_line(f, "} else {");
    f->indent++;
    bool good = store_rows(f, op, t, ring, from);
    fn_line(f, "%stile_tma_commit(); /* slots are counted by groups of stores */", store_when(f, op));
    f->indent--;
    fn_line(f, "}");
    return good;
}

static bool store_boxes(Fn *f, const Op *op, const SlotTile *t, int ring, const char *from) {
    enum { MOST_ROWS = 256 /* of a box (PTX ISA) */ };
    const Param *p = &f->k->param.p[op->param];
    const int at = op->sub.n - p->ndim, row = range_along(&t->type, &op->sub.p[at + p->ndim - 2].lo);
    const int64_t rows = row < 0 ? 0 : hip_role_extent(f->m, f->k, f->hip->role->of, row);
    Boxes b;
    if (op->sub.n < 2 || !boxes_of(f, op, &t->type, (int)rows, false, PANEL_BITS / elem_bits(t->type.elem), &b))
        return false;
    const int64_t n = hip_role_extent(f->m, f->k, f->hip->role->of, b.column);
    const bool fits = rows == SUM_ROWS || (n == DEPTH && rows <= MOST_ROWS); /* panels of more rows lie elsewhere */
    if (!fits || n % VECTOR || elem_bits(t->type.elem) != 16 || op->mode != STORE_SET) return false;
    const char *box = fn_text(f, "%stile_box_store(%s, %s, %s, %" PRId64 ", %s);", store_when(f, op), b.map,
                              cexpr_add(f, b.at_row, share_begin(f, b.row))->text,
                              cexpr_add(f, b.at_column, share_begin(f, b.column))->text, n, from);
    if (range_is_ragged(f->k, b.row)) return store_ragged(f, op, t, ring, from, &b, box);
    fn_line(f, "%s", box);
    return true;
}

/* Columns of the tile that are left from the part in hand on; the slot of the part before, which has the beginning of a
   vector that both have in common. */
typedef struct {
    const char *left, *before;
} PartsLeft;

static PartsLeft parts_left(Fn *f, int column, int ring) {
    const Range *q = &f->k->range.p[column];
    const CExpr *at = q->part_of ? f->hip->role->part_from[column] : NULL;
    PartsLeft p = {cexpr_operand(f, f->range[column].count)->text, "0"};
    if (!at || f->k->roles->ring.p[ring].slots < 2) return p;
    const char *reaches =
        f->hip->role->part_at[column] ? fn_text(f, " && %s %% %" PRId64 " == 0", at->text, q->size) : "";
    p.left = fn_text(f, "%s - %s", cexpr_operand(f, f->range[q->part_of - 1].count)->text, cexpr_operand(f, at)->text);
    p.before = fn_text(f, "%s > 0%s ? %s : 0", at->text, reaches, hip_role_slot_before(f, ring));
    return p;
}

/* Of the group's part of the tile. */
static const char *first_element(Fn *f, const Op *op, int row, int column) {
    Nest n = nest_new(f, NULL, 0);
    const CExpr *i = f->range[row].pos, *j = f->range[column].pos;
    f->range[row].pos = share_begin(f, row), f->range[column].pos = cexpr_number(f, 0);
    const char *text = nest_element(&n, op)->text;
    f->range[row].pos = i, f->range[column].pos = j;
    nest_print(&n);
    return text;
}

static const char *plus(Fn *f, int64_t n) { return n ? fn_text(f, " + %" PRId64, n) : ""; }

/* By all threads of the group, 16 bytes of a row each. */
static bool store_rows(Fn *f, const Op *op, const SlotTile *t, int ring, const char *from) {
    const Param *p = &f->k->param.p[op->param];
    if (op->sub.n < 2 || p->ranks >= 0 || elem_bits(p->elem) != 16 || op->mode != STORE_SET) return false;
    const int row = range_along(&t->type, &op->sub.p[p->ndim - 2].lo),
              column = range_along(&t->type, &op->sub.p[p->ndim - 1].lo);
    if (row < 0 || column < 0 || hip_role_extent(f->m, f->k, f->hip->role->number, row) != SUM_ROWS) return false;
    const char *to = first_element(f, op, row, column);
    const PartsLeft left = parts_left(f, column, ring);
    const int64_t columns = hip_role_extent(f->m, f->k, f->hip->role->number, column);
    for (int64_t at = 0; at < columns; at += DEPTH) /* panels lie one behind the other */
        fn_line(f, "tile_sums_rows((uint16_t *)&%s%s, %s, %s%s, %s, (int)(%s), (int)(%s%s), thread);", to, plus(f, at),
                param_extent(f, op->param, p->ndim - 1)->text, from, plus(f, at * SUM_ROWS * 2),
                at ? fn_text(f, "%s%s", from, plus(f, (at - DEPTH) * SUM_ROWS * 2)) : left.before, rows_left(f, row), left.left, at ? fn_text(f, " - %" PRId64, at) : "");
    return true;
}

void hip_role_store(Fn *f, const Op *op) {
    int ring, tile;
    const SlotTile *t = hip_slot(f->k, op->arg.p[0], &ring, &tile);
    const char *from = fn_held(f, op->arg.p[0])->tile.name, *by = op->by ? op->by : "";
    bool own = f->hip->role->facts->ring[ring].full < 0, beside = f->k->roles->role.p[f->hip->role->number].lanes == 1;
    bool good = (own || beside) && t->panel == PANEL_K128;
    good = good && ((strcmp(by, "box") == 0 && store_boxes(f, op, t, ring, from)) ||
                    (own && strcmp(by, "rows") == 0 && store_rows(f, op, t, ring, from)));
    if (!good)
        fn_unsupported(f, op->loc,
                       fn_text(f,
                               "a store to '%s' from a slot, other than by boxes, or by rows on the threads that "
                               "filled it, of 16-bit elements",
                               f->k->param.p[op->param].name));
}

/* Registers of the tile lie as sums do, rows along the one range. */
static bool lies_as_sums(const Fn *f, const Layout *l, int row, int column) {
    enum {
        SECOND = 1, /* register of the next column */
        BELOW = 2,  /* likewise 8 rows below */
        BEHIND = 4, /* likewise 8 columns behind */
        STEP = 8    /* rows, and columns */
    };
    const char *i = f->k->range.p[row].name, *j = f->k->range.p[column].name;
    return l && layout_index(l, i, NULL) >= 0 && layout_index(l, j, NULL) >= 0 && hip_register_at(l, j, SECOND) == 1 &&
           hip_register_at(l, i, BELOW) == STEP && hip_register_at(l, j, BEHIND) == STEP;
}

/* Rows of 32 bits that begin at no multiple of 8 bytes, or may. */
bool hip_role_store_odd(Fn *f, const Op *op) {
    const Param *p = &f->k->param.p[op->param];
    const Value *v = op->arg.p[0];
    if (p->elem != ELEM_F32 || v->type.elem != ELEM_F32 || v->type.nrange != 2 || op->mode != STORE_SET) return false;
    if (p->ranks >= 0 || op->sub.n < 2 || hip_role_groups(f->k, f->hip->role->number) == 0) return false;
    const Size last = p->dim[p->ndim - 1];
    const int row = range_along(&v->type, &op->sub.p[p->ndim - 2].lo),
              column = range_along(&v->type, &op->sub.p[p->ndim - 1].lo);
    if ((size_is_number(last) && last.c % 2 == 0) || row < 0 || column < 0) return false;
    const int64_t rows = hip_role_extent(f->m, f->k, f->hip->role->number, row),
                  columns = hip_role_extent(f->m, f->k, f->hip->role->number, column);
    if (rows != SUM_ROWS || columns % EIGHT || !lies_as_sums(f, held_layout(f, v), row, column)) return false;
    const char *from = made_tile(f, v)->name, *to = first_element(f, op, row, column);
    fn_line(f, "tile_sums_odd(&%s, %s, %s, %" PRId64 ", (int)(%s), (int)%s, thread);", to,
            param_extent(f, op->param, p->ndim - 1)->text, from, columns, rows_left(f, row),
            cexpr_operand(f, f->range[column].count)->text);
    return true;
}
