/* stream.c: the operands of products are tiles of rings: those of one product, if one block loads them, come by one.
   Takes: a kernel that fits. Gives: its streams, with the places where a slot is filled and given back. */
#include "passes/roles/slice.h"
#include "base/require.h"

#include <string.h>

/* The operation of the block that is op, or has it in its regions. */
static const Op *op_in_block(const Op *op, const Region *block) {
    while (op->in != block) op = op->in->parent;
    return op;
}

/* ---- which tile of which stream ---- */

static void tile_name(Slice *s, const Op *load, int stream, int slot) {
    s->stream_of[load->res.p[0]->id] = 1 + stream;
    s->slot_of[load->res.p[0]->id] = slot;
}

/* How it is copied: the first way that fits. */
typedef struct {
    const char *why; /* why it is no box */
    Panel panel;
    bool pixels;
} Way;

static void tile_add(Slice *s, const Op *load, int stream, Way way) {
    Stream *t = &s->stream.p[stream];
    tile_name(s, load, stream, t->load.n);
    vec_push(s->scratch, &t->load, load);
    vec_push(s->scratch, &t->panel, way.panel);
    vec_push(s->scratch, &t->why, way.why);
    vec_push(s->scratch, &t->pixels, way.pixels);
}

static bool is_inside(const Op *op, const Op *loop) {
    while (op && op != loop) op = op->in->parent;
    return op != NULL;
}

static bool place_changes(const Affine *a, const Op *loop) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->kind == TERM_VALUE && (!t->value->def || is_inside(t->value->def, loop))) return true;
    }
    return affine_follows(a, loop->range);
}

/* The operation in front of which it is loaded: of products in a chain, a tile that no step changes comes once. */
static const Op *load_home(const Slice *s, const Op *load) {
    const Op *home = load;
    for (const Op *loop = load->in->parent; s->chained && loop && loop->kind == OP_FOR; loop = loop->in->parent) {
        for (int d = 0; d < load->sub.n; d++)
            if (place_changes(&load->sub.p[d].lo, loop)) return home;
        home = loop;
    }
    return home;
}

/* One block brings both. */
static bool loads_equal(const Slice *s, const Op *a, const Op *b) {
    const bool together = a->in == b->in || load_home(s, a)->in == load_home(s, b)->in;
    return together && a->param == b->param && access_equal(a, b);
}

/* The tile of an equal load, which is already one; false: there is none. */
static bool tile_again(Slice *s, const Op *load) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++)
            if (loads_equal(s, s->stream.p[i].load.p[n], load)) {
                tile_name(s, load, i, n);
                return true;
            }
    return false;
}

SlotFill stream_fill(const Stream *t, int n) { return t->pixels.p[n] ? FILL_PIXELS : t->fill; }

static int stream_new(Slice *s, const Region *at, SlotFill fill) {
    vec_push(s->scratch, &s->stream, ((Stream){.at = at, .fill = fill}));
    return s->stream.n - 1;
}

static bool joins(const Slice *s, const Region *at, int stream, SlotFill fill) {
    return stream >= 0 && s->stream.p[stream].at == at && s->stream.p[stream].fill == fill;
}

/* Neither a loop nor a condition lies between: those may copy, too. */
static bool follows_straight(const Op *from, const Op *to) {
    for (const Op *op = from; op && op->kind != OP_FOR && op->kind != OP_IF; op = op->next)
        if (op == to) return true;
    return false;
}

/* The stream of the product's other operand, if the same block loads it in the same way; else that of an operand which
   another product has in the place of this one: two products of one operand. */
