/* roles_loop.c: loops of roles as text: what stands around one, and loops over the parts of a tile. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>

static bool writes_ring(const Region *r, OpKind kind) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == kind) return true;
    return false;
}

/* Unrolled, the loops of lanes that copy spill; those of products wait for each other. */
void hip_role_before_loop(Fn *f, const Op *loop) {
    hip_role_turns_check(f, loop);
    hip_role_last(f, loop);
    if (hip_role_now(f)->lanes > 1) hip_role_keep_rows(f, loop);
    if (loop->unrolled)
        fn_line(f, "#pragma unroll");
    else if (writes_ring(loop->region[0], OP_PUT) || writes_ring(loop->region[0], OP_GET))
        fn_line(f, "#pragma unroll 1");
}

/* Positions of a part of a tile, in the share of the role's group. */
static void part_range(Fn *f, int range, const CExpr *at) {
    const int whole = f->k->range.p[range].part_of - 1;
    const int64_t size = f->k->range.p[range].size;
    const RangeText *of = &f->range[whole];
    int64_t n;
    f->hip->role->part_from[range] = at;
    const CExpr *share =
        f->hip->split - 1 == whole ? cexpr_open(f, "%" PRId64 " * group", f->hip->share) : cexpr_number(f, 0);
    const CExpr *from = cexpr_add(f, share, at);
    const bool full = cexpr_const(of->count, &n) && n == hip_role_extent(f->m, f->k, -1, whole);
    f->range[range] = (RangeText){.begin = cexpr_add(f, of->begin, from),
                                  .most = size,
                                  .natural = true,
                                  .pos = cexpr_name(f, c_name(&f->names, f->k->range.p[range].name)),
                                  .index = cexpr_group(f, cexpr_open(f, "%s / %" PRId64, at->text, size)),
                                  .count = full ? cexpr_number(f, size)
                                                : cexpr_call(f, "tile_least(%" PRId64 ", %s - %s)", size,
                                                             of->count->text, cexpr_operand(f, from)->text)};
}

/* Of each of so many groups; 0: of the role's own. */
static void part_region(Fn *f, const Op *loop, int groups) {
    if (groups) {
        fn_line(f, "#pragma unroll");
        fn_line(f, "for (int group = 0; group < %d; group++) {", groups);
        f->indent++;
    }
    emit_region(f, loop->region[0]);
    if (groups) {
        f->indent--;
        fn_line(f, "}");
    }
}

/* The number of the part's positions that exist is a constant where the body asks for it. */
static void part_body(Fn *f, const Op *loop, int groups) {
    RangeText *t = &f->range[loop->range];
    const CExpr *count = t->count;
    int64_t n;
    if (!cexpr_const(count, &n))
        t->count = cexpr_name(f, c_name(&f->names, fn_text(f, "n%s", f->k->range.p[loop->range].name)));
    Text before = f->body;
    f->body = (Text){0};
    f->indent++;
    part_region(f, loop, groups);
    Text inside = f->body;
    f->body = before;
    if (t->count != count && text_has_word(text_str(&inside), t->count->text))
        fn_line(f, "const int64_t %s = %s;", t->count->text, count->text);
    text_add(&f->body, text_str(&inside));
    text_free(&inside);
    f->indent--;
}

/* The last part of a tile of other than whole parts begins earlier: what it has in common with the one before is made,
   and stored, twice. Its name is that of a variable of the loop. */
static const CExpr *last_part(Fn *f, int range, int64_t n, const CExpr *at) {
    const Range *q = &f->k->range.p[range];
    if (n % q->size == 0) return f->hip->role->part_at[range] = NULL, at;
    return f->hip->role->part_at[range] = cexpr_name(f, c_name(&f->names, fn_text(f, "%s_at", q->name)));
}

/* Slots that a lane gives back so many iterations later. */
static void lane_frees(Fn *f, const Op *loop, int64_t trips, int groups) {
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        const int64_t left = op->kind == OP_FREE ? op_shift(op) : 0;
        if (!left) continue;
        fn_line(f, "tile_tma_wait_read();");
        if (groups) fn_line(f, "for (int group = 0; group < %d; group++)", groups);
        f->indent += groups > 0;
        fn_line(f, "for (int left = 0; left < %" PRId64 "; left++)", left < trips ? left : trips);
        f->indent++;
        hip_role_free_line(f, op, NULL);
        f->indent -= 1 + (groups > 0);
    }
}

