/* roles_chain.c: products in a chain: operands of several panels of 128 bytes, or in registers, as a product before
   left them. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"
#include "ir/size.h"

#include <inttypes.h>

/* What the device library has (tile_chain.h): bytes of a row of a panel; rows of a product; columns of products, and
   their depth, in steps. */
enum { PANEL_BYTES = 128, ELEM_BYTES = 2, GROUP_ROWS = 64, NARROW = 128, MOST_COLUMNS = 256, STEP = 16 };

/* A slot's tile in panels of 128 bytes a row. */
typedef struct {
    const char *at;   /* where the group's share begins */
    int64_t step;     /* bytes between panels */
    int64_t extent;   /* positions that are not summed, of the share */
    int panels, rows; /* rows: range */
    bool across;
} Panels;

static int64_t own_extent(Fn *f, int range) { return hip_role_extent(f->m, f->k, f->hip->role->number, range); }

static int other_range(Type t, int range) { return t.range[t.range[0] == range]; }

static bool panels_of(Fn *f, const Op *mma, const Value *v, Panels *p) {
    int ring, tile;
    const SlotTile *t = hip_slot(f->k, v, &ring, &tile);
    if (!t || v->type.nrange != 2 || (t->panel != PANEL_K128 && t->panel != PANEL_MN128)) return false;
    const int along = slot_row(f->k, ring, tile), kept = other_range(v->type, mma->over[0]);
    const int64_t row = own_extent(f, along) * elem_bits(t->type.elem) / 8;
    p->across = along != mma->over[0];
    p->rows = other_range(v->type, along);
    p->step = PANEL_BYTES * hip_role_extent(f->m, f->k, f->k->roles->ring.p[ring].per, p->rows);
    p->panels = (int)((row + PANEL_BYTES - 1) / PANEL_BYTES);
    p->extent = own_extent(f, kept);
    p->at = fn_held(f, v)->tile.name;
    if (f->hip->split - 1 != kept) return f->hip->split - 1 != mma->over[0];
    const int64_t share = p->across ? p->extent * ELEM_BYTES / PANEL_BYTES * p->step : p->extent * PANEL_BYTES;
    p->at = fn_text(f, "%s + %" PRId64 " * group", p->at, share);
    return !p->across || p->extent * ELEM_BYTES % PANEL_BYTES == 0;
}

static bool is_of_sums(const Value *v, int depth) {
    enum { DEEP = 24 /* operations; those further back are not looked at */ };
    const Op *op = v->def;
    if (!op || depth > DEEP) return false;
    if (op->kind == OP_READY) return op->in->parent && op->in->parent->kind == OP_FOR;
    if (op->kind == OP_IF) return is_of_sums(op->region[0]->last->arg.p[v->index], depth + 1);
    bool some = false, passes = op_is_elementwise(op) || op_info[op->kind].class == CLASS_REDUCE;
    for (int i = 0; i < op->arg.n && passes && !some; i++) some = is_of_sums(op->arg.p[i], depth + 1);
    return some;
}

static bool is_rounded(const Region *body, const Value *v, int depth);

/* The relative error of an operand stays what it is up to rounding to 16 bits: in factors and choices, not in sums. */
static bool rounds(const Region *body, const Op *use, int i, int depth) {
    const Op *in = use->in->parent;
    switch (use->kind) {
    case OP_CAST: return hip_role_packs(use);
    case OP_SELECT: return i > 0 && is_rounded(body, use->res.p[0], depth + 1);
    case OP_MUL: return is_rounded(body, use->res.p[0], depth + 1);
    case OP_YIELD: return in && in->kind == OP_IF && is_rounded(body, in->res.p[i], depth + 1);
    default: return false;
    }
}

static bool is_rounded(const Region *body, const Value *v, int depth) {
    enum { DEEP = 8 /* operations */ };
    bool some = false;
    for (const Op *use = walk(body); use && depth < DEEP; use = walk_next(use, body))
        for (int i = 0; i < use->arg.n; i++) {
            if (use->arg.p[i] != v) continue;
            if (!rounds(body, use, i, depth)) return false;
            some = true;
        }
    return some;
}

