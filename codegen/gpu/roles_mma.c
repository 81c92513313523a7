/* roles_mma.c: products of warpgroups, whose operands lie in slots: `mma`, `ready` and parts of their sums. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

/* Of the device library (tile_piece.h): bytes of a row of a panel; rows of a product; bytes of so many rows. */
enum {
    PANEL_BYTES = 128,
    GROUP_ROWS = 64,
    PANEL = GROUP_ROWS * PANEL_BYTES,
    DEEP = 2,          /* panels of a step of few rows */
    PANEL_COLUMNS = 64 /* of a panel across */
};

/* Element types of products, and the widest ones, in columns. Sums of 8-bit floats are added up in as many other
   registers. */
static const struct {
    Elem elem, sum;
    const char *name;
    int columns;
} types[] = {{ELEM_BF16, ELEM_F32, "bf16", 256},
             {ELEM_F16, ELEM_F32, "f16", 256},
             {ELEM_F8E4M3, ELEM_F32, "e4m3", 192},
             {ELEM_F8E5M2, ELEM_F32, "e5m2", 192},
             {ELEM_I8, ELEM_I32, "s8", 256},
             {ELEM_U8, ELEM_I32, "u8", 256}};

static int type_number(Elem e) {
    for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
        if (types[i].elem == e) return i;
    return -1;
}

/* Of tile_piece.h: "bf16", "e4m3_e5m2". NULL: there are no products of such operands and sums. */
static const char *product_type(Fn *f, const Op *mma) {
    Elem a = mma->arg.p[0]->type.elem, b = mma->arg.p[1]->type.elem;
    int x = type_number(a), y = type_number(b);
    bool pair = x >= 0 && y >= 0 && types[x].sum == types[y].sum && mma->res.p[0]->type.elem == types[x].sum &&
                (a == b || (elem_bits(a) == 8 && elem_bits(b) == 8));
    if (!pair || a == b) return pair ? types[x].name : NULL;
    return fn_text(f, "%s_%s", types[x].name, types[y].name);
}

/* The range of an operand that is not contracted. */
static int other_range(const Op *mma, const Value *v) {
    for (int i = 0; i < v->type.nrange; i++)
        if (v->type.range[i] != mma->over[0]) return v->type.range[i];
    return -1;
}

/* Tiles of slots, of a step of a loop. */
static bool is_deep(const Fn *f, const Op *mma) {
    int ring, tile;
    bool steps = false;
    for (const Op *loop = mma->in->parent; loop; loop = loop->in->parent)
        steps |= loop->kind == OP_FOR && loop->range == mma->over[0];
    for (int i = 0; i < 2 && steps; i++) {
        const SlotTile *t = hip_slot(f->k, mma->arg.p[i], &ring, &tile);
        steps = t && t->fill == FILL_BOX && (t->panel == PANEL_K128 || t->panel == PANEL_MN128);
    }
    const int64_t depth = hip_role_extent(f->m, f->k, -1, mma->over[0]);
    return steps && depth * elem_bits(mma->arg.p[0]->type.elem) / 8 == DEEP * PANEL_BYTES;
}

int hip_role_panels(const Fn *f, int range) {
    for (int i = 0; i < f->k->roles->role.n; i++) {
        const Region *body = f->k->roles->role.p[i].body;
        for (const Op *op = walk(body); op; op = walk_next(op, body))
            if (op->kind == OP_MMA && op->nover == 1 && op->over[0] == range) return is_deep(f, op) ? DEEP : 1;
    }
    return 1;
}

typedef struct {
    const SlotTile *slot;
    const char *at; /* where the group's share begins */
    int64_t panel;  /* bytes of the tile in a panel of the contracted range */
    int64_t extent; /* of the share */
    bool across;
} Operand;

