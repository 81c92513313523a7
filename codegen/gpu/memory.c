/* memory.c: loads and stores of tiles. Up to 16 bytes of a thread go at once where its registers are neighbours in
   memory that begin at multiples. Positions past the end of a range are 0 or dropped. */
#include "codegen/gpu/hip.h"
#include "codegen/text/print.h"

#include <inttypes.h>

/* ---- how many registers go at once ---- */

/* The range that the lowest register bits count along, and how many of them do. */
static int run_of_registers(Fn *f, const Layout *l, int *bits) {
    int n, first;
    const uint64_t *reg = layout_columns(l, "reg", &n);
    for (int i = 0; i < f->k->range.n && n; i++) {
        const char *name = f->k->range.p[i].name;
        if (!(layout_range_bits(l, name) & reg[0])) continue;
        layout_index(l, name, &first);
        for (*bits = 0; *bits < n && reg[*bits] == UINT64_C(1) << (first + *bits);) ++*bits;
        return i;
    }
    return -1;
}

/* They end there as well: all positions of a run exist or none. */
static bool range_ends_at(Fn *f, int range, int64_t of) {
    const Range *r = &f->k->range.p[range];
    if (r->part_of) return r->size % of == 0 && range_ends_at(f, r->part_of - 1, of);
    if (r->starts) return of == 1;
    const Op *loop = kernel_loop(f->k, range);
    if (loop && r->kind == RANGE_TILE && range_is_full(f->k, range)) return r->size % of == 0;
    if (loop) return value_is_multiple(loop->arg.p[1], of);
    return size_is_number(r->of) && r->of.c % of == 0 && r->owner < 0;
}

/* The last subscript is the range's position plus a multiple, and no other depends on it. */
static bool runs_along(const Op *op, int range, int64_t of) {
    for (int d = 0; d < op->sub.n - 1; d++)
        if (affine_follows(&op->sub.p[d].lo, range)) return false;
    return affine_runs_along(&op->sub.p[op->sub.n - 1].lo, range, of);
}

/* Rows and the tensor's first element lie at multiples. */
static bool rows_are_multiple(Fn *f, const Op *op, int64_t of) {
    const Param *p = &f->k->param.p[op->param];
    const Arg *a = &f->node->arg.p[op->param];
    return cexpr_is_multiple(part_text(f, &f->p->tensor.p[a->tensor], a), of) &&
           (p->ndim == 1 || cexpr_is_multiple(param_extent(f, op->param, p->ndim - 1), of));
}

bool hip_run_is_multiple(Fn *f, const Op *op, int range, int64_t of) {
    return range_begins_at(f->k, op, range, of) && runs_along(op, range, of) && rows_are_multiple(f, op, of);
}

/* Registers whose low `bits` bits count neighbours in memory. `last`: the range that may end among them, the last run
   of a tile then has fewer; -1: none. `odd`: they begin at no multiple in memory. `aligned`: `last` is a aligned range.
 */
typedef struct {
    int bits, last;
    bool odd, aligned;
} Run;

static bool run_fits(Fn *f, const Op *op, int range, int bits, int *last) {
    int64_t n = INT64_C(1) << bits;
    *last = range_ends_at(f, range, n) ? -1 : range;
    if (*last >= 0 && elem_is_packed(f->k->param.p[op->param].elem)) return false;
    return hip_run_is_multiple(f, op, range, n);
}

/* Vectors of 8 or 16 bytes from anywhere, of shorter elements, where shorter ones would be as many loads. */
static bool is_odd_run(Fn *f, const Op *op, int range, int bits) {
    /* Bits: vectors of 8 bytes and more. */
    enum { LEAST = 64 };
    int width = elem_bits(f->k->param.p[op->param].elem);
    return width < LEAST && width << bits >= LEAST && op->kind == OP_LOAD && load_may_cover(f->k, op, range) &&
           affine_is_natural(f, &op->sub.p[op->sub.n - 1].lo);
}

/* Vectors of the row's own; of another one, which begins elsewhere. */
static Run aligned_run(Fn *f, const Op *op, int range, int bits) {
    const Param *p = &f->k->param.p[op->param];
    const Arg *a = &f->node->arg.p[op->param];
    while (bits && elem_bits(p->elem) << bits > 128) bits--;
    bool begins = cexpr_is_multiple(part_text(f, &f->p->tensor.p[a->tensor], a), INT64_C(1) << bits);
    if (p->ndim > 1 && begins) return (Run){bits, range, false, true};
    bool odd = is_odd_run(f, op, range, bits);
    return (Run){odd ? bits : 0, odd ? range : -1, odd, odd};
}

