/* roles_rows.c: copies of rows that lie anywhere, from tensors to slots, by the lanes of whole warps. A lane makes the
   place of its part of a row: tiles that places are made of are expressions of it. */
#include "codegen/gpu/roles.h"
#include "codegen/text/nest.h"
#include "codegen/text/size.h"
#include "ir/size.h"

#include <inttypes.h>
#include <string.h>

/* Of the device library (tile_gather.h): bytes of a line, and positions of the contracted range in a panel across it.
 */
enum {
    LINE_BYTES = 128,
    DEPTH = 64,
    PIECE = 16 /* bytes that a lane copies at once, at most */,
    REPEATS = 8 /* lines, after which a swizzle repeats (tile_box.h) */,
    WARP = 32 /* lanes */
};

/* A tile as lines: the range whose positions follow each other in memory, and the other one. */
typedef struct {
    int row, column;         /* ranges */
    int lines, size;         /* size: bytes that a lane copies at once */
    int elements;            /* that are these */
    int units;               /* lines of a lane */
    int panels;              /* of a line's row, one behind the other; 0: the tile is one of them, or of others across */
    bool dealt;              /* lanes of a line look at rows of others in turn, and tell each other */
    int64_t columns;         /* of all panels: at least those of the tile */
    const char *at;          /* the name of the column of the lane's first element in a line */
    const char *line, *unit; /* likewise of a line, and of its number among the lane's */
} Lines128;

static bool counts_along(const Op *op, int range) {
    const Affine *last = &op->sub.p[op->sub.n - 1].lo;
    for (int i = 0; i < last->nterm; i++)
        if (last->term[i].kind == TERM_POS && last->term[i].id == range) return true;
    return false;
}

/* The most bytes, up to 16, at multiples of which all parts of rows begin. */
static int bytes_at_once(Fn *f, const Op *op, int column) {
    enum { MOST = 16, LEAST = 4 /* PTX ISA, cp.async */ };
    const int width = elem_bits(f->k->param.p[op->param].elem) / 8;
    for (int bytes = MOST; bytes >= LEAST; bytes /= 2)
        if (hip_run_is_multiple(f, op, column, bytes / width)) return bytes;
    return 0;
}

static int64_t slot_extent(Fn *f, int range) {
    return hip_role_extent(f->m, f->k, f->k->roles->ring.p[f->hip->role->filling->ring].per, range);
}

static void ranges_of(const Op *op, const SlotTile *t, Lines128 *l) {
    const bool second = counts_along(op, t->type.range[1]);
    l->column = t->type.range[second], l->row = t->type.range[!second];
}

/* Rows of other than one line, along panels of all rows. */
static bool panels_of(Fn *f, const Op *op, const SlotTile *t, Lines128 *l) {
    const int width = elem_bits(t->type.elem) / 8, lanes = LINE_BYTES / PIECE;
    if (t->type.nrange != 2 || (t->panel != PANEL_K128 && t->panel != PANEL_MN128)) return false;
    ranges_of(op, t, l);
    const int64_t rows = slot_extent(f, l->row), columns = slot_extent(f, l->column) * width;
    l->panels = (int)((columns + LINE_BYTES - 1) / LINE_BYTES);
    l->columns = l->panels * LINE_BYTES / width;
    l->lines = (int)rows, l->size = PIECE, l->elements = PIECE / width;
    l->units = (int)(rows * lanes / f->hip->threads);
    l->dealt = true;
    return f->hip->threads / lanes % REPEATS == 0 && l->units * f->hip->threads == rows * lanes &&
           hip_run_is_multiple(f, op, l->column, l->elements);
}