static bool operand_of(Fn *f, const Op *mma, int i, Operand *o) {
    const Value *v = mma->arg.p[i];
    int ring, tile, range = other_range(mma, v);
    o->slot = hip_slot(f->k, v, &ring, &tile);
    if (!o->slot || v->type.nrange != 2 || range < 0) return false;
    if (o->slot->panel != PANEL_K128 && o->slot->panel != PANEL_MN128) return false;
    const int along = slot_row(f->k, ring, tile); /* of two products that read the slot one may run across its rows */
    o->across = along < 0 ? o->slot->panel == PANEL_MN128 : along != mma->over[0];
    o->extent = hip_role_extent(f->m, f->k, f->hip->role->number, range);
    const int64_t whole = hip_role_extent(f->m, f->k, -1, range);
    o->panel = PANEL_BYTES * (o->across ? ceil_div(whole, PANEL_COLUMNS) * PANEL_COLUMNS : whole);
    o->at = fn_held(f, v)->tile.name;
    if (f->hip->split - 1 == range) o->at = fn_text(f, "%s + %" PRId64 " * group", o->at, o->extent * PANEL_BYTES);
    return true;
}

/* A loop's first step finds the sums as they were zeroed: the product need not read them. */
static const char *add_text(Fn *f, const Op *mma) {
    const Op *loop = mma->in->parent;
    if (mma->arg.n < 3) return "0";
    const Value *acc = mma->arg.p[2];
    if (acc->def || !loop || loop->kind != OP_FOR || acc->arg_of != mma->in) return "1";
    const Op *first = loop->arg.p[acc->index + 2]->def;
    while (first && first->kind == OP_BROADCAST) first = first->arg.p[0]->def;
    if (!first || first->kind != OP_CONST || first->fimm != 0 || first->imm != 0 || f->range[loop->range].first == NULL) return "1";
    return fn_text(f, "%s > %s", f->range[loop->range].begin->text,
                   cexpr_operand(f, f->range[loop->range].first)->text);
}

/* Columns that the device library has products of. */
static bool has_width(Elem e, int64_t n) {
    const int step = n <= (elem_is_float(e) ? 128 : 32) ? 8 : 16;
    return n % step == 0 && n <= types[type_number(e)].columns;
}

/* ---- two products of one first operand, by one instruction ---- */

static int64_t columns_of(Fn *f, const Op *mma) {
    return hip_role_extent(f->m, f->k, f->hip->role->number, other_range(mma, mma->arg.p[1]));
}

/* The columns of the other one lie right behind. */
static bool lies_behind(Fn *f, const Op *mma, const Op *other) {
    int ring[2], tile[2];
    const SlotTile *x = hip_slot(f->k, mma->arg.p[1], &ring[0], &tile[0]),
                   *y = hip_slot(f->k, other->arg.p[1], &ring[1], &tile[1]);
    if (!x || !y || mma->arg.p[1]->def != other->arg.p[1]->def || x->panel != y->panel) return false;
    const int64_t *at = f->hip->role->facts->ring[ring[0]].tile, n = columns_of(f, mma);
    return at[tile[1]] == at[tile[0]] + n * PANEL_BYTES && (x->panel == PANEL_K128 || n % PANEL_COLUMNS == 0);
}

static bool are_pair(Fn *f, const Op *mma, const Op *other) {
    enum { LEAST = 64, MOST = 128, MOST8 = 96, STEP = 16 /* columns of each, which the device library has pairs of */ };
    if (!mma || !other || mma->kind != OP_MMA || other->kind != OP_MMA || mma->piece != other->piece) return false;
    if (f->hip->role->narrow) return false;
    if (mma->arg.p[0] != other->arg.p[0] || mma->over[0] != other->over[0] || mma->arg.n != other->arg.n) return false;
    const int64_t n = columns_of(f, mma);
    const Elem e = mma->arg.p[0]->type.elem;
    bool eight = elem_bits(e) == 8, one = e == mma->arg.p[1]->type.elem && e == other->arg.p[1]->type.elem;
    bool fits = one && (!eight || elem_is_float(e)) && n == columns_of(f, other) && n >= LEAST &&
                n <= (eight ? MOST8 : MOST) && n % STEP == 0 && f->hip->split - 1 != other_range(mma, mma->arg.p[1]);
    return fits && lies_behind(f, mma, other) && strcmp(add_text(f, mma), add_text(f, other)) == 0;
}