static Run run_of(Fn *f, const Op *op, const Layout *l) {
    const Param *p = &f->k->param.p[op->param];
    bool sum = op->mode == STORE_ADD || op->mode == STORE_SUM;
    int bits = 0, width = elem_bits(p->elem), range = run_of_registers(f, l, &bits), last;
    if (range < 0 || sum || p->packet) return (Run){0, -1, false, false};
    if (f->k->range.p[range].aligned) return aligned_run(f, op, range, bits);
    while (bits && width << bits > 128) bits--;
    const int most = bits;
    const bool within = access_within(f, op, p->ndim - 1);
    for (; bits && width << bits >= 8; bits--) {
        if (within && run_fits(f, op, range, bits, &last)) return (Run){bits, last, false, false};
        if (width << bits <= 64 && is_odd_run(f, op, range, most)) return (Run){most, range, true, false};
    }
    return (Run){0, -1, false, false};
}

/* Which positions of a run exist is its own business. */
static const char *run_mask(Nest *n, Type t, Run run) {
    return mask_text(n, run.last < 0 ? t : type_without(t, run.last));
}

/* Elements of a run that exist, if there are so many. */
static const char *run_left(Fn *f, Run run) {
    const RangeText *r = &f->range[run.last];
    return fn_text(f, "%s - %s", cexpr_operand(f, r->count)->text, cexpr_operand(f, r->pos)->text);
}

/* ---- loads ---- */

static const char *zero_of(Elem e) { return e == ELEM_F64 ? "0.0" : e == ELEM_F32 ? "0.0f" : "0"; }

/* Elements of a parameter's row: of a split tensor the rank's own, whatever lies between two rows in memory. */
static const CExpr *row_extent(Fn *f, const Op *op) {
    const Param *p = &f->k->param.p[op->param];
    return size_text(f, p->dim[p->ndim - 1]);
}

/* Those of an odd run, which may end with its row as well. */
static const char *odd_left(Nest *n, const Op *op, Run run) {
    Fn *f = n->f;
    int last = f->k->param.p[op->param].ndim - 1;
    if (access_within(f, op, last)) return run_left(f, run);
    const CExpr *at = nest_affine(n, &op->sub.p[op->sub.n - 1].lo);
    return fn_text(f, "tile_least(%s, %s - %s)", run_left(f, run), cexpr_operand(f, row_extent(f, op))->text,
                   cexpr_operand(f, at)->text);
}

static const char *load_text(Fn *f, const Tile *to, Run run, const CExpr *from, const CExpr *at) {
    int bytes = elem_bits(to->elem) << run.bits >> 3;
    if (run.last >= 0)
        return fn_text(f, "tile_load_some_%s(&%s, %s, %d, %s);", elem_text(to->elem), from->text, at->text,
                       1 << run.bits, run_left(f, run));
    if (elem_is_packed(to->elem))
        return fn_text(f, "tile_load%d_%s(%s, %s);", bytes, elem_text(to->elem), from->text, at->text);
    return fn_text(f, "tile_load%d(&%s, %s);", bytes, from->text, at->text);
}

static void load_run(Nest *n, const Tile *to, Run run, const CExpr *from, const char *when) {
    const CExpr *at = tile_address(n->f, to, nest_register(n));
    if (when) nest_line(n, n->n, "if (%s)", when);
    nest_line(n, n->n, "%s%s", when ? "    " : "", load_text(n->f, to, run, from, at));
    if (!when) return;
    nest_line(n, n->n, "else");
    nest_line(n, n->n, "    tile_zero%d(%s);", elem_value_bits(to->elem) << run.bits >> 3, at->text);
}

/* Others of the kernel's threads stored what this one may load, or may still load what it is about to store.
   A sum in order also loads. */
static bool is_updated(Fn *f, const Op *op) {
    return op->mode == STORE_SUM || region_has_access(f->k->body, op->param, op->kind == OP_LOAD ? OP_STORE : OP_LOAD);
}

void hip_load(Fn *f, const Op *op) {
    if (f->k->param.p[op->param].packet)
        hip_packet_load(f, op);
    else if (!op->pipelined)
        hip_load_tile(f, op, held_tile(f, op->res.p[0]));
}

static void load_plain(Fn *f, const Op *op, const Tile *to, Run run) {
    Nest n = nest_over(f, to->layout, run.bits);
    const char *inside;
    const CExpr *from = nest_place(&n, op, &inside);
    const char *when = conjoin(f, run_mask(&n, op->res.p[0]->type, run), inside);
    if (run.bits)
        load_run(&n, to, run, from, when);
    else if (when)
        nest_line(&n, n.n, "%s = %s ? %s : %s;", nest_tile(&n, to)->text, when, f->back->read(f, to->elem, from)->text,
                  zero_of(to->elem));
    else
        nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, f->back->read(f, to->elem, from)->text);
    nest_print(&n);
}

