/* verify.c: what every module must satisfy.
   Takes: any module. Gives: every violation as an error with id "invalid-ir". */
#include "ir/ir.h"

static bool op_verify(const Module *m, const Kernel *k, const Op *op) {
    int want = op_info[op->kind].operands;
    if (want < 0 || op->arg.n == want) return true;
    diag_error(m->diags, op->loc, "invalid-ir", "kernel '%s': %s takes %d operands, not %d", k->name,
               op_info[op->kind].text, want, op->arg.n);
    return false;
}

static bool region_verify(const Module *m, const Kernel *k, const Region *r) {
    bool good = true;
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        good &= op_verify(m, k, op);
        for (int i = 0; i < 2; i++) good &= region_verify(m, k, op->region[i]);
    }
    return good;
}

bool module_verify(const Module *m) {
    bool good = true;
    for (int i = 0; i < m->kernel.n; i++) good &= region_verify(m, m->kernel.p[i], m->kernel.p[i]->body);
    return good;
}
