/* flags_repair.c: the proof's counterexamples made good: a family that does not fit becomes one word for all tasks, a
   dependence without an edge gets one; then what is redundant goes.
   Takes: a program with flags. Gives: the same, proved where sizes are numbers. */
#include "passes/sync/flags_repair.h"
#include "ir/trial.h"
#include "passes/proof/redundant.h"

/* Events times waits that pruning looks at: seconds; chosen: no measurement is recorded. */
enum { PRUNE_BUDGET = 3000000 };

/* ---- coarser families ---- */

static void ops_of_flag(Region *r, int flag, void (*edit)(void *, Op *), void *arg) {
    for (Op *op = walk(r), *next; op; op = next) {
        next = walk_next(op, r);
        if ((op->kind == OP_WAIT || op->kind == OP_SIGNAL) && op->flag == flag) edit(arg, op);
    }
}

static void name_all_ranks(void *last, Op *op) {
    op->dest = (Span){.lo = affine_const(0), .hi = affine_const(*(int64_t *)last)};
    for (int i = 0; i < op->sub.n; i++) op->sub.p[i] = span_of(affine_const(0));
}

static void note_finer(void *finer, Op *op) {
    *(bool *)finer = *(bool *)finer || !affine_is_const(&op->dest.lo) || !affine_is_const(&op->dest.hi);
}

static bool flag_coarsen(Flags *f, int flag) {
    Flag *g = &f->p->flag.p[flag];
    bool changed = false;
    ops_of_flag(f->p->node.p[g->producer]->kernel->body, flag, note_finer, &changed);
    for (int d = 0; d < g->dim.n; d++) {
        changed = changed || g->dim.p[d].group != GROUP_DROP;
        g->dim.p[d].group = GROUP_DROP;
    }
    int64_t last = g->axis < 0 ? 0 : f->m->axis.p[g->axis].ranks - 1;
    ops_of_flag(f->p->node.p[g->producer]->kernel->body, flag, name_all_ranks, &last);
    ops_of_flag(f->p->node.p[g->consumer]->kernel->body, flag, name_all_ranks, &last);
    return changed;
}

/* ---- missing edges ---- */

static const Access *access_of(const Flags *f, int node, const Op *op) {
    for (int i = 0; i < f->access[node].n; i++)
        if (f->access[node].p[i].op == op) return &f->access[node].p[i];
    return NULL;
}

static void edge_add(Flags *f, const Proof *why) {
    const Access *from = access_of(f, why->from_node, why->from), *to = access_of(f, why->to_node, why->to);
    const Tensor *t = &f->p->tensor.p[from->tensor];
    Edge e = edge_whole(f->p, from, to);
    e.axis = t->symmetric;
    flags_insert(f, &e, why->later, why->later > 0);
    if (why->later)
        remark(f->pass, "flags", t->loc, "'%s' is used again %lld generations later: '%s' waits until '%s' is done with it", t->name,
               (long long)why->later, f->p->node.p[why->to_node]->kernel->name, f->p->node.p[why->from_node]->kernel->name);
}

static void tell_boundary(Flags *f, const Proof *why, int from, int to) {
    const Kernel *a = f->p->node.p[from]->kernel, *b = f->p->node.p[to]->kernel;
    diag_perf(f->m->diags, why->loc, "kernel-boundary", "'%s' waits for all of '%s': no finer order of their tiles is proved", b->name, a->name);
    diag_note(f->m->diags, why->loc, "%s", why->why);
    remark(f->pass, "flags", b->loc, "'%s' waits for all of '%s': %s", b->name, a->name, why->why);
}

static bool repair_self(Flags *f, const Proof *why, int node) {
    const Kernel *k = f->p->node.p[node]->kernel;
    if (!flags_coarsen_self(f, node)) return false;
    diag_perf(f->m->diags, why->loc, "task-order", "each task of '%s' waits for all before it: no finer order is proved", k->name);
    diag_note(f->m->diags, why->loc, "%s", why->why);
    remark(f->pass, "flags", k->loc, "each task of '%s' waits for all before it: %s", k->name, why->why);
    return true;
}