/* The run and the next one lie in the row, and the tile does not end in it. */
static const char *odd_wanted(Nest *n, const Op *op, Run run) {
    Fn *f = n->f;
    const int elements = 1 << run.bits;
    const RangeText *r = &f->range[run.last];
    const CExpr *at = nest_affine(n, &op->sub.p[op->sub.n - 1].lo), *extent = row_extent(f, op);
    const char *row =
        fn_text(f, "%s <= %s", cexpr_add(f, at, cexpr_number(f, 2 * elements))->text, cexpr_operand(f, extent)->text);
    const bool is_row = cexpr_equal(cexpr_bare(at), cexpr_bare(r->pos)) && cexpr_equal(extent, r->count);
    if (is_row || range_fills_layout(n, run.last)) return row;
    const char *tile =
        fn_text(f, "%s <= %s", cexpr_add(f, r->pos, cexpr_number(f, elements))->text, cexpr_operand(f, r->count)->text);
    return fn_text(f, "%s && %s", tile, row);
}

/* First all vectors, then what is left of the rows: a wait for that would hold up the others. */
static void load_odd(Fn *f, const Op *op, const Tile *to, Run run, bool rest) {
    Nest n = nest_over(f, to->layout, run.bits);
    const char *inside, *name = elem_text(to->elem);
    const CExpr *from = nest_row_place(&n, op, &inside), *regs = tile_address(f, to, nest_register(&n));
    const char *when = conjoin(f, run_mask(&n, op->res.p[0]->type, run), inside);
    const char *wanted = conjoin(f, when, odd_wanted(&n, op, run)), *left = odd_left(&n, op, run);
    if (rest)
        nest_line(&n, n.n, "tile_load_rest_%s(&%s, %s, %d, %s, %s);", name, from->text, regs->text, 1 << run.bits,
                  wanted, when ? fn_text(f, "%s ? %s : 0", when, left) : left);
    else
        nest_line(&n, n.n, "tile_load_odd_%s(&%s, %s, %d, %s);", name, from->text, regs->text, 1 << run.bits, wanted);
    nest_print(&n);
}

static int64_t tile_places(const Layout *l) { return INT64_C(1) << layout_index_bits(l); }

/* Where the row begins; the run's column, in *at. */
static const CExpr *row_start(Nest *n, const Op *op, int range, const CExpr **at) {
    RangeText *r = &n->f->range[range];
    *at = cexpr_bare(r->pos);
    r->pos = cexpr_number(n->f, 0);
    const CExpr *row = nest_element(n, op);
    r->pos = *at;
    return row;
}

static void load_aligned(Fn *f, const Op *op, const Tile *to, Run run, bool ends) {
    Nest n = nest_over(f, to->layout, run.bits);
    const CExpr *at, *row = row_start(&n, op, run.last, &at), *regs = tile_address(f, to, nest_register(&n));
    const char *inside, *size = f->range[run.last].count->text, *name = elem_text(to->elem);
    const int elements = 1 << run.bits, room = run.odd ? 2 * elements : elements;
    nest_row_place(&n, op, &inside);
    size = inside ? fn_text(f, "(%s ? %s : 0)", inside, size) : size;
    if (ends)
        nest_line(&n, n.n, "tile_load_ends_%s(&%s, %s, %d, %s, %s, %d, %" PRId64 ");", name, row->text, regs->text,
                  elements, at->text, size, room, tile_places(to->layout));
    else if (run.odd)
        nest_line(&n, n.n, "tile_load_odd_%s(&%s + %s, %s, %d, %s + %d <= %s);", name, row->text,
                  cexpr_operand(f, at)->text, regs->text, elements, cexpr_operand(f, at)->text, room, size);
    else
        nest_line(&n, n.n, "tile_load_aligned_%s(&%s, %s, %d, %s, %s);", name, row->text, regs->text, elements,
                  at->text, size);
    nest_print(&n);
}

void hip_load_tile(Fn *f, const Op *op, const Tile *to) {
    Run run = run_of(f, op, to->layout);
    if (run.aligned) {
        load_aligned(f, op, to, run, false);
        load_aligned(f, op, to, run, true);
        return;
    }
    if (!run.odd) {
        load_plain(f, op, to, run);
        return;
    }
    load_odd(f, op, to, run, false);
    load_odd(f, op, to, run, true);
}

/* ---- stores ---- */

/* One of the threads that hold the same element stores it. */
static const char *first_copy(Fn *f, const Layout *l) {
    uint64_t copies = l ? layout_copies(f->hip, l) : (uint64_t)f->hip->threads - 1;
    if (copies == 0) return NULL;
    if (copies == (uint64_t)f->hip->threads - 1) return "thread == 0";
    return fn_text(f, "(thread & %" PRIu64 ") == 0", copies);
}

