/* program.c: the time of a program, predicted from what its kernels compute and move.
   A node starts when those that it depends on are done: that tiles of the two may overlap is not seen. */
#include "passes/model/model.h"
#include "target/matrix.h"

#include <math.h>

/* ---- how long ---- */

double model_node_seconds(const TargetFacts *f, const NodeCost *n, double cores) {
    const GpuFacts *gpu = gpu_facts(f->name);
    if (gpu && (n->kernel->form == KERNEL_LAYOUT || plan_is_whole(&n->kernel->plan)))
        return model_gpu_seconds(gpu, f, n);
    double compute = n->dot / f->dot + n->row / f->row + n->ops / f->ops + n->staged / f->staged;
    double moved = n->bytes / (n->bytes + n->linked > f->cache ? f->memory : f->cached) + n->linked / f->link;
    double rounds = ceil(n->whole / fmax(cores, 1)); /* in the last one some cores may be idle */
    double longest = fmax(rounds * n->share, 1 / fmax(cores, 1)) / fmin(cores, 1);
    return fmax(compute, moved) * longest + n->tasks * f->task / cores + (cores > 1 || n->linked > 0 ? f->flag : 0);
}

static const int64_t *sizes_most(Arena *a, const Module *m) {
    int64_t *sym = ARENA_ARRAY(a, int64_t, m->symbol.n + 1);
    for (int i = 0; i < m->symbol.n; i++) sym[i] = m->symbol.p[i].bound;
    return sym;
}

NodeCost model_most_cost(const Module *m, const Node *n, const char *target) {
    Arena *a = arena_new();
    NodeCost cost = model_node(a, target_facts(target), m, n, sizes_most(a, m));
    arena_free(a);
    return cost;
}

double model_most_seconds(const Module *m, const Node *n, const char *target) {
    const TargetFacts *facts = target_facts(target);
    const MatrixTarget *gpu = matrix_target(target);
    if (!facts) return 0;
    NodeCost cost = model_most_cost(m, n, target);
    return model_node_seconds(facts, &cost, gpu ? gpu->processors : 1);
}

/* When the nodes that touched a tensor so far are done. */
typedef struct {
    double written, read;
} Touched;

static double node_ready(const Node *n, const Touched *t) {
    double ready = 0;
    for (int i = 0; i < n->arg.n; i++) {
        const Param *p = &n->kernel->param.p[i];
        const Touched *at = &t[n->arg.p[i].tensor];
        ready = fmax(ready, p->out || p->inout ? fmax(at->written, at->read) : at->written);
    }
    return ready;
}

static void node_done(const Node *n, Touched *t, double done) {
    for (int i = 0; i < n->arg.n; i++) {
        const Param *p = &n->kernel->param.p[i];
        Touched *at = &t[n->arg.p[i].tensor];
        if (p->out || p->inout) at->written = fmax(at->written, done);
        if (!p->out) at->read = fmax(at->read, done);
    }
}

/* The longest chain of nodes, or all work shared by the cores evenly, whichever is longer. Kernels of a GPU follow each
   other. */
double model_program(const TargetFacts *f, const Module *m, const Program *p, const int64_t *sym, double cores) {
    Arena *a = arena_new();
    Touched *touched = ARENA_ARRAY(a, Touched, p->tensor.n + 1);
    double work = 0, longest = 0;
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        if (n->kind != NODE_CALL) continue;
        NodeCost cost = model_node(a, f, m, n, sym);
        double done = node_ready(n, touched) + model_node_seconds(f, &cost, cores);
        node_done(n, touched, done);
        longest = fmax(longest, done);
        work += model_node_seconds(f, &cost, 1);
    }
    arena_free(a);
    return f->start + (gpu_facts(f->name) ? work : fmax(longest, work / cores));
}

/* Run-time sizes at their bounds. */
int model_workers(const TargetFacts *f, const Module *m, const Program *p) {
    Arena *a = arena_new();
    const int64_t *sym = sizes_most(a, m);
    bool alone = model_program(f, m, p, sym, 1) <= model_program(f, m, p, sym, 2);
    arena_free(a);
    return alone ? 1 : 0;
}
