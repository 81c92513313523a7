/* prefix.c: prefixes, bit by bit of the position: beside its prefix every element has the total of its block, at first
   itself. Two blocks that differ in the next bit become one: the upper one's prefixes and the total take in the other's.
   Bits of a position are registers, lanes (a shuffle) or waves (through the workgroup's memory). */
#include "codegen/gpu/hip.h"

#include <inttypes.h>

typedef struct {
    Fn *f;
    const Op *op;
    const Layout *l;
    Elem elem;
    Tile run, total;
} Scan;

static const CExpr *at(const Scan *s, const Tile *t, const char *r) { return tile_at(s->f, t, cexpr_name(s->f, r)); }

/* to = a and b combined, in this order */
static void combine(const Scan *s, const CExpr *to, const CExpr *a, const CExpr *b) {
    Fn *f = s->f;
    fn_line(f, "%s = %s;", to->text, reduce_pair(f, s->op->kind, s->elem, a->text, b));
}

static void loop_open(Fn *f, int64_t count) {
    fn_line(f, "#pragma unroll");
    fn_line(f, "for (int reg = 0; reg < %" PRId64 "; reg++) {", count);
    f->indent++;
}

static void loop_close(Fn *f) {
    f->indent--;
    fn_line(f, "}");
}

/* Registers r with the bit clear, and the same with it set. */
static void over_register(const Scan *s, int bit) {
    Fn *f = s->f;
    uint64_t column[64];
    int n = __builtin_ctzll((uint64_t)s->run.count) - 1;
    for (int b = 0; b < n; b++) column[b] = UINT64_C(1) << (b < bit ? b : b + 1);
    const CExpr *reg = cexpr_name(f, "reg");
    loop_open(f, s->run.count / 2);
    fn_line(f, "const int low = %s, high = low + %d;", cexpr_bare(n ? bits_text(f, reg, column, n) : reg)->text,
            1 << bit);
    combine(s, at(s, &s->run, "high"), at(s, &s->total, "low"), at(s, &s->run, "high"));
    combine(s, at(s, &s->total, "high"), at(s, &s->total, "low"), at(s, &s->total, "high"));
    fn_line(f, "%s = %s;", at(s, &s->total, "low")->text, at(s, &s->total, "high")->text);
    loop_close(f);
}

/* `other`: the total of the thread whose number differs in the bit. */
static void take_other(const Scan *s, int bit, const char *r, const char *other) {
    Fn *f = s->f;
    fn_line(f, "const %s other = %s;", elem_c(s->elem), other);
    fn_line(f, "if (thread & %d) {", 1 << bit);
    f->indent++;
    combine(s, at(s, &s->run, r), cexpr_name(f, "other"), at(s, &s->run, r));
    combine(s, at(s, &s->total, r), cexpr_name(f, "other"), at(s, &s->total, r));
    f->indent--;
    fn_line(f, "} else {");
    f->indent++;
    combine(s, at(s, &s->total, r), at(s, &s->total, r), cexpr_name(f, "other"));
    f->indent--;
    fn_line(f, "}");
}

static void over_lane(const Scan *s, int bit) {
    loop_open(s->f, s->run.count);
    take_other(
        s, bit, "reg",
        fn_text(s->f, "tile_shuffle_xor_%s(%s, %d)", elem_text(s->elem), at(s, &s->total, "reg")->text, 1 << bit));
    loop_close(s->f);
}

static const char *slot(const Scan *s, const char *thread) {
    return fn_text(s->f, "lds + (reg * %d + %s) * %d", s->f->hip->threads, thread, elem_bits(s->elem) / 8);
}

static void over_wave(const Scan *s, int bit) {
    Fn *f = s->f;
    lds_take(f, s->op->loc, s->run.count * f->hip->threads * (elem_bits(s->elem) / 8));
    loop_open(f, s->run.count);
    fn_line(f, "tile_lds_store_%s(%s, %s);", elem_text(s->elem), slot(s, "thread"), at(s, &s->total, "reg")->text);
    loop_close(f);
    sync_line(f);
    loop_open(f, s->run.count);
    take_other(s, bit, "reg", fn_text(f, "tile_lds_load_%s(%s)", elem_text(s->elem), slot(s, fn_text(f, "(thread ^ %d)", 1 << bit))));
    loop_close(f);
    lds_done(f);
}

/* The place that moves the position by this bit. */
static void over_bit(const Scan *s, uint64_t column) {
    uint64_t thread[64];
    int n, nt = thread_columns(s->f->hip, s->l, thread);
    const uint64_t *reg = layout_columns(s->l, "reg", &n);
    for (int b = 0; b < n; b++)
        if (reg[b] == column) over_register(s, b);
    for (int b = 0; b < nt; b++)
        if (thread[b] == column) ((1 << b) < s->f->hip->lanes ? over_lane : over_wave)(s, b);
}

void hip_prefix(Fn *f, const Op *op) {
    Scan s = {.f = f, .op = op, .l = held_layout(f, op->arg.p[0]), .elem = op->res.p[0]->type.elem};
    s.run = *held_tile(f, op->res.p[0]);
    uint64_t bits = layout_range_bits(s.l, f->k->range.p[op->over[0]].name);
    if (bits) s.total = tile_like(f, s.l, s.elem, "total");
    Nest n = nest_over(f, s.l, 0);
    const CExpr *x = nest_value(&n, op->arg.p[0]);
    nest_line(&n, n.n, "%s%s = %s;", bits ? fn_text(f, "%s = ", nest_tile(&n, &s.total)->text) : "",
              nest_tile(&n, &s.run)->text, cexpr_bare(x)->text);
    nest_print(&n);
    for (; bits; bits &= bits - 1) over_bit(&s, bits & -bits);
}
