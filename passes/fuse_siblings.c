/* fuse_siblings.c: two kernels with the same tasks that read one tensor and contract it in loops over the same tiles
   become one, whose loop does both: keys and values, gate and up. What they share is loaded once, and an elementwise
   kernel that reads both results finds one producer. Takes and gives what fuse does; runs before it. */
#include "passes/fuse.h"
#include "passes/pipe.h"
#include "target/matrix.h"

/* ---- which kernels ---- */

static bool same_tiles(const Range *a, const Range *b) { return a->kind == b->kind && a->size == b->size; }

static bool same_tasks(const Kernel *a, const Kernel *b) {
    if (a->level != b->level || a->ngrid != b->ngrid) return false;
    for (int i = 0; i < a->ngrid; i++) {
        const Range *x = &a->range.p[i], *y = &b->range.p[i];
        if (!same_tiles(x, y) || !size_equal(x->of, y->of) || x->owner >= 0 || y->owner >= 0) return false;
    }
    return true;
}

static bool same_arg(const Arg *a, const Arg *b) {
    if (a->tensor != b->tensor || a->lead != b->lead || a->view || b->view) return false;
    for (int d = 0; d < MAX_DIMS; d++)
        if (a->slice[d] != b->slice[d] || (d < a->lead && a->at[d] != b->at[d])) return false;
    return true;
}

/* The parameter of `a` that is the same input as parameter i of `b`; -1: none. */
static int shared_param(const Node *a, const Node *b, int i) {
    const Param *p = &b->kernel->param.p[i];
    for (int j = 0; j < a->arg.n; j++) {
        const Param *q = &a->kernel->param.p[j];
        if (!p->out && !p->inout && !q->out && !q->inout && p->ndim == q->ndim && same_arg(&a->arg.p[j], &b->arg.p[i]))
            return j;
    }
    return -1;
}

/* The one loop of a region that holds no other control flow. */
static Op *loop_of(const Region *r) {
    Op *loop = NULL;
    for (Op *op = r->first; op; op = op->next) {
        if (op_info[op->kind].class != CLASS_CONTROL || op->kind == OP_YIELD) continue;
        if (loop || op->kind != OP_FOR || op->region[1]) return NULL;
        loop = op;
    }
    return loop;
}

static bool has_control(const Region *r) {
    for (const Op *op = r->first; op; op = op->next)
        if (op_info[op->kind].class == CLASS_CONTROL && op->kind != OP_YIELD) return true;
    return false;
}

static bool same_bound(const Value *a, const Value *b) {
    if (!a->def || !b->def || a->def->kind != b->def->kind) return false;
    if (a->def->kind == OP_CONST) return a->def->imm == b->def->imm;
    return a->def->kind == OP_SIZE && size_equal(a->def->size, b->def->size);
}

/* Both have a loop over the same tiles that carries something, and in it again, or nothing but operations. */
static bool loops_agree(const Kernel *a, const Region *ra, const Kernel *b, const Region *rb) {
    const Op *x = loop_of(ra), *y = loop_of(rb);
    if (!x || !y) return !has_control(ra) && !has_control(rb);
    return x->res.n && y->res.n && same_tiles(&a->range.p[x->range], &b->range.p[y->range]) &&
           same_bound(x->arg.p[0], y->arg.p[0]) && same_bound(x->arg.p[1], y->arg.p[1]) &&
           loops_agree(a, x->region[0], b, y->region[0]);
}

/* Stores set elements once, and nothing that is stored is loaded. */
static bool is_simple(const Kernel *k, const Region *r) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        if (op->kind == OP_STORE && op->mode != STORE_SET) return false;
        if (op->kind == OP_LOAD && k->param.p[op->param].out) return false;
        if (!is_simple(k, op->region[0]) || !is_simple(k, op->region[1])) return false;
    }
    return true;
}

/* ---- what they hold at once ---- */

/* Words of the products of a region: results and operands. */
static int64_t words_of_products(const Module *m, const Kernel *k, const Region *r) {
    int64_t words = 0;
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        for (int i = 0; i < 3 && op->kind == OP_DOT; i++) {
            Type t = i < 2 ? op->arg.p[i]->type : op->res.p[0]->type;
            int64_t n = 1;
            for (int d = 0; d < t.nrange; d++) {
                int64_t most = range_most(m, k, t.range[d]);
                n *= most > 0 ? most : 1;
            }
            words += n;
        }
        words += words_of_products(m, k, op->region[0]) + words_of_products(m, k, op->region[1]);
    }
    return words;
}

/* A GPU's workgroup holds the sums of both and a step's operands in half of its registers, so that neither needs
 * smaller tiles. */
static bool fit_together(const PassContext *c, const Kernel *a, const Kernel *b) {
    const MatrixTarget *t = matrix_target(c->options->target);
    return !t || 2 * (words_of_products(c->m, a, a->body) + words_of_products(c->m, b, b->body)) <= t->registers;
}

/* ---- joining ---- */

typedef struct {
    Inline in;
    Region *into; /* where the operation in hand goes, .. */
    Op *before;   /* .. and in front of which one; NULL: its end */
} Join;

