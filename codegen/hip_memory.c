/* hip_memory.c: loads and stores of tiles: up to 16 bytes of a thread at once where its registers are neighbours in
   memory and certainly inside together; positions past the end of a range are 0 or dropped. */
#include "codegen/hip.h"

#include <inttypes.h>
#include <string.h>

/* ---- how many registers go at once ---- */

static bool mentions(const Affine *a, int range) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if ((t->kind == TERM_POS || t->kind == TERM_INDEX) && t->id == range) return true;
        if (t->kind == TERM_VALUE && type_has(t->value->type, range)) return true;
    }
    return false;
}

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

/* Tiles begin and end at multiples, so that all positions of a run exist or none. */
static bool range_is_multiple(Fn *f, int range, int64_t of) {
    const Range *r = &f->k->range.p[range];
    const Op *loop = kernel_loop(f->k, range);
    if (r->kind == RANGE_TILE && r->size % of) return false;
    if (loop) return value_is_multiple(loop->arg.p[0], of) && (range_is_full(f->k, range) || value_is_multiple(loop->arg.p[1], of));
    return size_is_number(r->of) && r->of.c % of == 0 && r->owner < 0;
}

/* The last subscript is the range's position plus a multiple, and no other depends on it. */
static bool runs_along(const Op *op, int range, int64_t of) {
    bool found = false;
    for (int d = 0; d < op->sub.n - 1; d++)
        if (mentions(&op->sub.p[d].lo, range)) return false;
    const Affine *last = &op->sub.p[op->sub.n - 1].lo;
    for (int i = 0; i < last->nterm; i++) {
        const Term *t = &last->term[i];
        bool here = t->kind == TERM_POS && t->id == range;
        if (here && (t->mul != 1 || t->div != 1 || found)) return false;
        if (!here && (t->kind == TERM_VALUE || t->kind == TERM_SIZE || t->div != 1 || t->mul % of)) return false;
        found |= here;
    }
    return found && last->c % of == 0;
}

/* Rows and the tensor's first element lie at multiples. */
static bool rows_are_multiple(Fn *f, const Op *op, int64_t of) {
    const Param *p = &f->k->param.p[op->param];
    const Arg *a = &f->node->arg.p[op->param];
    int64_t row, first;
    if (!text_is_number(part_text(f, &f->p->tensor.p[a->tensor], a), &first) || first % of) return false;
    return p->ndim == 1 || (text_is_number(param_extent(f, op->param, p->ndim - 1), &row) && row % of == 0);
}

static int run_bits(Fn *f, const Op *op, const Layout *l) {
    const Param *p = &f->k->param.p[op->param];
    bool sum = op->mode == STORE_ADD || op->mode == STORE_SUM;
    int bits = 0, width = elem_bits(p->elem), range = run_of_registers(f, l, &bits);
    if (range < 0 || sum || p->packet || !access_within(f, op, p->ndim - 1)) return 0;
    while (bits && width << bits > 128) bits--;
    for (; bits && width << bits >= 8; bits--) {
        int64_t n = INT64_C(1) << bits;
        if (range_is_multiple(f, range, n) && runs_along(op, range, n) && rows_are_multiple(f, op, n)) return bits;
    }
    return 0;
}

/* ---- loads ---- */

static const char *zero_of(Elem e) { return e == ELEM_F64 ? "0.0" : e == ELEM_F32 ? "0.0f" : "0"; }

static const char *load_text(Fn *f, const Tile *to, int bits, const char *from, const char *at) {
    int bytes = elem_bits(to->elem) << bits >> 3;
    if (elem_is_packed(to->elem)) return fn_text(f, "tile_load%d_%s(%s, %s);", bytes, elem_text(to->elem), from, at);
    return fn_text(f, "tile_load%d(&%s, %s);", bytes, from, at);
}

static void load_run(Nest *n, const Tile *to, int bits, const char *from, const char *when) {
    const char *at = tile_address(n->f, to, nest_register(n));
    if (when) nest_line(n, n->n, "if (%s)", when);
    nest_line(n, n->n, "%s%s", when ? "    " : "", load_text(n->f, to, bits, from, at));
    if (!when) return;
    nest_line(n, n->n, "else");
    nest_line(n, n->n, "    tile_zero%d(%s);", elem_value_bits(to->elem) << bits >> 3, at);
}

