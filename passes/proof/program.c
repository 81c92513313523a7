/* program.c: what the proofs ask of a program. */
#include "passes/proof/proof.h"

bool program_has_symbols(const Program *p) {
    for (int i = 0; i < p->tensor.n; i++)
        for (int d = 0; d < p->tensor.p[i].ndim; d++)
            if (p->tensor.p[i].dim[d].sym >= 0) return true;
    for (int i = 0; i < p->node.n; i++)
        for (int d = 0; p->node.p[i]->kernel && d < p->node.p[i]->kernel->ngrid; d++)
            if (p->node.p[i]->kernel->range.p[d].of.sym >= 0) return true;
    return false;
}
