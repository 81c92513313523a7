/* roles_made.c: operands of products that groups make on the way, of tiles of slots whose elements have few bits: these
   tiles as words of the product's type, as f32, or a byte an element.
   Takes: conversions of slots. Gives: calls of tile_made.h. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

/* Of the device library: rows of a group's product, threads of a group, bytes of a row. */
enum { GROUP_ROWS = 64, GROUP_THREADS = 128, LEAST_BYTES = 16, MOST_BYTES = 128 };

static const char *elements_of(Elem e) {
    switch (e) {
    case ELEM_T2: return "t2";
    case ELEM_I4: return "i4";
    case ELEM_I8: return "i8";
    default: return elem_bits(e) == 8 ? "u8" : NULL;
    }
}

static int64_t own_extent(Fn *f, int range) { return hip_role_extent(f->m, f->k, f->hip->role->number, range); }

/* ---- operands in registers: two elements a word ---- */

int64_t hip_role_words(Fn *f, const Value *v) {
    int64_t n = 1;
    for (int i = 0; i < v->type.nrange; i++) n *= own_extent(f, v->type.range[i]);
    return n / (2 * GROUP_THREADS);
}

const char *hip_role_words_new(Fn *f, const Value *v) {
    const char *words = c_name(&f->names, fn_text(f, "%s_words", fn_value_name(f, v)));
    fn_line(f, "uint32_t %s[%" PRId64 "];", words, hip_role_words(f, v));
    return f->hip->role->words[v->id] = words;
}

/* ---- tiles of slots ---- */

/* A slot's tile that the library takes apart: where it lies along what is summed, and across. */
typedef struct {
    int along, rows;      /* ranges */
    int64_t depth, bytes; /* of a row */
} Source;

static bool source_fits(const Module *m, const Kernel *k, int role, const Op *convert, Source *s) {
    int ring, tile;
    const SlotTile *t = hip_slot(k, convert->arg.p[0], &ring, &tile);
    if (!t || t->type.nrange != 2 || t->fill != FILL_BOX || !elements_of(t->type.elem)) return false;
    s->along = slot_row(k, ring, tile), s->rows = t->type.range[t->type.range[0] == s->along];
    s->depth = hip_role_extent(m, k, role, s->along), s->bytes = s->depth * elem_bits(t->type.elem) / 8;
    const int panel = panel_info[t->panel].across ? -1 : panel_info[t->panel].bytes;
    const bool fits = panel ? panel == s->bytes : s->bytes == LEAST_BYTES;
    return hip_role_extent(m, k, role, s->rows) == GROUP_ROWS && fits && s->bytes <= MOST_BYTES;
}

/* The arguments of such a call behind the first one; NULL: it is no such tile. */
static const char *source_of(Fn *f, const Op *convert) {
    Source s;
    if (!source_fits(f->m, f->k, f->hip->role->number, convert, &s)) return NULL;
    const char *at = fn_held(f, convert->arg.p[0])->tile.name;
    if (f->hip->split - 1 == s.rows && at) at = fn_text(f, "%s + %" PRId64 " * group", at, GROUP_ROWS * s.bytes);
    return fn_text(f, "%s, %" PRId64 ", thread", at, s.depth);
}

/* ---- conversions of slots whose values nothing takes but a cast ---- */

static int uses_of_value(const Region *body, const Value *v) {
    int n = 0;
    for (const Op *op = walk(body); op; op = walk_next(op, body))
        for (int i = 0; i < op->arg.n; i++) n += op->arg.p[i] == v;
    return n;
}

/* The slot is not given back in between. */
static bool is_held_until(const Op *convert, const Op *cast) {
    const Op *op = convert;
    while (op && op != cast && op->kind != OP_FREE && !op->region[0]) op = op->next;
    return op == cast && convert->piece == cast->piece;
}

static bool is_whole_number(Elem e) { return e == ELEM_T2 || e == ELEM_I4 || e == ELEM_I8 || e == ELEM_U8; }

static bool is_half(Elem e) { return e == ELEM_BF16 || e == ELEM_F16; }

static bool widens(const Module *m, const Kernel *k, int role, const Op *cast) {
    const Op *convert = cast->kind == OP_CAST ? cast->arg.p[0]->def : NULL;
    int ring, tile;
    Source s;
    if (!convert || convert->kind != OP_CONVERT || !hip_slot(k, convert->arg.p[0], &ring, &tile)) return false;
    const Elem to = cast->res.p[0]->type.elem;
    if (!is_whole_number(convert->res.p[0]->type.elem) || !(is_half(to) || to == ELEM_F32)) return false;
    return uses_of_value(k->roles->role.p[role].body, convert->res.p[0]) == 1 && is_held_until(convert, cast) &&
           source_fits(m, k, role, convert, &s);
}

