/* codegen.h: C text from the IR. One .c, one .h and one .json a program.
   Takes: a module in value form, before or after flags. Gives: text, the same for the same module. */
#ifndef TILEC_CODEGEN_CODEGEN_H
#define TILEC_CODEGEN_CODEGEN_H

#include "base/text.h"
#include "ir/ir.h"

/* What the names of a program's files and functions begin with: its own name, unless that is reserved in C. */
const char *c_program_name(Arena *, const Program *);
/* false after errors, which are in m->diags. The texts are the caller's to free. */
bool c_emit(const Module *m, const Program *p, Text *source, Text *header, Text *manifest);

#endif
