/* relation_written.c: is every element of a result written exactly once, for all sizes?
   Takes: a kernel in value form. Gives: the first element that nothing writes, or that two instances of stores write.
   An instance is a tile number <letter><range> of each range around the store, and a position t<letter><range> of
   each range that a subscript names. Subscripts that are not affine are left out: the set of written elements is then
   too large, and such stores meet nobody. */
#include "ir/poly/relation_written.h"

#include "ir/poly/isl_context.h"
#include "ir/poly/relation_read.h"
#include "ir/poly/relation_text.h"

#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

enum { MAX_OPERATIONS = 1000000, MAX_STORES = 12 };

typedef struct {
    const Module *m;
    const Kernel *k;
    const Param *p;
    Arena *arena;
    isl_ctx *isl;
    int coord[MAX_AXES]; /* the first rank */
    VEC(const Op *) store;
    VEC(bool) exact;
} Cover;

/* ---- an instance of a store ---- */

/* Of the first rank where it is a block. */
static bool extent_write(const Cover *c, Text *t, Size s) {
    if (s.axis >= 0 && s.sym >= 0) return false;
    if (s.sym >= 0) relation_size(t, s);
    else text_printf(t, "%lld", (long long)size_eval(c->m, s, NULL, c->coord));
    return true;
}

static bool is_around(const Cover *c, const Op *store, int range) { return range < c->k->ngrid || range_loop(store, range); }

static bool names_position(const Op *store, int range) {
    for (int d = 0; d < store->sub.n; d++)
        for (int i = 0; i < store->sub.p[d].lo.nterm; i++) {
            const Term *t = &store->sub.p[d].lo.term[i];
            if (t->kind == TERM_POS && t->id == range) return true;
        }
    return false;
}

static bool write_grid(const Cover *c, RelationText *w, int r) {
    const Range *range = &c->k->range.p[r];
    int64_t size = range->kind == RANGE_TILE ? range->size : 1;
    bool whole = range->kind == RANGE_WHOLE;
    text_printf(w->text, " and %c%d >= 0 and ", w->letter, r);
    if (whole) text_printf(w->text, "%c%d < 1", w->letter, r);
    else {
        size_t mark = w->text->n;
        text_printf(w->text, "%lld*%c%d < ", (long long)size, w->letter, r);
        if (!extent_write(c, w->text, range->of)) return w->text->n = mark, text_add(w->text, "1 > 0"), false;
    }
    return range->owner < 0;
}

/* The positions of a tile of the grid. */
static bool write_grid_position(const Cover *c, RelationText *w, int r) {
    const Range *range = &c->k->range.p[r];
    size_t mark = w->text->n;
    if (range->kind != RANGE_WHOLE) {
        int64_t size = range->kind == RANGE_TILE ? range->size : 1;
        text_printf(w->text, " and t%c%d >= %lld*%c%d and t%c%d < %lld*%c%d + %lld", w->letter, r, (long long)size, w->letter, r, w->letter, r,
                    (long long)size, w->letter, r, (long long)size);
        mark = w->text->n;
    }
    text_printf(w->text, " and t%c%d >= 0 and t%c%d < ", w->letter, r, w->letter, r);
    if (extent_write(c, w->text, range->of)) return true;
    w->text->n = mark;
    return text_add(w->text, ""), false;
}

/* name < the loop's end: a value, or where a tile of another range ends. */
static bool write_below(const Cover *c, RelationText *w, const char *name, const Value *bound) {
    const Op *op = bound->def;
    size_t mark = w->text->n;
    if (op && op->kind == OP_END && op->range < c->k->ngrid) {
        const Range *r = &c->k->range.p[op->range];
        text_printf(w->text, " and %s < ", name);
        bool good = extent_write(c, w->text, r->of);
        if (good && r->kind != RANGE_WHOLE)
            text_printf(w->text, " and %s < %lld*%c%d + %lld", name, (long long)r->size, w->letter, op->range, (long long)r->size);
        if (good) return true;
    } else if (op && op->kind == OP_SIZE) {
        text_printf(w->text, " and %s < ", name);
        if (extent_write(c, w->text, op->size)) return true;
    } else {
        text_printf(w->text, " and %s < ", name);
        if (relation_value(w, bound)) return true;
    }
    w->text->n = mark;
    return text_add(w->text, ""), false;
}

