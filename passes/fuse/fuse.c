/* fuse.c: fuses kernels, so that intermediates are not read from memory. A consumer becomes the epilogue of the
   kernel that produces what it reads. An elementwise producer becomes the prologue of its consumer (prologue.c).
   Kernels that contract one input share a loop (siblings.c). A kernel that reads a row in parts follows the kernel
   that makes the row (parts.c; join.c puts loops beside each other).
   Takes: value form without flags. Gives: the same results, fewer nodes. A declared tensor stays a rounding point:
   the value is converted to its element type and back. */
#include "passes/fuse/fuse.h"
#include "codegen/schedules/pipe.h"

#include <string.h>

/* ---- what may be fused ---- */

bool fuse_identity_access(const Kernel *k, const Op *op, int16_t *range) {
    for (int d = 0; d < op->sub.n; d++) {
        int own = affine_position(&op->sub.p[d].lo);
        if (own < 0) return false;
        range[d] = (int16_t)own;
        const Range *r = &k->range.p[range[d]];
        if (!r->grid || r->owner >= 0) return false;
        for (int e = 0; e < d; e++)
            if (range[e] == range[d]) return false;
    }
    return true;
}

static bool accesses_agree(const Region *r, int param, Op **found, int *count) {
    for (Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op_info[op->kind].class != CLASS_MEMORY || op->param != param) continue;
        if (*found && !access_equal(*found, op)) return false;
        *found = op;
        ++*count;
    }
    return true;
}

Op *fuse_access(const Kernel *k, int param, int *count) {
    Op *found = NULL;
    *count = 0;
    return accesses_agree(k->body, param, &found, count) ? found : NULL;
}

/* It means the same in tiles of any size, but for what it is over. */
static bool is_plain(const Kernel *k, const Op *op) {
    if (op_info[op->kind].class == CLASS_CONTROL || op->kind == OP_BEGIN || op->kind == OP_END) return false;
    if (op->kind == OP_STORE && op->mode != STORE_SET) return false;
    return op->kind != OP_LOAD || !k->param.p[op->param].out;
}

static bool body_is_plain(const Kernel *k, const Op *access) {
    for (const Op *op = k->body->first; op; op = op->next)
        if (!is_plain(k, op)) return false;
    return k->ngrid == access->sub.n && !region_counts_tiles(k->body, -1);
}

static bool reduces(const Kernel *k) {
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->nover) return true;
    return false;
}

bool fuse_elementwise(const Kernel *k, const Op *access) { return body_is_plain(k, access) && !reduces(k); }

static bool same_grid(const Kernel *a, const int16_t *ra, const Kernel *b, const int16_t *rb, int n) {
    for (int d = 0; d < n; d++)
        if (!size_equal(a->range.p[ra[d]].of, b->range.p[rb[d]].of)) return false;
    return true;
}

bool fuse_accesses_meet(Pair *f) {
    int stores;
    const Kernel *a = f->producer->kernel, *b = f->consumer->kernel;
    if (a->nvalue + b->nvalue > FUSE_MOST_VALUES) return false;
    f->store = fuse_access(a, f->out, &stores);
    f->load = fuse_access(b, f->in, &f->loads);
    return f->store && f->load && stores == 1 && f->store->mode == STORE_SET &&
           fuse_identity_access(a, f->store, f->stored) && fuse_identity_access(b, f->load, f->loaded) &&
           same_grid(a, f->stored, b, f->loaded, f->load->sub.n);
}

/* One tile has all of its positions. */
static bool is_one_tile(const Range *r) {
    return r->kind == RANGE_WHOLE || (r->kind == RANGE_TILE && size_is_number(r->of) && r->of.c <= r->size);
}

static bool is_held_whole(const Pair *f, int16_t over) {
    for (int d = 0; d < f->load->sub.n; d++)
        if (f->loaded[d] == over)
            return is_one_tile(&f->consumer->kernel->range.p[over]) &&
                   is_one_tile(&f->producer->kernel->range.p[f->stored[d]]);
    return false;
}

/* What the consumer reduces, a task of the producer has whole. */
static bool rows_are_whole(const Pair *f) {
    for (const Op *op = f->consumer->kernel->body->first; op; op = op->next)
        for (int i = 0; i < op->nover; i++)
            if (!is_held_whole(f, op->over[i])) return false;
    return true;
}

