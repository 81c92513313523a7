/* otherwise.c: kernels that stand by. A box needs rows at multiples of 16 bytes, and boxes of pixels need an image. Only
   a run knows how long some rows are, and whether there is an image. A kernel of another plan does the other runs' work.
   Takes: kernels with their plans. Gives: nodes that have such a kernel besides. */
#include "passes/plan/plan.h"

/* It copies so a tensor of which only a run knows that dimension, counted from the first, or from behind. */
static bool copies_open(const Kernel *k, const Plan *plan, SlotFill fill, int dim) {
    for (int i = 0; plan->lowering == LOWER_ROLES && i < plan->copy.n; i++) {
        const Param *p = &k->param.p[plan->copy.p[i].param];
        if (plan->copy.p[i].fill == fill && p->dim[dim < 0 ? p->ndim + dim : dim].sym >= 0) return true;
    }
    return false;
}

static bool has_open_rows(const Kernel *k, const Plan *plan) { return copies_open(k, plan, FILL_BOX, -1); }

bool plan_needs_another(const Kernel *k, const Plan *plan) {
    return has_open_rows(k, plan) || copies_open(k, plan, FILL_PIXELS, 0);
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

Kernel *plan_plain(PassContext *c, const Kernel *k, const Plan *plan) {
    Kernel *plain = kernel_clone(c->m, k);
    plain->name = name_of(c->m->names, arena_format(c->m->arena, "%s_plain", k->name));
    plain->plan.lowering = LOWER_PLAIN;
    plain->plan.parts = 1;
    const bool images = copies_open(k, plan, FILL_PIXELS, 0) && !has_open_rows(k, plan);
    remark(c, "pipe", k->loc, "'%s': where %s, '%s' runs", k->name,
           images ? "there are no images" : "rows are no multiples of 16 bytes", plain->name);
    return plain;
}

void plan_stand_by(Module *m, const Kernel *k, Kernel *plain) {
    for (int i = 0; i < m->program.n; i++)
        for (int n = 0; n < m->program.p[i]->node.n; n++) {
            Node *node = m->program.p[i]->node.p[n];
            if (node->kernel == k) vec_push(m->arena, &node->otherwise, plain);
        }
}
