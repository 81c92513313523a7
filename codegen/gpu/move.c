/* move.c: a tile through the workgroup's memory: stored from one layout and loaded in another. Up to 16 bytes go at
   once where they lie in a row in memory, also if their registers are no neighbours. */
#include "codegen/gpu/move.h"

#include <inttypes.h>

/* The register bit that moves by the offset alone; -1: there is none, or others move within it. */
static int bit_of_offset(const Layout *offset, int first, int n, uint64_t by) {
    int found = -1;
    for (int b = 0; b < layout_place_bits(offset); b++) {
        if (!(offset->column[b] & by)) continue;
        if (found >= 0 || offset->column[b] != by || b < first || b >= first + n) return -1;
        found = b - first;
    }
    return found;
}

static bool way_find(Way *w, const Layout *memory, const Layout *registers, Elem e) {
    Layout inverse;
    if (!layout_inverse(&inverse, memory) || !layout_compose(&w->offset, &inverse, registers)) return false;
    int first, d = layout_place(&w->offset, "reg", &first), n = w->offset.place[d].bits;
    w->bytes = elem_value_bits(e) / 8;
    while (w->bytes << (w->run + 1) <= 16) {
        int bit = bit_of_offset(&w->offset, first, n - w->outer, UINT64_C(1) << w->run);
        if (bit < 0) break;
        w->bit[w->run++] = bit;
    }
    return true;
}

/* The registers of a run are neighbours as well. */
static bool is_straight(const Way *w) {
    for (int b = 0; b < w->run; b++)
        if (w->bit[b] != b) return false;
    return true;
}

static bool in_run(const Way *w, int bit) {
    for (int b = 0; b < w->run; b++)
        if (w->bit[b] == bit) return true;
    return false;
}

/* One turn of the loop moves a run. Where it is straight the loop counts registers, else it counts runs. */
static Nest way_nest(Fn *f, const Way *w, const Layout *registers) {
    if (is_straight(w)) return nest_over(f, registers, w->run);
    Nest n = nest_over(f, registers, 0);
    int runs = layout_registers(registers) >> w->run;
    n.n = runs > 1;
    n.loop = runs > 1 ? fn_text(f, "for (int reg = 0; reg < %d; reg++) {", runs) : NULL;
    return n;
}

/* Columns of the loop's bits: in memory, in bytes, and in the tile's registers. */
static int way_columns(const Way *w, uint64_t *memory, uint64_t *tile) {
    int n, k = 0;
    bool straight = is_straight(w);
    const uint64_t *column = layout_columns(&w->offset, "reg", &n);
    for (int b = 0; b < n - w->outer; b++) {
        if (!straight && in_run(w, b)) continue;
        memory[k] = b < w->run && straight ? 0 : column[b] * (uint64_t)w->bytes;
        tile[k++] = UINT64_C(1) << b;
    }
    return k;
}

/* What the loop around adds. */
static const CExpr *outer_text(Fn *f, const Way *w, uint64_t *bits) {
    uint64_t column[64] = {0};
    int n;
    const uint64_t *all = layout_columns(&w->offset, "reg", &n);
    for (int b = 0; b < w->outer; b++) *bits |= column[w->low + b] = all[n - w->outer + b] * (uint64_t)w->bytes;
    return w->outer ? bits_text(f, cexpr_name(f, w->step), column, w->low + w->outer) : cexpr_number(f, 0);
}

static const CExpr *way_text(Fn *f, const Way *w, const CExpr *r, const char *wanted) {
    uint64_t thread[64], reg[64], tile[64], of_thread = 0, of_reg = 0;
    int nt = thread_columns(f->hip, &w->offset, thread), n = way_columns(w, reg, tile);
    if (cexpr_is(r, 0)) n = 0;
    for (int b = 0; b < nt; b++) thread[b] *= (uint64_t)w->bytes;
    for (int b = 0; b < n; b++) of_reg |= reg[b];
    for (int b = 0; b < nt; b++) of_thread |= thread[b];
    uint64_t of_step = 0;
    const CExpr *step = outer_text(f, w, &of_step), *part = thread_part(f, wanted, thread, nt);
    const CExpr *both = bits_join(f, part, of_thread, step, of_step);
    return bits_join(f, both, of_thread | of_step, bits_text(f, r, reg, n), of_reg);
}

static const char *copies_guard(Fn *f, const Layout *l) {
    uint64_t copies = layout_copies(f->hip, l);
    return copies ? fn_text(f, "(thread & %" PRIu64 ") == 0", copies) : NULL;
}

