/* step.c: the backend of GPU text: which function writes each step of a kernel. */
#include "codegen/gpu/hip.h"
#include "codegen/text/share.h"

#include <inttypes.h>

static Tile tile_new(Fn *f, const Value *v, Elem e, int16_t fastest) {
    (void)fastest;
    const Layout *l = held_layout(f, v);
    return (Tile){.layout = l, .elem = e, .count = layout_registers(l)};
}

static Nest nest_of_tile(Fn *f, const Tile *t) { return nest_over(f, t->layout, 0); }

static void place(Fn *f, Tile *t, const char *wanted) {
    t->name = c_name(&f->names, wanted);
    if (t->count == 1)
        fn_line(f, "%s %s;", elem_c(t->elem), t->name);
    else
        fn_line(f, "%s %s[%" PRId64 "];", elem_c(t->elem), t->name, t->count);
}

static const CExpr *element(Nest *n, const Tile *t) { return tile_at(n->f, t, register_of(n, t->layout)); }

static const CExpr *symbol(Fn *f, int s) {
    return cexpr_name(f, fn_text(f, "call.args.%s", f->hip->member[f->p->io.n + program_dim_of(f->p, s)]));
}

static const CExpr *coord(Fn *f, int axis) {
    return f->m->axis.p[axis].ranks == 1 ? cexpr_number(f, 0) : cexpr_name(f, fn_text(f, "t->coord[%d]", axis));
}

static const CExpr *read(Fn *f, Elem e, const CExpr *at) {
    const char *how = elem_is_packed(e) ? "tile_load_%s(%s)" : f->hip->bypasses_l1 ? "tile_look_%s(&%s)" : "tile_load_%s(&%s)";
    return cexpr_call(f, how, elem_text(e), at->text);
}

/* Two arguments of the functions that load packed elements. */
static const CExpr *packed(Fn *f, Elem e, const char *base, const CExpr *index) {
    (void)e;
    return cexpr_open(f, "%s, %s", base, index->text);
}

static void step(Fn *f, const Op *op) {
    switch (op->kind) {
    case OP_LOAD: hip_load(f, op); break;
    case OP_STORE: hip_store(f, op); break;
    case OP_PRINT:
    case OP_ASSERT: hip_print(f, op); break;
    case OP_WAIT: emit_wait(f, op); break;
    case OP_SIGNAL: emit_signal(f, op); break;
    case OP_DOT: hip_dot(f, op); break;
    case OP_CONVERT: hip_convert(f, op); break;
    default:
        if (op_info[op->kind].class == CLASS_PREFIX)
            hip_prefix(f, op);
        else if (op_info[op->kind].position)
            hip_arg(f, op);
        else if (op_info[op->kind].class == CLASS_REDUCE)
            hip_reduce(f, op);
        else
            fn_unsupported(f, op->loc, op_phrase(op->kind));
    }
}

/* Each thread looks at its share of the starts; in place of the first task all of those that wait for each other, as
   one that has refused tells no other. */
static void refuse_starts(Fn *f, const Op *op, const char *groups, const char *n, const char *task) {
    const char *number = takes_tickets(f->p, f->node) ? "0" : task;
    const char *start = f->param[op->param], *elem = elem_text(f->k->param.p[op->param].elem);
    const char *wrong = c_name(&f->names, fn_text(f, "%s_wrong", start));
    int arg = f->memory->arg[f->node->arg.p[op->param].tensor];
    lds_take(f, op->loc, SYNC_LDS);
    fn_line(f, "const int64_t %s = tile_starts_wrong_%s(%s, %s, %s, %s, %s, thread, %d);", wrong, elem, start, groups, n, number,
            ragged_is_whole(f->k, op->range) ? "true" : "false", f->hip->threads);
    fn_line(f, "if (tile_refuse_starts(lds, t, %s, %s, %s, %s < 0 ? 0 : tile_load_%s(&%s[%s]))) %s",
            field_number(f, "starts", arg)->text, hip_seen_by(f->m, NULL), wrong, wrong, elem, start, wrong,
            f->back->leave);
}

static void before_loop(Fn *f, const Op *loop) {
    hip_first_tiles(f, loop);
    const char *line = hip_unrolled(f, loop);
    if (line) fn_line(f, "%s", line);
}

const Backend hip_backend = {
    .who = "the generator of GPU text",
    .leave = "return;",
    .loads_apart = true,
    .fields = "call.at.",
    .symbol = symbol,
    .coord = coord,
    .read = read,
    .packed = packed,
    .nest = nest_of_tile,
    .element = element,
    .tile = tile_new,
    .place = place,
    .sync = &hip_sync,
    .refuse_starts = refuse_starts,
    .settle = lds_settle,
    .before_loop = before_loop,
    .after_loop = hip_deferred_sums,
    .before = hip_next_tiles,
    .step = step,
};
