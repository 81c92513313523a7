/* relation_self.c: kernels that read their own results: is every element written before it is read?
   Takes: a kernel in value form. Gives: the first two accesses of which that is not so for all sizes, with an example.
   Instances are ordered by the grid, the last range fastest, then by the loops around both, then by the text. */
#include "ir/poly/relation_self.h"

#include "ir/poly/isl_context.h"
#include "ir/poly/relation_read.h"
#include "ir/poly/relation_text.h"

#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

enum { MAX_OPERATIONS = 2000000, MAX_DEPTH = 64, MAX_PERMUTED = 4 };

typedef VEC(const Op *) Ops;

typedef struct {
    const Module *m;
    const Kernel *k;
    Arena *arena;
    isl_ctx *isl;
    int param;
    Ops write, read;
    int order[MAX_RANGES]; /* of the grid's ranges, slowest first */
    int coord[MAX_AXES];   /* the first rank: no other has more */
} Self;

/* A write and a read of one element, as constraints. */
typedef struct {
    const Self *s;
    const Op *write, *read;
    bool certain;
    Text text;
} Meeting;

static void accesses_find(Self *s, const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        if (op_info[op->kind].class == CLASS_MEMORY && op->param == s->param)
            vec_push(s->arena, op->kind == OP_STORE ? &s->write : &s->read, op);
        accesses_find(s, op->region[0]);
        if (op->kind == OP_IF) accesses_find(s, op->region[1]);
    }
}

/* ---- constraints ---- */

static void write_instance(Meeting *m, char letter, const Op *op) {
    const Self *s = m->s;
    RelationText w = {.m = s->m, .k = s->k, .letter = letter, .coord = s->coord, .text = &m->text};
    relation_ranges(&w);
    relation_loops(&w, op);
    const Param *p = &s->k->param.p[s->param];
    for (int d = 0; d < p->ndim; d++) {
        Box b = subscript_box(s->m, s->k, op, d);
        m->certain = m->certain && b.known && relation_can_write(&w, &b.start);
        relation_box(&w, &b, "x", d);
    }
}

static void write_elements(Meeting *m) {
    const Param *p = &m->s->k->param.p[m->s->param];
    for (int d = 0; d < p->ndim; d++) {
        text_printf(&m->text, " and x%d >= 0 and x%d < ", d, d);
        relation_size(&m->text, size_whole(p->dim[d]));
    }
}

static isl_set *set_of(const Meeting *m, const char *also) {
    const Self *s = m->s;
    Text t = {0};
    bool some = false;
    text_add(&t, "[");
    relation_names(&t, "n", s->m->symbol.n, &some);
    text_add(&t, "] -> { [");
    some = false;
    relation_names(&t, "p", s->k->range.n, &some);
    relation_names(&t, "c", s->k->range.n, &some);
    relation_names(&t, "x", s->k->param.p[s->param].ndim, &some);
    text_add(&t, "] : 1 > 0");
    relation_symbols(&t, s->m);
    text_add(&t, m->text.n ? m->text.p : "");
    text_add(&t, also);
    text_add(&t, " }");
    isl_ctx_reset_operations(s->isl);
    isl_set *set = relation_read(s->isl, text_str(&t));
    text_free(&t);
    return set;
}

/* ---- an example ---- */

static int64_t number_at(isl_point *at, int pos) {
    isl_val *v = isl_point_get_coordinate_val(at, isl_dim_set, pos);
    int64_t n = v ? isl_val_get_num_si(v) : 0;
    isl_val_free(v);
    return n;
}

static const char *task_text(const Self *s, isl_point *at, int first) {
    const char *text = "";
    for (int i = 0; i < s->k->ngrid; i++)
        text = arena_format(s->arena, "%s%s%s %lld", text, i ? ", " : "", s->k->range.p[i].name, (long long)number_at(at, first + i));
    return text;
}

static const char *element_text(const Self *s, isl_point *at, int first) {
    const char *text = "";
    for (int d = 0; d < s->k->param.p[s->param].ndim; d++)
        text = arena_format(s->arena, "%s%s%lld", text, d ? ", " : "", (long long)number_at(at, first + d));
    return text;
}

static void example_take(const Self *s, isl_set *set, SelfFault *f) {
    isl_point *at = isl_set_sample_point(set);
    if (at && isl_point_is_void(at) == isl_bool_false) {
        f->writer = task_text(s, at, 0);
        f->reader = task_text(s, at, s->k->range.n);
        f->element = element_text(s, at, 2 * s->k->range.n);
    }
    isl_point_free(at);
}

/* ---- order ---- */

