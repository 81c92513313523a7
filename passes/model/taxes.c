/* taxes.c: counts what `tilec explain` shows before and after the passes.
   Takes: a module in any form; sizes at their bounds. */
#include "passes/model/taxes.h"
#include "target/matrix.h"

static double tensor_bytes(const Module *m, const Tensor *t, const int64_t *sym) {
    double n = elem_bits(t->elem) / 8.0;
    for (int d = 0; d < t->ndim; d++) n *= (double)size_block(m, t->dim[d], sym);
    return n;
}

static double temporary_bytes(const Module *m, const Program *p, int tensor, const int64_t *sym) {
    const Tensor *t = &p->tensor.p[tensor];
    return t->role == ROLE_TEMP ? tensor_bytes(m, t, sym) : 0;
}

/* That a copy of memory may be used again is said from later nodes to earlier ones: nobody stands still for it. */
static bool flag_is_barrier(const Flag *f) {
    for (int d = 0; d < f->dim.n; d++)
        if (f->dim.p[d].group != GROUP_DROP) return false;
    return f->axis >= 0 && f->producer < f->consumer;
}

static void node_taxes(const Module *m, const Program *p, const Node *n, const int64_t *sym, Taxes *x) {
    x->nodes++;
    for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++) x->bytes += temporary_bytes(m, p, n->arg.p[a].tensor, sym);
    if (n->kind == NODE_CALL) return;
    x->barriers += 2;
    x->bytes += temporary_bytes(m, p, n->src, sym) + temporary_bytes(m, p, n->dst, sym);
}

Taxes taxes_of(const Module *m, const Program *p, const int64_t *sym) {
    Taxes x = {0};
    for (int i = 0; i < p->node.n; i++) node_taxes(m, p, p->node.p[i], sym, &x);
    for (int i = 0; i < p->flag.n; i++) {
        const Flag *f = &p->flag.p[i];
        const bool barrier = flag_is_barrier(f);
        x.barriers += barrier;
        x.flags += !barrier && f->axis >= 0 && f->producer <= f->consumer;
    }
    return x;
}

/* A word that a task waits for costs its way over the link, a barrier that of all ranks. */
TaxTimes taxes_times(const TargetFacts *f, const Taxes *x) {
    const GpuFacts *gpu = gpu_facts(f->name);
    return (TaxTimes){.launches = x->nodes * (gpu ? gpu->launch : f->task),
                      .meetings = x->barriers * f->barrier + x->flags * f->flag,
                      .memory = x->bytes / f->memory};
}

static double product_seconds(const TargetFacts *f, const NodeCost *c) {
    const GpuFacts *gpu = gpu_facts(f->name);
    const MatrixTarget *t = matrix_target(f->name);
    const double cores = t ? t->processors : 1;
    if (!gpu || gpu->products <= 0) return (c->dot / f->dot + c->row / f->row) / cores;
    return c->gpu.dot / (gpu->products * cores);
}

Bounds bounds_of(const TargetFacts *f, const Module *m, const Program *p, const int64_t *sym, const Taxes *x) {
    const TaxTimes t = taxes_times(f, x);
    Bounds b = {.latency = f->start + t.launches + t.meetings};
    Arena *a = arena_new();
    for (int i = 0; i < p->node.n; i++) {
        if (p->node.p[i]->kind != NODE_CALL) continue;
        const NodeCost c = model_node(a, f, m, p->node.p[i], sym);
        b.link += c.linked / f->link;
        b.products += product_seconds(f, &c);
        b.memory += c.bytes / f->memory;
    }
    arena_free(a);
    return b;
}
