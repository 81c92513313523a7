/* gpu_facts.c: facts that the kernels of a GPU program are told at run time: ranks, flags, declared ranges of inputs.
   */
#include "codegen/codegen.h"
#include "codegen/text/print.h"
#include "ir/poly/relation.h"
#include "target/matrix.h"

bool gpu_looks_at_values(const Program *p) {
    for (int i = 0; i < p->io.n; i++)
        if (p->tensor.p[p->io.p[i]].checked) return true;
    return false;
}

bool gpu_has_task(const Module *m, const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_CALL && kernel_is_ragged(p->node.p[i]->kernel)) return true; /* starts may be refused */
    return print_count(p) > 0 || gpu_has_ends(m, p);
}

bool gpu_has_ends(const Module *m, const Program *p) {
    bool has = mesh_ranks(m) > 1 || gpu_looks_at_values(p);
    for (int i = 0; i < p->node.n && !has; i++)
        has = p->node.p[i]->kind == NODE_CALL && kernel_orders_tasks(p->node.p[i]->kernel);
    return has;
}

bool gpu_is_dependent(const GpuText *g) { return matrix_target(g->target)->dependent; }

bool gpu_reads_early(const GpuLaunch *l, const Program *p, int param) {
    const Param *of = &l->node->kernel->param.p[param];
    return l->dependent && l->follows && of->ranks < 0 && !gpu_looks_at_values(p) &&
           tensor_is_constant(p, l->node->arg.p[param].tensor);
}