static bool store_names(const Op *store, int range) {
    for (int d = 0; d < store->sub.n; d++)
        for (int i = 0; i < store->sub.p[d].lo.nterm; i++) {
            const Term *t = &store->sub.p[d].lo.term[i];
            if ((t->kind == TERM_POS && t->id == range) || (t->value && type_has(t->value->type, range))) return true;
        }
    return false;
}

/* A kernel whose range is in positions has stores that depend on it already. */
static bool is_stored_once(const Pair *f, const Op *store, int dim) {
    return f->consumer->kernel->range.p[f->loaded[dim]].kind == RANGE_POSITION || store_names(store, f->loaded[dim]) ||
           is_one_tile(&f->producer->kernel->range.p[f->stored[dim]]);
}

bool fuse_stores_once(const Pair *f) {
    for (const Op *op = f->consumer->kernel->body->first; op; op = op->next)
        for (int d = 0; op->kind == OP_STORE && d < f->load->sub.n; d++)
            if (!is_stored_once(f, op, d)) return false;
    return true;
}

static bool pair_fits(Pair *f) {
    return fuse_accesses_meet(f) && body_is_plain(f->consumer->kernel, f->load) && rows_are_whole(f) &&
           fuse_stores_once(f);
}

/* ---- which pairs ---- */

/* All that a consumer reads of one producer. */
enum { MOST_PAIRS = 4 };
typedef struct {
    Pair pair[MOST_PAIRS];
    int n;
} Pairs;

static bool are_taken(const Pairs *f, int tensor) {
    for (int i = 0; i < f->n; i++)
        if (f->pair[i].tensor == tensor) return true;
    return false;
}

/* The producer moves down to the consumer and becomes one with it: nothing between, nor the consumer, may read its
   other results. */
static bool other_results_read(const Program *p, const Pairs *f) {
    const Node *producer = f->pair[0].producer;
    for (int a = 0; a < producer->arg.n; a++) {
        if (!producer->kernel->param.p[a].out || are_taken(f, producer->arg.p[a].tensor)) continue;
        for (int i = producer->id + 1; i <= f->pair[0].consumer->id; i++)
            if (fuse_uses(p->node.p[i], producer->arg.p[a].tensor)) return true;
    }
    return false;
}

/* ---- fusing ---- */

typedef struct {
    Inline *in;
    const Pairs *pairs;
    Value *value[MOST_PAIRS]; /* what the producer would have stored, rounded */
} Epilogue;

static bool take_value(void *ctx, const Op *op) {
    Epilogue *e = ctx;
    for (int i = 0; i < e->pairs->n; i++)
        if (op->param == e->pairs->pair[i].in) return e->in->value[op->res.p[0]->id] = e->value[i], true;
    return false;
}

void fuse_take_params(Module *m, const Node *from, int but, Node *to, Inline *in) {
    for (int i = 0; i < in->from->param.n; i++) {
        if (i == but) continue;
        in->param[i] = kernel_param(m, to->kernel, in->from->param.p[i]);
        vec_push(m->arena, &to->arg, from->arg.p[i]);
    }
}

static void shift_params(Region *r, int gone) {
    for (Op *op = walk(r); op; op = walk_next(op, r))
        if (op_info[op->kind].class == CLASS_MEMORY && op->param > gone) op->param--;
}

void fuse_drop_param(Node *n, int gone) {
    Kernel *k = n->kernel;
    memmove(&k->param.p[gone], &k->param.p[gone + 1], sizeof(Param) * (size_t)(k->param.n - gone - 1));
    memmove(&n->arg.p[gone], &n->arg.p[gone + 1], sizeof(Arg) * (size_t)(n->arg.n - gone - 1));
    k->param.n--;
    n->arg.n--;
    shift_params(k->body, gone);
}

Value *fuse_loaded_value(Builder *b, const Pair *f, const Op *store) {
    Value *v = build_cast(b, b->k->param.p[f->out].elem, store->arg.p[0]);
    Type t = v->type;
    for (int d = 0; d < store->sub.n; d++)
        if (b->k->range.p[f->stored[d]].kind != RANGE_POSITION) t = type_with(t, f->stored[d]);
    return build_broadcast(b, t, v);
}

