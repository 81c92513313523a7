/* roles_beside.c: a loop over parts of a tile that runs in turns of the next task's products. A turn finishes a few columns
   of the first part. Then the registers of the other parts move up: one text does for all parts.
   Takes: a role of groups with a late loop. Gives: what is kept from task to task, and both loops. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

enum {
    CUT_COLUMNS = 16, /* that a warp writes at once (tile_sums.h) */
    MOST_KEPT = 8     /* tiles */
};

/* ---- what is kept ---- */

static bool is_kept(const Op *loop, const Value *v) {
    return v->type.nrange && v->def && v->def->kind == OP_CAST && !op_has(loop, v->def);
}

/* By number, in the order of the text; NULL: no more. */
const Value *hip_kept_value(const Op *loop, int number) {
    const Value *found[MOST_KEPT];
    int n = 0;
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0]))
        for (int i = 0; i < op->arg.n && n < MOST_KEPT; i++) {
            bool fresh = is_kept(loop, op->arg.p[i]);
            for (int k = 0; k < n; k++) fresh &= found[k] != op->arg.p[i];
            if (fresh) found[n++] = op->arg.p[i];
        }
    return number < n ? found[number] : NULL;
}

const char *hip_kept_name(Fn *f, int number) { return fn_text(f, "kept%d", number + 1); }

int64_t hip_kept_words(Fn *f, const Value *v) { return layout_registers(held_layout(f, v)) / 2; }

bool hip_late_uses(const Op *loop, int ring) {
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0]))
        if ((op->kind == OP_PUT || op->kind == OP_GET) && op->ring == ring) return true;
    return false;
}

/* ---- how an iteration is cut ---- */

static int64_t parts_of(const RolesWriter *w, int role, const Op *loop) {
    const Range *q = &w->k->range.p[loop->range];
    return hip_role_extent(w->g->m, w->k, role, q->part_of - 1) / q->size;
}

/* The number of cuts, one in each `every` turns. */
static LateText late_text(RolesWriter *w, int role) {
    LateText t = {.loop = role_late(&w->roles->role.p[role])};
    const Range *q = &w->k->range.p[t.loop->range];
    t.cuts = t.loop->late;
    while (t.loop->late % t.cuts || q->size / CUT_COLUMNS % t.cuts) t.cuts--;
    t.every = t.loop->late / t.cuts;
    t.parts = (int)parts_of(w, role, t.loop);
    t.name = arena_format(w->arena, "%s_late", w->role[role]);
    if (t.cuts == 1) return t;
    t.begins = "turn == 0";
    t.ends = arena_format(w->arena, "turn == %d", t.cuts - 1);
    return t;
}

const LateText *hip_role_late_text(RolesWriter *w, int role) {
    LateText *t = ARENA_NEW(w->arena, LateText);
    if (!role_late(&w->roles->role.p[role])) return NULL;
    *t = late_text(w, role);
    return t;
}

/* Where the first part of a kept tile lies, whatever part it is. */
void hip_role_kept(Fn *f, const LateText *t, bool inside) {
    const Value *v;
    for (int i = 0; (v = hip_kept_value(t->loop, i)); i++) {
        Held *h = fn_held(f, v);
        h->hold = inside ? HOLD_TILE : HOLD_INLINE;
        if (!inside) continue;
        const Layout *l = held_layout(f, v);
        h->tile = (Tile){.layout = l, .elem = v->type.elem, .count = layout_registers(l), .halves = true};
        h->tile.name = fn_text(f, "late->%s", hip_kept_name(f, i));
    }
}

/* ---- in the role ---- */

/* Begun before its first task. */
void hip_role_late_begin(RolesWriter *w, const RoleText *r, Text *to) {
    const LateText *t = r->beside;
    text_printf(to, "    %s late = {};\n", t->name);
    for (int i = 0; i < w->roles->ring.n; i++) {
        const RingFacts *x = &w->facts.ring[i];
        const char *name = x->member;
        if (!hip_late_uses(t->loop, i)) continue;
        if (w->facts.ring[i].copies > 1)
            text_printf(to, "    late.own_%s = tile_ring_of(&all->%s, group);\n", name, name);
        text_printf(to, "    late.%s_end = tile_ring_%s();\n", name, x->writer == r->number ? "writer" : "reader");
    }
}

static void part_call(Fn *f, const LateText *t, const char *at) {
    const char *maps = f->hip->role->launch->nmap ? "maps, " : "";
    fn_line(f, "%s_part(call, %sall, &late, %s, %sgroup, thread);", t->name, maps, at, t->cuts > 1 ? "turn, " : "");
}

/* The registers of the next part come first. */
static void move_lines(Fn *f, const LateText *t) {
    const Value *v;
    for (int i = 0; (v = hip_kept_value(t->loop, i)); i++) {
        const int64_t words = hip_kept_words(f, v);
        fn_line(f, "tile_words_up(late.%s, %" PRId64 ", %" PRId64 ");", hip_kept_name(f, i), words, words / t->parts);
    }
}

static const char *parts_open(Fn *f, const LateText *t) {
    const Range *q = &f->k->range.p[t->loop->range];
    const char *at = c_name(&f->names, fn_text(f, "%s0", q->name));
    fn_line(f, "#pragma unroll 1");
    fn_line(f, "for (int %s = 0; %s < %" PRId64 "; %s += %" PRId64 ") {", at, at, t->parts * q->size, at, q->size);
    f->indent++;
    if (t->cuts == 1) return at;
    fn_line(f, "#pragma unroll");
    fn_line(f, "for (int turn = 0; turn < %d; turn++) {", t->cuts);
    f->indent++;
    return at;
}