static bool lines_of(Fn *f, const Op *op, const SlotTile *t, Lines128 *l) {
    const bool across = t->panel == PANEL_MN128;
    const int width = elem_bits(t->type.elem) / 8;
    if (t->type.nrange != 2 || (t->panel != PANEL_K128 && !across)) return false;
    ranges_of(op, t, l);
    const int64_t rows = slot_extent(f, l->row), columns = slot_extent(f, l->column);
    const int64_t line = LINE_BYTES / width;
    if (across ? rows != DEPTH : columns != line) return false;
    l->columns = (columns + line - 1) / line * line;
    l->lines = (int)(rows * (l->columns / line));
    l->size = bytes_at_once(f, op, l->column);
    l->elements = l->size / width;
    l->units = l->size ? l->lines * (LINE_BYTES / l->size) / f->hip->threads : 0;
    return l->units * f->hip->threads == l->lines * (LINE_BYTES / (l->size ? l->size : 1));
}

/* Where the lane's part of the line is in the tile. */
static void lines_place(Fn *f, const SlotTile *t, const Lines128 *l) {
    const CExpr *line = cexpr_name(f, l->line), *at = cexpr_name(f, l->at);
    const bool many = l->lines > DEPTH && t->panel == PANEL_MN128;
    const int elements = LINE_BYTES * 8 / elem_bits(t->type.elem);
    f->range[l->row].pos = many ? cexpr_group(f, cexpr_open(f, "%s %% %d", l->line, DEPTH)) : line;
    f->range[l->column].pos =
        many ? cexpr_group(f, cexpr_open(f, "%s / %d * %d + %s", l->line, DEPTH, elements, l->at)) : at;
}

/* That the row exists; NULL: certainly. */
static const char *row_exists(Fn *f, const Lines128 *l, int64_t rows) {
    const RangeText *r = &f->range[l->row];
    int64_t n;
    if (cexpr_const(r->count, &n) && n >= rows) return NULL;
    return fn_text(f, "%s < %s", r->pos->text, cexpr_operand(f, r->count)->text);
}

/* Bytes of the lane's part that exist, or more. */
static const char *bytes_left(Fn *f, const Lines128 *l, int width) {
    const RangeText *r = &f->range[l->column];
    int64_t n;
    if (cexpr_const(r->count, &n) && n >= l->columns) return fn_text(f, "%d", l->size);
    return fn_text(f, "(int)(%d * (%s - %s))", width, cexpr_operand(f, r->count)->text, r->pos->text);
}

/* ---- where a lane's lines begin: kept in registers, all along the loop that copies ---- */

/* The access with other subscripts than first .. last zero. */
static Op with_subscripts(Fn *f, const Op *access, int first, int last) {
    Op other = *access;
    other.sub.p = ARENA_ARRAY(f->arena, Span, access->sub.n);
    for (int d = 0; d < access->sub.n; d++)
        other.sub.p[d] = d >= first && d <= last ? access->sub.p[d] : (Span){.lo = affine_const(0)};
    return other;
}

/* The loop's body computes it. */
static bool term_is_of(const Term *t, const Op *loop) {
    if (t->kind == TERM_VALUE) return t->value->def && t->value->def->in == loop->region[0];
    return (t->kind == TERM_POS || t->kind == TERM_INDEX) && t->id == loop->range;
}

/* Which rows they are is the same in all iterations. */
static bool rows_stand_still(const Op *copy, const Op *loop) {
    for (int d = 0; d + 1 < copy->sub.n; d++)
        for (int i = 0; i < copy->sub.p[d].lo.nterm; i++)
            if (term_is_of(&copy->sub.p[d].lo.term[i], loop)) return false;
    return true;
}

/* The lines of a copy that is not being written. */
static bool lines_of_copy(Fn *f, const Op *copy, Lines128 *l) {
    RoleText *r = f->hip->role;
    const Op *filling = r->filling, *put = copy->in->parent;
    const SlotTile *t = &f->k->roles->ring.p[put->ring].tile.p[copy->slot];
    r->filling = put;
    bool good = t->panel == PANEL_K128 && lines_of(f, copy, t, l);
    r->filling = filling;
    return good;
}

static void unit_name(Fn *f, Lines128 *l) {
    RoleText *r = f->hip->role;
    if (!r->unit) r->unit = c_name(&f->names, "u");
    l->unit = r->unit;
}

static const char *kept_rows(const Fn *f, const Op *copy) {
    const RoleText *r = f->hip->role;
    for (int i = 0; i < r->rows.n; i++)
        if (r->rows.p[i].copy == copy) return r->rows.p[i].name;
    return NULL;
}

