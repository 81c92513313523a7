/* parts.c: a consumer that loads a row at several places at once (2 p and 2 p + 1, p and p + d / 2: a rotary
   embedding) becomes the epilogue of the kernel that makes the row. The producer's range then runs over one part, and
   its operations stand there once for each place, loops joined: no product is computed twice. What of the consumer does
   not depend on all of a tile's ranges may be (angles, for each head): the model decides. Takes and gives what fuse
   does. */
#include "passes/fuse/fuse.h"
#include "passes/model/model.h"
#include "passes/plan/plan.h"
#include "target/matrix.h"

/* Parts of a row that a kernel reads; a rotary embedding reads two. */
enum { MOST_PLACES = 4 };

/* Position p of the consumer's range is position mul * p + at of the producer's. */
typedef struct {
    int64_t mul, at;
} RowPart;

typedef struct {
    Pair f;
    int dim; /* that is in parts */
    int n;
    RowPart place[MOST_PLACES];
} Parts;

/* ---- what the consumer loads ---- */

static bool place_of(const Affine *a, RowPart *place) {
    const Term *t = &a->term[0];
    *place = (RowPart){.mul = t->mul, .at = a->c};
    return a->nterm == 1 && t->kind == TERM_POS && t->div == 1 && t->mul > 0 && a->c >= 0;
}

static int place_index(const Parts *s, const Op *load) {
    RowPart p;
    if (!place_of(&load->sub.p[s->dim].lo, &p)) return -1;
    for (int i = 0; i < s->n; i++)
        if (s->place[i].mul == p.mul && s->place[i].at == p.at) return i;
    return -1;
}

static bool add_place(Parts *s, const Op *load) {
    if (place_index(s, load) >= 0) return true;
    return s->n < MOST_PLACES && place_of(&load->sub.p[s->dim].lo, &s->place[s->n++]);
}

static bool is_ours(const Parts *s, const Op *op) { return op->kind == OP_LOAD && op->param == s->f.in; }

/* The one dimension where a load is not at its range's own positions; -1: none, or several. */
static int dim_in_parts(const Parts *s) {
    int dim = -1;
    for (const Op *op = s->f.consumer->kernel->body->first; op; op = op->next)
        for (int d = 0; is_ours(s, op) && d < op->sub.n; d++) {
            if (affine_position(&op->sub.p[d].lo) >= 0) continue;
            if (dim >= 0 && dim != d) return -1;
            dim = d;
        }
    return dim;
}

/* All of one range in each dimension, in ranges of their own. */
static bool loads_agree(const Parts *s, const Op *a, const Op *b) {
    for (int d = 0; d < a->sub.n; d++) {
        const Affine *x = &a->sub.p[d].lo, *y = &b->sub.p[d].lo;
        if (d == s->dim ? y->nterm != 1 || x->term[0].id != y->term[0].id : !affine_equal(x, y)) return false;
    }
    return true;
}

static bool find_ranges(Parts *s, const Kernel *k) {
    for (int d = 0; d < s->f.load->sub.n; d++) {
        s->f.loaded[d] = s->f.load->sub.p[d].lo.term[0].id;
        if (!k->range.p[s->f.loaded[d]].grid || k->range.p[s->f.loaded[d]].owner >= 0) return false;
        for (int e = 0; e < d; e++)
            if (s->f.loaded[e] == s->f.loaded[d]) return false;
    }
    return true;
}

static bool find_places(Parts *s) {
    const Kernel *k = s->f.consumer->kernel;
    s->dim = dim_in_parts(s);
    for (Op *op = k->body->first; op && s->dim >= 0; op = op->next) {
        if (!is_ours(s, op)) continue;
        if (!add_place(s, op) || (s->f.load && !loads_agree(s, s->f.load, op))) return false;
        s->f.load = op;
    }
    return s->n > 1 && fuse_elementwise(k, s->f.load) && find_ranges(s, k);
}

/* ---- what the producer makes ---- */