bool hip_role_widens(Fn *f, const Op *cast) {
    const Held *h = cast->kind == OP_CAST ? fn_held(f, cast->res.p[0]) : NULL;
    const bool words = h && is_half(cast->res.p[0]->type.elem);
    if (words && (h->shared || !h->reader.op || h->reader.op->kind != OP_MMA)) return false;
    return h && widens(f->m, f->k, f->hip->role->number, cast);
}

bool hip_role_widen(Fn *f, const Op *cast) {
    if (hip_role_now(f)->first < 0 || !hip_role_widens(f, cast)) return false;
    const Op *convert = cast->arg.p[0]->def;
    const Value *v = cast->res.p[0];
    const char *from = elements_of(convert->res.p[0]->type.elem), *source = source_of(f, convert);
    if (v->type.elem == ELEM_F32)
        fn_line(f, "tile_made_f32_%s(%s, %s);", from, held_tile(f, v)->name, source);
    else
        fn_line(f, "tile_%s_words_%s_%s(%s, %s);", f->hip->role->quads ? "quad" : "made", from, elem_text(v->type.elem),
                hip_role_words_new(f, v), source);
    return true;
}

bool hip_role_take(Fn *f, const Op *convert) {
    const char *source = source_of(f, convert);
    if (!source) return false;
    fn_line(f, "tile_made_bytes_%s(%s, %s);", elements_of(convert->res.p[0]->type.elem),
            held_tile(f, convert->res.p[0])->name, source);
    return true;
}

/* ---- products of operands that are made of slots, not of other products' sums ---- */

static bool is_of_slots(const Value *v, int depth) {
    enum { DEEP = 64 /* operations */ };
    const Op *op = v->def;
    if (!op || depth > DEEP || op->kind == OP_READY || op->kind == OP_FOR || op->kind == OP_IF) return !v->type.nrange;
    for (int i = 0; i < op->arg.n; i++)
        if (!is_of_slots(op->arg.p[i], depth + 1)) return false;
    return true;
}

/* Some, and no others. */
bool hip_role_makes(const Kernel *k) {
    bool makes = false;
    int ring, tile;
    for (int i = 0; k->roles && i < k->roles->role.n; i++) {
        const Region *body = k->roles->role.p[i].body;
        for (const Op *op = walk(body); op; op = walk_next(op, body)) {
            if (op->kind != OP_MMA || hip_slot(k, op->arg.p[0], &ring, &tile)) continue;
            if (!is_of_slots(op->arg.p[0], 0)) return false;
            makes = true;
        }
    }
    return makes;
}

/* ---- products of few columns ---- */

/* An operand that is widened for this product alone, and another one in panels along the sum. */
static bool is_quad(const Module *m, const Kernel *k, int role, const Op *mma) {
    enum { FEW = 16 /* columns: 64 take longer than by wgmma [measured on an H200, bench/gpu/log.md] */, STEP = 64 };
    int ring, tile;
    Source s;
    const Op *cast = mma->arg.p[0]->def;
    const SlotTile *other = hip_slot(k, mma->arg.p[1], &ring, &tile);
    if (!cast || cast->in != mma->in || mma->nover != 1 || !is_half(cast->res.p[0]->type.elem) ||
        !widens(m, k, role, cast) || uses_of_value(k->roles->role.p[role].body, cast->res.p[0]) != 1)
        return false;
    if (!other || other->type.nrange != 2 || other->fill != FILL_BOX || other->panel != PANEL_K128 ||
        other->type.elem != cast->res.p[0]->type.elem || slot_row(k, ring, tile) != mma->over[0])
        return false;
    const int columns = other->type.range[other->type.range[0] == mma->over[0]];
    return source_fits(m, k, role, cast->arg.p[0]->def, &s) && s.along == mma->over[0] && s.depth % STEP == 0 &&
           hip_role_extent(m, k, role, columns) <= FEW && k->roles->role.p[role].split != columns;
}

bool hip_role_quads(const Module *m, const Kernel *k, int role) {
    const Role *r = &k->roles->role.p[role];
    bool any = false;
    if (r->first < 0 || (k->roles->cluster > 1 && !roles_slice(k))) return false;
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) {
        if (op->kind == OP_MMA && !is_quad(m, k, role, op)) return false;
        any |= op->kind == OP_MMA;
    }
    return any;
}
