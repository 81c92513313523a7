/* roles_late.c: loops of which pieces run a turn late: the first turn without these, then whole turns, then these
   alone. Values that a late piece reads lie in registers of their own, in front of the loop.
   Takes: a loop with turns. Gives: its text. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>

typedef struct {
    const Op *loop;
    int64_t size;
    const CExpr *at, *hi;
    VEC(const Value *) kept; /* made in a turn, read in the next one */
    VEC(Held) held;          /* where these lie */
    VEC(const char *) words; /* likewise of operands of products */
    VEC(const Op *) got;     /* slots that are read in the next turn as well, .. */
    VEC(const char *) slot;  /* .. by their variables */
} Late;

/* ---- groups in turn ---- */

bool hip_role_has_brackets(const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        for (int i = 0; i < op->turn.n; i++)
            if (op->turn.p[i].alone) return true;
    return false;
}

/* ---- groups of products that may be under way ---- */

static int place_of(const Op *loop, int piece) {
    int at = 0;
    while (loop->turn.p[at].piece != piece) at++;
    return at;
}

static bool multiplies(const Op *loop, int piece) {
    for (const Op *op = loop->region[0]->first; op; op = op->next)
        if (op->kind == OP_MMA && op->piece == piece) return true;
    return false;
}

/* Slots go back behind the products that read them, for whose sums the same piece has waited. */
int hip_role_late_but(const Fn *f, const Op *op) {
    const Op *loop = op->in->parent;
    int n = 0;
    if (op->kind == OP_FREE) return NO_WAIT;
    if (f->hip->role->turn_part != TURN_WHOLE) return 0;
    for (int i = place_of(loop, op->arg.p[0]->def->piece) + 1; i < place_of(loop, op->piece); i++)
        n += multiplies(loop, loop->turn.p[i].piece);
    return n;
}

/* ---- values that are read a turn later ---- */

static const Op *top_of(const Op *op, const Op *loop) {
    while (op->in != loop->region[0]) op = op->in->parent;
    return op;
}

static bool is_read_late(const Op *loop, const Value *v) {
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0])) {
        const Op *top = top_of(op, loop);
        for (int i = 0; i < op->arg.n && op->kind != OP_YIELD; i++)
            if (op->arg.p[i] == v && op_shift(top) > op_shift(v->def)) return true;
    }
    return false;
}

bool hip_role_is_kept(const Op *get) {
    const Op *loop = get->in->parent;
    bool late = false;
    if (!loop || loop->kind != OP_FOR || !hip_role_is_late(loop)) return false;
    for (int i = 0; i < get->res.n; i++) late = late || is_read_late(loop, get->res.p[i]);
    return late;
}

static void kept_find(Fn *f, Late *l) {
    for (const Op *op = l->loop->region[0]->first; op; op = op->next) {
        if (op->kind == OP_GET && hip_role_is_kept(op)) vec_push(f->arena, &l->got, op);
        for (int i = 0; i < op->res.n; i++)
            if (op->kind != OP_GET && fn_held(f, op->res.p[i])->hold == HOLD_TILE &&
                is_read_late(l->loop, op->res.p[i]))
                vec_push(f->arena, &l->kept, op->res.p[i]);
    }
}

static void kept_note(Fn *f, Late *l) {
    for (int i = 0; i < l->kept.n; i++) {
        vec_push(f->arena, &l->held, *fn_held(f, l->kept.p[i]));
        vec_push(f->arena, &l->words, f->hip->role->words[l->kept.p[i]->id]);
    }
    for (int i = 0; i < l->got.n; i++) vec_push(f->arena, &l->slot, f->hip->role->got[l->got.p[i]->ring]);
}

/* Late pieces read what the turn before has left. */
static void kept_take(Fn *f, const Late *l) {
    for (int i = 0; i < l->kept.n; i++) {
        *fn_held(f, l->kept.p[i]) = l->held.p[i];
        f->hip->role->words[l->kept.p[i]->id] = l->words.p[i];
    }
    for (int i = 0; i < l->got.n; i++) hip_role_name_slot(f, l->got.p[i], l->slot.p[i]);
}

static void copy_lines(Fn *f, const char *to, const char *from, int64_t count) {
    fn_line(f, "#pragma unroll");
    fn_line(f, "for (int reg = 0; reg < %" PRId64 "; reg++) %s[reg] = %s[reg];", count, to, from);
}

static void kept_leave(Fn *f, const Late *l) {
    for (int i = 0; i < l->kept.n; i++) {
        const Tile *to = &l->held.p[i].tile, *from = &fn_held(f, l->kept.p[i])->tile;
        const char *words = l->words.p[i];
        if (words)
            copy_lines(f, words, f->hip->role->words[l->kept.p[i]->id], hip_role_words(f, l->kept.p[i]));
        else if (to->count == 1)
            fn_line(f, "%s = %s;", to->name, from->name);
        else
            copy_lines(f, to->name, from->name, to->count);
    }
    for (int i = 0; i < l->got.n; i++) fn_line(f, "%s = %s;", l->slot.p[i], f->hip->role->got[l->got.p[i]->ring]);
}

/* ---- what the loop carries ---- */

static void carried_lines(Fn *f, const Late *l, bool late) {
    const Region *body = l->loop->region[0];
    for (int i = 0; i < l->loop->res.n; i++) {
        const Value *v = body->last->arg.p[i];
        if (op_shift(v->def) == late) emit_copy(f, &fn_held(f, body->arg.p[i])->tile, v);
    }
}

/* ---- turns ---- */

static bool yields_late(const Late *l, int piece) { return l->loop->region[0]->last->piece == piece; }

