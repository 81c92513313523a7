/* linearize.c: elementwise kernels run along memory where rows are no multiples of what a thread takes at once:
   tensors become vectors, the grid one range.
   Takes: value form of one rank without collectives. Gives: the same results. */
#include "passes/fuse/inline.h"
#include "passes/pass.h"
#include "passes/shape/merge.h"

/* Bits that a thread loads at most; positions of a tile; chosen: no measurement is recorded. */
enum { VECTOR_BITS = 128, MOST_POSITIONS = 8192 };

/* ---- which kernels ---- */

static bool is_element_op(const Op *op) {
    OpClass class = op_info[op->kind].class;
    return class == CLASS_CONST || class == CLASS_MEMORY || op_is_elementwise(op);
}

/* Subscript d is the position of the grid's range d, over all of the dimension. */
static bool is_own_place(const Kernel *k, const Op *op, int d) {
    return affine_position(&op->sub.p[d].lo) == d && size_equal(k->param.p[op->param].dim[d], k->range.p[d].of);
}

/* Of scalars, which are loaded, and of whole tensors at the task's own place. */
static bool access_is_flat(const Kernel *k, const Op *op) {
    const Param *p = &k->param.p[op->param];
    if (p->ranks >= 0 || p->packet || elem_is_packed(p->elem) || op->mode != STORE_SET) return false;
    if (op->kind == OP_LOAD && p->ndim == 0) return true;
    bool flat = op->sub.n == k->ngrid;
    for (int d = 0; d < op->sub.n && flat; d++) flat = is_own_place(k, op, d);
    return flat;
}

static bool body_is_flat(const Kernel *k) {
    for (const Op *op = k->body->first; op; op = op->next)
        if (!is_element_op(op) || (op_info[op->kind].class == CLASS_MEMORY && !access_is_flat(k, op))) return false;
    return true;
}

/* Ranges over numbers, with tiles that nobody counts; some range has one. */
static bool grid_is_flat(const Kernel *k) {
    bool tiles = false;
    for (int i = 0; i < k->ngrid; i++) {
        const Range *r = &k->range.p[i];
        if (!size_is_number(r->of) || r->owner >= 0 || r->starts) return false;
        tiles |= r->kind != RANGE_POSITION;
    }
    return tiles && k->ngrid > 1 && k->range.n == k->ngrid;
}

static bool is_accessed(const Kernel *k, int param) {
    for (const Op *op = k->body->first; op; op = op->next)
        if (op_info[op->kind].class == CLASS_MEMORY && op->param == param) return true;
    return false;
}

/* Rows of some tensor do not begin at multiples of a vector. */
static bool rows_are_odd(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++) {
        const Param *p = &k->param.p[i];
        if (p->ndim && is_accessed(k, i) && p->dim[p->ndim - 1].c * elem_bits(p->elem) % VECTOR_BITS) return true;
    }
    return false;
}

/* A view is made of numbers: a dimension split over one rank is none. */
static bool args_are_whole(const Program *p, const Node *n) {
    for (int i = 0; i < n->arg.n; i++) {
        const Arg *a = &n->arg.p[i];
        const Tensor *t = &p->tensor.p[a->tensor];
        for (int d = 0; d < t->ndim; d++)
            if (!size_is_number(t->dim[d])) return false;
        if (!arg_is_whole(a)) return false;
    }
    return true;
}

static bool calls_are_whole(const Module *m, const Kernel *k) {
    for (int i = 0; i < m->program.n; i++)
        for (int j = 0; j < m->program.p[i]->node.n; j++) {
            const Node *n = m->program.p[i]->node.p[j];
            if (n->kernel == k && !args_are_whole(m->program.p[i], n)) return false;
        }
    return true;
}

/* 0: there are too many. */
static int64_t positions(const Kernel *k) {
    const int64_t most = INT64_C(1) << 40;
    int64_t n = 1;
    for (int i = 0; i < k->ngrid; i++)
        if (__builtin_mul_overflow(n, k->range.p[i].of.c, &n) || n > most) return 0;
    return n;
}

static bool is_flat(const Module *m, const Kernel *k) {
    return k->level == LEVEL_GROUP && !plan_is_whole(&k->plan) && grid_is_flat(k) && positions(k) && rows_are_odd(k) &&
           body_is_flat(k) && calls_are_whole(m, k);
}

/* ---- the change ---- */

/* As many positions a tile as before, as far as they are a power of two and not too many. */
static int64_t tile_size(const Kernel *k) {
    int64_t want = 1, size = 1;
    for (int i = 0; i < k->ngrid; i++) {
        const Range *r = &k->range.p[i];
        want *= r->kind == RANGE_TILE ? r->size : r->kind == RANGE_WHOLE ? r->of.c : 1;
        if (want > MOST_POSITIONS) want = MOST_POSITIONS;
    }
    while (2 * size <= want) size *= 2;
    return size;
}

static void linearize_params(Kernel *k, int64_t n) {
    for (int i = 0; i < k->param.n; i++) {
        Param *p = &k->param.p[i];
        if (p->ndim == 0 || !is_accessed(k, i)) continue;
        p->ndim = 1;
        p->dim[0] = size_number(n);
    }
}

static void linearize_type(Value *v) {
    if (v->type.nrange == 0) return;
    v->type.nrange = 1;
    v->type.range[0] = 0;
}

static void linearize_body(Kernel *k) {
    for (Op *op = k->body->first, *next; op; op = next) {
        next = op->next;
        if (op->sub.n) op->sub.n = 1;
        for (int i = 0; i < op->res.n; i++) linearize_type(op->res.p[i]);
        if (op->kind != OP_BROADCAST || !type_equal(op->res.p[0]->type, op->arg.p[0]->type)) continue;
        region_replace(k->body, op->res.p[0], op->arg.p[0]);
        op_remove(op);
    }
}

static void linearize_calls(Module *m, const Kernel *k) {
    for (int i = 0; i < m->program.n; i++)
        for (int j = 0; j < m->program.p[i]->node.n; j++) {
            Node *n = m->program.p[i]->node.p[j];
            for (int a = 0; n->kernel == k && a < n->arg.n; a++)
                n->arg.p[a].view = k->param.p[a].ndim > 0 && is_accessed(k, a);
        }
}

static void linearize_kernel(PassContext *c, Kernel *k) {
    int64_t n = positions(k);
    Range *r = &k->range.p[0];
    r->size = tile_size(k);
    r->kind = RANGE_TILE;
    r->of = size_number(n);
    r->tunable = true;
    remark(c, "linearize", k->loc, "'%s': along memory, %lld positions in tiles of %lld", k->name, (long long)n,
           (long long)r->size);
    k->range.n = k->ngrid = 1;
    linearize_params(k, n);
    linearize_body(k);
    linearize_calls(c->m, k);
}

static bool linearize_run(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n && mesh_ranks(c->m) == 1; i++)
        if (is_flat(c->m, c->m->kernel.p[i]))
            linearize_kernel(c, c->m->kernel.p[i]);
        else
            merge_dimensions(c, c->m->kernel.p[i]);
    return true;
}

const Pass pass_linearize = {
    .name = "linearize",
    .help = "run along memory where rows are no multiples of a vector",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = linearize_run,
};
