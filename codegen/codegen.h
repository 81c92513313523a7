/* codegen.h: C text from the IR. One .c, one .h and one .json a program.
   Takes: a module in value form, before or after flags. Gives: text, the same for the same module. */
#ifndef TILEC_CODEGEN_CODEGEN_H
#define TILEC_CODEGEN_CODEGEN_H

#include "base/text.h"
#include "ir/ir.h"

/* false after errors, which are in m->diags. The texts are the caller's to free. */
bool c_emit(const Module *m, const Program *p, Text *source, Text *header, Text *manifest);

#endif
