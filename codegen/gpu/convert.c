/* convert.c: a tile from one layout to another: registers under other names, or through the workgroup's memory, as
   many as follow each other between two barriers. */
#include "codegen/gpu/move.h"

static bool plan_of(Fn *f, Move *m, const Op *op) {
    const Value *from = op->arg.p[0], *to = op->res.p[0];
    *m = (Move){.from = from, .to = to};
    return move_plan(f, m, held_layout(f, from), held_layout(f, to), from->type.elem);
}

static const Op *next_step(Fn *f, const Op *op) {
    for (op = op->next; op && !is_step(f, op); op = op->next) {
    }
    return op;
}

static bool reads_result(Fn *f, const Op *op, const Move *m, int n) {
    for (int i = 0; i < n; i++)
        if (reads(f, op->arg.p[0], m[i].to)) return true;
    return false;
}

/* Conversions that follow each other go together, as far as they leave room for another workgroup. */
static int moves_collect(Fn *f, Move *m, int most, const Op *op) {
    int n = 1;
    int64_t bytes = move_bytes(&m[0]);
    for (op = next_step(f, op); op && op->kind == OP_CONVERT && n < most; op = next_step(f, op)) {
        if (reads_result(f, op, m, n) || !plan_of(f, &m[n], op)) break;
        m[n].offset = bytes;
        bytes += move_bytes(&m[n]);
        if (2 * bytes > f->hip->target->lds_bytes) break;
        n++;
    }
    return n;
}

static void through_memory(Fn *f, const Op *op, const Move *first) {
    /* Conversions between two barriers; chosen: no measurement is recorded. */
    enum { MOST = 4 };
    Move *m = ARENA_ARRAY(f->arena, Move, MOST);
    m[0] = *first;
    int n = moves_collect(f, m, MOST, op);
    lds_take(f, op->loc, m[n - 1].offset + move_bytes(&m[n - 1]));
    f->hip->moving = op;
    f->hip->moved = m[n - 1].to->def;
    for (int i = 0; i < n; i++) {
        fn_line(f, "// %s to the layout of %s", fn_value_name(f, m[i].from), fn_value_name(f, m[i].to));
        move_store(f, &m[i]);
    }
    for (int i = 0; i < n; i++) m[i].tile = held_tile(f, m[i].to);
    sync_line(f);
    for (int i = 0; i < n; i++) move_load(f, &m[i]);
    lds_done(f);
}

/* Lanes stay: the register r of the result is another of the operand. */
static void rename_registers(Fn *f, const Op *op, const Conversion *c, const Layout *to) {
    const Tile *from = made_tile(f, op->arg.p[0]), *tile = held_tile(f, op->res.p[0]);
    uint64_t column[64];
    int n, first, d = layout_index(&c->source, "reg", &first), bits = d < 0 ? 0 : c->source.index[d].bits;
    const uint64_t *reg = layout_columns(&c->source, "reg", &n);
    for (int b = 0; b < n; b++) column[b] = reg[b] >> first & ((UINT64_C(1) << bits) - 1);
    Nest nest = nest_over(f, to, 0);
    const CExpr *index = cexpr_bare(bits_text(f, nest_register(&nest), column, n));
    nest_line(&nest, nest.n, "%s = %s;", nest_tile(&nest, tile)->text,
              tile_at(f, from, nest.loop ? index : cexpr_number(f, 0))->text);
    nest_print(&nest);
}

static bool is_written(Fn *f, const Op *op) {
    for (const Op *x = f->hip->moved; x; x = x == f->hip->moving ? NULL : x->prev)
        if (x == op) return true;
    return false;
}

const Op *hip_written_with(Fn *f, const Op *op) { return is_written(f, op) ? f->hip->moved : op; }

void hip_convert(Fn *f, const Op *op) {
    Move *m = ARENA_NEW(f->arena, Move);
    if (is_written(f, op)) return;
    if (plan_of(f, m, op))
        through_memory(f, op, m);
    else if (m->plan.kind == CONVERT_FREE)
        rename_registers(f, op, &m->plan, &m->to_layout);
    else
        fn_unsupported(f, op->loc, "a conversion between these layouts");
}