/* The register of a run that is not straight, `elem` counting along it. */
static const CExpr *run_element(Nest *n, const Way *w, const Tile *t) {
    Fn *f = n->f;
    uint64_t memory[64], tile[64], along[64];
    int bits = way_columns(w, memory, tile);
    for (int b = 0; b < w->run; b++) along[b] = UINT64_C(1) << w->bit[b];
    const CExpr *first = bits_text(f, nest_register(n), tile, n->loop ? bits : 0);
    return tile_at(f, t, cexpr_bare(cexpr_add(f, first, bits_text(f, cexpr_name(f, "elem"), along, w->run))));
}

/* The array in which a run that is not straight is put together: a name of its own where no loop closes its scope. */
static const char *run_array(Nest *n, const Way *w, Elem e) {
    const char *name = n->loop ? "run" : c_name(&n->f->names, "run");
    nest_line(n, n->n, "%s %s[%d];", elem_c(e), name, 1 << w->run);
    return name;
}

static void run_loop(Nest *n, const Way *w, const char *to, const char *from) {
    nest_line(n, n->n, "#pragma unroll");
    nest_line(n, n->n, "for (int elem = 0; elem < %d; elem++) {", 1 << w->run);
    nest_line(n, n->n, "    %s = %s;", to, from);
    nest_line(n, n->n, "}");
}

static const char *move_place(Fn *f, const Move *m, const CExpr *way) {
    return m->offset ? fn_text(f, "lds + %" PRId64 " + %s", m->offset, way->text) : fn_text(f, "lds + %s", way->text);
}

/* Values of packed elements take a byte. */
static const char *lds_elem(Elem e) { return elem_is_packed(e) ? "i8" : elem_text(e); }

void move_store(Fn *f, const Move *m) {
    const Way *w = &m->in;
    const Layout *from = &m->from_layout;
    const Value *v = m->from;
    const Tile *x = w->run ? made_tile(f, v) : NULL;
    Nest n = way_nest(f, w, from);
    int bytes = w->bytes << w->run;
    const char *at = move_place(f, m, way_text(f, w, nest_register(&n), fn_text(f, "%s_to", fn_value_name(f, v))));
    n.guard = copies_guard(f, from);
    if (x && is_straight(w))
        nest_line(&n, n.n, "tile_lds_store%d(%s, %s);", bytes, at, tile_address(f, x, nest_register(&n))->text);
    else if (x) {
        const char *run = run_array(&n, w, x->elem);
        run_loop(&n, w, fn_text(f, "%s[elem]", run), run_element(&n, w, x)->text);
        nest_line(&n, n.n, "tile_lds_store%d(%s, %s);", bytes, at, run);
    } else {
        const CExpr *value = nest_value(&n, v);
        nest_line(&n, n.n, "tile_lds_store_%s(%s, %s);", lds_elem(v->type.elem), at, cexpr_bare(value)->text);
    }
    nest_print(&n);
}

void move_load(Fn *f, const Move *m) {
    const Way *w = &m->out;
    const Tile *tile = m->tile;
    const Value *v = m->to;
    Nest n = way_nest(f, w, &m->to_layout);
    int bytes = w->bytes << w->run;
    const char *at = move_place(f, m, way_text(f, w, nest_register(&n), fn_text(f, "%s_from", fn_value_name(f, v))));
    if (!w->run)
        nest_line(&n, n.n, "%s = tile_lds_load_%s(%s);", tile_at(f, tile, nest_register(&n))->text,
                  lds_elem(tile->elem), at);
    else if (is_straight(w))
        nest_line(&n, n.n, "tile_lds_load%d(%s, %s);", bytes, at, tile_address(f, tile, nest_register(&n))->text);
    else {
        const char *run = run_array(&n, w, tile->elem);
        nest_line(&n, n.n, "tile_lds_load%d(%s, %s);", bytes, at, run);
        run_loop(&n, w, run_element(&n, w, tile)->text, fn_text(f, "%s[elem]", run));
    }
    nest_print(&n);
}

bool move_plan(Fn *f, Move *m, const Layout *from, const Layout *to, Elem e) {
    m->from_layout = *from;
    m->to_layout = *to;
    m->from_layout.width = m->to_layout.width = elem_value_bits(e);
    convert_plan(&m->plan, &m->from_layout, &m->to_layout, &f->hip->target->lds);
    if (m->plan.kind == CONVERT_FREE || (m->plan.kind != CONVERT_LDS && !m->plan.through_memory)) return false;
    return way_find(&m->in, &m->plan.memory, &m->from_layout, e) &&
           way_find(&m->out, &m->plan.memory, &m->to_layout, e);
}

int64_t move_bytes(const Move *m) {
    /* Bytes: each part of LDS begins at a multiple of all its banks, 32 of 4 bytes. */
    enum { LINE = 128 };
    return ((INT64_C(1) << layout_index_bits(&m->from_layout)) * m->in.bytes + LINE - 1) / LINE * LINE;
}
