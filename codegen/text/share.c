/* share.c: nodes of one text: it is written for each, with fields in place of what is a node's own, and compared.
   Takes: a program's nodes. Gives: a function for all nodes whose texts are equal. */
#include "codegen/text/share.h"

#include <string.h>

/* ---- fields ---- */

static const CExpr *field_text(Fn *f, const Field *of) {
    return cexpr_name(f, fn_text(f, "%s%s", f->back->fields, of->name));
}

static const CExpr *field_add(Fn *f, Field fresh, const char *wanted) {
    CNames *names = *f->back->fields ? &f->fields->names : &f->names;
    names->arena = f->arena;
    fresh.wanted = wanted;
    fresh.name = c_name(names, wanted);
    vec_push(f->arena, &f->fields->field, fresh);
    return field_text(f, &fresh);
}

const CExpr *field_number(Fn *f, const char *wanted, int64_t n) {
    if (!f->fields) return cexpr_number(f, n);
    for (int i = 0; i < f->fields->field.n; i++) {
        const Field *x = &f->fields->field.p[i];
        if (x->param < 0 && x->number == n && strcmp(x->wanted, wanted) == 0) return field_text(f, x);
    }
    return field_add(f, (Field){.type = "int64_t ", .param = -1, .number = n}, wanted);
}

const CExpr *field_place(Fn *f, const char *type, int param) {
    for (int i = 0; i < f->fields->field.n; i++)
        if (f->fields->field.p[i].param == param) return field_text(f, &f->fields->field.p[i]);
    return field_add(f, (Field){.type = type, .param = param}, param_name(f, param));
}

/* As a text sees them. */
static bool fields_alike(const Fields *a, const Fields *b) {
    bool alike = a->field.n == b->field.n;
    for (int i = 0; i < a->field.n && alike; i++) {
        const Field *x = &a->field.p[i], *y = &b->field.p[i];
        alike = x->param == y->param && strcmp(x->type, y->type) == 0 && strcmp(x->name, y->name) == 0;
    }
    return alike;
}

static bool same_part(const Arg *a, const Arg *b) {
    if (a->tensor != b->tensor || a->lead != b->lead) return false;
    return memcmp(a->at, b->at, sizeof *a->at * (size_t)a->lead) == 0 &&
           memcmp(a->slice, b->slice, sizeof a->slice) == 0;
}

/* Two nodes give alike fields the same values. */
static bool same_values(const Node *m, const Fields *a, const Node *n, const Fields *b) {
    bool same = true;
    for (int i = 0; i < a->field.n && same; i++) {
        const Field *x = &a->field.p[i], *y = &b->field.p[i];
        same = x->param < 0 ? x->number == y->number : same_part(&m->arg.p[x->param], &n->arg.p[x->param]);
    }
    return same;
}

/* ---- which kernels may have one text ---- */

static void mix(uint64_t *hash, int64_t n) {
    *hash = (*hash ^ (uint64_t)n) * UINT64_C(0x100000001b3);
    *hash ^= *hash >> 29;
}

static void mix_size(uint64_t *hash, Size s) { mix(hash, s.c), mix(hash, s.sym), mix(hash, s.axis); }

/* Kernels of one text have one shape: parameters, ranges and operations in order. */
static uint64_t kernel_shape(const Kernel *k) {
    uint64_t hash = k->plan.schedule ? text_hash(k->plan.schedule, strlen(k->plan.schedule)) : 0;
    mix(&hash, k->ngrid), mix(&hash, k->plan.waves), mix(&hash, k->param.n), mix(&hash, k->roles != NULL);
    for (int i = 0; i < k->param.n; i++) mix(&hash, k->param.p[i].elem), mix(&hash, k->param.p[i].ndim);
    for (int i = 0; i < k->range.n; i++)
        mix(&hash, k->range.p[i].kind), mix(&hash, k->range.p[i].size), mix_size(&hash, k->range.p[i].of);
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body)) mix(&hash, op->kind), mix(&hash, op->param);
    return hash;
}

/* ---- texts ---- */

typedef struct {
    uint64_t shape, hash;
    int next;   /* node of the bucket; -1: the last */
    bool alone; /* no other kernel has its shape */
    Text text;  /* with fields, of the first node that has it */
    Fields fields;
} Draft;

typedef struct {
    const TextWriter *w;
    Draft *draft;
    NodeText *node;
    int n, *bucket, mask; /* nodes by their shapes' hashes: the first of each bucket */
} Shared;