/* Elements along the range are made alike: they do not know of each other, nor of where they stand. */
static bool is_alike_along(const Region *r, int range) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        bool named = op->kind == OP_POS || op->kind == OP_BEGIN || op->kind == OP_END;
        if (named && op->range == range) return false;
        for (int i = 0; i < op->nover; i++)
            if (op->over[i] == range) return false;
        for (int d = 0; d < op->sub.n; d++)
            for (int i = 0; i < op->sub.p[d].lo.nterm; i++) {
                const Term *t = &op->sub.p[d].lo.term[i];
                if (t->kind != TERM_RANK && t->kind != TERM_VALUE && t->kind != TERM_SIZE && t->id == range &&
                    (t->kind != TERM_POS || t->div != 1))
                    return false;
            }
    }
    return true;
}

/* The parts lie within the producer's range, and are no more than it is long. */
static bool parts_fit(const Parts *s, const Range *whole, const Range *part) {
    if (!size_is_number(whole->of) || !size_is_number(part->of) || part->of.c < 1) return false;
    if (whole->kind == RANGE_POSITION || part->kind == RANGE_POSITION || whole->size % s->n) return false;
    for (int i = 0; i < s->n; i++)
        if (s->place[i].mul > whole->of.c || s->place[i].mul * (part->of.c - 1) + s->place[i].at >= whole->of.c)
            return false;
    return s->n * part->of.c <= whole->of.c;
}

static bool producer_fits(Parts *s) {
    Pair *f = &s->f;
    const Kernel *a = f->producer->kernel, *b = f->consumer->kernel;
    int stores;
    f->store = fuse_access(a, f->out, &stores);
    if (kernel_is_ragged(a) || !f->store || stores != 1 || f->store->in != a->body || f->store->mode != STORE_SET || fuse_results(a) != 1)
        return false;
    if (!fuse_identity_access(a, f->store, f->stored) || a->ngrid != f->store->sub.n) return false;
    for (int d = 0; d < f->store->sub.n; d++)
        if (d != s->dim && !size_equal(a->range.p[f->stored[d]].of, b->range.p[f->loaded[d]].of)) return false;
    return parts_fit(s, &a->range.p[f->stored[s->dim]], &b->range.p[f->loaded[s->dim]]) &&
           is_alike_along(a->body, f->stored[s->dim]) && fuse_has_loop(a) && fuse_bodies_agree(a, a) &&
           fuse_stores_once(f) && s->n * a->nvalue + b->nvalue <= FUSE_MOST_VALUES;
}

/* ---- fusing ---- */

static void affine_place(Affine *a, int range, RowPart place) {
    for (int i = 0; i < a->nterm; i++) {
        if (a->term[i].kind != TERM_POS || a->term[i].id != range) continue;
        a->c += a->term[i].mul * place.at;
        a->term[i].mul *= place.mul;
    }
}

static void region_place(Region *r, int range, RowPart place) {
    for (Op *op = walk(r); op; op = walk_next(op, r)) {
        for (int d = 0; d < op->sub.n; d++) {
            affine_place(&op->sub.p[d].lo, range, place);
            affine_place(&op->sub.p[d].hi, range, place);
        }
    }
}

/* The producer at one place: its range runs over a part. */
static Kernel *kernel_at(Module *m, const Parts *s, const Kernel *producer, int place) {
    Kernel *k = kernel_clone(m, producer);
    int range = s->f.stored[s->dim];
    region_place(k->body, range, s->place[place]);
    k->range.p[range].of = s->f.consumer->kernel->range.p[s->f.loaded[s->dim]].of;
    k->range.p[range].size /= s->n;
    return k;
}

static Kernel *kernel_in_parts(Module *m, const Parts *s) {
    const Kernel *producer = s->f.producer->kernel;
    Kernel *k = kernel_at(m, s, producer, 0);
    for (int i = 1; i < s->n; i++) {
        Inline in = inline_begin(m, kernel_at(m, s, producer, i), k, k->body);
        for (int r = 0; r < k->ngrid; r++) in.range[r] = (int16_t)r;
        for (int p = 0; p < k->param.n; p++) in.param[p] = p;
        fuse_join(&in);
    }
    return k;
}

