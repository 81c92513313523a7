/* trial.c: changes that may come to nothing.
   Takes: a module, or an operation. Gives: a module beside it, which nothing has to be undone in; the operation back. */
#include "ir/trial.h"

Module *trial_module(const Module *of) {
    Module *m = arena_copy(of->arena, of, sizeof *of);
    m->diags = arena_copy(of->arena, of->diags, sizeof *of->diags);
    m->diags->diag.p = NULL, m->diags->diag.n = m->diags->diag.cap = 0;
    m->diags->errors = m->diags->warnings = m->diags->repeated = 0;
    m->kernel.p = NULL, m->kernel.n = m->kernel.cap = 0;
    return m;
}

void trial_keep(Module *m, Kernel *k) { kernel_add(m, k); }

OpAside op_set_aside(Op *op) {
    OpAside aside = {op, op->next, op->in};
    op_remove(op);
    return aside;
}

void op_put_back(OpAside a) {
    if (a.next)
        op_insert_before(a.next, a.op);
    else
        op_append_to(a.in, a.op);
}
