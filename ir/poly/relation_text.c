/* relation_text.c: boxes, grids and tensors written as constraints that isl reads. Terms that are not affine are left
   out: the relation then holds more, never less. */
#include "ir/poly/relation_text.h"

static bool terms_can_write(const Affine *);

/* v = of mod by, as the ring of `permute` has it. */
static bool value_is_mod(const RelationText *w, const Value *v, Affine *of, int64_t *by) {
    const Op *op = v->def;
    if (!op || op->kind != OP_MOD || !op->arg.p[1]->def || op->arg.p[1]->def->kind != OP_CONST) return false;
    *by = op->arg.p[1]->def->imm;
    return *by > 0 && relation_fits(w->m, w->k, op->arg.p[0]) && value_affine(w->m, w->k, op->arg.p[0], of) && terms_can_write(of);
}

static void write_variable(RelationText *w, const Term *t) {
    Affine of;
    int64_t by;
    if (t->kind == TERM_INDEX) text_printf(w->text, "%c%d", w->letter, t->id);
    else if (t->kind == TERM_RANK && w->coord) text_printf(w->text, "%d", w->coord[t->id]);
    else if (t->kind == TERM_RANK) text_printf(w->text, "%cr%d", w->letter, t->id);
    else if (t->kind == TERM_SIZE) relation_size(w->text, t->size);
    else if (value_is_mod(w, t->value, &of, &by)) {
        text_add(w->text, "((");
        relation_affine(w, &of);
        text_printf(w->text, ") mod %lld)", (long long)by);
    } else {
        int i = 0;
        while (i < w->nvalue && w->value[i] != t->value->id) i++;
        if (i == w->nvalue && i < MAX_VALUES) w->value[w->nvalue++] = t->value->id;
        text_printf(w->text, "v%d", t->value->id);
    }
}

static bool term_can_write(const Term *t) {
    return t->kind == TERM_INDEX || t->kind == TERM_RANK || (t->kind == TERM_SIZE && t->size.axis < 0);
}

static bool terms_can_write(const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (!term_can_write(&a->term[i])) return false;
    return true;
}

bool relation_can_write(const RelationText *w, const Affine *a) {
    Affine of;
    int64_t by;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        bool value = t->kind == TERM_VALUE && (w->values || value_is_mod(w, t->value, &of, &by));
        if (!value && !term_can_write(t)) return false;
    }
    return true;
}

static bool is_number(const RelationText *w, const Term *t) { return t->kind == TERM_RANK && w->coord; }

void relation_affine(RelationText *w, const Affine *a) {
    int64_t c = a->c;
    for (int i = 0; i < a->nterm; i++)
        if (is_number(w, &a->term[i])) c += a->term[i].mul * int_floor_div(w->coord[a->term[i].id], a->term[i].div);
    text_printf(w->text, "%lld", (long long)c);
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (is_number(w, t)) continue;
        text_printf(w->text, t->div == 1 ? " + %lld*(" : " + %lld*floor((", (long long)t->mul);
        write_variable(w, t);
        if (t->div == 1) text_add(w->text, ")");
        else text_printf(w->text, ")/%lld)", (long long)t->div);
    }
}

void relation_size(Text *t, Size s) {
    text_printf(t, "%lld", (long long)s.c);
    if (s.sym >= 0) text_printf(t, " + n%d", s.sym);
}

void relation_box(RelationText *w, const Box *b, const char *x, int d) {
    if (!b->known || !relation_can_write(w, &b->start)) return;
    text_printf(w->text, " and %s%d >= ", x, d);
    relation_affine(w, &b->start);
    text_printf(w->text, " and %s%d < %lld + ", x, d, (long long)b->extent);
    relation_affine(w, &b->start);
}

/* - rank*B for each axis of the split that `in` does not have: where the block lies in that of `in`. The last rank is the
   owner's position, where there is one. */
static void write_origin(RelationText *w, const Range *r, Size in) {
    for (Size block = r->of; !size_equal(block, in); block = size_gathered(block)) {
        Term rank = {.kind = TERM_RANK, .id = (int16_t)axes_last(block.axis)};
        if (r->owner >= 0 && size_equal(block, r->of)) rank = (Term){.kind = TERM_INDEX, .id = r->owner};
        text_printf(w->text, " - %lld*", (long long)size_block(w->m, block, NULL));
        write_variable(w, &rank);
    }
}

/* Of a split extent: tiles of a block, and of what this rank has of it; of a run-time one, of the largest block. */
static void write_split(RelationText *w, int range) {
    const Range *r = &w->k->range.p[range];
    if (r->of.sym >= 0) {
        text_printf(w->text, " and %lld*%c%d < %lld", (long long)r->size, w->letter, range, (long long)size_bound(w->m, r->of));
        return;
    }
    for (Size in = r->of;; in = size_gathered(in)) {
        text_printf(w->text, " and %lld*%c%d < %lld", (long long)r->size, w->letter, range,
                    (long long)size_block(w->m, in, NULL));
        write_origin(w, r, in);
        if (in.axis < 0) return;
    }
}