static bool is_called_once(const Module *m, const Kernel *k) {
    int calls = 0;
    for (int i = 0; i < m->program.n; i++)
        for (int n = 0; n < m->program.p[i]->node.n; n++) calls += m->program.p[i]->node.p[n]->kernel == k;
    return calls <= 1; /* a copy on trial is not called at all */
}

Kernel *fuse_own_kernel(Module *m, Node *n) {
    if (!is_called_once(m, n->kernel)) n->kernel = kernel_clone(m, n->kernel);
    return n->kernel;
}

Node fuse_clone_node(Module *m, const Node *n) {
    Node fresh = *n;
    fresh.kernel = kernel_clone(m, n->kernel);
    fresh.arg.p = NULL, fresh.arg.n = fresh.arg.cap = 0;
    for (int i = 0; i < n->arg.n; i++) vec_push(m->arena, &fresh.arg, n->arg.p[i]);
    return fresh;
}

/* A long chain is called after its beginning. */
Name fuse_name(Module *m, const Kernel *a, const Kernel *b) {
    if (strlen(a->name) + strlen(b->name) > 100) return a->name;
    return name_of(m->names, arena_format(m->arena, "%s_%s", a->name, b->name));
}

/* The last of the producer's stores, which are of one region. */
static Op *last_store(const Pairs *f) {
    Op *last = f->pair[0].store;
    for (Op *op = last; op; op = op->next)
        for (int i = 0; i < f->n; i++)
            if (op == f->pair[i].store) last = op;
    return last;
}

/* What is loaded no more, and what is not stored either: parameters from the last one down. */
static void drop_pairs(Node *n, const Pairs *f, const Inline *in) {
    bool *gone = ARENA_ARRAY(in->m->arena, bool, n->arg.n);
    for (int i = 0; i < f->n; i++) {
        if (!f->pair[i].kept) op_remove(f->pair[i].store);
        gone[f->pair[i].out] = !f->pair[i].kept;
        if (i) gone[in->param[f->pair[i].in]] = true;
    }
    for (int i = n->arg.n - 1; i >= 0; i--)
        if (gone[i]) fuse_drop_param(n, i);
}

static void fuse_pairs(PassContext *c, Pairs *f) {
    Module *m = c->m;
    Pair *first = &f->pair[0];
    Kernel *from = first->consumer->kernel, *k = fuse_own_kernel(m, first->producer);
    k->name = fuse_name(m, k, from);
    int count;
    for (int i = 0; i < f->n; i++) f->pair[i].store = fuse_access(k, f->pair[i].out, &count);
    Op *at = last_store(f);
    Region *aside = region_new(m, at->in->parent);
    Inline in = inline_begin(m, from, k, aside);
    for (int d = 0; d < first->load->sub.n; d++) in.range[first->loaded[d]] = first->stored[d];
    fuse_take_params(m, first->consumer, first->in, first->producer, &in);
    Builder b = {.m = m, .k = k, .at = aside, .loc = at->loc};
    Epilogue e = {.in = &in, .pairs = f};
    for (int i = 0; i < f->n; i++) e.value[i] = fuse_loaded_value(&b, &f->pair[i], f->pair[i].store);
    in.access = take_value;
    in.ctx = &e;
    inline_region(&in, from->body);
    region_splice_before(at, aside);
    drop_pairs(first->producer, f, &in);
}

void fuse_drop_node(Program *p, const Node *gone) {
    int n = 0;
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i] != gone) p->node.p[n++] = p->node.p[i];
    p->node.n = n;
    for (int i = 0; i < n; i++) p->node.p[i]->id = i;
}

void fuse_move_down(Program *p, Node *producer, Node *consumer) {
    fuse_drop_node(p, producer);
    producer->id = consumer->id;
    p->node.p[producer->id] = producer;
}

/* What the consumer loads by this parameter, a kernel makes that it can be an epilogue of. */
static bool find_pair(Pair *f, const Use *use) { return fuse_find_producer(f, use) && pair_fits(f); }