/* Of an element of the tensor, or of so many together; -1: none. */
static const char *number_type(const Fn *f, const Op *copy, int each) {
    const Param *p = &f->k->param.p[copy->param];
    double most = 1.0 / each;
    for (int d = 0; d < p->ndim; d++) most *= (double)size_most(f->m, p->dim[d]);
    return most > 0 && most <= INT32_MAX ? "int" : "int64_t";
}

/* Over the lane's lines; kept: registers are indexed by their numbers. */
static Nest lines_nest(Fn *f, const Lines128 *l, bool kept) {
    Nest n = nest_new(f, (const int16_t[]){(int16_t)l->row}, 1);
    n.pragma = kept ? "#pragma unroll" : "#pragma unroll 4";
    n.loop = fn_text(f, "for (int %s = 0; %s < %d; %s++) {", l->unit, l->unit, l->units, l->unit);
    return n;
}

static void line_of_unit(Nest *n, const Lines128 *l) {
    const int lanes = LINE_BYTES / l->size;
    if (l->dealt) {
        nest_line(n, 1, "const int %s = thread / %d + %d * (%d * %s + thread %% %d);", l->line, lanes,
                  n->f->hip->threads / lanes, lanes, l->unit, lanes);
        return;
    }
    nest_line(n, 1, "const int %s = thread / %d + %d * %s;", l->line, lanes, n->f->hip->threads / lanes, l->unit);
}

/* Elements of tensors that places are made of are read once. */
static void loads_once(Nest *n, const Op *access) {
    for (int d = 0; d < access->sub.n; d++)
        for (int i = 0; i < access->sub.p[d].lo.nterm; i++) {
            const Value *v = access->sub.p[d].lo.term[i].kind == TERM_VALUE ? access->sub.p[d].lo.term[i].value : NULL;
            if (!v || !v->type.nrange || v->def->kind != OP_LOAD || fn_held(n->f, v)->nest == n->id) continue;
            const CExpr *text = nest_value(n, v);
            if (fn_held(n->f, v)->name) continue;
            const char *name = c_name(&n->f->names, fn_value_name(n->f, v));
            nest_line(n, 1, "const %s %s = %s;", elem_c(v->type.elem), name, cexpr_bare(text)->text);
            fn_held(n->f, v)->text = cexpr_name(n->f, name);
        }
}

/* The last row that there is; of a workgroup without a tile, which a cluster may have, the tensor's first one. */
static const char *last_row(Fn *f, const RangeText *row, int range) {
    const char *count = cexpr_operand(f, row->count)->text;
    if (f->k->roles->cluster == 1 || f->k->roles->cluster_range != range) return fn_text(f, "%s - 1", count);
    return fn_text(f, "%s > 0 ? %s - 1 : -%s", count, count, cexpr_operand(f, row->begin)->text);
}

/* A row that does not exist begins nowhere. Another one is looked at in its place: loads under conditions would wait
   for each other. */