/* The operation in front of it computes it, too. */
static bool is_second(Fn *f, const Op *mma) { return are_pair(f, mma->prev, mma) && !is_second(f, mma->prev); }

static const char *behind(Fn *f, const char *at, int64_t n) { return n ? fn_text(f, "%s + %" PRId64, at, n) : at; }

/* The same registers under another name. */
static void rename_tile(Fn *f, const Value *to, const Tile *from) {
    Held *h = fn_held(f, to);
    h->tile = *from;
    h->into = NULL;
}

/* Sums that are carried or under way stay in their registers, which nothing reads under the old name any more: a copy
   would read them too early. */
const Tile *hip_role_sums(Fn *f, const Op *mma) {
    const Value *sums = mma->res.p[0], *acc = mma->arg.n == 3 ? mma->arg.p[2] : NULL;
    if (acc && fn_held(f, acc)->hold == HOLD_TILE && (!acc->def || acc->def->kind == OP_MMA)) {
        rename_tile(f, sums, &fn_held(f, acc)->tile);
        return &fn_held(f, sums)->tile;
    }
    const Tile *to = held_tile(f, sums);
    if (acc) emit_copy(f, to, acc);
    return to;
}

static void product_lines(Fn *f, const Op *op, const Operand *a, const Operand *b, const char *type) {
    const Tile *to = hip_role_sums(f, op), *other = are_pair(f, op, op->next) ? hip_role_sums(f, op->next) : NULL;
    const char *add = add_text(f, op),
               *kind = elem_bits(op->arg.p[0]->type.elem) == 8 ? "" : fn_text(f, "_%d%d", a->across, b->across);
    const int64_t blocks = a->extent / GROUP_ROWS, n = to->count / blocks, narrow = f->hip->role->narrow;
    if (narrow == ROLE_NOTHING) return; /* the sums stay as they are */
    for (int64_t m = 0; m < blocks; m++) {
        const char *sums = behind(f, to->name, m * n);
        if (other) sums = fn_text(f, "%s, %s", sums, behind(f, other->name, m * n));
        for (int i = 0; i < hip_role_panels(f, op->over[0]); i++)
            fn_line(f, "tile_mma_%s%s%s(%s, %" PRId64 ", %s, %s, %s);", other ? "pair_" : "", type, kind, sums,
                    narrow ? narrow : b->extent, behind(f, a->at, m * PANEL + i * a->panel),
                    behind(f, b->at, i * b->panel), i ? "1" : add);
    }
}

void hip_role_mma(Fn *f, const Op *op) {
    Operand a, b;
    const char *type = product_type(f, op);
    const int64_t depth = hip_role_extent(f->m, f->k, -1, op->over[0]) * elem_bits(op->arg.p[0]->type.elem) / 8;
    if (!type || op->nover != 1 || !operand_of(f, op, 0, &a) || !operand_of(f, op, 1, &b) ||
        depth != PANEL_BYTES * hip_role_panels(f, op->over[0]) || a.extent % GROUP_ROWS ||
        !has_width(op->arg.p[0]->type.elem, b.extent)) {
        fn_unsupported(f, op->loc, "a product other than of panels of 128 bytes in slots, with sums in f32 or i32");
        return;
    }
    if (!is_second(f, op)) product_lines(f, op, &a, &b, type);
    if (!mma_ends_group(op)) return;
    if (f->hip->role->narrow == ROLE_NOTHING) /* threads that get a slot meet before it is given back */
        fn_line(f, "tile_bar_sync(%d + group, 128);", 1 + hip_role_now(f)->first);
    else
        fn_line(f, "tile_wgmma_commit();");
}

