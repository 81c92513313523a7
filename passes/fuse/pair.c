/* pair.c: which stores of a producer and loads of a consumer meet, so that one kernel may do both. */
#include "passes/fuse/fuse.h"

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
    if (kernel_is_ragged(k)) return false;
    for (const Op *op = k->body->first; op; op = op->next)
        if (!is_plain(k, op)) return false;
    return k->ngrid == access->sub.n && !region_counts_tiles(k->body, -1);
}

bool fuse_reduces(const Kernel *k) {
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->nover) return true;
    return false;
}

bool fuse_elementwise(const Kernel *k, const Op *access) { return body_is_plain(k, access) && !fuse_reduces(k); }

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
    return r->kind == RANGE_WHOLE || (!r->starts && r->kind == RANGE_TILE && size_is_number(r->of) && r->of.c <= r->size);
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

bool fuse_is_epilogue(Pair *f) {
    return fuse_accesses_meet(f) && body_is_plain(f->consumer->kernel, f->load) && rows_are_whole(f) &&
           fuse_stores_once(f);
}