static void write_end(RelationText *w, const Box *b, const char *x, int d, Size end) {
    text_printf(w->text, " and %s%d < ", x, d);
    relation_affine(w, &b->base);
    text_add(w->text, " + ");
    relation_size(w->text, end);
}

static void write_block_end(RelationText *w, const Box *b, const char *x, int d, const Range *r) {
    for (Size in = r->of;; in = size_gathered(in)) {
        write_end(w, b, x, d, size_number(size_block(w->m, in, NULL)));
        write_origin(w, r, in);
        if (in.axis < 0) return;
    }
}

bool relation_end(RelationText *w, const Box *b, const char *x, int d) {
    const Range *r = b->unit ? &w->k->range.p[b->unit - 1] : NULL;
    bool known = b->known && relation_can_write(w, &b->base), whole = r && r->grid && r->of.axis < 0;
    if (b->extent == 1) return known;
    if (known && whole) write_end(w, b, x, d, r->of);
    else if (known && r && r->grid && r->of.sym < 0) write_block_end(w, b, x, d, r);
    else if (known && b->length < INT64_MAX) write_end(w, b, x, d, size_number(b->length));
    else return false;
    return true;
}

/* A ragged range has a task more for each group. */
static void write_groups(RelationText *w, int range) {
    if (!range_is_ragged(w->k, range)) return;
    text_printf(w->text, " + %lld*(", (long long)w->k->range.p[range].size);
    relation_size(w->text, range_groups(w->k, range));
    text_add(w->text, ")");
}

void relation_ranges(RelationText *w) {
    for (int i = 0; i < w->k->range.n; i++) {
        const Range *r = &w->k->range.p[i];
        text_printf(w->text, " and %c%d >= 0", w->letter, i);
        if (r->grid && r->kind == RANGE_WHOLE) text_printf(w->text, " and %c%d < 1", w->letter, i);
        if (!r->grid || r->kind == RANGE_WHOLE) continue;
        if (r->of.axis >= 0) {
            write_split(w, i);
            continue;
        }
        text_printf(w->text, " and %lld*%c%d < ", (long long)r->size, w->letter, i);
        relation_size(w->text, r->of);
        write_groups(w, i);
    }
}

/* There is one task at least. With max, a run-time size has two cases; with `or`, each range that has it would have two. */
void relation_tasks(RelationText *w) {
    for (int i = 0; i < w->k->range.n; i++) {
        const Range *r = &w->k->range.p[i];
        int64_t bound = size_bound(w->m, r->of);
        text_printf(w->text, " and %c%d >= 0", w->letter, i);
        if (!r->grid) continue;
        text_printf(w->text, " and %lld*%c%d < ", (long long)(r->kind == RANGE_WHOLE ? 1 : r->size), w->letter, i);
        bool number = r->kind == RANGE_WHOLE || r->of.axis >= 0 || r->of.sym < 0;
        if (!number) text_add(w->text, "max(1, ");
        if (!number) relation_size(w->text, r->of);
        else text_printf(w->text, "%lld", r->kind == RANGE_WHOLE || bound < 1 ? 1LL : (long long)bound);
        if (!number) text_add(w->text, ")");
        write_groups(w, i);
    }
}

void relation_tensor(RelationText *w, const Tensor *t) {
    if (t->symmetric >= 0) text_printf(w->text, " and 0 <= m0 < %lld", (long long)w->m->axis.p[t->symmetric].ranks);
    for (int d = 0; d < t->ndim; d++) {
        text_printf(w->text, " and x%d >= 0", d);
        if (t->dim[d].axis >= 0) continue;
        text_printf(w->text, " and x%d < ", d);
        relation_size(w->text, t->dim[d]);
    }
}

/* In terms of the ranks and of m0, which has the memory. */
static void write_block(RelationText *w, const Tensor *t, int d, Size in) {
    text_printf(w->text, " and x%d < %lld", d, (long long)size_block(w->m, in, NULL));
    for (Size block = t->dim[d]; !size_equal(block, in); block = size_gathered(block)) {
        Term rank = {.kind = TERM_RANK, .id = (int16_t)axes_last(block.axis)};
        text_printf(w->text, " - %lld*", (long long)size_block(w->m, block, NULL));
        if (rank.id == t->symmetric) text_add(w->text, "m0");
        else write_variable(w, &rank);
    }
}

void relation_blocks(RelationText *w, const Tensor *t) {
    for (int d = 0; d < t->ndim; d++) {
        if (t->dim[d].sym >= 0 || t->dim[d].axis < 0) continue;
        write_block(w, t, d, t->dim[d]);
        for (Size in = t->dim[d]; in.axis >= 0; in = size_gathered(in)) write_block(w, t, d, size_gathered(in));
    }
}

void relation_names(Text *t, const char *stem, int n, bool *some) {
    for (int i = 0; i < n; i++, *some = true) text_printf(t, "%s%s%d", *some ? ", " : "", stem, i);
}

void relation_symbols(Text *t, const Module *m) {
    for (int i = 0; i < m->symbol.n; i++)
        text_printf(t, " and 0 <= n%d <= %lld", i, (long long)m->symbol.p[i].bound);
}