/* Both of the consumer's loads are of the same tile, and both stores in one region. */
static bool pairs_agree(const Pair *a, const Pair *b) {
    if (a->producer != b->producer || a->store->in != b->store->in) return false;
    for (int d = 0; d < a->load->sub.n; d++)
        for (int e = 0; e < b->load->sub.n; e++)
            if ((a->loaded[d] == b->loaded[e]) != (a->stored[d] == b->stored[e])) return false;
    return true;
}

/* The pair of parameter `in`, then what else the consumer loads of the same producer. */
static bool find_pairs(Pairs *f, Program *p, Node *consumer, int in, const Use *use) {
    *f = (Pairs){.n = 0};
    for (int i = 0; i < consumer->arg.n && f->n < MOST_PAIRS; i++) {
        int a = i == 0 ? in : i <= in ? i - 1 : i;
        Pair g = {.p = p, .consumer = consumer, .tensor = consumer->arg.p[a].tensor, .in = a};
        bool found = find_pair(&g, use) && (!f->n || pairs_agree(&f->pair[0], &g));
        if (!found && !f->n) return false;
        if (found) f->pair[f->n++] = g;
    }
    return f->n > 0;
}

/* On trial: whether a schedule takes both as one. */
static bool stays_scheduled(PassContext *c, const Pairs *f) {
    PassContext t = pass_trial(c);
    Pairs pairs = *f;
    Node both = fuse_clone_node(t.m, f->pair[0].producer);
    for (int i = 0; i < f->n; i++) pairs.pair[i].producer = &both;
    fuse_pairs(&t, &pairs);
    return pipe_would_take(&t, both.kernel);
}

/* A schedule computes the producer, but not with this behind it. */
static bool is_better_alone(PassContext *c, const Pairs *f) {
    const Kernel *k = f->pair[0].producer->kernel;
    bool rows = reduces(f->pair[0].consumer->kernel) && fuse_elementwise(k, f->pair[0].store);
    if (rows) return true; /* it goes to the rows, as their prologue */
    return pipe_would_take(c, k) && !stays_scheduled(c, f);
}

static bool fuse_into_producer(PassContext *c, Program *p, Node *consumer, const Use *use) {
    Pairs f;
    if (consumer->kind != NODE_CALL || fuse_touches_updated(use, consumer)) return false;
    for (int a = 0; a < consumer->arg.n; a++) {
        if (!find_pairs(&f, p, consumer, a, use) || other_results_read(p, &f) || is_better_alone(c, &f)) continue;
        Node *producer = f.pair[0].producer;
        for (int i = 0; i < f.n; i++)
            remark(c, "fuse", consumer->loc, "%s runs in the epilogue of %s: '%s' %s", consumer->kernel->name,
                   producer->kernel->name, p->tensor.p[f.pair[i].tensor].name,
                   f.pair[i].kept ? "is stored as well" : "stays out of memory");
        fuse_pairs(c, &f);
        fuse_move_down(p, producer, consumer);
        return true;
    }
    return false;
}

/* Rows in parts first, whose producers then are no siblings of those that stay whole. */
static void fuse_products(PassContext *c, Program *p, Use *use) {
    bool (*const step[])(PassContext *, Program *, Node *, const Use *) = {fuse_parts, fuse_met_siblings,
                                                                           fuse_siblings};
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < p->node.n;) {
            bool fused = step[i](c, p, p->node.p[n], use);
            if (fused) fuse_count_uses(p, use);
            n += !fused;
        }
}

/* A fused node stands one place before its consumer did, and may be a consumer itself. */
static void fuse_program(PassContext *c, Program *p) {
    Use *use = ARENA_ARRAY(c->m->arena, Use, p->tensor.n + 1);
    fuse_count_uses(p, use);
    fuse_products(c, p, use);
    for (int n = 0; n < p->node.n;) {
        bool fused = fuse_into_producer(c, p, p->node.p[n], use) || fuse_prologue(c, p, p->node.p[n], use);
        if (fused) fuse_count_uses(p, use);
        n += fused ? -1 : 1;
    }
}

static bool fuse_module(PassContext *c) {
    for (int i = 0; i < c->m->program.n; i++) fuse_program(c, c->m->program.p[i]);
    module_prune(c->m);
    return true;
}

const Pass pass_fuse = {
    .name = "fuse",
    .help = "fuse kernels into one loop, epilogue or prologue",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .run = fuse_module,
};