/* Others of the kernel's threads stored what this one may load, or may still load what it is about to store. */
static bool meets_store(const Region *r, int param, OpKind kind) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next)
        if ((op->kind == kind && op->param == param) || meets_store(op->region[0], param, kind) ||
            meets_store(op->region[1], param, kind))
            return true;
    return false;
}

/* A sum in order also loads. */
static bool is_updated(Fn *f, const Op *op) {
    return op->mode == STORE_SUM || meets_store(f->k->body, op->param, op->kind == OP_LOAD ? OP_STORE : OP_LOAD);
}

void hip_load(Fn *f, const Op *op) {
    if (f->k->param.p[op->param].packet)
        hip_packet_load(f, op);
    else if (!op->ahead)
        hip_load_tile(f, op, held_tile(f, op->res.p[0]));
}

void hip_load_tile(Fn *f, const Op *op, const Tile *to) {
    const Value *v = op->res.p[0];
    int bits = run_bits(f, op, to->layout);
    Nest n = nest_over(f, to->layout, bits);
    const char *inside, *from = nest_place(&n, op, &inside), *when = conjoin(f, mask_text(&n, v->type), inside);
    if (bits)
        load_run(&n, to, bits, from, when);
    else if (when)
        nest_line(&n, n.n, "%s = %s ? %s : %s;", nest_tile(&n, to), when, f->back->read(f, to->elem, from),
                  zero_of(to->elem));
    else
        nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to), f->back->read(f, to->elem, from));
    nest_print(&n);
}

/* ---- stores ---- */

/* One of the threads that hold the same element stores it. */
static const char *first_copy(Fn *f, const Layout *l) {
    uint64_t copies = l ? layout_copies(f->hip, l) : (uint64_t)f->hip->threads - 1;
    if (copies == 0) return NULL;
    if (copies == (uint64_t)f->hip->threads - 1) return "thread == 0";
    return fn_text(f, "(thread & %" PRIu64 ") == 0", copies);
}

static const char *store_text(Nest *n, const Op *op, const char *to) {
    Fn *f = n->f;
    Elem e = f->k->param.p[op->param].elem;
    const char *x = op->mode == STORE_SUM ? sum_value(n, op, f->back->read(f, e, to))
                                          : nest_convert(n, e, op->arg.p[0]->type.elem, nest_value(n, op->arg.p[0]));
    x = text_bare(f, x);
    if (f->k->param.p[op->param].packet) return f->back->sync->packet_put(f, to, packet_bits(f, e, x));
    const char *add = f->k->param.p[op->param].ranks >= 0 ? "atomic_add_shared" : "atomic_add";
    return fn_text(f, "tile_%s_%s(&%s, %s);", op->mode == STORE_ADD ? add : "store", elem_text(e), to, x);
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

static void store_lines(Nest *n, const Op *op, const Tile *run, int bytes, const SumLoops *sum) {
    const char *inside, *to = nest_place(n, op, &inside);
    const Layout *l = n->layout;
    const char *when = conjoin(n->f, l ? mask_text(n, op->arg.p[0]->type) : NULL, inside);
    when = conjoin(n->f, when, sum_condition(n->f, sum));
    const char *text =
        run ? fn_text(n->f, "tile_%s%d(&%s, %s);", is_put(n->f, op, bytes) ? "put" : "store", bytes, to,
                      tile_address(n->f, run, nest_register(n)))
            : store_text(n, op, to);
    n->guard = conjoin(n->f, first_copy(n->f, l), n->guard);
    if (when) nest_line(n, n->n, "if (%s)", when);
    nest_line(n, n->n, "%s%s", when ? "    " : "", text);
}

void hip_store(Fn *f, const Op *op) {
    const Layout *l = held_layout(f, op->arg.p[0]);
    int bits = l ? run_bits(f, op, l) : 0, bytes = elem_bits(f->k->param.p[op->param].elem) / 8 << bits;
    const Tile *run = bits ? stored_tile(f, op, l) : NULL;
    if (is_updated(f, op)) sync_line(f);
    if (f->k->param.p[op->param].packet) fn_line(f, "tile_release_each(TILE_SYSTEM);");
    SumLoops sum;
    sum_open(f, op, &sum);
    Nest n = l ? nest_over(f, l, bits) : nest_new(f, NULL, 0);
    store_lines(&n, op, run, bytes, &sum);
    nest_print(&n);
    sum_close(f, &sum);
    if (is_updated(f, op) && !sum.n) sync_line(f);
}
