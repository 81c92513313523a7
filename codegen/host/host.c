/* host.c: what is particular to C for the host: tiles in scratch memory, loops over ranges, sizes of the run. */
#include "codegen/host/host.h"

static const CExpr *symbol(Fn *f, int s) { return cexpr_name(f, fn_text(f, "t->dim[%d]", program_dim_of(f->p, s))); }

static const CExpr *coord(Fn *f, int axis) { return cexpr_name(f, fn_text(f, "t->coord[%d]", axis)); }

static const CExpr *read(Fn *f, Elem e, const CExpr *place) {
    (void)f, (void)e;
    return place;
}

static const CExpr *packed(Fn *f, Elem e, const char *base, const CExpr *index) {
    return cexpr_call(f, "tile_%s_at(%s, %s)", elem_text(e), base, index->text);
}

static Nest nest(Fn *f, const Tile *t) {
    Nest n = nest_new(f, t->range, t->n);
    n.pragma = f->back->pragma;
    return n;
}

static void step(Fn *f, const Op *op) {
    switch (op_info[op->kind].class) {
    case CLASS_MEMORY: emit_store(f, op); break;
    case CLASS_PRINT: emit_print(f, op); break;
    case CLASS_DOT: emit_dot(f, op); break;
    case CLASS_PREFIX: emit_prefix(f, op); break;
    case CLASS_REDUCE: emit_reduce(f, op); break;
    case CLASS_SYNC: (op->kind == OP_WAIT ? emit_wait : emit_signal)(f, op); break;
    default: fn_unsupported(f, op->loc, op_phrase(op->kind));
    }
}

static bool loop(Fn *f, const Op *op) { return emit_grouped(f, op) || emit_gathered_loop(f, op); }

static void refuse_starts(Fn *f, const Op *op, const char *groups, const char *n, const char *number) {
    const char *start = f->param[op->param];
    const char *wrong = c_name(&f->names, fn_text(f, "%s_wrong", start));
    fn_line(f, "const int64_t %s = tile_starts_wrong_%s(%s, %s, %s, %s, %s, 0, 1);", wrong, elem_text(f->k->param.p[op->param].elem), start,
            groups, n, number, ragged_is_whole(f->k, op->range) ? "true" : "false");
    fn_line(f, "if (%s >= 0) return tile_refuse_starts(t, \"%s\", %s, %s[%s]);", wrong, f->k->param.p[op->param].name, wrong, start, wrong);
}

const Backend c_backend = {
    .who = "the host's code generator",
    .pragma = "#pragma omp simd",
    .leave = "return 0;",
    .anew = "tile_anew",
    .fields = "",
    .symbol = symbol,
    .coord = coord,
    .read = read,
    .packed = packed,
    .nest = nest,
    .element = c_element,
    .tile = c_tile,
    .place = c_place,
    .nontemporal_open = nontemporal_open,
    .nontemporal_close = nontemporal_close,
    .sync = &c_sync,
    .refuse_starts = refuse_starts,
    .before_loop = lengthen_steps,
    .loop = loop,
    .step = step,
};
