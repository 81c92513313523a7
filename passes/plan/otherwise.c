/* otherwise.c: kernels that stand by. A box needs rows at multiples of 16 bytes. Where only a run knows how long
   rows are, a kernel of another plan does the work of runs with other rows. Takes: kernels with their plans. Gives:
   nodes that have such a kernel besides. */
#include "passes/plan/plan.h"

bool plan_needs_another(const Kernel *k, const Plan *plan) {
    for (int i = 0; plan->lowering == LOWER_ROLES && i < plan->copy.n; i++) {
        const Param *p = &k->param.p[plan->copy.p[i].param];
        if (plan->copy.p[i].fill == FILL_BOX && p->dim[p->ndim - 1].sym >= 0) return true;
    }
    return false;
}

Planned plan_unaligned(PassContext *c, const Kernel *k, const Planned *p) {
    if (!p->loose) return *p;
    Kernel *fresh = kernel_clone(c->m, k);
    fresh->name = name_of(c->m->names, arena_format(c->m->arena, "%s_rows", k->name));
    fresh->plan.unaligned = 1;
    Planned own = plan_of(c, fresh);
    if (own.why.words) return *p;
    plan_apply(fresh, &own);
    plan_stand_by(c->m, k, fresh);
    remark(c, "pipe", k->loc, "'%s': where rows of results are no multiples of 16 bytes, '%s' runs", k->name,
           fresh->name);
    return own;
}

Kernel *plan_plain(PassContext *c, const Kernel *k) {
    Kernel *plain = kernel_clone(c->m, k);
    plain->name = name_of(c->m->names, arena_format(c->m->arena, "%s_plain", k->name));
    plain->plan.lowering = LOWER_PLAIN;
    plain->plan.parts = 1;
    remark(c, "pipe", k->loc, "'%s': where rows are no multiples of 16 bytes, '%s' runs", k->name, plain->name);
    return plain;
}

void plan_stand_by(Module *m, const Kernel *k, Kernel *plain) {
    for (int i = 0; i < m->program.n; i++)
        for (int n = 0; n < m->program.p[i]->node.n; n++) {
            Node *node = m->program.p[i]->node.p[n];
            if (node->kernel == k) vec_push(m->arena, &node->otherwise, plain);
        }
}
