/* roles_rows.c: copies of rows that lie anywhere, from tensors to slots, by the lanes of whole warps. A lane makes the
   place of its part of a row: tiles that places are made of are expressions of it. */
#include "codegen/gpu/roles.h"
#include "codegen/text/nest.h"
#include "codegen/text/size.h"

#include <inttypes.h>

/* Of the device library (tile_gather.h): bytes of a line, and positions of the contracted range in a panel across it.
 */
enum { LINE_BYTES = 128, DEPTH = 64 };

/* A tile as lines: the range whose positions follow each other in memory, and the other one. */
typedef struct {
    int row, column;         /* ranges */
    int lines, size;         /* size: bytes that a lane copies at once */
    int elements;            /* that are these */
    int units;               /* lines of a lane */
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

static bool lines_of(Fn *f, const Op *op, const SlotTile *t, Lines128 *l) {
    const bool across = t->panel == PANEL_MN128;
    const int width = elem_bits(t->type.elem) / 8, number = f->hip->role->filling->ring;
    if (t->type.nrange != 2 || (t->panel != PANEL_K128 && !across)) return false;
    const bool second = counts_along(op, t->type.range[1]);
    l->column = t->type.range[second], l->row = t->type.range[!second];
    const int64_t rows = hip_role_extent(f->m, f->k, f->k->roles->ring.p[number].per, l->row),
                  columns = hip_role_extent(f->m, f->k, f->k->roles->ring.p[number].per, l->column);
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

/* ---- places that a lane keeps in registers, all along the loop that copies ---- */

/* Copies of whose places the tile is a part. */
static const Op *next_reader(const Op *op, const Region *body, const Value *v) {
    for (; op; op = walk_next(op, body))
        for (int d = 0; op->kind == OP_COPY && d < op->sub.n; d++)
            for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
                if (op->sub.p[d].lo.term[i].kind == TERM_VALUE && op->sub.p[d].lo.term[i].value == v) return op;
    return NULL;
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

/* Made outside of the loop around the copies, and one for each line of all of them. */
static bool is_kept(Fn *f, const Value *v, Lines128 *l) {
    enum { MOST = 16 /* registers; chosen: the other values of a lane have as many */ };
    const Region *body = f->k->roles->role.p[f->hip->role->number].body;
    const Op *first = next_reader(walk(body), body, v);
    if (!first || !lines_of_copy(f, first, l) || l->units > MOST || v->type.nrange != 1) return false;
    for (const Op *op = first; op; op = next_reader(walk_next(op, body), body, v)) {
        Lines128 other;
        if (op->in->parent->in == v->def->in || !lines_of_copy(f, op, &other)) return false;
        if (other.units != l->units || other.row != l->row || l->row != v->type.range[0]) return false;
    }
    return true;
}

bool hip_role_keeps(Fn *f, const Value *v) {
    Lines128 l;
    return is_kept(f, v, &l);
}

static bool reads_kept(Fn *f, const Op *copy) {
    for (int d = 0; d < copy->sub.n; d++)
        for (int i = 0; i < copy->sub.p[d].lo.nterm; i++) {
            const Term *t = &copy->sub.p[d].lo.term[i];
            if (t->kind == TERM_VALUE && t->value->type.nrange && hip_role_keeps(f, t->value)) return true;
        }
    return false;
}

/* Over the lane's lines; kept: registers are indexed by their numbers. */
static Nest lines_nest(Fn *f, const Lines128 *l, bool kept) {
    const int lanes = LINE_BYTES / l->size;
    Nest n = nest_new(f, (const int16_t[]){(int16_t)l->row}, 1);
    n.pragma = kept ? "#pragma unroll" : "#pragma unroll 4";
    n.loop = fn_text(f, "for (int %s = 0; %s < %d; %s++) {", l->unit, l->unit, l->units, l->unit);
    nest_line(&n, 1, "const int %s = thread / %d + %d * %s;", l->line, lanes, f->hip->threads / lanes, l->unit);
    return n;
}

/* A row that does not exist is zeros, and nothing is looked at for it. */
static void copy_lines(Fn *f, const Op *op, const Lines128 *l, const char *tile, int width, int64_t rows) {
    Nest n = lines_nest(f, l, reads_kept(f, op));
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

static void lines_begin(Fn *f, Lines128 *l) {
    RoleText *r = f->hip->role;
    if (!r->unit) r->unit = c_name(&f->names, "u");
    l->unit = r->unit;
    l->line = c_name(&f->names, "line");
    l->at = c_name(&f->names, "part");
}

bool hip_role_rows(Fn *f, const Op *op, const SlotTile *t, const char *tile) {
    const int width = elem_bits(t->type.elem) / 8;
    Lines128 l;
    if (!lines_of(f, op, t, &l)) return false;
    const RangeText row = f->range[l.row], column = f->range[l.column];
    lines_begin(f, &l);
    fn_line(f, "const int %s = thread %% %d * %d;", l.at, LINE_BYTES / l.size, l.elements);
    lines_place(f, t, &l);
    copy_lines(f, op, &l, tile, width, hip_role_extent(f->m, f->k, -1, l.row));
    f->range[l.row] = row, f->range[l.column] = column;
    return true;
}

void hip_role_keep(Fn *f, const Op *op) {
    const Value *v = op->res.p[0];
    Lines128 l;
    if (!is_kept(f, v, &l)) return;
    const RangeText row = f->range[l.row];
    const char *name = c_name(&f->names, fn_value_name(f, v));
    lines_begin(f, &l);
    fn_line(f, "%s %s[%d]; /* of each of the lane's lines */", elem_c(v->type.elem), name, l.units);
    f->range[l.row].pos = cexpr_name(f, l.line);
    Nest n = lines_nest(f, &l, true);
    const char *exists = row_exists(f, &l, hip_role_extent(f->m, f->k, -1, l.row));
    if (exists) nest_line(&n, 1, "%s[%s] = 0;", name, l.unit);
    if (exists) nest_line(&n, 1, "if (!(%s)) continue;", exists);
    nest_line(&n, 1, "%s[%s] = %s;", name, l.unit, cexpr_bare(nest_definition(&n, v))->text);
    nest_print(&n);
    f->range[l.row] = row;
    fn_held(f, v)->name = fn_text(f, "%s[%s]", name, l.unit);
}