/* What `into` has loaded already. */
static bool take_load(void *ctx, const Op *op) {
    Join *j = ctx;
    if (op->kind != OP_LOAD) return false;
    for (const Op *o = j->into->first; o != j->before; o = o->next) {
        bool same = o->kind == OP_LOAD && o->param == j->in.param[op->param] && o->sub.n == op->sub.n;
        for (int d = 0; same && d < op->sub.n; d++) {
            Affine a = inline_affine(&j->in, &op->sub.p[d].lo);
            same = affine_equal(&a, &o->sub.p[d].lo);
        }
        if (same) return j->in.value[op->res.p[0]->id] = o->res.p[0], true;
    }
    return false;
}

static void join_op(Join *j, const Op *op) {
    Region *aside = region_new(j->in.m, j->into->parent);
    j->in.at = aside;
    inline_op(&j->in, op);
    if (j->before)
        region_splice_before(j->before, aside);
    else
        region_take(j->into, aside);
}

static void join_region(Join *j, Region *a, const Region *b);

static void join_loop(Join *j, Op *a, const Op *b) {
    Module *m = j->in.m;
    Region *ra = a->region[0], *rb = b->region[0];
    j->in.range[b->range] = a->range;
    for (int i = 0; i < rb->arg.n; i++) {
        Value *init = j->in.value[b->arg.p[i + 2]->id];
        vec_push(m->arena, &a->arg, init);
        j->in.value[rb->arg.p[i]->id] = region_arg(m, j->in.into, ra, init->type, rb->arg.p[i]->name);
    }
    join_region(j, ra, rb);
    for (int i = 0; i < rb->arg.n; i++) {
        vec_push(m->arena, &ra->last->arg, j->in.value[rb->last->arg.p[i]->id]);
        Value *v = op_result(m, j->in.into, a, inline_type(&j->in, b->res.p[i]->type));
        v->name = b->res.p[i]->name;
        j->in.value[b->res.p[i]->id] = v;
    }
}

/* What stands before b's loop goes before a's, what stands behind it to the end. */
static void join_region(Join *j, Region *a, const Region *b) {
    Op *x = loop_of(a);
    const Op *y = loop_of(b);
    Op *end = a->last && a->last->kind == OP_YIELD ? a->last : NULL;
    Op *before = x ? x : end;
    for (const Op *op = b->first; op; op = op->next) {
        j->into = a, j->before = before;
        if (op == y)
            join_loop(j, x, y), before = end;
        else if (op->kind != OP_YIELD)
            join_op(j, op);
    }
}

static void take_params(Module *m, Node *a, const Node *b, Inline *in) {
    int own = a->arg.n;
    for (int i = 0; i < b->arg.n; i++) {
        int shared = shared_param(a, b, i);
        in->param[i] = shared >= 0 && shared < own ? shared : kernel_param(m, a->kernel, b->kernel->param.p[i]);
        if (in->param[i] >= own) vec_push(m->arena, &a->arg, b->arg.p[i]);
    }
}

static void join(Module *m, Node *a, const Node *b) {
    Kernel *k = fuse_own_kernel(m, a);
    k->name = fuse_name(m, k, b->kernel);
    Join j = {.in = inline_begin(m, b->kernel, k, k->body)};
    for (int i = 0; i < k->ngrid; i++) j.in.range[i] = (int16_t)i;
    take_params(m, a, b, &j.in);
    j.in.access = take_load;
    j.in.ctx = &j;
    join_region(&j, k->body, b->kernel->body);
}

/* ---- which nodes ---- */

static bool node_makes(const Node *n, int tensor) {
    if (n->kind == NODE_COLLECTIVE) return n->dst == tensor;
    for (int a = 0; a < n->arg.n; a++)
        if (n->arg.p[a].tensor == tensor && n->kernel->param.p[a].out) return true;
    return false;
}

/* The later one may run as early as the other: nothing there or between makes what it reads, or knows what it makes. */
static bool may_move_up(const Program *p, const Node *a, const Node *b) {
    for (int n = a->id; n < b->id; n++) {
        if (p->node.p[n]->kind == NODE_COLLECTIVE) return false;
        for (int i = 0; i < b->arg.n; i++) {
            int t = b->arg.p[i].tensor;
            if (b->kernel->param.p[i].out ? fuse_uses(p->node.p[n], t) : node_makes(p->node.p[n], t)) return false;
        }
    }
    return true;
}

static bool are_siblings(PassContext *c, const Node *a, const Node *b) {
    const Kernel *x = a->kernel, *y = b->kernel;
    bool share = false;
    for (int i = 0; i < b->arg.n; i++) share |= shared_param(a, b, i) >= 0;
    return share && same_tasks(x, y) && loop_of(x->body) && loops_agree(x, x->body, y, y->body) &&
           is_simple(x, x->body) && is_simple(y, y->body) && x->nvalue + y->nvalue <= FUSE_MOST_VALUES &&
           fit_together(c, x, y) && !pipe_would_take(c, x) && !pipe_would_take(c, y);
}

bool fuse_siblings(PassContext *c, Program *p, Node *b, const Use *use) {
    if (b->kind != NODE_CALL || fuse_touches_updated(use, b)) return false;
    for (int n = 0; n < b->id; n++) {
        Node *a = p->node.p[n];
        if (a->kind != NODE_CALL || a->when != b->when || fuse_touches_updated(use, a)) continue;
        if (!are_siblings(c, a, b) || !may_move_up(p, a, b)) continue;
        remark(c, "fuse", b->loc, "%s runs beside %s, in one loop", b->kernel->name, a->kernel->name);
        join(c->m, a, b);
        fuse_drop_node(p, b);
        return true;
    }
    return false;
}