/* A tile of a loop exists, and the positions in it. */
static bool write_loop(const Cover *c, RelationText *w, const Op *store, int r) {
    const Range *range = &c->k->range.p[r];
    const Op *loop = range_loop(store, r);
    Affine first;
    text_printf(w->text, " and %c%d >= 0", w->letter, r);
    if (range->kind == RANGE_WHOLE) text_printf(w->text, " and %c%d < 1", w->letter, r);
    if (!range_begin(c->m, c->k, r, store, &first) || !relation_can_write(w, &first)) return false;
    Text begin = {0}, *to = w->text;
    w->text = &begin;
    relation_affine(w, &first);
    w->text = to;
    bool good = write_below(c, w, text_str(&begin), loop->arg.p[1]);
    if (names_position(store, r)) {
        const char *name = arena_format(c->arena, "t%c%d", w->letter, r);
        text_printf(to, " and %s >= %s", name, text_str(&begin));
        if (range->kind != RANGE_WHOLE)
            text_printf(to, " and %s < %s + %lld", name, text_str(&begin), (long long)(range->kind == RANGE_TILE ? range->size : 1));
        good = write_below(c, w, name, loop->arg.p[1]) && good;
    }
    text_free(&begin);
    return good;
}

static bool write_term(const Cover *c, RelationText *w, const Term *t) {
    text_printf(w->text, t->div == 1 ? " + %lld*(" : " + %lld*floor((", (long long)t->mul);
    /* Tiles of a ragged range have each position once like others, and other numbers. */
    bool good = t->kind != TERM_INDEX || !range_is_ragged(c->k, t->id);
    if (t->kind == TERM_POS) text_printf(w->text, "t%c%d", w->letter, t->id);
    else if (t->kind == TERM_INDEX) text_printf(w->text, "%c%d", w->letter, t->id);
    else if (t->kind == TERM_SIZE) good = extent_write(c, w->text, t->size);
    else good = t->kind == TERM_VALUE && relation_value(w, t->value);
    if (t->div == 1) text_add(w->text, ")");
    else text_printf(w->text, ")/%lld)", (long long)t->div);
    return good;
}

static bool write_place(const Cover *c, RelationText *w, const Op *store, int d) {
    const Affine *a = &store->sub.p[d].lo;
    size_t mark = w->text->n;
    bool good = true;
    text_printf(w->text, " and x%d = %lld", d, (long long)a->c);
    for (int i = 0; i < a->nterm && good; i++) good = write_term(c, w, &a->term[i]);
    if (!good) w->text->n = mark, text_add(w->text, "");
    return good;
}

/* False where it is not all of it. */
static bool write_instance(const Cover *c, Text *text, char letter, const Op *store) {
    RelationText w = {.m = c->m, .k = c->k, .letter = letter, .coord = c->coord, .text = text};
    bool exact = true;
    for (int r = 0; r < c->k->range.n; r++) {
        if (!is_around(c, store, r)) {
            text_printf(text, " and %c%d = 0", letter, r);
        } else if (r < c->k->ngrid) {
            exact = write_grid(c, &w, r) && exact;
            if (names_position(store, r)) exact = write_grid_position(c, &w, r) && exact;
        } else exact = write_loop(c, &w, store, r) && exact;
        if (!names_position(store, r)) text_printf(text, " and t%c%d = 0", letter, r);
    }
    exact = relation_guards(&w, store) && exact;
    for (int d = 0; d < store->sub.n; d++) exact = write_place(c, &w, store, d) && exact;
    return exact;
}

static bool write_elements(const Cover *c, Text *t) {
    bool good = true;
    for (int d = 0; d < c->p->ndim && good; d++) {
        text_printf(t, " and x%d >= 0 and x%d < ", d, d);
        good = extent_write(c, t, c->p->dim[d]);
    }
    return good;
}