typedef struct {
    Inline *in;
    const Parts *parts;
    Value *value[MOST_PLACES]; /* what the producer would have stored there */
} Epilogue;

static bool take_value(void *ctx, const Op *op) {
    Epilogue *e = ctx;
    if (!is_ours(e->parts, op)) return false;
    e->in->value[op->res.p[0]->id] = e->value[place_index(e->parts, op)];
    return true;
}

static void take_stored(Epilogue *e, Builder *b) {
    for (Op *op = b->k->body->first, *next; op; op = next) {
        next = op->next;
        if (op->kind != OP_STORE || op->param != e->parts->f.out) continue;
        e->value[place_index(e->parts, op)] = fuse_loaded_value(b, &e->parts->f, op);
        op_remove(op);
    }
}

/* The node of both. */
static Node node_in_parts(Module *m, const Parts *s) {
    const Pair *f = &s->f;
    Kernel *from = f->consumer->kernel, *k = kernel_in_parts(m, s);
    k->name = fuse_name(m, k, from);
    Node n = *f->producer;
    n.kernel = k;
    n.arg.p = NULL, n.arg.n = n.arg.cap = 0;
    for (int i = 0; i < f->producer->arg.n; i++) vec_push(m->arena, &n.arg, f->producer->arg.p[i]);
    Region *aside = region_new(m, NULL);
    Builder b = {.m = m, .k = k, .at = aside, .loc = f->store->loc};
    Inline in = inline_begin(m, from, k, aside);
    for (int d = 0; d < f->load->sub.n; d++) in.range[f->loaded[d]] = f->stored[d];
    fuse_take_params(m, f->consumer, f->in, &n, &in);
    Epilogue e = {.in = &in, .parts = s};
    take_stored(&e, &b);
    in.access = take_value;
    in.ctx = &e;
    inline_region(&in, from->body);
    region_take(k->body, aside);
    fuse_drop_param(&n, f->out);
    return n;
}

static double seconds_of(const PassContext *c, const Node *n) {
    const char *target = c->options->target;
    return model_most_seconds(c->m, n, target) + (matrix_target(target) ? target_facts(target)->start : 0);
}

/* Measured on an H200: 30.7 us for 26.3 apart, where 24.7 and 29.1 were predicted (rotary behind 16 rows by 4096). */
static const double SURE = 0.7;

/* At the largest sizes; each kernel of a GPU is a launch. */
static bool is_faster(PassContext *c, const Parts *s, const Node *both) {
    const Pair *f = &s->f;
    double apart = seconds_of(c, f->producer) + seconds_of(c, f->consumer), together = seconds_of(c, both);
    bool faster = together <= SURE * apart;
    remark(c, "fuse", f->consumer->loc, "%s %s of %s, in %d parts of a row: predicted %.2f us, %.2f us apart",
           f->consumer->kernel->name, faster ? "runs in the epilogue" : "is left out of the epilogue",
           f->producer->kernel->name, s->n, 1e6 * together, 1e6 * apart);
    return faster;
}

bool fuse_parts(PassContext *c, Program *p, Node *consumer, const Use *use) {
    if (consumer->kind != NODE_CALL || fuse_touches_updated(use, consumer)) return false;
    for (int a = 0; a < consumer->arg.n; a++) {
        Parts s = {.f = {.p = p, .consumer = consumer, .tensor = consumer->arg.p[a].tensor, .in = a}};
        if (!fuse_find_producer(&s.f, use) || s.f.kept || !find_places(&s) || !producer_fits(&s)) continue;
        if (plan_takes(c, s.f.producer->kernel)) continue;
        Node both = node_in_parts(c->m, &s);
        if (!is_faster(c, &s, &both)) continue;
        *s.f.producer = both;
        fuse_move_down(p, s.f.producer, consumer);
        return true;
    }
    return false;
}