static int stream_beside(const Slice *s, const Op *load, const Region *at, const Op *dot, int i, SlotFill fill) {
    const Value *other = product_operand(dot, !i);
    for (int side = 0; side < 2; side++) {
        const Loads l = operand_loads(s, dot, side ? i : !i);
        for (int n = 0; n < l.n; n++)
            if (joins(s, at, s->stream_of[l.load[n]->res.p[0]->id] - 1, fill))
                return s->stream_of[l.load[n]->res.p[0]->id] - 1;
    }
    for (int u = 0; u < 2 * s->dot.n && !s->chained; u++) {
        const Op *another = s->dot.p[u / 2];
        int n = s->stream_of[product_operand(another, u % 2)->id] - 1;
        if (product_operand(another, !(u % 2)) == other && joins(s, at, n, fill) &&
            follows_straight(s->stream.p[n].load.p[0], load))
            return n;
    }
    return -1;
}

/* An instruction reads 8-bit elements along the summed range alone. */
static bool refuse_across(Slice *s, const Op *load, int kept, int over) {
    const Range *r = s->k->range.p;
    return slice_refuse(s, load, "store it the other way round, [.., n, k]",
                        "rows of '%s' lie along '%s': 8-bit operands have rows along what is summed, [.., %s, %s]",
                        s->k->param.p[load->param].name, r[kept].name, r[kept].name, r[over].name);
}

static bool find_way(Slice *s, const Op *load, int kept, int over, Way *way) {
    const Reason why = box_why(s, load, kept, over, &way->panel);
    *way = (Way){.why = why.words, .panel = way->panel, .pixels = why.words && box_is_pixels(s, load, kept, over)};
    if (way->pixels) *way = (Way){.panel = PANEL_K128, .pixels = true};
    const char *no_rows = NULL;
    if (way->why) no_rows = rows_why(s, load, kept, over, &way->panel);
    if (no_rows && s->chained) return slice_refuse(s, load, why.fix, "%s", way->why);
    if (no_rows && strcmp(no_rows, way->why) == 0) return slice_refuse(s, load, why.fix, "%s", way->why);
    if (no_rows) return slice_refuse(s, load, why.fix, "%s; and row by row, %s", way->why, no_rows);
    return way->panel == PANEL_K128 || elem_bits(load->res.p[0]->type.elem) == 16 || refuse_across(s, load, kept, over);
}

/* A product that is left out would leave its slot to be given back by threads that did not meet. */
static bool multiplies_always(Slice *s, const Op *dot, const Op *load) {
    for (const Region *r = dot->in; r != load->in; r = r->parent->in)
        if (r->parent->kind == OP_IF)
            return slice_refuse(s, r->parent, "load what is multiplied under the condition, too",
                                "a product is under a condition, and its loads are not");
    return true;
}

/* Of products in a chain: where the other operand is computed, rows of the slot behind the loop's end are zeroed. */
static bool tail_fits(Slice *s, const Op *dot, int i) {
    if (!s->chained || operand_is_made(dot, !i)) return true;
    const Op *load = product_operand(dot, i)->def;
    const Reason why = box_tail(s, load, dot->over[0]);
    return !why.words || slice_refuse(s, load, why.fix, "%s", why.words);
}

static bool take_load(Slice *s, const Op *dot, int i, const Op *load) {
    int kept = type_has(load->res.p[0]->type, s->row) ? s->row : dot_column(s, dot);
    Way way;
    if (!multiplies_always(s, dot, load) || !tail_fits(s, dot, i)) return false;
    if (s->stream_of[load->res.p[0]->id] || tile_again(s, load)) return true;
    if (!find_way(s, load, kept, dot->over[0], &way)) return false;
    if (operand_is_made(dot, i)) way.panel = made_panel(s, load);
    SlotFill fill = way.why ? FILL_ROWS : FILL_BOX;
    const Region *at = load_home(s, load)->in;
    int stream = stream_beside(s, load, at, dot, i, fill);
    tile_add(s, load, stream < 0 ? stream_new(s, at, fill) : stream, way);
    return true;
}

/* With those of the same block. */
static void take_line(Slice *s, const Op *load) {
    int stream = s->stream.n - 1;
    if (tile_again(s, load)) return;
    while (stream >= 0 && (s->stream.p[stream].panel.p[0] != PANEL_LINE || s->stream.p[stream].at != load->in))
        stream--;
    tile_add(s, load, stream < 0 ? stream_new(s, load->in, FILL_BOX) : stream, (Way){.panel = PANEL_LINE});
}

