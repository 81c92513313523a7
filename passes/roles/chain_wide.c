/* chain_wide.c: results of a chain that are wider than a group's registers, as of latent attention (512 columns): one
   group multiplies what rows and keys have, and sends weights and factors of rows to others, which share the columns
   (FlashMLA splits them so: github.com/deepseek-ai/FlashMLA). Takes: a kernel that fits, with its streams. Gives: which
   values are sent; the rings that bring them; what each of the two roles has. */
#include "base/require.h"
#include "passes/roles/slice.h"

/* ---- which values: of columns that are shared; those that are sent; those that are made twice ---- */

static bool is_wide(const Slice *s, Type t) { return type_has(t, s->wide); }

/* An operation that makes, or stores, what has the columns. */
static bool is_wide_op(const Slice *s, const Op *op) {
    if (op->kind == OP_STORE) return is_wide(s, op->arg.p[0]->type);
    for (int i = 0; i < op->res.n; i++)
        if (is_wide(s, op->res.p[i]->type) && !s->stream_of[op->res.p[i]->id]) return true;
    return false;
}

/* A loop's other region says how parts of it merge: no role has it. */
static bool has_wide(const Slice *s, const Op *op) {
    for (int r = 0; r < (op->kind == OP_FOR ? 1 : 2); r++)
        for (const Op *in = walk(op->region[r]); in; in = walk_next(in, op->region[r]))
            if (is_wide_op(s, in)) return true;
    return is_wide_op(s, op);
}

static bool merges(const Op *op) {
    for (const Op *around = op->in->parent; around; op = around, around = op->in->parent)
        if (around->kind == OP_FOR && op->in == around->region[1]) return true;
    return false;
}

/* What products, or the steps of a loop before, have a part in. */
static bool *find_made(const Slice *s) {
    bool *made = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        bool of = op->kind == OP_DOT || op->kind == OP_FOR;
        for (int n = 0; n < op->arg.n; n++) of = of || made[op->arg.p[n]->id] || !op->arg.p[n]->def;
        for (int n = 0; n < op->res.n; n++) made[op->res.p[n]->id] = of;
    }
    return made;
}

static bool is_first_operand(const Slice *s, const Value *v) {
    for (int i = 0; i < s->op.n; i++)
        for (int n = 0; n < s->op.p[i]->arg.n; n++) {
            const Op *op = s->op.p[i];
            if (op->arg.p[n] == v && !merges(op) && is_wide_op(s, op) && op->kind != OP_DOT) return false;
        }
    const bool rounded = v->def && v->def->kind == OP_CAST && v->def->arg.p[0]->type.elem == ELEM_F32;
    return rounded && v->type.nrange == 2 && elem_bits(v->type.elem) == 16;
}

/* Both roles walk the block. */
static bool is_walked(const Slice *s, const Region *in) {
    return !in->parent || (in->parent->kind == OP_FOR && has_wide(s, in->parent));
}

static bool send(Slice *s, const Op *by, const Value *v) {
    const bool row = v->type.nrange == 1 && v->type.range[0] == s->row && elem_bits(v->type.elem) == 32;
    if (s->sent[v->id]) return true;
    s->sent[v->id] = true;
    if (v->def && is_walked(s, v->def->in) && (row || is_first_operand(s, v))) return true;
    return slice_refuse(s, by, "factors of rows, and weights of 16 bits",
                        "wide columns take more of a step than weights and a number of each row");
}

/* made: it comes from the other role; else it is made here, too. */
static bool take_value(Slice *s, const bool *made, const Op *by, const Value *v) {
    if (is_wide(s, v->type) || s->stream_of[v->id]) return true;
    if (made[v->id] || !v->def) return send(s, by, v);
    s->again[v->id] = true;
    return true;
}

static bool take_values(Slice *s, const bool *made, const Op *op) {
    for (int i = op->kind == OP_FOR ? 2 : 0; i < op->arg.n; i++)
        if ((op->kind != OP_FOR || is_wide(s, op->res.p[i - 2]->type)) && !take_value(s, made, op, op->arg.p[i]))
            return false;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
            const Term *t = &op->sub.p[d].lo.term[i];
            if (t->kind == TERM_VALUE && !take_value(s, made, op, t->value)) return false;
        }
    return true;
}

