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

/* A conversion through memory, in its part of LDS. */
typedef struct {
    const Op *op;
    Layout from, to;
    Conversion plan;
    Way in, out;
    int64_t offset;
    const Tile *tile;
} Move;

static const char *move_place(Fn *f, const Move *m, const char *way) {
    return m->offset ? fn_text(f, "lds + %" PRId64 " + %s", m->offset, way) : fn_text(f, "lds + %s", way);
}

static void memory_store(Fn *f, const Value *v, const Move *m) {
    const Way *w = &m->in;
    const Layout *from = &m->from;
    const Tile *x = w->run ? made_tile(f, v) : NULL;
    Nest n = way_nest(f, w, from);
    int bytes = w->bytes << w->run;
    const char *at = move_place(f, m, way_text(f, w, nest_register(&n), fn_text(f, "%s_to", fn_value_name(f, v))));
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

static void memory_load(Fn *f, const Value *v, const Move *m) {
    const Way *w = &m->out;
    const Tile *tile = m->tile;
    Nest n = way_nest(f, w, &m->to);
    int bytes = w->bytes << w->run;
    const char *at = move_place(f, m, way_text(f, w, nest_register(&n), fn_text(f, "%s_from", fn_value_name(f, v))));
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

static bool move_plan(Fn *f, Move *m, const Op *op) {
    *m = (Move){.op = op, .from = *held_layout(f, op->arg.p[0]), .to = *held_layout(f, op->res.p[0])};
    m->from.width = m->to.width = elem_bits(op->arg.p[0]->type.elem);
    convert_plan(&m->plan, &m->from, &m->to, &f->hip->target->lds);
    bool memory = m->plan.kind == CONVERT_LDS || m->plan.through_memory;
    Elem e = op->arg.p[0]->type.elem;
    return memory && m->plan.kind != CONVERT_FREE && way_find(&m->in, &m->plan.memory, &m->from, e) &&
           way_find(&m->out, &m->plan.memory, &m->to, e);
}

static int64_t move_bytes(const Move *m) {
    enum { LINE = 128 };
    return ((INT64_C(1) << layout_index_bits(&m->from)) * m->in.bytes + LINE - 1) / LINE * LINE;
}

static const Op *next_step(Fn *f, const Op *op) {
    for (op = op->next; op && !is_step(f, op); op = op->next) {
    }
    return op;
}

static bool reads_result(Fn *f, const Op *op, const Move *m, int n) {
    for (int i = 0; i < n; i++)
        if (reads(f, op->arg.p[0], m[i].op->res.p[0])) return true;
    return false;
}

/* Conversions that follow each other go together, as far as they leave room for another workgroup. */
static int moves_collect(Fn *f, Move *m, int most, const Op *op) {
    int n = 1;
    int64_t bytes = move_bytes(&m[0]);
    for (op = next_step(f, op); op && op->kind == OP_CONVERT && n < most; op = next_step(f, op)) {
        if (reads_result(f, op, m, n) || !move_plan(f, &m[n], op)) break;
        m[n].offset = bytes;
        bytes += move_bytes(&m[n]);
        if (2 * bytes > f->hip->target->lds_bytes) break;
        n++;
    }
    return n;
}

static void through_memory(Fn *f, const Move *first) {
    enum { MOST = 4 };
    Move *m = ARENA_ARRAY(f->arena, Move, MOST);
    m[0] = *first;
    int n = moves_collect(f, m, MOST, first->op);
    lds_take(f, first->op->loc, m[n - 1].offset + move_bytes(&m[n - 1]));
    for (int i = 0; i < n; i++) {
        const Value *x = m[i].op->arg.p[0], *y = m[i].op->res.p[0];
        fn_line(f, "// %s to the layout of %s", fn_value_name(f, x), fn_value_name(f, y));
        memory_store(f, x, &m[i]);
        f->hip->moved = m[i].op;
    }
    for (int i = 0; i < n; i++) m[i].tile = held_tile(f, m[i].op->res.p[0]);
    sync_line(f);
    for (int i = 0; i < n; i++) memory_load(f, m[i].op->res.p[0], &m[i]);
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

/* Those that went with the one before are done. */
static bool is_moved(Fn *f, const Op *op) {
    for (const Op *x = f->hip->moved; x; x = x->prev)
        if (x == op) return true;
    return false;
}

void hip_convert(Fn *f, const Op *op) {
    Move *m = ARENA_NEW(f->arena, Move);
    if (is_moved(f, op)) return;
    if (move_plan(f, m, op))
        through_memory(f, m);
    else if (m->plan.kind == CONVERT_FREE)
        rename_registers(f, op, &m->plan, &m->to);
    else
        fn_unsupported(f, op->loc, "a conversion between these layouts");
}