/* ---- sets ---- */

static void write_params(const Cover *c, Text *t) {
    bool some = false;
    text_add(t, "[");
    relation_names(t, "n", c->m->symbol.n, &some);
    text_add(t, "] -> { [");
}

static void write_names(const Cover *c, Text *t, char letter, bool *some) {
    char tile[] = {letter, 0}, position[] = {'t', letter, 0};
    relation_names(t, tile, c->k->range.n, some);
    relation_names(t, position, c->k->range.n, some);
}

static isl_set *set_read(const Cover *c, Text *t) {
    isl_set *set = relation_read(c->isl, text_str(t));
    text_free(t);
    isl_context_check(c->isl);
    return set;
}

/* Elements of the result; NULL: not affine. */
static isl_set *elements_set(const Cover *c) {
    Text t = {0};
    bool some = false;
    write_params(c, &t);
    relation_names(&t, "x", c->p->ndim, &some);
    text_add(&t, "] : 1 > 0");
    relation_symbols(&t, c->m);
    bool good = write_elements(c, &t);
    text_add(&t, " }");
    if (good) return set_read(c, &t);
    text_free(&t);
    return NULL;
}

static isl_set *written_set(Cover *c, const Op *store, bool *exact) {
    Text t = {0};
    bool some = false;
    write_params(c, &t);
    relation_names(&t, "x", c->p->ndim, &some);
    text_add(&t, "] : exists (");
    some = false;
    write_names(c, &t, 'p', &some);
    text_add(&t, some ? " : 1 > 0" : "e : e = 0");
    *exact = write_instance(c, &t, 'p', store);
    text_add(&t, ") }");
    return set_read(c, &t);
}

/* ---- examples ---- */

static long long number_at(isl_point *at, int pos) {
    isl_val *v = isl_point_get_coordinate_val(at, isl_dim_set, pos);
    long long n = v ? isl_val_get_num_si(v) : 0;
    isl_val_free(v);
    return n;
}

static const char *numbers_text(const Cover *c, isl_point *at, int first, int n) {
    const char *text = "";
    for (int d = 0; d < n; d++) text = arena_format(c->arena, "%s%s%lld", text, d ? ", " : "", number_at(at, first + d));
    return text;
}

static const char *task_text(const Cover *c, isl_point *at, int first) {
    const char *text = "";
    for (int i = 0; i < c->k->ngrid; i++)
        text = arena_format(c->arena, "%s%s%s %lld", text, i ? ", " : "", c->k->range.p[i].name, number_at(at, first + i));
    return text;
}

static bool has_symbol(const Cover *c, int symbol) {
    for (int i = 0; i < c->k->range.n; i++)
        if (c->k->range.p[i].grid && c->k->range.p[i].of.sym == symbol) return true;
    for (int d = 0; d < c->p->ndim; d++)
        if (c->p->dim[d].sym == symbol) return true;
    return false;
}

static const char *sizes_text(const Cover *c, isl_point *at) {
    const char *text = "";
    for (int i = 0; i < c->m->symbol.n; i++)
        if (has_symbol(c, i)) text = arena_format(c->arena, "%s%s%s = %lld", text, *text ? ", " : "", c->m->symbol.p[i].name, number_at(at, i));
    return text;
}

/* The first point, of the smallest sizes. Takes the set; NULL: none, or it cannot be told. */
static isl_point *first_point(const Cover *c, isl_set *set) {
    int sizes = c->m->symbol.n;
    if (sizes) set = isl_set_move_dims(set, isl_dim_set, 0, isl_dim_param, 0, (unsigned)sizes);
    isl_point *at = isl_set_sample_point(isl_set_lexmin(set));
    isl_context_check(c->isl);
    if (at && isl_point_is_void(at) == isl_bool_false) return at;
    isl_point_free(at);
    return NULL;
}

/* ---- the two questions ---- */