static void rows_keep(Fn *f, const Op *copy, Lines128 *l) {
    const Op rows = with_subscripts(f, copy, 0, copy->sub.n - 2);
    const char *param = f->param[copy->param], *name = c_name(&f->names, fn_text(f, "%s_rows", param));
    const RangeText row = f->range[l->row];
    const int each = l->panels ? l->elements : 1;
    fn_line(f, "%s %s[%d]; /* where each of the lane's lines begins in '%s'%s; -1: nowhere */", number_type(f, copy, each),
            name, l->units, param, each > 1 ? fn_text(f, ", in %d elements", each) : "");
    l->line = c_name(&f->names, "line");
    f->range[l->row].pos = cexpr_name(f, l->line);
    const int64_t rows_most = hip_role_extent(f->m, f->k, -1, l->row);
    const char *there = row_exists(f, l, rows_most);
    if (!there && l->dealt && l->units * (LINE_BYTES / l->size) * f->hip->threads / (LINE_BYTES / l->size) > rows_most)
        there = fn_text(f, "%s < %" PRId64, l->line, rows_most); /* more numbers than lines */
    Nest n = lines_nest(f, l, true);
    line_of_unit(&n, l);
    if (there) {
        f->range[l->row].pos = cexpr_name(f, c_name(&f->names, "near"));
        nest_line(&n, 1, "const int64_t %s = tile_least(%s, %s);", f->range[l->row].pos->text, l->line,
                  last_row(f, &row, l->row));
    }
    loads_once(&n, &rows);
    for (int d = 0; d + 1 < rows.sub.n; d++) there = conjoin(f, there, nest_inside(&n, &rows, d));
    const char *number = cexpr_bare(nest_number(&n, &rows))->text, *type = number_type(f, copy, each);
    if (each > 1) number = fn_text(f, "(%s) / %d", number, each);
    if (there)
        nest_line(&n, 1, "%s[%s] = %s ? (%s)(%s) : -1;", name, l->unit, there, type, number);
    else
        nest_line(&n, 1, "%s[%s] = (%s)(%s);", name, l->unit, type, number);
    nest_print(&n);
    f->range[l->row] = row;
    vec_push(f->arena, &f->hip->role->rows, ((KeptRows){copy, name}));
}

void hip_role_keep_rows(Fn *f, const Op *loop) {
    enum { MOST = 16 /* registers; 32 spill (compiled) */ };
    int kept = 0;
    for (const Op *put = loop->region[0]->first; put; put = put->next)
        for (const Op *op = put->kind == OP_PUT ? put->region[0]->first : NULL; op; op = op->next) {
            Lines128 l = {0};
            const bool rows = op->kind == OP_COPY && hip_ring_has_rows(&f->k->roles->ring.p[put->ring]);
            if (!rows || f->k->param.p[op->param].ranks >= 0 || !rows_stand_still(op, loop)) continue;
            if (!lines_of_copy(f, op, &l) || kept + l.units > MOST || f->range[l.row].missing) continue;
            kept += l.units;
            unit_name(f, &l);
            rows_keep(f, op, &l);
        }
}

/* ---- copies ---- */

/* All bytes of a lane's part exist or none, as the loop over columns ends at a multiple. */
static bool ends_between(const Op *copy, const Lines128 *l) {
    const Op *loop = copy->in->parent->in->parent;
    return loop->range == l->column && value_is_multiple(loop->arg.p[1], l->elements);
}

/* Pieces of 16 bytes, whose lines lie a multiple of 8 apart: a swizzle repeats after so many. */
static bool is_pieces(Fn *f, const Op *copy, const Lines128 *l) {
    const int apart = f->hip->threads / (LINE_BYTES / l->size);
    return l->size == PIECE && apart % REPEATS == 0 && ends_between(copy, l) && !strcmp(number_type(f, copy, 1), "int");
}

/* That the lane's part of each line exists; NULL: certainly. */
static const char *part_exists(Nest *n, const Lines128 *l, const Op *column) {
    const RangeText *r = &n->f->range[l->column];
    int64_t count;
    const bool ends = !cexpr_const(r->count, &count) || count < l->columns;
    const char *left = ends ? fn_text(n->f, "%s < %s", l->at, cexpr_operand(n->f, r->count)->text) : NULL;
    return conjoin(n->f, left, nest_inside(n, column, column->sub.n - 1));
}

static void copy_pieces(Nest *n, const Op *column, const Lines128 *l, const char *tile, int width, const char *from,
                        const char *rows) {
    Fn *f = n->f;
    const int lanes = LINE_BYTES / l->size;
    const char *exists = part_exists(n, l, column), *row = fn_text(f, "%s[%s]", rows, l->unit);
    const char *here = exists ? c_name(&f->names, "here") : NULL, *to = c_name(&f->names, "to");
    if (here) fn_line(f, "const bool %s = %s;", here, exists);
    fn_line(f, "const uint32_t %s = tile_line_at(%s, thread / %d, %d * %s);", to, tile, lanes, width, l->at);
    nest_line(n, 1, "tile_copy_piece(%s + %d * %s, %s, %s, %d);", to, LINE_BYTES * f->hip->threads / lanes, l->unit,
              from, here ? fn_text(f, "%s ? %s : -1", here, row) : row, width);
}