void hip_role_part_of(Fn *f, const Op *loop, const CExpr *at) {
    f->indent--;
    part_range(f, loop->range, at);
    part_body(f, loop, 0);
    f->indent++;
}

/* All parts of the tile, also those that lie beyond an edge: they are masked. */
static void parts_loop(Fn *f, const Op *loop, int groups) {
    const Range *q = &f->k->range.p[loop->range];
    const int64_t n = hip_role_extent(f->m, f->k, f->hip->role->of, q->part_of - 1);
    const CExpr *step = cexpr_name(f, c_name(&f->names, fn_text(f, "%s0", q->name))),
                *at = last_part(f, loop->range, n, step);
    if (loop->res.n || n < q->size)
        fn_unsupported(f, loop->loc, "a loop over parts of a tile that carries values, or parts larger than the tile");
    part_range(f, loop->range, at);
    fn_line(f, loop->unrolled ? "#pragma unroll" : "#pragma unroll 1");
    fn_line(f, "for (int %s = 0; %s < %" PRId64 "; %s += %" PRId64 ") {", step->text, step->text, n, step->text,
            q->size);
    if (at != step) fn_line(f, "    const int %s = tile_min_i32(%s, %" PRId64 ");", at->text, step->text, n - q->size);
    part_body(f, loop, groups);
    fn_line(f, "}");
    lane_frees(f, loop, ceil_div(n, q->size), groups);
}

/* The role whose groups fill what the loop gets from beside; -1: there is none. */
static int served_by(const Fn *f, const Op *loop) {
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0]))
        if (op->kind == OP_GET && hip_role_served(f, op->ring) >= 0) return hip_role_served(f, op->ring);
    return -1;
}

/* Each part of all groups, as they come. */
static void groups_loop(Fn *f, const Op *loop, int role) {
    Hip *h = f->hip;
    const Hip before = *h;
    h->role->of = role;
    h->split = f->k->roles->role.p[role].split + 1;
    if (h->split) h->share = hip_role_extent(f->m, f->k, role, h->split - 1);
    parts_loop(f, loop, hip_role_groups(f->k, role));
    h->split = before.split, h->share = before.share;
    h->role->of = h->role->number;
}

bool hip_role_loop(Fn *f, const Op *loop) {
    if (f->hip->role->before && !op_has(loop, f->hip->role->ahead)) return true;
    if (f->hip->role->beside && loop->late) return hip_role_keep_sums(f), true;
    if (f->hip->role->beside && loop == role_beside(hip_role_now(f)))
        return hip_role_beside(f, loop), hip_role_after_loop(f, loop), true;
    if (hip_role_edges(f, loop)) return true;
    if (!f->k->range.p[loop->range].part_of) {
        if (loop->runs) hip_role_runs(f, loop);
        if (hip_role_is_late(loop)) hip_role_late(f, loop);
        return loop->runs || hip_role_is_late(loop);
    }
    const int role = served_by(f, loop);
    if (role >= 0)
        groups_loop(f, loop, role);
    else
        parts_loop(f, loop, 0);
    return true;
}

static bool has_steps(const RangeText *r) {
    int64_t first, end;
    return cexpr_const(r->first, &first) && cexpr_const(r->end, &end) && first < end;
}

void hip_role_after_loop(Fn *f, const Op *loop) {
    const RangeText *r = &f->range[loop->range];
    hip_deferred_sums(f, loop);
    hip_role_pass(f, loop);
    for (const Op *op = loop->region[0]->first; op; op = op->next) {
        if (op->kind != OP_FREE || !op_shift(op)) continue;
        hip_role_wait_last(f, op);
        hip_role_free_line(f, op, has_steps(r) ? NULL : fn_text(f, "%s < %s", r->first->text, cexpr_operand(f, r->end)->text));
    }
}