void hip_role_ready(Fn *f, const Op *op, int but) {
    enum { MOST_GROUPS = 2 /* of products that may be under way (tile_wgmma.h) */ };
    for (int i = 0; i < op->arg.n; i++) {
        const Tile *t = &fn_held(f, op->arg.p[i])->tile;
        if (f->hip->role->quads)
            ; /* they are there */
        else if (but == NO_WAIT || i)
            fn_line(f, "tile_wgmma_keep(%s, %" PRId64 ");", t->name, t->count);
        else
            fn_line(f, "tile_wgmma_wait%d(%s, %" PRId64 ");", but < MOST_GROUPS ? but : MOST_GROUPS, t->name, t->count);
        rename_tile(f, op->res.p[i], t);
    }
}

int64_t hip_register_at(const Layout *l, const char *range, int reg) {
    int n, first, d = layout_index(l, range, &first);
    const uint64_t *column = layout_columns(l, "reg", &n);
    uint64_t bits = 0;
    for (int b = 0; b < n; b++) bits ^= reg >> b & 1 ? column[b] & layout_range_bits(l, range) : 0;
    return (int64_t)(bits >> first) + (l->index[d].repeat > 1 ? (int64_t)(reg >> n) << l->index[d].bits : 0);
}

/* A register of the part lies as that one of the whole does, which begins `before` positions earlier. */
static bool registers_agree(const Layout *whole, int w, const Layout *part, int p, const char *range, int64_t before) {
    for (int i = 0; i < whole->nindex; i++) {
        const char *name = whole->index[i].name, *own = layout_index(part, name, NULL) < 0 ? range : name;
        if (layout_index(part, own, NULL) < 0) return false;
        if (hip_register_at(whole, name, w) != hip_register_at(part, own, p) + (own == range ? before : 0))
            return false;
    }
    return true;
}

/* The part's registers follow each other in those of the whole, where parts begin: registers count along the range last
   of all. */
static bool part_is_run(Fn *f, const Layout *whole, const Layout *part, int of, int range) {
    const int count = layout_registers(part), total = layout_registers(whole);
    const int64_t size = f->k->range.p[range].size, all = hip_role_extent(f->m, f->k, f->hip->role->number, of);
    for (int64_t q = 0; q < all; q += size) {
        const int64_t at = q + size > all ? all - size : q;
        if (at < 0 || at * count % size || at * count / size + count > total) return false;
        for (int r = 0; r < count; r++)
            if (!registers_agree(whole, (int)(at * count / size) + r, part, r, f->k->range.p[range].name, at))
                return false;
    }
    return true;
}

static const CExpr *part_register(Fn *f, int range, int count) {
    const int64_t size = f->k->range.p[range].size;
    const RangeText *r = &f->range[range];
    if (!f->hip->role->part_at[range]) return cexpr_mul(f, cexpr_number(f, count), r->index);
    return cexpr_open(f, "%d * %s / %" PRId64, count, f->hip->role->part_at[range]->text, size);
}

void hip_role_part(Fn *f, const Op *op) {
    const Value *v = op->arg.p[0], *part = op->res.p[0];
    const int whole = f->k->range.p[op->range].part_of - 1;
    const Layout *l = held_layout(f, v), *of = held_layout(f, part);
    const Op *loop = op->in->parent;
    while (loop && !(loop->kind == OP_FOR && loop->range == op->range)) loop = loop->in->parent;
    if (!l || !of || !loop || !part_is_run(f, l, of, whole, op->range)) {
        fn_unsupported(f, op->loc, "a part of a tile whose registers do not follow each other");
        return;
    }
    const Tile *from = made_tile(f, v);
    const int count = layout_registers(of);
    if (from->halves) { /* the first part is the one in hand */
        fn_held(f, part)->tile =
            (Tile){.layout = of, .elem = from->elem, .count = count, .name = from->name, .halves = true};
        return;
    }
    const char *name = c_name(&f->names, fn_value_name(f, part));
    fn_line(f, "%s *const %s = %s + %s;", elem_c(from->elem), name, from->name,
            part_register(f, op->range, count)->text);
    fn_held(f, part)->tile = (Tile){.layout = of, .elem = from->elem, .count = count, .name = name};
}