/* Products of another role take what it writes. */
static bool writes_operand(Fn *f, const Op *write) {
    const int ring = write->kind == OP_WRITE ? write->in->parent->ring : -1;
    for (int i = 0; ring >= 0 && i < f->k->roles->role.n; i++) {
        const Region *body = f->k->roles->role.p[i].body;
        for (const Op *mma = walk(body); mma; mma = walk_next(mma, body)) {
            const Op *get = mma->kind == OP_MMA ? mma->arg.p[0]->def : NULL;
            if (get && get->kind == OP_GET && get->ring == ring) return true;
        }
    }
    return false;
}

bool hip_role_is_near(Fn *f, const Op *op) {
    bool made = false; /* an operand of a product in registers */
    const Region *body = f->k->roles->role.p[f->hip->role->number].body;
    for (const Op *mma = walk(body); mma && !made; mma = walk_next(mma, body)) {
        int ring, tile;
        made = (mma->kind == OP_MMA && !hip_slot(f->k, mma->arg.p[0], &ring, &tile)) || writes_operand(f, mma);
    }
    const Op *reader = fn_held(f, op->res.p[0])->reader.op;
    const bool exponent = reader && reader->kind == OP_EXP && reader->arg.p[0] == op->res.p[0];
    if (op->kind == OP_SUB && !exponent) return false; /* else it may be fused */
    const bool factor = (op->kind == OP_EXP || op->kind == OP_EXP2) && op->res.p[0]->type.nrange == 2;
    return made && (is_of_sums(op->arg.p[0], 0) || (factor && is_rounded(body, op->res.p[0], 0)));
}

/* By groups, to a slot. */
static bool is_written(Fn *f, const Value *v) {
    int ring, tile;
    const SlotTile *t = hip_slot(f->k, v, &ring, &tile);
    return t && t->fill == FILL_THREADS;
}

bool hip_role_chains(Fn *f, const Op *mma) {
    int ring, tile;
    const Value *a = mma->arg.p[0];
    const int64_t depth = mma->nover == 1 ? hip_role_extent(f->m, f->k, -1, mma->over[0]) : 0;
    if (mma->nover == 1 && hip_role_panels(f, mma->over[0]) > 1) return false;
    return !hip_slot(f->k, a, &ring, &tile) || is_written(f, a) || depth * elem_bits(a->type.elem) / 8 != PANEL_BYTES;
}

bool hip_role_in_chain(Fn *f) {
    for (int i = 0; i < f->k->roles->role.n; i++) {
        const Region *body = f->k->roles->role.p[i].body;
        for (const Op *op = walk(body); op; op = walk_next(op, body)) {
            int ring, tile;
            const bool made = op->kind == OP_MMA && !hip_slot(f->k, op->arg.p[0], &ring, &tile);
            if ((made && !hip_role_makes(f->k)) || writes_operand(f, op)) return true;
        }
    }
    return false;
}

bool hip_roles_are_wide(const RolesWriter *w) {
    enum { WIDE = 128 /* columns, up to which nothing spills [compiled, nvcc 13.0] */ };
    int ring, tile;
    for (int i = 0; i < w->roles->role.n; i++)
        for (const Op *op = walk(w->roles->role.p[i].body); op; op = walk_next(op, w->roles->role.p[i].body)) {
            if (op->kind != OP_MMA || hip_slot(w->k, op->arg.p[0], &ring, &tile)) continue;
            const Type t = op->res.p[0]->type;
            for (int n = 0; n < t.nrange; n++)
                if (hip_role_extent(w->g->m, w->k, i, t.range[n]) > WIDE) return true;
        }
    return false;
}

/* It rounds sums, and a product alone takes it, as what lies in registers. */
bool hip_role_packs(const Op *op) {
    return op->kind == OP_CAST && op->arg.p[0]->type.elem == ELEM_F32 && op->res.p[0]->type.nrange == 2 &&
           (op->res.p[0]->type.elem == ELEM_BF16 || op->res.p[0]->type.elem == ELEM_F16);
}

