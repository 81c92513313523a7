/* static_block.c: extents that a split leaves alike on all ranks become numbers inside kernels: 4096 @ tp over 4
   ranks is 1024. Later steps (schedules, layouts, accesses of several elements) then see them as any other number.
   Takes: value form without collectives. Gives: the same. Kernels that see a tensor with other extents are left
   alone. */
#include "passes/pass.h"

static void size_make(const Module *m, Size *s) { *s = size_even(m, *s); }

static void affine_make(const Module *m, Affine *a) {
    int n = 0;
    for (int i = 0; i < a->nterm; i++) {
        Size s = a->term[i].kind == TERM_SIZE ? size_even(m, a->term[i].size) : (Size){.sym = 0};
        if (size_is_number(s))
            a->c += a->term[i].mul * (s.c / a->term[i].div);
        else
            a->term[n++] = a->term[i];
    }
    a->nterm = n;
}

static void op_make(const Module *m, Op *op) {
    for (int i = 0; i < op->sub.n; i++) {
        affine_make(m, &op->sub.p[i].lo);
        affine_make(m, &op->sub.p[i].hi);
    }
    if (op->kind != OP_SIZE || !size_is_number(size_even(m, op->size))) return;
    op->kind = OP_CONST;
    op->imm = size_even(m, op->size).c;
    op->size = (Size){0};
}

static void region_make(const Module *m, Region *r) {
    for (Op *op = walk(r); op; op = walk_next(op, r))
        op_make(m, op);
}

/* Ranges inside the block of another rank count in its extent. */
static void static_block_kernel(PassContext *c, Kernel *k) {
    const Module *m = c->m;
    for (int i = 0; i < k->param.n; i++)
        for (int d = 0; d < k->param.p[i].ndim; d++) size_make(m, &k->param.p[i].dim[d]);
    for (int i = 0; i < k->ngrid; i++)
        if (k->range.p[i].owner < 0) size_make(m, &k->range.p[i].of);
    region_make(m, k->body);
}

static bool has_view(const Module *m, const Kernel *k) {
    for (int i = 0; i < m->program.n; i++)
        for (int j = 0; j < m->program.p[i]->node.n; j++) {
            const Node *n = m->program.p[i]->node.p[j];
            for (int a = 0; n->kernel == k && a < n->arg.n; a++)
                if (n->arg.p[a].view) return true;
        }
    return false;
}

static bool static_block_run(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n; i++)
        if (!has_view(c->m, c->m->kernel.p[i])) static_block_kernel(c, c->m->kernel.p[i]);
    return true;
}

const Pass pass_static_block = {
    .name = "static_block",
    .help = "make numbers of block lengths that all ranks share",
    .needs = 0,
    .breaks = FORM_FLAGS,
    .values = true,
    .run = static_block_run,
    .kernel = static_block_kernel,
};