/* From rows that are kept. */
static void copy_kept(Fn *f, const Op *op, const Lines128 *l, const char *tile, int width, const char *rows) {
    const Op column = with_subscripts(f, op, op->sub.n - 1, op->sub.n - 1);
    const char *from = c_name(&f->names, "from");
    Nest n = lines_nest(f, l, true);
    fn_line(f, "const %s *const %s = &%s;", memory_c(f->k->param.p[op->param].elem), from,
            nest_element(&n, &column)->text);
    if (is_pieces(f, op, l)) {
        copy_pieces(&n, &column, l, tile, width, from, rows);
    } else {
        const char *inside = nest_inside(&n, &column, column.sub.n - 1);
        line_of_unit(&n, l);
        const char *there = c_name(&f->names, "there");
        nest_line(&n, 1, "const bool %s = %s;", there, conjoin(f, inside, fn_text(f, "%s[%s] >= 0", rows, l->unit)));
        nest_line(&n, 1, "tile_line_copy(%s, %s, %d * %s, %s + (%s ? %s[%s] : 0), %d, %s ? %s : 0);", tile, l->line,
                  width, l->at, from, there, rows, l->unit, l->size, there, bytes_left(f, l, width));
    }
    nest_print(&n);
}

/* A row that does not exist is zeros, and nothing is looked at for it. */
static void copy_lines(Fn *f, const Op *op, const Lines128 *l, const char *tile, int width, int64_t rows) {
    Nest n = lines_nest(f, l, false);
    line_of_unit(&n, l);
    const char *base = f->param[op->param], *exists = row_exists(f, l, rows), *inside;
    const char *to = fn_text(f, "tile_line_copy(%s, %s, %d * %s", tile, l->line, width, l->at);
    if (exists) {
        nest_line(&n, 1, "if (!(%s)) {", exists);
        nest_line(&n, 1, "    %s, %s, %d, 0);", to, base, l->size);
        nest_line(&n, 1, "    continue;");
        nest_line(&n, 1, "}");
    }
    const char *left = bytes_left(f, l, width);
    const CExpr *place = nest_place(&n, op, &inside);
    if (inside) {
        const char *here = c_name(&f->names, "here");
        nest_line(&n, 1, "const bool %s = %s;", here, inside);
        nest_line(&n, 1, "%s, %s ? &%s : %s, %d, %s ? %s : 0);", to, here, place->text, base, l->size, here, left);
    } else {
        nest_line(&n, 1, "%s, &%s, %d, %s);", to, place->text, l->size, left);
    }
    nest_print(&n);
}

/* That the lane's part of the last panel exists: "true" where all do. */
static const char *last_exists(Fn *f, const Lines128 *l) {
    const int64_t width = slot_extent(f, l->column), panel = l->columns / l->panels;
    return width == l->columns ? "true" : fn_text(f, "%s < %" PRId64, l->at, width - (l->panels - 1) * panel);
}

/* Other copies of the block, as of keys and of values, may have the same rows. */
static bool has_rows_of(const Fn *f, const Op *copy, const Op *other) {
    const Param *p = &f->k->param.p[copy->param], *q = &f->k->param.p[other->param];
    bool same = copy->in->parent->in == other->in->parent->in && p->ndim == q->ndim && p->elem == q->elem &&
                copy->sub.n == other->sub.n;
    for (int d = 0; same && d < p->ndim; d++) same = size_equal(p->dim[d], q->dim[d]);
    for (int d = 0; same && d + 1 < copy->sub.n; d++)
        same = affine_equal(&copy->sub.p[d].lo, &other->sub.p[d].lo);
    return same;
}