bool hip_role_make(Fn *f, const Op *op) {
    if (op->kind == OP_YIELD && op->in->parent->kind == OP_FOR) return hip_role_is_late(op->in->parent);
    if (!hip_role_packs(op)) return false;
    const Value *v = op->res.p[0];
    const Held *h = fn_held(f, v);
    if (h->shared || !h->reader.op || h->reader.op->kind != OP_MMA) return false;
    const Tile *from = made_tile(f, op->arg.p[0]);
    const char *words = hip_role_words_new(f, v);
    fn_line(f, "tile_sums_words_%s(%s, %s, %" PRId64 ");", elem_text(v->type.elem), words, from->name,
            2 * (int64_t)from->count);
    return true;
}

/* The first operand as words: they are made, or of a tile of 16 bits. */
static const char *words_of(Fn *f, const Value *v) {
    if (f->hip->role->words[v->id]) return f->hip->role->words[v->id];
    const Tile *tile = made_tile(f, v);
    const char *words = hip_role_words_new(f, v);
    fn_line(f, "tile_chain_words(%s, %s, %" PRId64 ");", words, tile->name, 2 * (int64_t)tile->count);
    f->hip->role->words[v->id] = NULL; /* of this place alone */
    return words;
}

/* Another product of the step reads the slot: it may be under way. */
static bool has_other_reader(const Op *mma) {
    for (const Op *op = mma->in->first; op; op = op->next)
        for (int i = 0; i < 2 && op->kind == OP_MMA && op != mma; i++)
            if (op->arg.p[i] == mma->arg.p[1]) return true;
    return false;
}

/* Its tensor ends where steps are cut short: boxes bring zeros from there on. */
static bool ends_with_zeros(Fn *f, const Op *mma) {
    int ring, tile;
    const int over = mma->over[0];
    const SlotTile *t = hip_slot(f->k, mma->arg.p[1], &ring, &tile);
    const Op *copy = t && t->fill == FILL_BOX ? slot_copy(f->k->roles, ring, tile) : NULL;
    for (int d = 0; copy && d < copy->sub.n; d++)
        if (affine_position(&copy->sub.p[d].lo) == over)
            return range_is_cut_at(f->k, over, f->k->param.p[copy->param].dim[d]);
    return false;
}

/* One group writes the zeros for both, and the other waits for them: groups that wait for each other no longer take
   turns. The first one has to know that the other has come past the zeros before, or it would arrive for both. */
static void clear_lines(Fn *f, const char *clear, int own, int other) {
    const int past = hip_role_past_barrier(f->k, f->hip->role->number);
    f->hip->role->clears = true;
    fn_line(f, "    if (group == 0) {");
    fn_line(f, "        tile_bar_sync(%d, %d);", past, TURN_THREADS);
    fn_line(f, "        tile_chain_clear(%s, %d + group, 128, thread);", clear, own);
    fn_line(f, "        tile_bar_arrive(%d, %d);", other, TURN_THREADS);
    fn_line(f, "    } else {");
    fn_line(f, "        tile_bar_sync(%d, %d);", other, TURN_THREADS);
    fn_line(f, "        tile_bar_arrive(%d, %d);", past, TURN_THREADS);
    fn_line(f, "    }");
}

/* Rows of the slot behind the end of the loop's range are no part of the sum, whatever lies there. (Where both operands
   lie in slots, their tensors end there.) */
static void clear_tail(Fn *f, const Op *mma, const Panels *b) {
    const Range *r = &f->k->range.p[mma->over[0]];
    if (r->grid || !b->across || range_is_full(f->k, mma->over[0]) || range_has_whole_steps(f->k, mma->over[0]) ||
        ends_with_zeros(f, mma))
        return;
    int64_t n;
    if (cexpr_const(f->range[mma->over[0]].count, &n) && n >= r->size) return;
    const char *count = cexpr_operand(f, f->range[mma->over[0]].count)->text;
    const bool own = f->hip->split - 1 == other_range(mma->arg.p[1]->type, mma->over[0]); /* columns of the group */
    const int groups = f->hip->groups, first = 1 + hip_role_now(f)->first;
    const bool waits = has_other_reader(mma);
    const char *clear = fn_text(f, "%s, %d, (int)%s, %" PRId64, b->at, b->panels, count, r->size);
    fn_line(f, "if (%s < %" PRId64 ") {", count, r->size);
    if (waits) fn_line(f, "    tile_mma_wait(0);");
    if (own)
        fn_line(f, "    tile_chain_clear(%s, %d + group, 128, thread);", clear, first);
    else if (groups == 2 && !waits)
        clear_lines(f, clear, first, first + groups);
    else
        fn_line(f, "    tile_chain_clear(%s, %d, %d, %sthread);", clear, first + groups, 128 * groups,
                groups > 1 ? "128 * group + " : "");
    fn_line(f, "}");
}