static void piece_lines(Fn *f, const Late *l, const Turn *t) {
    RangeText *range = &f->range[l->loop->range];
    const RangeText now = *range;
    if (t->shift && f->hip->role->turn_part == TURN_WHOLE) {
        range_text_tile(f, l->loop->range, cexpr_open(f, "%s - %" PRId64, l->at->text, l->size));
        range->count = cexpr_number(f, l->size);
    }
    emit_piece(f, l->loop->region[0], t->piece);
    if (yields_late(l, t->piece)) carried_lines(f, l, true);
    *range = now;
}

static void late_lines(Fn *f, const Late *l, const Turn *t) {
    Late now = {.kept = l->kept, .got = l->got};
    kept_note(f, &now);
    kept_take(f, l);
    piece_lines(f, l, t);
    kept_take(f, &now);
}

/* Pieces in brackets: one group after the other, but for the last products, which nothing of the other waits for. */
static bool is_alone(const Fn *f, const Late *l, int i) {
    return i >= 0 && i < l->loop->turn.n && l->loop->turn.p[i].alone && f->hip->role->turn_part != TURN_LAST;
}

static bool is_written(const Fn *f, const Turn *t) {
    const TurnPart part = f->hip->role->turn_part;
    return part == TURN_FIRST ? !t->shift : part == TURN_LAST ? t->shift : true;
}

/* Lines that the products of a turn add to are loaded before the turn: within it other groups would wait for them, too. */
static void front_lines(Fn *f, const Late *l, int piece) {
    const Region *body = l->loop->region[0];
    for (const Op *op = body->first; op; op = op->next) {
        const Value *acc = op->kind == OP_MMA && op->piece == piece && op->arg.n == 3 ? op->arg.p[2] : NULL;
        if (!acc || !acc->def || acc->def->in != body || acc->def->piece >= piece || fn_held(f, acc)->hold != HOLD_TILE)
            continue;
        fn_line(f, "tile_wgmma_keep(%s, %d);", fn_held(f, acc)->tile.name, (int)fn_held(f, acc)->tile.count);
    }
}

static void turn_lines(Fn *f, const Late *l) {
    const int bar = hip_role_turn_barrier(f->k, f->hip->role->number), groups = f->hip->groups;
    const char *next = groups == 2 ? fn_text(f, "%d - group", bar + 1) : fn_text(f, "%d + (group + 1) %% %d", bar, groups);
    for (int i = 0; i < l->loop->turn.n; i++) {
        const Turn *t = &l->loop->turn.p[i];
        if (is_alone(f, l, i) && !is_alone(f, l, i - 1)) {
            if (!t->shift && is_written(f, t)) front_lines(f, l, t->piece);
            fn_line(f, "tile_bar_sync(%d + group, %d);", bar, TURN_THREADS);
        }
        if (is_written(f, t)) (t->shift ? late_lines : piece_lines)(f, l, t);
        if (is_alone(f, l, i) && !is_alone(f, l, i + 1))
            fn_line(f, "tile_bar_arrive(%s, %d);", next, TURN_THREADS);
    }
}

/* The number of positions of the tile gets a name, where the text has it. */
static void block_lines(Fn *f, Late *l, TurnPart part, const CExpr *at) {
    int64_t n;
    f->hip->role->turn_part = part;
    range_text_tile(f, l->loop->range, at);
    RangeText *t = &f->range[l->loop->range];
    const CExpr *count = cexpr_const(t->count, &n) ? NULL : t->count;
    if (count) t->count = cexpr_name(f, c_name(&f->names, fn_text(f, "n%s", f->k->range.p[l->loop->range].name)));
    Text before = f->body;
    f->body = (Text){0};
    turn_lines(f, l);
    if (part != TURN_LAST) carried_lines(f, l, false);
    if (part == TURN_FIRST) kept_note(f, l);
    if (part == TURN_WHOLE) kept_leave(f, l);
    Text inside = f->body;
    f->body = before;
    if (count && text_has_word(text_str(&inside), t->count->text))
        fn_line(f, "const int64_t %s = %s;", t->count->text, count->text);
    text_add(&f->body, text_str(&inside));
    text_free(&inside);
}

void hip_role_late(Fn *f, const Op *loop) {
    Late l = {.loop = loop, .size = f->k->range.p[loop->range].size};
    const CExpr *lo;
    hip_role_turns_check(f, loop);
    if (f->k->range.p[loop->range].kind != RANGE_TILE) fn_unsupported(f, loop->loc, "turns of other than whole tiles");
    emit_for_head(f, loop, &lo, &l.hi);
    l.at = f->range[loop->range].begin;
    const char *at = l.at->text;
    kept_find(f, &l);
    fn_line(f, "int64_t %s = %s;", at, lo->text);
    fn_line(f, "if (%s < %s) {", at, l.hi->text);
    f->indent++;
    block_lines(f, &l, TURN_FIRST, l.at);
    fn_line(f, "#pragma unroll 1");
    fn_line(f, "for (%s += %" PRId64 "; %s < %s; %s += %" PRId64 ") {", at, l.size, at, l.hi->text, at, l.size);
    f->indent++;
    block_lines(f, &l, TURN_WHOLE, l.at);
    f->indent--;
    fn_line(f, "}");
    block_lines(f, &l, TURN_LAST, cexpr_group(f, cexpr_open(f, "%s - %" PRId64, at, l.size)));
    f->indent--;
    fn_line(f, "}");
    f->hip->role->turn_part = TURN_ALL;
    hip_deferred_sums(f, loop);
}