static int loops_around(const Op *op, const Op **loop) {
    int n = 0, half;
    for (const Op *up = op->in->parent; up && n < MAX_DEPTH; up = up->in->parent)
        if (up->kind == OP_FOR) loop[n++] = up;
    half = n / 2;
    for (int i = 0; i < half; i++) {
        const Op *held = loop[i];
        loop[i] = loop[n - 1 - i], loop[n - 1 - i] = held;
    }
    return n;
}

/* Ranges that order instances of both: the grid's, then those of the loops that they share. */
static int shared_ranges(const Meeting *m, int *range) {
    const Op *a[MAX_DEPTH], *b[MAX_DEPTH];
    int na = loops_around(m->write, a), nb = loops_around(m->read, b), n = 0;
    for (; n < m->s->k->ngrid; n++) range[n] = m->s->order[n];
    for (int i = 0; i < na && i < nb && a[i] == b[i]; i++) range[n++] = a[i]->range;
    return n;
}

/* Or in another branch of a condition: then only one of the two is executed. */
static bool stands_before(const Op *a, const Op *b) {
    for (const Op *x = a; x; x = x->in->parent)
        for (const Op *y = b; y; y = y->in->parent) {
            if (x == y) return true;
            if (x->in != y->in) continue;
            while (x && x != y) x = x->next;
            return x != NULL;
        }
    return false;
}

/* Instances that agree in the first n shared ranges, of which the write is later in the next: none? */
static bool none_later(const Meeting *m, const int *range, int n, bool all, SelfFault *f) {
    Text also = {0};
    for (int i = 0; i < n; i++) text_printf(&also, " and p%d = c%d", range[i], range[i]);
    if (!all) text_printf(&also, " and p%d > c%d", range[n], range[n]);
    isl_set *set = set_of(m, text_str(&also));
    text_free(&also);
    bool empty = isl_set_is_empty(set) == isl_bool_true;
    isl_context_check(m->s->isl);
    if (empty) isl_set_free(set);
    else {
        *f = (SelfFault){.write = m->write, .read = m->read, .certain = m->certain};
        example_take(m->s, set, f);
    }
    return empty;
}

static bool pair_holds(const Self *s, const Op *write, const Op *read, SelfFault *f) {
    Meeting m = {.s = s, .write = write, .read = read, .certain = true};
    int range[MAX_RANGES + MAX_DEPTH], n = shared_ranges(&m, range);
    write_instance(&m, 'p', write);
    write_instance(&m, 'c', read);
    write_elements(&m);
    bool good = true;
    for (int i = 0; i < n && good; i++) good = none_later(&m, range, i, false, f);
    if (good && !stands_before(write, read)) good = none_later(&m, range, n, true, f);
    text_free(&m.text);
    return good;
}

static Self self_begin(const Module *m, const Kernel *k, int param, Arena *arena) {
    Self s = {.m = m, .k = k, .param = param, .arena = arena, .isl = isl_context_open(MAX_OPERATIONS)};
    for (int i = 0; i < k->ngrid; i++) s.order[i] = i;
    accesses_find(&s, k->body);
    return s;
}

static bool order_holds(const Self *s, SelfFault *fault) {
    for (int r = 0; r < s->read.n; r++)
        for (int w = 0; w < s->write.n; w++)
            if (!pair_holds(s, s->write.p[w], s->read.p[r], fault)) return false;
    return true;
}

bool self_order_holds(const Module *m, const Kernel *k, int param, Arena *arena, SelfFault *fault) {
    Self s = self_begin(m, k, param, arena);
    bool good = order_holds(&s, fault);
    isl_context_close(s.isl);
    return good;
}

/* ---- another order ---- */

/* The next permutation; false after the last. */
static bool order_next(int *order, int n) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && order[i] > order[i + 1]) i--;
    if (i < 0) return false;
    while (order[j] < order[i]) j--;
    int held = order[i];
    order[i] = order[j], order[j] = held;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) held = order[a], order[a] = order[b], order[b] = held;
    return true;
}

const char *self_order_other(const Module *m, const Kernel *k, int param, Arena *arena) {
    Self s = self_begin(m, k, param, arena);
    SelfFault fault;
    bool found = false;
    while (!found && k->ngrid <= MAX_PERMUTED && order_next(s.order, k->ngrid)) found = order_holds(&s, &fault);
    isl_context_close(s.isl);
    const char *text = "";
    for (int i = 0; found && i < k->ngrid; i++)
        text = arena_format(arena, "%s%s%s", text, i ? ", " : "", k->range.p[s.order[i]].name);
    return found ? text : NULL;
}