static const char *rows_of_step(Fn *f, const Op *copy, Lines128 *l) {
    RoleText *r = f->hip->role;
    for (int i = 0; i < r->rows.n; i++)
        if (has_rows_of(f, copy, r->rows.p[i].copy)) return r->rows.p[i].name;
    const Lines128 all = *l;
    if (l->dealt) l->units = (l->units + LINE_BYTES / l->size - 1) / (LINE_BYTES / l->size);
    rows_keep(f, copy, l);
    l->units = all.units;
    return r->rows.p[r->rows.n - 1].name;
}

void hip_role_look(Fn *f, const Op *put) {
    const Ring *ring = &f->k->roles->ring.p[put->ring];
    Lines128 l = {0};
    if (!hip_ring_has_rows(ring) || !hip_role_in_chain(f)) return;
    f->hip->role->filling = put;
    for (const Op *op = put->region[0]->first; op; op = op->next) {
        if (op->kind != OP_COPY || !panels_of(f, op, &ring->tile.p[op->slot], &l)) continue;
        unit_name(f, &l);
        rows_of_step(f, op, &l);
    }
    f->hip->role->filling = NULL;
}

/* All rows are looked at before the first one is copied: a page's number takes as long as a row to come. */
static bool copy_row_panels(Fn *f, const Op *op, const SlotTile *t, const char *tile) {
    const int width = elem_bits(t->type.elem) / 8;
    const Op column = with_subscripts(f, op, op->sub.n - 1, op->sub.n - 1);
    Lines128 l = {0};
    if (!panels_of(f, op, t, &l) || strcmp(number_type(f, op, l.elements), "int")) return false;
    const RangeText row = f->range[l.row], of_column = f->range[l.column];
    unit_name(f, &l);
    const char *rows = rows_of_step(f, op, &l);
    l.at = c_name(&f->names, "part");
    fn_line(f, "const int %s = thread %% %d * %d;", l.at, LINE_BYTES / l.size, l.elements);
    f->range[l.column].pos = cexpr_name(f, l.at);
    Nest n = lines_nest(f, &l, true);
    const char *from = c_name(&f->names, "from"), *to = c_name(&f->names, "to");
    const char *inside = nest_inside(&n, &column, column.sub.n - 1);
    fn_line(f, "const %s *const %s = &%s;", memory_c(f->k->param.p[op->param].elem), from,
            nest_element(&n, &column)->text);
    fn_line(f, "const uint32_t %s = tile_line_at(%s, thread / %d, %d * %s);", to, tile, LINE_BYTES / l.size, width, l.at);
    const int lanes = LINE_BYTES / l.size;
    const char *number = fn_text(f, "%s[%s]", rows, l.unit);
    if (l.dealt)
        number = fn_text(f, "(int)tile_shuffle((uint32_t)%s[%s / %d], (thread & %d) + %s %% %d)", rows, l.unit, lanes,
                         WARP - lanes, l.unit, lanes);
    nest_line(&n, 1, "tile_row_panels(%s + %d * %s, %s, %s, %d, %d, %s);", to,
              LINE_BYTES * f->hip->threads / lanes, l.unit, from, number, l.panels, l.lines * LINE_BYTES,
              last_exists(f, &l));
    nest_print(&n);
    f->range[l.row] = row, f->range[l.column] = of_column;
    return !inside;
}

bool hip_role_rows(Fn *f, const Op *op, const SlotTile *t, const char *tile) {
    const int width = elem_bits(t->type.elem) / 8;
    const char *kept = kept_rows(f, op);
    Lines128 l = {0};
    if (hip_role_in_chain(f)) return copy_row_panels(f, op, t, tile);
    if (!lines_of(f, op, t, &l)) return false;
    const RangeText row = f->range[l.row], column = f->range[l.column];
    unit_name(f, &l);
    l.line = c_name(&f->names, "line");
    l.at = c_name(&f->names, "part");
    fn_line(f, "const int %s = thread %% %d * %d;", l.at, LINE_BYTES / l.size, l.elements);
    lines_place(f, t, &l);
    if (kept)
        copy_kept(f, op, &l, tile, width, kept);
    else
        copy_lines(f, op, &l, tile, width, hip_role_extent(f->m, f->k, -1, l.row));
    f->range[l.row] = row, f->range[l.column] = column;
    return true;
}
