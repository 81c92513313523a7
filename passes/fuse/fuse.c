/* fuse.c: fuses kernels, so that intermediates are not read from memory. A consumer becomes the epilogue of the
   kernel that produces what it reads. An elementwise producer becomes the prologue of its consumer (prologue.c).
   Kernels that contract one input share a loop (siblings.c). A kernel that reads a row in parts follows the kernel
   that makes the row (parts.c; join.c puts loops beside each other).
   Takes: value form without flags. Gives: the same results, fewer nodes. A declared tensor stays a rounding point:
   the value is converted to its element type and back. */
#include "passes/fuse/fuse.h"
#include "passes/plan/plan.h"

#include <string.h>

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
    if (!e->in->pointwise || !op->sub.n) return false;
    fuse_pointwise_access(e->in, &e->pairs->pair[0], op);
    return true;
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

static Value *stored_value(Builder *b, const Pair *f) {
    return f->pointwise ? build_cast(b, b->k->param.p[f->out].elem, f->store->arg.p[0]) : fuse_loaded_value(b, f, f->store);
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
    in.pointwise = first->pointwise;
    for (int d = 0; d < first->load->sub.n && !in.pointwise; d++) in.range[first->loaded[d]] = first->stored[d];
    fuse_take_params(m, first->consumer, first->in, first->producer, &in);
    Builder b = {.m = m, .k = k, .at = aside, .loc = at->loc};
    Epilogue e = {.in = &in, .pairs = f};
    for (int i = 0; i < f->n; i++) e.value[i] = stored_value(&b, &f->pair[i]);
    in.access = take_value;
    in.ctx = &e;
    inline_region(&in, from->body);
    region_splice_before(at, aside);
    drop_pairs(first->producer, f, &in);
}

/* What the consumer loads by this parameter, a kernel makes that it can be an epilogue of. */
static bool find_pair(Pair *f, const Use *use) {
    return fuse_find_producer(f, use) && (fuse_is_epilogue(f) || fuse_is_pointwise(f));
}

/* Both of the consumer's loads are of the same tile, and both stores in one region. */
static bool pairs_agree(const Pair *a, const Pair *b) {
    if (a->pointwise || b->pointwise || a->producer != b->producer || a->store->in != b->store->in) return false;
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

/* The text for decoding is faster than its roles, which take what it refuses [measured on an H200: bench/gpu/log.md]. */
static bool is_decoding(const Planned *p) {
    return p->plan.lowering == LOWER_SCHEDULE && strcmp(p->plan.schedule, "decode") == 0;
}

/* On trial: whether a schedule takes both as one, as it takes the producer alone. */
static bool stays_scheduled(PassContext *c, const Pairs *f, const Planned *alone) {
    PassContext t = pass_trial(c);
    Pairs pairs = *f;
    Node both = fuse_clone_node(t.m, f->pair[0].producer);
    for (int i = 0; i < f->n; i++) pairs.pair[i].producer = &both;
    fuse_pairs(&t, &pairs);
    const Planned together = plan_of(&t, both.kernel);
    return !together.why.words && (!is_decoding(alone) || is_decoding(&together));
}

/* A schedule computes the producer, but not with this behind it. */
static bool is_better_alone(PassContext *c, const Pairs *f) {
    const Kernel *k = f->pair[0].producer->kernel;
    bool rows = fuse_reduces(f->pair[0].consumer->kernel) && fuse_elementwise(k, f->pair[0].store);
    if (rows) return true; /* it goes to the rows, as their prologue */
    const Planned alone = plan_of(c, k);
    return !alone.why.words && !stays_scheduled(c, f, &alone);
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
        Node *const node = p->node.p[n];
        bool fused = fuse_into_producer(c, p, node, use) || fuse_prologue(c, p, node, use) || fuse_view(c, p, node, use);
        if (fused) fuse_count_uses(p, use);
        n += fused ? -1 : 1;
    }
}

static bool reads_one(const Node *n, const int *tensor, int tensors) {
    for (int i = 0; i < tensors; i++)
        if (fuse_uses(n, tensor[i])) return true;
    return false;
}

void fuse_behind(PassContext *c, Program *p, const int *tensor, int tensors) {
    Use *use = ARENA_ARRAY(c->m->arena, Use, p->tensor.n + 1);
    fuse_count_uses(p, use);
    for (int n = 0; n < p->node.n; n++)
        if (reads_one(p->node.p[n], tensor, tensors) && fuse_into_producer(c, p, p->node.p[n], use)) {
            fuse_count_uses(p, use);
            n -= 2; /* both stand one place before, and may read another one */
        }
}

static void tell_prints(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n; i++) {
        const Kernel *k = c->m->kernel.p[i];
        if (kernel_prints(k)) remark(c, "fuse", k->loc, "'%s' prints, or asserts of values: it is fused with none", k->name);
    }
}

static bool fuse_module(PassContext *c) {
    tell_prints(c);
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
