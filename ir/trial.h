/* trial.h: changes that may come to nothing: of kernels, in a module beside the one they are for, or of one operation,
   which is taken out and put back. */
#ifndef TILEC_IR_TRIAL_H
#define TILEC_IR_TRIAL_H

#include "ir/ir.h"

/* A module with the dims, mesh axes and programs of another one, and without kernels and diagnostics. Copies of kernels
   are made in it and changed; what becomes of them, and what is said about them, stays in it. */
Module *trial_module(const Module *of);

/* A kernel of a trial that came to something: it is appended to the module. */
void trial_keep(Module *, Kernel *);

/* An operation that was taken out, and where it was. What stands around it stays as it is until it is put back. */
typedef struct {
    Op *op, *next;
    Region *in;
} OpAside;

OpAside op_set_aside(Op *);
void op_put_back(OpAside);

#endif