static bool take_operand(Slice *s, const Op *dot, int i) {
    if (s->chained && operand_is_made(dot, i)) return true;
    if (operand_is_made(dot, i) && !made_fits(s, dot, i)) return false;
    const Loads l = operand_loads(s, dot, i);
    for (int n = 0; n < l.n; n++)
        if (!take_load(s, dot, i, l.load[n])) return false;
    return true;
}

/* ---- where slots are filled, and where they are given back ---- */

static const Op *later(const Op *a, const Op *b) {
    for (const Op *op = a; op; op = op->next)
        if (op == b) return b;
    return a ? a : b;
}

/* Nothing but operands is made of it: no tile that is summed or stored (fits.c). What is no operand is read at once. */
static void check_uses(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        for (int n = 0; n < s->op.p[i]->arg.n; n++) {
            const Op *by = s->op.p[i];
            const Op *def = by->arg.p[n]->def;
            REQUIRE(!s->stream_of[by->arg.p[n]->id] || (def && slice_is_line(s, def)) || by->kind == OP_DOT ||
                    by->kind == OP_CAST || (s->makes && op_is_elementwise(by)));
        }
}

static void find_frees(Slice *s) {
    check_uses(s);
    for (int i = 0; i < s->dot.n; i++)
        for (int n = 0; n < 2; n++) {
            const Loads l = operand_loads(s, s->dot.p[i], n);
            for (int u = 0; u < l.n; u++) {
                Stream *t = &s->stream.p[s->stream_of[l.load[u]->res.p[0]->id] - 1];
                t->free = later(t->free, op_in_block(s->dot.p[i], t->at));
            }
        }
    for (int i = 0; i < s->op.n; i++)
        if (slice_is_line(s, s->op.p[i])) s->stream.p[s->stream_of[s->op.p[i]->res.p[0]->id] - 1].free = s->op.p[i];
}

/* Of equal loads of a tile the one that brings it. */
static bool is_first(const Stream *t, const Op *load) {
    for (int i = 0; i < t->load.n; i++)
        if (t->load.p[i] == load) return true;
    return false;
}

static void find_puts(Slice *s) {
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        int n = op->res.n ? s->stream_of[op->res.p[0]->id] - 1 : -1;
        if (n < 0 || (s->chained && s->stream.p[n].put && !is_first(&s->stream.p[n], op))) continue;
        s->stream.p[n].put = load_home(s, op);
        if (!s->stream.p[n].get) s->stream.p[n].get = s->stream.p[n].put;
    }
}

/* The role that copies fills a slot behind the last load of its tiles, the groups that multiply wait at the first one:
   a loop between that copies, too, could need more slots than there are. */
static bool loads_together(Slice *s, const Stream *t) {
    for (const Op *op = t->get; op != t->put; op = op->next)
        if ((op->kind == OP_FOR || op->kind == OP_IF) && slice_copies(s, op))
            return slice_refuse(s, op, "load both operands right before their product",
                                "between loads of one product lies a loop or a condition with others");
    return true;
}

bool slice_streams(Slice *s) {
    s->stream_of = ARENA_ARRAY(s->scratch, int, s->k->nvalue + 1);
    s->slot_of = ARENA_ARRAY(s->scratch, int, s->k->nvalue + 1);
    for (int i = 0; i < s->dot.n; i++)
        for (int n = 0; n < 2; n++)
            if (!take_operand(s, s->dot.p[i], n)) return false;
    for (int i = 0; i < s->op.n; i++)
        if (slice_takes_line(s, s->op.p[i])) take_line(s, s->op.p[i]);
    find_puts(s);
    find_frees(s);
    for (int i = 0; i < s->stream.n; i++)
        if (!loads_together(s, &s->stream.p[i])) return false;
    return true;
}