static void close(Fn *f) {
    f->indent--;
    fn_line(f, "}");
}

static void parts_close(Fn *f, const LateText *t) {
    if (t->cuts > 1) close(f);
    move_lines(f, t);
    close(f);
}

/* Emits what is left of the task before, at once. */
void hip_role_finish(Fn *f, const LateText *t) {
    fn_line(f, "if (late.kept) {");
    f->indent++;
    const char *at = parts_open(f, t);
    part_call(f, t, at);
    parts_close(f, t);
    close(f);
}

void hip_role_keep_sums(Fn *f) {
    const LateText *t = f->hip->role->beside;
    const Value *v;
    for (int i = 0; (v = hip_kept_value(t->loop, i)); i++) {
        const Tile *x = made_tile(f, v->def->arg.p[0]);
        fn_line(f, "tile_sums_words_%s(late.%s, %s, %" PRId64 ");", elem_text(v->type.elem), hip_kept_name(f, i),
                x->name, 2 * x->count);
    }
    fn_line(f, "late.task = task, late.kept = true;");
}

/* A text is written at another depth. */
static void lines_at(Fn *f, const char *text, int deeper) {
    while (*text) {
        const size_t n = strcspn(text, "\n");
        text_printf(&f->body, "%*s%.*s\n", n ? 4 * deeper : 0, "", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

typedef struct {
    const Op *loop;
    int64_t size, lo, hi;
    const char *at;     /* where an iteration begins */
    const char *inside; /* text of the body, one deeper than the loop */
} Steps;

static void steps_loop(Fn *f, const Steps *s, const char *from, const char *to, int deeper) {
    fn_line(f, "#pragma unroll 1");
    fn_line(f, "for (int64_t %s = %s; %s < %s; %s += %" PRId64 ") {", s->at, from, s->at, to, s->at, s->size);
    lines_at(f, s->inside, deeper);
    fn_line(f, "}");
}

static void part_line(Fn *f, const LateText *t, const char *when, const char *part) {
    fn_line(f, "if (late.kept%s)", when);
    f->indent++;
    part_call(f, t, part);
    f->indent--;
}

/* A cut in one of the turns: groups do that as far apart as they can, one while the other's products run. */
static void turns_apart(Fn *f, const Steps *s, const LateText *t, const char *at, const char *part, int deeper) {
    const int64_t between = s->size * (t->every / f->hip->groups);
    fn_line(f, "#pragma unroll 1");
    fn_line(f, "for (int64_t %s = %s; %s < %s + %" PRId64 "; %s += %" PRId64 ") {", s->at, at, s->at, at,
            s->size * t->every, s->at, s->size);
    lines_at(f, s->inside, deeper);
    f->indent++;
    part_line(f, t, fn_text(f, " && %s == %s + %" PRId64 " * group", s->at, at, between), part);
    f->indent--;
    fn_line(f, "}");
}

/* Turns of products with a cut each, or with one in some of them. */
static int64_t steps_beside(Fn *f, const Steps *s, const LateText *t) {
    const int64_t apart = s->size * t->every, q = f->k->range.p[t->loop->range].size, each = apart * t->cuts;
    const int depth = f->indent;
    const char *part = parts_open(f, t), *at = t->every > 1 ? c_name(&f->names, fn_text(f, "%s_turn", s->at)) : s->at;
    const char *turn = t->cuts > 1 ? fn_text(f, " + %" PRId64 " * turn", apart) : "";
    const char *lo = s->lo ? fn_text(f, "%" PRId64 " + ", s->lo) : "";
    fn_line(f, "const int64_t %s = %s%" PRId64 " * (%s / %" PRId64 ")%s;", at, lo, each, part, q, turn);
    if (t->every > 1) {
        turns_apart(f, s, t, at, part, f->indent - depth);
    } else {
        lines_at(f, s->inside, f->indent - depth - 1);
        part_line(f, t, "", part);
    }
    parts_close(f, t);
    return s->lo + t->parts * each;
}

static char *body_text(Fn *f, const Op *loop) {
    const Text before = f->body;
    f->body = (Text){0};
    f->indent++;
    emit_region(f, loop->region[0]);
    f->indent--;
    Text inside = f->body;
    f->body = before;
    char *text = arena_copy(f->arena, text_str(&inside), strlen(text_str(&inside)) + 1);
    text_free(&inside);
    return text;
}

/* All at once where there are fewer turns. */
void hip_role_beside(Fn *f, const Op *loop) {
    const LateText *t = f->hip->role->beside;
    const CExpr *lo, *hi;
    Steps s = {.loop = loop, .size = f->k->range.p[loop->range].size};
    hip_role_turns_check(f, loop);
    emit_for_head(f, loop, &lo, &hi);
    const bool known =
        cexpr_const(lo, &s.lo) && cexpr_const(hi, &s.hi) && f->k->range.p[loop->range].kind == RANGE_TILE;
    if (!known || loop->ends) fn_unsupported(f, loop->loc, "a late loop beside one whose steps are no constant number");
    s.at = f->range[loop->range].begin->text;
    s.inside = body_text(f, loop);
    const bool fits = s.hi - s.lo >= s.size * t->loop->late * t->parts;
    if (!fits) hip_role_finish(f, t);
    const int64_t from = fits ? steps_beside(f, &s, t) : s.lo;
    if (from < s.hi) steps_loop(f, &s, fn_text(f, "%" PRId64, from), fn_text(f, "%" PRId64, s.hi), 0);
}
