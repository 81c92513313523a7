/* siblings.c: fuses two kernels with the same tasks that read one tensor and contract it in loops over the same
   tiles: keys and values, gate and up. One loop then does both. The shared tensor is loaded once, and an elementwise
   kernel that reads both results finds one producer. Takes and gives what fuse does; runs before it. */
#include "passes/fuse/fuse.h"
#include "passes/plan/plan.h"
#include "ir/trial.h"
#include "target/matrix.h"

/* ---- which kernels ---- */

static bool same_tasks(const Kernel *a, const Kernel *b) {
    if (a->level != b->level || a->ngrid != b->ngrid || kernel_prints(a) || kernel_prints(b)) return false;
    for (int i = 0; i < a->ngrid; i++) {
        const Range *x = &a->range.p[i], *y = &b->range.p[i];
        if (!fuse_same_tiles(x, y) || !size_equal(x->of, y->of) || x->owner >= 0 || y->owner >= 0 || x->starts || y->starts) return false;
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

/* ---- what they hold at once ---- */

/* Words of the products of a region: results and operands. */
static int64_t words_of_products(const Module *m, const Kernel *k, const Region *r) {
    int64_t words = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < 3 && op->kind == OP_DOT; i++) {
            Type t = i < 2 ? op->arg.p[i]->type : op->res.p[0]->type;
            int64_t n = 1;
            for (int d = 0; d < t.nrange; d++) {
                int64_t most = range_most(m, k, t.range[d]);
                n *= most > 0 ? most : 1;
            }
            words += n;
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

static void take_params(Module *m, Node *a, const Node *b, Inline *in) {
    int own = a->arg.n;
    for (int i = 0; i < b->arg.n; i++) {
        int shared = shared_param(a, b, i);
        in->param[i] = shared >= 0 && shared < own ? shared : kernel_param(m, a->kernel, b->kernel->param.p[i]);
        if (in->param[i] >= own) vec_push(m->arena, &a->arg, b->arg.p[i]);
    }
}

/* Where both fill most of that half, a step of the loop is half as deep, with as many products as one's had: its
   operands leave registers for another workgroup. */
static void shorten_steps(const PassContext *c, Kernel *k) {
    const MatrixTarget *t = matrix_target(c->options->target);
    for (int i = k->ngrid; t && i < k->range.n; i++) {
        Range *r = &k->range.p[i];
        bool full = 2 * words_of_products(c->m, k, k->body) > t->registers * 3 / 4;
        if (full && r->kind == RANGE_TILE && r->tunable && r->size >= 64 && !range_needs_size(k, i)) r->size /= 2;
    }
}

static Node join(const PassContext *c, const Node *a, const Node *b) {
    Module *m = c->m;
    Node both = fuse_clone_node(m, a);
    Kernel *k = both.kernel;
    k->name = fuse_name(m, k, b->kernel);
    Inline in = inline_begin(m, b->kernel, k, k->body);
    for (int i = 0; i < k->ngrid; i++) in.range[i] = (int16_t)i;
    take_params(m, &both, b, &in);
    fuse_join(&in);
    return both;
}

/* A schedule of the machine takes both at once where it takes each; others have to fit. */
static bool is_worth(PassContext *c, const Node *a, const Node *b, const Node *both) {
    bool taken = plan_takes(c, a->kernel);
    if (taken != plan_takes(c, b->kernel)) return false;
    if (taken) return plan_takes(c, both->kernel);
    if (!fit_together(c, a->kernel, b->kernel)) return false;
    shorten_steps(c, both->kernel);
    return true;
}

/* ---- which nodes ---- */

/* The later one may run as early as the other: nothing there or between makes what it reads, or knows what it makes. */
static bool may_move_up(const Program *p, const Node *a, const Node *b) {
    for (int n = a->id; n < b->id; n++) {
        if (p->node.p[n]->kind == NODE_COLLECTIVE) return false;
        for (int i = 0; i < b->arg.n; i++) {
            const Arg *arg = &b->arg.p[i];
            bool made = b->kernel->param.p[i].out;
            if (made ? fuse_uses(p->node.p[n], arg->tensor) : fuse_makes(p->node.p[n], arg)) return false;
        }
    }
    return true;
}

static bool are_siblings(const Node *a, const Node *b) {
    const Kernel *x = a->kernel, *y = b->kernel;
    bool share = false;
    for (int i = 0; i < b->arg.n; i++) share |= shared_param(a, b, i) >= 0;
    return share && same_tasks(x, y) && fuse_has_loop(x) && fuse_bodies_agree(x, y) &&
           x->nvalue + y->nvalue <= FUSE_MOST_VALUES;
}

static bool fuse_with(PassContext *c, Program *p, Node *a, const Node *b) {
    if (!are_siblings(a, b) || !may_move_up(p, a, b)) return false;
    PassContext t = pass_trial(c);
    Node both = join(&t, a, b);
    if (!is_worth(&t, a, b, &both)) return false;
    trial_keep(c->m, both.kernel);
    remark(c, "fuse", b->loc, "%s runs beside %s, in one loop", b->kernel->name, a->kernel->name);
    *a = both;
    fuse_drop_node(p, b);
    return true;
}

static bool reads_of(const Node *reader, const Node *n) {
    for (int i = 0; i < n->arg.n; i++)
        if (n->kernel->param.p[i].out && fuse_uses(reader, n->arg.p[i].tensor)) return true;
    return false;
}

static bool results_meet(const Program *p, const Node *a, const Node *b) {
    for (int n = b->id + 1; n < p->node.n; n++)
        if (reads_of(p->node.p[n], a) && reads_of(p->node.p[n], b)) return true;
    return false;
}

/* met: only where a later node reads results of both, and a schedule takes them. */
static bool find_sibling(PassContext *c, Program *p, Node *b, const Use *use, bool met) {
    if (b->kind != NODE_CALL || fuse_touches_updated(use, b) || !fuse_has_loop(b->kernel)) return false;
    if (met && !plan_takes(c, b->kernel)) return false;
    for (int n = 0; n < b->id; n++) {
        Node *a = p->node.p[n];
        if (a->kind != NODE_CALL || a->when != b->when || fuse_touches_updated(use, a)) continue;
        if ((!met || results_meet(p, a, b)) && fuse_with(c, p, a, b)) return true;
    }
    return false;
}

bool fuse_met_siblings(PassContext *c, Program *p, Node *b, const Use *use) { return find_sibling(c, p, b, use, true); }

bool fuse_siblings(PassContext *c, Program *p, Node *b, const Use *use) { return find_sibling(c, p, b, use, false); }