/* False when there is nothing left to make coarser. */
static bool repair_step(Flags *f, const Proof *why) {
    if (why->flag >= 0) {
        const Flag *g = &f->p->flag.p[why->flag];
        if (g->producer == g->consumer) return repair_self(f, why, g->producer);
        tell_boundary(f, why, g->producer, g->consumer);
        return flag_coarsen(f, why->flag);
    }
    if (!why->from) return false;
    if (why->from_node == why->to_node && !why->later) return repair_self(f, why, why->to_node);
    int waits = f->waits;
    if (!why->later) tell_boundary(f, why, why->from_node, why->to_node);
    edge_add(f, why);
    return f->waits > waits;
}

void flags_repair(Flags *f) {
    for (;;) {
        Arena *scratch = arena_new();
        Proof proof = proof_for(f->m, f->p, f->pass->options->structural, scratch);
        bool again = !proof.proved && repair_step(f, &proof);
        f->events = proof.symbolic ? PRUNE_BUDGET : proof.tasks + proof.waits + proof.signals + proof.pairs;
        arena_free(scratch);
        if (!again) return;
    }
}

/* ---- redundant waits ---- */

typedef VEC(Op *) Ops;

static void collect_waits(Arena *a, Region *r, Ops *out) {
    for (Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_WAIT) vec_push(a, out, op);
}

static bool is_proved(const Flags *f) {
    Arena *scratch = arena_new();
    bool proved = proof_for(f->m, f->p, f->pass->options->structural, scratch).proved;
    arena_free(scratch);
    return proved;
}

static bool wait_drop(Flags *f, Op *wait) {
    OpAside aside = op_set_aside(wait);
    bool proved = is_proved(f);
    if (!proved) op_put_back(aside);
    return proved;
}

static void count_use(void *uses, Op *op) { ((int *)uses)[op->kind == OP_WAIT]++; }

static void drop_op(void *unused, Op *op) {
    (void)unused;
    op_remove(op);
}

static void renumber(void *to, Op *op) { op->flag = *(int *)to; }

/* Flags that nobody waits for go, with their signals; the others close up. */
static void drop_unused_flags(Flags *f) {
    int n = 0;
    for (int i = 0; i < f->p->flag.n; i++) {
        Flag g = f->p->flag.p[i];
        Region *from = f->p->node.p[g.producer]->kernel->body, *to = f->p->node.p[g.consumer]->kernel->body;
        int uses[2] = {0};
        ops_of_flag(to, i, count_use, uses);
        if (!uses[1]) {
            ops_of_flag(from, i, drop_op, NULL);
            continue;
        }
        g.id = n;
        ops_of_flag(from, i, renumber, &n);
        if (from != to) ops_of_flag(to, i, renumber, &n);
        f->p->flag.p[n++] = g;
    }
    f->p->flag.n = n;
}

static int drop_waits(Flags *f, const Ops *waits) {
    Arena *scratch = arena_new();
    Redundant *known = redundant_new(f->m, f->p, scratch);
    int dropped = 0;
    for (int i = 0; known && i < waits->n; i++) {
        bool listed = redundant_knows(waits->p[i]), drop = listed ? redundant_wait(known, waits->p[i]) : wait_drop(f, waits->p[i]);
        dropped += drop;
        if (drop && listed) op_remove(waits->p[i]);
        if (drop && !listed) known = redundant_new(f->m, f->p, scratch);
    }
    arena_free(scratch);
    return dropped;
}

void flags_prune(Flags *f) {
    Ops waits = {0};
    for (int i = 0; i < f->p->node.n; i++) collect_waits(f->m->arena, f->p->node.p[i]->kernel->body, &waits);
    if (waits.n < 2 || f->events * waits.n > PRUNE_BUDGET || !is_proved(f)) return;
    int dropped = drop_waits(f, &waits);
    drop_unused_flags(f);
    if (dropped) remark(f->pass, "flags", f->p->loc, "'%s': %d of %d waits are implied by others and removed", f->p->name, dropped, waits.n);
}
