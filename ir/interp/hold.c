/* hold.c: what the values of a role hold: tiles of slots between `get` and `free`, sums between `mma` and `ready`.
   An operation that reads what is not there is a fault. */
#include "ir/interp/team.h"

/* ---- reads ---- */

static bool fault(const Member *m, const Value *v, const char *text) {
    const char *name = v->name ? v->name : arena_format(m->team->w->report_arena, "%d", v->id);
    member_fault(m, arena_format(m->team->w->report_arena, "'%s' is read %s", name, text));
    return false;
}

/* Sums go on through another product, and to their `ready`, by every way that only passes them on. */
static bool may_read_sum(const Op *op, int arg, const Value *v) {
    if (op->kind == OP_READY || op->kind == OP_YIELD || op->kind == OP_FOR) return true;
    return op->kind == OP_MMA && arg == 2 && (!v->def || v->def->kind != OP_MMA || v->def->by == op->by);
}

static bool may_read_registers(const Op *op) {
    return op->kind == OP_MMA || op->kind == OP_YIELD || op->kind == OP_FOR;
}

static bool check_value(Task *t, const Op *op, int arg, const Value *v) {
    Member *m = t->member;
    if (turns_overwritten(m, v)) return fault(m, v, "in a turn in which it has the next iteration's value");
    const Tile *tile = turns_value(m, v);
    const Held *h = &tile->held;
    if (h->holds == HOLDS_NOTHING) return fault(m, v, "before it is made");
    if (h->holds == HOLDS_LEFT) return fault(m, v, "after its registers have gone on into `ready` or a product");
    if (h->holds == HOLDS_SUM && !may_read_sum(op, arg, v)) return fault(m, v, "before `ready`");
    if (h->ring && h->slot < m->end[h->ring - 1].frees) return fault(m, v, "after its slot is freed");
    if (h->holds == HOLDS_DATA && h->product > m->done && !may_read_registers(op))
        return fault(m, v, "while a product reads its registers");
    return true;
}

static bool check_affine(Task *t, const Op *op, const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE && !check_value(t, op, -1, a->term[i].value)) return false;
    return true;
}

bool hold_check(Task *t, const Op *op) {
    for (int i = 0; i < op->arg.n; i++)
        if (!check_value(t, op, i, op->arg.p[i])) return false;
    for (int i = 0; i < op->sub.n; i++)
        if (!check_affine(t, op, &op->sub.p[i].lo) || !check_affine(t, op, &op->sub.p[i].hi)) return false;
    return check_affine(t, op, &op->dest.lo) && check_affine(t, op, &op->dest.hi);
}

/* ---- writes ---- */

void hold_made(Task *t, const Value *v) {
    Member *m = t->member;
    const Held *h = &turns_made(m, v)->held;
    if (h->holds != HOLDS_DATA || h->ring || h->product <= m->done) return;
    const char *name = v->name ? v->name : arena_format(t->w->report_arena, "%d", v->id);
    member_fault(m, arena_format(t->w->report_arena, "'%s' is made while a product reads its registers", name));
}

/* ---- products ---- */

static bool is_splat(const Value *v) { return v->def && (v->def->kind == OP_CONST || v->def->kind == OP_BROADCAST); }

/* Its operands are taken as they are now: slots wait for it before they are freed, registers may not change. */
void hold_issued(Task *t, const Op *mma) {
    Member *m = t->member;
    int64_t number = ++m->issued;
    for (int i = 0; i < 2; i++) {
        Held *h = &tile_of(t, mma->arg.p[i])->held;
        if (h->ring)
            m->end[h->ring - 1].read[h->slot % (uint64_t)m->team->roles->ring.p[h->ring - 1].slots] = number;
        else
            h->product = number;
    }
    if (mma->arg.n > 2 && !is_splat(mma->arg.p[2])) tile_of(t, mma->arg.p[2])->held.holds = HOLDS_LEFT;
    tile_of(t, mma->res.p[0])->held = (Held){.holds = HOLDS_SUM, .product = number};
}

static void member_done(Member *m, int64_t product) {
    if (product > m->done) m->done = product;
}

void hold_free(Member *m, int ring, uint64_t slot) {
    member_done(m, m->end[ring].read[slot % (uint64_t)m->team->roles->ring.p[ring].slots]);
}

void hold_ready(Task *t, const Op *op) {
    for (int i = 0; i < op->arg.n; i++) {
        Value *from = op->arg.p[i], *to = op->res.p[i];
        Held *h = &tile_of(t, from)->held;
        tile_make(t, to);
        value_pass(t, from, to);
        tile_of(t, to)->held = (Held){.holds = HOLDS_DATA};
        if (h->holds != HOLDS_SUM) continue;
        member_done(t->member, h->product);
        h->holds = HOLDS_LEFT;
    }
}

/* ---- parts ---- */

/* The positions of the part stand where those of the whole stood, and then in the order of ranges. */
void eval_part(Task *t, const Op *op) {
    const Value *v = op->arg.p[0], *r = op->res.p[0];
    int of = t->k->range.p[op->range].part_of - 1;
    Share s = share_along(t, v->type, of, range_extent(t, of), t->range[op->range].begin - t->range[of].begin,
                          range_extent(t, op->range));
    int16_t from[MAX_RANGES];
    for (int i = 0; i < v->type.nrange; i++) from[i] = v->type.range[i] == of ? op->range : v->type.range[i];
    share_take(t->w, lane_of(v->type.elem), &s, tile_of(t, v), &t->temp[0]);
    tile_reorder(t, lane_of(v->type.elem), &t->temp[0], from, v->type.nrange, tile_make(t, r), r->type.range,
                 r->type.nrange);
}
