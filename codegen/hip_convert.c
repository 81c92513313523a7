/* hip_convert.c: a tile from one layout to another: registers under other names, or through the workgroup's memory,
   laid out so that neither side has bank conflicts (docs/layout.md). */
#include "codegen/hip.h"
#include "ir/layout_convert.h"

#include <inttypes.h>

/* Where in memory, in elements, what a layout's places hold lies. */
typedef struct {
    Layout offset;
    int run;    /* so many register bits run along memory, of which 16 bytes go at once .. */
    int bit[8]; /* .. these, from the lowest offset up */
    int bytes;  /* of an element */
} Way;

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
    w->bytes = elem_bits(e) / 8;
    while (w->bytes << (w->run + 1) <= 16) {
        int bit = bit_of_offset(&w->offset, first, n, UINT64_C(1) << w->run);
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
    for (int b = 0; b < n; b++) {
        if (!straight && in_run(w, b)) continue;
        memory[k] = b < w->run && straight ? 0 : column[b] * (uint64_t)w->bytes;
        tile[k++] = UINT64_C(1) << b;
    }
    return k;
}

static const char *way_text(Fn *f, const Way *w, const char *r, const char *wanted) {
    uint64_t thread[64], reg[64], tile[64], of_thread = 0, of_reg = 0;
    int nt = thread_columns(f->hip, &w->offset, thread), n = way_columns(w, reg, tile);
    if (r[0] == '0') n = 0;
    for (int b = 0; b < nt; b++) thread[b] *= (uint64_t)w->bytes;
    for (int b = 0; b < n; b++) of_reg |= reg[b];
    for (int b = 0; b < nt; b++) of_thread |= thread[b];
    return bits_join(f, thread_part(f, wanted, thread, nt), of_thread, bits_text(f, r, reg, n), of_reg);
}

static const char *copies_guard(Fn *f, const Layout *l) {
    uint64_t copies = layout_copies(f->hip, l);
    return copies ? fn_text(f, "(thread & %" PRIu64 ") == 0", copies) : NULL;
}

/* The register of a run that is not straight, `elem` counting along it. */
static const char *run_element(Nest *n, const Way *w, const Tile *t) {
    Fn *f = n->f;
    uint64_t memory[64], tile[64], along[64];
    int bits = way_columns(w, memory, tile);
    for (int b = 0; b < w->run; b++) along[b] = UINT64_C(1) << w->bit[b];
    const char *first = bits_text(f, nest_register(n), tile, n->loop ? bits : 0);
    return tile_at(f, t, text_bare(f, text_add_terms(f, first, bits_text(f, "elem", along, w->run))));
}

static void run_loop(Nest *n, const Way *w, const char *format, const char *element) {
    nest_line(n, n->n, "#pragma unroll");
    nest_line(n, n->n, "for (int elem = 0; elem < %d; elem++) {", 1 << w->run);
    nest_line(n, n->n, format, element);
    nest_line(n, n->n, "}");
}

static void memory_store(Fn *f, const Value *v, const Way *w, const Layout *from) {
    const Tile *x = w->run ? made_tile(f, v) : NULL;
    Nest n = way_nest(f, w, from);
    int bytes = w->bytes << w->run;
    const char *at =
        fn_text(f, "lds + %s", way_text(f, w, nest_register(&n), fn_text(f, "%s_to", fn_value_name(f, v))));
    n.guard = copies_guard(f, from);
    if (x && is_straight(w))
        nest_line(&n, n.n, "tile_lds_store%d(%s, %s);", bytes, at, tile_address(f, x, nest_register(&n)));
    else if (x) {
        nest_line(&n, n.n, "%s run[%d];", elem_c(x->elem), 1 << w->run);
        run_loop(&n, w, "    run[elem] = %s;", run_element(&n, w, x));
        nest_line(&n, n.n, "tile_lds_store%d(%s, run);", bytes, at);
    } else {
        const char *value = nest_value(&n, v);
        nest_line(&n, n.n, "tile_lds_store_%s(%s, %s);", elem_text(v->type.elem), at, text_bare(f, value));
    }
    nest_print(&n);
}

static void memory_load(Fn *f, const Value *v, const Way *w, const Layout *to, const Tile *tile) {
    Nest n = way_nest(f, w, to);
    int bytes = w->bytes << w->run;
    const char *at =
        fn_text(f, "lds + %s", way_text(f, w, nest_register(&n), fn_text(f, "%s_from", fn_value_name(f, v))));
    if (!w->run)
        nest_line(&n, n.n, "%s = tile_lds_load_%s(%s);", nest_tile(&n, tile), elem_text(v->type.elem), at);
    else if (is_straight(w))
        nest_line(&n, n.n, "tile_lds_load%d(%s, %s);", bytes, at, tile_address(f, tile, nest_register(&n)));
    else {
        nest_line(&n, n.n, "%s run[%d];", elem_c(tile->elem), 1 << w->run);
        nest_line(&n, n.n, "tile_lds_load%d(%s, run);", bytes, at);
        run_loop(&n, w, "    %s = run[elem];", run_element(&n, w, tile));
    }
    nest_print(&n);
}

static void through_memory(Fn *f, const Op *op, const Conversion *c, const Layout *from, const Layout *to) {
    const Value *x = op->arg.p[0];
    Way in = {0}, out = {0};
    if (!way_find(&in, &c->memory, from, x->type.elem) || !way_find(&out, &c->memory, to, x->type.elem)) {
        fn_unsupported(f, op->loc, "a conversion between these layouts");
        return;
    }
    lds_take(f, op->loc, (INT64_C(1) << layout_index_bits(from)) * in.bytes);
    fn_line(f, "// %s to the layout of %s", fn_value_name(f, x), fn_value_name(f, op->res.p[0]));
    const Tile *tile = held_tile(f, op->res.p[0]);
    memory_store(f, x, &in, from);
    sync_line(f);
    memory_load(f, op->res.p[0], &out, to, tile);
    sync_line(f);
}

/* Lanes stay: the register r of the result is another of the operand. */
static void rename_registers(Fn *f, const Op *op, const Conversion *c, const Layout *to) {
    const Tile *from = made_tile(f, op->arg.p[0]), *tile = held_tile(f, op->res.p[0]);
    uint64_t column[64];
    int n, first, d = layout_index(&c->source, "reg", &first), bits = d < 0 ? 0 : c->source.index[d].bits;
    const uint64_t *reg = layout_columns(&c->source, "reg", &n);
    for (int b = 0; b < n; b++) column[b] = reg[b] >> first & ((UINT64_C(1) << bits) - 1);
    Nest nest = nest_over(f, to, 0);
    const char *index = text_bare(f, bits_text(f, nest_register(&nest), column, n));
    nest_line(&nest, nest.n, "%s = %s;", nest_tile(&nest, tile), tile_at(f, from, nest.loop ? index : "0"));
    nest_print(&nest);
}

void hip_convert(Fn *f, const Op *op) {
    Layout from = *held_layout(f, op->arg.p[0]), to = *held_layout(f, op->res.p[0]);
    Conversion *c = ARENA_NEW(f->arena, Conversion);
    from.width = to.width = elem_bits(op->arg.p[0]->type.elem);
    convert_plan(c, &from, &to, &f->hip->target->lds);
    if (c->kind == CONVERT_FREE)
        rename_registers(f, op, c, &to);
    else if (c->kind == CONVERT_LDS || c->through_memory)
        through_memory(f, op, c, &from, &to);
    else
        fn_unsupported(f, op->loc, "a conversion between these layouts");
}