static void drafts_begin(Shared *s) {
    int size = 1;
    while (size < 2 * s->n) size *= 2;
    s->mask = size - 1;
    s->bucket = ARENA_ARRAY(s->w->arena, int, size);
    s->draft = ARENA_ARRAY(s->w->arena, Draft, s->n + 1);
    memset(s->bucket, -1, sizeof *s->bucket * (size_t)size);
    for (int i = s->n - 1; i >= 0; i--) {
        Draft *d = &s->draft[i];
        *d = (Draft){.shape = kernel_shape(s->w->call[i]->kernel), .alone = true};
        int *first = &s->bucket[d->shape & (uint64_t)s->mask];
        for (int k = *first; k >= 0; k = s->draft[k].next)
            if (s->draft[k].shape == d->shape) d->alone = s->draft[k].alone = false;
        d->next = *first;
        *first = i;
    }
}

/* The texts of all nodes are written as if each stood in a file of its own. */
static bool draft_write(Shared *s, int i) {
    CNames file = {.arena = s->w->arena};
    Draft *d = &s->draft[i];
    bool good = s->w->write(s->w->of, i, c_function_name(&file, "kernel"), &file, &d->fields, &d->text);
    d->hash = text_hash(text_str(&d->text), d->text.n);
    return good;
}

static bool same_text(Draft *a, Draft *b) {
    return a->shape == b->shape && a->hash == b->hash && fields_alike(&a->fields, &b->fields) &&
           strcmp(text_str(&a->text), text_str(&b->text)) == 0;
}

/* The first node before with the same text; itself where there is none. */
static int first_alike(Shared *s, int i) {
    for (int k = s->bucket[s->draft[i].shape & (uint64_t)s->mask]; k < i; k = s->draft[k].next)
        if (s->node[k].of == k && !s->draft[k].alone && same_text(&s->draft[k], &s->draft[i])) return k;
    return i;
}

static bool draft_node(Shared *s, int i) {
    bool good = s->draft[i].alone || draft_write(s, i);
    s->node[i] = (NodeText){.of = i};
    if (!good) return false;
    if (!s->draft[i].alone) s->node[i].of = first_alike(s, i);
    s->node[s->node[i].of].nodes++;
    if (s->node[i].of != i) text_free(&s->draft[i].text);
    return true;
}

/* The next node with the text; -1: there is none. */
static int next_alike(const Shared *s, int i) {
    const int of = s->node[i].of;
    for (i = s->draft[i].next; i >= 0 && s->node[i].of != of; i = s->draft[i].next) {
    }
    return i;
}

static const char *group_name(const Shared *s, int first) {
    const char *name = s->w->call[first]->kernel->name;
    bool differ = false;
    for (int i = next_alike(s, first); i >= 0 && !differ; i = next_alike(s, i))
        differ = s->w->call[i]->kernel->name != name;
    return differ ? c_common_name(s->w->arena, name) : name;
}

/* Whether nodes of a text give its fields other values. */
static bool values_differ(const Shared *s, int first) {
    Node *const *node = s->w->call;
    for (int i = next_alike(s, first); i >= 0; i = next_alike(s, i))
        if (!same_values(node[first], &s->draft[first].fields, node[i], &s->draft[i].fields)) return true;
    return false;
}

static bool group_write(Shared *s, int first, Text *to) {
    NodeText *node = s->node;
    bool fields = node[first].nodes > 1 && values_differ(s, first);
    Fields *own = fields ? &s->draft[first].fields : NULL;
    node[first].function = c_function_name(s->w->names, group_name(s, first));
    if (own) *own = (Fields){0};
    bool good = s->w->write(s->w->of, first, node[first].function, s->w->names, own, to);
    for (int i = first; i >= 0; i = next_alike(s, i)) {
        node[i].function = node[first].function;
        node[i].fields = fields ? &s->draft[i].fields : NULL;
    }
    return good;
}

bool texts_write(const TextWriter *w, Text *to, NodeText *by_node) {
    Shared s = {.w = w, .node = by_node, .n = w->n};
    bool good = true;
    drafts_begin(&s);
    for (int i = 0; i < s.n; i++) good &= draft_node(&s, i);
    for (int i = 0; i < s.n && good; i++)
        if (by_node[i].of == i) good &= group_write(&s, i, to);
    for (int i = 0; i < s.n; i++) text_free(&s.draft[i].text);
    return good;
}
