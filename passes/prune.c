/* prune.c: removes kernels that no node calls and temporaries that no node names, after passes replaced their users. */
#include "passes/pass.h"

static void mark_kernels(const Node *n, bool *used) {
    if (n->kernel) used[n->kernel->id] = true;
    for (int i = 0; i < n->otherwise.n; i++) used[n->otherwise.p[i]->id] = true;
}

static void prune_kernels(Module *m) {
    int n = 0;
    bool *used = ARENA_ARRAY(m->arena, bool, m->kernel.n + 1);
    for (int i = 0; i < m->program.n; i++)
        for (int k = 0; k < m->program.p[i]->node.n; k++) mark_kernels(m->program.p[i]->node.p[k], used);
    for (int i = 0; i < m->kernel.n; i++) {
        if (!used[i]) continue;
        m->kernel.p[n] = m->kernel.p[i];
        m->kernel.p[n]->id = n;
        n++;
    }
    m->kernel.n = n;
}

static void mark_used(const Program *p, bool *used) {
    for (int i = 0; i < p->tensor.n; i++) used[i] = p->tensor.p[i].role != ROLE_TEMP;
    for (int k = 0; k < p->node.n; k++) {
        const Node *n = p->node.p[k];
        for (int a = 0; a < n->arg.n; a++) used[n->arg.p[a].tensor] = true;
        if (n->kind == NODE_COLLECTIVE) used[n->src] = used[n->dst] = true;
        if (n->when) used[n->when - 1] = true;
    }
}

static void prune_tensors(Module *m, Program *p) {
    bool *used = ARENA_ARRAY(m->arena, bool, p->tensor.n + 1);
    int *number = ARENA_ARRAY(m->arena, int, p->tensor.n + 1), n = 0;
    mark_used(p, used);
    for (int i = 0; i < p->tensor.n; i++) {
        if (!used[i]) continue;
        p->tensor.p[n] = p->tensor.p[i];
        p->tensor.p[n].id = number[i] = n;
        n++;
    }
    p->tensor.n = n;
    for (int i = 0; i < p->io.n; i++) p->io.p[i] = number[p->io.p[i]];
    for (int k = 0; k < p->node.n; k++) {
        Node *node = p->node.p[k];
        for (int a = 0; a < node->arg.n; a++) node->arg.p[a].tensor = number[node->arg.p[a].tensor];
        if (node->kind == NODE_COLLECTIVE) node->src = number[node->src], node->dst = number[node->dst];
        if (node->when) node->when = 1 + number[node->when - 1];
    }
}

void module_prune(Module *m) {
    prune_kernels(m);
    for (int i = 0; i < m->program.n; i++) prune_tensors(m, m->program.p[i]);
}