static const char *store_text(Nest *n, const Op *op, const CExpr *to) {
    Fn *f = n->f;
    Elem e = f->k->param.p[op->param].elem;
    const CExpr *x = op->mode == STORE_SUM ? sum_value(n, op, f->back->read(f, e, to))
                                           : nest_convert(n, e, op->arg.p[0]->type.elem, nest_value(n, op->arg.p[0]));
    x = cexpr_bare(x);
    if (f->k->param.p[op->param].packet) return f->back->sync->packet_put(f, to->text, packet_bits(f, e, x));
    const char *add = f->k->param.p[op->param].ranks >= 0 ? "atomic_add_shared" : "atomic_add";
    return fn_text(f, "tile_%s_%s(&%s, %s);", op->mode == STORE_ADD ? add : "store", elem_text(e), to->text, x->text);
}

/* The registers as they go to memory. */
static const Tile *stored_tile(Fn *f, const Op *op, const Layout *l) {
    const Value *v = op->arg.p[0];
    Elem e = f->k->param.p[op->param].elem;
    if (v->type.elem == e) return made_tile(f, v);
    Tile *t = ARENA_NEW(f->arena, Tile);
    *t = tile_like(f, l, e, fn_text(f, "%s_out", f->param[op->param]));
    emit_copy(f, t, v);
    return t;
}

/* What came through LDS came in pieces; what goes to another device crosses in as few stores as it can. */
static bool is_put(const Fn *f, const Op *store, int bytes) {
    const Op *from = store->arg.p[0]->def;
    return bytes >= 8 && (f->k->param.p[store->param].ranks >= 0 || (from && from->kind == OP_CONVERT));
}

static const char *store_run(Nest *n, const Op *op, Run run, const Tile *from, const CExpr *to) {
    Fn *f = n->f;
    const CExpr *at = tile_address(f, from, nest_register(n));
    int bytes = elem_bits(from->elem) / 8 << run.bits;
    if (run.last >= 0)
        return fn_text(f, "tile_store_some_%s(&%s, %s, %d, %s);", elem_text(from->elem), to->text, at->text,
                       1 << run.bits, run_left(f, run));
    return fn_text(f, "tile_%s%d(&%s, %s);", is_put(f, op, bytes) ? "put" : "store", bytes, to->text, at->text);
}

static const char *store_aligned(Nest *n, const Op *op, Run run, const Tile *from) {
    const CExpr *at, *row = row_start(n, op, run.last, &at);
    return fn_text(n->f, "tile_store_aligned_%s(&%s, %s, %d, %s, %s, %" PRId64 ");", elem_text(from->elem), row->text,
                   tile_address(n->f, from, nest_register(n))->text, 1 << run.bits, at->text,
                   n->f->range[run.last].count->text, tile_places(from->layout));
}

static void store_lines(Nest *n, const Op *op, Run run, const Tile *from, const SumLoops *sum) {
    const char *inside;
    const CExpr *to = run.aligned ? nest_row_place(n, op, &inside) : nest_place(n, op, &inside);
    const Layout *l = n->layout;
    const char *when = conjoin(n->f, l ? run_mask(n, op->arg.p[0]->type, run) : NULL, inside);
    when = conjoin(n->f, when, sum_condition(n->f, sum));
    const char *text = run.aligned ? store_aligned(n, op, run, from)
                       : from     ? store_run(n, op, run, from, to)
                                  : store_text(n, op, to);
    n->guard = conjoin(n->f, first_copy(n->f, l), n->guard);
    if (when) nest_line(n, n->n, "if (%s)", when);
    nest_line(n, n->n, "%s%s", when ? "    " : "", text);
}

void hip_print(Fn *f, const Op *op) {
    const Value *x = op->arg.p[0];
    const Layout *l = held_layout(f, x);
    Nest n = l ? nest_over(f, l, 0) : nest_new(f, NULL, 0);
    n.guard = first_copy(f, l);
    print_lines(&n, op, l ? mask_text(&n, x->type) : NULL);
    nest_print(&n);
}

void hip_store(Fn *f, const Op *op) {
    const Layout *l = held_layout(f, op->arg.p[0]);
    Run run = l ? run_of(f, op, l) : (Run){0, -1, false, false};
    const Tile *from = run.bits ? stored_tile(f, op, l) : NULL;
    if (is_updated(f, op)) sync_line(f);
    if (f->k->param.p[op->param].packet) fn_line(f, "tile_release_each(TILE_SYSTEM);");
    SumLoops sum;
    sum_open(f, op, &sum);
    Nest n = l ? nest_over(f, l, run.bits) : nest_new(f, NULL, 0);
    store_lines(&n, op, run, from, &sum);
    nest_print(&n);
    sum_close(f, &sum);
    if (is_updated(f, op) && !sum.n) sync_line(f);
}