static bool op_fits(Slice *s, const Op *op) {
    if (op->kind == OP_IF && has_wide(s, op))
        return slice_refuse(s, op, "where(..) in place of a condition", "wide columns are made under a condition");
    if (op_info[op->kind].class == CLASS_REDUCE && is_wide(s, op->arg.p[0]->type))
        return slice_refuse(s, op, "reduce by a kernel behind", "%s goes along columns that groups share",
                            op_phrase(op->kind));
    const bool both =
        op->kind == OP_DOT && is_wide_op(s, op) && !operand_is_made(op, type_has(op->arg.p[1]->type, s->row));
    return !both || slice_refuse(s, op, NULL, "a product of two tensors is wide");
}

bool wide_fits(Slice *s) {
    if (s->wide < 0) return true;
    const bool *made = find_made(s);
    s->sent = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    s->again = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    for (int i = s->op.n - 1; i >= 0; i--) {
        const Op *op = s->op.p[i];
        if (merges(op)) continue;
        const bool own = is_wide_op(s, op) || (op->res.n == 1 && s->again[op->res.p[0]->id]);
        const bool yields = op->kind == OP_YIELD && has_wide(s, op->in->parent);
        if (!op_fits(s, op) || (own && !take_values(s, made, op))) return false;
        for (int n = 0; yields && n < op->arg.n; n++)
            if (is_wide(s, op->in->parent->res.p[n]->type) && !take_value(s, made, op, op->arg.p[n])) return false;
    }
    return true;
}

/* ---- rings ---- */

int64_t wide_bytes(const Slice *s, int64_t rows, int64_t (*extent)(const Slice *, int range, const void *),
                   const void *of) {
    int64_t bytes = 0;
    for (int i = 0; i < s->op.n && s->wide >= 0; i++)
        for (int n = 0; n < s->op.p[i]->res.n; n++) {
            const Value *v = s->op.p[i]->res.p[n];
            if (!s->sent[v->id]) continue;
            const int key = v->type.nrange == 2 ? v->type.range[v->type.range[0] == s->row] : -1;
            bytes += key < 0 ? WIDE_SLOTS * panel_room(PANEL_ROWS, sizeof(float), rows)
                             : panel_room(PANEL_K128, 2 * extent(s, key, of), rows);
        }
    return bytes;
}

/* Panels begin at multiples of 1024 bytes: those of columns come first. */
void wide_rings(Slice *s) {
    s->sent_ring = ARENA_ARRAY(s->scratch, int, s->values + 1);
    for (int ranges = 2; ranges > 0 && s->wide >= 0; ranges--)
        for (int i = 0; i < s->op.n; i++)
            for (int n = 0; n < s->op.p[i]->res.n; n++) {
                const Value *v = s->op.p[i]->res.p[n];
                if (!s->sent[v->id] || v->type.nrange != ranges) continue;
                const Name name = name_of(s->m->names, v->name ? v->name : ranges == 2 ? "weights" : "rows");
                const int ring = ring_new(s, name, ranges == 2 ? 1 : WIDE_SLOTS, s->op.p[i]->loc);
                s->sent_ring[v->id] = ring;
                ring_tile(s->m, s->to, ring,
                          (SlotTile){.name = name,
                                     .type = v->type,
                                     .panel = ranges == 2 ? PANEL_K128 : PANEL_ROWS,
                                     .fill = FILL_THREADS,
                                     .param = -1,
                                     .share = -1,
                                     .loc = s->op.p[i]->loc});
            }
}

/* ---- the two roles ---- */

static bool reads(const Cut *c, const Op *dot, const Stream *t) {
    if (is_wide_op(c->s, dot) != (c->half == HALF_WIDE)) return false;
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < t->load.n; i++)
            if (c->s->stream_of[dot->arg.p[n]->id] - 1 == (int)(t - c->s->stream.p)) return true;
    return false;
}