static bool width_fits(int64_t n) { return n <= MOST_COLUMNS && n % (n <= NARROW ? STEP / 2 : STEP) == 0; }

static bool chain_fits(Fn *f, const Op *mma, const Panels *b, int64_t depth) {
    const Value *x = mma->arg.p[0];
    bool type = x->type.elem == mma->arg.p[1]->type.elem && (x->type.elem == ELEM_BF16 || x->type.elem == ELEM_F16);
    const int rows = x->type.nrange == 2 ? other_range(x->type, mma->over[0]) : -1;
    return type && rows >= 0 && own_extent(f, rows) == GROUP_ROWS && mma->res.p[0]->type.elem == ELEM_F32 &&
           depth % STEP == 0 && width_fits(b->extent);
}

/* An instruction wants registers for its sums when the kernel begins (ptxas: C7602). */
static int64_t columns_at_once(Fn *f, int64_t n) {
    enum { OTHERS = 26 /* registers of a thread beside 128 sums [compiled: nvcc 13.0] */, PANEL = 64 /* columns */ };
    int64_t parts = 1;
    while (n / parts / 2 + OTHERS > f->hip->role->facts->entry_regs && n % (2 * parts * PANEL) == 0) parts *= 2;
    return n / parts;
}

static const char *behind(Fn *f, const char *at, int64_t n) { return n ? fn_text(f, "%s + %" PRId64, at, n) : at; }

void hip_role_chain(Fn *f, const Op *mma) {
    Panels a, b;
    const Value *x = mma->arg.p[0];
    const Tile *to = hip_role_sums(f, mma);
    const int64_t depth = mma->nover == 1 ? (own_extent(f, mma->over[0]) + STEP - 1) / STEP * STEP : 0;
    int ring, tile;
    const bool slot = hip_slot(f->k, x, &ring, &tile) != NULL, made = !slot && hip_role_makes(f->k);
    if (!depth || !panels_of(f, mma, mma->arg.p[1], &b) || !chain_fits(f, mma, &b, depth) ||
        (slot && (!panels_of(f, mma, x, &a) || a.across))) {
        fn_unsupported(f, mma->loc,
                       "a product in a chain, other than of 64 rows along what is summed and 8 to 256 columns");
        return;
    }
    const char *first = slot ? fn_text(f, "%s, %" PRId64, a.at, a.step) : words_of(f, x);
    if ((!slot || is_written(f, x)) && !made) clear_tail(f, mma, &b);
    if (f->hip->role->quads) {
        fn_line(f, "tile_quad_mma_%s(%s, %" PRId64 ", %" PRId64 ", %s, %s, %" PRId64 ", %d, thread);",
                elem_text(x->type.elem), to->name, b.extent, depth, first, b.at, b.step, mma->arg.n == 3);
        return;
    }
    const int64_t all = b.across ? 2 * (int64_t)to->count : b.extent; /* rows of a slot are those that there are */
    const int64_t columns = columns_at_once(f, all);
    for (int64_t n = 0; n < all; n += columns)
        fn_line(f, "tile_%s_%s_%d(%s, %" PRId64 ", %" PRId64 ", %s, %s, %" PRId64 ", %d);",
                slot ? "chain_ss" : "chain_rs", elem_text(x->type.elem), b.across, behind(f, to->name, n / 2), columns,
                depth, first, behind(f, b.at, b.across ? n * ELEM_BYTES / PANEL_BYTES * b.step : n * PANEL_BYTES),
                b.step, mma->arg.n == 3);
    if (mma_ends_group(mma)) fn_line(f, "tile_wgmma_commit();");
}