static bool all_written(Cover *c, CoverFault *f) {
    isl_set *left = elements_set(c);
    for (int i = 0; i < c->store.n; i++) {
        bool exact;
        isl_set *written = written_set(c, c->store.p[i], &exact);
        vec_push(c->arena, &c->exact, exact && written);
        if (left) left = isl_set_coalesce(isl_set_subtract(left, written));
        else isl_set_free(written);
    }
    isl_context_check(c->isl);
    isl_point *at = left ? first_point(c, left) : NULL;
    if (!at) return true;
    *f = (CoverFault){.store = c->store.p[0], .sizes = sizes_text(c, at), .element = numbers_text(c, at, c->m->symbol.n, c->p->ndim)};
    isl_point_free(at);
    return false;
}

static isl_set *meeting_set(const Cover *c, const Op *a, const Op *b) {
    Text t = {0};
    bool some = false;
    write_params(c, &t);
    relation_names(&t, "x", c->p->ndim, &some);
    write_names(c, &t, 'p', &some);
    write_names(c, &t, 'c', &some);
    text_add(&t, "] : 1 > 0");
    relation_symbols(&t, c->m);
    write_elements(c, &t);
    write_instance(c, &t, 'p', a);
    write_instance(c, &t, 'c', b);
    if (a == b) {
        text_add(&t, " and (1 < 0");
        for (int r = 0; r < c->k->range.n; r++) {
            if (is_around(c, a, r)) text_printf(&t, " or p%d < c%d", r, r);
            if (names_position(a, r)) text_printf(&t, " or tp%d < tc%d", r, r);
        }
        text_add(&t, ")");
    }
    text_add(&t, " }");
    return set_read(c, &t);
}

static bool never_meet(const Cover *c, const Op *a, const Op *b, CoverFault *f) {
    isl_ctx_reset_operations(c->isl);
    isl_point *at = first_point(c, meeting_set(c, a, b));
    if (!at) return true;
    int first = c->m->symbol.n, n = c->k->range.n;
    *f = (CoverFault){.store = a,
                      .other = b,
                      .sizes = sizes_text(c, at),
                      .element = numbers_text(c, at, first, c->p->ndim),
                      .writer = task_text(c, at, first + c->p->ndim),
                      .rewriter = task_text(c, at, first + c->p->ndim + 2 * n)};
    isl_point_free(at);
    return false;
}

static bool none_twice(const Cover *c, CoverFault *f) {
    for (int i = 0; i < c->store.n; i++)
        for (int j = 0; j <= i; j++)
            if (c->exact.p[i] && c->exact.p[j] && !never_meet(c, c->store.p[j], c->store.p[i], f)) return false;
    return true;
}

/* ---- the stores ---- */

static void stores_find(Cover *c, const Region *r, int param) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_STORE && op->param == param) vec_push(c->arena, &c->store, op);
}

/* One store at the positions of the grid, each of which runs over its dimension. */
static bool is_plain(const Cover *c) {
    const Op *op = c->store.p[0];
    bool seen[MAX_RANGES] = {0};
    int named = 0;
    if (c->store.n != 1 || op->in->parent) return false;
    for (int d = 0; d < op->sub.n; d++) {
        int r = affine_position(&op->sub.p[d].lo);
        if (r < 0 || r >= c->k->ngrid || seen[r] || !size_equal(c->k->range.p[r].of, c->p->dim[d])) return false;
        seen[r] = true, named++;
    }
    return named == c->k->ngrid;
}

bool cover_holds(const Module *m, const Kernel *k, int param, Arena *arena, CoverFault *f) {
    Cover c = {.m = m, .k = k, .p = &k->param.p[param], .arena = arena};
    stores_find(&c, k->body, param);
    if (c.store.n == 0 || c.store.n > MAX_STORES || c.p->ranks >= 0 || is_plain(&c)) return true;
    c.isl = isl_context_open(MAX_OPERATIONS);
    bool good = all_written(&c, f) && none_twice(&c, f);
    isl_context_close(c.isl);
    return good;
}