/* Of products that add up to one sum, the last one: behind it the slots of all have been read. */
static const Op *sum_end(const Slice *s, const Op *op) {
    for (const Op *next = op->next; next && op->kind == OP_DOT; next = next->next)
        if (next->kind == OP_DOT && next->arg.n > 2 && next->arg.p[2] == op->res.p[0] && !s->waited[op->res.p[0]->id])
            op = next;
    return op;
}

const Op *wide_last(const Cut *c, const Stream *t) {
    const Op *last = NULL;
    if (!c->half) return t->free;
    for (int i = 0; i < c->s->dot.n; i++) {
        const Op *op = c->s->dot.p[i];
        if (!reads(c, op, t)) continue;
        while (op->in != t->at) op = op->in->parent;
        last = op;
    }
    return last ? sum_end(c->s, last) : NULL;
}

bool wide_takes(const Cut *c, const Op *op) {
    const Slice *s = c->s;
    const Value *v = op->res.n == 1 ? op->res.p[0] : NULL;
    if (!c->half || op->kind == OP_YIELD || (v && s->stream_of[v->id])) return true;
    if (op->kind == OP_FOR) return c->half == HALF_ROWS || has_wide(s, op);
    const bool wide = is_wide_op(s, op);
    return c->half == HALF_ROWS ? !wide : wide || (v && s->again[v->id]);
}

/* The product that takes it. */
static const Op *reader_of(const Slice *s, const Value *v) {
    for (int i = 0; i < s->dot.n; i++)
        if (s->dot.p[i]->arg.p[0] == v || s->dot.p[i]->arg.p[1] == v) return s->dot.p[i];
    return NULL;
}

/* Rounded as it is written. */
static Value *weights(Cut *c, const Value *v) {
    return build_cast(&c->b, v->type.elem, chain_operand(c, reader_of(c->s, v), v->def->arg.p[0]));
}

static void give(Cut *c, const Value *v) {
    Value *x = v->type.nrange == 2 ? weights(c, v) : cut_value(c, v);
    Region *at = c->b.at;
    c->b.at = build_put(&c->b, c->s->sent_ring[v->id])->region[0];
    build_write(&c->b, x, 0);
    c->b.at = at;
}

static void fetch(Cut *c, const Value *v) {
    const int ring = c->s->sent_ring[v->id];
    Value *x = build_get(&c->b, ring)->res.p[0];
    if (v->type.nrange == 1) x = build_convert(&c->b, x), build_free(&c->b, ring);
    cut_name(c, v, x);
}

void wide_exchange(Cut *c, const Op *op) {
    c->b.loc = op->loc;
    for (int i = 0; i < op->res.n && c->half; i++)
        if (c->s->sent[op->res.p[i]->id]) (c->half == HALF_ROWS ? give : fetch)(c, op->res.p[i]);
}

/* Weights that the product was the last one to read. */
void wide_frees(Cut *c, const Op *op) {
    if (c->half != HALF_WIDE || op->kind != OP_DOT) return;
    for (int n = 0; n < 2; n++) {
        const Value *v = op->arg.p[n];
        bool last = c->s->sent[v->id];
        for (const Op *behind = op->next; behind && last; behind = behind->next)
            if (behind->kind == OP_DOT) last = behind->arg.p[0] != v && behind->arg.p[1] != v;
        if (last) build_free(&c->b, c->s->sent_ring[v->id]);
    }
}

static bool is_own_store(const Cut *c, const Op *store) { return is_wide_op(c->s, store) == (c->half == HALF_WIDE); }

void wide_results(Cut *c) {
    for (int i = 0; i < c->s->store.n; i++) {
        const Op *store = c->s->store.p[i];
        c->b.loc = store->loc;
        if (is_own_store(c, store))
            build_store(&c->b, store->param, cut_place(c, store), store->sub.n, cut_value(c, store->arg.p[0]),
                        STORE_SET);
    }
}
